"""The fleet over browsers that do as they are told, on a clock that jumps."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from itertools import pairwise
from typing import Any, cast

import anyio
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rutter.actors.world.egress.gate import NOTHING
from rutter.events.errors import BrowserGone
from rutter.pipeline.config.reader import Config, SourcedValue
from rutter.pipeline.daemon.browsers.fleet import (
    CLOSE_S,
    LINGER_S,
    START_S,
    Fleet,
    FleetLimits,
    limits_of,
)
from rutter.pipeline.daemon.browsers.memory import resident_mb
from rutter.pipeline.daemon.browsers.supervised import LONGEST_PAUSE_S, STEADY_S
from tests.support.fake_browsers import NEVER, FakeBrowser, FakeWindow, Yard, measured
from tests.support.until_true import until
from tests.support.virtual_time import VIRTUAL

pytestmark = pytest.mark.anyio

BROKEN = BrowserGone("Chromium did not start", "run: rutter doctor")


@pytest.fixture
def anyio_backend() -> tuple[str, dict[str, Any]]:
    return VIRTUAL


def fleet_of(yard: Yard, **limits: Any) -> Fleet:
    return Fleet(yard, FleetLimits(**limits), measure=measured)


@asynccontextmanager
async def out(yard: Yard, **limits: Any) -> AsyncIterator[Fleet]:
    """A fleet with all its browsers up. Afterwards none of them runs, and no window counts."""
    fleet, others = fleet_of(yard, **limits), asyncio.all_tasks()
    async with fleet:
        await until(lambda: len(states(fleet, "ready")) == limits.get("size", 1))
        yield fleet
    assert yard.running == []
    assert all(each.closed for each in yard.made)
    assert asyncio.all_tasks() == others


def states(fleet: Fleet, state: str) -> list[int | None]:
    return [each.pid for each in fleet.statistics().browsers if each.state == state]


def replaced(fleet: Fleet) -> dict[str, int]:
    return {cause: times for cause, times in fleet.statistics().replaced.items() if times}


async def opened(fleet: Fleet) -> FakeWindow:
    return cast(FakeWindow, await fleet.open_window(NOTHING))


async def in_line(fleet: Fleet, number: int) -> list["asyncio.Task[FakeWindow]"]:
    """So many more ask for a window, one after the other, and wait."""
    before = fleet.statistics().waiting
    asking = [asyncio.ensure_future(opened(fleet)) for _ in range(number)]
    await until(lambda: fleet.statistics().waiting == before + number)
    return asking


async def passes(seconds: float) -> None:
    """So much time, and whatever happens in it."""
    await anyio.sleep(seconds)


# -- starting --------------------------------------------------------------------------------------


async def test_it_opens_windows_as_soon_as_one_browser_is_up() -> None:
    yard = Yard({"start_s": 5}, {"start_s": 2}, {"start_s": 9})
    async with fleet_of(yard, size=3) as fleet:
        assert anyio.current_time() == 2
        assert (await opened(fleet)).browser.number == 1
        await passes(8)
        assert sorted(map(str, states(fleet, "ready"))) == ["0", "1", "2"]


async def test_when_none_starts_it_raises_the_first_error_with_its_fix() -> None:
    first = BrowserGone("no Chromium at /nowhere", "run: rutter doctor")
    yard = Yard({"start_s": 2, "error": BROKEN}, {"start_s": 1, "error": first})
    with pytest.raises(BrowserGone) as caught:
        await fleet_of(yard, size=2).start()
    assert (caught.value.what, caught.value.fix) == (first.what, first.fix)
    assert len(yard.made) == 3, "the second was tried again while the first was on its way"
    assert all(each.closed for each in yard.made)


async def test_what_is_no_error_of_ours_says_what_to_do_all_the_same() -> None:
    yard = Yard({"error": RuntimeError("Connection closed\nwhile reading")})
    with pytest.raises(BrowserGone) as caught:
        await fleet_of(yard).start()
    assert caught.value.what == "no browser started (Connection closed)"
    assert caught.value.fix


async def test_one_that_does_not_start_is_tried_again_ever_more_slowly() -> None:
    yard = Yard({}, {"error": BROKEN})
    async with fleet_of(yard, size=2) as fleet:
        await passes(200)
        assert fleet.statistics().failed == len(yard.made) - 1
    tries = [each.born for each in yard.made[1:]]
    pauses = [after - before for before, after in pairwise(tries)]
    assert pauses[:7] == [0.5, 1, 2, 4, 8, 16, LONGEST_PAUSE_S]
    assert set(pauses[7:]) == {LONGEST_PAUSE_S}


async def test_a_start_that_hangs_is_given_up_and_ended() -> None:
    yard = Yard({}, {"start_s": NEVER}, {})
    async with fleet_of(yard, size=2) as fleet:
        await passes(START_S + 1)
        assert yard.made[1].closed
        assert states(fleet, "ready") == [0, 2]
    never = Yard({"start_s": NEVER})
    with pytest.raises(BrowserGone, match=f"not up within {START_S:g} s"):
        await fleet_of(never).start()


async def test_a_start_that_is_called_off_leaves_nothing_running() -> None:
    yard = Yard({"start_s": 5})
    fleet, others = fleet_of(yard, size=3), asyncio.all_tasks()
    with anyio.move_on_after(1):
        await fleet.start()
    assert [each.closed for each in yard.made] == [True] * 3
    assert asyncio.all_tasks() == others


# -- opening ---------------------------------------------------------------------------------------


async def test_a_window_is_opened_where_there_are_the_fewest() -> None:
    async with out(Yard(), size=3) as fleet:
        windows = [await opened(fleet) for _ in range(7)]
        numbers = [each.browser.number for each in windows]
        assert sorted(numbers[:3]) == sorted(numbers[3:6]) == [0, 1, 2]
        for window in windows:
            if window.browser.number == 1:
                await window.close()
        assert (await opened(fleet)).browser.number == 1


async def test_when_nothing_is_open_they_take_turns() -> None:
    async with out(Yard(), size=3) as fleet:
        used = []
        for _ in range(6):
            window = await opened(fleet)
            used.append(window.browser.number)
            await window.close()
        assert sorted(used[:3]) == sorted(used[3:]) == [0, 1, 2]


async def test_more_than_may_be_open_wait_and_are_served_in_the_order_they_came() -> None:
    async with out(Yard(), size=2, max_windows=2) as fleet:
        first, second = await opened(fleet), await opened(fleet)
        asking = await in_line(fleet, 4)
        assert fleet.statistics().windows == 2
        await second.close()
        await passes(1)
        assert [each.done() for each in asking] == [True, False, False, False]
        await first.close()
        await asking[0].result().close()
        await passes(1)
        assert [each.done() for each in asking] == [True, True, True, False]
        await asking[2].result().close()
        assert not (await asking[3]).closed


async def test_who_stops_waiting_leaves_the_line_and_takes_no_place_along() -> None:
    async with out(Yard(), max_windows=1) as fleet:
        window = await opened(fleet)
        first, second, third = await in_line(fleet, 3)
        second.cancel()
        await asyncio.wait({second})
        assert fleet.statistics().waiting == 2
        await window.close()  # the place is given to the first, who is cancelled before it knows
        first.cancel()
        await asyncio.wait({first})
        assert not (await third).closed
        assert (first.cancelled(), second.cancelled()) == (True, True)
        assert (fleet.statistics().windows, fleet.statistics().waiting) == (1, 0)


async def test_one_that_is_cancelled_in_the_same_moment_as_it_is_served_is_passed_over() -> None:
    async with out(Yard(), max_windows=1) as fleet:
        window = await opened(fleet)
        first, second = await in_line(fleet, 2)
        first.cancel()
        await window.close()
        assert not (await second).closed
        assert fleet.statistics().windows == 1


async def test_who_gives_up_while_the_window_opens_leaves_its_place() -> None:
    yard = Yard()
    async with out(yard, max_windows=1) as fleet:
        yard.made[0].open_s = 5
        with anyio.move_on_after(1):
            await opened(fleet)
        assert fleet.statistics().windows == 0
        assert not (await opened(fleet)).closed


async def test_a_window_that_a_sound_browser_does_not_open_is_an_error_and_no_place() -> None:
    yard = Yard()
    async with out(yard) as fleet:

        async def refuses(*_: object) -> None:
            raise BrowserGone("the proxy cannot do that now", "run: rutter doctor")

        yard.made[0].open_here = refuses  # type: ignore[method-assign, assignment]
        with pytest.raises(BrowserGone, match="cannot do that now"):
            await opened(fleet)
        assert fleet.statistics().windows == 0
        assert replaced(fleet) == {}


async def test_a_browser_that_died_unnoticed_costs_nobody_a_window() -> None:
    yard = Yard()
    async with out(yard, size=2) as fleet:
        yard.made[0].vanish()
        yard.made[1].vanish()
        window = await opened(fleet)
        assert window.browser.number > 1
        assert replaced(fleet) == {"died": 2}


async def test_who_comes_back_from_a_dead_browser_is_first_in_line() -> None:
    yard = Yard({"open_s": 1}, {"start_s": 3})
    async with out(yard, max_windows=1) as fleet:
        order: list[str] = []

        async def comes(name: str) -> None:
            window = await opened(fleet)
            order.append(name)
            await window.close()

        async with anyio.create_task_group() as group:
            group.start_soon(comes, "unlucky")
            await until(lambda: fleet.statistics().windows == 1)
            group.start_soon(comes, "second")
            group.start_soon(comes, "third")
            await until(lambda: fleet.statistics().waiting == 2)
            yard.made[0].die()
        assert order == ["unlucky", "second", "third"]


async def test_a_window_is_not_asked_of_ever_more_browsers() -> None:
    yard = Yard({"open_s": 1})
    async with out(yard) as fleet:
        asking = asyncio.ensure_future(opened(fleet))
        while not asking.done():
            await passes(0.1)
            yard.made[-1].vanish()
        with pytest.raises(BrowserGone, match="3 browsers ended"):
            asking.result()
        assert replaced(fleet) == {"died": 3}


async def test_when_no_browser_starts_any_more_who_waits_is_told_why() -> None:
    yard = Yard({}, {"error": BROKEN})
    async with fleet_of(yard) as fleet:
        yard.made[0].die()
        with pytest.raises(BrowserGone) as caught:
            await opened(fleet)
        assert (caught.value.what, caught.value.fix) == (BROKEN.what, BROKEN.fix)
        assert fleet.statistics().failed == 3


async def test_one_start_that_fails_is_no_reason_to_give_up() -> None:
    yard = Yard({}, {"error": BROKEN}, {"error": BROKEN}, {})
    async with fleet_of(yard) as fleet:
        yard.made[0].die()
        assert (await opened(fleet)).browser.number == 3


# -- what dies and what is stuck -------------------------------------------------------------------


async def test_the_windows_of_a_dead_browser_count_no_more_and_others_are_not_disturbed() -> None:
    yard = Yard()
    async with out(yard, size=2, max_windows=2) as fleet:
        lost, other = await opened(fleet), await opened(fleet)
        (waiting,) = await in_line(fleet, 1)
        lost.browser.die()
        assert (await waiting).browser is not lost.browser
        await lost.close()
        assert fleet.statistics().windows == 2, "closing it frees nothing a second time"
        assert other.browser.lives
        await until(lambda: len(states(fleet, "ready")) == 2)
        assert replaced(fleet) == {"died": 1}
        assert [each.restarts for each in fleet.statistics().browsers] in ([0, 1], [1, 0])


async def test_a_browser_that_does_not_answer_twice_is_killed_and_replaced() -> None:
    yard = Yard()
    async with out(yard, check_s=5, answer_s=2) as fleet:
        (first,) = yard.made
        first.answer_s = NEVER
        await passes(5 + 3.9)
        assert first.lives
        await passes(0.2)
        assert first.killed
        await until(lambda: states(fleet, "ready") == [1])
        assert replaced(fleet) == {"stuck": 1}


async def test_a_browser_that_was_slow_once_is_kept() -> None:
    yard = Yard()
    async with out(yard, check_s=5, answer_s=2) as fleet:
        (first,) = yard.made
        await passes(1)
        asked = first.asked
        first.answer_s = NEVER
        await until_time(lambda: first.asked == asked + 1)
        first.answer_s = 0
        await passes(60)
        assert (replaced(fleet), yard.made) == ({}, [first])


async def until_time(condition: Callable[[], object]) -> None:
    for _ in range(1_000):
        if condition():
            return
        await passes(0.1)
    raise AssertionError("still not so")


async def test_every_browser_is_asked_how_it_is_busy_or_not() -> None:
    yard = Yard()
    async with out(yard, size=2, check_s=5) as fleet:
        await opened(fleet)
        before = [each.asked for each in yard.made]
        await passes(50)
        assert [each.asked - asked for each, asked in zip(yard.made, before, strict=True)] in (
            [9, 9],
            [10, 10],
            [9, 10],
            [10, 9],
        )
        yard.made[0].mb = 321
        await passes(6)
        assert [each.rss_mb for each in fleet.statistics().browsers] == [321, 100]


async def test_a_dead_browser_is_closed_when_its_sessions_have_closed_their_windows() -> None:
    yard = Yard()
    async with out(yard) as fleet:
        window = await opened(fleet)
        (dead,) = yard.made
        dead.die()
        await until(lambda: states(fleet, "ready") == [1])
        await passes(LINGER_S / 2)
        assert not dead.closed, "its proxy is asked whom the session spoke to"
        await window.close()
        await until(lambda: dead.closed)


async def test_a_dead_browser_is_not_kept_for_sessions_that_hang() -> None:
    yard = Yard()
    async with out(yard) as fleet:
        await opened(fleet)
        yard.made[0].die()
        await passes(LINGER_S + 1)
        assert yard.made[0].closed


async def test_browsers_that_die_young_are_replaced_ever_more_slowly_and_then_at_once_again() -> (
    None
):
    yard = Yard()
    async with out(yard) as fleet:
        died: list[float] = []

        def next_is_up() -> bool:
            return states(fleet, "ready") == [len(died)]

        while len(died) < 8:
            await until_time(next_is_up)
            died.append(anyio.current_time())
            yard.made[-1].die()
        await until_time(next_is_up)
        pauses = [each.born - at for each, at in zip(yard.made[1:], died, strict=True)]
        assert pauses == pytest.approx([0, 0.5, 1, 2, 4, 8, 16, LONGEST_PAUSE_S])
        await passes(STEADY_S)
        yard.made[-1].die()
        await until(lambda: states(fleet, "ready") == [9])
        assert yard.made[-1].born == anyio.current_time()


async def test_a_browser_that_is_slow_with_a_window_opens_no_more_and_keeps_those_it_has() -> None:
    yard = Yard()
    async with out(yard, size=2) as fleet:
        windows = [await opened(fleet) for _ in range(2)]
        slow, other = windows[0].browser, windows[1].browser
        await windows[1].close()
        slow.well = False
        assert [(await opened(fleet)).browser for _ in range(3)] == [other] * 3
        await passes(6)
        assert replaced(fleet) == {"unwell": 1}
        assert (slow.runs, states(fleet, "leaving")) == (True, [slow.number])
        await windows[0].close()
        await until(lambda: slow.closed)
        assert not slow.killed


async def test_a_window_that_did_not_open_in_time_is_asked_of_another() -> None:
    yard = Yard()
    async with out(yard) as fleet:
        (slow,) = yard.made

        async def takes_too_long(*_: object) -> None:
            slow.well = False
            raise BrowserGone("no context was open within 10000 ms")

        slow.open_here = takes_too_long  # type: ignore[method-assign, assignment]
        assert (await opened(fleet)).browser.number == 1
        assert replaced(fleet) == {"unwell": 1}
        assert slow.killed, "it had no windows to keep"


# -- what is worn and what has grown ---------------------------------------------------------------


async def test_a_worn_browser_goes_with_its_last_window_and_another_is_there_before() -> None:
    yard = Yard({}, {"start_s": 3})
    async with out(yard, recycle_after=2) as fleet:
        windows = [await opened(fleet) for _ in range(2)]
        assert (await opened(fleet)).browser.number == 0, "until the other one is up"
        await passes(4)
        assert (states(fleet, "ready"), states(fleet, "leaving")) == ([1], [0])
        assert (await opened(fleet)).browser.number == 1
        for window in windows:
            await window.close()
        await passes(60)
        assert yard.made[0].runs, "it has one more"
        await yard.made[0].windows[2].close()
        await until(lambda: yard.made[0].closed)
        assert (replaced(fleet), yard.made[0].killed) == ({"worn": 1}, False)


async def test_worn_ones_are_replaced_without_a_pause_however_fast_they_wear() -> None:
    yard = Yard()
    async with out(yard, recycle_after=1) as fleet:
        for _ in range(12):
            window = await opened(fleet)
            await window.close()
            await until(lambda: window.browser.closed)  # noqa: B023 - it is of this round
        assert (anyio.current_time(), replaced(fleet)) == (0, {"worn": 12})


async def test_at_most_one_more_than_wanted_runs_at_a_time() -> None:
    yard = Yard()
    most = 0
    async with out(yard, size=3, recycle_after=1, max_windows=50) as fleet:
        windows = [await opened(fleet) for _ in range(20)]
        for window in windows:
            await passes(7)
            most = max(most, len(yard.running))
            assert len(states(fleet, "ready")) == 3, "and never fewer"
            await window.close()
        await passes(60)
        assert (most, len(yard.running)) == (4, 3)
        assert replaced(fleet)["worn"] >= 3


async def test_a_browser_that_has_grown_is_replaced_and_not_again_and_again() -> None:
    yard = Yard()
    async with out(yard, max_mb=500) as fleet:
        yard.made[0].mb = 501
        await until_time(lambda: states(fleet, "ready") == [1])
        assert replaced(fleet) == {"grown": 1}
        for _ in range(300):
            await passes(1)
            yard.made[-1].mb = 501
        assert len(yard.made) < 20, "a limit that is too low must not keep the machine busy"


async def test_one_that_dies_while_it_leaves_is_ended_and_its_windows_count_no_more() -> None:
    yard = Yard()
    async with out(yard, recycle_after=1) as fleet:
        window = await opened(fleet)
        await until(lambda: states(fleet, "leaving") == [0])
        window.browser.die()
        await until(lambda: fleet.statistics().windows == 0)
        assert (replaced(fleet), states(fleet, "ready")) == ({"worn": 1}, [1])
        await window.close()
        await until(lambda: yard.made[0].closed)


async def test_one_that_dies_while_its_successor_starts_leaves_no_gap_behind_it() -> None:
    yard = Yard({}, {"start_s": 3})
    async with out(yard, recycle_after=1) as fleet:
        window = await opened(fleet)
        await passes(1)
        window.browser.die()
        await passes(1)
        assert states(fleet, "starting") == [None]
        await passes(2)
        assert states(fleet, "ready") == [1]
        assert len(yard.made) == 2


# -- whatever happens ------------------------------------------------------------------------------

OPEN, CLOSE, CANCEL, WAIT = "opens", "closes", "gives up", "waits"
HARM: dict[str, Callable[[FakeBrowser], None]] = {
    "dies": FakeBrowser.die,
    "vanishes": FakeBrowser.vanish,
    "hangs": lambda each: setattr(each, "answer_s", NEVER),
    "is slow": lambda each: setattr(each, "well", False),
    "grows": lambda each: setattr(each, "mb", 9_999),
    "opens slowly": lambda each: setattr(each, "open_s", 4),
    "closes slowly": lambda each: setattr(each, "close_s", 4),
}
SIZE, PLACES = 2, 3
happenings = st.lists(
    st.tuples(st.sampled_from([OPEN, OPEN, OPEN, CLOSE, CANCEL, WAIT, *HARM]), st.integers(0, 9)),
    max_size=40,
)


@given(happenings)
def test_whatever_happens_nobody_waits_for_ever_and_nothing_is_left(
    happened: list[tuple[str, int]],
) -> None:
    anyio.run(_whatever, happened, backend_options=VIRTUAL[1])


async def _whatever(happened: list[tuple[str, int]]) -> None:
    yard = Yard({"start_s": 1})
    fleet = fleet_of(yard, size=SIZE, max_windows=PLACES, recycle_after=4, max_mb=500)
    asked: list[asyncio.Task[FakeWindow]] = []
    async with fleet:
        for what, number in happened:
            _happens(fleet, yard, asked, what, number)
            await passes(number if what == WAIT else 0)
            told = fleet.statistics()
            assert told.windows <= PLACES
            assert sum(each.lives and not each.killed for each in yard.made) <= SIZE + 1
            assert told.windows == sum(each.windows for each in told.browsers)
        with anyio.fail_after(1_000):
            await asyncio.gather(*map(_seen_off, asked))
        await passes(200)
        assert len(yard.running) == SIZE
        assert (fleet.statistics().windows, fleet.statistics().waiting) == (0, 0)
    assert all(each.closed for each in yard.made)


async def _seen_off(asked: "asyncio.Task[FakeWindow]") -> None:
    """Of whom one browser after the other was taken away is told so; all others get a window."""
    with suppress(BrowserGone, asyncio.CancelledError):
        (await asked).shut()


def _happens(
    fleet: Fleet, yard: Yard, asked: list["asyncio.Task[FakeWindow]"], what: str, number: int
) -> None:
    if what == OPEN:
        asked.append(asyncio.ensure_future(opened(fleet)))
    elif what == CLOSE:
        ended = [each for each in asked if each.done() and not each.cancelled()]
        there = [each.result() for each in ended if each.exception() is None]
        still = [each for each in there if not each.closed]
        if still:
            still[number % len(still)].shut()
    elif what == CANCEL and asked:
        asked[number % len(asked)].cancel()
    elif what in HARM and yard.running:
        HARM[what](yard.running[number % len(yard.running)])


# -- closing ---------------------------------------------------------------------------------------


async def test_closing_takes_a_bounded_time_also_when_browsers_hang() -> None:
    yard = Yard()
    fleet = fleet_of(yard, size=3)
    async with fleet:
        await until(lambda: len(states(fleet, "ready")) == 3)
        for each in yard.made[:2]:
            each.close_s = each.answer_s = NEVER
        began = anyio.current_time()
    assert anyio.current_time() - began <= CLOSE_S + 1
    assert yard.running == []
    assert [each.killed for each in yard.made] == [True, True, False]


async def test_closing_tells_who_waits_and_who_comes_after() -> None:
    yard = Yard()
    async with out(yard, max_windows=1) as fleet:
        await opened(fleet)
        (waiting,) = await in_line(fleet, 1)
        await fleet.close()
        with pytest.raises(BrowserGone, match="were closed"):
            await waiting
        with pytest.raises(BrowserGone, match="were closed"):
            await opened(fleet)
        await fleet.close()  # again is no harm


async def test_closing_while_browsers_start_drain_and_end_leaves_none() -> None:
    yard = Yard({}, {}, {"start_s": 50})
    async with out(yard, size=2, recycle_after=1) as fleet:
        window = await opened(fleet)
        yard.made[1 - window.browser.number].die()
        await passes(1)
        assert len(yard.made) == 4
    assert all(each.closed for each in yard.made)


async def test_an_error_while_closing_is_told_and_stops_nobody() -> None:
    yard = Yard()
    told: list[dict[str, Any]] = []
    async with out(yard, size=2) as fleet:
        asyncio.get_running_loop().set_exception_handler(lambda _, what: told.append(what))

        async def breaks() -> None:
            yard.made[0].closed = True
            yard.made[0].die()
            raise RuntimeError("broken")

        yard.made[0].close = breaks  # type: ignore[method-assign]
        await fleet.close()
    assert [str(each["exception"]) for each in told] == ["broken"]


# -- what is told ----------------------------------------------------------------------------------


async def test_statistics_tell_of_every_browser_and_of_the_line() -> None:
    yard = Yard({}, {}, {"start_s": 9})
    async with out(yard, size=2, max_windows=2) as fleet:
        first, second = await opened(fleet), await opened(fleet)
        await in_line(fleet, 1)
        await passes(20)
        first.browser.die()
        await passes(1)
        told = fleet.statistics()
        assert (told.windows, told.max_windows, told.waiting, told.failed) == (2, 2, 0, 0)
        assert told.replaced == {"died": 1, "stuck": 0, "unwell": 0, "worn": 0, "grown": 0}
        ready, starting = told.browsers
        assert (ready.pid, ready.state, ready.windows, ready.opened, ready.restarts) == (
            second.browser.number,
            "ready",
            2,
            2,
            0,
        )
        assert (ready.rss_mb, ready.since_s) == (100, 21.0)
        assert (starting.pid, starting.state, starting.restarts) == (None, "starting", 1)
        assert msgspec.json.decode(msgspec.json.encode(told))["browsers"][0]["rss_mb"] == 100
        with pytest.raises(AttributeError):
            told.waiting = 5  # type: ignore[misc]


def test_limits_are_those_of_the_configuration() -> None:
    assert limits_of(Config()) == FleetLimits()
    said = {
        "browser.pool_size": SourcedValue(4),
        "browser.check_s": SourcedValue(2.5),
        "browser.max_mb": SourcedValue(700),
    }
    assert limits_of(Config(said)) == FleetLimits(size=4, check_s=2.5, max_mb=700)


def test_memory_is_counted_once_where_it_is_shared(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = (1 << 20) // 4_096  # of a megabyte
    for process, resident, shared in ((1, 300, 200), (2, 150, 120), (3, 90, 80)):
        (tmp_path / str(process)).mkdir()
        told = f"9999 {resident * pages} {shared * pages} 1 0 1 0\n"
        (tmp_path / str(process) / "statm").write_text(told)
    monkeypatch.setattr("rutter.pipeline.daemon.browsers.memory.PROC", tmp_path)
    monkeypatch.setattr("os.sysconf", lambda _: 4_096)
    assert resident_mb((1, 2, 3, 99)) == 100 + 30 + 10 + 200
    assert resident_mb((98, 99)) is None
