"""A verdict says what an action really did, by the page before and after it and what was expected.

Pure: it reads facts and expectations, never evidence. `may_still_come_ms` says how long an effect
that is not there yet is worth waiting for.
"""

from typing import cast

import msgspec

from rutter.actors.rules.pages.address import is_at, path_of, place_of, same_document, stands_at
from rutter.actors.rules.pages.changes import NAMELESS
from rutter.actors.rules.pages.expected_changes import has_changed
from rutter.actors.rules.pages.page_state import BROWSER_ERROR
from rutter.actors.rules.pages.server_exchanges import is_open, is_own, taken, unanswered, worst
from rutter.actors.rules.steps.check_results import AfterStep, CheckResult, result_of
from rutter.events.action import CLICKS, kind_of
from rutter.events.causes import CheckKind, VerdictCode
from rutter.events.checks import (
    AlertSaid,
    Check,
    ElementState,
    PageState,
    ServerAnswered,
    StateIs,
    UrlHas,
)
from rutter.events.critic import Verdict
from rutter.events.executor import ActionDone, ActionFailed
from rutter.events.page import Page, Resolved
from rutter.events.run_settings import RunSettings
from rutter.events.validator import ActionStarted
from rutter.events.workflow import Expectation, Place

ENTERING = frozenset({"type", "select"})
NOTHING = Expectation()


class VerdictCase(msgspec.Struct, frozen=True):
    """A verdict rests on this case. `pending` requests of the page have no answer yet; `sent` were
    to change something on the other side. `status` is the document's own. `url` is what the page's
    address was when input was dispatched: what it was before, the page itself changed. `signed_in`:
    a login was taken along to where it was to go, which asked to sign in when it was recorded."""

    running: ActionStarted
    outcome: ActionDone | ActionFailed
    before: Page
    seen: AfterStep
    expects: Expectation | None = None
    settings: RunSettings = RunSettings()
    pending: int = 0
    sent: int = 0
    status: int = 0
    element: Resolved | None = None
    url: str = ""
    signed_in: bool = False

    @property
    def after(self) -> Page:
        return self.seen.page


class Judgement(msgspec.Struct, frozen=True):
    """A verdict as far as it can be told: what it rests on, and `words` where that needs some."""

    verdict: Verdict
    code: VerdictCode
    checked: str = ""
    sample: str = ""
    may_still_come_ms: int = 0
    results: tuple[CheckResult, ...] = ()
    words: str = ""

    @property
    def reason(self) -> str:
        return self.words or self.code

    @property
    def failing(self) -> CheckResult | None:
        """The check that decided against it. What nobody looked for does not hold."""
        return next((each for each in self.results if not each.held), None)


def decisive(
    running: ActionStarted,
    expects: Expectation | None,
    state: PageState,
    before: PageState = "UNKNOWN",
) -> tuple[Check, ...]:
    """What must hold for this step to be confirmed.

    What the page said in its own words decides where it matters: a step that cannot be undone.
    Elsewhere the next steps find out soon enough, and sites reword their notices. A page that no
    rule knows may be the expected one in a new dress; one that is known as another is not.
    """
    expected = expects or NOTHING
    learned = [each for each in expected.learned if _decides(each, running, state, before)]
    return (*running.action.verify, *expected.checks, *learned)


def _decides(learned: Check, running: ActionStarted, state: PageState, before: PageState) -> bool:
    match learned:
        case AlertSaid() | ServerAnswered():
            return running.irreversible
        case StateIs():
            # One that is what it was may only have worded its notice otherwise.
            return running.irreversible or state not in ("UNKNOWN", before)
        case _:
            return True


def judge(case: VerdictCase) -> Judgement:
    """The verdict as far as it can be told now."""
    found = _effect(case)
    if found.code == "other_place" and _is_needless(case):
        # A page that still asks its server may find that nobody is signed in, and lead back.
        wait = found.may_still_come_ms if case.pending else 0
        return Judgement(
            "confirmed", "signed_in_already", case.after.url, case.after.title.text, wait
        )
    if found.verdict == "confirmed":
        found = _checked(case, found)
    if found.verdict == "confirmed":
        found = _unless_it_says_no(case, _in_its_state(case, found))
    return _doubted(case, found)


def _is_needless(case: VerdictCase) -> bool:
    """Whoever is signed in is led on by the page that asks the others to sign in."""
    if isinstance(case.outcome, ActionDone) and case.outcome.file:
        return False
    return case.signed_in and case.seen.state != "LOGIN_REQUIRED" and 0 < case.status < 400


def _doubted(case: VerdictCase, found: Judgement) -> Judgement:
    """What nobody can know yet, or any more, is unknown."""
    change = msgspec.structs.replace
    dispatched = isinstance(case.outcome, ActionDone) or case.outcome.dispatched
    if not dispatched or case.running.action.type in ENTERING or found.verdict == "unknown":
        return found
    if _shows_its_own_error(case):
        return _unanswered(case, found)
    if found.verdict == "confirmed":
        # It changed something, and what cannot be undone is still under way.
        if _is_under_way(case) and not _is_told(case, found):
            return _waiting(case, found)
        return _unless_refused(case, found)
    if case.pending:
        return _waiting(case, found)
    if found.verdict != "no_effect":
        return found
    if case.sent:
        return change(found, verdict="unknown", code="something_was_sent_and_nothing_is_shown")
    if isinstance(case.outcome, ActionDone) and case.outcome.navigated:
        # What it sent to get there nobody counted; a second try would send it again.
        return change(found, verdict="unknown", code="the_page_came_anew_as_it_was")
    return found


def _is_under_way(case: VerdictCase) -> bool:
    """Something was sent and has no answer. A poll, which only reads, never has one."""
    told = [each for each in case.seen.exchanges if is_own(each, case.before.url)]
    under_way = [each for each in told if is_open(each)]
    if any(each.document for each in under_way):
        return case.running.irreversible
    if not (case.pending and case.sent and case.running.irreversible):
        return False
    return not told or bool(under_way)


def _unless_refused(case: VerdictCase, found: Judgement) -> Judgement:
    """Whatever the page shows: what the server refused, all of it, was not done."""
    if not case.running.irreversible:
        return found
    own = [each for each in case.seen.exchanges if is_own(each, case.before.url)]
    stayed = same_document(case.before.url, case.after.url)
    bad = worst(own)
    if any(taken(each) for each in own):
        return found
    if bad is None:
        # Of what was on its way when the page was left nobody hears, however it was answered.
        lost = any(unanswered(each) and (each.status or stayed) for each in own)
        return _unanswered(case, found) if lost else found
    words = f"answered_with_{bad.status}"
    return msgspec.structs.replace(
        found, verdict="failed", code="answered_with", words=words, checked=bad.to
    )


def _shows_its_own_error(case: VerdictCase) -> bool:
    """Whether the browser shows a page of its own: what was asked for has no answer."""
    return case.after.url.startswith(BROWSER_ERROR) and case.running.action.type != "navigate"


def _unanswered(case: VerdictCase, found: Judgement) -> Judgement:
    """What was sent may have been taken, and what only read brought nothing."""
    sent = case.running.irreversible or case.sent or case.seen.exchanges
    if not sent and found.verdict != "confirmed":
        return found
    return msgspec.structs.replace(
        found,
        verdict="unknown" if sent else "wrong_target",
        code="the_request_was_not_answered",
        words="",
        may_still_come_ms=0,
    )


def _is_told(case: VerdictCase, found: Judgement) -> bool:
    """Whether the page says in words that it was done, or what was stated is so."""
    stated = case.running.action.verify or (case.expects and case.expects.checks)
    return bool(stated) or any(isinstance(each.check, AlertSaid) for each in found.results)


def _waiting(case: VerdictCase, found: Judgement) -> Judgement:
    """As long as the server has time to answer, it may."""
    wait = case.settings.answer_ms
    return msgspec.structs.replace(
        found,
        verdict="unknown",
        code="the_server_has_not_answered",
        words="",
        may_still_come_ms=wait,
    )


def _checked(case: VerdictCase, found: Judgement) -> Judgement:
    """The effect is there; now what was stated and learned."""
    results = tuple(result_of(check, case.seen) for check in asked_for(case))
    found = msgspec.structs.replace(found, results=results)
    failing = found.failing
    if failing is None:
        stated = case.running.action.verify or (case.expects and case.expects.checks)
        return msgspec.structs.replace(found, code="checked") if stated else found
    code, verdict = kind_of_check(failing.check), _verdict_by(failing, case)
    words = f"{code} {failing.checked!r}: {failing.why}"
    return _contradicted(case, found, verdict, code, words, failing.sample)


def _contradicted(
    case: VerdictCase,
    found: Judgement,
    verdict: Verdict,
    code: VerdictCode,
    words: str,
    sample: str,
) -> Judgement:
    """The page speaks against what was found, and may yet change its mind."""
    return msgspec.structs.replace(
        found,
        verdict=verdict,
        code=code,
        words=words,
        sample=_hint(case) or sample,
        may_still_come_ms=case.settings.place_ms,
    )


def _verdict_by(failing: CheckResult, case: VerdictCase) -> Verdict:
    if isinstance(failing.check, StateIs | UrlHas):
        return "wrong_target"
    if isinstance(failing.check, ServerAnswered):
        # What the server refused was not done; of what it was not asked nobody knows.
        return "failed" if failing.sample else "unknown"
    if isinstance(failing.check, AlertSaid) and failing.check.whole and failing.sample:
        # It says something, and not what it said when it was recorded: nobody knows what it means.
        return "failed" if case.seen.state == "FAILED" else "unknown"
    return "failed"


def asked_for(case: VerdictCase) -> tuple[Check, ...]:
    """What must hold, less what was learned and cannot be seen on a page that was cut."""
    learned = case.expects.learned if case.expects is not None else ()
    checks = decisive(case.running, case.expects, case.seen.state, case.seen.state_before)
    return tuple(
        each for each in checks if each not in learned or not result_of(each, case.seen).unseen
    )


def _unless_it_says_no(case: VerdictCase, found: Judgement) -> Judgement:
    """A page that says that it failed is no success, and was none when it was recorded."""
    now, before = case.seen.state, case.seen.state_before
    stated = (*case.running.action.verify, *(case.expects.checks if case.expects else ()))
    asked_for = any(isinstance(each, StateIs) and each.value == now for each in stated)
    says_no = case.running.irreversible and now == "FAILED" != before and not asked_for
    if found.verdict != "confirmed" or not says_no:
        return found
    words = "page_state: it says that it failed"
    return _contradicted(case, found, "failed", "says_failed", words, found.sample)


def _in_its_state(case: VerdictCase, found: Judgement) -> Judgement:
    """The state of the page (S1 FR-005). A sign-in page is never where a step was to lead; other
    states that differ decide about what cannot be undone."""
    if not (differing := differs(case)):
        return found
    if differing != "LOGIN_REQUIRED" and not case.running.irreversible:
        return found
    expected = case.expects.state if case.expects is not None else None
    words = f"page_state {expected}: it is {differing}"
    return _contradicted(case, found, "wrong_target", "page_state", words, found.sample)


def differs(case: VerdictCase) -> PageState | None:
    """The state of the page, if it is known and another than when the step was recorded."""
    recorded, now = case.expects.state if case.expects is not None else None, case.seen.state
    return None if recorded is None or now in NAMELESS or now == recorded else now


def kind_of_check(check: Check) -> CheckKind:
    """The type of a check, as it is written."""
    return cast(CheckKind, type(check).__struct_config__.tag)


def _effect(case: VerdictCase) -> Judgement:
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
            return Judgement("failed", "value_not_set", "the field does not hold the value")
        case "check":
            return Judgement("confirmed", "looked", case.after.url, case.after.title.text)
        case "click" | "press" | "scroll" | "drag":
            return _change(case)
        case "hover" | "wheel":
            return Judgement("confirmed", "input_dispatched", "what it shows is for the next step")
        case "extract" | "read_page" | "ghost_extract" | "wait" | "wait_for":
            # Observations have no verdict; logs from before they were a kind of their own do.
            return Judgement("confirmed", "observed", running.action.name or "text")


def _failure(case: VerdictCase, failed: ActionFailed) -> Judgement:
    """Input that reached the page may have worked all the same: a slow answer is no failure.

    What cannot be undone and shows no effect is not known to have failed, so it is `unknown`.
    """
    running = case.running
    seen = Judgement("failed", failed.code, failed.message or failed.code)
    if not failed.dispatched or running.action.type not in (*CLICKS, "press"):
        return seen
    effect = _change(case)
    if effect.verdict == "confirmed":
        return effect
    verdict: Verdict = "unknown" if running.irreversible else "failed"
    return msgspec.structs.replace(
        seen, verdict=verdict, may_still_come_ms=effect.may_still_come_ms
    )


def _navigation(case: VerdictCase) -> Judgement:
    after, title = case.after, case.after.title.text
    patience = case.settings.place_ms
    if isinstance(case.outcome, ActionDone) and case.outcome.file:
        came = ", ".join(case.seen.downloads)
        if came and not (case.expects is not None and case.expects.moved):
            return Judgement("confirmed", "download", after.url, came)
        wait = 0 if came else case.settings.answer_ms
        return Judgement("wrong_target", "other_place", after.url, title, wait)
    if not _is_reached(case):
        return Judgement("wrong_target", "other_place", after.url, title, patience)
    # Where a page was recorded, or a result is looked for, an error page in its place is neither.
    worst = 400 if is_read_back(case.running) else 500
    if case.status >= worst and (is_read_back(case.running) or case.expects is not None):
        said = f"answered_with_{case.status}"
        return Judgement("wrong_target", "answered_with", after.url, title, words=said)
    return Judgement("confirmed", "place_reached", after.url, title)


def _is_reached(case: VerdictCase) -> bool:
    asked = place_of(case.running.action.url or "")
    if case.expects is not None and case.expects.place is not None:
        return _is_at(case.expects.place, case)
    if is_read_back(case.running):
        return is_that_page(case.running.action.url or "", case)
    # A first visit may be redirected within the site; anything else is not what was asked.
    return place_of(case.after.url).origin == asked.origin


def is_that_page(url: str, case: VerdictCase) -> bool:
    """A result shows on the page that was asked for: not on one in its place, such as a sign-in."""
    now, stated = case.seen.state, case.running.action.verify
    if now in ("LOGIN_REQUIRED", "FAILED") and StateIs(now) not in stated:
        return False
    same_site = place_of(url).origin == place_of(case.after.url).origin
    return same_site and path_of(url).rstrip("/") == path_of(case.after.url).rstrip("/")


def _change(case: VerdictCase) -> Judgement:
    """What a click, a key or a scroll changed, against what it changed before."""
    before, after, expects = case.before, case.after, case.expects
    settings, title = case.settings, after.title.text
    moved = not same_document(before.url, after.url)
    clicked = case.running.action.type in CLICKS
    left = msgspec.structs.replace(before, url=case.url or before.url)
    changed = bool(case.seen.downloads) or has_changed(left, after, case.element, clicked=clicked)
    # What is known to come has more time to come.
    awaited = expects is not None and (expects.learned or expects.checks or expects.read_back)
    patience = settings.place_ms if awaited else settings.settle_ms
    nothing = Judgement("no_effect", "nothing_changed", after.url, _hint(case), patience)
    if expects is not None and not expects.effect:
        return _nothing_recorded(case, nothing, changed=changed, moved=moved)
    if expects is None or expects.place is None:
        code: VerdictCode = "page_moved" if moved else "page_changed"
        return Judgement("confirmed", code, after.url, title) if changed else nothing
    if expects.moved and not moved and not (changed and _was_there(case, expects.place)):
        # A focus that moved is no effect of a button that must lead somewhere.
        if before.digest == after.digest:
            return msgspec.structs.replace(nothing, may_still_come_ms=settings.place_ms)
        said = _hint(case) or title
        return Judgement("wrong_target", "stayed_on_the_page", after.url, said, settings.place_ms)
    if not _is_at(expects.place, case):
        return Judgement("wrong_target", "led_elsewhere", after.url, title, settings.place_ms)
    if not changed and _stood_so(case):
        return Judgement("confirmed", "as_it_was", after.url, title)
    return Judgement("confirmed", "as_recorded", after.url, title) if changed else nothing


def _is_at(place: Place, case: VerdictCase) -> bool:
    """At the recorded place. What a page says that failed, or asks to sign in, is not there by an
    address that it only passed through."""
    if case.seen.state in ("LOGIN_REQUIRED", "FAILED") or case.status >= 400:
        return is_at(place, case.after.url)
    return stands_at(place, case.after)


def _was_there(case: VerdictCase, place: Place) -> bool:
    """Whether the page had named itself as the place before the step that was to lead there."""
    return bool(case.before.been) and is_at(place, case.before.url)


def _stood_so(case: VerdictCase) -> bool:
    """A choice that was made already: the element stands as it was to stand, and a second click
    would change nothing either."""
    learned = case.expects.learned if case.expects is not None else ()
    stands = [each for each in learned if isinstance(each, ElementState)]
    chosen = [each for each in stands if each.value in ("checked", "selected")]
    return bool(chosen) and all(result_of(each, case.seen).held for each in chosen)


def _nothing_recorded(
    case: VerdictCase, nothing: Judgement, *, changed: bool, moved: bool
) -> Judgement:
    """Nothing was seen to change when it was recorded. It may lead nowhere else; and of what cannot
    be undone, that nothing is to be seen is no sign that it was done."""
    after = case.after
    place = case.expects.place if case.expects is not None else None
    if moved and place is not None and place_of(after.url).origin != place.origin:
        return Judgement("wrong_target", "led_elsewhere", after.url, after.title.text)
    if case.running.irreversible and not changed:
        return msgspec.structs.replace(nothing, verdict="unknown")
    code: VerdictCode = "page_changed" if changed else "no_change_as_recorded"
    return Judgement("confirmed", code, after.url, after.title.text)


def _hint(case: VerdictCase) -> str:
    """What the page itself says is wrong: a notice that is new, or fields that it refuses."""
    before = {alert.text for alert in case.before.alerts}
    for alert in case.after.alerts:
        if alert.text and alert.text not in before:
            return alert.text
    refused = [each.name.text for each in case.after.elements if "invalid" in each.state]
    return f"not accepted: {', '.join(refused)}" if refused else ""


def is_read_back(running: ActionStarted) -> bool:
    return running.action.aside and kind_of(running.action) == "verification"
