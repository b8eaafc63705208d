"""The Critic decides by this state: the page, the step that runs, what was asked about it and must
still be looked for, and the case that its verdict rests on."""

from collections.abc import Mapping

import msgspec

from rutter.actors.critic.proof import EnteredValue, SessionProof
from rutter.actors.critic.recorded_person import PersonsWork
from rutter.actors.critic.verdict import Judgement, VerdictCase, judge
from rutter.actors.rules.steps.check_results import AfterStep, bound_all
from rutter.actors.rules.steps.service_script import goes_to_sign_in
from rutter.events.action import Untrusted
from rutter.events.advisor import VisionGiven
from rutter.events.checks import FileCheck, PageState
from rutter.events.critic import Barrier, PageAssessed, Proof
from rutter.events.executor import ActionDone, ActionFailed, PersonActed
from rutter.events.observer import FileSeen
from rutter.events.page import Exchange, Page, Resolved
from rutter.events.planner import PlanProposed
from rutter.events.run_settings import RunSettings
from rutter.events.tools import CompletionClaimed
from rutter.events.validator import ActionStarted
from rutter.events.workflow import Expectation

BLANK = Page(url="about:blank")


class ReadBackAwaited(msgspec.Struct, frozen=True):
    """A step that the page confirmed awaits a look where its result must show. With `sought` it is
    only tried whether that shows there; `by_hand` the verdict was given before."""

    running: ActionStarted
    judgement: Judgement
    proof: Proof | None = None
    sought: tuple[EnteredValue, ...] = ()
    by_hand: bool = False


class AssessedPage(msgspec.Struct, frozen=True):
    """The page is what the last look at it said. `filled_ms`: it looks empty, and may be filled
    within that time."""

    page: Page = BLANK
    phrases: tuple[str, ...] = ()
    state: PageState = "UNKNOWN"
    pending: int = 0
    sent: int = 0
    status: int = 0
    unread: bool = False
    barrier: Barrier | None = None
    filled_ms: int = 0


class StepInquiry(msgspec.Struct, frozen=True):
    """The Critic asked this about the step that runs, and got these answers."""

    asked: tuple[str, ...] = ()
    shown: Mapping[str, Untrusted | None] = {}
    kept: tuple[str, ...] = ()  # texts that the browser itself keeps for the site
    looking: tuple[FileCheck, ...] = ()
    files: Mapping[FileCheck, FileSeen] = {}
    downloads: tuple[str, ...] = ()
    fixed: Judgement | None = None
    vision: VisionGiven | None = None
    exchanges: tuple[Exchange, ...] = ()
    rested: bool = False


class CriticState(msgspec.Struct, frozen=True):
    settings: RunSettings = RunSettings()
    values: Mapping[str, str] = {}
    end: Expectation | None = None
    sight: AssessedPage = AssessedPage()
    before: AssessedPage = AssessedPage()
    element: Resolved | None = None
    plan: PlanProposed | None = None
    running: ActionStarted | None = None
    acted: PersonActed | None = None
    outcome: ActionDone | ActionFailed | None = None
    inquiry: StepInquiry = StepInquiry()
    held: ReadBackAwaited | None = None
    since_ns: int = 0
    finishing: bool = False
    claim: CompletionClaimed | None = None
    advised: bool = False
    stopped: bool = False
    careful: bool = False
    watches: bool = False  # a person, who waits for the page without us
    proving: SessionProof = SessionProof()
    hand: PersonsWork = PersonsWork()
    owed: tuple[tuple[int, str], ...] = ()
    sent: tuple[Exchange, ...] = ()
    rested: bool = False
    logins: tuple[str, ...] = ()  # origins whose kept logins were taken along
    empty_since_ns: int = 0  # since when a page is waited for that looks empty

    @property
    def page(self) -> Page:
        return self.sight.page

    def waited_ms(self, now_ns: int) -> int:
        """Since the action was done, the end was reached, or the claim was made."""
        return (now_ns - self.since_ns) // 1_000_000


def assessment(state: CriticState) -> PageAssessed:
    sight = state.sight
    return PageAssessed("" if sight.state == "UNKNOWN" else sight.state, sight.barrier)


def case_of(state: CriticState) -> VerdictCase | None:
    if state.running is None or state.outcome is None:
        return None
    verify = bound_all(state.running.action.verify, state.values)
    action = msgspec.structs.replace(state.running.action, verify=verify)
    return VerdictCase(
        running=msgspec.structs.replace(state.running, action=action),
        outcome=state.outcome,
        before=state.before.page,
        seen=_known(state),
        expects=_expects(state),
        settings=state.settings,
        pending=state.sight.pending,
        sent=state.sight.sent,
        status=state.sight.status,
        element=state.element,
        url=state.outcome.url if isinstance(state.outcome, ActionDone) else "",
        signed_in=goes_to_sign_in(state.plan, state.logins),
    )


def _expects(state: CriticState) -> Expectation | None:
    """What is expected of the step that runs, with the values of this run."""
    plan, running = state.plan, state.running
    if plan is None or running is None or plan.step != running.step or plan.expects is None:
        return None
    expects = plan.expects
    return msgspec.structs.replace(
        expects,
        learned=bound_all(expects.learned, state.values),
        checks=bound_all(expects.checks, state.values),
    )


def _known(state: CriticState) -> AfterStep:
    sight, inquiry = state.sight, state.inquiry
    return AfterStep(
        page=sight.page,
        state=sight.state,
        before=state.before.page,
        state_before=state.before.state,
        unread=sight.unread,
        shown=inquiry.shown,
        files=inquiry.files,
        downloads=inquiry.downloads,
        exchanges=inquiry.exchanges,
    )


def judgement_of(state: CriticState) -> Judgement | None:
    case = case_of(state)
    return judge(case) if case is not None else None
