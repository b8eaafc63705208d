"""PredictorState holds one session as the Predictor follows it."""

import msgspec

from rutter.actors.predictor.learning.recording import ModelRepair
from rutter.actors.predictor.learning.takebacks import Taught
from rutter.actors.rules.pages.changes import PageMoment
from rutter.actors.rules.steps.pause import Pause
from rutter.events.checks import ReadBack
from rutter.events.page import Artifact, Exchange, Page, Resolved
from rutter.events.planner import PlanProposed
from rutter.events.predictor import Notices, Rewritten, TransitionLearned, TransitionUndone
from rutter.events.runtime import SessionStarted
from rutter.events.workflow import Step, Workflow

BLANK = PageMoment(Page(url="about:blank"))


class PredictorState(msgspec.Struct, frozen=True):
    """The Predictor follows a session by this state."""

    started: SessionStarted
    session: str = ""
    workflow: Workflow | None = None
    look: PageMoment = BLANK
    late: PageMoment = BLANK
    before: PageMoment = BLANK
    reading_back: bool = False
    downloads: tuple[str, ...] = ()
    picture: Artifact | None = None
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
    rewritten: tuple[Rewritten, ...] = ()
    healed: tuple[tuple[int, Step], ...] = ()
    mends: tuple[ModelRepair, ...] = ()
    hand_since: int = 0  # the number of the first step that a person did
    mends_before: int = -1  # how many there were when a person began to do a step of the run
    stopped: bool = False
    pause: Pause = Pause()
    handed: bool = False  # back by a person, and nothing was proposed since
    by_hand: bool = False  # some of its steps a person did
    logins: tuple[str, ...] = ()  # origins whose kept logins were used
    passed: tuple[int, ...] = ()  # optional steps that were passed over
    gone: tuple[int, ...] = ()  # steps of the workflow that were done
    recall: tuple[int, ...] = ()  # of those passed over, the ones that are looked for once more
    back_to: int = -1  # and the step that is due behind them
    sent: tuple[Exchange, ...] = ()  # what the page sent, by the step that it followed from
    numbers: tuple[int, ...] = ()  # of the steps that are recorded, as they were counted
    done_steps: tuple[
        tuple[int, int], ...
    ] = ()  # steps of the workflow that were done: place, number
    read_backs: tuple[tuple[int, ReadBack], ...] = ()  # found by trial, by the number of the step
