"""Given a clock: time that moves on, and names that are not given twice."""

import re
import time

from rutter.pipeline.clock import Clock, CountingClock
from tests.support.case_table import for_each


def test_the_system_clock_tells_the_time() -> None:
    before = time.time_ns()
    assert before <= Clock().now_ns() <= time.time_ns()


def test_a_name_says_what_it_is_for_and_when_it_was_given() -> None:
    assert re.fullmatch(r"run-\d{8}-\d{6}-[0-9a-f]+", Clock().new_id("run"))


def test_many_names_given_in_one_second_differ() -> None:
    clock = Clock()
    assert len({clock.new_id("run") for _ in range(500)}) == 500


def test_a_counting_clock_ticks_a_millisecond_a_look() -> None:
    clock = CountingClock(start_ns=5)
    assert [clock.now_ns() for _ in range(3)] == [1_000_005, 2_000_005, 3_000_005]


def test_a_counting_clock_counts_its_names() -> None:
    clock = CountingClock()
    assert [clock.new_id("run"), clock.new_id("record")] == ["run-0001", "record-0002"]


def test_two_counting_clocks_agree() -> None:
    one, other = CountingClock(), CountingClock()
    assert one.now_ns() == other.now_ns()
    assert one.new_id("x") == other.new_id("x")


@for_each("clock", [Clock(), CountingClock()])
def test_time_does_not_run_backwards(clock: Clock) -> None:
    looks = [clock.now_ns() for _ in range(100)]
    assert looks == sorted(looks)
