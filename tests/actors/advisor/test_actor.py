"""The Advisor asks once, for what it was told to ask, and whatever comes of it is a fact."""

from pathlib import Path
from typing import Any, ClassVar, cast

import anyio
import msgspec
import pytest

from rutter.actors.advisor.actor import Advisor
from rutter.actors.rules.tools.tool_table import SEVEN
from rutter.actors.vision import ScriptedVision, VisionSaid
from rutter.actors.world.browser.page_session import PageTimeout
from rutter.actors.world.browser.screen import Screen
from rutter.actors.world.models.messages import (
    ModelCall,
    ModelClient,
    ModelFailed,
    ModelTurn,
    Prompt,
    Reply,
    ResultsTurn,
    UserTurn,
)
from rutter.actors.world.models.prices import Price, PricedModel
from rutter.actors.world.secrets.redacted_artifacts import CleanArtifacts
from rutter.actors.world.secrets.redaction import Redactor
from rutter.events.action import Action, ByCss, Target, Typed, Untrusted
from rutter.events.advisor import (
    AdviceFailed,
    AdvicePrepared,
    AdviceReceived,
    TokenUsage,
    VisionGiven,
    WantedCall,
)
from rutter.events.artifacts import ArtifactStore
from rutter.events.critic import ActionJudged, VisionSought
from rutter.events.envelope import Envelope
from rutter.events.observer import PageObserved
from rutter.events.page import Page, PageElement
from rutter.events.planner import AdviceRequested, PlanProposed
from rutter.events.policy import Policy
from rutter.events.run_settings import LanguageModel, ModelUse, RunSettings
from rutter.events.runtime import SessionStarted
from rutter.events.service_pack import Service
from rutter.events.tools import FileRead, ToolAnswered, ToolCalled
from rutter.events.vocabulary import AnyEvent
from rutter.events.workflow import Step, Workflow
from tests.support.case_table import for_each
from tests.support.shop_facts import run_of

pytestmark = pytest.mark.anyio

SECRET = "correct horse battery"
LITERAL = "hunter2 hunter2"
PICTURE = b"\x89PNG of a page"
TOOLS = tuple(tool.name for tool in SEVEN)
PAGE = Page(
    url="https://shop.example/account",
    title=Untrusted("Account"),
    elements=(PageElement("button", Untrusted("Cancel plan")),),
)
SEEN = PageObserved(PAGE, "start")


class Pages:
    """A browser whose only page is a picture, or does not answer."""

    def __init__(self, picture: bytes | Exception = PICTURE) -> None:
        self._picture = picture

    async def open_window(self, policy: Policy) -> Any:
        return self

    @property
    def tab(self) -> "Pages":
        return self

    async def picture(self, *, max_width: int, within_ms: int) -> bytes:
        if isinstance(self._picture, Exception):
            raise self._picture
        return self._picture

    async def call(self, name: str, *arguments: object, within_ms: int) -> str:
        return f"{name} says {SECRET}"


class Answers(ModelClient):
    """A model that says what it is told to, in order."""

    provider: ClassVar[str] = "scripted"
    model = "scripted-1"

    def __init__(self, *replies: Reply | Exception) -> None:
        self._replies = list(replies)
        self.asked: list[Prompt] = []

    async def complete(self, prompt: Prompt, *, within_ms: int) -> Reply:
        self.asked.append(prompt)
        reply = self._replies.pop(0) if self._replies else None
        if reply is None:
            await anyio.sleep_forever()
        if isinstance(reply, Exception):
            raise reply
        return cast("Reply", reply)

    async def aclose(self) -> None:
        return


class World:
    """An Advisor in a session of its own, and what it said."""

    def __init__(
        self,
        tmp_path: Path,
        model: Answers,
        *,
        pages: Pages | None = None,
        opened: bool = True,
        price: Price | None = None,
        within_ms: int = 5_000,
        vision: ScriptedVision | None = None,
    ) -> None:
        self.model = model
        self.typed: list[str] = []
        redact = Redactor({"password": SECRET})
        self.artifacts = CleanArtifacts(ArtifactStore(tmp_path), redact)
        self.screen = Screen(cast("Any", pages or Pages()), Policy("1"))
        self._opened = opened
        self.advisor = Advisor(
            self.screen,
            self.artifacts,
            {"scripted": PricedModel(model, price)},
            redact=redact,
            typed=self.typed,
            vision=vision,
            within_ms=within_ms,
            pause_ms=1,
        )
        self.facts: list[AnyEvent] = []
        self.n = 0

    async def tell(self, *events: AnyEvent) -> list[AnyEvent]:
        """As a session does: what is said comes back, and what breaks becomes a fact."""
        if self._opened:
            await self.screen.open()
        said: list[AnyEvent] = []
        for event in events:
            self.n += 1
            envelope = Envelope(self.n, "s", self.n, self.n * 10**9, "planner", 0, event, b"")
            try:
                new = [fact async for fact in self.advisor.handle(envelope)]
            except Exception as error:  # noqa: BLE001 - as the session does
                report = self.advisor.failed(envelope, error)
                assert report is not None
                new = [report]
            said += new
            said += await self.tell(*new)
        if len(events) > 0:
            self.facts += [fact for fact in said if fact not in self.facts]
        return said

    def on_disk(self) -> str:
        return "\n".join(
            file.read_bytes().decode("latin-1")
            for file in self.artifacts.root.rglob("*")
            if file.is_file()
        )


def started(**more: Any) -> SessionStarted:
    models = ModelUse((LanguageModel("scripted", "scripted-1"),), TOOLS)
    given = {
        "purpose": "tools",
        "driver": "model",
        "goal": "Cancel the plan",
        "models": models,
        "values": {"customer": "Ann"},
        "secrets": ("password",),
    }
    return msgspec.structs.replace(run_of(None), **(given | more))


def act(number: int = 1, **more: Any) -> AdviceRequested:
    return AdviceRequested(f"a{number}", "act", "scripted", **more)


def calls(*given: tuple[str, dict[str, object]], text: str = "", raw: bytes = b"{}") -> Reply:
    made = tuple(
        ModelCall(f"toolu_{place}", tool, msgspec.json.encode(arguments).decode())
        for place, (tool, arguments) in enumerate(given)
    )
    return Reply("scripted-1-2026", "called", text, made, TokenUsage(1_000, 100, 200), raw)


CLICK = calls(("browser_click", {"ref": "@e0"}), text="It says cancel.")


async def test_a_question_is_kept_before_it_is_put_and_what_came_back_is_told(
    tmp_path: Path,
) -> None:
    price = Price(input=3_000_000, output=15_000_000, cached=300_000)
    world = World(tmp_path, Answers(CLICK), price=price)
    prepared, received = await world.tell(started(), SEEN, act())
    assert isinstance(prepared, AdvicePrepared)
    assert (prepared.request, prepared.pictures, prepared.missing) == ("a1", 1, ())
    assert 1_000 < prepared.tokens < 8_000
    assert prepared.prompt is not None
    kept = msgspec.json.decode(world.artifacts.get(prepared.prompt))
    assert kept["system"] == world.model.asked[0].system
    (sha256,) = kept["turns"][0]["pictures"]
    assert world.artifacts.get(msgspec.structs.replace(prepared.prompt, sha256=sha256)) == PICTURE
    assert isinstance(received, AdviceReceived)
    assert received.calls == (WantedCall("a1.0", "browser_click", '{"ref":"@e0"}'),)
    assert (received.text.text, received.model) == ("It says cancel.", "scripted-1-2026")
    assert received.usage == TokenUsage(1_000, 100, 200)
    assert (received.cost_microdollars, received.priced) == (2_400 + 60 + 1_500, True)
    assert received.body is not None
    assert world.artifacts.get(received.body) == b"{}"


async def test_the_conversation_goes_on_with_what_a_call_came_to(tmp_path: Path) -> None:
    world = World(tmp_path, Answers(CLICK, CLICK))
    await world.tell(started(), SEEN, act())
    later = msgspec.structs.replace(PAGE, title=Untrusted("Sure?"))
    answer = ToolAnswered("a1.0", False, "element_disabled", message="greyed out")
    await world.tell(PageObserved(later, "after_action"), answer, act(2))
    _, said, got = world.model.asked[1].turns
    assert isinstance(said, ModelTurn)
    assert (said.text, said.calls[0].arguments) == ("It says cancel.", '{"ref":"@e0"}')
    assert isinstance(got, ResultsTurn)
    assert "element_disabled" in got.outcomes[0].text
    assert "title: Sure?" in got.text
    assert "title: Account" not in str(world.model.asked[1].turns)
    assert [tool.name for tool in world.model.asked[0].tools] == list(TOOLS)
    assert world.model.asked[0].tools == world.model.asked[1].tools
    assert world.model.asked[0].system == world.model.asked[1].system


async def test_a_second_try_is_the_same_question(tmp_path: Path) -> None:
    world = World(tmp_path, Answers(ModelFailed("overloaded", "busy", transient=True), CLICK))
    said = await world.tell(started(), SEEN, act(), act(2, attempt=2))
    assert [type(fact).__name__ for fact in said] == [
        "AdvicePrepared",
        "AdviceFailed",
        "AdvicePrepared",
        "AdviceReceived",
    ]
    first, second = (str(prompt.turns).split("<untrusted-")[0] for prompt in world.model.asked)
    assert first == second


async def test_who_calls_nothing_is_told_what_the_planner_says(tmp_path: Path) -> None:
    silent = Reply("m", "said", "All is done.")
    world = World(tmp_path, Answers(silent, CLICK))
    _, received = await world.tell(started(), SEEN, act())
    assert isinstance(received, AdviceReceived)
    assert (received.ending, received.calls, received.invalid) == ("said", (), "")
    await world.tell(act(2, note="Call complete_task."))
    *_, said, told = world.model.asked[1].turns
    assert said == ModelTurn("All is done.")
    assert isinstance(told, UserTurn)
    assert told.text.count("Call complete_task.") == 1


async def test_a_refusal_is_no_part_of_the_talk(tmp_path: Path) -> None:
    world = World(tmp_path, Answers(Reply("m", "refused", "I will not."), CLICK))
    _, received = await world.tell(started(), SEEN, act())
    assert isinstance(received, AdviceReceived)
    assert (received.ending, received.invalid) == ("refused", "it refused")
    await world.tell(act(2))
    assert len(world.model.asked[1].turns) == 1


async def test_no_secret_and_nothing_typed_is_in_any_prompt_event_or_file(tmp_path: Path) -> None:
    raw = f'{{"text": "{SECRET}", "value": "{LITERAL}"}}'.encode()
    fill = calls(
        ("browser_fill", {"ref": "@e0", "value": LITERAL}),
        ("browser_fill", {"ref": "@e0", "value": "${password}"}),
        text=f"I type {LITERAL}, and the password is {SECRET}.",
        raw=raw,
    )
    page = msgspec.structs.replace(PAGE, title=Untrusted(f"Hello {SECRET}"))
    world = World(tmp_path, Answers(fill, fill, CLICK))
    service = Service("shop", guidance=f"The password is not {SECRET}.")
    settings = RunSettings(service=service)
    start = started(goal=f"Sign in with {SECRET}", settings=settings)
    await world.tell(start, PageObserved(page, "start"), act())
    await world.tell(ToolAnswered("a1.0", True, result=Untrusted(SECRET)), act(2))
    await world.tell(ToolAnswered("a2.0", True, message=f"it says {SECRET}"), act(3))
    assert world.typed == [LITERAL, LITERAL]
    for prompt in world.model.asked:
        assert SECRET not in str(prompt)
        assert "${password}" in str(prompt.turns[0])
    assert LITERAL in str(world.model.asked[1].turns[1])  # the model wrote it, and is told again
    assert LITERAL not in str(world.facts)
    assert SECRET not in str(world.facts)
    assert LITERAL not in world.on_disk()
    assert SECRET not in world.on_disk()
    assert "<typed 0>" in world.on_disk()


@for_each(
    "raised, code, transient",
    [
        (ModelFailed("rate_limited", "slow down", transient=True), "rate_limited", True),
        (ModelFailed("unauthorised", "no key", transient=False), "unauthorised", False),
        (RuntimeError("a bug of an adapter"), "unavailable", False),
        (OSError("a broken pipe"), "unavailable", False),
    ],
)
async def test_whatever_goes_wrong_is_a_fact_and_is_asked_no_second_time(
    tmp_path: Path, raised: Exception, code: str, transient: bool
) -> None:
    world = World(tmp_path, Answers(raised))
    prepared, failed = await world.tell(started(), SEEN, act())
    assert isinstance(failed, AdviceFailed)
    assert (failed.request, failed.provider) == ("a1", "scripted")
    assert (failed.code, failed.transient) == (code, transient)
    assert await world.tell(prepared) == []  # even if it were heard again
    assert len(world.model.asked) == 1


async def test_who_never_answers_is_cut_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rutter.actors.advisor.actor.SLACK_MS", 0)
    world = World(tmp_path, Answers(), within_ms=5)
    *_, failed = await world.tell(started(), SEEN, act())
    assert isinstance(failed, AdviceFailed)
    assert (failed.code, failed.transient) == ("timeout", True)
    assert failed.took_ms >= 5


async def test_nobody_is_asked_of_a_provider_that_is_not_here(tmp_path: Path) -> None:
    world = World(tmp_path, Answers(CLICK))
    request = msgspec.structs.replace(act(), provider="elsewhere")
    (failed,) = await world.tell(started(), SEEN, request)
    assert isinstance(failed, AdviceFailed)
    assert (failed.code, failed.transient) == ("unavailable", False)
    assert "elsewhere" in failed.message
    assert world.model.asked == []


async def test_what_is_not_its_own_question_is_not_put(tmp_path: Path) -> None:
    world = World(tmp_path, Answers(CLICK))
    assert await world.tell(started(), AdvicePrepared("a9"), ToolAnswered("c1", True)) == []
    assert world.model.asked == []


async def test_a_model_without_eyes_gets_no_picture(tmp_path: Path) -> None:
    blind = ModelUse((LanguageModel("scripted", "m", pictures=False),), TOOLS)
    world = World(tmp_path, Answers(CLICK))
    prepared, _ = await world.tell(started(models=blind), SEEN, act())
    assert isinstance(prepared, AdvicePrepared)
    assert (prepared.pictures, prepared.missing) == (0, ())


async def test_a_picture_that_cannot_be_had_is_named(tmp_path: Path) -> None:
    world = World(tmp_path, Answers(CLICK), pages=Pages(PageTimeout("it hangs")))
    prepared, received = await world.tell(started(), SEEN, act())
    assert isinstance(prepared, AdvicePrepared)
    assert (prepared.pictures, prepared.missing) == (0, ("screenshot",))
    assert isinstance(received, AdviceReceived)


async def test_the_picture_of_that_very_look_is_sent_where_there_is_one(tmp_path: Path) -> None:
    world = World(tmp_path, Answers(CLICK))
    kept = world.artifacts.put(b"as it was seen", "image/png")
    await world.tell(started(), msgspec.structs.replace(SEEN, screenshot=kept), act())
    (told,) = world.model.asked[0].turns
    assert isinstance(told, UserTurn)
    assert told.pictures == (b"as it was seen",)


async def test_a_tool_that_is_not_allowed_is_neither_told_of_nor_taken(tmp_path: Path) -> None:
    few = ModelUse((LanguageModel("scripted", "m"),), ("get_snapshot", "complete_task"))
    world = World(tmp_path, Answers(CLICK))
    _, received = await world.tell(started(models=few), SEEN, act())
    assert [tool.name for tool in world.model.asked[0].tools] == ["get_snapshot", "complete_task"]
    assert isinstance(received, AdviceReceived)
    assert received.calls[0].invalid == "browser_click is not allowed here"


async def test_a_file_is_read_for_the_model_and_told_between_marks(tmp_path: Path) -> None:
    folder = tmp_path / "given"
    folder.mkdir()
    (folder / "names.txt").write_text(f"Ann\nBob {SECRET}")
    world = World(tmp_path / "kept", Answers(calls(("read_file", {"path": "names.txt"})), CLICK))
    models = ModelUse((LanguageModel("scripted", "m"),), (*TOOLS, "read_file"))
    start = started(models=models, policy=Policy("1", folders=(str(folder),)))
    called = ToolCalled("a1.0", "read_file", '{"path":"names.txt"}', "model")
    *_, read = await world.tell(start, SEEN, act(), called)
    assert isinstance(read, FileRead)
    assert (read.call, read.error) == ("a1.0", "")
    await world.tell(ToolAnswered("a1.0", True), act(2))
    got = world.model.asked[1].turns[2]
    assert isinstance(got, ResultsTurn)
    assert "\nAnn\nBob <secret password>\n</untrusted-" in got.outcomes[0].text
    (denied,) = await world.tell(ToolCalled("a2.0", "read_file", '{"path":"../x"}', "model"))
    assert isinstance(denied, FileRead)
    assert denied.error == "policy_denied"


@for_each("by", ["agent", "terminal"])
async def test_a_file_for_somebody_else_is_not_its_to_read(tmp_path: Path, by: Any) -> None:
    world = World(tmp_path, Answers())
    called = ToolCalled("c1", "read_file", '{"path":"names.txt"}', by)
    assert await world.tell(started(), called) == []


# -- one action ----------------------------------------------------------------------------------

PROPOSED: dict[str, object] = {
    "state": "ACCOUNT_ACTIVE",
    "action_type": "fill",
    "target": {"css": "#reason"},
    "value": LITERAL,
    "reasoning": f"{LITERAL} goes here",
    "confidence": 0.75,
}
WAY = Workflow("cancel", 1, (Step(Action("click", target=Target((ByCss("#gone"),)))),))


async def test_one_action_is_asked_for_with_all_that_is_known_of_the_page(tmp_path: Path) -> None:
    world = World(tmp_path, Answers(calls(("browser_action", PROPOSED))))
    begin = started(purpose="run", driver="workflow", workflow=WAY)
    plan = PlanProposed(1, 1, "workflow", WAY.steps[0].action, "due")
    judged = ActionJudged(1, 1, "failed", "element_not_found")
    request = AdviceRequested("a1", "repair", "scripted", index=0, errors=("it is gone",))
    prepared, received = await world.tell(begin, SEEN, plan, judged, request)
    (prompt,) = world.model.asked
    assert prompt.must_call == "browser_action"
    (told,) = prompt.turns
    assert isinstance(told, UserTurn)
    assert told.pictures == (PICTURE,)
    for part in (
        *("step 1 of 1: click css #gone", "- it is gone", '@e0 button "Cancel plan"'),
        *("controlsHtml says <secret password>",),
        *(
            "wordsInView says <secret password>",
            '"strategy_attempted":"css","timestamp":"1970-01-01T00:00:04Z"',
        ),
    ):
        assert part in told.text
    assert isinstance(prepared, AdvicePrepared)
    assert isinstance(received, AdviceReceived)
    proposal = received.proposal
    assert proposal is not None
    assert proposal.action == Action("type", target=Target((ByCss("#reason"),)), value=Typed(0))
    assert (proposal.certainty, received.calls) == (750_000, ())
    assert world.typed == [LITERAL]
    assert LITERAL not in str(world.facts) + world.on_disk()
    assert SECRET not in str(world.facts) + str(prompt) + world.on_disk()


async def test_without_a_window_the_last_look_is_asked_about(tmp_path: Path) -> None:
    world = World(tmp_path, Answers(calls(("browser_action", PROPOSED))), opened=False)
    request = AdviceRequested("a1", "plan", "scripted")
    prepared, received = await world.tell(started(purpose="free"), SEEN, request)
    assert isinstance(prepared, AdvicePrepared)
    assert prepared.missing == ("html_snippet", "screenshot", "visible_text")
    assert '@e0 button "Cancel plan"' in str(world.model.asked[0].turns)
    assert isinstance(received, AdviceReceived)


async def test_an_answer_that_is_no_action_says_why(tmp_path: Path) -> None:
    world = World(tmp_path, Answers(CLICK))
    *_, received = await world.tell(started(), SEEN, AdviceRequested("a1", "plan", "scripted"))
    assert isinstance(received, AdviceReceived)
    assert (received.proposal, received.calls) == (None, ())
    assert received.invalid == "it called something else than browser_action"


async def test_it_still_looks_at_pictures_for_the_critic(tmp_path: Path) -> None:
    vision = ScriptedVision(VisionSaid("VERIFIED", "scripted"))
    world = World(tmp_path, Answers(), vision=vision)
    (given,) = await world.tell(started(), VisionSought(4, 1, "Order saved"))
    assert isinstance(given, VisionGiven)
    assert given.said == "VERIFIED"
