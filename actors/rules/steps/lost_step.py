"""A lost step has an element that nothing on the page clearly is: what a person may choose.

Whoever heals takes an element on grounds alone (`likeness`). A person sees the page and says which
it is, so that here the most similar come first, whether there are grounds or not.
"""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from rutter.actors.rules.steps.healing import fits, recorded_target
from rutter.actors.rules.steps.likeness import similarity
from rutter.events.action import Box, Fingerprint, Target, Untrusted
from rutter.events.executor import LookalikesFound
from rutter.events.page import Lookalike, Resolved
from rutter.events.planner import PlanProposed

MOST = 5  # more frames than that on one picture are no help
LIKE = 150_000  # what is less like it than this is only of the same kind

# What people call an element.
CALLED = {
    "textbox": "field",
    "searchbox": "field",
    "combobox": "list",
    "listbox": "list",
    "menuitem": "menu entry",
}
TAGS = {"a": "link", "button": "button"}
PLAINLY = frozenset({"button", "link", "checkbox", "radio", "tab", "switch"})


def lookalikes(
    plan: PlanProposed, found: LookalikesFound, values: Mapping[str, str]
) -> tuple[Lookalike, ...]:
    """What a person may choose for this step, most similar first. What lies over the element that
    was found comes in the order of the page: it is like nothing that was recorded."""
    target = recorded_target(plan, values)
    if target is None:
        return ()
    covers = [each for each in found.others if each.element is None]
    if covers:
        return tuple(sorted(covers, key=_hard_to_press))[:MOST]
    every = [*map(Lookalike, found.elements), *found.others]
    scored = [
        msgspec.structs.replace(each, score=similarity(target, each.element))
        for each in every
        if each.element is not None and fits(plan, each.element)
    ]
    ranked = sorted(scored, key=lambda each: -each.score)  # as they stand, where it is the same
    return tuple(each for each in ranked if each.score >= LIKE)[:MOST]


def _hard_to_press(lookalike: Lookalike) -> bool:
    """Whether it leads away or sends something: what closes a box does neither."""
    first = lookalike.first
    return first is not None and (first.role == "link" or first.submits)


def shown_by(element: Resolved, found: Iterable[Resolved]) -> Resolved | None:
    """The element that was chosen while it was hidden, now that it is not: if that is clear."""
    same = [each for each in found if as_judged(each) == as_judged(element)]
    return same[0] if len(same) == 1 else None


def as_judged(element: Resolved) -> tuple[object, ...]:
    """What policy goes by: all of an element but where it stands and how it is found."""
    return (
        element.tag,
        element.role,
        element.name,
        element.kind,
        element.href,
        element.form_action,
        element.form_method,
        element.submits,
        element.secret,
        element.origin,
    )


def box_of(lookalike: Lookalike) -> Box:
    """Where a person sees it, or what it is behind."""
    seen = lookalike.first or lookalike.element
    return (seen.fingerprint.box if seen is not None else None) or Box()


def in_words(choices: Sequence[Lookalike], recorded: str) -> tuple[str, ...]:
    """What each is called; those that are called the same also by what stands beside them."""
    plain = [_lookalike_called(each, recorded) for each in choices]
    told = []
    for words, each in zip(plain, choices, strict=True):
        same = [other for other, said in zip(choices, plain, strict=True) if said == words]
        told.append(f"{words}{_beside(each, same)}" if len(same) > 1 else words)
    return tuple(told)


def _lookalike_called(lookalike: Lookalike, recorded: str) -> str:
    first, element = lookalike.first, lookalike.element
    if first is None:
        return called(element) if element is not None else recorded
    then = called(element) if element is not None else f"{recorded}, where it was"
    return f"{called(first)} first, then {then}"


def called(element: Resolved | Fingerprint) -> str:
    """`the button "Save"`, as a person would call it."""
    said = " ".join((element.name.text or element.text.text).split())[:60]
    role = element.role or TAGS.get(element.tag, "")
    kind = CALLED.get(role, role if role in PLAINLY else "element")
    return f'the {kind} "{said}"' if said else f"the {kind} without a name"


def recorded_as(plan: PlanProposed, values: Mapping[str, str]) -> str:
    target = recorded_target(plan, values)
    recorded = target.fingerprint if target is not None else None
    return called(recorded) if recorded is not None else "the element"


def _beside(lookalike: Lookalike, same: Sequence[Lookalike]) -> str:
    """By the first thing around it that is another one around all that are called the same."""
    others = [_near(each) for each in same if each is not lookalike]
    for place, text in enumerate(_near(lookalike)):
        if text and all(text != other[place] for other in others if place < len(other)):
            return f' (beside "{text}")'
    return ""


def _near(lookalike: Lookalike) -> list[str]:
    element = lookalike.element or lookalike.first
    near: tuple[Untrusted, ...] = element.fingerprint.near if element is not None else ()
    return [" ".join(text.text.split()) for text in near]


def target_of(element: Resolved) -> Target:
    return Target(element.ways, element.fingerprint)
