"""The Critic: what an action really did, judged from the page before and after it.

Nothing is taken for done because a click went through. Where the page has not changed yet, it
asks for another look until the patience of the run is used up; time comes from the facts. Where a
result must show elsewhere it holds its verdict until somebody went there and looked.
"""

from collections.abc import Iterable, Mapping
from typing import ClassVar

import msgspec

from rutter.actors.critic.evidence import confidence, evidence_of, vision_evidence
from rutter.actors.critic.proof import (
    EnteredValue,
    SessionProof,
    found,
    grade_of,
    is_passing,
    proven,
    remember,
    sends,
    shown_there,
    to_look_for,
    trial_of,
    unanswered,
)
from rutter.actors.critic.recorded_person import PersonsWork, entered_by, sent_by
from rutter.actors.critic.verdict import (
    Judgement,
    VerdictCase,
    decisive,
    differs,
    is_read_back,
    is_that_page,
    judge,
)
from rutter.actors.rules.pages.address import origin_of
from rutter.actors.rules.pages.end_signs import first_met
from rutter.actors.rules.pages.expected_changes import at_end, has_changed
from rutter.actors.rules.pages.page_state import detect
from rutter.actors.rules.pages.server_exchanges import folded, is_open, is_own
from rutter.actors.rules.steps.check_results import (
    AfterStep,
    bound_all,
    bound_back,
    files_in,
    texts_in,
)
from rutter.actors.rules.steps.pace import followed
from rutter.actors.rules.steps.proof_grades import UNPROVEN, UNSENT, lacking
from rutter.events.action import CLICKS, Untrusted
from rutter.events.advisor import VisionGiven
from rutter.events.checks import FileCheck, PageState, StateIs
from rutter.events.critic import (
    ActionJudged,
    CompletionChecked,
    Evidence,
    FilesRequested,
    OutcomeUnknown,
    PageAssessed,
    Proof,
    ReadBackDue,
    ReadBackFound,
    StateDiffered,
    Verdict,
    VisionSought,
)
from rutter.events.envelope import Actor, Envelope
from rutter.events.executor import (
    ActionDone,
    ActionFailed,
    PersonActed,
    TargetChanged,
    TargetResolved,
)
from rutter.events.observer import DownloadFinished, FileSeen, FilesSeen, PageObserved
from rutter.events.page import Exchange, Page, Resolved, Resting
from rutter.events.planner import ObservationRequested, PlanProposed, RunStopped
from rutter.events.predictor import WorkflowFinished
from rutter.events.run_settings import RunSettings
from rutter.events.runtime import RecordingFinished, SessionResumed, SessionStarted
from rutter.events.tools import CompletionClaimed
from rutter.events.validator import ActionStarted
from rutter.events.vocabulary import AnyEvent
from rutter.events.workflow import Expectation

BLANK = Page(url="about:blank")
MOST_SENT = 500  # exchanges of a session that are known at once


class ReadBackAwaited(msgspec.Struct, frozen=True):
    """A step that the page confirmed, until its result was looked for where it must show. With
    `sought` it is only tried whether that shows there; `by_hand` the verdict was given before."""

    running: ActionStarted
    judgement: Judgement
    proof: Proof | None = None
    sought: tuple[EnteredValue, ...] = ()
    by_hand: bool = False


class AssessedPage(msgspec.Struct, frozen=True):
    """The last look at the page, and what the page is."""

    page: Page = BLANK
    phrases: tuple[str, ...] = ()
    state: PageState = "UNKNOWN"
    pending: int = 0
    sent: int = 0
    status: int = 0
    unread: bool = False


class StepInquiry(msgspec.Struct, frozen=True):
    """What was asked about the step that runs, and what was answered."""

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
    proving: SessionProof = SessionProof()
    hand: PersonsWork = PersonsWork()
    owed: tuple[tuple[int, str], ...] = ()
    sent: tuple[Exchange, ...] = ()
    rested: bool = False

    @property
    def page(self) -> Page:
        return self.sight.page

    def waited_ms(self, now_ns: int) -> int:
        """Since the action was done, the end was reached, or the claim was made."""
        return (now_ns - self.since_ns) // 1_000_000


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
                return _noted(_resumed(state, envelope), event)

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
                yield _completion(state, now_ns)
            case RecordingFinished() as finished:
                yield from _handed_over(state, finished)
            case RunStopped(reason=reason):
                # Stopped, or its browser or process died, before its outcome was seen.
                held = state.held
                open_step = held.running if held is not None else state.running
                looks = _settles(state) or (held is not None and held.by_hand)
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
        state, running=running, outcome=None, before=state.sight, inquiry=StepInquiry()
    )


def _by_hand(state: CriticState, acted: PersonActed) -> CriticState:
    return msgspec.structs.replace(
        state,
        acted=acted,
        before=state.sight,
        proving=entered_by(state.proving, acted, state.values),
        hand=msgspec.structs.replace(state.hand, acted=acted),
    )


def _resumed(state: CriticState, envelope: Envelope) -> CriticState:
    """A pause is no time that the end had to show."""
    awaited = state.finishing or state.claim is not None
    if not awaited or not isinstance(envelope.event, SessionResumed):
        return state
    return msgspec.structs.replace(state, since_ns=envelope.at_ns)


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
            judgement = _judgement(state)
            assert judgement is not None
            assert state.running is not None
            case_now = _case(state)
            proof = _proof(state, case_now, judgement) if case_now is not None else None
            sought = to_look_for(state.proving) if event.trial else ()
            held = ReadBackAwaited(state.running, judgement, proof, sought)
            return change(state, held=held, running=None, outcome=None)
        case ObservationRequested(why="rest_awaited") if state.finishing:
            return change(state, rested=True)
        case RunStopped():
            return change(state, stopped=True)
        case _:
            return change(state, inquiry=_inquired(state, event))


def _seen(state: CriticState, observed: PageObserved) -> CriticState:
    page, phrases = observed.page, observed.phrases
    sight = AssessedPage(
        page=page,
        phrases=phrases,
        state=detect(page, phrases, state.settings.service),
        pending=observed.pending,
        sent=observed.sent,
        status=observed.status,
        unread=observed.unread,
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
    return msgspec.structs.replace(state, sight=sight, inquiry=inquiry, sent=sent, hand=hand)


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
            return change(inquiry, fixed=_judgement(state))
        case VisionGiven() as given if given.step == step and inquiry.fixed is not None:
            return change(inquiry, vision=given)
        case _:
            return inquiry


def _assessment(state: CriticState) -> PageAssessed:
    return PageAssessed("" if state.sight.state == "UNKNOWN" else state.sight.state)


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


def _case(state: CriticState) -> VerdictCase | None:
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


def _judgement(state: CriticState) -> Judgement | None:
    case = _case(state)
    return judge(case) if case is not None else None


# -- what is said --------------------------------------------------------------------------------


def _looked(state: CriticState, now_ns: int) -> Iterable[AnyEvent]:
    """The page was seen: whatever waited for that is judged now."""
    if state.finishing:
        yield _completion(state, now_ns)
    elif state.acted is not None:
        yield _witnessed(state.acted, state.before.page, state.page)
        yield _assessment(state)
    elif state.running is not None and state.outcome is not None:
        yield from _assessed(state, now_ns)
    elif state.claim is None:
        yield _assessment(state)
    if state.claim is not None:
        yield from _claimed(state, state.claim, now_ns)


def _assessed(state: CriticState, now_ns: int) -> Iterable[AnyEvent]:
    case = _case(state)
    if case is None:
        return
    inquiry = state.inquiry
    if inquiry.fixed is not None:
        # A picture is being looked at: whatever the page does meanwhile, the verdict stands.
        if inquiry.vision is not None:
            yield from _decided(state, case, inquiry.fixed)
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
    if judgement.verdict != "confirmed" and left_ms > 0:
        failing = judgement.failing
        if failing is not None and failing.source == "FILE":
            yield FilesRequested(case.running.step, files, left_ms)
        else:
            yield ObservationRequested("effect_awaited", left_ms, texts=texts)
        return
    yield from _decided(state, case, judgement)


def _decided(state: CriticState, case: VerdictCase, judgement: Judgement) -> Iterable[AnyEvent]:
    """The verdict stands; who else is heard only describes it, unless its result is elsewhere."""
    running = case.running
    confirmed = judgement.verdict == "confirmed"
    if state.inquiry.vision is None and state.settings.vision and _can_be_seen(judgement):
        yield VisionSought(running.step, running.attempt, _asked_of_vision(judgement))
        return
    back = case.expects.read_back if case.expects is not None else None
    if confirmed and back is not None and state.held is None:
        yield ReadBackDue(
            running.step, running.attempt, bound_back(back, state.values, state.page.url)
        )
        return
    if confirmed and back is None and (trial := _trial(state, case)) is not None:
        yield trial
        return
    vision = state.inquiry.vision
    proof = _proof(state, case, judgement)
    yield _verdict(running, judgement, _evidence(judgement, vision), vision, proof)
    if is_read_back(running) and (state.held is not None or _settles(state)):
        if state.held is not None and state.held.sought:
            yield from _tried(state.held, case, state.inquiry.kept)
        elif state.held is not None:
            yield from _released(state.held, judgement, vision)
        yield ObservationRequested("aside_over", 0)
        return
    yield from _differed(case, judgement)
    if judgement.verdict == "unknown":
        why = f"{judgement.reason} after it was dispatched, and the page does not show it"
        yield OutcomeUnknown(running.step, running.attempt, why)
    yield _assessment(state)


def _settles(state: CriticState) -> bool:
    """Whether the step that runs only looks what an earlier session did: nothing came of it."""
    plan, running = state.plan, state.running
    if plan is None or running is None or plan.step != running.step:
        return False
    return plan.settles >= 0


def _trial(state: CriticState, case: VerdictCase) -> ReadBackDue | None:
    """Whether what was typed shows where the step led, when that is loaded anew."""
    if not state.settings.seeks_proof or state.held is not None:
        return None
    if not sends(case, state.proving):
        return None
    wanted = to_look_for(state.proving)
    signs_in = case.element is not None and case.element.signs_in
    if not wanted or signs_in or not origin_of(state.page.url):
        return None
    back = trial_of(wanted, state.page.url)
    return ReadBackDue(case.running.step, case.running.attempt, back, trial=True)


def _handed_over(state: CriticState, finished: RecordingFinished) -> Iterable[AnyEvent]:
    """A person is done. As long as their window is there, it is looked where what they sent shows;
    what they did is judged already, whatever comes of that."""
    if state.acted is not None:
        yield ActionJudged(state.acted.step, 1, "no_effect", "over_before_it_was_seen")
    if finished.by == "window_closed" or not state.settings.seeks_proof:
        return
    sending = state.hand.sending
    if sending is None:
        yield _assessment(state)
    else:
        back = trial_of(sending.sought, sending.url)
        yield ReadBackDue(sending.acted.step, 1, back, trial=True)


def _tried(held: ReadBackAwaited, case: VerdictCase, kept: tuple[str, ...]) -> Iterable[AnyEvent]:
    """The verdict was made before; what was found is where later runs can look. Not on a page that
    came in place of the one asked for: a later run would not take that for it. What the browser
    keeps itself shows again whether the server has it or not."""
    there = is_that_page(case.running.action.url or "", case)
    sought = tuple(each for each in held.sought if each.value not in kept)
    back, proof = shown_there(sought, case.seen) if there else None, held.proof
    if back is not None and proof is not None:
        proof = msgspec.structs.replace(proof, grade="stored", by="the page loaded anew")
        yield ReadBackFound(held.running.step, back, proof.index)
    if held.by_hand:
        if back is not None:
            yield ReadBackFound(held.running.step, back)
        return
    yield _verdict(held.running, held.judgement, _evidence(held.judgement, None), None, proof)


def _proof(state: CriticState, case: VerdictCase, judgement: Judgement) -> Proof | None:
    """What bears out a confirmed step that sent something."""
    if judgement.verdict != "confirmed" or is_read_back(case.running):
        return None
    if not sends(case, state.proving):
        return None
    grade, by = grade_of(case, judgement)
    plan = state.plan
    index = plan.index if plan is not None and plan.step == case.running.step else -1
    return Proof(case.running.step, index, grade, by, passing=is_passing(case))


def _released(
    held: ReadBackAwaited, back: Judgement, vision: VisionGiven | None
) -> Iterable[AnyEvent]:
    """The step whose result was looked for: the page that shows it has the last word."""
    verdict: Verdict = "confirmed"
    reason = "read_back"
    if back.verdict != "confirmed":
        # Where it could not be looked at, nobody knows.
        seen = back.failing is not None and back.verdict != "unknown"
        verdict = "failed" if seen else "unknown"
        reason = f"read_back: {back.reason}, at {back.checked}"
    judgement = msgspec.structs.replace(held.judgement, verdict=verdict, reason=reason)
    evidence = (*_evidence(held.judgement, None), *_evidence(back, vision))
    proof = held.proof or Proof(held.running.step)
    stored = msgspec.structs.replace(proof, grade="stored", by="the read-back")
    shown = stored if verdict == "confirmed" else None
    yield _verdict(held.running, judgement, evidence, vision, shown)
    if verdict == "unknown":
        why = f"{reason}: the page says that it worked, and nobody could look whether it did"
        yield OutcomeUnknown(held.running.step, held.running.attempt, why)


def _verdict(
    running: ActionStarted,
    judgement: Judgement,
    evidence: tuple[Evidence, ...],
    vision: VisionGiven | None,
    proof: Proof | None = None,
) -> ActionJudged:
    passed = judgement.verdict == "confirmed"
    return ActionJudged(
        step=running.step,
        attempt=running.attempt,
        verdict=judgement.verdict,
        reason=judgement.reason,
        evidence=evidence,
        confidence=confidence("passed" if passed else "failed", vision.said if vision else None),
        proof=proof,
    )


def _differed(case: VerdictCase, judgement: Judgement) -> Iterable[AnyEvent]:
    """Where the page is not what it was: what self-correction starts from, whatever the verdict."""
    running, actual = case.running, case.seen.state
    failing = judgement.failing
    if failing is not None and isinstance(failing.check, StateIs):
        yield StateDiffered(running.step, running.attempt, failing.check.value, actual)
    elif case.expects is not None and case.expects.state and differs(case) is not None:
        yield StateDiffered(running.step, running.attempt, case.expects.state, actual)


def _evidence(judgement: Judgement, vision: VisionGiven | None) -> tuple[Evidence, ...]:
    """What was looked at, the deciding one last; beside it what a picture said."""
    failing = judgement.failing
    passed = judgement.verdict == "confirmed" or failing is not None
    found = [evidence_of("DOM", judgement.checked, judgement.sample or None, passed)]
    others = [each for each in judgement.results if each is not failing and each.held]
    for result in (*others, failing):
        if result is not None:
            held = bool(result.held)
            sample = judgement.sample if result is failing else result.sample
            found.append(evidence_of(result.source, result.checked, sample or None, held))
    if vision is not None:
        found.insert(0, vision_evidence(vision, _asked_of_vision(judgement)))
    return tuple(found)


def _can_be_seen(judgement: Judgement) -> bool:
    """Whether a picture could say something about this failure; of files it cannot (S2 6.4)."""
    failing = judgement.failing
    on_file = failing is not None and failing.source == "FILE"
    return judgement.verdict != "confirmed" and not on_file


def _asked_of_vision(judgement: Judgement) -> str:
    failing = judgement.failing
    return failing.checked if failing is not None else judgement.checked


def _witnessed(acted: PersonActed, before: Page, after: Page) -> ActionJudged:
    """A person's own step was done, whatever it changed; what it changed is what it is known by."""
    clicked = acted.action.type in CLICKS
    changed = has_changed(before, after, acted.element, clicked=clicked)
    entered = acted.action.type in ("type", "select", "navigate", "hover", "wheel")
    seen = changed or entered
    return ActionJudged(
        step=acted.step,
        attempt=1,
        verdict="confirmed" if seen else "no_effect",
        reason="page_changed" if changed else "nothing_changed",
        evidence=(evidence_of("DOM", after.url, after.title.text or None, seen),),
        confidence=confidence("passed" if seen else "failed", None),
    )


# -- the end -------------------------------------------------------------------------------------


def _completion(state: CriticState, now_ns: int) -> AnyEvent:
    """Whether the end that the recording had is reached, with patience for a slow page."""
    if not state.rested:
        due = unanswered(state.owed, state.sent)
        rest = Resting(state.settings.answer_ms, 0, (due,) if due else ())
        return ObservationRequested("rest_awaited", rest.within_ms, rest=rest)
    missing = at_end(state.end, state.page, state.values) if state.end else "no end was recorded"
    if state.advised and _has_signs_of_success(state):
        missing = ""  # the way was another one, and so may be where it ends: the signs decide
    missing = missing or _unconfirmed(state)
    waited_ms = state.waited_ms(now_ns)
    if missing and waited_ms < state.settings.place_ms:
        return ObservationRequested("end_awaited", state.settings.place_ms - waited_ms)
    missing = missing or _unproven(state)
    return CompletionChecked(
        verified=not missing,
        reason=missing or "the recorded end is reached",
        evidence=(_end_evidence(state, verified=not missing),),
        proofs=state.proving.proofs,
    )


def _unproven(state: CriticState) -> str:
    """What was sent and nothing bears out; signs of success that a service states bear out all."""
    if any(is_open(each) and is_own(each, state.page.url) for each in state.sent):
        return "something that was sent has no answer yet"
    if _has_signs_of_success(state):
        return ""
    if kinds := unanswered(state.owed, state.sent):
        return f"{UNSENT}: {kinds}"
    weak = lacking(state.proving.proofs, state.settings)
    if not weak:
        return ""
    steps = ", ".join(str(each.index + 1 if each.index >= 0 else each.step) for each in weak)
    return f"{UNPROVEN} {steps}"


def _has_signs_of_success(state: CriticState) -> bool:
    criteria = state.settings.criteria
    return criteria is not None and bool(criteria.success)


def _unconfirmed(state: CriticState) -> str:
    """Why the signs of the service do not bear the end out; empty where they do."""
    criteria = state.settings.criteria
    if criteria is None:
        return ""
    if failed := _sign_of_failure(state):
        return failed
    if criteria.success and not first_met(
        criteria.success, state.page, state.sight.phrases, state.sight.state
    ):
        return f"none of {len(criteria.success)} signs of success is on the page"
    return ""


def _sign_of_failure(state: CriticState) -> str:
    criteria = state.settings.criteria
    signs = criteria.failure if criteria is not None else ()
    failed = first_met(signs, state.page, state.sight.phrases, state.sight.state)
    if failed is None:
        return ""
    return f"the {failed.where} says {failed.says!r}, which is a sign of failure"


def _claimed(state: CriticState, claim: CompletionClaimed, now_ns: int) -> Iterable[AnyEvent]:
    """Whether the page bears out what a caller of tools says, by the criteria of the session."""
    criteria = state.settings.criteria
    success = claim.status == "success"
    wanted = (criteria.success if success else criteria.failure) if criteria else ()
    met = first_met(wanted, state.page, state.sight.phrases, state.sight.state)
    against = _sign_of_failure(state) if success else ""
    waited_ms = state.waited_ms(now_ns)
    if success and wanted and (met is None or against) and waited_ms < state.settings.place_ms:
        yield ObservationRequested("end_awaited", state.settings.place_ms - waited_ms)
        return
    if against:
        met, reason = None, against
    elif met is not None:
        reason = f"the {met.where} says {met.says!r}"
    elif wanted:
        reason = f"none of {len(wanted)} signs of {claim.status} is on the page"
    else:
        reason = f"no criteria of {claim.status} are configured: it cannot be verified"
    evidence = _end_evidence(state, verified=met is not None)
    yield CompletionChecked(verified=met is not None, reason=reason, evidence=(evidence,))
    yield _assessment(state)


def _end_evidence(state: CriticState, *, verified: bool) -> Evidence:
    page = state.page
    heading = page.headings[0].text if page.headings else page.title.text
    return evidence_of("DOM", page.url, heading or None, verified)
