"""One session as the Predictor follows it."""

import msgspec

from actors.effects import Look
from actors.pausing import Pause
from actors.predictor.recording import (
    Mend,
)
from actors.predictor.undoing import Taught
from events.page import Page, Resolved
from events.planner import PlanProposed
from events.predictor import (
    Notices,
    TransitionLearned,
    TransitionUndone,
)
from events.runtime import SessionStarted
from events.workflow import Step, Workflow

BLANK = Look(Page(url="about:blank"))


class PredictorState(msgspec.Struct, frozen=True):
    """One session as the Predictor follows it."""

    started: SessionStarted | None = None
    session: str = ""
    workflow: Workflow | None = None
    look: Look = BLANK
    late: Look = BLANK
    before: Look = BLANK
    reading_back: bool = False
    downloads: tuple[str, ...] = ()
    plan: PlanProposed | None = None
    element: Resolved | None = None
    approved: bool = False
    index: int = 0
    history: tuple[str, ...] = ()
    learned: TransitionLearned | TransitionUndone | None = None
    last: Taught | None = None
    held_back: tuple[TransitionLearned, ...] = ()
    steps: tuple[Step, ...] = ()
    notices: tuple[Notices, ...] = ()
    healed: tuple[tuple[int, Step], ...] = ()
    mends: tuple[Mend, ...] = ()
    stopped: bool = False
    pause: Pause = Pause()
    handed: bool = False  # back by a person, and nothing was proposed since
    by_hand: bool = False  # some of its steps a person did
