"""The dispatcher over whole sessions in a scripted world: whatever is called is answered."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, ClassVar, get_args

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rutter.actors.answers import Answers, Nobody, PersonAnswer, ScriptedPerson
from rutter.actors.effector import Effector
from rutter.actors.person.actor import Person
from rutter.actors.rules.tools.arguments import BoundNames, order
from rutter.actors.rules.tools.tool_table import TOOLS
from rutter.actors.world.secrets.bindings import Bindings
from rutter.events.action import ByRef, Strategy, Text, Untrusted
from rutter.events.advisor import AdviceReceived
from rutter.events.critic import ActionJudged
from rutter.events.envelope import Actor, Envelope
from rutter.events.errors import BrowserGone
from rutter.events.executor import ActionDone, QueryAnswered
from rutter.events.log import EventLog
from rutter.events.memory_log import MemoryLog
from rutter.events.page import Page, PageElement
from rutter.events.planner import AdviceRequested, PlanProposed
from rutter.events.predictor import TransitionLearned
from rutter.events.run_settings import GhostUse, PictureReader
from rutter.events.runtime import SessionStarted
from rutter.events.tools import ErrorType, FileRead, ToolAnswered, ToolCalled, ToolError
from rutter.events.validator import ActionApproved, ActionRejected, ActionStarted, QueryStarted
from rutter.events.vocabulary import AnyEvent
from rutter.events.workflow import Criteria, Indicator
from rutter.pipeline.app import App
from rutter.pipeline.sessions import session_started
from rutter.pipeline.sessions.session_started import Given
from rutter.pipeline.tools.dispatcher import CallPatience, ToolResponse, Tools, serving
from tests.support.case_table import for_each
from tests.support.example_counts import examples
from tests.support.log_checks import Replayed, check_log, events_of, read_all
from tests.support.scripted_shop import (
    ORIGIN,
    SHOP,
    Fails,
    Raises,
    ScriptedElement,
    ScriptedExecutor,
    ScriptedObserver,
    ScriptedPage,
    Waits,
    World,
)
from tests.support.shop_sessions import NextClock, kinds, open_app, with_settings

pytestmark = pytest.mark.anyio

HOST = "shop.example"
DOOR = ScriptedPage(
    "Door",
    {
        "#name": ScriptedElement("input", "textbox", "Name"),
        "#password": ScriptedElement("input", "textbox", "Password", secret=True),
        "#list": ScriptedElement("select", "combobox", "List"),
    },
)


class Shop(World):
    """The scripted shop with its elements listed: `@e0` is the first of the page."""

    def __init__(self) -> None:
        super().__init__({**SHOP, "/door": DOOR})

    def look(self) -> Page:
        seen = super().look()
        elements = tuple(
            PageElement(thing.role, Untrusted(thing.name)) for thing in self._here().values()
        )
        return Page(
            url=seen.url,
            title=seen.title,
            headings=seen.headings,
            focused=seen.focused,
            digest=seen.digest,
            elements=elements,
        )

    def _matches(self, strategy: Strategy, selector: str) -> bool:
        if isinstance(strategy, ByRef):
            return strategy.ref == f"@e{list(self._here()).index(selector)}"
        return super()._matches(strategy, selector)


class Teller(ScriptedExecutor):
    """Tells what was typed into a plain field, as the real one does."""

    async def _perform(self, started: ActionStarted) -> Any:
        done = await super()._perform(started)
        value = started.action.value
        if isinstance(done, ActionDone) and value is not None:
            typed = self._bindings.value(value)
            return ActionDone(done.step, done.attempt, 1, value_set=True, typed=typed)
        return done


def at(path: str = "/", **more: Any) -> SessionStarted:
    return with_settings(session_started.tool_session(ORIGIN + path, **more))


def looking_in(*folders: Path) -> Given:
    return Given(folders=tuple(map(str, folders)))


@asynccontextmanager
async def tools_on(
    app: App,
    world: World,
    started: SessionStarted | None = None,
    *,
    answers: Answers | None = None,
    secrets: Mapping[str, str] | None = None,
    more: Sequence[Effector] = (),
    **given: Any,
) -> AsyncIterator[Tools]:
    """The tools of a session in this world. Nothing in it takes time, so none is up by itself."""
    started = started or at()
    given.setdefault("timeouts_ms", dict.fromkeys(TOOLS, 60_000))
    tools = Tools(app, started, **given)

    async def sail(opened: Tools) -> Any:
        bound = Bindings(started.values, secrets or {}, opened.typed)
        effectors: list[Effector] = [
            ScriptedObserver(world),
            Teller(world, bound),
            Person(answers or Nobody()),
        ]
        return await app.run_session(started, [*effectors, *more], name=opened.session)

    async with serving(app, tools, sail):
        yield tools


def errors(answer: ToolResponse) -> tuple[str, str, bool]:
    return answer.error, answer.error_code, answer.retriable


# -- the way of a call ----------------------------------------------------------------------------


async def test_a_caller_looks_fills_and_clicks(pipeline_log: EventLog) -> None:
    world = Shop()
    async with open_app(pipeline_log) as app, tools_on(app, world) as tools:
        first = await tools.call("get_snapshot")
        filled = await tools.call("browser_fill", {"ref": "@e0", "value": "Aurora"})
        clicked = await tools.call("browser_click", {"ref": "@e1"})
        said = await events_of(pipeline_log, tools.session)
    assert first.snapshot is not None
    assert [each["name"] for each in first.body()["snapshot"]["elements"]] == [
        "Search",
        "Find",
        "Decoration",
    ]
    assert filled.success
    assert clicked.success
    assert clicked.snapshot is not None
    assert clicked.body()["snapshot"]["page"] == {"url": ORIGIN + "/results", "title": "Results"}
    assert world.fields == {"#q": "Aurora"}
    plans = [event.driver for event in said if isinstance(event, PlanProposed)]
    assert plans == ["script", "agent", "agent"]
    assert kinds(said).count("ToolCalled") == kinds(said).count("ToolAnswered") == 3


async def test_every_answer_has_a_snapshot_of_its_own(replayed: Replayed) -> None:
    async with open_app(replayed.memory()) as app, tools_on(app, Shop()) as tools:
        answers = [await tools.call("get_snapshot") for _ in range(3)]
    ids = {answer.body()["snapshot"]["snapshot_id"] for answer in answers if answer.snapshot}
    assert len(ids) == 3


async def test_what_was_done_by_calls_is_learned_by_what_the_page_calls_it(
    replayed: Replayed,
) -> None:
    log = replayed.memory()
    async with open_app(log) as app, tools_on(app, Shop()) as tools:
        await tools.call("get_snapshot")
        await tools.call("browser_fill", {"ref": "@e0", "value": "Aurora"})
        await tools.call("browser_click", {"ref": "@e1"})
    said = await events_of(log, tools.session)
    learned = [event for event in said if isinstance(event, TransitionLearned)]
    assert [lesson.driver for lesson in learned] == ["script", "agent", "agent"]
    assert [lesson.action.type for lesson in learned] == ["navigate", "type", "click"]
    assert learned[1].action.value == Text("Aurora")
    assert not any("@e" in lesson.signature for lesson in learned)


async def test_calls_at_the_same_time_wait_for_each_other(replayed: Replayed) -> None:
    log = replayed.memory()
    answers: list[ToolResponse] = []

    async def look(tools: Tools) -> None:
        answers.append(await tools.call("get_snapshot"))

    async with (
        open_app(log) as app,
        tools_on(app, Shop()) as tools,
        anyio.create_task_group() as all_,
    ):
        for _ in range(4):
            all_.start_soon(look, tools)
    assert [answer.success for answer in answers] == [True] * 4
    said = await events_of(log, tools.session)
    order = [event.call for event in said if isinstance(event, ToolCalled | ToolAnswered)]
    assert order[0::2] == order[1::2]


async def test_sessions_side_by_side_have_their_own_tools(replayed: Replayed) -> None:
    one, other = Shop(), Shop()
    async with (
        open_app(replayed.memory()) as app,
        tools_on(app, one) as first,
        tools_on(app, other, at("/results")) as second,
    ):
        await first.call("get_snapshot")
        await second.call("get_snapshot")
        await first.call("browser_click", {"ref": "@e1"})
        await second.call("browser_click", {"ref": "@e1"})
    assert (one.path, other.path) == ("/results", "/customers/2")


# -- what does not fit ----------------------------------------------------------------------------


async def test_a_call_that_does_not_fit_is_in_the_log_without_its_values(
    replayed: Replayed,
) -> None:
    log = replayed.memory()
    world = Shop()
    async with open_app(log) as app, tools_on(app, world) as tools:
        await tools.call("get_snapshot")
        looks = world.looks
        answer = await tools.call("browser_fill", {"value": "hunter-2", "extra": "hunter-2"})
        again = await tools.call("browser_fill", {"ref": "@e0", "value": ["hunter-2"]})
        neither = await tools.call("browser_scroll", {"amount": 20})
    assert errors(answer) == ("invalid_params", "validation_error", False)
    assert errors(again)[0] == errors(neither)[0] == "invalid_params"
    assert answer.snapshot is not None
    assert world.looks == looks
    assert not any(b"hunter-2" in record.payload for record in await read_all(log))
    called = [each for each in await events_of(log, tools.session) if isinstance(each, ToolCalled)]
    assert [each.arguments for each in called[1:]] == ["{}", '{"ref":"@e0"}', "{}"]
    assert all(each.invalid for each in called[1:])


@for_each(
    "tool, arguments",
    [
        ("no_such_tool", {}),
        ("", {}),
        ("\ud800", {}),
        (None, {}),
        ("get_snapshot", []),
        ("get_snapshot", "text"),
        ("navigate", {"url": "\ud800"}),
        ("navigate", {"url": "x" * 100_000}),
        ("browser_scroll", {"direction": "down", "amount": 2**70}),
        ("browser_fill", {"ref": "@e0", "value": object()}),
        ("browser_click", {1: 2}),
    ],
)
async def test_nothing_that_is_called_is_raised(
    replayed: Replayed, tool: object, arguments: object
) -> None:
    async with open_app(replayed.memory()) as app, tools_on(app, Shop()) as tools:
        answer = await tools.call(tool, arguments)
    assert errors(answer) == ("invalid_params", "validation_error", False)


async def test_a_literal_in_a_secret_field_is_denied_and_nowhere_in_the_log(
    replayed: Replayed,
) -> None:
    log = replayed.memory()
    world = Shop()
    async with open_app(log) as app, tools_on(app, world, at("/door")) as tools:
        await tools.call("get_snapshot")
        answer = await tools.call("browser_fill", {"ref": "@e1", "value": "hunter-2"})
    assert errors(answer) == ("policy_denied", "policy_denied", False)
    assert world.fields == {}
    assert not any(b"hunter-2" in record.payload for record in await read_all(log))


async def test_a_secret_is_typed_by_its_name(replayed: Replayed) -> None:
    log = replayed.memory()
    world = Shop()
    started = at("/door", values={"who": "Ann"}, secrets=["password"])
    secrets = {"password": "hunter-2"}
    person = ScriptedPerson([PersonAnswer(True, phrase="confirm")])
    async with (
        open_app(log) as app,
        tools_on(app, world, started, secrets=secrets, answers=person) as tools,
    ):
        await tools.call("get_snapshot")
        assert (await tools.call("browser_fill", {"ref": "@e0", "value": "${who}"})).success
        assert (await tools.call("browser_fill", {"ref": "@e1", "value": "${password}"})).success
        assert (await tools.call("browser_fill", {"ref": "@e0", "value": "${else}"})).success
    assert world.fields == {"#name": "${else}", "#password": "hunter-2"}
    called = [each for each in await events_of(log, tools.session) if isinstance(each, ToolCalled)]
    assert '"value":{"secret":"password"}' in called[2].arguments
    assert '"value":{"param":"who"}' in called[1].arguments
    assert [(asked.rule, asked.origin) for asked in person.asked] == [("secret_unbound", ORIGIN)]


async def test_a_secret_is_not_typed_where_nobody_said_so(replayed: Replayed) -> None:
    world = Shop()
    started = at("/door", secrets=["password"])
    async with (
        open_app(replayed.memory()) as app,
        tools_on(app, world, started, secrets={"password": "hunter-2"}) as tools,
    ):
        await tools.call("get_snapshot")
        answer = await tools.call("browser_fill", {"ref": "@e1", "value": "${password}"})
    assert errors(answer) == ("policy_denied", "policy_denied", False)
    assert world.fields == {}


async def test_filling_a_list_to_select_from_is_told_as_that(replayed: Replayed) -> None:
    async with open_app(replayed.memory()) as app, tools_on(app, Shop(), at("/door")) as tools:
        await tools.call("get_snapshot")
        answer = await tools.call("browser_fill", {"ref": "@e2", "value": "one"})
        selected = await tools.call("browser_select", {"ref": "@e2", "value": "one"})
    assert errors(answer)[0] == "invalid_params"
    assert selected.success


# -- refs -----------------------------------------------------------------------------------------


async def test_a_ref_before_the_first_snapshot_and_beyond_the_last_is_invalid(
    replayed: Replayed,
) -> None:
    world = Shop()
    async with open_app(replayed.memory()) as app, tools_on(app, world) as tools:
        early = await tools.call("browser_click", {"ref": "@e1"})
        beyond = await tools.call("browser_click", {"ref": "@e3"})
        right = await tools.call("browser_click", {"ref": "@e1"})
    for answer in (early, beyond):
        assert errors(answer) == ("ref_invalid", "validation_error", True)
        assert answer.snapshot is not None
    assert right.success
    assert [action.type for action in world.done] == ["navigate", "click"]


class Shifting(Shop):
    """Where a button was that could not be clicked, there is another one when it is looked at."""

    def look(self) -> Page:
        if self.path == "/" and not self._troubles.get("#find"):
            self.replace("#find", ScriptedElement("button", "button", "Archive"))
        return super().look()


async def test_a_second_try_does_not_take_what_came_in_the_place_of_the_element(
    replayed: Replayed,
) -> None:
    world = Shifting()
    world.trouble("#find", Fails("element_obscured"))
    async with open_app(replayed.memory()) as app, tools_on(app, world) as tools:
        await tools.call("get_snapshot")
        answer = await tools.call("browser_click", {"ref": "@e1"})
    assert errors(answer) == ("ref_invalid", "validation_error", True)
    assert answer.snapshot is not None
    assert [action.type for action in world.done] == ["navigate"]


@for_each(
    "given, pressed",
    [
        ("Enter", "Enter"),
        ("return", "Enter"),
        ("Esc", "Escape"),
        ("Del", "Delete"),
        ("Down", "ArrowDown"),
        ("PgDn", "PageDown"),
        ("a", "a"),
        ("A", "A"),
        (" ", " "),
        ("+", "+"),
        ("KeyA", "KeyA"),
        ("Ctrl+A", "Control+A"),
        ("cmd+shift+z", "Meta+Shift+z"),
        ("Control++", "Control++"),
        ("Shift", "Shift"),
    ],
)
def test_a_key_is_known_by_the_names_that_it_is_given(given: str, pressed: str) -> None:
    wanted = order("press", {"key": given}, number=0, names=BoundNames())
    assert (wanted.invalid, wanted.arguments) == ("", f'{{"key":"{pressed}"}}')


@for_each(
    "given",
    ["ß", "Entr", "Ctrl+", "++", "+a", "Enter+a", "a+Enter", "Ctrl+Ctl+a", "\r", "\n", "Ctrl+ß"],
)
def test_a_key_that_is_none_is_told_with_those_that_are(given: str) -> None:
    wanted = order("press", {"key": given}, number=0, names=BoundNames())
    assert wanted.arguments == "{}"
    assert "ArrowDown" in wanted.invalid
    assert "Control" in wanted.invalid


# -- people ---------------------------------------------------------------------------------------


async def test_sending_a_form_asks_a_person_and_a_yes_sends_it(replayed: Replayed) -> None:
    world = Shop()
    person = ScriptedPerson([PersonAnswer(True, phrase="confirm")])
    async with (
        open_app(replayed.memory()) as app,
        tools_on(app, world, at("/customers/1"), answers=person) as tools,
    ):
        await tools.call("get_snapshot")
        answer = await tools.call("browser_click", {"ref": "@e1"})
    assert answer.success
    assert world.path == "/orders/1001"
    [question] = person.asked  # it is the last page before the order goes out
    assert (question.kind, question.phrase) == ("confirm", "confirm")


async def test_a_no_goes_back_to_the_caller_in_the_persons_words(replayed: Replayed) -> None:
    world = Shop()
    person = ScriptedPerson([PersonAnswer(False, "not this customer")])
    async with (
        open_app(replayed.memory()) as app,
        tools_on(app, world, at("/customers/1"), answers=person) as tools,
    ):
        await tools.call("get_snapshot")
        answer = await tools.call("browser_click", {"ref": "@e1"})
        goes_on = await tools.call("get_snapshot")
    assert errors(answer) == ("human_rejected", "policy_denied", False)
    assert answer.message == "User feedback: not this customer"
    assert goes_on.success
    assert world.path == "/customers/1"


async def test_where_nobody_can_be_asked_it_is_denied(replayed: Replayed) -> None:
    async with (
        open_app(replayed.memory()) as app,
        tools_on(app, Shop(), at("/customers/1")) as tools,
    ):
        await tools.call("get_snapshot")
        answer = await tools.call("browser_click", {"ref": "@e1"})
    assert errors(answer) == ("policy_denied", "policy_denied", False)


async def test_a_caller_can_ask_a_person_itself(replayed: Replayed) -> None:
    person = ScriptedPerson([PersonAnswer(True), PersonAnswer(False, "no")])
    ask = {"action": "Cancel the plan", "reason": "there is no way back"}
    async with open_app(replayed.memory()) as app, tools_on(app, Shop(), answers=person) as tools:
        yes = await tools.call("request_human_approval", ask)
        no = await tools.call("request_human_approval", ask)
    assert yes.body() == {"approved": True, "message": None}
    assert no.body() == {
        "approved": False,
        "message": "no",
        "error": "human_rejected",
        "error_code": "policy_denied",
        "retriable": False,
    }
    assert [question.kind for question in person.asked] == ["requested", "requested"]


async def test_a_yes_to_a_callers_question_approves_no_step(replayed: Replayed) -> None:
    person = ScriptedPerson([PersonAnswer(True), PersonAnswer(False)])
    async with (
        open_app(replayed.memory()) as app,
        tools_on(app, Shop(), at("/customers/1"), answers=person) as tools,
    ):
        await tools.call("get_snapshot")
        await tools.call("request_human_approval", {"action": "a", "reason": "b"})
        answer = await tools.call("browser_click", {"ref": "@e1"})
    assert answer.error == "human_rejected"


async def test_the_time_that_a_person_takes_is_not_the_calls() -> None:
    patience, word = CallPatience(0), anyio.Event()
    heard: list[str] = []

    async def wait() -> None:
        with patience.counted(still=True):
            await word.wait()
            heard.append("the person")

    async with anyio.create_task_group() as group:
        group.start_soon(wait)
        await anyio.sleep(0)
        word.set()
    with patience.counted(still=False):
        await anyio.Event().wait()
    assert heard == ["the person"]


# -- the end --------------------------------------------------------------------------------------

PLACED = Criteria((Indicator("heading", "order 1001"),), (Indicator("url", "error"),))


async def test_a_success_counts_when_the_page_shows_it(replayed: Replayed) -> None:
    person = ScriptedPerson([PersonAnswer(True, phrase="confirm")])
    started = at("/customers/1", given=Given(criteria=PLACED))
    done = {"status": "success", "reason": "the order is placed"}
    async with (
        open_app(replayed.memory()) as app,
        tools_on(app, Shop(), started, answers=person) as tools,
    ):
        await tools.call("get_snapshot")
        early = await tools.call("complete_task", done)
        await tools.call("get_snapshot")
        await tools.call("browser_click", {"ref": "@e1"})
        late = await tools.call("complete_task", done)
        after = await tools.call("get_snapshot")
    assert early.body() == {
        "acknowledged": False,
        "message": "none of 1 signs of success is on the page",
    }
    assert late.body() == {"acknowledged": True, "message": None}
    assert errors(after) == ("unavailable", "tool_unavailable", False)
    assert tools.ended is not None
    assert (tools.ended.reason, tools.ended.detail) == ("completed", "the order is placed")


async def test_without_criteria_no_success_is_acknowledged_but_giving_up_is(
    replayed: Replayed,
) -> None:
    async with open_app(replayed.memory()) as app, tools_on(app, Shop()) as tools:
        success = await tools.call("complete_task", {"status": "success", "reason": "done"})
        failed = await tools.call("complete_task", {"status": "failed", "reason": "no such page"})
    assert success.body()["acknowledged"] is False
    assert "no criteria" in success.body()["message"]
    assert failed.body() == {"acknowledged": True, "message": None}
    assert tools.ended is not None
    assert (tools.ended.reason, tools.ended.detail) == ("failed", "no such page")


async def test_the_twenty_first_call_is_one_too_many(replayed: Replayed) -> None:
    async with open_app(replayed.memory()) as app, tools_on(app, Shop()) as tools:
        answers = [await tools.call("ghost_extract") for _ in range(22)]
    assert [answer.error for answer in answers[:20]] == ["ghost_refused"] * 20
    assert errors(answers[20]) == ("unavailable", "tool_unavailable", False)
    assert "max_turns_exceeded" in answers[20].message
    assert errors(answers[21])[1] == "tool_unavailable"
    assert tools.ended is not None
    assert tools.ended.reason == "max_turns_exceeded"


async def test_letting_go_of_the_tools_ends_the_session(replayed: Replayed) -> None:
    world = Shop()
    async with open_app(replayed.memory()) as app:
        async with tools_on(app, world) as tools:
            pass
        assert app.running() == ()
    assert tools.ended is not None
    assert tools.ended.reason == "cancelled"
    assert world.closed


async def test_a_session_that_is_stopped_answers_what_is_open(replayed: Replayed) -> None:
    world = Shop()
    hangs = Waits(anyio.Event(), anyio.Event())
    world.trouble("#find", hangs)
    answers: list[ToolResponse] = []

    async def click(tools: Tools) -> None:
        answers.append(await tools.call("browser_click", {"ref": "@e1"}))

    async with open_app(replayed.memory()) as app, tools_on(app, world) as tools:
        await tools.call("get_snapshot")
        async with anyio.create_task_group() as group:
            group.start_soon(click, tools)
            await hangs.reached.wait()
            await app.stop(tools.session, "a person")
    assert errors(answers[0]) == ("unavailable", "tool_unavailable", False)


# -- time, the network, a broken world ------------------------------------------------------------


async def test_a_call_that_takes_too_long_is_answered_and_the_next_one_waits(
    replayed: Replayed,
) -> None:
    world = Shop()
    hangs = Waits(anyio.Event(), anyio.Event())
    world.trouble("#find", hangs)
    timeouts = {**dict.fromkeys(TOOLS, 60_000), "browser_click": 5}
    async with (
        open_app(replayed.memory()) as app,
        tools_on(app, world, timeouts_ms=timeouts) as tools,
    ):
        await tools.call("get_snapshot")
        late = await tools.call("browser_click", {"ref": "@e1"})
        assert errors(late) == ("timeout", "tool_timeout", False)
        assert late.snapshot is not None
        hangs.answer.set()
        after = await tools.call("get_snapshot")
    assert after.snapshot is not None
    assert after.body()["snapshot"]["page"]["title"] == "Results"


class SlowReader:
    """A reader of pictures takes longer than a call that only looks may take."""

    name: ClassVar[Actor] = "advisor"

    async def handle(self, envelope: Envelope) -> AsyncIterator[AnyEvent]:
        match envelope.event:
            case AdviceRequested(request=request, step=step):
                await anyio.sleep(0.1)
                yield AdviceReceived(request, "tesseract", "eng", "said")
                yield QueryAnswered(step, 1, 1, Untrusted("No. 4711"), render_mode="ghost")
            case _:
                return

    def failed(self, envelope: Envelope, error: Exception) -> AnyEvent | None:
        return None


async def test_a_call_that_goes_on_with_a_picture_has_the_time_of_reading_one(
    replayed: Replayed,
) -> None:
    reader = PictureReader("tesseract", "eng")
    started = with_settings(at(), ghost=GhostUse(True, True, True, reader, reader))
    timeouts = {**dict.fromkeys(TOOLS, 60_000), "ghost_extract": 20}
    async with (
        open_app(replayed.memory()) as app,
        tools_on(app, Shop(), started, more=[SlowReader()], timeouts_ms=timeouts) as tools,
    ):
        answer = await tools.call("ghost_extract")
    assert (answer.render_mode, answer.result) == ("ghost", "No. 4711")


async def test_a_caller_that_goes_away_leaves_the_session_to_the_next_call(
    replayed: Replayed,
) -> None:
    world = Shop()
    hangs = Waits(anyio.Event(), anyio.Event())
    world.trouble("#find", hangs)
    async with open_app(replayed.memory()) as app, tools_on(app, world) as tools:
        await tools.call("get_snapshot")
        async with anyio.create_task_group() as group:
            group.start_soon(tools.call, "browser_click", {"ref": "@e1"})
            await hangs.reached.wait()
            group.cancel_scope.cancel()
        hangs.answer.set()
        assert (await tools.call("get_snapshot")).success


class SleepyClock(NextClock):
    """Remembers how long it was asked to sleep."""

    def __init__(self) -> None:
        super().__init__()
        self.slept: list[int] = []

    async def sleep_ms(self, ms: int) -> None:
        self.slept.append(ms)


@pytest.mark.parametrize(("failures", "slept"), [(1, [1_000]), (2, [1_000, 2_000])])
async def test_the_network_is_tried_again_with_growing_delays(
    replayed: Replayed, failures: int, slept: list[int]
) -> None:
    log = replayed.memory()
    clock, world = SleepyClock(), Shop()
    world.trouble(ORIGIN + "/results", *[Fails("navigation_failed", True)] * failures)
    async with open_app(log, clock=clock) as app, tools_on(app, world) as tools:
        answer = await tools.call("navigate", {"url": ORIGIN + "/results"})
    assert answer.success
    assert clock.slept == slept
    called = [each for each in await events_of(log, tools.session) if isinstance(each, ToolCalled)]
    assert [each.attempt for each in called] == list(range(1, failures + 2))
    assert len({each.call for each in called}) == 1


async def test_a_network_that_stays_away_is_an_answer(replayed: Replayed) -> None:
    clock, world = SleepyClock(), Shop()
    world.trouble(ORIGIN + "/results", *[Fails("navigation_failed", True)] * 3)
    async with open_app(replayed.memory(), clock=clock) as app, tools_on(app, world) as tools:
        answer = await tools.call("navigate", {"url": ORIGIN + "/results"})
    assert errors(answer) == ("action_failed", "execution_error", True)
    assert clock.slept == [1_000, 2_000]


async def test_what_is_denied_is_not_tried_again(replayed: Replayed) -> None:
    clock = SleepyClock()
    async with open_app(replayed.memory(), clock=clock) as app, tools_on(app, Shop()) as tools:
        answer = await tools.call("navigate", {"url": "http://127.0.0.1/"})
    assert errors(answer) == ("policy_denied", "policy_denied", False)
    assert clock.slept == []


async def test_a_browser_that_dies_is_an_answer_and_so_is_every_call_after_it(
    replayed: Replayed,
) -> None:
    world = Shop().trouble("#find", Raises(BrowserGone("it died")))
    async with open_app(replayed.memory()) as app, tools_on(app, world) as tools:
        await tools.call("get_snapshot")
        answer = await tools.call("browser_click", {"ref": "@e1"})
        after = await tools.call("get_snapshot")
    assert errors(answer) == ("browser_gone", "tool_unavailable", False)
    assert errors(after) == ("browser_gone", "tool_unavailable", False)
    assert answer.snapshot is not None


async def test_an_actor_that_fails_is_an_answer(replayed: Replayed) -> None:
    world = Shop().trouble("look", *[Raises(ValueError("broken"))] * 8)
    async with open_app(replayed.memory()) as app, tools_on(app, world) as tools:
        answer = await tools.call("get_snapshot")
    assert errors(answer)[1] == "tool_unavailable"


# -- files ----------------------------------------------------------------------------------------


@pytest.fixture
def files(tmp_path: Path) -> Path:
    inside = tmp_path / "inside"
    (inside / "deep").mkdir(parents=True)
    (inside / "a.txt").write_text("grüß dich\n", "utf-8")
    (inside / "deep" / "b.txt").write_text("deep")
    (inside / "large.txt").write_text("x" * 70_000)
    (inside / "picture.png").write_bytes(b"\x89PNG\xff")
    (tmp_path / "outside.txt").write_text("hunter-2")
    (inside / "link.txt").symlink_to(tmp_path / "outside.txt")
    (inside / "way_out").symlink_to(tmp_path)
    return inside


@pytest.mark.parametrize(
    ("path", "text"), [("a.txt", "grüß dich\n"), ("deep/b.txt", "deep"), ("./a.txt", "grüß dich\n")]
)
async def test_a_file_of_the_directory_is_read(
    replayed: Replayed, files: Path, path: str, text: str
) -> None:
    async with (
        open_app(replayed.memory()) as app,
        tools_on(app, Shop(), at(given=looking_in(files))) as tools,
    ):
        answer = await tools.call("read_file", {"path": path})
    assert answer.success
    assert answer.body()["result"] == text


@for_each(
    "path, error",
    [
        ("../outside.txt", "policy_denied"),
        ("deep/../../outside.txt", "policy_denied"),
        ("/etc/passwd", "policy_denied"),
        ("link.txt", "policy_denied"),
        ("way_out/outside.txt", "policy_denied"),
        ("deep", "policy_denied"),
        ("large.txt", "policy_denied"),
        ("a\0.txt", "policy_denied"),
        ("none.txt", "action_failed"),
        ("picture.png", "action_failed"),
    ],
)
async def test_nothing_outside_the_directory_is_read(
    replayed: Replayed, files: Path, path: str, error: str
) -> None:
    log = replayed.memory()
    async with (
        open_app(log) as app,
        tools_on(app, Shop(), at(given=looking_in(files))) as tools,
    ):
        answer = await tools.call("read_file", {"path": path})
    assert answer.error == error
    assert answer.result is None
    [read] = [each for each in await events_of(log, tools.session) if isinstance(each, FileRead)]
    assert read.text is None
    assert not any(b"hunter-2" in record.payload for record in await read_all(log))


async def test_an_absolute_path_is_read_inside_any_of_the_directories(
    replayed: Replayed, files: Path, tmp_path: Path
) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "c.txt").write_text("other")
    started = at(given=looking_in(files, tmp_path / "other"))
    async with open_app(replayed.memory()) as app, tools_on(app, Shop(), started) as tools:
        read = await tools.call("read_file", {"path": str(tmp_path / "other" / "c.txt")})
        deep = await tools.call("read_file", {"path": str(files / "deep" / "b.txt")})
        alone = await tools.call("read_file", {"path": "c.txt"})
    assert (read.result, deep.result) == ("other", "deep")
    assert alone.error == "action_failed"


NEVER = (PlanProposed, ActionApproved, ActionStarted, ActionRejected, ActionJudged, QueryStarted)


@pytest.mark.parametrize("path", ["a.txt", "link.txt", "none.txt"])
async def test_reading_a_file_is_an_observation_and_nothing_else(
    replayed: Replayed, files: Path, path: str
) -> None:
    log, started = (
        replayed.memory(),
        with_settings(session_started.tool_session(given=looking_in(files))),
    )
    async with open_app(log) as app, tools_on(app, Shop(), started) as tools:
        await tools.call("read_file", {"path": path})
    said = await events_of(log, tools.session)
    assert [each.call for each in said if isinstance(each, FileRead)]
    assert [kind for kind in kinds(said) if kind in {never.__name__ for never in NEVER}] == []


async def test_without_a_directory_nothing_is_read(replayed: Replayed) -> None:
    async with open_app(replayed.memory()) as app, tools_on(app, Shop()) as tools:
        answer = await tools.call("read_file", {"path": "a.txt"})
    assert errors(answer) == ("policy_denied", "policy_denied", False)


async def test_reading_a_file_leaves_the_refs_as_they_are(replayed: Replayed, files: Path) -> None:
    async with (
        open_app(replayed.memory()) as app,
        tools_on(app, Shop(), at(given=looking_in(files))) as tools,
    ):
        await tools.call("get_snapshot")
        await tools.call("read_file", {"path": "a.txt"})
        assert (await tools.call("browser_click", {"ref": "@e1"})).success


# -- whatever is called ---------------------------------------------------------------------------

REFS = st.sampled_from(["@e0", "@e1", "@e2", "@e9", "@e" + "9" * 30, "e1", ""])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | REFS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3)
    ),
    max_leaves=6,
)
NAMED = {
    "ref": REFS,
    "value": st.text(max_size=10),
    "direction": st.sampled_from(["up", "down", "top", "bottom", "left"]),
    "amount": st.integers(-5, 500),
    "url": st.sampled_from([ORIGIN + "/", ORIGIN + "/results", "http://10.0.0.1/", "x"]),
    "key": st.sampled_from(["Enter", "Tab"]),
    "ms": st.integers(0, 3),
    "path": st.sampled_from(["a.txt", "../a.txt"]),
    "action": st.text(max_size=5),
    "reason": st.text(max_size=5),
    "status": st.sampled_from(["success", "failed", "maybe"]),
    "viewport_only": st.booleans(),
    "clear_first": st.booleans(),
}


@st.composite
def calls(draw: st.DrawFn) -> tuple[object, object]:
    """Mostly calls that nearly fit; some that are anything at all."""
    if draw(st.integers(0, 4)) == 0:
        return draw(st.text(max_size=8) | st.sampled_from(list(TOOLS)) | JSON), draw(JSON)
    tool = draw(st.sampled_from(list(TOOLS)))
    properties = TOOLS[tool].input_schema["properties"]
    needed = TOOLS[tool].input_schema.get("required", [])
    names = [name for name in properties if name in needed or draw(st.booleans())]
    return tool, {name: draw(NAMED.get(name, st.text(max_size=5)) | JSON) for name in names}


def of_the_contract(answer: ToolResponse) -> bool:
    """S3 1.1.2, whatever was called."""
    body = answer.body()
    first = {"request_human_approval": "approved", "complete_task": "acknowledged"}
    key = first.get(answer.tool, "success")
    assert body[key] is answer.success
    if key == "success":
        assert {"success", "snapshot", "error", "error_code", "retriable", "message"} <= set(body)
        assert (body["error"] is None) == answer.success
    assert answer.error in get_args(ToolError)
    assert answer.error_code in get_args(ErrorType)
    assert bool(answer.error) == bool(answer.error_code)
    return True


@examples(60)
@given(st.lists(calls(), min_size=1, max_size=8))
def test_whatever_is_called_is_answered_as_the_contract_says(
    wanted: list[tuple[object, object]],
) -> None:
    async def run() -> None:
        log = MemoryLog()
        async with open_app(log) as app, tools_on(app, Shop(), at(max_turns=6)) as tools:
            for tool, arguments in wanted:
                assert of_the_contract(await tools.call(tool, arguments))
        check_log(await read_all(log))

    anyio.run(run)
