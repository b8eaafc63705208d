"""A proof bears a step out: the server took what was sent, or it was read from the application
afterwards.

`acknowledged`: the server answered, and the page then showed what it showed before. `stored`: the
result was found where only the application can have put it. Pure.
"""

from collections.abc import Iterable, Mapping

import msgspec

from rutter.actors.critic.verdict import Judgement, VerdictCase
from rutter.actors.rules.pages.server_exchanges import is_one_of, is_own, taken
from rutter.actors.rules.steps.check_results import AfterStep, result_of
from rutter.actors.rules.steps.pace import followed
from rutter.actors.rules.steps.placeholders import PLACEHOLDER
from rutter.events.action import CLICKS, Action, Parameter, Text
from rutter.events.checks import HERE, Check, ReadBack, TextVisible, ValueSet
from rutter.events.critic import Grade, Proof
from rutter.events.executor import ActionDone
from rutter.events.page import Exchange, Page, Resolved

SHORTEST, LONGEST = 3, 200  # of a value that is looked for: shorter ones are everywhere
MOST = 4  # values that one read-back looks for
ENTERS = frozenset({"type", "paste"})
SETS_OFF = frozenset({*CLICKS, "press"})
SEARCHES = frozenset({"searchbox", "combobox"})


class EnteredValue(msgspec.Struct, frozen=True):
    """A value was typed: as it is written in a workflow, and as it is in this run."""

    written: str
    value: str


class SessionProof(msgspec.Struct, frozen=True):
    """A session has this to prove, and by it: values that were entered and not sent yet, names that
    were there before, and every step that sent something."""

    entered: tuple[EnteredValue, ...] = ()
    known: tuple[str, ...] = ()
    proofs: tuple[Proof, ...] = ()
    made: tuple[tuple[int, tuple[str, ...]], ...] = ()


# -- what is remembered ---------------------------------------------------------------------------


def remember(
    proving: SessionProof,
    action: Action,
    typed: str | None,
    element: Resolved | None,
    values: Mapping[str, str],
) -> SessionProof:
    """Something was typed: where it shows up later, it was stored."""
    if action.type not in ENTERS or (element is not None and _is_asking(element)):
        return proving
    entered = _entered(action, typed, values)
    if entered is None or entered in proving.entered:
        return proving
    return msgspec.structs.replace(proving, entered=(*proving.entered, entered))


def _is_asking(element: Resolved) -> bool:
    """A field of a search or of a sign-in: what is typed there the application knows already."""
    return element.role in SEARCHES or element.signs_in


def _entered(action: Action, typed: str | None, values: Mapping[str, str]) -> EnteredValue | None:
    match action.value:
        case Parameter(name) if name in values:
            found = EnteredValue("${" + name + "}", values[name].strip())
        case Text(text):
            found = EnteredValue(text.strip(), text.strip())
        case _ if typed is not None:
            found = EnteredValue(typed.strip(), typed.strip())
        case _:
            return None
    fits = SHORTEST <= len(found.value) <= LONGEST and "\n" not in found.value
    return found if fits else None


def found(proving: SessionProof, action: Action, step: int) -> SessionProof:
    """An element was found by a value. Before anything was sent the application knew it already;
    afterwards that is where it shows."""
    names = {"${" + name + "}" for name in _names(action)}
    if not names:
        return proving
    made = {written: at for at, all_made in proving.made for written in all_made}
    proofs = tuple(
        _upgraded(each, step) if any(made.get(name) == each.step for name in names) else each
        for each in proving.proofs
    )
    known = tuple(dict.fromkeys((*proving.known, *(n for n in sorted(names) if n not in made))))
    return msgspec.structs.replace(proving, known=known, proofs=proofs)


def _upgraded(proof: Proof, step: int) -> Proof:
    if proof.grade == "stored":
        return proof
    return msgspec.structs.replace(proof, grade="stored", by=f"step {step} found it")


def _names(action: Action) -> tuple[str, ...]:
    texts = [
        part
        for locator in action.locators
        for part in (getattr(locator, "name", ""), getattr(locator, "text", ""))
        if isinstance(part, str)
    ]
    return tuple(name for text in texts for name in PLACEHOLDER.findall(text))


def proven(proving: SessionProof, proof: Proof) -> SessionProof:
    """A step sent something: what was entered until then is what it made. It may be sent on: what
    a page takes for review is there again when it is done with."""
    made = tuple(each.written for each in proving.entered if each.written not in proving.known)
    others = tuple(each for each in proving.proofs if each.step != proof.step)
    return msgspec.structs.replace(
        proving,
        proofs=(*others, proof),
        made=(*proving.made, (proof.step, made)),
    )


# -- what a verdict proves ------------------------------------------------------------------------


def sends(case: VerdictCase, proving: SessionProof) -> bool:
    """Whether a step sent something that matters. It cannot be undone, and the page asked its site
    for more than to read, spoke to it by a socket, or left for what came of it; or it can, and the
    site took something while there was something entered to be sent."""
    if not isinstance(case.outcome, ActionDone):
        return False
    own = [each for each in case.seen.exchanges if is_own(each, case.before.url)]
    if not case.running.irreversible:
        sets_off = case.running.action.type in SETS_OFF
        return sets_off and bool(to_look_for(proving)) and any(map(taken, own))
    spoken = any(each.socket for each in case.seen.exchanges)
    return spoken or not is_passing(case)


def is_passing(case: VerdictCase) -> bool:
    """Whether what it sent, if that was anything, may be a part of what is sent later: it can be
    undone; or only a socket was heard, and those speak all the time."""
    if not case.running.irreversible:
        return True
    own = any(is_own(each, case.before.url) for each in case.seen.exchanges)
    navigated = isinstance(case.outcome, ActionDone) and case.outcome.navigated
    learned = case.expects.learned if case.expects is not None else ()
    return not own and not navigated and not followed(learned)


def grade_of(case: VerdictCase, judgement: Judgement) -> tuple[Grade, str]:
    """How far a confirmed step that sent something is proven, and by what."""
    if case.element is not None and case.element.signs_in:
        return "stored", "the page behind the sign-in"
    outcome = case.outcome
    navigated = isinstance(outcome, ActionDone) and outcome.navigated and case.status < 400
    own = [each for each in case.seen.exchanges if is_own(each, case.before.url)]
    if any(taken(each) for each in own) or (navigated and not own):
        return "acknowledged", "the server's answer"
    shown = any(each.held for each in judgement.results)
    moved = case.expects is not None and case.expects.moved
    if shown or moved:
        return "acknowledged", "what the page showed"
    return "", ""


# -- looking for it where it must be --------------------------------------------------------------


def to_look_for(proving: SessionProof) -> tuple[EnteredValue, ...]:
    """What was entered and nobody knew before: where that shows, the step that sent it made it."""
    return tuple(each for each in proving.entered if each.written not in proving.known)[-MOST:]


def trial_of(wanted: tuple[EnteredValue, ...], url: str) -> ReadBack:
    return ReadBack(url, tuple(TextVisible(each.value) for each in wanted))


def shown_there(wanted: tuple[EnteredValue, ...], seen: AfterStep) -> ReadBack | None:
    """The read-back that would have held: of what was looked for, what the page says or holds."""
    checks = [check for each in wanted if (check := _shows(each, seen)) is not None]
    return ReadBack(HERE, tuple(checks)) if checks else None


def _shows(entered: EnteredValue, seen: AfterStep) -> Check | None:
    if result_of(TextVisible(entered.value), seen).held:
        return TextVisible(entered.written)
    return _held_by(entered, seen.page)


def _held_by(entered: EnteredValue, page: Page) -> ValueSet | None:
    """A field that holds it, if it is the only one of its name."""
    for element in page.elements:
        if element.value is None or element.value.text != entered.value or not element.name.text:
            continue
        same = [
            each
            for each in page.elements
            if (each.name.text, each.role) == (element.name.text, element.role)
        ]
        if len(same) == 1:
            return ValueSet(entered.written, element.name.text, element.role)
    return None


# -- the end -------------------------------------------------------------------------------------


def unanswered(owed: Iterable[tuple[int, str]], exchanges: Iterable[Exchange]) -> str:
    """What the page sent by itself when this was recorded, and has not had answered since the step
    that it follows from."""
    good = [each for each in exchanges if taken(each)]
    for step, kinds in owed:
        later = (each for each in good if each.step == 0 or each.step >= step)
        if not any(is_one_of(kinds, each.to) for each in later):
            return kinds
    return ""
