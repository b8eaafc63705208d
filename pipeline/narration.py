"""The lines of S2 9.2: what happens, phase by phase, in ASCII, for `--verbose`."""

from collections.abc import Iterator

from events.critic import ActionJudged, Evidence
from events.envelope import Envelope
from events.executor import ActionDone, ActionFailed, PersonActed, TargetMissing, TargetResolved
from events.observer import DialogOpened
from events.planner import LookalikesRequested, PlanProposed, PlanWithheld, RunStopped, TargetHealed
from events.runtime import ActorFailed
from events.validator import ActionApproved, ActionRejected, ActionStarted, ApprovalRequested
from events.vocabulary import AnyEvent
from events.workflow import MILLION
from replay.wording import ascii_only, healed_in_words, in_words

FINAL = {
    "verification_failed": "failed due to verification failure. Aborting plan.",
    "retry_exhausted": "failed after retry. Aborting plan.",
}


class Narrator:
    """One per session: remembers the step it speaks of."""

    def __init__(self) -> None:
        self._words = ""
        self._checked = False
        self._recorded = ""

    def lines(self, envelope: Envelope) -> Iterator[str]:
        for line in self._say(envelope.event):
            yield ascii_only(line)

    def _say(self, event: AnyEvent) -> Iterator[str]:
        match event:
            case PlanProposed(action=action, reason=reason):
                self._words, self._checked = in_words(action), False
                yield "PHASE 1: PLAN"
                yield f"{self._words} ({reason})"
            case PlanWithheld(reason=reason, index=index) if index >= 0:
                yield f"[OK] PASSED OVER: {reason}"
            case PlanWithheld(reason=reason):
                yield "PHASE 1: PLAN"
                yield f"[FAIL] NOTHING PLANNED: {reason}"
            case TargetResolved() | TargetMissing() | ApprovalRequested():
                yield from self._check()
            case LookalikesRequested(fingerprint=known_by):
                self._recorded = known_by.name.text or known_by.text.text or known_by.tag
            case TargetHealed(element=element, score=score):
                yield f"[OK] HEALED: {healed_in_words(self._recorded, element, score)}"
            case ActionApproved(reason=reason):
                yield from self._check()
                yield f"[OK] APPROVED: {self._words} ({reason})"
            case ActionRejected(reason=reason, code=code):
                yield from self._check()
                yield f"[FAIL] DENIED: {reason}"
                if code == "policy_denied":
                    yield "Policy denied action"
            case _:
                yield from self._say_after(event)

    def _say_after(self, event: AnyEvent) -> Iterator[str]:
        match event:
            case ActionStarted():
                yield "PHASE 3: ACT"
            case PersonActed(action=action):
                self._words = in_words(action)
                yield f"[OK] DONE BY A PERSON: {self._words}"
            case DialogOpened(kind=kind, message=message, answer=answer):
                yield f"The page opened a dialog ({kind}): {message.text!r}, {answer}"
            case ActionDone(took_us=took_us):
                yield f"[OK] EXECUTED: {self._words} in {took_us / 1000:.0f} ms"
            case ActionFailed(code=code, message=message):
                yield f"[FAIL] NOT EXECUTED: {code} {message}".rstrip()
            case ActionJudged() as judged:
                yield from self._verified(judged)
            case RunStopped() as stopped:
                yield from _stopped(stopped)
            case ActorFailed(actor=actor, error=error, message=message):
                yield f"[FAIL] {actor}: {error}: {message}"
            case _:
                return

    def _check(self) -> Iterator[str]:
        if not self._checked:
            self._checked = True
            yield "PHASE 2: POLICY CHECK"

    def _verified(self, judged: ActionJudged) -> Iterator[str]:
        yield "PHASE 4: VERIFY"
        for evidence in judged.evidence:
            yield from _evidence(evidence)
        if judged.verdict == "confirmed":
            yield f"[OK] VERIFIED: {judged.reason}"
        else:
            yield f"[FAIL] VERIFICATION FAILED: {judged.verdict}: {judged.reason}"
        yield "PHASE 5: COMMIT"
        yield "[OK] COMMITTED to action history"


def _evidence(evidence: Evidence) -> Iterator[str]:
    confidence = evidence.confidence / MILLION
    yield (
        f"[EVIDENCE] Source: {evidence.source}, Checked: '{evidence.checked}', "
        f"Confidence: {confidence:g}"
    )
    if evidence.sample is not None:
        yield f"[EVIDENCE] Sample: {evidence.sample.text[:100]}..."


def _stopped(stopped: RunStopped) -> Iterator[str]:
    if stopped.failure in FINAL:
        yield f"Action {stopped.step} {FINAL[stopped.failure]}"
    if stopped.failure == "verification_failed":
        yield "Verification failed. This is a terminal failure (no retry allowed)."
    dry = stopped.reason == "completed_unverified" and stopped.detail.startswith("dry run")
    mark = "[OK]" if stopped.reason == "completed" or dry else "[FAIL]"
    yield f"{mark} {stopped.reason.upper()}: {stopped.detail}"
