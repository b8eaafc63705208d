"""The Predictor as a decider: the next step of a workflow, or the model's most probable actions.

Inside a named workflow the next step is known and has no probability (`StepDue`); outside one it
predicts. It also learns: a confirmed action becomes a `TransitionLearned`, a recording becomes a
new version of its workflow.
"""

from collections.abc import Iterable
from typing import ClassVar

import msgspec

from actors.effects import NAMELESS, Look, notices, notices_of_run
from actors.place import is_at, place_of
from actors.policy import CALLERS, Case, is_irreversible
from actors.predictor.knowledge import Knowledge
from actors.predictor.recording import (
    Mend,
    Performed,
    assemble,
    canonical,
    healed_step,
    healed_workflow,
    mended_workflow,
    named_value,
    recorded_step,
    told,
)
from actors.repeating import is_kept
from actors.states import detect
from actors.ways import ELSEWHERE, is_of_way, strayed
from events.action import Action, kind_of
from events.checks import PageState, Said
from events.critic import ActionJudged, PageAssessed, Verdict
from events.envelope import Actor, Envelope
from events.executor import (
    ActionDone,
    PersonActed,
    QueryAnswered,
    QueryFailed,
    TargetChanged,
    TargetResolved,
)
from events.observer import DownloadFinished, PageObserved
from events.page import Page, Resolved
from events.planner import PlanProposed, PlanWithheld, RunStopped, StepSettled
from events.predictor import (
    Candidate,
    EffectsLearned,
    Notices,
    PredictionMade,
    StepDue,
    TransitionLearned,
    WorkflowFinished,
    WorkflowLearned,
)
from events.runtime import SessionStarted
from events.signature import signature, token
from events.validator import ActionApproved
from events.vocabulary import AnyEvent
from events.workflow import Step, Workflow

HISTORY = 2  # markov2 looks back no further
# What a model does on the way and no later run needs to: elements are scrolled to by themselves.
PASSING = frozenset({"scroll", "wait", "wait_for", "extract"})
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
    learned: TransitionLearned | None = None
    steps: tuple[Step, ...] = ()
    notices: tuple[Notices, ...] = ()
    healed: tuple[tuple[int, Step], ...] = ()
    mends: tuple[Mend, ...] = ()
    stopped: bool = False


class Predictor:
    name: ClassVar[Actor] = "predictor"

    def __init__(self, knowledge: Knowledge | None = None) -> None:
        self.knowledge = knowledge or Knowledge()

    def initial(self) -> PredictorState:
        return PredictorState()

    def evolve(self, state: PredictorState, envelope: Envelope) -> PredictorState:
        change = msgspec.structs.replace
        match envelope.event:
            case SessionStarted() as started:
                return self._opened(started, envelope.session)
            case PageObserved() as observed:
                self.knowledge.open_turn(envelope.seq)
                return _looked(state, observed)
            case PlanProposed(read_back_of=of) if of:
                return change(state, reading_back=True)
            case PlanProposed(settles=settles) if settles >= 0:
                return change(state, reading_back=True, plan=None)
            case StepSettled(done=True, index=index):
                return change(state, index=index + 1, learned=None)
            case PlanProposed() as plan:
                return _proposed(state, plan)
            case PersonActed() as acted:
                return _acted(_late(state), acted)
            case PlanWithheld(index=index) if index >= 0:
                return change(state, index=index + 1, learned=None)
            case PageAssessed():
                return _rejoined(state)
            case RunStopped():
                return change(_late(state), stopped=True)
            case _ as event:
                self.knowledge.take_in(envelope)
                return _of_step(state, event)

    def decide(self, state: PredictorState, envelope: Envelope) -> Iterable[AnyEvent]:
        match envelope.event:
            case ActionJudged() | QueryAnswered() if state.learned is not None:
                yield state.learned
            case PageAssessed() if not state.stopped:
                yield self._next(state)
            case PlanWithheld(index=index) if index >= 0 and not state.stopped:
                yield self._next(state)
            case RunStopped() as stopped:
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
        unmet = _unmet(step, state.look)
        asked = state.look.state == "LOGIN_REQUIRED" != step.state
        return StepDue(state.index, len(workflow.steps), step, unmet, asked)

    def _predicted(self, state: PredictorState) -> PredictionMade:
        knowledge = self.knowledge
        settings = state.started.settings if state.started else None
        order = settings.order if settings else HISTORY
        found = knowledge.model.predict(state.history[-order:] if order else ())
        candidates: tuple[Candidate, ...] = ()
        if found is not None:
            source, ranked = found
            top = ranked[: settings.top_k if settings else 1]
            candidates = tuple(
                Candidate(name, knowledge.actions[name], millionths, source)
                for name, millionths in top
            )
        return PredictionMade(model="markov2", position=knowledge.position, candidates=candidates)

    def _recorded(self, state: PredictorState, stopped: RunStopped) -> Iterable[AnyEvent]:
        started = state.started
        if started is None or not state.steps:
            return
        complete = stopped.reason == "completed"
        # A way that a model found is one once its end was verified (D5); a recording, as it is.
        if not (started.purpose == "record" or (_finds(started) and complete)):
            return
        workflow = assemble(
            started.name,
            self.knowledge.next_version(started.name),
            state.steps,
            state.look.page,
            started.values,
            complete=complete,
            session=state.session,
            service=started.settings.service,
            goal=started.goal,
            criteria=started.settings.criteria if _finds(started) else None,
        )
        yield WorkflowLearned(workflow=workflow, stopped_at="" if complete else stopped.detail)

    def _shown(self, state: PredictorState, stopped: RunStopped) -> Iterable[AnyEvent]:
        """What a run whose end was verified led the page to say."""
        workflow = state.workflow
        if workflow is None or stopped.reason != "completed":
            return
        yield EffectsLearned(workflow.name, workflow.version, state.notices)

    def _mended(self, state: PredictorState, stopped: RunStopped) -> Iterable[AnyEvent]:
        """What was healed is learned when the run's end was verified, unless the workflow was
        recorded anew or deleted meanwhile."""
        workflow = state.started.workflow if state.started else None
        helped = any(mend.helped for mend in state.mends)
        if workflow is None or not (state.healed or helped) or stopped.reason != "completed":
            return
        if not self.knowledge.is_newest(workflow.name, workflow.version):
            return
        version = self.knowledge.next_version(workflow.name)
        mended = healed_workflow(workflow, dict(state.healed), version, state.session)
        if helped:
            values = state.started.values if state.started else {}
            mended = mended_workflow(mended, state.mends, state.look.page, values)
        yield WorkflowLearned(workflow=mended)


def _of_step(state: PredictorState, event: AnyEvent) -> PredictorState:
    """What is learned about the step under way."""
    change = msgspec.structs.replace
    match event:
        case TargetResolved(element=element) | TargetChanged(element=element):
            return change(state, element=element)
        case ActionApproved(approval=approval) if not state.reading_back:
            # Only what a person was asked about and approved is approved for later runs.
            return change(state, approved=bool(approval))
        case ActionDone(typed=typed):
            return change(state, plan=told(state.plan, typed))
        case DownloadFinished(name=name, artifact=artifact, step=step) if artifact is not None:
            own = step == 0 or (state.plan is not None and state.plan.step == step)
            return change(state, downloads=(*state.downloads, name.text)) if own else state
        case ActionJudged(step=step, verdict=verdict, reason=said) as judged if _is_of_plan(
            state, step
        ):
            if state.plan is not None and strayed(state.started, state.plan, judged):
                return _strayed(state, state.plan)
            return _judged(state, verdict, said)
        case QueryAnswered(step=step) if _is_of_plan(state, step):
            return _judged(state, "confirmed")
        case QueryFailed():
            return change(state, plan=None, learned=None, history=())
        case _:
            return state


def _looked(state: PredictorState, observed: PageObserved) -> PredictorState:
    """The page as it is now; one that was opened aside is not where the run is."""
    if state.reading_back:
        return state
    service = state.started.settings.service if state.started else None
    now = Look(observed.page, detect(observed.page, observed.phrases, service))
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
    )


def _acted(state: PredictorState, acted: PersonActed) -> PredictorState:
    """What a person did stands where a plan would. Doing it in person approves it for later."""
    plan = PlanProposed(acted.step, 1, "person", acted.action, "done by a person")
    return msgspec.structs.replace(_proposed(state, plan), element=acted.element, approved=True)


def _late(state: PredictorState) -> PredictorState:
    """Some pages say what they did a moment later: what a person's step led to is what the page
    says until they do the next."""
    started = state.started
    if started is None or started.driver != "person" or not state.steps or state.plan is not None:
        return state
    *others, last = state.steps
    said = notices(state.before.page, state.late.page, started.values)
    if not said:
        return state
    # What it says in the end is what it has to say: "Saving..." was on the way there.
    others_known = tuple(each for each in last.after.learned if not isinstance(each, Said))
    after = msgspec.structs.replace(last.after, learned=(*said, *others_known))
    return msgspec.structs.replace(
        state, steps=(*others, msgspec.structs.replace(last, after=after))
    )


def _is_of_plan(state: PredictorState, step: int) -> bool:
    """Whether this step is the plan's own, and not the look at its result."""
    return state.plan is None or state.plan.step == step


def _judged(state: PredictorState, verdict: Verdict, reason: str = "") -> PredictorState:
    """A confirmed step is learned and goes on; anything else breaks the chain (design 9). A look
    whether something is so is no action: it neither teaches nor breaks anything."""
    plan, started = state.plan, state.started
    change = msgspec.structs.replace
    state = change(state, reading_back=False)
    if plan is None or started is None:
        return change(state, learned=None)
    recording = started.purpose == "record"
    # A ref is good for one action: what an agent did is learned as the page names it.
    named_anew = recording or plan.healed or plan.driver in CALLERS or _finds(started)
    action = canonical(plan.action, state.element, started.values) if named_anew else plan.action
    confirmed = verdict == "confirmed"
    final = _is_irreversible(state, plan)
    kept = recording and is_kept(verdict, reason, irreversible=final)
    kept = kept or (_finds(started) and _is_part(plan, verdict, reason, final=final))
    looks = kind_of(plan.action) == "verification"
    # A model must not teach itself: what it predicted freely says nothing new (design 9).
    teaches = confirmed and plan.driver != "prediction" and not looks
    history = (*state.history, token(action))[-HISTORY:] if confirmed else ()
    index = _index_after(state, plan, action) if confirmed else state.index
    return change(
        state,
        plan=None,
        learned=_transition(state, action, plan) if teaches else None,
        history=state.history if looks else history,
        index=index,
        steps=(*state.steps, _step(state, plan)) if kept else state.steps,
        notices=_noticed(state, plan) if confirmed else state.notices,
        healed=_healed(state, plan, action) if confirmed else state.healed,
        mends=_mends(state, plan, index) if confirmed else state.mends,
    )


def _finds(started: SessionStarted) -> bool:
    """Whether this session looks for a way that is learned when it leads to its goal (B5)."""
    return started.purpose == "tools" and started.driver == "model" and bool(started.name)


def _is_part(plan: PlanProposed, verdict: Verdict, reason: str, *, final: bool) -> bool:
    """Whether a step of a session that looks for a way is part of it: also a navigation that led
    on to where the site wanted, and what was sent and showed nothing."""
    if plan.action.type in PASSING:
        return False
    led_on = plan.action.type == "navigate" and verdict == "wrong_target" and reason in ELSEWHERE
    sent = verdict == "unknown" and is_kept(verdict, reason, irreversible=final)
    return verdict == "confirmed" or led_on or sent


def _index_after(state: PredictorState, plan: PlanProposed, action: Action) -> int:
    """The step that is due after a confirmed one. What only led to a step leaves it due, unless it
    was a later step of the workflow itself: then that is where the run is."""
    workflow = state.workflow
    if workflow is None or not _is_help(plan) or plan.index >= 0:
        return state.index + 1
    done = token(action)
    for index in range(state.index, len(workflow.steps)):
        if token(workflow.steps[index].action) == done:
            return index + 1 if _may_pass_over(state, index) else state.index
    return state.index


def _may_pass_over(state: PredictorState, to: int) -> bool:
    """Whether the steps up to there may be left out. What cannot be undone is what a run is for:
    without it only signs of the service can say that the end was reached (D5)."""
    workflow, started = state.workflow, state.started
    assert workflow is not None
    assert started is not None
    criteria = started.settings.criteria
    told = criteria is not None and bool(criteria.success)
    return told or not any(_matters(step) for step in workflow.steps[state.index : to])


def _matters(step: Step) -> bool:
    stated = step.after.checks or step.after.read_back is not None or step.action.verify
    return step.irreversible or bool(stated)


def _is_help(plan: PlanProposed) -> bool:
    """Whether a step in a run of a workflow is no step of it: a model's, or the service's own."""
    return plan.driver == "model" or is_of_way(plan)


def _mends(state: PredictorState, plan: PlanProposed, index: int) -> tuple[Mend, ...]:
    """What helped in a run of a workflow, as a step of its next version."""
    if state.workflow is None or not _is_help(plan) or plan.action.type in PASSING:
        return state.mends
    step = _step(state, plan)
    if index == state.index and plan.driver == "model":  # it may not be needed every time
        step = msgspec.structs.replace(step, optional=True)
    if plan.index >= 0 and state.workflow.steps[plan.index].irreversible:
        step = msgspec.structs.replace(step, irreversible=True)
    return (*state.mends, Mend(state.index, step, index, helped=True))


def _strayed(state: PredictorState, plan: PlanProposed) -> PredictorState:
    """A navigation that led elsewhere: it was done, and from there help is needed."""
    mend = Mend(state.index, _step(state, plan), state.index + 1)
    return msgspec.structs.replace(
        state,
        plan=None,
        learned=None,
        history=(),
        index=state.index + 1,
        mends=(*state.mends, mend),
        reading_back=False,
    )


def _rejoined(state: PredictorState) -> PredictorState:
    """A run that left its way is back on it where a page is what it was at a later step, or at the
    end: states are the landmarks. What lies between was not needed this time."""
    workflow, now = state.workflow, state.look.state
    if workflow is None or not state.mends or now in NAMELESS or state.index >= len(workflow.steps):
        return state
    due = workflow.steps[state.index :]
    if due[0].state == now:
        return state
    ahead = next((place for place, step in enumerate(due) if step.state == now), None)
    if ahead is None and due[-1].after.state == now:
        ahead = len(due)
    if ahead is None:
        return state
    to = state.index + ahead
    if not _may_pass_over(state, to):
        return state
    mends = (*state.mends, Mend(state.index, None, to))
    return msgspec.structs.replace(state, index=to, mends=mends)


def _noticed(state: PredictorState, plan: PlanProposed) -> tuple[Notices, ...]:
    workflow = state.workflow
    if workflow is None or not 0 <= plan.index < len(workflow.steps) or state.started is None:
        return state.notices
    expected = workflow.steps[plan.index].after.learned
    values = state.started.values
    said = notices_of_run(expected, state.before.page, state.look.page, values)
    return (*state.notices, Notices(plan.index, said)) if said else state.notices


def _healed(
    state: PredictorState, plan: PlanProposed, action: Action
) -> tuple[tuple[int, Step], ...]:
    workflow = state.started.workflow if state.started else None
    if workflow is None or not plan.healed or plan.driver == "model":
        return state.healed
    recorded = workflow.steps[plan.index]
    step = healed_step(recorded, action, state.element, approved=state.approved)
    return (*state.healed, (plan.index, step))


def _transition(state: PredictorState, action: Action, plan: PlanProposed) -> TransitionLearned:
    return TransitionLearned(
        token=token(action),
        signature=signature(action),
        action=action,
        after=state.history,
        driver=plan.driver,
    )


def _step(state: PredictorState, plan: PlanProposed) -> Step:
    values = state.started.values if state.started else {}
    performed = Performed(
        action=named_value(plan.action, values) if plan.driver == "model" else plan.action,
        element=state.element,
        before=state.before,
        after=state.look,
        approved=state.approved,
        downloads=state.downloads,
        stated=plan.expects,
        irreversible=_is_irreversible(state, plan),
    )
    return recorded_step(performed, values)


def _is_irreversible(state: PredictorState, plan: PlanProposed) -> bool:
    if state.started is None or kind_of(plan.action) != "action":
        return False
    case = Case(
        state.started.policy, plan.action, "person", state.element, state=state.before.state
    )
    return is_irreversible(case)


def _unmet(step: Step, look: Look) -> str:
    """What of the recorded situation is missing now. A navigation needs no situation, nor does a
    look that was put in by hand."""
    page = look.page
    wanted = step.action.tab
    if wanted is not None and wanted != page.tab:
        return f"recorded in tab {wanted + 1}, in front is tab {page.tab + 1} of {page.tabs}"
    put_in = step.action.type == "check" and not step.before.origin
    if step.action.type == "navigate" or put_in:
        return ""
    if not is_at(step.before, page.url):
        here = place_of(page.url)
        recorded = f"{step.before.origin}{step.before.path}"
        return f"recorded at {recorded}, now at {here.origin}{here.path}"
    if _is_in_another(step.state, look.state):
        return f"recorded on a page that is {step.state}, this one is {look.state}"
    return ""


def _is_in_another(recorded: PageState | None, now: PageState) -> bool:
    """A site may show a sign-in page under any address. Other states are told after the step: a
    notice about something else makes many a page look like another."""
    return now == "LOGIN_REQUIRED" and recorded not in (None, now)
