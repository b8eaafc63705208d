"""The Critic: what an action really did, judged from the page before and after it.

Nothing is taken for done because a click went through. Where the page has not changed yet, it
asks for another look until the patience of the run is used up; time comes from the facts.
"""

from collections.abc import Iterable, Mapping
from typing import ClassVar

import msgspec

from actors.criteria import first_met
from actors.expecting import at_end
from actors.place import is_at, place_of, same_document
from events.action import Untrusted
from events.critic import (
    ActionJudged,
    CompletionChecked,
    Evidence,
    OutcomeUnknown,
    PageAssessed,
    Verdict,
)
from events.envelope import Actor, Envelope
from events.executor import ActionDone, ActionFailed, PersonActed, TargetChanged
from events.observer import PageObserved
from events.page import Page
from events.planner import ObservationRequested, PlanProposed, RunStopped
from events.predictor import WorkflowFinished
from events.runtime import RecordingFinished, SessionStarted
from events.tools import CompletionClaimed
from events.validator import ActionStarted
from events.vocabulary import AnyEvent
from events.workflow import Expectation, RunSettings

CERTAIN = 1_000_000  # S2 4.2: the page itself confirmed it
DOUBTFUL = 200_000  # S2 4.2: the page does not show it, and nobody else was asked


class CriticState(msgspec.Struct, frozen=True):
    settings: RunSettings = RunSettings()
    values: Mapping[str, str] = {}
    end: Expectation | None = None
    page: Page = Page(url="about:blank")
    before: Page = Page(url="about:blank")
    expects: Expectation | None = None
    running: ActionStarted | None = None
    acted: PersonActed | None = None
    outcome: ActionDone | ActionFailed | None = None
    waiting_since_ns: int = 0
    finishing_since_ns: int = 0
    claim: CompletionClaimed | None = None
    stopped: bool = False


class Judgement(msgspec.Struct, frozen=True):
    verdict: Verdict
    reason: str
    checked: str
    sample: str = ""
    may_still_come_ms: int = 0


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
            case PlanProposed(expects=expects):
                return change(state, expects=expects)
            case ActionStarted() as running:
                return change(state, running=running, outcome=None, before=state.page)
            case ActionDone() | ActionFailed() as outcome:
                return change(state, outcome=outcome, waiting_since_ns=envelope.at_ns)
            case PersonActed() as acted:
                return change(state, acted=acted, before=state.page)
            case PageObserved(page=page):
                return change(state, page=page)
            case WorkflowFinished():
                return change(state, finishing_since_ns=envelope.at_ns)
            case ActionJudged() | OutcomeUnknown() | TargetChanged():
                # Over; or changed under it, and so nothing was done.
                return change(state, running=None, outcome=None, acted=None)
            case CompletionClaimed() as claim:
                return change(state, claim=claim, waiting_since_ns=envelope.at_ns)
            case CompletionChecked():
                return change(state, claim=None)
            case RunStopped():
                return change(state, stopped=True)
            case _:
                return state

    def decide(self, state: CriticState, envelope: Envelope) -> Iterable[AnyEvent]:
        match envelope.event:
            case PageObserved() if not state.stopped:
                if state.finishing_since_ns:
                    yield _completion(state, envelope.at_ns)
                elif state.acted is not None:
                    yield _witnessed(state.acted, state.before, state.page)
                    yield PageAssessed()
                elif state.running is not None and state.outcome is not None:
                    yield from _assessed(state, state.running, state.outcome, envelope.at_ns)
                elif state.claim is None:
                    yield PageAssessed()
                if state.claim is not None:
                    yield from _claimed(state, state.claim, envelope.at_ns)
            case CompletionClaimed():
                yield ObservationRequested("end_awaited", 0)
            case PlanProposed() if state.running is not None and state.outcome is not None:
                # The page could not be read after it, and the caller of tools went on.
                why = "another step was proposed before its outcome was judged"
                yield OutcomeUnknown(state.running.step, state.running.attempt, why)
            case WorkflowFinished():
                yield _completion(state, envelope.at_ns)
            case RecordingFinished() if state.acted is not None:
                yield ActionJudged(state.acted.step, 1, "no_effect", "over_before_it_was_seen")
            case RunStopped() if state.running is not None:
                # Stopped, or its browser or process died, before its outcome was seen.
                yield OutcomeUnknown(
                    step=state.running.step,
                    attempt=state.running.attempt,
                    why=f"{envelope.event.reason} before its outcome was judged",
                )
            case _:
                return


def _assessed(
    state: CriticState,
    running: ActionStarted,
    outcome: ActionDone | ActionFailed,
    now_ns: int,
) -> Iterable[AnyEvent]:
    judgement = judge(running, outcome, state.before, state.page, state.expects, state.settings)
    waited_ms = (now_ns - state.waiting_since_ns) // 1_000_000
    if judgement.may_still_come_ms > waited_ms:
        yield ObservationRequested("effect_awaited", judgement.may_still_come_ms - waited_ms)
        return
    confirmed = judgement.verdict == "confirmed"
    yield ActionJudged(
        step=running.step,
        attempt=running.attempt,
        verdict=judgement.verdict,
        reason=judgement.reason,
        evidence=(_evidence(judgement.checked, judgement.sample, confirmed=confirmed),),
    )
    if judgement.verdict == "unknown":
        why = f"{judgement.reason} after it was dispatched, and the page does not show it"
        yield OutcomeUnknown(running.step, running.attempt, why)
    yield PageAssessed()


def _witnessed(acted: PersonActed, before: Page, after: Page) -> ActionJudged:
    """A person's own step was done, whatever it changed; what it changed is what it is known by."""
    changed = before.digest != after.digest or not same_document(before.url, after.url)
    changed = changed or before.focused != after.focused or before.tab != after.tab
    entered = acted.action.type in ("type", "select", "navigate")
    return ActionJudged(
        step=acted.step,
        attempt=1,
        verdict="confirmed" if changed or entered else "no_effect",
        reason="page_changed" if changed else "nothing_changed",
        evidence=(_evidence(after.url, after.title.text, confirmed=changed or entered),),
    )


def judge(
    running: ActionStarted,
    outcome: ActionDone | ActionFailed,
    before: Page,
    after: Page,
    expects: Expectation | None,
    settings: RunSettings,
) -> Judgement:
    """What the action did. `may_still_come_ms` says how long an effect is worth waiting for."""
    if isinstance(outcome, ActionFailed):
        return _judge_failure(running, outcome, before, after, expects, settings)
    match running.action.type:
        case "navigate":
            return _judge_navigation(running, after, expects, settings)
        case "type" | "select":
            if outcome.value_set is None:
                # A secret field that masks what it holds, or a page that went on by itself.
                return Judgement("confirmed", "input_dispatched", "it cannot be read back")
            if outcome.value_set:
                return Judgement("confirmed", "value_set", "the field holds the value")
            return Judgement("failed", "value_not_set", "the field does not hold the value")
        case "extract":
            text = outcome.extracted.text if outcome.extracted is not None else ""
            return Judgement("confirmed", "text_read", running.action.name or "text", text)
        case "wait" | "wait_for":
            return Judgement("confirmed", "waited", "what was waited for is there")
        case "click" | "press" | "scroll":
            return _judge_effect(before, after, expects, settings)


def _judge_failure(
    running: ActionStarted,
    failed: ActionFailed,
    before: Page,
    after: Page,
    expects: Expectation | None,
    settings: RunSettings,
) -> Judgement:
    """Input that reached the page may have worked all the same: a slow answer is no failure.

    What cannot be undone and shows no effect is not known to have failed, so it is `unknown`.
    """
    seen = Judgement("failed", failed.code, failed.message or failed.code)
    if not failed.dispatched or running.action.type not in ("click", "press"):
        return seen
    effect = _judge_effect(before, after, expects, settings)
    if effect.verdict == "confirmed":
        return effect
    verdict: Verdict = "unknown" if running.irreversible else "failed"
    return msgspec.structs.replace(
        seen, verdict=verdict, may_still_come_ms=effect.may_still_come_ms
    )


def _judge_navigation(
    running: ActionStarted, after: Page, expects: Expectation | None, settings: RunSettings
) -> Judgement:
    wanted = expects.place if expects else None
    if wanted is not None:
        reached = is_at(wanted, after.url)
    else:
        # A first visit may be redirected within the site; anything else is not what was asked.
        reached = place_of(after.url).origin == place_of(running.action.url or "").origin
    if reached:
        return Judgement("confirmed", "place_reached", after.url, after.title.text)
    return Judgement("wrong_target", "other_place", after.url, after.title.text, settings.place_ms)


def _judge_effect(
    before: Page, after: Page, expects: Expectation | None, settings: RunSettings
) -> Judgement:
    moved = not same_document(before.url, after.url)
    changed = moved or before.digest != after.digest or before.focused != after.focused
    changed = changed or before.scroll != after.scroll
    if expects is not None and not expects.effect:
        return Judgement("confirmed", "no_change_as_recorded", after.url)
    if expects is None or expects.place is None:
        if changed:
            reason = "page_moved" if moved else "page_changed"
            return Judgement("confirmed", reason, after.url, after.title.text)
        return Judgement("no_effect", "nothing_changed", after.url, "", settings.settle_ms)
    if expects.moved and not moved:
        # A focus that moved is no effect of a button that must lead somewhere.
        if before.digest == after.digest:
            return Judgement("no_effect", "nothing_changed", after.url, "", settings.place_ms)
        return Judgement(
            "wrong_target", "stayed_on_the_page", after.url, after.title.text, settings.place_ms
        )
    if is_at(expects.place, after.url):
        if changed:
            return Judgement("confirmed", "as_recorded", after.url, after.title.text)
        return Judgement("no_effect", "nothing_changed", after.url, "", settings.settle_ms)
    return Judgement(
        "wrong_target", "led_elsewhere", after.url, after.title.text, settings.place_ms
    )


def _completion(state: CriticState, now_ns: int) -> AnyEvent:
    """Whether the end that the recording had is reached, with patience for a slow page."""
    missing = at_end(state.end, state.page, state.values) if state.end else "no end was recorded"
    waited_ms = (now_ns - state.finishing_since_ns) // 1_000_000
    if missing and waited_ms < state.settings.place_ms:
        return ObservationRequested("end_awaited", state.settings.place_ms - waited_ms)
    heading = state.page.headings[0].text if state.page.headings else state.page.title.text
    return CompletionChecked(
        verified=not missing,
        reason=missing or "the recorded end is reached",
        evidence=(_evidence(state.page.url, heading, confirmed=not missing),),
    )


def _claimed(state: CriticState, claim: CompletionClaimed, now_ns: int) -> Iterable[AnyEvent]:
    """Whether the page bears out what a caller of tools says, by the criteria of the session."""
    criteria = state.settings.criteria
    success = claim.status == "success"
    wanted = (criteria.success if success else criteria.failure) if criteria else ()
    met = first_met(wanted, state.page)
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
    heading = state.page.headings[0].text if state.page.headings else state.page.title.text
    evidence = _evidence(state.page.url, heading, confirmed=met is not None)
    yield CompletionChecked(verified=met is not None, reason=reason, evidence=(evidence,))
    yield PageAssessed()


def _evidence(checked: str, sample: str, *, confirmed: bool) -> Evidence:
    return Evidence(
        source="DOM",
        checked=checked[:200],
        confidence=CERTAIN if confirmed else DOUBTFUL,
        sample=Untrusted(sample[:200]) if sample else None,
    )
