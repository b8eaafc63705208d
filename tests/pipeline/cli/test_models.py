"""`rutter models`: who may be asked, whether they answer, and what to do if not."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from rutter.actors.rules.tools.tool_table import SEVEN
from rutter.actors.world.models.defaults import DEFAULTS
from rutter.actors.world.models.tesseract import ReaderLacks
from rutter.actors.world.secrets.redaction import forget
from rutter.pipeline.cli import doctor
from rutter.pipeline.sessions import models
from tests.pipeline.cli.test_config import configure
from tests.support.case_table import for_each
from tests.support.command_shell import Ended, Rutter
from tests.support.provider_server import Answer, Call, Fault, WireServer

CANARY = "sk-canary-5f3a9c1e7b2d4f60"
TOOLS = json.dumps([each.name for each in SEVEN])
ON = f"[agent.internal]\nenabled = true\nallowed_tools = {TOOLS}\n"
READY = Answer(calls=(Call("ready"),), input=1_240, output=85)


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    forget()
    monkeypatch.setenv("ANTHROPIC_API_KEY", CANARY)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    yield
    forget()


def silent_about_the_key(rutter: Rutter, ended: Ended) -> None:
    assert CANARY not in ended.out + ended.err
    files = [each for each in rutter.data.rglob("*") if each.is_file()]
    assert not [each for each in files if CANARY.encode() in each.read_bytes()]


def at(server: WireServer, more: str = "") -> str:
    return ON + f"[models.anthropic]\nbase_url = '{server.anthropic_url}'\n{more}"


def test_without_a_configuration_nobody_is_asked_and_it_says_so(rutter: Rutter) -> None:
    ended = rutter("models")
    assert ended.code == 0, ended
    first, head, *rows = ended.out.splitlines()
    assert first == "language models: off (not needed; agent.internal.enabled turns them on)"
    assert head.split()[:3] == ["asked", "provider", "model"]
    anthropic, openai, ollama = rows[:3]
    assert anthropic.split()[:3] == ["1", "anthropic", DEFAULTS["anthropic"].model]
    assert "env:ANTHROPIC_API_KEY: found" in anthropic
    assert "env:OPENAI_API_KEY: not found" in openai
    assert ollama.split()[0] == "-"
    silent_about_the_key(rutter, ended)


def test_the_list_is_in_the_order_of_asking(rutter: Rutter) -> None:
    configure(
        rutter,
        ON + "[agent]\nprovider = 'ollama'\nfallbacks = ['openai']\n"
        "[models.openai]\nmodel = 'x'\n[models.anthropic]\nmodel = 'y'\n"
        "input_price = 1\noutput_price = 2.5\n",
    )
    said = rutter.json("models", "list")
    assert said["enabled"] is True
    rows = [(each["order"], each["provider"], each["key_found"]) for each in said["models"]]
    assert rows == [(1, "ollama", True), (2, "openai", False), (0, "anthropic", True)]
    assert "no key for openai -> set OPENAI_API_KEY" in said["models"][1]["why"]
    shown = rutter("models").out
    assert "Mode B is on: ollama, then openai" in shown
    assert "unknown" in shown  # what x costs
    assert "$1 / $2.5" in shown


def test_each_that_is_configured_is_asked_one_tiny_question(rutter: Rutter) -> None:
    with WireServer(lambda _: READY, key=CANARY) as server:
        configure(
            rutter,
            at(server) + f"[models.ollama]\nbase_url = '{server.ollama_url}'\n"
            "[agent]\nfallbacks = ['ollama']\n",
        )
        ended = rutter("models", "check")
        found = rutter.json("models", "check")
    assert ended.code == 0, ended
    anthropic, ollama = ended.out.splitlines()
    model = DEFAULTS["anthropic"].model
    price = DEFAULTS["anthropic"].price
    assert price is not None
    cost = (1_240 * price.input + 85 * price.output) / 1e12
    assert anthropic.startswith(f"[OK]   anthropic {model}: 1,240 tokens in, 85 out, ${cost:.4f}, ")
    assert "$0.00, " in ollama
    assert [(each["provider"], each["ok"]) for each in found] == [
        ("anthropic", True),
        ("ollama", True),
    ]
    assert server.requests[0].model == model
    assert server.attempts == 4
    silent_about_the_key(rutter, ended)


def test_a_price_that_nobody_gave_is_unknown(rutter: Rutter) -> None:
    with WireServer(lambda _: READY) as server:
        configure(rutter, at(server, "model = 'other'\n"))
        ended = rutter("models", "check")
    assert "anthropic other: 1,240 tokens in, 85 out, at an unknown price, " in ended.out


def test_no_key(rutter: Rutter, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    ended = rutter("models", "check")
    assert ended.code == 8
    assert "[FAIL] anthropic" in ended.out
    assert "no key for anthropic" in ended.out
    assert "       set ANTHROPIC_API_KEY, or models.anthropic.key" in ended.out


def test_a_wrong_key(rutter: Rutter) -> None:
    with WireServer([], key="another") as server:
        configure(rutter, at(server))
        ended = rutter("models", "check")
        found = rutter("--json", "models", "check")
    assert (ended.code, found.code) == (8, 8)
    assert "unauthorised: " in ended.out
    assert "its key is not accepted: check models.anthropic.key" in ended.out
    [row] = found.json
    assert row["ok"] is False
    for each in (ended, found):
        silent_about_the_key(rutter, each)


def test_an_unknown_model(rutter: Rutter) -> None:
    with WireServer([], models=["sonnet"]) as server:
        configure(rutter, at(server, "model = 'sonet'\n"))
        ended = rutter("models", "check")
    assert ended.code == 8
    assert "anthropic sonet: unknown_model: " in ended.out
    assert "write models.anthropic.model as the provider does" in ended.out


def test_a_provider_that_is_down(rutter: Rutter) -> None:
    with WireServer([]) as server:
        text = at(server)
    configure(rutter, text)
    ended = rutter("models", "check")
    assert ended.code == 8
    assert "unavailable: " in ended.out
    assert "check the network and models.anthropic.base_url" in ended.out


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        (Fault("status", 529), "overloaded"),
        (Fault("status", 429), "rate_limited"),
        (Fault("cut"), "cut"),
    ],
)
def test_a_provider_that_fails_is_asked_once_and_said_to(
    rutter: Rutter, fault: Fault, code: str
) -> None:
    with WireServer([fault]) as server:
        configure(rutter, at(server))
        ended = rutter("models", "check")
    assert ended.code == 8
    assert f"{code}: " in ended.out
    assert server.attempts == 1


def test_one_that_calls_no_tool_could_lead_no_run(rutter: Rutter) -> None:
    with WireServer([Answer(text="ready")]) as server:
        configure(rutter, at(server))
        ended = rutter("models", "check")
    assert ended.code == 8
    assert "and calls no tool" in ended.out
    assert "name one that can: models.anthropic.model" in ended.out


@for_each(
    "text, wrong, fix",
    [
        ("[models.anthropic]\nkey = 'sk-canary-1'", "models.anthropic.key says no place", "env:"),
        ("[models.anthropic]\nkey = 'prompt'", "says no place", "keyring:"),
        ("[models.anthropic]\nmodel = ' '", "models.anthropic.model says nothing", "name a model"),
        ("[models.openai]\nbase_url = 'api.example'", "is no address", "https://host"),
        ("[models.openai]\nbase_url = 'https://a:b@api.example'", "is no address", "https://"),
        ("[models.openai]\nbase_url = 'http://api.example/v1'", "no https", "https://host"),
        ("[models.ollama]\nkey = 'env:X'", "no key models.ollama.key", "models."),
        ("[models.mistral]\nmodel = 'x'", "there is no key models.mistral", ""),
        ("[agent]\nprovider = 'mistral'", "there is no 'mistral'", "anthropic, openai, ollama"),
        ("[agent]\nfallbacks = ['mistral']", "there is no 'mistral'", "anthropic"),
        ("[agent]\nprovider = 'openai'\nfallbacks = ['openai']", "asked first", "take it out"),
        ("[models.openai]\ninput_price = -1", "input_price is -1", "from 0"),
        ("[models.openai]\ninput_price = '1'", "is a number of dollars", "input_price = 3"),
        ("[models.openai]\nmodel = 'x'\ninput_price = 1", "and no output_price", "as well"),
    ],
)
def test_what_is_said_of_a_model_is_read_strictly(
    rutter: Rutter, text: str, wrong: str, fix: str
) -> None:
    configure(rutter, text)
    ended = rutter("models")
    assert (ended.code, ended.out) == (2, ""), ended
    assert wrong in ended.complaint
    assert fix in ended.complaint
    assert "canary" not in ended.err


def test_a_key_in_the_place_of_its_source_is_not_repeated(
    rutter: Rutter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RUTTER_MODELS_ANTHROPIC_KEY", CANARY)
    ended = rutter("models")
    assert ended.code == 2
    assert "the variable RUTTER_MODELS_ANTHROPIC_KEY says no place" in ended.complaint
    assert CANARY not in ended.err


def test_turning_it_on_without_tools_says_the_line_to_paste(rutter: Rutter) -> None:
    configure(rutter, "[agent.internal]\nenabled = true\n")
    ended = rutter("models")
    assert ended.code == 2
    line = ended.complaint.rpartition("the model may call: ")[2]
    configure(rutter, f"[agent.internal]\nenabled = true\n{line}\n")
    assert rutter("models").code == 0
    assert line == f"allowed_tools = {TOOLS}"


@pytest.mark.parametrize("key", ["", CANARY])
def test_the_doctor_says_whether_a_model_is_asked_and_its_key_is_there(
    rutter: Rutter, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    monkeypatch.setattr(doctor, "LOOKS", (doctor._models,))
    assert "models: off (not needed" in rutter("doctor").out
    monkeypatch.setenv("ANTHROPIC_API_KEY", key)
    configure(rutter, ON)
    ended = rutter("doctor")
    assert ended.code == (0 if key else 8), ended
    assert ("their keys are there" if key else "no key for anthropic -> set") in ended.out
    silent_about_the_key(rutter, ended)


def test_the_doctor_warns_of_one_that_could_not_be_asked_after_the_first(
    rutter: Rutter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "LOOKS", (doctor._models,))
    configure(rutter, ON + "[agent]\nfallbacks = ['openai']\n")
    ended = rutter("doctor")
    assert ended.code == 0, ended
    assert "[WARN] models: " in ended.out
    assert "no key for openai -> set OPENAI_API_KEY" in ended.out
    monkeypatch.setitem(models.ADAPTERS, "anthropic", ("no_such_package", "AnthropicModel"))
    ended = rutter("doctor")
    assert ended.code == 8, ended
    assert "the anthropic package is not installed (no_such_package)" in ended.out
    assert "pip install 'rutter-agent[anthropic]'" in ended.out


def test_the_doctor_says_who_reads_pictures_here_and_what_to_install_where_nobody_does(
    rutter: Rutter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "LOOKS", (doctor._tesseract,))
    monkeypatch.setattr(doctor, "lacking", lambda language: ReaderLacks())
    monkeypatch.setattr(doctor, "languages", lambda: ["deu", "eng"])
    assert "[OK]   tesseract: reads pictures here, in: deu, eng" in rutter("doctor").out
    lacks = ReaderLacks("the program tesseract is not installed", "type: apt-get install it")
    monkeypatch.setattr(doctor, "lacking", lambda language: lacks)
    said = "tesseract: the program tesseract is not installed"
    hint = "to read pictures, type: apt-get install it"
    assert f"[OK]   {said}; {hint}" in rutter("doctor").out
    for more, warned in (
        ("", True),
        ("vision_provider = 'tesseract'\n[agent.internal]\nenabled = true\n", True),
        ("vision_provider = 'openai'\n", False),
        ("[agent.internal]\nenabled = true\n", False),
    ):
        tools = f"allowed_tools = {TOOLS}\n" if "internal" in more else ""
        configure(rutter, f"[agent.ghost]\nenabled = true\n{more}{tools}")
        ended = rutter("doctor")
        assert ended.code == 0, ended
        assert (f"[WARN] {said}\n       type: apt-get" in ended.out) is warned, more


def test_another_address_is_shown_and_no_line_ends_in_blanks(rutter: Rutter) -> None:
    configure(rutter, "[models.ollama]\nbase_url = 'http://127.0.0.1:9/'\n")
    out = rutter("models").out
    assert "qwen3:8b at http://127.0.0.1:9/" in out
    assert all(line == line.rstrip() for line in out.splitlines())


class Page(BaseHTTPRequestHandler):
    """One page that asks nobody to sign in."""

    def do_GET(self) -> None:
        body = b"<title>Boats</title><h1>Boats</h1><a href='/x'>Next</a>"
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Nobody reads it."""


@pytest.fixture
def page() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Page) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


@pytest.mark.browser
def test_a_run_to_a_goal_by_a_wrong_key_ends_at_the_first_question_and_says_what_to_do(
    rutter: Rutter, page: str
) -> None:
    with WireServer([], key="another") as server:
        configure(rutter, at(server))
        goal = ("--goal", "Buy a boat", "--url", page, "--success", "heading=bought")
        ended = rutter("--verbose", "run", *goal)
        assert server.attempts == 1
    assert ended.code == 8, ended
    assert "no language model answered" in ended.out
    assert "Its key is not accepted: check models.anthropic.key" in ended.out
    assert "models check" in ended.out
    assert "Spent: 1 model call" in ended.out
    assert "[FAIL] MODEL anthropic: unauthorised: " in ended.err
    silent_about_the_key(rutter, ended)
    assert rutter("run", "buy-a-boat").code == 2
