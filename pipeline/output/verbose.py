"""The narrator says what happens, phase by phase, in ASCII, for `--verbose` (S2 9.2)."""

from collections.abc import Iterator

from rutter.actors.rules.pages.barrier_words import barrier_story
from rutter.actors.rules.steps.confidence import hundredths
from rutter.actors.rules.steps.ghost import is_of_ghost
from rutter.actors.rules.steps.pause import RULE as PAUSED
from rutter.events.action import Action, Kind
from rutter.events.advisor import (
    AdviceFailed,
    AdviceLost,
    AdvicePrepared,
    AdviceReceived,
    VisionGiven,
)
from rutter.events.critic import (
    ActionJudged,
    Evidence,
    PageAssessed,
    ReadBackDue,
    StateDiffered,
    VisionSought,
)
from rutter.events.envelope import Envelope
from rutter.events.executor import ActionDone, ActionFailed, PersonActed, QueryAnswered, QueryFailed
from rutter.events.observer import DialogOpened, DownloadFinished, FilesSeen, RequestBlocked
from rutter.events.person import ApprovalAnswered
from rutter.events.planner import (
    AdviceRequested,
    PlanProposed,
    PlanWithheld,
    RunStopped,
    StepSettled,
    StepsRecalled,
    TargetHealed,
)
from rutter.events.predictor import PredictionMade, TransitionUndone, Within
from rutter.events.run_settings import MILLION
from rutter.events.runtime import ActorFailed, SessionPaused, SessionResumed
from rutter.events.tools import FileRead
from rutter.events.validator import (
    ActionApproved,
    ActionRejected,
    ActionWithheld,
    ApprovalRequested,
)
from rutter.events.vocabulary import AnyEvent
from rutter.pipeline.sessions.models import fix_of
from rutter.replay.step_record import StepRecord
from rutter.replay.steps import SessionSteps
from rutter.replay.story.advice import money
from rutter.replay.story.evidence_weight import confidence_shown
from rutter.replay.story.phases import entered, heading
from rutter.replay.story.wording import (
    absent_in_words,
    advice_in_words,
    ascii_only,
    check_in_words,
    file_in_words,
    undone_in_words,
    within_in_words,
)

FINAL = {
    "verification_failed": "failed due to verification failure. Aborting plan.",
    "retry_exhausted": "failed after retry. Aborting plan.",
}
COMMITTED: dict[Kind, str] = {
    "action": "[OK] COMMITTED to action history",
    "verification": "[OK] COMMITTED to action history",
    "observation": "[OK] COMMITTED to observation log",
}
ASKED_FOR = {
    "act": "what to do next",
    "plan": "for a step where what was learned is not sure",
    "repair": "for a step that is not as it was recorded",
    "correct": "for another way after what went wrong",
    "vision": "what a picture shows",
    "ghost": "what a picture of the page says",
}
SAMPLE = 100  # S2 9.2: characters of a sample in a line
LIKELY = MILLION // 2  # that it is this workflow rather than all others, or none


class Narrator(SessionSteps):
    """A narrator tells one session from the records of its steps."""

    def __init__(self) -> None:
        super().__init__()
        self._before = StepRecord(0, "person", Action("check"), "", 0)  # anything was begun
        self._request = AdviceRequested("", "plan", "")
        self._within = ""
        self._barrier = ""

    def lines(self, envelope: Envelope) -> Iterator[str]:
        self.take(envelope)
        for line in self._tell(envelope.event):
            yield ascii_only(line)

    def _tell(self, event: AnyEvent) -> Iterator[str]:
        """Where the step is, what happened, and that it is kept."""
        step = self.step_of(event) or self._before
        if isinstance(event, PlanProposed):
            step.phases = []
        phases = entered(event, step.kind)
        for phase in phases:
            if phase not in (*step.phases[-1:], "COMMIT"):
                step.phases.append(phase)
                yield heading(phase, step.kind)
        yield from self._say(event, step)
        if "COMMIT" in phases:
            yield from _committed(step.kind)

    def _say(self, event: AnyEvent, step: StepRecord) -> Iterator[str]:
        match event:
            case PlanProposed(source="suggestion", probability=probability):
                yield f"suggests: {step.proposed} ({hundredths(probability or 0)}) - do it?"
            case PlanProposed(reason=reason):
                yield f"{step.proposed} ({reason})"
            case PlanWithheld(reason=reason, index=index) if index >= 0:
                yield f"[OK] PASSED OVER: {reason}"
            case PlanWithheld(reason=reason):
                yield heading("PLAN", "action")
                yield f"[FAIL] NOTHING PLANNED: {reason}"
            case TargetHealed():
                yield f"[OK] HEALED: {step.healed}"
            case ActionApproved(reason=reason):
                yield f"[OK] APPROVED: {step.proposed} ({reason})"
            case ActionWithheld(reason=reason):
                yield f"[OK] WITHHELD: {reason}"
            case ActionRejected() as rejected:
                yield from _rejected(rejected, step.kind)
            case _:
                yield from self._say_done(event, step)

    def _say_done(self, event: AnyEvent, step: StepRecord) -> Iterator[str]:
        match event:
            case PersonActed():
                yield f"[OK] DONE BY A PERSON: {step.proposed}"
            case ActionDone(took_us=took_us):
                yield f"[OK] EXECUTED: {step.proposed} in {took_us / 1000:.0f} ms"
            case ActionFailed(code=code, message=message):
                yield f"[FAIL] NOT EXECUTED: {code} {message}".rstrip()
            case QueryAnswered(text=text, took_us=took_us):
                read = f" -> {text.text[:SAMPLE]!r}" if text is not None else ""
                yield f"[OK] OBSERVED: {step.proposed}{read} in {took_us / 1000:.0f} ms"
            case QueryFailed(code=code, message=message):
                yield f"[FAIL] NOT OBSERVED: {code} {message}".rstrip()
            case RunStopped() as stopped:
                yield from _stopped(stopped)
            case ActorFailed(actor=actor, error=error, message=message):
                yield f"[FAIL] {actor}: {error}: {message}"
            case FileRead() as read_file:
                yield from _file_read(read_file, self.in_order[-1].file)
            case _:
                yield from self._say_beside(event, step)

    def _say_beside(self, event: AnyEvent, step: StepRecord) -> Iterator[str]:
        match event:
            case DialogOpened(kind=kind, message=message, answer=answer):
                yield f"The page opened a dialog ({kind}): {message.text!r}, {answer}"
            case DownloadFinished(name=name, failure=failure):
                yield f"The page sent a file: {name.text!r}{failure and f', {failure}'}"
            case ReadBackDue(read_back=read_back):
                checks = " and ".join(check_in_words(check) for check in read_back.checks)
                yield f"READ BACK: whether {checks} at {read_back.url}"
            case FilesSeen(files=files):
                for seen in files:
                    yield f"FILE {file_in_words(seen)}"
            case VisionSought(checked=checked):
                yield f"VISION is asked about '{checked}': it is told, it does not decide"
            case VisionGiven() as given:
                yield from _looked(given)
            case StateDiffered(expected=expected, actual=actual):
                yield f"[FAIL] STATE: the page is {actual}, expected was {expected}"
            case ActionJudged() as judged:
                if step is not self.now and step.step:
                    yield f"Step {step.step}: {step.proposed}"
                yield from _judged(judged)
            case AdviceRequested() as request:
                yield from _asking(request, self._request)
                self._request = request
            case _:
                yield from _advised(event)
                yield from _gate(event)
                yield from self._say_foreseen(event)

    @property
    def _is_free(self) -> bool:
        return self.started is None or self.started.purpose == "free"

    def _say_foreseen(self, event: AnyEvent) -> Iterator[str]:
        """Where a free run seems to be, what cannot be done here, what keeps it out, what a person
        took back, and that one took the wheel."""
        match event:
            case PageAssessed(barrier=barrier):
                said = barrier_story(barrier)
                if said and said != self._barrier:  # one page is looked at more than once
                    yield f"[BARRIER] {said}"
                self._barrier = said
            case SessionPaused(by=by):
                yield f"[PAUSED] by {by}: nothing new begins, the window may be used"
            case SessionResumed(by=by):
                yield f"[RESUMED] by {by}: it goes on from where the page is now"
            case PredictionMade(absent=absent) as made if self._is_free:
                within = likely_within(made)
                said = within_in_words(within) if within is not None else ""
                if said and said != self._within:  # one page is often predicted for more than once
                    yield f"[WITHIN] it seems to be {said}"
                self._within = said
                if absent:
                    yield f"[WITHIN] {absent_in_words(absent)}"
            case TransitionUndone(why="refused"):
                yield f"[REFUSED] {undone_in_words('refused')}: it counts against it"
            case TransitionUndone(why=why):
                yield f"[UNDONE] {undone_in_words(why)}: it counts against what was done"
            case _:
                return


def likely_within(made: PredictionMade) -> Within | None:
    """The recorded workflow that a session is in, as far as can be told."""
    return next((each for each in made.within[:1] if each.probability >= LIKELY), None)


def _asking(request: AdviceRequested, before: AdviceRequested) -> Iterator[str]:
    """Who is asked, for what; and that it is another one than before, or once more."""
    if before.provider and before.provider != request.provider:
        yield f"[MODEL] {before.provider} does not answer: from here on {request.provider}"
    again = ", once more" if request.attempt > 1 else ""
    to = f" (correction {request.correction})" if request.correction else ""
    yield (
        f"[MODEL] asking {request.provider} {request.model} {ASKED_FOR[request.purpose]}{to}{again}"
    )


def _advised(event: AnyEvent) -> Iterator[str]:
    """What was sent to a language model, what came back, and what that cost."""
    match event:
        case AdvicePrepared(missing=missing) if missing:
            yield f"[MODEL] of the page it could not have {', '.join(missing)}"
        case AdviceReceived() as received:
            yield _spent(received)
            if not is_of_ghost(received.request):
                yield f"[MODEL] it says: {advice_in_words(received)}"
            if received.invalid:
                yield f"[FAIL] MODEL: {received.invalid}"
        case AdviceFailed(provider=provider, code=code, message=message, took_ms=took_ms):
            more = f": {message}" if message else ""
            yield f"[FAIL] MODEL {provider}: {code}{more} ({took_ms / 1000:.1f} s)"
            if not event.transient:
                yield f"[MODEL] what to do: {fix_of(code, provider, alone=False)}"
        case AdviceLost():
            yield "[MODEL] the run ended before the answer came: it counts as spent"
        case _:
            return


def _looked(given: VisionGiven) -> Iterator[str]:
    if given.error is not None:
        yield f"[FAIL] MODEL {given.provider}: {given.error} ({given.took_ms / 1000:.1f} s)"
    elif given.model:
        yield _spent(given)
    yield f"VISION: {given.said} {given.message}".rstrip()


def _spent(end: AdviceReceived | VisionGiven) -> str:
    cost = money(end.cost_microdollars) if end.priced else "at an unknown price"
    return (
        f"[MODEL] {end.provider} {end.model}: {end.usage.input:,} tokens in, "
        f"{end.usage.output:,} out, {cost}, {end.took_ms / 1000:.1f} s"
    )


def _gate(event: AnyEvent) -> Iterator[str]:
    """What was kept out, what a person was asked, and what was left alone because of it."""
    match event:
        case RequestBlocked(host=host, port=port, reason=reason, repeats=repeats):
            times = f" ({repeats} times)" if repeats > 1 else ""
            yield f"[BLOCKED] {host}:{port}{times}: {reason}"
        case ApprovalRequested(question=question):
            yield f"[ASK] {question}"
        case ApprovalAnswered(approved=approved, by=by, message=message):
            yield f"[ASK] {'yes' if approved else 'no'} ({by}) {message}".rstrip()
        case StepSettled(index=index, done=done, reason=reason):
            seen = "was done before" if done else "does not show"
            yield f"STEP {index + 1} {seen}: {reason}"
        case StepsRecalled(indexes=indexes, back_to=back_to, why=why):
            listed = ", ".join(str(index + 1) for index in indexes)
            yield f"STEP {back_to + 1} waits ({why}): looking once more for step {listed}"
        case _:
            return


def _rejected(rejected: ActionRejected, kind: Kind) -> Iterator[str]:
    if rejected.rule == PAUSED:
        yield f"[OK] LET GO: {rejected.reason}"
    elif kind == "observation":
        yield f"[FAIL] NOT OBSERVED: {rejected.reason}"
    else:
        yield f"[FAIL] DENIED: {rejected.reason}"
        if rejected.code == "policy_denied":
            yield "Policy denied action"


def _judged(judged: ActionJudged) -> Iterator[str]:
    for evidence in judged.evidence:
        yield from _evidence(evidence, confidence_shown(evidence, judged))
    if judged.verdict == "confirmed":
        yield f"[OK] VERIFIED: {judged.reason}"
    else:
        yield f"[FAIL] VERIFICATION FAILED: {judged.verdict}: {judged.reason}"


def _committed(kind: Kind) -> Iterator[str]:
    yield heading("COMMIT", kind)
    yield COMMITTED[kind]


def _evidence(evidence: Evidence, confidence: int) -> Iterator[str]:
    yield (
        f"[EVIDENCE] Source: {evidence.source}, Checked: '{evidence.checked}', "
        f"Confidence: {confidence / MILLION:g}"
    )
    if evidence.sample is not None:
        yield f"[EVIDENCE] Sample: {evidence.sample.text[:SAMPLE]}..."


def _file_read(read: FileRead, path: str) -> Iterator[str]:
    """A file that was read for a call of a tool: an observation like any other (S2 1.2)."""
    yield heading("PLAN", "observation")
    yield f"read the file {path!r}"
    yield heading("OBSERVE", "observation")
    if read.error:
        yield f"[FAIL] NOT OBSERVED: {read.error} {read.message}".rstrip()
    else:
        yield f"[OK] OBSERVED: {path!r}, {len(read.text.text) if read.text else 0} characters"
    yield from _committed("observation")


def _stopped(stopped: RunStopped) -> Iterator[str]:
    if stopped.failure in FINAL:
        yield f"Action {stopped.step} {FINAL[stopped.failure]}"
    if stopped.failure == "verification_failed":
        yield "Verification failed. This is a terminal failure (no retry allowed)."
    dry = stopped.cause is not None and stopped.cause.kind == "dry_run"
    mark = "[OK]" if stopped.reason == "completed" or dry else "[FAIL]"
    yield f"{mark} {stopped.reason.upper()}: {stopped.detail}"
