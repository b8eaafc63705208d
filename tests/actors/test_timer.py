"""Given a limit: when the time is used up, and whose time is not counted."""

import anyio
import pytest

from actors.timer import Timer
from events.critic import PageAssessed
from events.envelope import Envelope
from events.person import ApprovalAnswered
from events.runtime import DeadlinePassed
from events.validator import ApprovalRequested
from events.vocabulary import AnyEvent
from tests.facts import run_of

pytestmark = pytest.mark.anyio

ASKED = ApprovalRequested("1.1.1", 1, "policy", "Approve?")
ANSWERED = ApprovalAnswered("1.1.1", True, "terminal")
LIMIT_MS = 20


async def told(timer: Timer, *events: AnyEvent) -> None:
    for event in events:
        heard = Envelope(1, "s", 1, 1, "runtime", 0, event, b"")
        assert [fact async for fact in timer.handle(heard)] == []


def started(limit_ms: int = LIMIT_MS) -> AnyEvent:
    return run_of(None, max_wall_ms=limit_ms)


async def passed(timer: Timer, within_s: float) -> DeadlinePassed | None:
    """The deadline, or nothing when it does not come within this time."""
    with anyio.move_on_after(within_s):
        return await timer.passed()
    return None


async def test_the_deadline_passes_when_the_time_is_used_up() -> None:
    timer = Timer()
    began = anyio.current_time()
    await told(timer, started())
    assert await passed(timer, 5) == DeadlinePassed("wall_time", LIMIT_MS)
    assert anyio.current_time() - began >= LIMIT_MS / 1000


async def test_before_the_start_no_time_passes() -> None:
    assert await passed(Timer(), 0.03) is None


async def test_while_a_person_thinks_no_time_passes() -> None:
    timer = Timer()
    await told(timer, started(), ASKED)
    assert await passed(timer, 3 * LIMIT_MS / 1000) is None


async def test_after_the_answer_the_rest_of_the_time_passes() -> None:
    timer = Timer()
    await told(timer, started(), ASKED)
    assert await passed(timer, 2 * LIMIT_MS / 1000) is None
    await told(timer, ANSWERED)
    assert await passed(timer, 5) == DeadlinePassed("wall_time", LIMIT_MS)


async def test_what_was_used_before_the_question_stays_used() -> None:
    timer = Timer()
    await told(timer, started(2 * LIMIT_MS))
    assert await passed(timer, LIMIT_MS / 1000) is None
    await told(timer, ASKED, ANSWERED)
    began = anyio.current_time()
    assert await passed(timer, 5) is not None
    assert anyio.current_time() - began < 2 * LIMIT_MS / 1000


async def test_a_second_question_does_not_hold_it_twice() -> None:
    timer = Timer()
    await told(timer, started(), ASKED, ASKED, ANSWERED)
    assert await passed(timer, 5) is not None


async def test_whoever_waits_for_the_deadline_notices_a_question() -> None:
    timer = Timer()
    await told(timer, started())
    noticed: list[DeadlinePassed | None] = []

    async def wait() -> None:
        noticed.append(await passed(timer, 4 * LIMIT_MS / 1000))

    async with anyio.create_task_group() as group:
        group.start_soon(wait)
        await anyio.sleep(0)
        await told(timer, ASKED)
    assert noticed == [None]


async def test_other_events_are_nothing_to_it() -> None:
    timer = Timer()
    await told(timer, PageAssessed())
    heard = Envelope(1, "s", 1, 1, "runtime", 0, started(), b"")
    assert timer.failed(heard, RuntimeError()) is None
