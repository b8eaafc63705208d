"""The log holds a verdict with an account of what was looked at, and its confidence."""

from rutter.actors.critic.evidence import confidence, evidence_of, vision_evidence
from rutter.actors.critic.verdict import Judgement
from rutter.actors.rules.pages.expected_changes import has_changed
from rutter.events.action import CLICKS, kind_of
from rutter.events.advisor import VisionGiven
from rutter.events.causes import VerdictCode
from rutter.events.critic import ActionJudged, Evidence, Proof
from rutter.events.executor import PersonActed
from rutter.events.page import Page
from rutter.events.validator import ActionStarted


def verdict_event(
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
        code=judgement.code,
    )


def witnessed(acted: PersonActed, before: Page, after: Page) -> ActionJudged:
    """A person's own step was done, whatever it changed; what it changed is what it is known by."""
    clicked = acted.action.type in CLICKS
    changed = has_changed(before, after, acted.element, clicked=clicked)
    entered = acted.action.type in ("type", "select", "navigate", "hover", "wheel")
    picked = kind_of(acted.action) != "action"  # they saw it there, and touched nothing
    seen = changed or entered or picked
    code: VerdictCode = "page_changed" if changed else "nothing_changed"
    return ActionJudged(
        step=acted.step,
        attempt=1,
        verdict="confirmed" if seen else "no_effect",
        reason=code,
        evidence=(evidence_of("DOM", after.url, after.title.text or None, seen),),
        confidence=confidence("passed" if seen else "failed", None),
        code=code,
    )


def account_of(judgement: Judgement, vision: VisionGiven | None) -> tuple[Evidence, ...]:
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
        found.insert(0, vision_evidence(vision, asked_of_vision(judgement)))
    return tuple(found)


def can_be_seen(judgement: Judgement) -> bool:
    """Whether a picture could say something about this failure; of files it cannot (S2 6.4)."""
    failing = judgement.failing
    on_file = failing is not None and failing.source == "FILE"
    return judgement.verdict != "confirmed" and not on_file


def asked_of_vision(judgement: Judgement) -> str:
    failing = judgement.failing
    return failing.checked if failing is not None else judgement.checked
