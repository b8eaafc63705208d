"""A step's pace says whether to let the page come to rest before it, and what to wait for.

What cannot be undone, what leaves the page and the end of a run come after all that was set off
before them. A script that is recorded has nobody's pace: there it is waited with care.
"""

from collections.abc import Iterable

import msgspec

from rutter.events.action import OBSERVATIONS, Action
from rutter.events.checks import Check, ServerAnswered
from rutter.events.page import Resting
from rutter.events.planner import PlanProposed
from rutter.events.run_settings import RunSettings
from rutter.events.workflow import Step

CAREFUL_MS = 500  # nobody's typing is handed on later than this without a reason that shows
HASTY_MS = 1_000  # whoever calls tools has a deadline of their own
ENTERS = frozenset({"type", "select", "paste"})
WHOLE = frozenset({"read_page", "ghost_extract"})  # of the page as it is by then
HARMLESS = OBSERVATIONS | {"type", "select", "scroll", "hover", "wheel"}


class StepPace(msgspec.Struct, frozen=True):
    """The pace remembers what was set off since the page rested last: that something was `entered`,
    and requests that followed when this was recorded (`owed`)."""

    entered: bool = False
    owed: tuple[str, ...] = ()


def entered(pace: StepPace, plan: PlanProposed) -> StepPace:
    """A step was confirmed."""
    learned = plan.expects.learned if plan.expects is not None else ()
    typed = pace.entered or plan.action.type in ENTERS
    if plan.action.type not in ENTERS:
        return msgspec.structs.replace(pace, entered=typed)
    return StepPace(
        typed, (*pace.owed, *(each for each in followed(learned) if each not in pace.owed))
    )


def rested(pace: StepPace, rest: Resting) -> StepPace:
    """The page comes to rest: what was not waited for then is owed still."""
    return StepPace(owed=tuple(each for each in pace.owed if each not in rest.awaits))


def followed(learned: Iterable[Check]) -> tuple[str, ...]:
    """The requests that a step set off, each as one text of kinds."""
    return tuple(each.value for each in learned if isinstance(each, ServerAnswered))


def before_recorded(step: Step, pace: StepPace, settings: RunSettings) -> Resting | None:
    """For a step of a workflow. What leaves the page or cannot be undone comes after all that was
    set off; what may take what was entered, after all that the page has put off by now."""
    if step.action.type in WHOLE:
        return Resting(settings.answer_ms)
    leaves = step.irreversible or step.after.moved or step.action.type == "navigate"
    sends = _does(step.action) and bool(followed(step.after.learned))
    if leaves or sends:
        return Resting(settings.answer_ms, 0, pace.owed)
    return Resting(settings.answer_ms) if pace.entered and _does(step.action) else None


def _does(action: Action) -> bool:
    """Whether it may take what was set off before it, as whoever reads the whole page does."""
    return action.type not in HARMLESS or action.type in WHOLE


def before_scripted(action: Action, pace: StepPace, settings: RunSettings) -> Resting | None:
    """For a step of a script that is recorded: it is not known yet what it will do."""
    if not _does(action):
        return None
    return Resting(settings.answer_ms, CAREFUL_MS if pace.entered else 0)


def before_unknown(action: Action) -> Resting | None:
    """For what was predicted or proposed by somebody who watches the page."""
    return Resting(HASTY_MS) if _does(action) else None


def at_the_end(pace: StepPace, settings: RunSettings, *, careful: bool) -> Resting:
    quiet = CAREFUL_MS if careful and pace.entered else 0
    return Resting(settings.answer_ms, quiet, pace.owed)
