"""A barred run meets a page that keeps it out or shows nothing: it waits, asks, or says so.

Many a site lets a browser in once it has looked at it: that is waited for. A captcha is a person's
to do, who is asked where they have a window; no model is, and nothing else is taken for the step.
"""

import msgspec

from rutter.actors.planner.run import Run, excused, stop_run
from rutter.actors.planner.state import BY_HAND, PlannedRun
from rutter.actors.rules.pages.barrier_words import barrier_in_words
from rutter.actors.rules.steps.healing import GONE
from rutter.events.causes import Cause
from rutter.events.critic import Barrier, PageAssessed
from rutter.events.envelope import Envelope
from rutter.events.planner import CheckpointReached, ObservationRequested, PlanProposed, RunStopped
from rutter.events.runtime import SessionResumed
from rutter.events.tools import ToolAnswered
from rutter.events.validator import ActionRejected
from rutter.events.vocabulary import AnyEvent

# How a run ends that found no way on; what else ends one has its own reason.
LOST = frozenset({"lost", "verification_failed", "retry_exhausted"})
SENDS = frozenset({"click", "press"})


def evolve_barred(state: PlannedRun, envelope: Envelope) -> PlannedRun:
    """Since when it is kept out, with patience anew when a person was there."""
    change = msgspec.structs.replace
    match envelope.event:
        case PageAssessed():
            since = (state.barred_since_ns or envelope.at_ns) if state.barred else 0
            return change(state, barred_since_ns=since) if since != state.barred_since_ns else state
        case ActionRejected(error=error) if state.barred and error in GONE:
            return change(state, let_go=state.let_go + 1)  # it was due, and could not be begun
        case SessionResumed() | CheckpointReached():
            return change(state, barred_since_ns=0)
        case ObservationRequested(why="barrier_awaited"):
            # Going there is due once more, whether it is let in by then or not.
            went = state.plan is not None and state.plan.action.type == "navigate"
            return excused(state) if went else state
        case _:
            return state


def let_in_awaited(state: PlannedRun, now_ns: int) -> ObservationRequested | None:
    """A look at the page when it changes, as long as the site may still let the run in."""
    if not state.barred:
        return None
    waited_ms = (now_ns - (state.barred_since_ns or now_ns)) // 1_000_000
    left_ms = state.started.settings.answer_ms - waited_ms
    return ObservationRequested("barrier_awaited", left_ms) if left_ms > 0 else None


def missing_behind(
    state: PlannedRun, rejected: ActionRejected, now_ns: int
) -> ObservationRequested | None:
    """The same, where the element of a step is not there because of it."""
    return let_in_awaited(state, now_ns) if rejected.error in GONE else None


def with_barrier(run: Run, decided: AnyEvent) -> AnyEvent:
    """A caller of tools is told what the page in front is, whatever its call came to; a run that
    would be lost here is not lost, but kept out."""
    barrier = run.barrier
    if barrier is None:
        return decided
    match decided:
        case ToolAnswered():
            return msgspec.structs.replace(decided, barrier=barrier)
        case CheckpointReached(kind="unknown", taken_to=-1) if run.barred:
            why = f"{barrier_in_words(barrier)}: {decided.why}"
            return msgspec.structs.replace(decided, kind="barrier", why=why)
        case RunStopped() if _is_why(run, barrier, decided):
            return _kept_out(run, barrier, decided)
        case RunStopped(reason="completed") | PlanProposed() if _told_no_more(run):
            why = "a picture of it tells no more"
            return _kept_out(run, barrier, stop_run(run, "failed", "needs_person", why))
        case _:
            return decided


def _told_no_more(run: Run) -> bool:
    """Whether what a workflow read last is a picture of what keeps it out: it is kept, as what is
    said there, and is not what was recorded to be read."""
    flight = run.flight
    if not run.barred or flight is None or flight.answered is None:
        return False
    return flight.plan.driver == "workflow" and flight.plan.render_mode == "ghost"


def _is_why(run: Run, barrier: Barrier, stop: RunStopped) -> bool:
    """Whether the barrier is why it ends. A captcha beside other things is it where something was
    to be sent and was not taken."""
    if stop.failure == "needs_person":
        return run.barred and (stop.cause is None or stop.cause.kind == "other")
    sent = run.irreversible and run.flight is not None and run.flight.begun
    if stop.failure not in LOST or sent or barrier.kind == "drawn":
        return False
    if not barrier.beside:
        return True
    return run.plan is not None and run.plan.action.type in SENDS and stop.failure != "lost"


def _kept_out(run: Run, barrier: Barrier, stop: RunStopped) -> RunStopped | CheckpointReached:
    said = f"{barrier_in_words(barrier)}: {stop.detail}"
    if barrier.kind != "empty_shell" and stop.failure in LOST and isinstance(run, PlannedRun):
        index = run.due.index if run.due is not None else -1
        times = run.by_hand[1] if run.by_hand[0] == index else 0
        if run.started.headed and times < BY_HAND:
            return CheckpointReached("barrier", run.step + 1, said, index)
    cause = Cause("barrier", code=barrier.kind, why=barrier.detail)
    if barrier.kind == "empty_shell":
        return msgspec.structs.replace(stop, detail=said, cause=cause)
    return msgspec.structs.replace(
        stop, reason="policy_denied", failure="needs_person", detail=said, cause=cause
    )
