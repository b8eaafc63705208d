"""Wait points say when an exported script waits, and for what: as a run of the workflow does.

Other tools act as fast as they can and close the browser behind the last step. What a field hands
on a moment later, or a page sends then, would be lost.
"""

from typing import NamedTuple

from rutter.actors.rules.pages.server_exchanges import EITHER
from rutter.actors.rules.steps.pace import CAREFUL_MS, ENTERS, HARMLESS, followed
from rutter.events.workflow import Step, Workflow

STILL_MS = 100  # a page that has just been acted on may be about to show something else


class Paced(NamedTuple):
    """A paced step waits until nothing happens in the page for `quiet_ms`, if that matters. `owes`
    are requests that follow it, for whoever waits next; `answered` must be answered well for the
    step to count as done."""

    quiet_ms: int | None = None
    owes: str = ""
    answered: str = ""


def pacing_of(workflow: Workflow) -> list[Paced]:
    """Step by step. Behind the last one the page is as quiet as before one that takes what was
    entered: the browser is closed then."""
    steps: list[Paced] = []
    entered = acted = False
    for step in workflow.steps:
        paced = _paced(step, entered=entered, acted=acted)
        steps.append(paced)
        entered = step.action.type in ENTERS or (entered and paced.quiet_ms != CAREFUL_MS)
        acted = step.action.type not in ENTERS
    return steps


def _paced(step: Step, *, entered: bool, acted: bool) -> Paced:
    sent = EITHER.join(followed(step.after.learned))
    must = sent if step.irreversible and step.action.type not in ENTERS else ""
    asked = step.after.read_back is not None or step.action.type in ENTERS
    owes = sent if asked and not must else ""
    if step.action.type in ("navigate", "wait", "check"):
        quiet = CAREFUL_MS if entered else None
    elif step.action.type in HARMLESS:  # into what may have been opened only now
        quiet = STILL_MS if acted and step.action.type in ENTERS else None
    else:
        quiet = CAREFUL_MS if entered and takes(step) else STILL_MS
    return Paced(quiet, owes, must)


def takes(step: Step) -> bool:
    """Whether it may take what was entered: it leaves the page, sends or cannot be undone."""
    return step.irreversible or step.after.moved or bool(followed(step.after.learned))


def is_led(step: Step) -> bool:
    """Whether the step itself leads to another page. Where something was entered, or the page has
    several addresses, it gives itself another one in its own time, or has it already."""
    place = step.after.place
    by_itself = step.action.type in ENTERS or (place is not None and bool(place.also))
    return step.after.moved and not by_itself
