"""ValidatorState holds one session as the Validator follows it."""

import msgspec

from rutter.actors.rules.steps.pause import Pause
from rutter.events.page import Resolved
from rutter.events.planner import PlanProposed, StepLost, StepSettled
from rutter.events.runtime import SessionStarted
from rutter.events.service_pack import Checkpoint
from rutter.events.validator import ApprovalRequested


class FinalStep(msgspec.Struct, frozen=True):
    """A step that cannot be undone was started on this element. `unknown`: nobody knows what came
    of it."""

    step: int
    doing: str
    element: Resolved | None
    unknown: bool = False


class ChosenElement(msgspec.Struct, frozen=True):
    """A person chose this element by an approval, in which they were told of these rules; before it
    another one is pressed, where there are two."""

    approval: str
    elements: tuple[Resolved, ...]
    rules: tuple[str, ...]


class ValidatorState(msgspec.Struct, frozen=True):
    started: SessionStarted
    plan: PlanProposed | None = None
    element: Resolved | None = None
    before: Resolved | None = None
    asked: ApprovalRequested | None = None
    questions: int = 0
    changes: int = 0
    stopped: bool = False
    page: str = ""
    page_state: str = ""
    checkpoint: Checkpoint | None = None
    settled: StepSettled | None = None
    done_on_the_way: bool = False
    pause: Pause = Pause()
    open: bool = False  # proposed, and neither begun nor refused
    let_go: int = 0  # the last step that a pause came before
    had_wheel: bool = False
    final: tuple[FinalStep, ...] = ()
    lost: StepLost | None = None
    chosen: ChosenElement | None = None
