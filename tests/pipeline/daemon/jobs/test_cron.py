"""Given a cron expression and a zone: when it is due, also where that zone's clock is changed."""

from contextlib import suppress
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rutter.events.errors import BadInput
from rutter.pipeline.daemon.jobs.cron import SECOND_NS, Ran, Ticks
from tests.support.case_table import for_each

ZONES = (
    "UTC",
    "Europe/Berlin",
    "America/New_York",
    "Africa/Cairo",  # at midnight
    "Asia/Kathmandu",
    "America/Santiago",
)
HALF_AN_HOUR = "Australia/Lord_Howe"  # by which its clock is changed
CRONS = (
    *("* * * * *", "*/7 * * * *", "0 * * * *", "30 2 * * *", "0 0 * * *", "0,30 1-3 * * *"),
    *("15 */2 * * *", "*/30 2 * * *", "0 7 * * 1-5", "0 0 1 * *", "5 4 * * SUN", "59 23 L * *"),
)


def ns(written: str) -> int:
    return round(datetime.fromisoformat(written).timestamp()) * SECOND_NS


def following(cron: str, zone: str, after: str, count: int) -> list[str]:
    """As the clock in that zone shows them, with what it is ahead by."""
    ticks, at, found = Ticks(cron, zone), ns(after), []
    for _ in range(count):
        at = ticks.after(at) or 0
        found.append(f"{datetime.fromtimestamp(at // SECOND_NS, ZoneInfo(zone)):%d %H:%M %z}")
    return found


def test_where_the_clock_jumps_ahead_what_is_in_the_gap_is_due_at_its_end() -> None:
    assert following("30 2 * * *", "Europe/Berlin", "2026-03-28T12:00Z", 2) == [
        "29 03:00 +0200",
        "30 02:30 +0200",
    ]
    assert following("0 0 * * *", "Africa/Cairo", "2026-04-23T12:00Z", 2) == [
        "24 01:00 +0300",
        "25 00:00 +0300",
    ]


def test_two_that_fall_together_at_the_end_of_the_gap_are_one() -> None:
    assert following("0 1-3 * * *", "Europe/Berlin", "2026-03-28T12:00Z", 3) == [
        "29 01:00 +0100",
        "29 03:00 +0200",
        "30 01:00 +0200",
    ]


def test_where_the_clock_is_set_back_a_time_that_comes_twice_is_due_at_the_first() -> None:
    assert following("30 2 * * *", "Europe/Berlin", "2026-10-24T12:00Z", 2) == [
        "25 02:30 +0200",
        "26 02:30 +0100",
    ]
    assert following("30 2 * * *", "Europe/Berlin", "2026-10-25T01:10Z", 1) == ["26 02:30 +0100"]


def test_what_is_due_every_so_often_goes_on_through_both_hours_of_one_name() -> None:
    assert following("0 * * * *", "Europe/Berlin", "2026-10-24T23:30Z", 4) == [
        "25 02:00 +0200",
        "25 02:00 +0100",
        "25 03:00 +0100",
        "25 04:00 +0100",
    ]


def test_what_is_due_every_so_often_has_no_tick_in_a_gap() -> None:
    assert following("*/30 * * * *", "Europe/Berlin", "2026-03-29T00:15Z", 3) == [
        "29 01:30 +0100",
        "29 03:00 +0200",
        "29 03:30 +0200",
    ]


INSTANTS = st.integers(ns("2020-01-01T00:00Z"), ns("2037-12-31T00:00Z"))
# Around the changes of the zones above, where it is hard.
CHANGES = [
    ns(each)
    for each in (
        *("2026-03-29T01:00Z", "2026-10-25T01:00Z", "2026-03-08T07:00Z", "2026-11-01T06:00Z"),
        *("2026-04-23T22:00Z", "2026-10-29T21:00Z", "2026-04-05T03:00Z", "2026-09-06T04:00Z"),
    )
]
HARD = st.builds(
    int.__add__, st.sampled_from(CHANGES), st.integers(-5 * 3600, 5 * 3600).map(SECOND_NS.__mul__)
)


@given(st.sampled_from(CRONS), st.sampled_from(ZONES), INSTANTS | HARD, st.data())
def test_from_wherever_one_looks_the_next_tick_is_the_same(
    cron: str, zone: str, at: int, data: st.DataObject
) -> None:
    ticks = Ticks(cron, zone)
    due = ticks.after(at)
    assert due is not None
    assert due > at
    assert ticks.after(data.draw(st.integers(at, due - 1))) == due
    assert ticks.last(at, due) == due
    assert ticks.last(at, due - 1) is None


@given(st.sampled_from(CRONS), st.integers(-40, 40))
def test_where_the_clock_is_changed_by_half_an_hour_a_tick_is_seen_from_near(
    cron: str, quarter: int
) -> None:
    """cronsim goes by whole hours, so from afar it can pass one. Schedules look twice a minute."""
    ticks = Ticks(cron, HALF_AN_HOUR)
    at = ns("2026-04-04T15:00Z") + quarter * 900 * SECOND_NS
    found = ticks.last(at - 3600 * SECOND_NS, at)
    near = [ticks.after(at - second * SECOND_NS) for second in range(1, 3600, 30)]
    assert found in (None, *near)
    assert all(each is not None and each > at - 3600 * SECOND_NS for each in near)


@given(st.sampled_from(CRONS), st.sampled_from(ZONES), INSTANTS | HARD, st.integers(0, 10_000))
def test_the_last_tick_is_the_one_before_the_next(
    cron: str, zone: str, until: int, hours: int
) -> None:
    ticks = Ticks(cron, zone)
    since = until - hours * 3600 * SECOND_NS
    last = ticks.last(since, until)
    if last is None:
        assert ticks.after(since) == ticks.after(until)
    else:
        assert since < last <= until
        assert ticks.after(last) == ticks.after(until)


def test_the_last_of_a_year_of_minutes_is_found_at_once_and_that_of_leap_days_too() -> None:
    until = ns("2027-03-16T10:15Z") + 12 * SECOND_NS
    assert Ticks("* * * * *", "UTC").last(0, until) == ns("2027-03-16T10:15Z")
    assert Ticks("0 0 29 2 *", "UTC").last(0, until) == ns("2024-02-29T00:00Z")


@for_each(
    "cron, why",
    [
        ("", "five fields"),
        ("* * * *", "five fields"),
        ("* * * * * *", "five fields"),
        ("@daily", "five fields"),
        ("61 * * * *", "bad minute"),
        ("* 24 * * *", "bad hour"),
        ("* * 31 2 *", "bad day-of-month"),
        ("* * * 13 *", "bad month"),
        ("* * * * 9", "bad day-of-week"),
        ("*/0 * * * *", "bad minute"),
        ("5-1 * * * *", "bad minute"),
        (f"{','.join(['1'] * 200)} * * * *", "five fields"),
    ],
)
def test_what_is_no_time_to_run_at_is_refused_with_the_reason(cron: str, why: str) -> None:
    with pytest.raises(BadInput, match=why) as caught:
        Ticks(cron, "UTC")
    assert "0 7 * * 1-5" in caught.value.fix


@for_each("zone", ["", "Europe", "Nowhere/City", "../UTC", "/etc/passwd", "a\0b"])
def test_what_is_no_zone_is_refused(zone: str) -> None:
    with pytest.raises(BadInput, match="no time zone"):
        Ticks("* * * * *", zone)


PIECES = st.lists(st.sampled_from("0123456789*/-,#LWMONJAN ?\u00b2"), max_size=30).map("".join)


@given(PIECES | st.text(max_size=30))
def test_whatever_is_written_is_a_time_or_refused(cron: str) -> None:
    with suppress(BadInput):
        Ticks(cron, "Europe/Berlin").after(ns("2026-03-16T00:00Z"))


@given(st.lists(st.integers(1, 60), max_size=60), st.integers(1, 10))
def test_what_was_run_is_known_however_little_is_kept(ticks: list[int], kept: int) -> None:
    ran = Ran(kept)
    for tick in ticks:
        ran.add(tick)
        assert ran.has(tick)
    later = max(ticks, default=0) + 1
    assert not ran.has(later)


def test_a_tick_of_a_clock_that_was_wrong_by_years_stops_nothing() -> None:
    ran = Ran(3)
    ran.add(ns("2036-01-01T00:00Z"))
    ran.add(ns("2026-01-01T00:00Z"))
    assert not ran.has(ns("2026-01-02T00:00Z"))
