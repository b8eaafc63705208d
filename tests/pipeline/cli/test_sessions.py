"""`rutter sessions`: what ran, and whether it may be run again."""

from msgspec.structs import replace

from rutter.events.executor import ActionFailed
from rutter.events.runtime import SessionEnded
from tests.support.command_shell import Rutter
from tests.support.shop_facts import click, intent, plan, run_of
from tests.support.timed_log import Ledger

BY_HAND = replace(run_of(None), logic="0")  # of no logic that is known: nobody decides it again
INTERRUPTED = SessionEnded("interrupted", "browser_lost", "the browser is gone")


def test_a_run_that_may_have_ordered_is_not_said_to_be_worth_another_run(rutter: Rutter) -> None:
    """`sessions` and `show` say the same of it; of a run that touched nothing they say yes."""
    rutter.data.mkdir(exist_ok=True)
    with Ledger(rutter.data / "log.db") as ledger:
        for name, irreversible in (("placed", True), ("looked", False)):
            began = replace(intent(click()), irreversible=irreversible)
            ledger.write(BY_HAND, plan(click()), began, INTERRUPTED, session=name, ms=1)
        covered = ActionFailed(1, 1, "element_obscured", dispatched=False)
        began = replace(intent(click()), irreversible=True)
        ledger.write(BY_HAND, plan(click()), began, covered, INTERRUPTED, session="kept", ms=1)

    listed = {row["session"]: row["retriable"] for row in rutter.json("sessions")}
    shown = {name: rutter.json("show", name)["retriable"] for name in listed}
    assert listed == shown == {"placed": False, "looked": True, "kept": True}
