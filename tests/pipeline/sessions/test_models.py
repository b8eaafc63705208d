"""Language models as they are configured; their keys are read late and told to nobody."""

import asyncio
import json
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import ClassVar

import msgspec
import pytest

from rutter.actors.advisor.vision_by_reading import ReadingVision
from rutter.actors.rules.tools.tool_table import SEVEN
from rutter.actors.world.models.defaults import DEFAULTS
from rutter.actors.world.models.messages import ModelClient, ModelFailed, Prompt, Reply, UserTurn
from rutter.actors.world.models.prices import Price, PricedModel
from rutter.actors.world.models.tesseract import ReaderLacks
from rutter.actors.world.secrets.redaction import forget, hushed
from rutter.events.advisor import TokenUsage
from rutter.events.errors import BadInput
from rutter.events.faults import faults
from rutter.events.run_settings import LanguageModel, ModelUse
from rutter.pipeline.config.keys import PROVIDERS
from rutter.pipeline.config.reader import Config, read_config
from rutter.pipeline.sessions import models
from rutter.pipeline.sessions.models import (
    NoKey,
    closing,
    fix_of,
    key_of,
    models_of,
    offer_of,
    offers,
    open_model,
    open_models,
    vision_of,
)
from tests.support.case_table import for_each

CANARY = "sk-canary-5f3a9c1e7b2d4f60"
TOOLS = tuple(each.name for each in SEVEN)
ON = f"[agent.internal]\nenabled = true\nallowed_tools = {json.dumps(TOOLS)}\n"
KEYS = {"ANTHROPIC_API_KEY": CANARY, "OPENAI_API_KEY": CANARY + "-2"}
PROMPT = Prompt("", (UserTurn("?"),))


@pytest.fixture(autouse=True)
def _nothing_hidden() -> Iterator[None]:
    forget()
    yield
    forget()


def config(tmp_path: Path, text: str = ON, **env: str) -> Config:
    file = tmp_path / "config.toml"
    file.write_text(text)
    file.chmod(stat.S_IRUSR | stat.S_IWUSR)
    return read_config(None, tmp_path, {"XDG_CONFIG_HOME": "/nowhere/at/all", **env})


class Speaker(ModelClient):
    """Says what it is told to, for one that is asked over a network."""

    provider: ClassVar[str] = "anthropic"
    model = "m"

    def __init__(self, answer: Reply | ModelFailed) -> None:
        self.answer = answer
        self.closed = False

    async def complete(self, prompt: Prompt, *, within_ms: int) -> Reply:
        if isinstance(self.answer, ModelFailed):
            raise self.answer
        return self.answer

    async def aclose(self) -> None:
        self.closed = True


# -- who is asked ----------------------------------------------------------------------------------


def test_nobody_is_asked_until_it_is_turned_on(tmp_path: Path) -> None:
    off = config(tmp_path, "")
    assert models_of(off) is None
    assert open_models(off, KEYS, needed=True) == {}


def test_a_session_is_pinned_to_providers_models_and_tools_in_order(tmp_path: Path) -> None:
    said = config(
        tmp_path,
        ON + '[agent]\nprovider = "openai"\nfallbacks = ["ollama", "anthropic"]\n'
        '[models.ollama]\nmodel = "llama9"\npictures = true\n',
    )
    assert models_of(said) == ModelUse(
        (
            LanguageModel("openai", DEFAULTS["openai"].model, DEFAULTS["openai"].pictures),
            LanguageModel("ollama", "llama9", True),
            LanguageModel("anthropic", DEFAULTS["anthropic"].model, DEFAULTS["anthropic"].pictures),
        ),
        TOOLS,
    )
    left = models_of(said, ["anthropic"])
    assert left is not None
    assert [each.provider for each in left.models] == ["anthropic"]
    assert models_of(said, []) is None


def test_the_planner_asks_nobody_where_it_is_told_so(tmp_path: Path) -> None:
    said = config(tmp_path, ON + "[planner]\nuse_llm = false\n")
    assert models_of(said) is None
    assert open_models(said, {}, needed=True) == {}


def test_a_picture_is_described_by_the_first_who_can_look_at_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = ON + "[agent]\nprovider = 'ollama'\nfallbacks = ['anthropic']\n"
    priced = PricedModel(Speaker(Reply("m", "said")))
    opened = {"ollama": priced, "anthropic": priced}
    assert vision_of(config(tmp_path, text), opened) is None
    text += "[critic]\nvision_enabled = true\n"
    assert vision_of(config(tmp_path, text), opened) is not None
    monkeypatch.setattr(models, "lacking", lambda language: ReaderLacks())
    reads = vision_of(config(tmp_path, text), {"ollama": priced})
    assert isinstance(reads, ReadingVision)  # who looks at none is not asked: it is read here
    monkeypatch.setattr(models, "lacking", lambda language: ReaderLacks("it is not installed"))
    assert vision_of(config(tmp_path, text), {"ollama": priced}) is None


@pytest.mark.anyio
async def test_what_looking_at_a_picture_costs_is_known(tmp_path: Path) -> None:
    said = config(tmp_path, ON + "[critic]\nvision_enabled = true\n")
    reply = Reply("m", "said", usage=TokenUsage(10, 2))
    vision = vision_of(
        said, {"anthropic": PricedModel(Speaker(reply), Price(3_000_000, 15_000_000))}
    )
    assert vision is not None
    seen = await vision.look(b"", "Order sent")
    assert (seen.usage, seen.cost_microdollars, seen.priced) == (TokenUsage(10, 2), 60, True)


# -- keys ------------------------------------------------------------------------------------------


@for_each("env", [{}, {"ANTHROPIC_API_KEY": ""}, {"ANTHROPIC_API_KEY": " \n"}])
def test_a_run_that_needs_a_model_is_told_at_once_that_there_is_no_key(
    tmp_path: Path, env: Mapping[str, str]
) -> None:
    with pytest.raises(NoKey) as caught:
        open_models(config(tmp_path), env, needed=True)
    assert caught.value.what == "no key for anthropic"
    assert caught.value.fix == "set ANTHROPIC_API_KEY, or models.anthropic.key"


def test_a_run_that_can_do_without_goes_on_without_it_and_says_so(tmp_path: Path) -> None:
    said: list[str] = []
    assert open_models(config(tmp_path), {}, warn=said.append) == {}
    [line] = said
    assert line.startswith("no key for anthropic: going on without it -> set ANTHROPIC_API_KEY")


def test_one_that_is_asked_later_is_left_out_where_its_key_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = PricedModel(Speaker(Reply("m", "said")))
    real = models.open_model
    monkeypatch.setattr(
        models,
        "open_model",
        lambda offer, env: made if offer.provider == "anthropic" else real(offer, env),
    )
    said: list[str] = []
    text = ON + '[agent]\nfallbacks = ["openai"]\n'
    opened = open_models(config(tmp_path, text), {}, needed=True, warn=said.append)
    assert opened == {"anthropic": made}
    assert len(said) == 1
    assert "no key for openai" in said[0]


def test_a_key_is_read_from_where_it_is_said_to_be(tmp_path: Path) -> None:
    place = tmp_path / "key"
    place.write_text(f"{CANARY}\n")
    said = config(tmp_path, f"[models.openai]\nkey = 'file:{place}'\n")
    assert key_of(offer_of(said, "openai"), {}) == CANARY
    said = config(tmp_path, "[models.openai]\nkey = 'env:MY_KEY'\n")
    assert key_of(offer_of(said, "openai"), {"MY_KEY": CANARY}) == CANARY
    assert key_of(offer_of(said, "ollama"), {}) == ""
    lost = config(tmp_path, f"[models.openai]\nkey = 'file:{tmp_path / 'none'}'\n")
    with pytest.raises(NoKey, match=r"no key for openai: .*cannot be read"):
        key_of(offer_of(lost, "openai"), {})


@for_each("key", ["sk-\N{EURO SIGN}-canary", "sk canary 12", "sk-a\nsk-b-canary"])
def test_what_can_be_no_key_is_refused_without_repeating_it(tmp_path: Path, key: str) -> None:
    with pytest.raises(NoKey) as caught:
        key_of(offer_of(config(tmp_path), "anthropic"), {"ANTHROPIC_API_KEY": key})
    assert "what env:ANTHROPIC_API_KEY holds is none" in caught.value.what
    assert "canary" not in str(caught.value)


def test_from_the_moment_it_is_read_a_key_is_printed_nowhere(tmp_path: Path) -> None:
    assert CANARY in hushed(f"it is {CANARY}")
    key_of(offer_of(config(tmp_path), "anthropic"), KEYS)
    assert hushed(f"it is {CANARY}") == "it is <secret anthropic_key>"


def test_a_server_that_repeats_the_key_in_its_answer_gives_it_away_to_nobody() -> None:
    reply = Reply("m", "said", f"I was sent {CANARY}", raw=f'{{"x": "{CANARY}"}}'.encode())
    quiet = models._discreet(Speaker(reply), CANARY)
    assert (quiet.provider, quiet.model) == ("anthropic", "m")
    came = asyncio.run(quiet.complete(PROMPT, within_ms=1))
    assert came.text == "I was sent <secret anthropic_key>"
    assert came.raw == b'{"x": "<secret anthropic_key>"}'


def test_a_server_that_repeats_the_key_in_an_error_gives_it_away_to_nobody() -> None:
    failure = ModelFailed("unauthorised", f"no such key: {CANARY}", transient=False)
    quiet = models._discreet(Speaker(failure), CANARY)
    with pytest.raises(ModelFailed) as caught:
        asyncio.run(quiet.complete(PROMPT, within_ms=1))
    assert caught.value.message == "no such key: <secret anthropic_key>"
    assert (caught.value.code, caught.value.transient) == ("unauthorised", False)
    assert caught.value.__cause__ is None


def test_connections_are_let_go_of() -> None:
    speaker = Speaker(Reply("m", "said"))

    async def use() -> None:
        async with closing({"anthropic": PricedModel(speaker)}):
            assert not speaker.closed

    asyncio.run(use())
    assert speaker.closed


@for_each("provider", PROVIDERS)
def test_each_provider_has_an_adapter_that_is_made_from_the_configuration(
    tmp_path: Path, provider: str
) -> None:
    said = config(tmp_path, f"[models.{provider}]\nbase_url = 'http://127.0.0.1:9'\n")
    offer = offer_of(said, provider)
    priced = open_model(offer, KEYS)
    assert (priced.client.provider, priced.client.model) == (provider, offer.model)
    assert priced.price == offer.price

    async def close() -> None:
        await priced.client.aclose()

    asyncio.run(close())


# -- money -----------------------------------------------------------------------------------------


def test_the_price_is_known_of_the_model_that_is_the_default(tmp_path: Path) -> None:
    for offer in (offer_of(config(tmp_path), each) for each in PROVIDERS):
        assert offer.price == DEFAULTS[offer.provider].price


def test_of_another_model_the_price_is_what_was_given_or_unknown(tmp_path: Path) -> None:
    text = "[models.anthropic]\nmodel = 'other'\n"
    assert offer_of(config(tmp_path, text), "anthropic").price is None
    text += "input_price = 2\noutput_price = 7.5\n"
    assert offer_of(config(tmp_path, text), "anthropic").price == Price(
        2_000_000, 7_500_000, 2_000_000, 2_500_000
    )
    text += "cached_price = 0.2\nkept_price = 0\n"
    assert offer_of(config(tmp_path, text), "anthropic").price == Price(
        2_000_000, 7_500_000, 200_000, 0
    )


def test_what_is_given_stands_above_what_is_known(tmp_path: Path) -> None:
    known = DEFAULTS["anthropic"].price
    assert known is not None
    found = offer_of(config(tmp_path, "models.anthropic.input_price = 1.5"), "anthropic").price
    assert found == msgspec.structs.replace(known, input=1_500_000)


def test_one_at_home_costs_nothing_whichever_it_is(tmp_path: Path) -> None:
    assert offer_of(config(tmp_path, "models.ollama.model = 'x'"), "ollama").price == Price(0, 0)


def test_there_is_something_to_do_about_every_failure() -> None:
    for code in faults().models:
        assert fix_of(code, "openai")
        assert "{" not in fix_of(code, "openai")
    assert fix_of("unknown_model", "openai").startswith("write models.openai.model")
    assert fix_of("something new", "openai") == ""


def test_those_who_are_asked_come_in_order(tmp_path: Path) -> None:
    assert [each.provider for each in offers(config(tmp_path, ""))] == ["anthropic"]
    with pytest.raises(BadInput, match="which is asked first"):
        config(tmp_path, "[agent]\nfallbacks = ['anthropic']\n")
