"""The Predictor names the next step of a workflow, or the model's most probable actions.

Inside a named workflow the next step is known and has no probability (`StepDue`); outside one it
predicts. It also learns: a confirmed action becomes a `TransitionLearned`, a recording becomes a
new version of its workflow.
"""

from collections.abc import Iterable
from typing import ClassVar

import msgspec

from rutter.actors.predictor.knowledge import Knowledge
from rutter.actors.predictor.learning.consequences import answered_in_run, heard, with_what_followed
from rutter.actors.predictor.learning.marked_steps import marked
from rutter.actors.predictor.learning.merge import compare
from rutter.actors.predictor.learning.recorded_again import recorded_again
from rutter.actors.predictor.learning.recording import (
    assemble,
    canonical,
    healed_workflow,
    mended_workflow,
    pictured_as,
)
from rutter.actors.predictor.learning.repair import (
    PASSING,
    done_by_person,
    healed,
    index_after,
    mends,
    noticed,
    rejoined,
    step_of,
    strayed_from,
)
from rutter.actors.predictor.learning.rewritten_addresses import arrived, departed, went_on
from rutter.actors.predictor.learning.teaching import (
    broken,
    ended,
    foresees,
    is_final,
    place_mark,
    refused,
    teach,
)
from rutter.actors.predictor.model.learners import since_break
from rutter.actors.predictor.position.element_presence import is_there
from rutter.actors.predictor.position.handed_back import handed_back, left_open, taken_up
from rutter.actors.predictor.position.past_sign_in import led_past, past_sign_in
from rutter.actors.predictor.position.preconditions import unmet as missing_of
from rutter.actors.predictor.position.skippable_steps import (
    done,
    is_recalled,
    led,
    needless,
    passed_here,
)
from rutter.actors.predictor.state import PredictorState
from rutter.actors.rules.pages.changes import PageMoment, notices
from rutter.actors.rules.pages.page_state import detect
from rutter.actors.rules.policy.policy import CALLERS
from rutter.actors.rules.steps.pause import evolve_pause, hands_over
from rutter.actors.rules.steps.retry import is_kept
from rutter.actors.rules.steps.service_script import ELSEWHERE, is_past_sign_in, strayed
from rutter.actors.rules.workflows.templates import told
from rutter.events.action import kind_of
from rutter.events.causes import VerdictCode
from rutter.events.checks import AlertSaid
from rutter.events.critic import ActionJudged, PageAssessed, ReadBackFound, Verdict
from rutter.events.envelope import Actor, Envelope
from rutter.events.executor import (
    ActionDone,
    PersonActed,
    QueryAnswered,
    QueryFailed,
    StepMarked,
    StepPictured,
    TargetChanged,
    TargetResolved,
)
from rutter.events.logins import LoginUsed
from rutter.events.observer import DownloadFinished, PageObserved
from rutter.events.planner import PlanProposed, PlanWithheld, RunStopped, StepSettled, StepsRecalled
from rutter.events.predictor import (
    EffectsLearned,
    PredictionMade,
    StepDue,
    WorkflowFinished,
    WorkflowLearned,
)
from rutter.events.runtime import RecordingFinished, SessionStarted
from rutter.events.validator import ActionApproved, ActionRejected
from rutter.events.vocabulary import AnyEvent

WIDE = 10  # candidates of which those that are on the page are kept
MAYBE = 3  # workflows that a session may be in, told at most


class Predictor:
    name: ClassVar[Actor] = "predictor"

    def __init__(self, knowledge: Knowledge | None = None) -> None:
        self.knowledge = knowledge or Knowledge()

    def initial(self) -> PredictorState | None:
        return None

    def evolve(self, state: PredictorState | None, envelope: Envelope) -> PredictorState | None:
        event = envelope.event
        if isinstance(event, PageObserved):
            self.knowledge.open_turn(envelope.seq)
        if isinstance(event, SessionStarted):
            return self._opened(event, envelope.session)
        if state is None:  # of no run: what was learned of old, or what a person changed
            self.knowledge.take_in(envelope)
            return None
        return self._evolved(_paused(state, envelope), envelope)

    def _evolved(self, state: PredictorState, envelope: Envelope) -> PredictorState:
        change = msgspec.structs.replace
        match envelope.event:
            case PageObserved() as observed:
                return _looked(heard(state, observed), observed)
            case PlanProposed(read_back_of=of) if of:
                return change(state, reading_back=True)
            case PlanProposed(settles=settles) if settles >= 0:
                return change(state, reading_back=True, plan=None)
            case StepSettled(done=True, index=index):
                return _passed_over(state, index)
            case PlanProposed() as plan:
                return _proposed(state, plan)
            case PersonActed() as acted:
                return _acted(went_on(_late(state)), acted)
            case StepMarked() as event:
                return marked(state, event)
            case RecordingFinished() if state.started.purpose == "run":
                return done_by_person(state)
            case PlanWithheld() | StepsRecalled() as event:
                return led(state, event)
            case PageAssessed():
                return taken_up(rejoined(past_sign_in(state)))
            case RunStopped():
                return change(_late(state), stopped=True)
            case _ as event:
                self.knowledge.take_in(envelope)
                return _of_step(state, event)

    def decide(self, state: PredictorState | None, envelope: Envelope) -> Iterable[AnyEvent]:
        if state is None:
            return
        match envelope.event:
            case ActionJudged() | QueryAnswered() | StepMarked() if state.learned is not None:
                yield state.learned
            case PageAssessed() if not state.stopped:
                yield self._next(state)
            case PlanWithheld(index=index) if index >= 0 and not state.stopped:
                yield self._next(state)
            case StepsRecalled() if not state.stopped:
                yield self._next(state)
            case ActionRejected(error="human_rejected") if state.learned is not None:
                yield state.learned
            case RunStopped() as stopped:
                yield from ended(state, stopped)
                yield from self._recorded(state, stopped)
                yield from self._shown(state, stopped)
                yield from self._mended(state, stopped)
            case _:
                return

    def _opened(self, started: SessionStarted, session: str) -> PredictorState:
        """What is expected is what was learned until now: another run changes nothing in this."""
        workflow = started.workflow
        expected = self.knowledge.expected(workflow) if workflow is not None else None
        return PredictorState(started=started, session=session, workflow=expected)

    def _next(self, state: PredictorState) -> AnyEvent:
        workflow = state.workflow
        if workflow is None:
            return self._predicted(state)
        if state.index >= len(workflow.steps):
            return WorkflowFinished(steps=len(workflow.steps))
        step = workflow.steps[state.index]
        left = left_open(state)
        unmet = "; ".join(filter(None, (missing_of(step, state.look), left.why)))
        asked = state.look.state == "LOGIN_REQUIRED" != step.state
        return StepDue(
            state.index,
            len(workflow.steps),
            step,
            unmet,
            asked,
            left.to,
            needless(state),
            passed_here(state),
            is_recalled(state),
        )

    def _predicted(self, state: PredictorState) -> PredictionMade:
        knowledge, settings = self.knowledge, state.started.settings
        if settings.predictor == "foresight":
            return self._foreseen(state, settings.top_k)
        history = since_break(state.history, settings.order)
        return PredictionMade(
            model="markov2",
            position=knowledge.position,
            candidates=knowledge.as_seeds(history, settings.top_k),
            generation=knowledge.generation,
        )

    def _foreseen(self, state: PredictorState, most: int) -> PredictionMade:
        """What has no element on this page is not what comes next."""
        started, knowledge = state.started, self.knowledge
        bound = {*started.values, *started.secrets}
        place = place_mark(state.look, started)
        candidates, ends = knowledge.foreseen(state.history, place, WIDE, bound)
        page, values = state.look.page, started.values
        # A caller of tools is shown what is in view: what is not may be there all the same.
        partly = started.purpose == "tools"
        there = [each for each in candidates if partly or is_there(each.action, page, values)]
        there = there[:most]
        last = candidates.index(there[-1]) + 1 if there[most - 1 :] else len(candidates)
        return PredictionMade(
            model="foresight",
            position=knowledge.position,
            candidates=tuple(there),
            generation=knowledge.generation,
            absent=last - len(there),
            ends=ends,
            within=knowledge.within(state.history, MAYBE),
        )

    def _recorded(self, state: PredictorState, stopped: RunStopped) -> Iterable[AnyEvent]:
        started = state.started
        discarded = stopped.cause is not None and stopped.cause.kind == "discarded"
        if not state.steps or not started.name or discarded:
            return  # what has no name is to be known by none: a sign-in that is only kept
        complete = stopped.reason == "completed"
        # A run that a model led is one once its end was verified (D5); a recording, as it is.
        if not (started.purpose == "record" or (_finds(started) and complete)):
            return
        if started.by_hand_from >= 0:
            yield from self._recorded_again(state, complete=complete)
            return
        workflow = assemble(
            started.name,
            self.knowledge.next_version(started.name),
            with_what_followed(state, started.values),
            state.look.page,
            started.values,
            complete=complete,
            session=state.session,
            service=started.settings.service,
            goal=started.goal,
            criteria=started.settings.criteria if _finds(started) else None,
        )
        known = self.knowledge.versions.complete(started.name)
        if known is not None and complete and started.settings.compares:
            made = compare(known, workflow, newest_first=started.settings.newest_first)
            yield WorkflowLearned(workflow=made.workflow, compared=made.compared)
            return
        yield WorkflowLearned(workflow=workflow, stopped_at="" if complete else stopped.detail)

    def _recorded_again(self, state: PredictorState, *, complete: bool) -> Iterable[AnyEvent]:
        name = state.started.name
        newest, version = self.knowledge.versions.newest(name), self.knowledge.next_version(name)
        steps = with_what_followed(state, state.started.values)
        made = recorded_again(state, steps, newest, version) if complete else None
        if made is not None:
            yield WorkflowLearned(workflow=made)

    def _shown(self, state: PredictorState, stopped: RunStopped) -> Iterable[AnyEvent]:
        """What a run whose end was verified led the page to say."""
        workflow = state.workflow if state.started.purpose == "run" else None
        if workflow is None or stopped.reason != "completed" or state.by_hand:
            return  # what a person did in its place showed nothing to this run
        answered = answered_in_run(state)
        yield EffectsLearned(workflow.name, workflow.version, answered, state.rewritten)

    def _mended(self, state: PredictorState, stopped: RunStopped) -> Iterable[AnyEvent]:
        """What was healed is learned when the run's end was verified, unless the workflow was
        recorded anew or deleted meanwhile."""
        workflow = state.started.workflow if state.started.purpose == "run" else None
        helped = any(mend.helped for mend in state.mends)
        if workflow is None or not (state.healed or helped) or stopped.reason != "completed":
            return
        if helped and state.by_hand:
            return  # what led there is not known in full
        if not self.knowledge.is_newest(workflow.name, workflow.version):
            return
        version = self.knowledge.next_version(workflow.name)
        shown = pictured_as(workflow, self.knowledge.versions.newest(workflow.name))
        mended = healed_workflow(shown, dict(state.healed), version, state.session)
        if helped:
            seen, values = state.look.page, state.started.values
            mended = mended_workflow(mended, state.mends, seen, values)
        yield WorkflowLearned(workflow=mended)


def _paused(state: PredictorState, envelope: Envelope) -> PredictorState:
    """A pause, and that the wheel is handed back."""
    pause = evolve_pause(state.pause, envelope)
    if pause is state.pause:
        return state
    over = hands_over(state.pause, pause, state.started)
    state = msgspec.structs.replace(state, pause=pause)
    return handed_back(state) if over else state


def _passed_over(state: PredictorState, index: int) -> PredictorState:
    """An earlier session did this step, or a person: what comes now does not follow from the one
    before it."""
    by_hand = state.by_hand or state.handed
    state = msgspec.structs.replace(state, index=index + 1, learned=None, by_hand=by_hand)
    if not foresees(state.started):
        return state
    return msgspec.structs.replace(state, history=broken(state.history), last=None)


def _of_step(state: PredictorState, event: AnyEvent) -> PredictorState:
    """What is learned about the step under way; before the first, who is signed in already."""
    change = msgspec.structs.replace
    match event:
        case LoginUsed(origin=origin):
            return change(state, logins=(*state.logins, origin))
        case TargetResolved(element=element) | TargetChanged(element=element):
            return change(state, element=element)
        case ActionApproved(approval=approval) if not state.reading_back:
            # Only what a person was asked about and approved is approved for later runs.
            return change(state, approved=bool(approval))
        case ActionDone(step=step, typed=typed, url=url) if _is_of_plan(state, step):
            return departed(change(state, plan=told(state.plan, typed)), url)
        case DownloadFinished() | StepPictured() | ReadBackFound() as kept:
            return _kept(state, kept)
        case ActionJudged(step=step, verdict=verdict, code=said) as judged if _is_of_plan(
            state, step
        ):
            if state.plan is not None and strayed(state.started, state.plan, judged):
                return strayed_from(state, state.plan)
            if state.plan is not None and is_past_sign_in(state.plan, judged, state.logins):
                return led_past(state, state.plan)
            return _judged(state, verdict, said)
        case QueryAnswered(step=step) if _is_of_plan(state, step):
            return _judged(state, "confirmed")
        case QueryFailed():
            return change(state, plan=None, learned=None, history=broken(state.history))
        case ActionRejected(step=step, error="human_rejected") if _is_of_plan(state, step):
            return change(state, learned=refused(state))
        case _:
            return state


def _kept(
    state: PredictorState, event: DownloadFinished | StepPictured | ReadBackFound
) -> PredictorState:
    """A file that came of the step under way, the picture of what it is done to, or where its
    result shows."""
    own = state.plan is not None and state.plan.step == event.step
    match event:
        case StepPictured(artifact=picture) if own:
            return msgspec.structs.replace(state, picture=picture)
        case DownloadFinished(name=name, artifact=artifact, step=step) if artifact is not None:
            if own or step == 0:
                downloads = (*state.downloads, name.text)
                return msgspec.structs.replace(state, downloads=downloads)
        case ReadBackFound(step=step, read_back=back):
            if state.started.settings.proposes:
                return state
            found = (*state.read_backs, (step, back))
            return msgspec.structs.replace(state, read_backs=found)
        case _:
            pass
    return state


def _looked(state: PredictorState, observed: PageObserved) -> PredictorState:
    """The page as it is now; one that was opened aside is not where the run is."""
    if state.reading_back:
        return state
    service = state.started.settings.service
    now = PageMoment(observed.page, detect(observed.page, observed.phrases, service))
    # Right before the next input, minutes may have passed: that is no effect of the last.
    late = state.late if observed.why == "before_input" else now
    return msgspec.structs.replace(state, look=now, late=late)


def _proposed(state: PredictorState, plan: PlanProposed) -> PredictorState:
    return msgspec.structs.replace(
        state,
        plan=plan,
        before=state.look,
        element=None,
        approved=False,
        downloads=(),
        learned=None,
        handed=False,
        picture=None,
    )


def _acted(state: PredictorState, acted: PersonActed) -> PredictorState:
    """What a person did stands where a plan would. Doing it in person approves it for later."""
    plan = PlanProposed(acted.step, 1, "person", acted.action, "done by a person", source="person")
    before = len(state.mends) if state.mends_before < 0 else state.mends_before
    return msgspec.structs.replace(
        _proposed(state, plan),
        element=acted.element,
        approved=True,
        mends_before=before,
        hand_since=state.hand_since or acted.step,
    )


def _late(state: PredictorState) -> PredictorState:
    """Some pages say what they did a moment later: what a person's step led to is what the page
    says until they do the next."""
    started = state.started
    if started.driver != "person" or not state.steps or state.plan is not None:
        return state
    *others, last = state.steps
    said = notices(state.before.page, state.late.page, started.values)
    if not said:
        return state
    # What it says in the end is what it has to say: "Saving..." was on the way there.
    others_known = tuple(each for each in last.after.learned if not isinstance(each, AlertSaid))
    after = msgspec.structs.replace(last.after, learned=(*said, *others_known))
    return msgspec.structs.replace(
        state, steps=(*others, msgspec.structs.replace(last, after=after))
    )


def _is_of_plan(state: PredictorState, step: int) -> bool:
    """Whether this step is the plan's own, and not the look at its result."""
    return state.plan is None or state.plan.step == step


def _judged(state: PredictorState, verdict: Verdict, code: VerdictCode = "") -> PredictorState:
    """A confirmed step is learned and goes on; anything else breaks the chain (design 9). A look
    whether something is so is no action: it neither teaches nor breaks anything."""
    plan, started = state.plan, state.started
    change = msgspec.structs.replace
    state = change(state, reading_back=False)
    if plan is None:
        return change(state, learned=None)
    recording = started.purpose == "record"
    # A ref is good for one action: what an agent did is learned as the page names it.
    named_anew = recording or plan.healed or plan.driver in CALLERS or _finds(started)
    action = canonical(plan.action, state.element, started.values) if named_anew else plan.action
    confirmed = verdict == "confirmed"
    final = is_final(state, plan)
    kept = recording and is_kept(verdict, code, irreversible=final)
    kept = kept or (_finds(started) and _is_part(plan, verdict, code, final=final))
    looks = kind_of(plan.action) == "verification"
    of_workflow = confirmed and plan.driver == "workflow" and plan.index >= 0
    done_now = [(plan.index, plan.step)] if of_workflow else []
    state = arrived(state, plan) if confirmed else state
    index = index_after(state, plan, action) if confirmed else state.index
    if not looks:
        state = teach(state, plan, action, confirmed=confirmed)
    state = change(
        state,
        plan=None,
        learned=None if looks else state.learned,
        steps=(*state.steps, step_of(state, plan)) if kept else state.steps,
        numbers=(*state.numbers, plan.step) if kept else state.numbers,
        done_steps=(*state.done_steps, *done_now),
        notices=noticed(state, plan) if confirmed else state.notices,
        healed=healed(state, plan, action) if confirmed else state.healed,
        mends=mends(state, plan, index) if confirmed else state.mends,
    )
    return done(state, index) if confirmed else state


def _finds(started: SessionStarted) -> bool:
    """Whether this session looks for steps that are learned when they lead to its goal (B5)."""
    return started.purpose == "tools" and started.driver == "model" and bool(started.name)


def _is_part(plan: PlanProposed, verdict: Verdict, code: VerdictCode, *, final: bool) -> bool:
    """Whether a step of a session that looks for a way is part of it: also a navigation that led
    on to where the site wanted, and what was sent and showed nothing."""
    if plan.action.type in PASSING:
        return False
    led_on = plan.action.type == "navigate" and verdict == "wrong_target" and code in ELSEWHERE
    sent = verdict == "unknown" and is_kept(verdict, code, irreversible=final)
    return verdict == "confirmed" or led_on or sent
