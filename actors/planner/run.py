"""A run is the same for the Planner whoever drives it: its step, its limits, and what ends it.

A script, a workflow, a prediction, a person, an agent and a language model lead to other steps;
what comes of one, what may still be done, and when it is over is followed and decided here.
"""

from typing import TypeVar

import msgspec

from rutter.actors.planner.provider_choice import ProviderChoice, evolve_asking
from rutter.actors.rules.steps.already_done import EarlierRunLooks, evolve_settling
from rutter.actors.rules.steps.ghost import RULE as GHOST
from rutter.actors.rules.steps.ghost import reads_by_itself
from rutter.actors.rules.steps.pause import HAD_THE_WHEEL, Pause, evolve_pause, hands_over
from rutter.actors.rules.steps.pause import RULE as PAUSED
from rutter.actors.rules.steps.service_script import (
    ScriptProgress,
    evolve_going,
    gone,
    is_helped,
    is_of_way,
    next_of_way,
    refused,
    way_here,
)
from rutter.events.action import Action, Untrusted, kind_of
from rutter.events.advisor import AdviceFailed, AdviceLost, AdviceReceived
from rutter.events.causes import OTHER, Cause, PlanSource
from rutter.events.critic import ActionJudged, Barrier, PageAssessed
from rutter.events.envelope import Envelope
from rutter.events.executor import (
    ActionDone,
    ActionFailed,
    QueryAnswered,
    QueryFailed,
    TargetResolved,
)
from rutter.events.logins import LoginUsed
from rutter.events.observer import BrowserLost, ObservationFailed, PageObserved
from rutter.events.page import Resolved
from rutter.events.planner import AdviceRequested, CheckpointReached, PlanProposed, RunStopped
from rutter.events.runtime import (
    DeadlinePassed,
    Failure,
    SessionInterrupted,
    SessionStarted,
    StopReason,
    StopRequested,
)
from rutter.events.validator import (
    ActionRejected,
    ActionStarted,
    ActionWithheld,
    ApprovalRequested,
    ApprovalVoided,
    CheckpointRefused,
    QueryStarted,
)
from rutter.events.vocabulary import AnyEvent
from rutter.events.workflow import Driver, Expectation


class Flight(msgspec.Struct, frozen=True):
    """A flight is a step from its proposal on, and what came of it. `begun` says that its input may
    have reached the page, whatever is known of it."""

    plan: PlanProposed
    begun: bool = False
    irreversible: bool = False
    element: Resolved | None = None
    failure: ActionFailed | None = None
    judged: ActionJudged | None = None
    missed: QueryFailed | None = None
    answered: QueryAnswered | None = None
    done: bool = False
    extracted: Untrusted | None = None

    @property
    def over(self) -> bool:
        return any(each is not None for each in (self.judged, self.answered, self.missed))


class Run(msgspec.Struct, frozen=True):
    """A run of any driver has this state. `flight` is its last step, `recent` what was done or
    called last and on which page, `failures` those in a row, `logins` the origins whose kept logins
    were used; `by_hand` for which step a person was asked, and how often. `flying` is the step that
    has begun and is not over, `let_go` how many a pause came before, `asked` the question to a
    person that is open, `reading` the one to who reads a picture."""

    started: SessionStarted
    asking: ProviderChoice | None = None
    step: int = 0
    flight: Flight | None = None
    digest: str = ""
    url: str = ""
    page_state: str = ""
    barrier: Barrier | None = None
    tab: int = 0
    logins: tuple[str, ...] = ()
    recent: tuple[tuple[str, str], ...] = ()
    failures: int = 0
    by_hand: tuple[int, int] = (-1, 0)
    going: ScriptProgress = ScriptProgress()
    settling: EarlierRunLooks = EarlierRunLooks()
    pause: Pause = Pause()
    flying: int = 0
    asked: ApprovalRequested | None = None
    resumed: bool = False  # once at least
    let_go: int = 0
    had_wheel: bool = False
    reading: str = ""
    stopped: bool = False

    @property
    def plan(self) -> PlanProposed | None:
        return self.flight.plan if self.flight is not None else None

    @property
    def failure(self) -> ActionFailed | None:
        return self.flight.failure if self.flight is not None else None

    @property
    def judged(self) -> ActionJudged | None:
        return self.flight.judged if self.flight is not None else None

    @property
    def irreversible(self) -> bool:
        return self.flight is not None and self.flight.irreversible

    @property
    def barred(self) -> bool:
        """Whether the page in front keeps programs out."""
        return self.barrier is not None and self.barrier.keeps_out

    @property
    def taken(self) -> int:
        """The steps that count for the limit."""
        return self.step - self.let_go


AnyRun = TypeVar("AnyRun", bound=Run)


def evolve_run(run: AnyRun, envelope: Envelope) -> AnyRun:
    """What every driver's run takes from an event. Whose own it is, evolves behind this."""
    change, event = msgspec.structs.replace, envelope.event
    run = _beside_the_step(run, envelope)
    match event:
        case PageObserved(page=page):
            return change(run, digest=page.digest, url=page.url, tab=page.tab)
        case PageAssessed(state=state, barrier=barrier):
            known = (state, barrier) == (run.page_state, run.barrier)
            return run if known else change(run, page_state=state, barrier=barrier)
        case LoginUsed(origin=origin):
            return change(run, logins=(*run.logins, origin))
        case PlanProposed(step=step, settles=settles, read_back_of=of):
            # The step that is looked for, or whose result is, is still the plan.
            aside = settles >= 0 or of
            return change(run, step=step, flight=run.flight if aside else Flight(event))
        case CheckpointReached(index=index):
            times = run.by_hand[1] if run.by_hand[0] == index else 0
            return change(run, by_hand=(index, times + 1))
        case AdviceRequested() | AdviceReceived() | AdviceFailed() | AdviceLost() if run.asking:
            return change(run, asking=evolve_asking(run.asking, event))
        case ApprovalRequested() | ApprovalVoided():
            return change(run, asked=event if isinstance(event, ApprovalRequested) else None)
        case ObservationFailed():
            return change(run, flying=0)
        case ActionRejected(rule=rule, step=step) if rule == PAUSED:
            return _let_go(run, step)
        case RunStopped():
            return change(run, stopped=True)
        case _:
            return _in_flight(run, event)


def _beside_the_step(run: AnyRun, envelope: Envelope) -> AnyRun:
    """The pause, the service's own way, and the looks at what was done before: each the very same
    where the event is about something else."""
    change, event = msgspec.structs.replace, envelope.event
    if (pause := evolve_pause(run.pause, envelope)) is not run.pause:
        had_wheel = run.had_wheel or hands_over(run.pause, pause, run.started)
        resumed = run.resumed or pause.resumed
        run = change(run, pause=pause, had_wheel=had_wheel, resumed=resumed)
    if (going := _gone_on(run, event)) is not run.going:
        run = change(run, going=going)
    if (settling := evolve_settling(run.settling, event)) is not run.settling:
        run = change(run, settling=settling)
    return run


def _in_flight(run: AnyRun, event: AnyEvent) -> AnyRun:
    """What comes of the last step; of any other, nothing is its own."""
    change, flight = msgspec.structs.replace, run.flight
    if flight is None or getattr(event, "step", 0) != flight.plan.step:
        return run
    flying, had_wheel = run.flying, run.had_wheel
    match event:
        case TargetResolved(element=element):
            flight = change(flight, element=element)
        case QueryStarted(step=step):
            flying = step
        case ActionStarted(irreversible=irreversible, step=step):
            flight, flying = change(flight, begun=True, irreversible=irreversible), step
        case ActionDone(extracted=extracted):
            flight = change(flight, done=True, extracted=extracted)
        case ActionFailed() as failure:
            flight = change(flight, done=True, failure=failure)
        case ActionJudged(verdict=verdict) as judged:
            flight, flying = change(flight, judged=judged), 0
            had_wheel = had_wheel and verdict != "confirmed"
        case QueryAnswered(text=text) as answer:
            flight = change(flight, done=True, answered=answer, extracted=text)
            flying, had_wheel = 0, False
        case QueryFailed() as missed:
            flight, flying = change(flight, done=True, missed=missed), 0
        case ActionRejected():
            flying = 0
        case _:
            return run
    return change(run, flight=flight, flying=flying, had_wheel=had_wheel)


def _let_go(run: AnyRun, step: int) -> AnyRun:
    """A pause came before the step had begun: it follows anew, or the look whether it was done."""
    settling, flight = run.settling, run.flight
    if settling.is_of(step):
        settling = EarlierRunLooks(settled=settling.settled)
    if flight is not None:
        flight = msgspec.structs.replace(flight, element=None)
    return msgspec.structs.replace(
        run, flying=0, settling=settling, let_go=run.let_go + 1, flight=flight
    )


def _gone_on(run: Run, event: AnyEvent) -> ScriptProgress:
    """How far the service's own way was gone, where one may be."""
    started, plan = run.started, run.plan
    if started.models is None and started.driver != "model" and not is_helped(started):
        return run.going
    if plan is not None and is_of_way(plan):
        if isinstance(event, ActionJudged) and event.step == plan.step:
            return gone(run.going, event)
        if isinstance(event, ActionRejected) and event.step == plan.step and event.rule != PAUSED:
            return refused(run.going)
    return evolve_going(run.going, event, started)


def excused(run: AnyRun) -> AnyRun:
    """What came of the last step is not held against the run: nothing follows from it."""
    if run.flight is None or (run.flight.judged is None and run.flight.failure is None):
        return run
    flight = msgspec.structs.replace(run.flight, judged=None, failure=None)
    return msgspec.structs.replace(run, flight=flight)


def remembering(run: AnyRun, what: str) -> AnyRun:
    """This is done, or called, on the page as it is."""
    most = run.started.settings.limits.max_same
    return msgspec.structs.replace(run, recent=(*run.recent, (what, run.digest))[-most:])


def propose(
    run: Run,
    source: PlanSource,
    driver: Driver,
    action: Action,
    reason: str,
    index: int = -1,
    expects: Expectation | None = None,
) -> PlanProposed:
    """The next step, tried for the first time. Where the page is shut, all that it says is read
    from a picture of it."""
    kind, step = kind_of(action), run.step + 1
    plan = PlanProposed(
        step, 1, driver, action, reason, index, expects=expects, kind=kind, source=source
    )
    if action.type == "ghost_extract" or _reads_shut_page(run, action):
        return msgspec.structs.replace(plan, render_mode="ghost")
    return plan


def _reads_shut_page(run: Run, action: Action) -> bool:
    whole = action.type == "read_page" and action.target is None and action.page <= 1
    return whole and reads_by_itself(run.started.settings.ghost, run.barrier)


def own_way(run: Run) -> PlanProposed | RunStopped | None:
    """The next action of the service's own way here, which may be that it ends; nothing, where it
    knows none."""
    way = way_here(run.going, run.started)
    if way is not None and not way.actions:
        return stop_run(run, "failed", "", way.why)
    return next_of_way(run.going, run.started, run.step + 1)


# -- limits, and what ends a run ------------------------------------------------------------------


def loops(run: Run, what: str) -> bool:
    """E6: it was done as often as it may be, and the page is still what it was."""
    same = run.started.settings.limits.max_same
    latest = (what, run.digest)
    return len(run.recent) >= same and all(made == latest for made in run.recent[-same:])


def stop_run(
    run: Run, reason: StopReason, failure: Failure, detail: str, cause: Cause = OTHER
) -> RunStopped:
    return RunStopped(reason, failure, detail, run.step, cause=cause)


def after_the_wheel(run: Run, decided: AnyEvent) -> AnyEvent:
    """A run that is lost after a person had the wheel says so."""
    if not run.had_wheel or not isinstance(decided, RunStopped) or decided.failure != "lost":
        return decided
    return msgspec.structs.replace(decided, detail=f"{HAD_THE_WHEEL}; {decided.detail}")


def out_of_steps(run: Run) -> RunStopped:
    return stop_run(run, "max_steps", "", f"{run.taken} steps were taken")


def stopped_by(run: Run, event: AnyEvent) -> RunStopped | None:
    """What ends a run whatever is being done. Who calls tools is told of some of it instead."""
    match event:
        case DeadlinePassed(what="wall_time", after_ms=after_ms):
            return stop_run(run, "max_wall_time", "", f"{after_ms} ms have passed")
        case StopRequested(by=by, why=why):
            said = f"stopped by {by}{': ' if why else ''}{why}"
            return stop_run(run, "cancelled", "", said, Cause("requested", by=by))
        case BrowserLost(why=why):
            return stop_run(run, "interrupted", "browser_lost", why)
        case SessionInterrupted(why=why):
            return stop_run(run, "interrupted", "", why)
        case ActionWithheld(reason=reason):
            cause = Cause("dry_run", why=reason)
            return stop_run(run, "completed_unverified", "", f"dry run: {reason}", cause)
        case ObservationFailed(code=code, message=message):
            said = f"{code}: {message}"
            return stop_run(run, "interrupted", "browser_lost", said, Cause(code=code))
        case _:
            return None


def refusal_ends(run: Run, rejected: ActionRejected) -> RunStopped:
    """The end of a run that a refused step leaves with nothing else to do."""
    if rejected.rule == GHOST:
        return _unread(run, rejected)
    if rejected.code == "policy_denied":
        needs = rejected.error == "needs_person"
        kind: Failure = "needs_person" if needs else "policy_denied"
        return stop_run(run, "policy_denied", kind, rejected.reason)
    kind = "lost" if rejected.code == "execution_error" else "verification_failed"
    code = rejected.error or rejected.rule
    return stop_run(run, "failed", kind, f"{code}: {rejected.reason}", Cause(code=code))


def _unread(run: Run, rejected: ActionRejected) -> RunStopped:
    cause = Cause(code=rejected.error)
    if rejected.code == "policy_denied":
        return stop_run(run, "policy_denied", "policy_denied", rejected.reason, cause)
    return stop_run(run, "failed", "lost", f"{rejected.error}: {rejected.reason}", cause)


def person_declined(run: Run, refused: CheckpointRefused) -> RunStopped:
    """Nobody goes on in the window, where only a person could."""
    needs: Failure = "needs_person" if refused.by == "nobody" else "policy_denied"
    return stop_run(run, "policy_denied", needs, refused.message or "a person said no")
