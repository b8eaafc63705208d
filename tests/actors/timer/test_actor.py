"""Given a limit: when the time is used up, and whose time is not counted."""

import anyio
import msgspec
import pytest

from rutter.actors.rules.tools.tool_table import GHOST_MS, TOOLS
from rutter.actors.timer.actor import Timer
from rutter.events.action import Action
from rutter.events.critic import PageAssessed
from rutter.events.envelope import Envelope
from rutter.events.person import ApprovalAnswered
from rutter.events.runtime import DeadlinePassed, SessionPaused, SessionResumed
from rutter.events.tools import ToolAnswered, ToolCalled
from rutter.events.validator import ApprovalRequested, QueryStarted
from rutter.events.vocabulary import AnyEvent
from tests.support.shop_facts import run_of

pytestmark = pytest.mark.anyio

ASKED = ApprovalRequested("1.1.1", 1, "policy", "Approve?")
ANSWERED = ApprovalAnswered("1.1.1", True, "terminal")
LIMIT_MS = 90_000
PASSED = DeadlinePassed("wall_time", LIMIT_MS)
STARTED = run_of(None, max_wall_ms=LIMIT_MS)


class Hands:
    """The hands of a clock that the test moves."""

    def __init__(self) -> None:
        self.ms = 1_000

    def now_ns(self) -> int:
        return self.ms * 1_000_000


@pytest.fixture
def hands(monkeypatch: pytest.MonkeyPatch) -> Hands:
    moved = Hands()
    monkeypatch.setattr("rutter.actors.timer.actor.monotonic_ns", moved.now_ns)
    return moved


async def told(timer: Timer, *events: AnyEvent) -> None:
    for event in events:
        heard = Envelope(1, "s", 1, 1, "runtime", 0, event, b"")
        assert [fact async for fact in timer.handle(heard)] == []


async def passed(timer: Timer) -> DeadlinePassed | None:
    """The deadline when it has passed, or nothing."""
    with anyio.move_on_after(0.005):
        return await timer.passed()
    return None


async def test_the_deadline_passes_when_the_time_is_used_up(hands: Hands) -> None:
    timer = Timer()
    await told(timer, STARTED)
    hands.ms += LIMIT_MS - 1
    assert await passed(timer) is None
    hands.ms += 1
    assert await passed(timer) == PASSED


async def test_before_the_start_no_time_passes(hands: Hands) -> None:
    timer = Timer()
    hands.ms += 10 * LIMIT_MS
    assert await passed(timer) is None


async def test_while_a_person_thinks_no_time_passes(hands: Hands) -> None:
    timer = Timer()
    await told(timer, STARTED, ASKED)
    hands.ms += 10 * LIMIT_MS
    assert await passed(timer) is None
    await told(timer, ANSWERED)
    assert await passed(timer) is None


async def test_what_was_used_before_the_question_stays_used(hands: Hands) -> None:
    timer = Timer()
    await told(timer, STARTED)
    hands.ms += LIMIT_MS - 1
    await told(timer, ASKED)
    hands.ms += LIMIT_MS
    await told(timer, ANSWERED)
    assert await passed(timer) is None
    hands.ms += 1
    assert await passed(timer) == PASSED


async def test_a_second_question_does_not_hold_it_twice(hands: Hands) -> None:
    timer = Timer()
    await told(timer, STARTED, ASKED)
    hands.ms += 10 * LIMIT_MS
    await told(timer, ASKED)
    hands.ms += 10 * LIMIT_MS
    await told(timer, ANSWERED, ANSWERED)
    hands.ms += LIMIT_MS
    assert await passed(timer) == PASSED


async def test_whoever_waits_for_the_deadline_notices_the_answer(hands: Hands) -> None:
    timer = Timer()
    await told(timer, STARTED, ASKED)
    noticed: list[DeadlinePassed] = []

    async def wait() -> None:
        noticed.append(await timer.passed())

    async with anyio.create_task_group() as group:
        group.start_soon(wait)
        await anyio.sleep(0)
        await told(timer, ANSWERED)
        hands.ms += LIMIT_MS
        await told(timer, ASKED, ANSWERED)
    assert noticed == [PASSED]


async def test_real_time_passes_by_itself() -> None:
    timer = Timer()
    began = anyio.current_time()
    await told(timer, run_of(None, max_wall_ms=5))
    assert await timer.passed() == DeadlinePassed("wall_time", 5)
    assert anyio.current_time() - began >= 0.005


async def test_how_long_a_caller_of_tools_thinks_is_not_run_time(hands: Hands) -> None:
    timer = Timer()
    started = msgspec.structs.replace(STARTED, purpose="tools")
    await told(timer, started)
    hands.ms += 10 * LIMIT_MS
    await told(timer, ToolCalled("c1", "get_snapshot"))
    hands.ms += LIMIT_MS - 1
    await told(timer, ToolAnswered("c1", True))
    hands.ms += 10 * LIMIT_MS
    assert await passed(timer) is None
    await told(timer, ToolCalled("c2", "get_snapshot"))
    assert await passed(timer) is None
    hands.ms += 1
    assert await passed(timer) == PASSED


async def test_other_events_are_nothing_to_it() -> None:
    timer = Timer()
    await told(timer, PageAssessed())
    heard = Envelope(1, "s", 1, 1, "runtime", 0, STARTED, b"")
    assert timer.failed(heard, RuntimeError()) is None


LED = msgspec.structs.replace(STARTED, purpose="tools", driver="model")
CALLED = ToolCalled("a1.0", "browser_click", by="model")
TOOL = DeadlinePassed("tool", TOOLS["browser_click"].timeout_ms, "a1.0")


async def test_how_long_a_model_of_our_own_thinks_is_run_time(hands: Hands) -> None:
    timer = Timer()
    await told(timer, LED)
    hands.ms += LIMIT_MS // 2
    await told(timer, CALLED, ToolAnswered("a1.0", True))
    hands.ms += LIMIT_MS // 2 - 1
    assert await passed(timer) is None
    hands.ms += 1
    assert await passed(timer) == PASSED
    hands.ms += LIMIT_MS
    assert await passed(timer) is None  # it is told once


async def test_what_a_model_calls_has_the_time_of_its_tool(hands: Hands) -> None:
    timer = Timer()
    await told(timer, LED, CALLED)
    hands.ms += TOOL.after_ms - 1
    assert await passed(timer) is None
    hands.ms += 1
    assert await passed(timer) == TOOL
    hands.ms += TOOL.after_ms
    assert await passed(timer) is None
    await told(timer, ToolAnswered("a1.0", False, "timeout"), CALLED)
    hands.ms += TOOL.after_ms - 1
    assert await passed(timer) is None  # the next call has all of its own
    await told(timer, ToolAnswered("a1.0", True))
    hands.ms += TOOL.after_ms
    assert await passed(timer) is None


async def test_a_call_that_goes_on_with_a_picture_has_the_time_of_reading_one(hands: Hands) -> None:
    timer = Timer()
    limits = msgspec.structs.replace(LED.settings.limits, max_wall_ms=10 * GHOST_MS)
    settings = msgspec.structs.replace(LED.settings, limits=limits)
    await told(timer, msgspec.structs.replace(LED, settings=settings), CALLED)
    hands.ms += TOOL.after_ms - 1
    await told(timer, QueryStarted(1, 1, Action("read_page"), render_mode="ghost"))
    hands.ms += GHOST_MS - TOOL.after_ms
    assert await passed(timer) is None
    hands.ms += 1
    assert await passed(timer) == DeadlinePassed("tool", GHOST_MS, "a1.0")


async def test_a_call_that_waits_for_a_person_waits_without_a_clock(hands: Hands) -> None:
    timer = Timer()
    await told(timer, LED, CALLED, ASKED)
    hands.ms += 10 * LIMIT_MS
    assert await passed(timer) is None
    await told(timer, ANSWERED)
    assert await passed(timer) is None
    hands.ms += TOOL.after_ms
    assert await passed(timer) == TOOL


async def test_calls_of_others_are_timed_by_who_made_them(hands: Hands) -> None:
    timer = Timer()
    outside = msgspec.structs.replace(CALLED, by="agent")
    unknown = msgspec.structs.replace(CALLED, tool="?")
    for start, call in ((LED, outside), (LED, unknown)):
        await told(timer, start, call)
        hands.ms += TOOL.after_ms
        assert await passed(timer) is None


# -- paused ----------------------------------------------------------------------------------------

PAUSED, RESUMED = SessionPaused("ann"), SessionResumed("ann")


async def test_the_time_that_it_is_paused_is_not_counted(hands: Hands) -> None:
    timer = Timer()
    await told(timer, STARTED)
    hands.ms += LIMIT_MS - 1
    await told(timer, PAUSED)
    hands.ms += 10 * LIMIT_MS
    assert await passed(timer) is None
    await told(timer, RESUMED)
    assert await passed(timer) is None
    hands.ms += 1
    assert await passed(timer) == PASSED


async def test_neither_the_answer_to_a_question_nor_a_call_ends_a_pause(hands: Hands) -> None:
    timer = Timer()
    await told(timer, STARTED, ASKED, PAUSED, ANSWERED, ToolCalled("1", "get_snapshot"))
    hands.ms += 2 * LIMIT_MS
    assert await passed(timer) is None


async def test_a_question_that_is_open_still_holds_the_clock_when_it_is_resumed(
    hands: Hands,
) -> None:
    timer = Timer()
    await told(timer, STARTED, ASKED, PAUSED, RESUMED)
    hands.ms += 2 * LIMIT_MS
    assert await passed(timer) is None
