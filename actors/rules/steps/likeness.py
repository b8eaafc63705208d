"""Likeness says how like a recorded element each one on the page is, and which it is (design 7).

Kinds of evidence, each in millionths: what it says, what it does (where a link leads, what a
button sends, which field of a form it is), what it is called (test ids, ids), what stands around
it, its tag, its place. A score alone would be a vote of weak witnesses: an element is taken only
on grounds, above a minimum, and clearly ahead of the second.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal

import msgspec

from rutter.actors.rules.pages.address import blur
from rutter.actors.rules.steps.placeholders import PLACEHOLDER
from rutter.events.action import (
    Box,
    ByBeside,
    ByCss,
    ByRole,
    ByText,
    Fingerprint,
    Target,
    Untrusted,
    locator_text,
)
from rutter.events.page import Resolved
from rutter.events.run_settings import MILLION

# sure: go on. unsure: a person says whether it is the one. none: it is another.
Grounds = Literal["sure", "unsure", "none"]

# Tuned on one set of made-up pages and measured on another
# (tests/end_to_end/test_redesigned_sites.py).
MINIMUM = 450_000
MARGIN = 100_000
UNGROUNDED = 340_000  # the most that an element without grounds can have

SAME_WORDS = 900_000
HALF = 500_000
DOES = MILLION  # certainly does the same
ONE_OF_MANY = 700_000  # the same to another thing, perhaps
PARTLY = 400_000

TEST_IDS = ("data-testid", "data-test-id", "data-test", "data-cy", "data-qa")
FIELDS = frozenset({"input", "select", "textarea"})
TYPED_INTO = frozenset({"textbox", "searchbox"})
PLAIN_TYPES = frozenset({"", "text", "search", "email", "tel", "url", "number"})
FAR_PX = 600  # from here on being in another place says nothing more

# Acting leans on what an element says and does. What is read is data, different each time: it is
# known by what stands around it.
WEIGHTS = {"says": 250, "does": 450, "called": 100, "near": 100, "tag": 60, "place": 40}
# A person sees what it says; that it sends something else may be what was changed about it.
SHOWN_WEIGHTS = {"says": 350, "does": 150, "called": 200, "near": 150, "tag": 50, "place": 100}
OTHER_ROLE = 50_000
READING_WEIGHTS = {"says": 100, "does": 0, "called": 100, "near": 500, "tag": 150, "place": 50}


class LikenessEvidence(msgspec.Struct, frozen=True):
    """Evidence speaks for an element, in millionths; `None` where the recording says nothing.

    `labelled`: what stands before it is what stood before the recorded one.
    """

    says: int | None
    does: int | None
    called: int | None
    near: int | None
    tag: int
    place: int | None
    labelled: bool


class LikenessChoice(msgspec.Struct, frozen=True):
    """A choice is the best element and the second, with scores. `clear` says whether to take it."""

    element: Resolved | None = None
    score: int = 0
    second: Resolved | None = None
    runner_up: int = 0
    clear: bool = False


def filled(fingerprint: Fingerprint, values: Mapping[str, str]) -> Fingerprint:
    """The fingerprint as this run should meet it: parameters by their values."""

    def fill(text: str) -> str:
        return PLACEHOLDER.sub(lambda found: values.get(found[1], found[0]), text)

    return mapped(fingerprint, fill)


def mapped(fingerprint: Fingerprint, change: Callable[[str], str]) -> Fingerprint:
    """Every text of the fingerprint changed in the same way."""
    return msgspec.structs.replace(
        fingerprint,
        name=Untrusted(change(fingerprint.name.text)),
        text=Untrusted(change(fingerprint.text.text)),
        near=tuple(Untrusted(change(near.text)) for near in fingerprint.near),
        attributes=tuple((name, change(value)) for name, value in fingerprint.attributes),
    )


def found_by_data(target: Target) -> bool:
    """Chosen by a parameter's value alone: nothing else on the page can stand in for it."""
    named = ByRole | ByText | ByBeside
    names = [locator_text(it) if isinstance(it, named) else "" for it in target.strategies]
    return bool(names) and all("${" in name for name in names)


def score(target: Target, element: Resolved, *, reading: bool = False) -> int:
    """How like the recorded element this one is, in millionths."""
    evidence = weigh(target, element, reading=reading)
    if evidence is None:
        return 0
    weighed = _weighed(evidence, READING_WEIGHTS if reading else WEIGHTS)
    return min(weighed, UNGROUNDED) if _judge(target, evidence, reading) == "none" else weighed


def similarity(target: Target, element: Resolved) -> int:
    """How much it resembles the recorded element to a person, in millionths: what it says, what it
    is called, what stands around it, what it does and where it is, whatever its role."""
    recorded = target.fingerprint
    if recorded is None:
        return 0
    role = element.fingerprint.role
    akin = msgspec.structs.replace(recorded, role=role)
    same = msgspec.structs.replace(target, fingerprint=akin)
    evidence = weigh(same, element)
    if evidence is None:
        return 0
    return _weighed(evidence, SHOWN_WEIGHTS) - (0 if recorded.role == role else OTHER_ROLE)


def grounds(target: Target, element: Resolved, *, reading: bool = False) -> Grounds:
    """What there is to take this element for the recorded one, whatever the score."""
    evidence = weigh(target, element, reading=reading)
    return "none" if evidence is None else _judge(target, evidence, reading)


def choose(
    target: Target, elements: Sequence[Resolved], *, reading: bool = False
) -> LikenessChoice:
    """The most like of these, and whether it is that clearly."""
    ranked = sorted(
        ((score(target, element, reading=reading), -at) for at, element in enumerate(elements)),
        reverse=True,
    )
    if not ranked:
        return LikenessChoice()
    best, at = ranked[0]
    runner_up, second_at = ranked[1] if len(ranked) > 1 else (0, 1)
    return LikenessChoice(
        element=elements[-at],
        score=best,
        second=elements[-second_at] if len(ranked) > 1 else None,
        runner_up=runner_up,
        clear=best >= MINIMUM and best - runner_up >= MARGIN,
    )


# -- evidence --------------------------------------------------------------------------------------


def weigh(target: Target, element: Resolved, *, reading: bool = False) -> LikenessEvidence | None:
    """The evidence for this element; nothing when it is of another kind."""
    recorded, found = target.fingerprint, element.fingerprint
    if recorded is None or not _akin(recorded, element):
        return None
    traits, others = dict(recorded.attributes), dict(found.attributes)
    near = tuple(_said(text, reading=reading) for text in recorded.near)
    near_found = tuple(_said(text, reading=reading) for text in found.near)
    return LikenessEvidence(
        says=_says(recorded, found, reading=reading),
        does=_does(recorded.tag, traits, others),
        called=_called(target, traits, others),
        near=_near(near, near_found),
        tag=MILLION if recorded.tag == found.tag else 0,
        place=_place(recorded.box, found.box),
        labelled=bool(near and near[0]) and near[:1] == near_found[:1],
    )


def resemblance(text: str, other: str) -> int:
    """How like two labels are: half by their words, half by pairs of letters."""
    words, others = _words(text), _words(other)
    if words == others or "".join(words) == "".join(others):
        return MILLION
    pairs, other_pairs = _pairs(words), _pairs(others)
    return (_overlap(words, others) + _overlap(pairs, other_pairs)) // 2


def _said(text: Untrusted, *, reading: bool) -> str:
    """Numbers count where something is done: `Page 1` is not `Page 2`. What is read is data."""
    return blur(text.text) if reading else " ".join(text.text.casefold().split())


def _says(recorded: Fingerprint, found: Fingerprint, *, reading: bool) -> int | None:
    name, text = (_said(part, reading=reading) for part in (recorded.name, recorded.text))
    other, other_text = (_said(part, reading=reading) for part in (found.name, found.text))
    if not name and not text:
        return HALF if other or other_text else None
    if not name or not text or name == text:
        return resemblance(name or text, other or other_text)
    return (2 * resemblance(name, other) + resemblance(text, other_text)) // 3


def _does(tag: str, traits: Mapping[str, str], others: Mapping[str, str]) -> int | None:
    """Whether it does the same, as far as the page shows that: scripts are not looked into."""
    if "href" in traits or "href" in others:
        same = _same_address(traits.get("href", ""), others.get("href", ""))
        numbered = traits.get("numbered", "")
        exact = same == ONE_OF_MANY and numbered and numbered == others.get("numbered")
        return DOES if exact else same
    if "sends" in traits or "sends" in others:
        return _sends(tag, traits, others)
    if tag in FIELDS and traits.get("form") and traits.get("name"):
        same = all(traits.get(key) == others.get(key) for key in ("name", "value"))
        return _in_form(traits, others) if same else 0
    return None


def _in_form(traits: Mapping[str, str], others: Mapping[str, str]) -> int:
    """A field is what it is wherever its form is sent, on this site and in the same way."""
    form, other = traits["form"], others.get("form", "")
    if same := _same_form(form, other) or _same_bearing(traits, others):
        return same
    (method, address, _), (other_method, led, _) = _parts(form), _parts(other)
    own = not address.startswith("http") and not led.startswith("http")
    return PARTLY if own and led and method == other_method else 0


def _sends(tag: str, traits: Mapping[str, str], others: Mapping[str, str]) -> int | None:
    if _is_unsaid(traits, others):
        return None
    if traits.get("name") != others.get("name"):
        return 0
    if traits.get("value") != others.get("value") and not _is_label(tag, traits, others):
        return 0
    same = _same_form(traits.get("form", ""), others.get("form", ""))
    same = same or _same_bearing(traits, others)
    # Of several buttons that send the same, a script may tell them apart.
    alone = traits.get("sends") == others.get("sends") == "alone"
    return same if alone else same // 2


def _is_unsaid(traits: Mapping[str, str], others: Mapping[str, str]) -> bool:
    """Whether nobody knows what is sent: a script sends it, and its fields are others. Older
    recordings have nothing of forms that name no address and only read."""
    if not traits.get("form") and not others.get("form"):
        return not _same_bearing(traits, others)
    older = not traits.get("form") and not traits.get("bears")
    return older and others.get("form", "").startswith("get ")


def _is_label(tag: str, traits: Mapping[str, str], others: Mapping[str, str]) -> bool:
    """The value of `<input type=submit>` is its label. Where its form has another button too, it is
    also what tells them apart."""
    if tag != "input" or traits.get("type") != "submit":
        return False
    older = "bears" not in traits
    return "only" in others and ("only" in traits or older)


def _same_bearing(traits: Mapping[str, str], others: Mapping[str, str]) -> int:
    """The same form at another stage: an address that differs in ids and in `add` or `edit`, or
    that of the page that it is on."""
    same = any(traits.get(key, "") == others.get(key) for key in ("bears", "home"))
    return ONE_OF_MANY if same else 0


def _same_form(form: str, other: str) -> int:
    """The same fields, hidden ones with their values, to the same address in the same way."""
    if not form or not other:
        return 0
    (method, address, fields), (other_method, led, others) = _parts(form), _parts(other)
    same = _same_address(address, led) if method == other_method else 0
    if fields != others:
        return min(same, PARTLY)
    return min(same, ONE_OF_MANY) if "*" in fields else same


def _parts(form: str) -> tuple[str, str, str]:
    method, _, rest = form.partition(" ")
    address, _, fields = rest.partition(" ")
    return method, address, fields


def _same_address(address: str, other: str) -> int:
    """One with a number in it that the page is not about (`*`) names one of many."""
    if not address or not other:
        return 0
    if address == other:
        return ONE_OF_MANY if "*" in address else DOES
    return PARTLY if address.partition("?")[0] == other.partition("?")[0] else 0


def _called(target: Target, traits: Mapping[str, str], others: Mapping[str, str]) -> int | None:
    """By marks that were its own: one that every row has does not tell rows apart."""
    css = [locator.selector for locator in target.strategies if isinstance(locator, ByCss)]
    selectors = [selector.rpartition(" >>> ")[2].replace("\\", "") for selector in css]
    marks = [
        key
        for key in (*TEST_IDS, "id", "name")
        if key in traits and any(_marks(key, traits[key], selector) for selector in selectors)
    ]
    if not marks:
        return None
    return sum(traits[key] == others.get(key) for key in marks) * MILLION // len(marks)


def _marks(key: str, value: str, selector: str) -> bool:
    return selector == f"#{value}" if key == "id" else selector.endswith(f'[{key}="{value}"]')


def _near(wanted: Iterable[str], found: Iterable[str]) -> int | None:
    texts = {text for text in wanted if text}
    return len(texts & set(found)) * MILLION // len(texts) if texts else None


def _place(recorded: Box | None, found: Box | None) -> int | None:
    if recorded is None or found is None:
        return None
    away = abs(recorded.x - found.x) + abs(recorded.y - found.y)
    return max(0, FAR_PX - away) * MILLION // FAR_PX


# -- verdicts --------------------------------------------------------------------------------------


def _akin(recorded: Fingerprint, element: Resolved) -> bool:
    """Of the same kind. A secret field stays one, and nothing else becomes one."""
    found = element.fingerprint
    roles = {recorded.role, found.role}
    if len(roles) > 1 and not roles <= TYPED_INTO:
        return False
    kind = dict(recorded.attributes).get("type", "")
    if (kind == "password") != (element.kind == "password"):
        return False
    if recorded.tag != "input" or found.tag != "input":
        return True
    return kind == element.kind or {kind, element.kind} <= PLAIN_TYPES


def _judge(target: Target, evidence: LikenessEvidence, reading: bool) -> Grounds:
    if reading:
        return "sure" if _readable(evidence) else "none"
    return _grounds(evidence, _telling(target))


def _grounds(evidence: LikenessEvidence, telling: bool) -> Grounds:
    """Doing the same is ground alone. Saying the same is, where the label was the only one of its
    kind when it was recorded, or its surroundings say that it is this one. Where only marks speak
    for an element that says or does something else a person is asked: marks are reused.
    """
    if evidence.does == DOES:
        return "sure"
    named = (evidence.called or 0) >= HALF
    at_home = (evidence.near or 0) >= HALF
    says = MILLION if evidence.says is None else evidence.says
    if says < SAME_WORDS:
        return "unsure" if named and says >= HALF and evidence.does != 0 else "none"
    if evidence.does == 0:
        return "unsure" if named or at_home else "none"
    if evidence.says is None:
        known = evidence.called == MILLION or evidence.near == MILLION
    else:
        known = telling or evidence.near == MILLION or (named and at_home)
    if known:
        return "sure"
    return "unsure" if named or at_home else "none"


def _readable(evidence: LikenessEvidence) -> bool:
    """What is read is known by the label before it, by its marks, or by its form of words in a
    place like the recorded one."""
    named = (evidence.called or 0) >= HALF
    alike = evidence.says is not None and evidence.says >= SAME_WORDS
    if evidence.labelled:
        return named or alike or (evidence.near or 0) >= HALF
    if named:
        return alike or evidence.tag == MILLION
    return alike and (evidence.near or 0) >= HALF


def _telling(target: Target) -> bool:
    """Its label was the only one of its kind: the page itself named it among the locators."""
    return any(isinstance(locator, ByRole) and bool(locator.role) for locator in target.strategies)


def _weighed(evidence: LikenessEvidence, weights: Mapping[str, int]) -> int:
    """The mean of what is known, by weight. What the recording does not say has no vote."""
    total = votes = 0
    for name, weight in weights.items():
        found = getattr(evidence, name)
        if found is not None:
            total += weight * found
            votes += weight
    return total // votes if votes else 0


# -- words -----------------------------------------------------------------------------------------


def _words(text: str) -> list[str]:
    folded = text.casefold()
    return re.findall(r"\w+", folded) or folded.split()


def _pairs(words: Iterable[str]) -> list[str]:
    return [word[at : at + 2] for word in words for at in range(max(1, len(word) - 1))]


def _overlap(parts: Sequence[str], others: Sequence[str]) -> int:
    """Dice's coefficient of two bags."""
    if not parts or not others:
        return 0
    common = (Counter(parts) & Counter(others)).total()
    return 2 * common * MILLION // (len(parts) + len(others))
