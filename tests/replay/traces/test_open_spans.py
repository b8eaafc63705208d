"""Spans that are not finished yet."""

from rutter.events.advisor import AdviceReceived
from rutter.events.critic import PageAssessed
from rutter.events.executor import ActionDone
from rutter.replay.traces.open_spans import OpenStep, OpenWork, took_ns
from rutter.replay.traces.span import CLIENT, INTERNAL
from tests.support.shop_facts import click
from tests.support.trails import Trail


def work(name: str = "act", start_ns: int = 5, end_ns: int = 9) -> OpenWork:
    trail = Trail()
    trail.tell("executor", ActionDone(1, 1, 1), cause=3)
    made = OpenWork(trail.events[0], name, b"w" * 8, "step")
    made.start_ns, made.end_ns = start_ns, end_ns
    return made


def test_reports_say_how_long_their_work_took_in_their_own_units() -> None:
    assert took_ns(ActionDone(1, 1, took_us=7)) == 7_000
    assert took_ns(AdviceReceived("a", "p", "m", took_ms=7)) == 7_000_000
    assert took_ns(PageAssessed()) == 0


def test_no_work_takes_less_than_no_time() -> None:
    assert took_ns(ActionDone(1, 1, took_us=-7)) == 0


def test_work_goes_on_while_its_actor_speaks_of_the_same_cause() -> None:
    trail = Trail()
    trail.tell("executor", ActionDone(1, 1, 1), cause=3)
    trail.tell("executor", ActionDone(1, 1, 1), cause=4)
    trail.tell("critic", PageAssessed(), cause=3)
    same, other_cause, other_actor = trail.events
    assert work().goes_on(same)
    assert not work().goes_on(other_cause)
    assert not work().goes_on(other_actor)


def test_facts_without_a_cause_are_each_a_piece_of_work() -> None:
    trail = Trail()
    trail.tell("executor", ActionDone(1, 1, 1), cause=0)
    made = OpenWork(trail.events[0], "act", b"w" * 8, "run")
    assert not made.goes_on(trail.events[0])


def test_only_a_model_call_leaves_the_house() -> None:
    assert work("act").finish(b"t" * 16, b"").kind == INTERNAL
    assert work("chat").finish(b"t" * 16, b"").kind == CLIENT


def test_a_step_reaches_as_far_as_its_work() -> None:
    step = OpenStep(b"s" * 8, 1, click(), "click #go", {})
    for start_ns, end_ns in ((5, 9), (3, 4), (6, 20)):
        step.cover(work(start_ns=start_ns, end_ns=end_ns))
    done = step.finish(b"t" * 16, b"r" * 8)
    assert (done.name, done.start_ns, done.end_ns) == ("step 1 click", 3, 20)
