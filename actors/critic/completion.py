"""Completion says whether a run's recorded end is reached, what a caller of tools claims holds, and
what was sent is borne out."""

from collections.abc import Iterable

from rutter.actors.critic.evidence import evidence_of
from rutter.actors.critic.proof import unanswered
from rutter.actors.critic.state import CriticState, assessment
from rutter.actors.rules.pages.end_signs import first_met
from rutter.actors.rules.pages.expected_changes import at_end
from rutter.actors.rules.pages.server_exchanges import is_open, is_own
from rutter.actors.rules.steps.proof_grades import lacking
from rutter.events.causes import OTHER, Cause
from rutter.events.critic import CompletionChecked, Evidence
from rutter.events.page import Resting
from rutter.events.planner import ObservationRequested
from rutter.events.tools import CompletionClaimed
from rutter.events.vocabulary import AnyEvent

NO_SIGN = Cause("no_sign")


def completion(state: CriticState, now_ns: int) -> AnyEvent:
    """Whether the end that the recording had is reached, with patience for a slow page."""
    if not state.rested:
        due = unanswered(state.owed, state.sent)
        rest = Resting(state.settings.answer_ms, 0, (due,) if due else ())
        return ObservationRequested("rest_awaited", rest.within_ms, rest=rest)
    missing, cause = _elsewhere(state), OTHER
    if not missing:
        missing, cause = _unconfirmed(state)
    waited_ms = state.waited_ms(now_ns)
    if missing and waited_ms < state.settings.place_ms:
        return ObservationRequested("end_awaited", state.settings.place_ms - waited_ms)
    if not missing:
        missing, cause = _unproven(state)
    return CompletionChecked(
        verified=not missing,
        reason=missing or "the recorded end is reached",
        evidence=(_end_evidence(state, verified=not missing),),
        proofs=state.proving.proofs,
        cause=cause,
    )


def _elsewhere(state: CriticState) -> str:
    """What of the recorded end is not there. Where a model was asked the way was another one, and
    so may be where it ends: the signs decide."""
    if state.advised and _has_signs_of_success(state):
        return ""
    return at_end(state.end, state.page, state.values) if state.end else "no end was recorded"


def _unproven(state: CriticState) -> tuple[str, Cause]:
    """What was sent and nothing bears out; signs of success that a service states bear out all."""
    if any(is_open(each) and is_own(each, state.page.url) for each in state.sent):
        return "something that was sent has no answer yet", Cause("unanswered")
    if _has_signs_of_success(state):
        return "", OTHER
    if kinds := unanswered(state.owed, state.sent):
        said = f"the page has not sent what it sent when this was recorded: {kinds}"
        return said, Cause("unsent")
    weak = lacking(state.proving.proofs, state.settings)
    if not weak:
        return "", OTHER
    places = [each.index if each.index >= 0 else each.step - 1 for each in weak]
    steps = ", ".join(str(each + 1) for each in places)
    said = f"nothing shows that the application has what was sent by step {steps}"
    return said, Cause("unproven", index=places[0])


def _has_signs_of_success(state: CriticState) -> bool:
    criteria = state.settings.criteria
    return criteria is not None and bool(criteria.success)


def _unconfirmed(state: CriticState) -> tuple[str, Cause]:
    """Why the signs of the service do not bear the end out; empty where they do."""
    criteria = state.settings.criteria
    if criteria is None:
        return "", OTHER
    if failed := _sign_of_failure(state):
        return failed, OTHER
    if criteria.success and not first_met(
        criteria.success, state.page, state.sight.phrases, state.sight.state
    ):
        return f"none of {len(criteria.success)} signs of success is on the page", NO_SIGN
    return "", OTHER


def _sign_of_failure(state: CriticState) -> str:
    criteria = state.settings.criteria
    signs = criteria.failure if criteria is not None else ()
    failed = first_met(signs, state.page, state.sight.phrases, state.sight.state)
    if failed is None:
        return ""
    return f"the {failed.where} says {failed.says!r}, which is a sign of failure"


def claim_checked(state: CriticState, claim: CompletionClaimed, now_ns: int) -> Iterable[AnyEvent]:
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
    cause = OTHER
    if against:
        met, reason = None, against
    elif met is not None:
        reason = f"the {met.where} says {met.says!r}"
    elif wanted:
        reason, cause = f"none of {len(wanted)} signs of {claim.status} is on the page", NO_SIGN
    else:
        reason = f"no criteria of {claim.status} are configured: it cannot be verified"
        cause = Cause("no_criteria")
    evidence = _end_evidence(state, verified=met is not None)
    yield CompletionChecked(
        verified=met is not None, reason=reason, evidence=(evidence,), cause=cause
    )
    yield assessment(state)


def _end_evidence(state: CriticState, *, verified: bool) -> Evidence:
    page = state.page
    heading = page.headings[0].text if page.headings else page.title.text
    return evidence_of("DOM", page.url, heading or None, verified)
