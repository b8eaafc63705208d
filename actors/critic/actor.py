"""The Critic judges what an action really did, from the page before and after it.

Nothing is taken for done because a click went through. Where the page has not changed yet, it
asks for another look until the patience of the run is used up; time comes from the facts. Where a
result must show elsewhere it holds its verdict until somebody went there and looked.
"""

from collections.abc import Iterable
from typing import ClassVar

import msgspec

from rutter.actors.critic.completion import claim_checked, completion
from rutter.actors.critic.proof import SessionProof, found, proven, remember, to_look_for
from rutter.actors.critic.read_backs import (
    handed_over,
    only_settles,
    proof_of,
    released,
    trial_due,
    tried,
)
from rutter.actors.critic.recorded_person import entered_by, sent_by, varied
from rutter.actors.critic.state import (
    AssessedPage,
    CriticState,
    ReadBackAwaited,
    StepInquiry,
    assessment,
    case_of,
    judgement_of,
)
from rutter.actors.critic.verdict import (
    Judgement,
    VerdictCase,
    decisive,
    differs,
    is_read_back,
    judge,
)
from rutter.actors.critic.verdict_event import (
    account_of,
    asked_of_vision,
    can_be_seen,
    verdict_event,
    witnessed,
)
from rutter.actors.rules.pages.barrier import FILLED_MS, barrier_on, may_fill_ms
from rutter.actors.rules.pages.page_state import detect
from rutter.actors.rules.pages.server_exchanges import folded
from rutter.actors.rules.steps.check_results import bound_back, files_in, texts_in
from rutter.actors.rules.steps.pace import followed
from rutter.actors.rules.steps.service_script import SIGNED_IN
from rutter.events.advisor import VisionGiven
from rutter.events.checks import StateIs
from rutter.events.critic import (
    ActionJudged,
    CompletionChecked,
    FilesRequested,
    OutcomeUnknown,
    PageAssessed,
    ReadBackDue,
    StateDiffered,
    VisionSought,
)
from rutter.events.envelope import Actor, Envelope
from rutter.events.executor import (
    ActionDone,
    ActionFailed,
    PersonActed,
    StepMarked,
    TargetChanged,
    TargetResolved,
)
from rutter.events.logins import LoginUsed
from rutter.events.observer import DownloadFinished, FilesSeen, PageObserved
from rutter.events.page import Resting
from rutter.events.planner import ObservationRequested, PlanProposed, RunStopped
from rutter.events.predictor import WorkflowFinished
from rutter.events.runtime import RecordingFinished, SessionResumed, SessionStarted
from rutter.events.tools import CompletionClaimed
from rutter.events.validator import ActionStarted
from rutter.events.vocabulary import AnyEvent

MOST_SENT = 500  # exchanges of a session that are known at once


class Critic:
    name: ClassVar[Actor] = "critic"

    def initial(self) -> CriticState:
        return CriticState()

    def evolve(self, state: CriticState, envelope: Envelope) -> CriticState:
        change = msgspec.structs.replace
        match envelope.event:
            case SessionStarted() as started:
                return _opened(started)
            case PlanProposed() as plan:
                advised = state.advised or plan.driver == "model"
                return change(state, plan=plan, element=None, advised=advised)
            case TargetResolved(element=element, step=step):
                return change(state, element=element, proving=_found(state, step))
            case ActionStarted() as running:
                return _begun(state, running)
            case ActionDone() | ActionFailed() as outcome:
                return change(state, outcome=outcome, since_ns=envelope.at_ns)
            case PersonActed() as acted:
                return _by_hand(state, acted)
            case WorkflowFinished():
                return change(state, finishing=True, since_ns=envelope.at_ns)
            case ActionJudged() as judged:
                return _over(_after_verdict(state, judged), judged)
            case OutcomeUnknown() | TargetChanged():
                # Over; or changed under it, and so nothing was done.
                return _over(state, envelope.event)
            case CompletionClaimed() as claim:
                return change(state, claim=claim, since_ns=envelope.at_ns)
            case CompletionChecked():
                return change(state, claim=None)
            case _ as event:
                return _noted(_timed(state, envelope), event)

    def decide(self, state: CriticState, envelope: Envelope) -> Iterable[AnyEvent]:
        now_ns = envelope.at_ns
        match envelope.event:
            case PageObserved() if not state.stopped:
                yield from _looked(state, now_ns)
            case FilesSeen() | VisionGiven() if not state.stopped:
                yield from _assessed(state, now_ns)
            case CompletionClaimed():
                yield ObservationRequested("end_awaited", 0)
            case PlanProposed() if state.running is not None and state.outcome is not None:
                # The page could not be read after it, and the caller of tools went on.
                why = "another step was proposed before its outcome was judged"
                yield OutcomeUnknown(state.running.step, state.running.attempt, why)
            case WorkflowFinished():
                yield completion(state, now_ns)
            case RecordingFinished() as finished:
                yield from handed_over(state, finished)
            case RunStopped(reason=reason):
                # Stopped, or its browser or process died, before its outcome was seen.
                held = state.held
                open_step = held.running if held is not None else state.running
                looks = only_settles(state) or (held is not None and held.by_hand)
                if open_step is not None and not looks:
                    why = f"{reason} before its outcome was judged"
                    yield OutcomeUnknown(open_step.step, open_step.attempt, why)
            case _:
                return


# -- what is known -------------------------------------------------------------------------------


def _opened(started: SessionStarted) -> CriticState:
    return CriticState(
        settings=started.settings,
        values=started.values,
        end=started.workflow.end if started.workflow else None,
        careful=started.purpose == "record" and started.driver == "script",
        watches=started.driver == "person",
    )


def _found(state: CriticState, step: int) -> SessionProof:
    plan = state.plan
    if plan is None or plan.step != step:
        return state.proving
    return found(state.proving, plan.action, step)


def _after_verdict(state: CriticState, judged: ActionJudged) -> CriticState:
    """What a confirmed step leaves to be proven, or has proven."""
    change, running = msgspec.structs.replace, state.running
    if judged.proof is not None:
        return change(state, proving=proven(state.proving, judged.proof))
    if judged.verdict != "confirmed" or running is None or running.step != judged.step:
        return state
    if not isinstance(state.outcome, ActionDone):
        return state
    action = running.action
    typed = state.outcome.typed
    proving = remember(state.proving, action, typed, state.element, state.values)
    expects = state.plan.expects if state.plan is not None else None
    learned = expects.learned if expects is not None and not running.irreversible else ()
    owed = (*state.owed, *((judged.step, kinds) for kinds in followed(learned)))
    return change(state, proving=proving, owed=owed)


def _begun(state: CriticState, running: ActionStarted) -> CriticState:
    return msgspec.structs.replace(
        state,
        running=running,
        outcome=None,
        before=state.sight,
        inquiry=StepInquiry(),
        empty_since_ns=0,
    )


def _by_hand(state: CriticState, acted: PersonActed) -> CriticState:
    return msgspec.structs.replace(
        state,
        acted=acted,
        before=state.sight,
        proving=entered_by(state.proving, acted, state.values),
        hand=msgspec.structs.replace(state.hand, acted=acted),
    )


def _varied(state: CriticState, marked: StepMarked) -> CriticState:
    """What was typed has a name from now on: where it shows, a run shows what is typed then."""
    proving, hand = varied(state.proving, state.hand, marked.value, marked.name)
    values = {**state.values, marked.name: marked.value}
    return msgspec.structs.replace(state, values=values, proving=proving, hand=hand)


def _timed(state: CriticState, envelope: Envelope) -> CriticState:
    """A pause is no time that the end had to show. What looks empty has its own."""
    change = msgspec.structs.replace
    match envelope.event:
        case SessionResumed() if state.finishing or state.claim is not None:
            return change(state, since_ns=envelope.at_ns)
        case ObservationRequested(why="filling_awaited"):
            return change(state, empty_since_ns=state.empty_since_ns or envelope.at_ns)
        case _:
            return state


def _over(state: CriticState, event: ActionJudged | OutcomeUnknown | TargetChanged) -> CriticState:
    change = msgspec.structs.replace
    if state.held is not None and event.step == state.held.running.step:
        return change(state, held=None, acted=None)
    return change(state, running=None, outcome=None, acted=None)


def _noted(state: CriticState, event: AnyEvent) -> CriticState:
    """What was seen, and what was asked for that is not there yet."""
    change = msgspec.structs.replace
    match event:
        case PageObserved() as observed:
            return _seen(state, observed)
        case ReadBackDue() if state.running is None and (sending := state.hand.sending):
            done = ActionStarted(sending.acted.step, 1, sending.acted.action)
            shown = Judgement("confirmed", "page_changed")
            return change(
                state, held=ReadBackAwaited(done, shown, None, sending.sought, by_hand=True)
            )
        case ReadBackDue():
            judgement = judgement_of(state)
            assert judgement is not None
            assert state.running is not None
            case_now = case_of(state)
            proof = proof_of(state, case_now, judgement) if case_now is not None else None
            sought = to_look_for(state.proving) if event.trial else ()
            held = ReadBackAwaited(state.running, judgement, proof, sought)
            return change(state, held=held, running=None, outcome=None)
        case ObservationRequested(why="rest_awaited") if state.finishing:
            return change(state, rested=True)
        case StepMarked(mark="varies") as marked:
            return _varied(state, marked)
        case RunStopped():
            return change(state, stopped=True)
        case LoginUsed(origin=origin):
            return change(state, logins=(*state.logins, origin))
        case _:
            return change(state, inquiry=_inquired(state, event))


def _seen(state: CriticState, observed: PageObserved) -> CriticState:
    page, phrases, status, made = observed.page, observed.phrases, observed.status, observed.made
    found, barrier = detect(page, phrases, state.settings.service), barrier_on(page, status, made)
    if found == "LOGIN_REQUIRED" and barrier is not None and barrier.keeps_out:
        found = "UNKNOWN"  # it asks whether somebody is a person, not who
    sight = AssessedPage(
        page=page,
        phrases=phrases,
        state=found,
        pending=observed.pending,
        sent=observed.sent,
        status=status,
        unread=observed.unread,
        barrier=barrier,
        filled_ms=may_fill_ms(page, made, barrier),
    )
    asked = state.inquiry.asked if observed.why == "requested" else ()
    shown = {each.text: each.around for each in observed.shown}
    step = state.running.step if state.running is not None else 0
    own = [each for each in observed.exchanges if each.step in (0, step)]
    exchanges = folded(state.inquiry.exchanges, own)
    kept = tuple(each.text for each in observed.shown if each.kept)
    inquiry = msgspec.structs.replace(
        state.inquiry, asked=asked, shown=shown, kept=kept, exchanges=exchanges
    )
    sent = folded(state.sent, observed.exchanges, MOST_SENT)
    # What a page sends while a person acts has the number of no step of theirs.
    hand = sent_by(state.hand, state.proving, page.url, observed.exchanges)
    hand = state.hand if state.held is not None else hand
    since_ns = state.empty_since_ns if sight.filled_ms else 0
    return msgspec.structs.replace(
        state, sight=sight, inquiry=inquiry, sent=sent, hand=hand, empty_since_ns=since_ns
    )


def _inquired(state: CriticState, event: AnyEvent) -> StepInquiry:
    """Answers are for the step that was asked about: one that comes late is none of the next."""
    change, inquiry = msgspec.structs.replace, state.inquiry
    step = state.running.step if state.running is not None else 0
    match event:
        case ObservationRequested(texts=texts, why=why):
            return change(inquiry, asked=texts, rested=inquiry.rested or why == "rest_awaited")
        case FilesRequested(checks=checks):
            return change(inquiry, looking=checks)
        case FilesSeen(files=files) if event.step == step:
            return change(inquiry, files=dict(zip(inquiry.looking, files, strict=False)))
        case DownloadFinished(name=name, artifact=artifact) if artifact is not None:
            own = event.step in (0, step)
            return change(inquiry, downloads=(*inquiry.downloads, name.text)) if own else inquiry
        case VisionSought():
            return change(inquiry, fixed=judgement_of(state))
        case VisionGiven() as given if given.step == step and inquiry.fixed is not None:
            return change(inquiry, vision=given)
        case _:
            return inquiry


# -- what is said --------------------------------------------------------------------------------


def _looked(state: CriticState, now_ns: int) -> Iterable[AnyEvent]:
    """The page was seen: whatever waited for that is judged now."""
    if state.finishing:
        yield completion(state, now_ns)
    elif state.acted is not None:
        yield witnessed(state.acted, state.before.page, state.page)
        yield assessment(state)
    elif state.running is not None and state.outcome is not None:
        yield from _assessed(state, now_ns)
    elif state.claim is None:
        yield _assessment(state, now_ns)
    if state.claim is not None:
        yield from claim_checked(state, state.claim, now_ns)


def _assessed(state: CriticState, now_ns: int) -> Iterable[AnyEvent]:
    case = case_of(state)
    if case is None:
        return
    inquiry = state.inquiry
    if inquiry.fixed is not None:
        # A picture is being looked at: whatever the page does meanwhile, the verdict stands.
        if inquiry.vision is not None:
            yield from _decided(state, case, inquiry.fixed, now_ns)
        return
    checks = decisive(case.running, case.expects, case.seen.state, case.seen.state_before)
    texts, files = texts_in(checks), files_in(checks)
    if state.careful and not inquiry.rested and isinstance(case.outcome, ActionDone):
        # What the page says late is what the step is known by later.
        rest = Resting(state.settings.answer_ms)
        yield ObservationRequested("rest_awaited", rest.within_ms, texts=texts, rest=rest)
        return
    if not set(texts) <= set(inquiry.asked):
        yield ObservationRequested("effect_awaited", 0, texts=texts)
        return
    if files and inquiry.looking != files:
        yield FilesRequested(case.running.step, files, 0)
        return
    judgement = judge(case)
    left_ms = judgement.may_still_come_ms - state.waited_ms(now_ns)
    if left_ms > 0 and (judgement.verdict != "confirmed" or judgement.code == SIGNED_IN):
        failing = judgement.failing
        if failing is not None and failing.source == "FILE":
            yield FilesRequested(case.running.step, files, left_ms)
        else:
            yield ObservationRequested("effect_awaited", left_ms, texts=texts)
        return
    yield from _decided(state, case, judgement, now_ns)


def _decided(
    state: CriticState, case: VerdictCase, judgement: Judgement, now_ns: int
) -> Iterable[AnyEvent]:
    """The verdict stands; who else is heard only describes it, unless its result is elsewhere."""
    running = case.running
    confirmed = judgement.verdict == "confirmed"
    if state.inquiry.vision is None and state.settings.vision and can_be_seen(judgement):
        yield VisionSought(running.step, running.attempt, asked_of_vision(judgement))
        return
    back = case.expects.read_back if case.expects is not None else None
    if confirmed and back is not None and state.held is None:
        yield ReadBackDue(
            running.step, running.attempt, bound_back(back, state.values, state.page.url)
        )
        return
    if confirmed and back is None and (trial := trial_due(state, case)) is not None:
        yield trial
        return
    vision = state.inquiry.vision
    proof = proof_of(state, case, judgement)
    yield verdict_event(running, judgement, account_of(judgement, vision), vision, proof)
    if is_read_back(running) and (state.held is not None or only_settles(state)):
        if state.held is not None and state.held.sought:
            yield from tried(state.held, case, state.inquiry.kept)
        elif state.held is not None:
            yield from released(state.held, judgement, vision)
        yield ObservationRequested("aside_over", 0)
        return
    yield from _differed(case, judgement)
    if judgement.verdict == "unknown":
        why = f"{judgement.reason} after it was dispatched, and the page does not show it"
        yield OutcomeUnknown(running.step, running.attempt, why)
    yield _assessment(state, now_ns)


def _assessment(state: CriticState, now_ns: int) -> PageAssessed | ObservationRequested:
    """A page that its scripts are still to fill is looked at again when it changes: for so long in
    all, whatever documents take its place meanwhile."""
    waited_ms = (now_ns - (state.empty_since_ns or now_ns)) // 1_000_000
    left_ms = min(state.sight.filled_ms, FILLED_MS - waited_ms)
    if left_ms > 0 and not state.watches and not state.stopped:
        return ObservationRequested("filling_awaited", left_ms)
    return assessment(state)


def _differed(case: VerdictCase, judgement: Judgement) -> Iterable[AnyEvent]:
    """Where the page is not what it was: what self-correction starts from, whatever the verdict."""
    running, actual = case.running, case.seen.state
    failing = judgement.failing
    if failing is not None and isinstance(failing.check, StateIs):
        yield StateDiffered(running.step, running.attempt, failing.check.value, actual)
    elif case.expects is not None and case.expects.state and differs(case) is not None:
        yield StateDiffered(running.step, running.attempt, case.expects.state, actual)
