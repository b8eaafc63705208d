"""The Critic: what an action really did, judged from the page before and after it.

Nothing is taken for done because a click went through. Where the page has not changed yet, it
asks for another look until the patience of the run is used up; time comes from the facts. Where a
result must show elsewhere it holds its verdict until somebody went there and looked.
"""

from collections.abc import Iterable, Mapping
from typing import ClassVar

import msgspec

from actors.checking import Seen, bound_all, bound_back, files_in, texts_in
from actors.criteria import first_met
from actors.evidence import confidence, evidence_of, vision_evidence
from actors.expecting import at_end, has_changed
from actors.judging import Case, Judgement, decisive, is_read_back, judge
from actors.states import detect
from events.action import Untrusted
from events.advisor import VisionGiven
from events.checks import FileCheck, PageState, StateIs
from events.critic import (
    ActionJudged,
    CompletionChecked,
    Evidence,
    FilesRequested,
    OutcomeUnknown,
    PageAssessed,
    ReadBackDue,
    StateDiffered,
    Verdict,
    VisionSought,
)
from events.envelope import Actor, Envelope
from events.executor import (
    ActionDone,
    ActionFailed,
    PersonActed,
    TargetChanged,
    TargetResolved,
)
from events.observer import DownloadFinished, FileSeen, FilesSeen, PageObserved
from events.page import Page, Resolved
from events.planner import ObservationRequested, PlanProposed, RunStopped
from events.predictor import WorkflowFinished
from events.runtime import RecordingFinished, SessionStarted
from events.tools import CompletionClaimed
from events.validator import ActionStarted
from events.vocabulary import AnyEvent
from events.workflow import Expectation, RunSettings

BLANK = Page(url="about:blank")


class Held(msgspec.Struct, frozen=True):
    """A step that the page confirmed, until its result was looked for where it must show."""

    running: ActionStarted
    judgement: Judgement


class CriticState(msgspec.Struct, frozen=True):
    settings: RunSettings = RunSettings()
    values: Mapping[str, str] = {}
    end: Expectation | None = None
    page: Page = BLANK
    phrases: tuple[str, ...] = ()
    known_as: PageState = "UNKNOWN"
    pending: int = 0
    before: Page = BLANK
    element: Resolved | None = None
    plan: PlanProposed | None = None
    running: ActionStarted | None = None
    acted: PersonActed | None = None
    outcome: ActionDone | ActionFailed | None = None
    asked: tuple[str, ...] = ()
    shown: Mapping[str, Untrusted | None] = {}
    looking: tuple[FileCheck, ...] = ()
    files: Mapping[FileCheck, FileSeen] = {}
    downloads: tuple[str, ...] = ()
    held: Held | None = None
    fixed: Judgement | None = None
    vision: VisionGiven | None = None
    waiting_since_ns: int = 0
    finishing_since_ns: int = 0
    claim: CompletionClaimed | None = None
    stopped: bool = False


class Critic:
    name: ClassVar[Actor] = "critic"

    def initial(self) -> CriticState:
        return CriticState()

    def evolve(self, state: CriticState, envelope: Envelope) -> CriticState:
        change = msgspec.structs.replace
        match envelope.event:
            case SessionStarted() as started:
                end = started.workflow.end if started.workflow else None
                return CriticState(settings=started.settings, values=started.values, end=end)
            case PlanProposed() as plan:
                return change(state, plan=plan, element=None)
            case TargetResolved(element=element):
                return change(state, element=element)
            case ActionStarted() as running:
                return _begun(state, running)
            case ActionDone() | ActionFailed() as outcome:
                return change(state, outcome=outcome, waiting_since_ns=envelope.at_ns)
            case PersonActed() as acted:
                return change(state, acted=acted, before=state.page)
            case WorkflowFinished():
                return change(state, finishing_since_ns=envelope.at_ns)
            case ActionJudged() | OutcomeUnknown() | TargetChanged():
                # Over; or changed under it, and so nothing was done.
                return _over(state, envelope.event)
            case CompletionClaimed() as claim:
                return change(state, claim=claim, waiting_since_ns=envelope.at_ns)
            case CompletionChecked():
                return change(state, claim=None)
            case RunStopped():
                return change(state, stopped=True)
            case _ as event:
                return _noted(state, event)

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
            case RecordingFinished() if state.acted is not None:
                yield ActionJudged(state.acted.step, 1, "no_effect", "over_before_it_was_seen")
            case RunStopped(reason=reason):
                # Stopped, or its browser or process died, before its outcome was seen.
                open_step = state.held.running if state.held is not None else state.running
                if open_step is not None:
                    why = f"{reason} before its outcome was judged"
                    yield OutcomeUnknown(open_step.step, open_step.attempt, why)
            case _:
                return


# -- what is known -------------------------------------------------------------------------------


def _begun(state: CriticState, running: ActionStarted) -> CriticState:
    return msgspec.structs.replace(
        state,
        running=running,
        outcome=None,
        before=state.page,
        downloads=(),
        looking=(),
        files={},
        fixed=None,
        vision=None,
    )


def _over(state: CriticState, event: ActionJudged | OutcomeUnknown | TargetChanged) -> CriticState:
    change = msgspec.structs.replace
    if state.held is not None and event.step == state.held.running.step:
        return change(state, held=None, acted=None)
    return change(state, running=None, outcome=None, acted=None)


def _noted(state: CriticState, event: AnyEvent) -> CriticState:
    """What was seen, and what was asked for that is not there yet."""
    change = msgspec.structs.replace
    match event:
        case PageObserved(page=page, phrases=phrases, pending=pending, shown=shown, why=why):
            asked = state.asked if why == "requested" else ()
            around = [each.around for each in shown]
            around += [None] * (len(asked) - len(around))
            seen = dict(zip(asked, around, strict=False))
            return change(
                state,
                page=page,
                phrases=phrases,
                known_as=detect(page, phrases, state.settings.service),
                pending=pending,
                shown=seen,
                asked=asked,
            )
        case ObservationRequested(texts=texts):
            return change(state, asked=texts)
        case FilesRequested(checks=checks):
            return change(state, looking=checks)
        case FilesSeen(files=files):
            return change(state, files=dict(zip(state.looking, files, strict=False)))
        case DownloadFinished(name=name, artifact=artifact) if artifact is not None:
            return change(state, downloads=(*state.downloads, name.text))
        case ReadBackDue():
            judgement = _judgement(state)
            assert judgement is not None
            assert state.running is not None
            held = Held(state.running, judgement)
            return change(state, held=held, running=None, outcome=None)
        case VisionSought():
            return change(state, fixed=_judgement(state))
        case VisionGiven() as given:
            return change(state, vision=given)
        case _:
            return state


def _assessment(state: CriticState) -> PageAssessed:
    return PageAssessed("" if state.known_as == "UNKNOWN" else state.known_as)


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


def _case(state: CriticState) -> Case | None:
    if state.running is None or state.outcome is None:
        return None
    verify = bound_all(state.running.action.verify, state.values)
    action = msgspec.structs.replace(state.running.action, verify=verify)
    return Case(
        running=msgspec.structs.replace(state.running, action=action),
        outcome=state.outcome,
        before=state.before,
        seen=Seen(state.page, state.known_as, state.shown, state.files, state.downloads),
        expects=_expects(state),
        settings=state.settings,
        pending=state.pending,
        element=state.element,
    )


def _judgement(state: CriticState) -> Judgement | None:
    case = _case(state)
    return judge(case) if case is not None else None


# -- what is said --------------------------------------------------------------------------------


def _looked(state: CriticState, now_ns: int) -> Iterable[AnyEvent]:
    """The page was seen: whatever waited for that is judged now."""
    if state.finishing_since_ns:
        yield _completion(state, now_ns)
    elif state.acted is not None:
        yield _witnessed(state.acted, state.before, state.page)
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
    if state.fixed is not None:
        # A picture is being looked at: whatever the page does meanwhile, the verdict stands.
        if state.vision is not None:
            yield from _decided(state, case, state.fixed)
        return
    checks = decisive(case.running, case.expects, case.seen.state)
    texts, files = texts_in(checks), files_in(checks)
    if not set(texts) <= set(state.asked):
        yield ObservationRequested("effect_awaited", 0, texts=texts)
        return
    if files and state.looking != files:
        yield FilesRequested(case.running.step, files, 0)
        return
    judgement = judge(case)
    left_ms = judgement.may_still_come_ms - (now_ns - state.waiting_since_ns) // 1_000_000
    if judgement.verdict != "confirmed" and left_ms > 0:
        failing = judgement.failing
        if failing is not None and failing.source == "FILE":
            yield FilesRequested(case.running.step, files, left_ms)
        else:
            yield ObservationRequested("effect_awaited", left_ms, texts=texts)
        return
    yield from _decided(state, case, judgement)


def _decided(state: CriticState, case: Case, judgement: Judgement) -> Iterable[AnyEvent]:
    """The verdict stands; who else is heard only describes it, unless its result is elsewhere."""
    running = case.running
    confirmed = judgement.verdict == "confirmed"
    if state.vision is None and state.settings.vision and _can_be_seen(judgement):
        yield VisionSought(running.step, running.attempt, _asked_of_vision(judgement))
        return
    back = case.expects.read_back if case.expects is not None else None
    if confirmed and back is not None and state.held is None:
        yield ReadBackDue(running.step, running.attempt, bound_back(back, state.values))
        return
    yield _verdict(running, judgement, _evidence(judgement, state.vision), state.vision)
    if state.held is not None and is_read_back(running):
        yield from _released(state.held, judgement, state.vision)
        yield ObservationRequested("aside_over", 0)
        return
    yield from _differed(running, judgement, case.seen.state)
    if judgement.verdict == "unknown":
        why = f"{judgement.reason} after it was dispatched, and the page does not show it"
        yield OutcomeUnknown(running.step, running.attempt, why)
    yield _assessment(state)


def _released(held: Held, back: Judgement, vision: VisionGiven | None) -> Iterable[AnyEvent]:
    """The step whose result was looked for: the page that shows it has the last word."""
    verdict: Verdict = "confirmed"
    reason = "read_back"
    if back.verdict != "confirmed":
        # Where it could not be looked at, nobody knows.
        verdict = "failed" if back.failing is not None else "unknown"
        reason = f"read_back: {back.reason}"
    judgement = msgspec.structs.replace(held.judgement, verdict=verdict, reason=reason)
    evidence = (*_evidence(held.judgement, None), *_evidence(back, vision))
    yield _verdict(held.running, judgement, evidence, vision)
    if verdict == "unknown":
        why = f"{reason}: the page says that it worked, and nobody could look whether it did"
        yield OutcomeUnknown(held.running.step, held.running.attempt, why)


def _verdict(
    running: ActionStarted,
    judgement: Judgement,
    evidence: tuple[Evidence, ...],
    vision: VisionGiven | None,
) -> ActionJudged:
    passed = judgement.verdict == "confirmed"
    return ActionJudged(
        step=running.step,
        attempt=running.attempt,
        verdict=judgement.verdict,
        reason=judgement.reason,
        evidence=evidence,
        confidence=confidence("passed" if passed else "failed", vision.said if vision else None),
    )


def _differed(
    running: ActionStarted, judgement: Judgement, actual: PageState
) -> Iterable[AnyEvent]:
    failing = judgement.failing
    if failing is not None and isinstance(failing.check, StateIs):
        yield StateDiffered(running.step, running.attempt, failing.check.value, actual)


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
    changed = has_changed(before, after, acted.element)
    entered = acted.action.type in ("type", "select", "navigate")
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
    missing = at_end(state.end, state.page, state.values) if state.end else "no end was recorded"
    missing = missing or _unconfirmed(state)
    waited_ms = (now_ns - state.finishing_since_ns) // 1_000_000
    if missing and waited_ms < state.settings.place_ms:
        return ObservationRequested("end_awaited", state.settings.place_ms - waited_ms)
    return CompletionChecked(
        verified=not missing,
        reason=missing or "the recorded end is reached",
        evidence=(_end_evidence(state, verified=not missing),),
    )


def _unconfirmed(state: CriticState) -> str:
    """Why the signs of the service do not bear the end out; empty where they do."""
    criteria = state.settings.criteria
    if criteria is None:
        return ""
    failed = first_met(criteria.failure, state.page, state.phrases, state.known_as)
    if failed is not None:
        return f"the {failed.where} says {failed.says!r}, which is a sign of failure"
    if criteria.success and not first_met(
        criteria.success, state.page, state.phrases, state.known_as
    ):
        return f"none of {len(criteria.success)} signs of success is on the page"
    return ""


def _claimed(state: CriticState, claim: CompletionClaimed, now_ns: int) -> Iterable[AnyEvent]:
    """Whether the page bears out what a caller of tools says, by the criteria of the session."""
    criteria = state.settings.criteria
    success = claim.status == "success"
    wanted = (criteria.success if success else criteria.failure) if criteria else ()
    met = first_met(wanted, state.page, state.phrases, state.known_as)
    waited_ms = (now_ns - state.waiting_since_ns) // 1_000_000
    if success and wanted and met is None and waited_ms < state.settings.place_ms:
        yield ObservationRequested("end_awaited", state.settings.place_ms - waited_ms)
        return
    if met is not None:
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
