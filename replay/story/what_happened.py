"""A sentence says what happened in a session that failed, made of its facts when it is told.

It names the step, what was wanted there with the values in it, and what was there instead.

`trouble` tells apart what a person does about it: another value, another recording, another try.
"""

from collections.abc import Callable, Mapping
from typing import Literal, NamedTuple

from rutter.actors.rules.pages.barrier_words import SAYS
from rutter.events.action import READS
from rutter.events.causes import CauseKind
from rutter.events.faults import fault_of
from rutter.events.run_settings import MILLION
from rutter.replay.story.told_session import Ending, StepStory, Story
from rutter.replay.story.wording import kind_of, quoted

Trouble = Literal[
    "value",  # what was given is not there
    "told_why",  # the page says what is wrong with what was sent
    "changed",  # the page is not as it was recorded
    "not_found",  # the element of a step is not known on it any more
    "several",  # of what a value names
    "not_read",  # something that was to be read is not there
    "not_kept",  # a field made something else of a value
    "locked",  # the page lets nobody type there
    "forbidden",  # to this user
    "sent_signed_out",  # something was sent, and the site asks to sign in
    "says_otherwise",  # that it worked, perhaps
    "page_asked",  # what no recording has met, and was answered no
    "in_the_way",  # something that may go away, or that a recording can be taught
    "refused",  # the site said no, or that something is wrong with it
    "signed_out",
    "kept_out",  # a captcha, a site that keeps programs out
    "slow",
    "unreachable",
    "not_allowed",  # by the policy
    "needs_person",
    "asks_again",  # an earlier run may have done it
    "said_no",
    "stopped",
    "died",
    "maybe_done",  # something was sent, and nobody knows what came of it
    "not_shown",  # it was done, and the page does not show that it worked
    "other",
]

PRESSED = {"click": "was clicked", "press": "was pressed", "type": "was filled in"}
HINDERED = {
    "element_disabled": "cannot be used: it stayed disabled",
    "element_obscured": "cannot be used: something covers it",
    "element_not_visible": "is there, but cannot be seen",
    "element_moving": "cannot be used: it did not stop moving",
}
REFUSALS = {
    401: "the site asks to sign in before it shows",
    403: "the site does not let this user see",
    404: "the site has no page at",
    410: "the site has no page at",
    429: "the site is asked too often, and does not show",
}
REFUSED, OF_ITS_OWN = 400, 500  # HTTP's: no, and an error of the server
OWN_ERROR = "the site itself has an error at"
NOT_DONE = frozenset({"lost", "verification_failed", "retry_exhausted"})
# What ended a run for which no step was recorded.
WITHOUT = {
    "no_predictions": "nothing like this page was ever recorded, so nothing says what comes next",
    "value_unknown": "a field comes next, and nobody said what to type there",
    "no_model": "no workflow leads to the goal, and no language model may be asked for the steps",
    "no_criteria": "nobody said what on the page shows that it is done",
}
NOT_PROVEN: Mapping[CauseKind, str] = {
    "unsent": "the page did not send what it sent when this was recorded",
    "unanswered": "the site has not answered what was sent",
}
NOT_SEEN = "no page showed it, as one did when this was recorded"
NO_ANSWER = frozenset({"timeout"})
SENT_TO = frozenset({"the_request_was_not_answered", "the_server_has_not_answered"})
LED_AWAY = frozenset({"led_elsewhere", "other_place", "stayed_on_the_page", "answered_with"})
NO_NETWORK = {
    "net::ERR_CONNECTION_REFUSED": "nothing answers at that address",
    "net::ERR_NAME_NOT_RESOLVED": "nobody knows that name",
    "net::ERR_CONNECTION_TIMED_OUT": "it took too long",
    "net::ERR_CERT_AUTHORITY_INVALID": "its certificate is not trusted here",
    "net::ERR_INTERNET_DISCONNECTED": "this machine has no network",
}
# Why a person is asked, by the rule that asks; of all others, that it cannot be undone.
ASKED = {
    "was_irreversible": "it is not as it was recorded",
    "healed": "it is not as it was recorded",
    "denylist": "it carries a word that Rutter always asks about",
    "done_before": "an earlier run may have done it already",
    "maybe_done": "it may have been done already",
    "had_the_wheel": "you may have done it already in the window",
    "suggested": "Rutter is not sure that it is the next step",
}
ASKS_AGAIN = frozenset({"done_before", "maybe_done"})


class WhatHappened(NamedTuple):
    """It happened like this. `check` is the parameter whose value may be wrong, `step` the number
    of the step whose element is not known any more."""

    trouble: Trouble
    sentence: str
    check: str = ""
    step: int = 0


class _Told(NamedTuple):
    """A sentence is made of this."""

    story: Story
    ending: Ending
    step: StepStory | None
    code: str

    @property
    def number(self) -> int:
        """As `workflows show` counts."""
        step, place = self.step, self.ending.index
        if place < 0 and step is not None:
            place = step.index if step.source == "workflow" else step.step - 1
        return place + 1

    def at(self, sentence: str) -> str:
        """Said of the step."""
        return f"Step {self.number}: {sentence}" if self.number else _begun(sentence)

    @property
    def page(self) -> str:
        title, url = self.ending.title, self.ending.url
        return f'the page "{title}"' if title else f"the page {url}" if url else "the page"

    @property
    def element(self) -> str:
        """`the link "INV-1099"`."""
        step, ending = self.step, self.ending
        role = ending.role or (step.role if step is not None else "")
        name = ending.name or (step.element if step is not None else "")
        kind = kind_of(role)
        return f'the {kind} "{name}"' if name else f"the {kind}"

    @property
    def acted(self) -> str:
        """`"Save" was clicked`."""
        ending, step = self.ending, self.step
        name = ending.name or (step.element if step is not None else "")
        done = PRESSED.get(ending.does, "was done")
        return f'"{name}" {done}' if name else f"the step {done}"


def what_happened(story: Story) -> WhatHappened:
    """Of any session that is not done."""
    step = next((each for each in reversed(story.steps) if each.verdict != "passed_over"), None)
    told = _Told(story, story.ending or Ending(), step, story.cause.code)
    for say in _SAYINGS:
        if (said := say(told)) is not None:
            return said
    return _in_general(told)


# -- how it ended ----------------------------------------------------------------------------------


def _stopped(told: _Told) -> WhatHappened | None:
    """By somebody, in the middle of something."""
    story, ending = told.story, told.ending
    if story.reason != "cancelled":
        return None
    under_way = told.step is not None and not told.step.verdict
    where = f" at step {told.number}" if told.number else ""
    if under_way and ending.does == "navigate":
        where = " while loading a page"
    elif story.unknown:
        where = f"{where}: {told.acted}"
    trouble: Trouble = "maybe_done" if story.unknown else "stopped"
    return WhatHappened(trouble, f"Stopped{where}{_left_behind(told)}")


def _died(told: _Told) -> WhatHappened | None:
    """With its browser or its process, or because a page did not answer."""
    story, ending = told.story, told.ending
    if story.reason != "interrupted":
        return None
    if told.code in NO_ANSWER:
        what = f"the page {ending.address or ending.url} did not load in time"
        if ending.does != "navigate" and ending.name:
            what = f"{told.acted}, and the page did not answer in time"
        trouble: Trouble = "maybe_done" if story.unknown else "slow"
        return WhatHappened(trouble, f"{told.at(what)}{_left_behind(told)}")
    lost = story.failure == "browser_lost"
    who = "The browser was closed or crashed" if lost else "Rutter was ended from outside"
    where = f" at step {told.number}" if told.number else ""
    doing = f": {told.acted}" if story.unknown else ""
    trouble = "maybe_done" if story.unknown else "died"
    return WhatHappened(trouble, f"{who}{where}{doing}{_left_behind(told)}")


def _left_behind(told: _Told) -> str:
    """What may have been changed by it."""
    if told.story.unknown:
        return ". It is not known whether that was done."
    if told.story.sent:
        return ". What was sent before that stays done."
    return "; nothing was changed."


def _unreachable(told: _Told) -> WhatHappened | None:
    if told.story.failure != "unreachable":
        return None
    met, at = told.ending.met, told.ending.address or told.ending.url or "the site"
    why = f" ({NO_NETWORK.get(met, met)})" if met else ""
    return WhatHappened("unreachable", told.at(f"{at} did not answer{why}."))


def _signed_out(told: _Told) -> WhatHappened | None:
    story, ending = told.story, told.ending
    expired = story.cause.kind == "login_expired"
    signed_out = story.cause.kind == "signed_out" or story.state == "LOGIN_REQUIRED"
    if not expired and not (signed_out and (ending.place or story.cause.kind == "signed_out")):
        return None
    instead = f" instead of {ending.place}" if ending.place else ""
    what = f"{told.page} is there{instead}: the site asks to sign in."
    if story.sent:
        what = f"{told.acted}, and {what}{_not_sure(told)}"
    if expired:
        what += f" The kept login for {story.cause.origin} has expired."
    return WhatHappened("sent_signed_out" if story.sent else "signed_out", told.at(what))


def _kept_out(told: _Told) -> WhatHappened | None:
    cause = told.story.cause
    if cause.kind != "barrier":
        return None
    said = SAYS.get(cause.code) or fault_of(cause.code).words or "the page cannot be used"
    trouble: Trouble = "kept_out" if cause.code in ("captcha", "blocked") else "changed"
    return WhatHappened(trouble, told.at(f"{said}."))


def _answered_no(told: _Told) -> WhatHappened | None:
    """The site answered with a page that says that it does not, or not to the end."""
    ending, status = told.ending, told.ending.status
    if ending.blocked:
        what = f"the page led to {ending.blocked}, which this workflow may not open."
        return WhatHappened("not_allowed", told.at(what))
    if status < REFUSED or told.story.failure not in NOT_DONE:
        return None
    if told.story.sent and told.step is not None and told.step.code:
        broke = "the connection to the site broke off"
        error = broke if _is_no_page(ending) else f"the site answered with an error ({status})"
        return WhatHappened("maybe_done", told.at(f"{told.acted}, and {error}.{_not_sure(told)}"))
    said = REFUSALS.get(status, OWN_ERROR if status >= OF_ITS_OWN else "the site refused")
    given = told.story.values.items() if status in (404, 410) else ()
    check = next((name for name, value in given if value and value in ending.url), "")
    what = f"{said} {ending.url} (it answered {status})."
    otherwise: Trouble = "forbidden" if status == 403 else "refused"
    return WhatHappened("value" if check else otherwise, told.at(what), check)


def _is_no_page(ending: Ending) -> bool:
    """What the browser shows in the place of a page that did not come."""
    return ending.url.startswith("chrome-error:")


def _unproven(told: _Told) -> WhatHappened | None:
    """It went to its end, and nothing shows what came of it."""
    story = told.story
    if story.reason != "completed_unverified":
        return None
    if (said := NOT_PROVEN.get(story.cause.kind)) is not None:
        return WhatHappened("maybe_done", f"All steps were done, and {said}.")
    weak = story.lacking
    if weak is None:
        end = story.unmet or story.detail or "nothing on the page shows that it worked"
        return WhatHappened("not_shown", f"All steps were done, and {end}.")
    step = next((each for each in story.steps if each.step == weak.step), None)
    name = f'"{step.element}"' if step is not None and step.element else "it"
    seen = "the site accepted it, and nothing was found that shows it" if weak.grade else NOT_SEEN
    what = f"Rutter cannot tell whether {name} (step {weak.number}) really worked: {seen}."
    return WhatHappened("maybe_done", what)


def _not_known(told: _Told) -> WhatHappened | None:
    """Nobody knew what to do next."""
    story, cause = told.story, told.story.cause
    if cause.kind == "unsure":
        sure = cause.share * 100 // MILLION
        return WhatHappened("other", f"Rutter is only {sure} % sure of what comes next.")
    if (said := WITHOUT.get(cause.kind)) is not None:
        return WhatHappened("other", f"{_begun(said)}.")
    if story.gave_up:
        return WhatHappened(
            "other", f"The language model gave up: it says {quoted(story.gave_up)}."
        )
    return None


def _not_allowed(told: _Told) -> WhatHappened | None:
    story, step = told.story, told.step
    if story.failure == "needs_person":
        if step is None or not step.asked:
            return None
        other = "it is not as it was recorded, and " if step.source == "workflow" else ""
        why = ASKED.get(step.rule, f"{other}it cannot be undone")
        what = f"nobody was there to say yes or no to {_doing(told)}: {why}."
        trouble: Trouble = "asks_again" if step.rule in ASKS_AGAIN else "needs_person"
        return WhatHappened(trouble, told.at(what))
    if story.failure != "policy_denied" and story.reason != "policy_denied":
        return None
    if step is not None and step.asked:
        said = f': "{told.ending.said}"' if told.ending.said else ""
        return WhatHappened("said_no", told.at(f"a person said no to {_doing(told)}{said}."))
    why = fault_of(told.code).words or story.detail
    return WhatHappened("not_allowed", told.at(f"this is not allowed: {why}."))


def _doing(told: _Told) -> str:
    """`click "Save"`, as it was asked about."""
    words = told.step.words if told.step is not None else "this"
    name = told.ending.name
    return f'click "{name}"' if told.ending.does == "click" and name else words


def _missing(told: _Told) -> WhatHappened | None:
    """What the step is about is not there, or the page is another one."""
    story, ending = told.story, told.ending
    if story.failure != "lost" and told.code != "option_not_found":
        return None
    if told.code == "option_not_found":
        has = f" It has: {ending.offers}." if ending.offers else ""
        what = f'{told.element} does not have "{ending.value}".{has}'
        return WhatHappened(
            "value" if ending.value_of else "changed", told.at(what), ending.value_of
        )
    if ending.place:
        what = f"{told.page} is there instead of {ending.place}."
        return WhatHappened("changed", told.at(what))
    if told.code not in ("element_not_found", "element_ambiguous", "element_not_visible", ""):
        return None
    if ending.several > 1:
        if ending.parameter:
            called = f'{ending.role or "element"}s "{ending.name}"'
            what = f"there are {ending.several} {called} on {told.page}, and any could be meant."
            return WhatHappened("several", told.at(what), step=told.number)
        what = f"{ending.several} things on {told.page} could be {told.element}."
        return _not_found(told, f"{what} It is not clear which one is meant.", "several")
    if ending.hidden:
        what = f"{told.element} is on {told.page}, but cannot be seen."
        return WhatHappened("changed", told.at(what))
    if ending.does in READS and not ending.parameter:
        named = f' for "{ending.reads}"' if ending.reads else ""
        what = f"what is to be read{named} is not on {told.page}."
        return WhatHappened("not_read", told.at(what))
    if not ending.name and not ending.role:
        return None
    says = f' (it says "{ending.says}")' if ending.says else ""
    what = f"there is no {told.element.removeprefix('the ')} on {told.page}{says}."
    if ending.parameter:
        return WhatHappened("value", told.at(what), ending.parameter)
    near = f"{what} The nearest to it is {ending.like}."
    return _not_found(told, near if ending.like else what)


def _not_found(told: _Told, what: str, trouble: Trouble = "not_found") -> WhatHappened:
    """A person can show which element it is now; what is read has no step to do."""
    trouble = "not_read" if told.ending.does in READS else trouble
    return WhatHappened(trouble, told.at(what), step=told.number)


def _hindered(told: _Told) -> WhatHappened | None:
    """It is there, and cannot be used."""
    if told.code not in HINDERED and told.code != "value_not_set":
        return None
    step, ending = told.step, told.ending
    if told.code == "value_not_set":
        value = f'"{ending.value}"' if ending.value else "what was typed"
        what = f"{told.element} did not keep {value}."
        return WhatHappened(
            "not_kept" if ending.value_of else "changed", told.at(what), ending.value_of
        )
    over = f'the dialog "{ending.over}"' if ending.over else ending.met
    by = f" ({over})" if over else ""
    if "read-only" in ending.met:
        return WhatHappened("locked", told.at(f"{told.element} cannot be used: it is read-only."))
    seconds = step.waited_ms / 1000 if step is not None else 0
    long = f" Rutter waited {seconds:.1f} s for it." if seconds else ""
    what = f"{told.element} {HINDERED[told.code]}{by}.{long}"
    return WhatHappened("in_the_way", told.at(what))


def _did_not_work(told: _Told) -> WhatHappened | None:
    """It was done, and the page does not show that it worked."""
    story, ending, step = told.story, told.ending, told.step
    if story.failure not in ("verification_failed", "retry_exhausted") or step is None:
        return None
    asked = ""
    if ending.asked:
        answer = "yes" if ending.answered == "accepted" else "no"
        asked = f' The page asked "{ending.asked}", and Rutter answered {answer}.'
    if ending.alerts and step.verdict != "unknown" and not ending.sought:
        what = f'{told.acted}, and the page says "{ending.alerts[0]}"'
    elif ending.sought:
        what = f"{told.acted}, and {ending.sought}"
        what += f' (it says "{ending.alerts[0]}")' if ending.alerts else ""
    elif step.code == "nothing_changed":
        what = f"{told.acted}, and nothing changed on {told.page}"
    elif step.code in LED_AWAY and ending.place and ending.does == "navigate":
        what = f"{told.page} came instead of {ending.place}"
    elif step.code in LED_AWAY and ending.place:
        what = f"{told.acted}, and {told.page} came instead of {ending.place}"
    elif step.code in SENT_TO or told.code == "timeout":
        what = f"{told.acted}, and the site did not answer"
    else:
        what = f"{told.acted}, and nothing on {told.page} shows that it worked"
    if story.state == "FAILED" and ending.alerts and not story.unknown:
        return WhatHappened("told_why", told.at(f"{what}.{asked}"))
    trouble: Trouble = "not_shown" if story.sent else "changed"
    trouble = "maybe_done" if story.unknown else trouble
    if ending.asked and ending.answered == "dismissed":
        trouble = "page_asked"
    elif ending.sought and ending.alerts:
        trouble = "says_otherwise"
    unsure = _not_sure(told)
    return WhatHappened(trouble, told.at(f"{what}.{asked}{unsure}"), step=told.number)


def _not_sure(told: _Told) -> str:
    return " It is not known whether that was done." if told.story.sent else ""


def _in_general(told: _Told) -> WhatHappened:
    """By the table of faults, with what the step met, or else with what is known besides."""
    story, kind = told.story, told.story.failure or told.story.reason
    words = fault_of(kind).words or "it came to no end that is known"
    met = fault_of(told.code).words if told.code != kind else ""
    more = f": {met or story.detail}" if met or story.detail else ""
    trouble: Trouble = "needs_person" if story.failure == "needs_person" else "other"
    return WhatHappened(trouble, told.at(f"{words}{more}."))


def _begun(sentence: str) -> str:
    """As a sentence begins."""
    return sentence[:1].upper() + sentence[1:]


_SAYINGS: tuple[Callable[[_Told], WhatHappened | None], ...] = (
    _stopped,
    _died,
    _unreachable,
    _signed_out,
    _kept_out,
    _answered_no,
    _unproven,
    _not_known,
    _not_allowed,
    _missing,
    _hindered,
    _did_not_work,
)
