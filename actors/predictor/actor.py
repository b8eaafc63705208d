"""The Predictor as a decider: the next step of a workflow, or the model's most probable actions.

Inside a named workflow the next step is known and has no probability (`StepDue`); outside one it
predicts. It also learns: a confirmed action becomes a `TransitionLearned`, a recording becomes a
new version of its workflow.
"""

from collections.abc import Iterable
from typing import ClassVar

import msgspec

from actors.place import is_at, place_of
from actors.predictor.knowledge import Knowledge
from actors.predictor.recording import (
    Performed,
    assemble,
    canonical,
    healed_step,
    healed_workflow,
    recorded_step,
    told,
)
from events.action import Action
from events.critic import ActionJudged, PageAssessed
from events.envelope import Actor, Envelope
from events.executor import ActionDone, PersonActed, TargetChanged, TargetResolved
from events.observer import PageObserved
from events.page import Page, Resolved
from events.planner import PlanProposed, PlanWithheld, RunStopped
from events.predictor import (
    Candidate,
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
from events.workflow import Step

HISTORY = 2  # markov2 looks back no further


class PredictorState(msgspec.Struct, frozen=True):
    """One session as the Predictor follows it."""

    started: SessionStarted | None = None
    session: str = ""
    page: Page = Page(url="about:blank")
    before: Page = Page(url="about:blank")
    plan: PlanProposed | None = None
    element: Resolved | None = None
    approved: bool = False
    index: int = 0
    history: tuple[str, ...] = ()
    learned: TransitionLearned | None = None
    steps: tuple[Step, ...] = ()
    healed: tuple[tuple[int, Step], ...] = ()
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
                return PredictorState(started=started, session=envelope.session)
            case PageObserved(page=page):
                self.knowledge.open_turn(envelope.seq)
                return change(state, page=page)
            case PlanProposed() as plan:
                return change(state, plan=plan, before=state.page, element=None, approved=False)
            case PersonActed() as acted:
                return _acted(state, acted)
            case TargetResolved(element=element) | TargetChanged(element=element):
                return change(state, element=element)
            case ActionApproved(approval=approval):
                # Only what a person was asked about and approved is approved for later runs.
                return change(state, approved=bool(approval))
            case ActionDone(typed=typed):
                return change(state, plan=told(state.plan, typed))
            case ActionJudged() as judged:
                return _judged(state, judged)
            case PlanWithheld(index=index) if index >= 0:
                return change(state, index=index + 1)
            case RunStopped():
                return change(state, stopped=True)
            case _:
                self.knowledge.take_in(envelope)
                return state

    def decide(self, state: PredictorState, envelope: Envelope) -> Iterable[AnyEvent]:
        match envelope.event:
            case ActionJudged() if state.learned is not None:
                yield state.learned
            case PageAssessed() if not state.stopped:
                yield self._next(state)
            case PlanWithheld(index=index) if index >= 0 and not state.stopped:
                yield self._next(state)
            case RunStopped() as stopped:
                yield from self._recorded(state, stopped)
                yield from self._mended(state, stopped)
            case _:
                return

    def _next(self, state: PredictorState) -> AnyEvent:
        workflow = state.started.workflow if state.started else None
        if workflow is None:
            return self._predicted(state)
        if state.index >= len(workflow.steps):
            return WorkflowFinished(steps=len(workflow.steps))
        step = workflow.steps[state.index]
        return StepDue(
            index=state.index, of=len(workflow.steps), step=step, unmet=_unmet(step, state.page)
        )

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
        if started is None or started.purpose != "record" or not state.steps:
            return
        complete = stopped.reason == "completed"
        workflow = assemble(
            started.name,
            self.knowledge.next_version(started.name),
            state.steps,
            state.page,
            started.values,
            complete=complete,
            session=state.session,
        )
        yield WorkflowLearned(workflow=workflow, stopped_at="" if complete else stopped.detail)

    def _mended(self, state: PredictorState, stopped: RunStopped) -> Iterable[AnyEvent]:
        """What was healed is learned when the run's end was verified, unless the workflow was
        recorded anew or deleted meanwhile."""
        workflow = state.started.workflow if state.started else None
        if workflow is None or not state.healed or stopped.reason != "completed":
            return
        if not self.knowledge.is_newest(workflow.name, workflow.version):
            return
        version = self.knowledge.next_version(workflow.name)
        mended = healed_workflow(workflow, dict(state.healed), version, state.session)
        yield WorkflowLearned(workflow=mended)


def _acted(state: PredictorState, acted: PersonActed) -> PredictorState:
    """What a person did stands where a plan would. Doing it in person approves it for later."""
    plan = PlanProposed(acted.step, 1, "person", acted.action, "done by a person")
    return msgspec.structs.replace(
        state, plan=plan, before=state.page, element=acted.element, approved=True
    )


def _judged(state: PredictorState, judged: ActionJudged) -> PredictorState:
    """A confirmed step is learned and goes on; anything else breaks the chain (design 9)."""
    plan, started = state.plan, state.started
    change = msgspec.structs.replace
    if plan is None or started is None:
        return change(state, learned=None)
    recording = started.purpose == "record"
    # A ref is good for one action: what an agent did is learned as the page names it.
    named_anew = recording or plan.healed or plan.driver == "agent"
    action = canonical(plan.action, state.element, started.values) if named_anew else plan.action
    confirmed = judged.verdict == "confirmed"
    kept = recording and judged.verdict in ("confirmed", "no_effect")
    # A model must not teach itself: what it predicted freely says nothing new (design 9).
    teaches = confirmed and plan.driver != "prediction"
    return change(
        state,
        plan=None,
        learned=_transition(state, action, plan) if teaches else None,
        history=(*state.history, token(action))[-HISTORY:] if confirmed else (),
        index=state.index + 1 if confirmed else state.index,
        steps=(*state.steps, _step(state, plan.action)) if kept else state.steps,
        healed=_healed(state, plan, action) if confirmed else state.healed,
    )


def _healed(
    state: PredictorState, plan: PlanProposed, action: Action
) -> tuple[tuple[int, Step], ...]:
    workflow = state.started.workflow if state.started else None
    if workflow is None or not plan.healed:
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


def _step(state: PredictorState, action: Action) -> Step:
    performed = Performed(
        action=action,
        element=state.element,
        before=state.before,
        after=state.page,
        approved=state.approved,
    )
    return recorded_step(performed, state.started.values if state.started else {})


def _unmet(step: Step, page: Page) -> str:
    """What of the recorded situation is missing now. A navigation needs no situation."""
    wanted = step.action.tab
    if wanted is not None and wanted != page.tab:
        return f"recorded in tab {wanted + 1}, in front is tab {page.tab + 1} of {page.tabs}"
    if step.action.type == "navigate" or is_at(step.before, page.url):
        return ""
    here = place_of(page.url)
    return f"recorded at {step.before.origin}{step.before.path}, now at {here.origin}{here.path}"
