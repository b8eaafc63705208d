"""A read-back holds the verdict on a step whose result must show elsewhere until somebody looked
there. What bears a confirmed step out is said with it."""

from collections.abc import Iterable

import msgspec

from rutter.actors.critic.proof import (
    grade_of,
    is_passing,
    sends,
    shown_there,
    to_look_for,
    trial_of,
)
from rutter.actors.critic.state import CriticState, ReadBackAwaited, assessment
from rutter.actors.critic.verdict import Judgement, VerdictCase, is_read_back, is_that_page
from rutter.actors.critic.verdict_event import account_of, verdict_event
from rutter.actors.rules.pages.address import origin_of
from rutter.events.advisor import VisionGiven
from rutter.events.causes import CHECKS, VerdictCode
from rutter.events.critic import (
    ActionJudged,
    OutcomeUnknown,
    Proof,
    ReadBackDue,
    ReadBackFound,
    Verdict,
)
from rutter.events.runtime import RecordingFinished
from rutter.events.vocabulary import AnyEvent


def only_settles(state: CriticState) -> bool:
    """Whether the step that runs only looks what an earlier session did: nothing came of it."""
    plan, running = state.plan, state.running
    if plan is None or running is None or plan.step != running.step:
        return False
    return plan.settles >= 0


def trial_due(state: CriticState, case: VerdictCase) -> ReadBackDue | None:
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


def handed_over(state: CriticState, finished: RecordingFinished) -> Iterable[AnyEvent]:
    """A person is done. As long as their window is there, it is looked where what they sent shows;
    what they did is judged already, whatever comes of that."""
    if state.acted is not None:
        over: VerdictCode = "over_before_it_was_seen"
        yield ActionJudged(state.acted.step, 1, "no_effect", over, code=over)
    left = finished.by in ("window_closed", "discarded") or not state.watches
    if left or not state.settings.seeks_proof:
        return
    sending = state.hand.sending
    if sending is None:
        yield assessment(state)
    else:
        back = trial_of(sending.sought, sending.url)
        yield ReadBackDue(sending.acted.step, 1, back, trial=True)


def tried(held: ReadBackAwaited, case: VerdictCase, kept: tuple[str, ...]) -> Iterable[AnyEvent]:
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
    yield verdict_event(held.running, held.judgement, account_of(held.judgement, None), None, proof)


def proof_of(state: CriticState, case: VerdictCase, judgement: Judgement) -> Proof | None:
    """What bears out a confirmed step that sent something."""
    if judgement.verdict != "confirmed" or is_read_back(case.running):
        return None
    if not sends(case, state.proving):
        return None
    grade, by = grade_of(case, judgement)
    plan = state.plan
    index = plan.index if plan is not None and plan.step == case.running.step else -1
    return Proof(case.running.step, index, grade, by, passing=is_passing(case))


def released(
    held: ReadBackAwaited, back: Judgement, vision: VisionGiven | None
) -> Iterable[AnyEvent]:
    """The step whose result was looked for: the page that shows it has the last word."""
    verdict: Verdict = "confirmed"
    code: VerdictCode = "read_back"
    words = ""
    if back.verdict != "confirmed":
        # Where it could not be looked at, nobody knows.
        seen = back.failing is not None and back.verdict != "unknown"
        verdict = "failed" if seen else "unknown"
        words = f"read_back: {back.reason}, at {back.checked}"
        code = back.code if back.code in CHECKS else code
    judgement = msgspec.structs.replace(held.judgement, verdict=verdict, code=code, words=words)
    evidence = (*account_of(held.judgement, None), *account_of(back, vision))
    proof = held.proof or Proof(held.running.step)
    stored = msgspec.structs.replace(proof, grade="stored", by="the read-back")
    shown = stored if verdict == "confirmed" else None
    yield verdict_event(held.running, judgement, evidence, vision, shown)
    if verdict == "unknown":
        why = f"{words}: the page says that it worked, and nobody could look whether it did"
        yield OutcomeUnknown(held.running.step, held.running.attempt, why)
