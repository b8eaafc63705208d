"""The Planner takes a named workflow's next step: its place, its element, and what is lost (E6)."""

from collections.abc import Iterable

import msgspec

from rutter.actors.planner.lost_step import (
    chosen_before,
    covered_by,
    declined,
    may_be_shown,
    on_choice,
    or_asked,
)
from rutter.actors.planner.model_help import helped, question_about, without_a_model
from rutter.actors.planner.optional_steps import (
    named,
    passed_over,
    recall,
    recall_missing,
    unneeded,
    waiting,
)
from rutter.actors.planner.run import person_declined, propose, refusal_ends, stop_run
from rutter.actors.planner.state import PlannedRun, for_a_person, second_try
from rutter.actors.rules.steps.already_done import done_by, is_over, settled_by
from rutter.actors.rules.steps.already_done import in_words as settled_in_words
from rutter.actors.rules.steps.already_done import look_for as look_whether_done
from rutter.actors.rules.steps.healing import GONE, heal, look_for
from rutter.actors.rules.steps.pace import at_the_end, before_recorded
from rutter.events.action import READS, Action
from rutter.events.causes import Cause
from rutter.events.critic import ActionJudged, ReadBackDue
from rutter.events.executor import LookalikesFound
from rutter.events.planner import ObservationRequested, PlanProposed, RunStopped, StepSettled
from rutter.events.predictor import StepDue
from rutter.events.validator import ActionRejected, CheckpointPassed, CheckpointRefused
from rutter.events.vocabulary import AnyEvent
from rutter.events.workflow import Driver

# An optional step is passed over when this is why it was refused: its element is not there.
ABSENT = frozenset({"element_not_found", "element_not_visible"})


def follow(state: PlannedRun, due: StepDue, now_ns: int) -> AnyEvent:
    """The workflow's next step, once the page is where the recording was: a retry too, so that
    nothing is typed on a page that has moved on."""
    settings, missed = state.started.settings, state.flight.missed if state.flight else None
    if missed is not None and due.step.optional:
        return passed_over(due.index, due.of, missed.code)
    if aside := unneeded(state, due) or recall(state, due):
        return aside
    retried = second_try(state)
    if isinstance(retried, RunStopped) and due.signed_out and not state.irreversible:
        # What it led to is a sign-in.
        way = question_about(state, retried.detail)
        return way or for_a_person(state, due, retried.detail, retried.cause)
    if isinstance(retried, RunStopped):
        return covered_by(state, retried) or helped(state, named(state, retried))
    step, had_wheel = state.step + 1, state.had_wheel
    if look := look_whether_done(state.started, due, state.settling, step, by_hand=had_wheel):
        return look
    if due.taken_to >= 0:
        return for_a_person(state, due, due.unmet)
    if due.unmet:
        return _until_met(state, due, now_ns)
    if retried is not None:
        return retried
    reason = f"workflow_step_{due.index + 1}_of_{due.of}"
    action, after = due.step.action, due.step.after
    plan = propose(state, "workflow", "workflow", action, reason, due.index, after)
    if state.barred and action.type in READS and plan.render_mode == "dom":
        # The words of a notice are no result; of a picture of one see `_told_no_more`.
        why = "what is to be read is not shown"
        skipped = passed_over(due.index, due.of, why) if due.step.optional else None
        return skipped or for_a_person(state, due, why)
    rest = before_recorded(due.step, state.pace, settings) if state.step else None
    return waiting(state, due, msgspec.structs.replace(plan, rest=rest))


def looking(state: PlannedRun, event: ReadBackDue | ActionJudged) -> Iterable[AnyEvent]:
    """Going and looking, and what came of it; every other verdict speaks through the next step."""
    if isinstance(event, ReadBackDue):
        yield _read_back(state, event)
    elif (plan := state.settling.plan) is not None and plan.step == event.step:
        yield from _settled(state, plan, event)


def _settled(state: PlannedRun, plan: PlanProposed, judged: ActionJudged) -> Iterable[AnyEvent]:
    """The look is over. What an earlier session is seen to have done is passed over (E7)."""
    started = state.started
    settled = settled_by(plan, judged)
    yield settled
    if settled.done and is_over(started.steps, settled.index):
        said = settled_in_words(started, settled)
        yield stop_run(state, "completed", "", said, Cause("done_before"))


def _until_met(state: PlannedRun, due: StepDue, now_ns: int) -> AnyEvent:
    if done := done_by(state.started, state.settling, due.index):
        return stop_run(state, "completed", "", done, Cause("done_before"))
    waited_ms = (now_ns - state.unmet_since_ns) // 1_000_000
    settings = state.started.settings
    left_ms = (settings.answer_ms if state.barred else settings.place_ms) - waited_ms
    if left_ms > 0:
        wanted = due.step.action.tab
        if wanted is not None and wanted != state.tab:
            return ObservationRequested("tab_wanted", left_ms, tab=wanted)
        return ObservationRequested("place_unmet", left_ms)
    if due.step.optional:
        return passed_over(due.index, due.of, due.unmet)
    return question_about(state, due.unmet) or for_a_person(state, due, due.unmet)


def by_hand(
    state: PlannedRun, answer: CheckpointPassed | CheckpointRefused
) -> tuple[AnyEvent, ...]:
    """Where the person left it is looked at; if they did not, it ends where it was."""
    if answer.kind in ("choice", "by_hand"):
        return _on_lost(state, answer)
    if isinstance(answer, CheckpointRefused):
        if answer.kind in ("login", "barrier"):
            return (person_declined(state, answer),)
        return (stop_run(state, "failed", "lost", answer.message or "a person said no"),)
    if state.taken_to < 0:
        place_ms = state.started.settings.place_ms
        return (ObservationRequested("checkpoint_passed", place_ms),)
    settled = StepSettled(state.taken_to - 1, True, "they had the wheel, and say so")
    return settled, ObservationRequested("checkpoint_passed", 0)  # they are there already


def _on_lost(
    state: PlannedRun, answer: CheckpointPassed | CheckpointRefused
) -> tuple[AnyEvent, ...]:
    """What they did themselves is told when the window is listened to no longer."""
    if isinstance(answer, CheckpointRefused):
        return (declined(state),)
    return tuple(on_choice(state, answer)) if answer.kind == "choice" else ()


def _read_back(state: PlannedRun, due: ReadBackDue) -> PlanProposed:
    """A look at where the result must show, in a page of its own: the run's page stays as it is."""
    plan = state.plan
    assert plan is not None
    back = due.read_back
    action = Action("navigate", url=back.url, verify=back.checks, aside=True)
    reason = f"read_back_of_step_{due.step}"
    # Where a result shows was recorded or stated, whoever found the step's element now.
    repaired = plan.driver == "model" and plan.index >= 0
    driver: Driver = "workflow" if repaired else plan.driver
    looked = propose(state, "read_back", driver, action, reason)
    rest = at_the_end(state.pace, state.started.settings, careful=False)
    return msgspec.structs.replace(looked, read_back_of=due.step, rest=rest)


def after_refusal(state: PlannedRun, rejected: ActionRejected) -> AnyEvent:
    plan = state.plan if state.plan is not None and state.plan.step == rejected.step else None
    due, recorded = state.due, plan is not None and plan.driver == "workflow"
    if recorded and due is not None and due.step.optional and rejected.error in ABSENT:
        return passed_over(due.index, due.of, rejected.reason)
    if rejected.error in GONE and (back := recall_missing(state, rejected)):
        return back
    looked = look_for(plan, rejected, state.started.values)
    if looked is not None and not state.barred:  # nothing on such a page is the element
        return may_be_shown(state, looked)
    if plan is not None and plan.driver == "model" and rejected.error != "needs_person":
        # Whatever the reason, a person's too: it goes back to whoever proposed it (E3).
        refused = refusal_ends(state, rejected)
        asked = question_about(state, rejected.reason)
        return asked or (without_a_model(state, refused) if refused.reason == "failed" else refused)
    if rejected.rule == "element_kind" and plan is not None and plan.attempt == 1:
        # The Recorder writes "change" for text fields and selects alike; the element knows.
        action = msgspec.structs.replace(plan.action, type="select")
        return msgspec.structs.replace(plan, action=action, reason=f"{plan.reason}_as_select")
    stop = refusal_ends(state, rejected)
    known = recorded or (plan is not None and plan.driver == "prediction")
    return helped(state, stop) if known and rejected.error in GONE else stop


def mend(state: PlannedRun, found: LookalikesFound) -> Iterable[AnyEvent]:
    """The step goes on with the element that is clearly the recorded one, or nowhere."""
    plan = state.plan
    if plan is None or (plan.step, plan.attempt) != (found.step, found.attempt):
        return
    if state.failure is not None and isinstance(stop := second_try(state), RunStopped):
        # It was found, and lies below something.
        yield or_asked(state, helped(state, named(state, stop)))
        return
    chosen = tuple(chosen_before(state, plan, found))
    healed = chosen or heal(plan, found.elements, state.started.values)
    if isinstance(healed, str):
        said, cause = f"element_not_found: {healed}", Cause(code="element_not_found")
        yield or_asked(state, helped(state, stop_run(state, "failed", "lost", said, cause)))
    else:
        yield from healed
