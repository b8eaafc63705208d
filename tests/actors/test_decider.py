"""Given any decider: one step is evolve, then decide, on the state of that session alone."""

from collections.abc import Iterable
from typing import ClassVar

from rutter.actors.decider import DecidingActor
from rutter.events.critic import PageAssessed
from rutter.events.envelope import Actor, Envelope
from rutter.events.planner import PlanWithheld
from rutter.events.runtime import SessionEnded
from rutter.events.vocabulary import AnyEvent


class Counter:
    """Says how many events it has heard, itself included."""

    name: ClassVar[Actor] = "critic"

    def initial(self) -> int:
        return 0

    def evolve(self, state: int, envelope: Envelope) -> int:
        return state + 1

    def decide(self, state: int, envelope: Envelope) -> Iterable[AnyEvent]:
        yield PlanWithheld(f"{state}")


def heard(session: str, event: AnyEvent | None = None) -> Envelope:
    return Envelope(1, session, 1, 1, "runtime", 0, event or PageAssessed(), b"")


def test_it_decides_on_the_state_after_the_event() -> None:
    actor = DecidingActor(Counter())
    assert actor.step(heard("a")) == (PlanWithheld("1"),)
    assert actor.step(heard("a")) == (PlanWithheld("2"),)


def test_sessions_know_nothing_of_each_other() -> None:
    actor = DecidingActor(Counter())
    actor.step(heard("a"))
    assert actor.step(heard("b")) == (PlanWithheld("1"),)


def test_folding_takes_an_event_in_without_deciding() -> None:
    actor = DecidingActor(Counter())
    assert actor.fold(heard("a")) == 1
    assert actor.step(heard("a")) == (PlanWithheld("2"),)


def test_a_session_that_ended_is_forgotten() -> None:
    actor = DecidingActor(Counter())
    actor.step(heard("a"))
    assert actor.step(heard("a", SessionEnded("completed"))) == (PlanWithheld("2"),)
    assert actor.state("a") is None


def test_a_dropped_session_begins_anew() -> None:
    actor = DecidingActor(Counter())
    actor.step(heard("a"))
    actor.drop("a")
    actor.drop("never heard of")
    assert actor.state("a") is None
    assert actor.step(heard("a")) == (PlanWithheld("1"),)


def test_a_turn_can_be_decided_a_second_time_from_an_earlier_state() -> None:
    actor = DecidingActor(Counter())
    actor.step(heard("a"))
    before = actor.state("a")
    actor.step(heard("a"))
    actor.restore("a", before)
    assert actor.step(heard("a")) == (PlanWithheld("2"),)
    actor.restore("a", None)
    assert actor.state("a") is None


def test_it_has_the_name_of_its_decider() -> None:
    assert DecidingActor(Counter()).name == "critic"
