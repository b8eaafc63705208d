"""Given schedules: each tick is run once, whatever becomes of the daemon and of the clock."""

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rutter.events.causes import OTHER
from rutter.events.errors import BadInput
from rutter.events.jobs import JobEnded, RunFree, RunWorkflow
from rutter.events.triggers import Missed, ScheduleSet
from rutter.pipeline.daemon.jobs.cron import SECOND_NS, Ticks
from rutter.pipeline.daemon.jobs.jobs import JobLimits
from rutter.pipeline.daemon.jobs.schedules import NoSuchSchedule, ScheduleWish, Timetable
from tests.support.example_counts import examples
from tests.support.jobs_on_clock import MONDAY_NS, Deck, WallClock
from tests.support.until_true import until
from tests.support.virtual_time import VIRTUAL

pytestmark = pytest.mark.anyio

ORDER = RunWorkflow("order", values={"customer": "Aurora"})
HOUR, DAY = 3600, 86_400


@pytest.fixture
def anyio_backend() -> tuple[str, dict[str, Any]]:
    return VIRTUAL


@pytest.fixture
async def deck() -> Deck:
    return Deck(WallClock())


async def set_to(deck: Deck, cron: str, name: str = "morning", **more: Any) -> None:
    await deck.schedules.set(name, ScheduleWish(cron, ORDER, **more), by="person")


# -- while it is up --------------------------------------------------------------------------------


async def test_what_is_set_is_run_at_its_times_and_says_by_whom(deck: Deck) -> None:
    await set_to(deck, "0 7,19 * * *", zone="Europe/Berlin")
    await deck.sail(DAY)
    assert deck.ticks() == ["2026-03-16T06:00:00Z", "2026-03-16T18:00:00Z"]
    queued = deck.queued()[0]
    assert (queued.run, queued.by, queued.trigger) == (ORDER, "schedule morning", "schedule")
    assert [each.reason for each in deck.ends()] == ["completed", "completed"]


async def test_a_tick_is_run_when_it_is_due_and_not_before(deck: Deck) -> None:
    await set_to(deck, "30 0 * * *")
    await deck.sail(1799)
    assert deck.ticks() == []
    await deck.sail(2)
    assert deck.ticks() == ["2026-03-16T00:30:00Z"]


async def test_one_that_is_set_while_it_runs_is_heard_at_once(deck: Deck) -> None:
    async with anyio.create_task_group() as group:
        group.start_soon(deck.sail, 100)
        await anyio.sleep(1)
        await set_to(deck, "1 0 * * *")
    assert deck.ticks() == ["2026-03-16T00:01:00Z"]


async def test_another_in_its_place_is_what_is_run_and_what_is_dropped_is_not(deck: Deck) -> None:
    await set_to(deck, "0 1 * * *")
    await set_to(deck, "0 2 * * *")
    await set_to(deck, "0 3 * * *", name="other")
    await deck.schedules.drop("other", "person")
    await deck.sail(4 * HOUR)
    assert deck.ticks() == ["2026-03-16T02:00:00Z"]
    assert [each.name for each in deck.schedules.all()] == ["morning"]


async def test_several_at_one_time_are_all_run(deck: Deck) -> None:
    for name in "abc":
        run = RunWorkflow(name)
        await deck.schedules.set(name, ScheduleWish("0 1 * * *", run), by="person")
    await deck.sail(2 * HOUR)
    assert sorted(each.by for each in deck.queued()) == ["schedule a", "schedule b", "schedule c"]


async def test_the_rows_of_a_file_are_one_tick_and_hold_up_no_other(deck: Deck) -> None:
    deck.holding = True
    await set_to(deck, "0 1 * * *", name="rows", rows="/orders.csv")
    await deck.schedules.set("b", ScheduleWish("0 2 * * *", RunWorkflow("b")), by="person")
    await deck.sail(2 * HOUR + 1)
    rows, other = "2026-03-16T01:00:00Z", "2026-03-16T02:00:00Z"
    assert deck.ticks() == [f"{rows}#1", other]
    deck.let_go.set()
    deck.restart()
    await deck.sail(HOUR)
    assert f"{rows}#1" in deck.ticks()
    assert deck.schedules.was_run("rows", MONDAY_NS + HOUR * SECOND_NS)


async def test_only_a_workflow_has_rows_in_a_file_that_is_named_whole(deck: Deck) -> None:
    for wish in (
        ScheduleWish("0 1 * * *", ORDER, rows="orders.csv"),
        ScheduleWish("0 1 * * *", RunFree("https://a.example"), rows="/orders.csv"),
    ):
        with pytest.raises(BadInput, match="rows are a workflow's"):
            await deck.schedules.set("rows", wish, by="person")


# -- overlap ---------------------------------------------------------------------------------------


async def test_while_one_runs_the_next_is_skipped_and_that_is_on_the_record(deck: Deck) -> None:
    deck.holding = True
    await set_to(deck, "0 * * * *")
    await deck.sail(3 * HOUR + 1)
    assert [each.skipped for each in deck.queued()] == ["", "job-1 is running", "job-1 is running"]
    skipped = JobEnded("job-3", "skipped", detail="job-1 is running", cause=OTHER)
    assert skipped in deck.ends()


async def test_one_that_queues_waits_for_the_one_before(deck: Deck) -> None:
    deck.holding = True
    await set_to(deck, "0 * * * *", overlap="queue")
    await deck.sail(3 * HOUR + 1)
    assert len(deck.jobs.running()) == 1
    assert len(deck.jobs.waiting()) == 2


async def test_one_that_may_overlap_runs_beside_the_others(deck: Deck) -> None:
    deck.holding = True
    await set_to(deck, "0 * * * *", overlap="allow")
    await deck.sail(3 * HOUR + 1)
    assert len(deck.jobs.running()) == 3


async def test_when_the_line_is_full_a_tick_is_skipped_and_that_is_on_the_record() -> None:
    deck = Deck(WallClock(), JobLimits(waiting=1, running=1))
    deck.holding = True
    await set_to(deck, "0 * * * *", overlap="queue")
    await deck.sail(4 * HOUR + 1)
    assert [each.skipped for each in deck.queued()] == ["", "", *["1 jobs are waiting"] * 2]
    assert [each.reason for each in deck.ends()] == ["skipped", "skipped"]


# -- restarts --------------------------------------------------------------------------------------


async def test_what_came_due_while_it_was_down_is_skipped(deck: Deck) -> None:
    await set_to(deck, "0 * * * *")
    await deck.sail(HOUR + 1)
    await anyio.sleep(5 * HOUR)
    deck.restart()
    await deck.sail(HOUR)
    assert deck.ticks() == ["2026-03-16T01:00:00Z", "2026-03-16T07:00:00Z"]


async def test_or_the_last_of_it_is_run_once(deck: Deck) -> None:
    await set_to(deck, "0 * * * *", missed="once")
    await deck.sail(HOUR + 1)
    for _ in range(2):
        await anyio.sleep(2 * HOUR + 1800)
        deck.restart()
        await deck.sail(60)
        deck.restart()
        await deck.sail(60)
    assert deck.ticks() == ["2026-03-16T01:00:00Z", "2026-03-16T03:00:00Z", "2026-03-16T06:00:00Z"]


async def test_what_came_due_before_it_was_set_was_not_missed(deck: Deck) -> None:
    await anyio.sleep(1800)
    await set_to(deck, "0 0 * * *", missed="once")
    deck.restart()
    await deck.sail(HOUR)
    assert deck.ticks() == []


async def test_a_zone_that_this_machine_does_not_know_stops_no_other(deck: Deck) -> None:
    await deck.say(ScheduleSet("lost", "* * * * *", ORDER, "person", zone="Old/Town"))
    await set_to(deck, "0 1 * * *")
    await deck.sail(2 * HOUR)
    assert deck.ticks() == ["2026-03-16T01:00:00Z"]
    assert "no time zone 'Old/Town'" in deck.schedules.find("lost").problem


# -- the system's clock ----------------------------------------------------------------------------


async def test_a_clock_that_is_set_back_runs_no_tick_again(deck: Deck) -> None:
    await set_to(deck, "0 * * * *")
    await deck.sail(2 * HOUR + 1)
    deck.clock.set_ahead(-90 * 60)
    await deck.sail(HOUR + 1800 + 1)
    assert deck.ticks() == ["2026-03-16T01:00:00Z", "2026-03-16T02:00:00Z"]
    await deck.sail(HOUR)
    assert deck.ticks()[2:] == ["2026-03-16T03:00:00Z"]


async def test_not_even_when_its_jobs_are_so_old_that_nobody_knows_them(deck: Deck) -> None:
    await set_to(deck, "0 * * * *")
    await deck.sail(2 * HOUR + 1)
    deck.restart(jobs_known=False)
    deck.clock.set_ahead(-90 * 60)
    await deck.sail(HOUR + 1800 + 1)
    assert deck.ticks() == ["2026-03-16T01:00:00Z", "2026-03-16T02:00:00Z"]


async def test_a_clock_that_jumps_ahead_makes_no_storm(deck: Deck) -> None:
    await set_to(deck, "* * * * *")
    await set_to(deck, "0 * * * *", name="hourly")
    await set_to(deck, "0 * * * *", name="careful", missed="once")
    async with anyio.create_task_group() as group:
        group.start_soon(deck.sail, 95)
        await anyio.sleep(65)
        deck.clock.set_ahead(DAY + 5 * 60)
    assert [each.key for each in deck.queued()] == [
        "morning@2026-03-16T00:01:00Z",
        "careful@2026-03-17T00:00:00Z",
        "morning@2026-03-17T00:06:00Z",
    ]


async def test_a_clock_that_was_wrong_by_years_is_no_end_of_it(deck: Deck) -> None:
    deck.clock.set_ahead(3650 * DAY)
    await set_to(deck, "0 1 * * *")
    await deck.sail(2 * HOUR)
    deck.clock.set_ahead(-3650 * DAY)
    await deck.sail(DAY)
    assert len(deck.ticks()) == 2
    assert deck.ticks()[1] == "2026-03-17T01:00:00Z"


# -- properties ------------------------------------------------------------------------------------


def instant(written: str) -> int:
    return round(datetime.fromisoformat(written).timestamp()) * SECOND_NS


def in_virtual_time(story: Callable[[Deck], Awaitable[None]]) -> None:
    async def told() -> None:
        await story(Deck(WallClock()))

    backend, options = VIRTUAL
    anyio.run(told, backend=backend, backend_options=options)


CRONS = st.sampled_from(
    ["*/2 * * * *", "*/7 * * * *", "0 * * * *", "0,1,2 */3 * * *", "30 2 * * *", "59 1 * * *"]
)
STRETCHES = st.lists(
    st.tuples(st.integers(1, HOUR), st.integers(0, 2 * HOUR)), min_size=1, max_size=3
)


@examples(40)
@given(CRONS, STRETCHES, st.sampled_from(["skip", "once"]))
def test_no_tick_twice_and_none_skipped_while_it_is_up(
    cron: str, stretches: list[tuple[int, int]], missed: Missed
) -> None:
    expected: set[int] = set()
    ticks = Ticks(cron, "Europe/Berlin")

    def due(since: int, until: int) -> list[int]:
        found, at = [], ticks.after(since)
        while at is not None and at <= until:
            found.append(at)
            at = ticks.after(at)
        return found

    async def story(deck: Deck) -> None:
        await set_to(deck, cron, zone="Europe/Berlin", missed=missed)
        for up, down in stretches:
            begun = deck.clock.now_ns()
            if missed == "once":
                expected.update(due(MONDAY_NS, begun)[-1:])
            await deck.sail(up + 0.01)  # no end falls on a tick
            expected.update(due(begun, deck.clock.now_ns()))
            await anyio.sleep(down)
            deck.restart()
        ran = deck.ticks()
        assert len(ran) == len(set(ran))
        assert {instant(each) for each in ran} == expected

    in_virtual_time(story)


JUMPS = st.lists(st.tuples(st.integers(1, HOUR), st.integers(-DAY, DAY), st.booleans()), max_size=4)


@examples(40)
@given(CRONS, JUMPS, st.sampled_from(["skip", "once"]))
def test_whatever_the_clock_does_no_tick_is_run_twice_and_none_come_in_a_storm(
    cron: str, jumps: list[tuple[int, int, bool]], missed: Missed
) -> None:
    async def story(deck: Deck) -> None:
        await set_to(deck, cron, missed=missed)
        for seconds, ahead, restarts in jumps:
            async with anyio.create_task_group() as group:
                group.start_soon(deck.sail, seconds)
                await anyio.sleep(seconds / 2)
                deck.clock.set_ahead(ahead)
            if restarts:
                deck.restart()
        ran = deck.ticks()
        assert len(ran) == len(set(ran))
        # As many as there are minutes, and one for each time that something was missed.
        up = sum(seconds for seconds, _, _ in jumps)
        assert len(ran) <= up / 60 + 2 * len(jumps) + 1

    in_virtual_time(story)


# -- what is refused -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "cron", "zone", "why"),
    [
        ("", "0 7 * * *", "UTC", "no name"),
        ("a@b", "0 7 * * *", "UTC", "no name"),
        ("a/b", "0 7 * * *", "UTC", "no name"),
        ("x" * 65, "0 7 * * *", "UTC", "no name"),
        ("ok", "7", "UTC", "no time to run at"),
        ("ok", "0 7 * * *", "Atlantis", "no time zone"),
    ],
)
async def test_what_could_never_be_run_is_refused(
    deck: Deck, name: str, cron: str, zone: str, why: str
) -> None:
    with pytest.raises(BadInput, match=why):
        await deck.schedules.set(name, ScheduleWish(cron, ORDER, zone), by="person")
    assert deck.log == []


async def test_a_value_that_sounds_like_a_secret_is_not_written_down(deck: Deck) -> None:
    run = RunWorkflow("order", values={"password": "hunter2"})
    with pytest.raises(BadInput, match="sounds like a secret") as caught:
        await deck.schedules.set("s", ScheduleWish("0 7 * * *", run), by="person")
    assert "hunter2" not in str(caught.value)
    assert deck.log == []


async def test_one_that_is_not_there_is_said_so(deck: Deck) -> None:
    with pytest.raises(NoSuchSchedule, match="rutter schedule list"):
        await deck.schedules.drop("none", "person")


async def test_the_fold_alone_says_what_there_is_and_what_comes_next(deck: Deck) -> None:
    await set_to(deck, "0  7 * * 1-5", zone="Europe/Berlin")
    table = Timetable()
    for envelope in deck.log:
        table.hear(envelope)
    [schedule] = table.all()
    assert schedule.told.cron == "0 7 * * 1-5"
    assert schedule.next_ns(MONDAY_NS) == MONDAY_NS + 6 * HOUR * SECOND_NS


async def test_two_who_set_one_at_the_same_time_both_get_an_answer(deck: Deck) -> None:
    async with anyio.create_task_group() as group:
        group.start_soon(set_to, deck, "0 1 * * *")
        group.start_soon(set_to, deck, "0 2 * * *")
    await until(lambda: deck.schedules.find("morning").told.cron == "0 2 * * *")
