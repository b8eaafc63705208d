"""Fields to attributes."""

from rutter.events.action import Untrusted
from rutter.events.executor import ActionDone, ActionFailed
from rutter.events.observer import DialogOpened
from rutter.events.planner import PlanProposed
from rutter.replay.traces.attributes import FieldsTaken
from tests.support.shop_facts import click

FAILED = ActionFailed(3, 1, "timeout", dispatched=True, message="at https://a.example/?key=1")


def test_a_field_goes_by_its_own_name() -> None:
    assert FieldsTaken("step dispatched")(FAILED) == {"rutter.step": 3, "rutter.dispatched": True}
    assert FieldsTaken("step")(FAILED) == {"rutter.step": 3}


def test_a_field_may_have_another_name() -> None:
    assert FieldsTaken("error.type=code")(FAILED) == {"error.type": "timeout"}


def test_text_is_bounded_and_cleaned() -> None:
    assert FieldsTaken(text="message")(FAILED) == {"rutter.message": "at https://a.example/"}
    dialog = DialogOpened("alert", Untrusted("x" * 999), "dismissed")
    assert FieldsTaken(text="rutter.message=message.text")(dialog) == {"rutter.message": "x" * 200}


def test_what_is_not_there_is_not_told() -> None:
    takes = FieldsTaken(maybe="value_set")
    assert takes(ActionDone(1, 1, 5)) == {}
    assert takes(ActionDone(1, 1, 5, value_set=False)) == {"rutter.value_set": False}


def test_millionths_become_fractions() -> None:
    takes = FieldsTaken(shares="probability certainty")
    plan = PlanProposed(1, 1, "prediction", click(), "sure", probability=850_000)
    assert takes(plan) == {"rutter.probability": 0.85}


def test_an_event_may_be_an_error_by_itself() -> None:
    assert FieldsTaken(error="lost")(FAILED) == {"error.type": "lost"}
