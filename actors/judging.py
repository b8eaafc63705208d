"""What an action really did: the verdict, from the page before and after it and what was expected.

Pure: it reads facts and expectations, never evidence. `may_still_come_ms` says how long an effect
that is not there yet is worth waiting for.
"""

import msgspec

from actors.checking import Result, Seen, result_of
from actors.expecting import has_changed
from actors.place import is_at, place_of, same_document
from actors.repeating import VALUE_NOT_SET
from events.action import kind_of
from events.checks import Check, PageState, Said, StateIs, UrlHas
from events.critic import Verdict
from events.executor import ActionDone, ActionFailed
from events.page import Page, Resolved
from events.validator import ActionStarted
from events.workflow import Expectation, RunSettings

WAITING = "the_server_has_not_answered"
NOTHING = Expectation()


class Case(msgspec.Struct, frozen=True):
    """Everything that a verdict rests on. `pending` requests of the page have no answer yet."""

    running: ActionStarted
    outcome: ActionDone | ActionFailed
    before: Page
    seen: Seen
    expects: Expectation | None = None
    settings: RunSettings = RunSettings()
    pending: int = 0
    element: Resolved | None = None

    @property
    def after(self) -> Page:
        return self.seen.page


class Judgement(msgspec.Struct, frozen=True):
    verdict: Verdict
    reason: str
    checked: str = ""
    sample: str = ""
    may_still_come_ms: int = 0
    results: tuple[Result, ...] = ()

    @property
    def failing(self) -> Result | None:
        """The check that decided against it. What nobody looked for does not hold."""
        return next((each for each in self.results if not each.held), None)


def decisive(
    running: ActionStarted, expects: Expectation | None, state: PageState
) -> tuple[Check, ...]:
    """What must hold for this step to be confirmed.

    What the page said in its own words decides where it matters: a step that cannot be undone.
    Elsewhere the next steps find out soon enough, and sites reword their notices. A page that no
    rule knows may be the expected one in a new dress; one that is known as another is not.
    """
    expected = expects or NOTHING
    learned = [each for each in expected.learned if _decides(each, running, state)]
    return (*running.action.verify, *expected.checks, *learned)


def _decides(learned: Check, running: ActionStarted, state: PageState) -> bool:
    match learned:
        case Said():
            return running.irreversible
        case StateIs():
            return state != "UNKNOWN"
        case _:
            return True


def judge(case: Case) -> Judgement:
    """The verdict as far as it can be told now."""
    found = _effect(case)
    if found.verdict == "confirmed":
        found = _checked(case, found)
    dispatched = isinstance(case.outcome, ActionDone) or case.outcome.dispatched
    if found.verdict not in ("confirmed", "unknown") and case.pending and dispatched:
        # The page has asked its server for something and waits: nobody knows yet.
        return msgspec.structs.replace(found, verdict="unknown", reason=WAITING)
    return found


def _checked(case: Case, found: Judgement) -> Judgement:
    """The effect is there; now what was stated and learned."""
    checks = decisive(case.running, case.expects, case.seen.state)
    results = tuple(result_of(check, case.seen) for check in checks)
    found = msgspec.structs.replace(found, results=results)
    failing = found.failing
    if failing is None:
        stated = case.running.action.verify or (case.expects and case.expects.checks)
        return msgspec.structs.replace(found, reason="checked") if stated else found
    elsewhere = isinstance(failing.check, StateIs | UrlHas)
    return msgspec.structs.replace(
        found,
        verdict="wrong_target" if elsewhere else "failed",
        reason=f"{kind_in_words(failing.check)} {failing.checked!r}: {failing.why}",
        sample=_hint(case) or failing.sample,
        may_still_come_ms=case.settings.place_ms,
    )


def kind_in_words(check: Check) -> str:
    """The type of a check, as it is written."""
    return str(type(check).__struct_config__.tag)


def _effect(case: Case) -> Judgement:
    """What the step did by itself, whatever else was expected of it."""
    running, outcome = case.running, case.outcome
    if isinstance(outcome, ActionFailed):
        return _failure(case, outcome)
    match running.action.type:
        case "navigate":
            return _navigation(case)
        case "type" | "select":
            if outcome.value_set is None:
                # A secret field that masks what it holds, or a page that went on by itself.
                return Judgement("confirmed", "input_dispatched", "it cannot be read back")
            if outcome.value_set:
                return Judgement("confirmed", "value_set", "the field holds the value")
            return Judgement("failed", VALUE_NOT_SET, "the field does not hold the value")
        case "check":
            return Judgement("confirmed", "looked", case.after.url, case.after.title.text)
        case "click" | "press" | "scroll":
            return _change(case)
        case "extract" | "wait" | "wait_for":
            # Observations have no verdict; logs from before they were a kind of their own do.
            return Judgement("confirmed", "observed", running.action.name or "text")


def _failure(case: Case, failed: ActionFailed) -> Judgement:
    """Input that reached the page may have worked all the same: a slow answer is no failure.

    What cannot be undone and shows no effect is not known to have failed, so it is `unknown`.
    """
    running = case.running
    seen = Judgement("failed", failed.code, failed.message or failed.code)
    if not failed.dispatched or running.action.type not in ("click", "press"):
        return seen
    effect = _change(case)
    if effect.verdict == "confirmed":
        return effect
    verdict: Verdict = "unknown" if running.irreversible else "failed"
    return msgspec.structs.replace(
        seen, verdict=verdict, may_still_come_ms=effect.may_still_come_ms
    )


def _navigation(case: Case) -> Judgement:
    after = case.after
    wanted = case.expects.place if case.expects else None
    if wanted is not None:
        reached = is_at(wanted, after.url)
    else:
        # A first visit may be redirected within the site; anything else is not what was asked.
        asked = place_of(case.running.action.url or "")
        reached = place_of(after.url).origin == asked.origin
    if reached:
        return Judgement("confirmed", "place_reached", after.url, after.title.text)
    patience = case.settings.place_ms
    return Judgement("wrong_target", "other_place", after.url, after.title.text, patience)


def _change(case: Case) -> Judgement:
    """What a click, a key or a scroll changed, against what it changed before."""
    before, after, expects = case.before, case.after, case.expects
    settings = case.settings
    if expects is not None and not expects.effect:
        return Judgement("confirmed", "no_change_as_recorded", after.url)
    moved = not same_document(before.url, after.url)
    nothing = Judgement("no_effect", "nothing_changed", after.url, _hint(case), settings.settle_ms)
    title = after.title.text
    changed = has_changed(before, after, case.element)
    if expects is None or expects.place is None:
        if changed:
            reason = "page_moved" if moved else "page_changed"
            return Judgement("confirmed", reason, after.url, title)
        return nothing
    if expects.moved and not moved:
        # A focus that moved is no effect of a button that must lead somewhere.
        if before.digest == after.digest:
            return msgspec.structs.replace(nothing, may_still_come_ms=settings.place_ms)
        said = _hint(case) or title
        return Judgement("wrong_target", "stayed_on_the_page", after.url, said, settings.place_ms)
    if not is_at(expects.place, after.url):
        return Judgement("wrong_target", "led_elsewhere", after.url, title, settings.place_ms)
    if changed:
        return Judgement("confirmed", "as_recorded", after.url, title)
    return nothing


def _hint(case: Case) -> str:
    """What the page itself says is wrong: a notice that is new, or fields that it refuses."""
    before = {alert.text for alert in case.before.alerts}
    for alert in case.after.alerts:
        if alert.text and alert.text not in before:
            return alert.text
    refused = [each.name.text for each in case.after.elements if "invalid" in each.state]
    return f"not accepted: {', '.join(refused)}" if refused else ""


def is_read_back(running: ActionStarted) -> bool:
    return running.action.aside and kind_of(running.action) == "verification"
