"""Self-correction (C5) makes every try another strategy, and then asks a person.

A strategy is a kind of locator: CSS, role and name, text, a point. What was tried and failed is not
tried again, and each correction leads with a kind that led none before.
"""

import msgspec

from rutter.events.action import Action, ByBeside, ByCss, ByPoint, ByRef, ByRole, ByText, Strategy
from rutter.events.page import Resolved

KINDS: dict[type[Strategy], str] = {
    ByCss: "css",
    ByRole: "aria",
    ByText: "text",
    ByPoint: "coordinates",
    ByRef: "ref",
    ByBeside: "beside",
}


class ModelHelp(msgspec.Struct, frozen=True):
    """A model was asked about one step of a workflow, or one moment of a free run. `led` are the
    kinds of locators that led a try, `tried` every locator, in words; `asks` are all questions
    about it, `unsure` the answers that were not certain enough, `claims` the ends that the page did
    not bear out. `settled`: the last try worked, unless it turns out that it led elsewhere."""

    index: int = -2
    asks: int = 0
    corrections: int = 0
    unsure: int = 0
    claims: int = 0
    settled: bool = False
    errors: tuple[str, ...] = ()
    tried: tuple[str, ...] = ()
    led: tuple[str, ...] = ()

    def of(self, index: int) -> "ModelHelp":
        """What is known of this step; nothing yet, when another was helped before."""
        if self.index != index:
            return ModelHelp(index)
        if not self.settled:
            return self
        # In a free run every step that worked is the end of that question.
        return ModelHelp(index, self.asks if index >= 0 else 0, claims=self.claims)


def in_words(action: Action, locator: Strategy | None) -> str:
    """`click aria button/Continue`: one locator of one action."""
    said = action.url or action.direction or action.key or ""
    match locator:
        case ByCss(selector):
            said = f"css {selector}"
        case ByRole(role, name):
            said = f"aria {role}/{name}"
        case ByText(text):
            said = f"text {text}"
        case ByPoint(x, y):
            said = f"coordinates {x},{y}"
        case ByRef(ref):
            said = f"ref {ref}"
        case ByBeside(text, how):
            said = f"{how} {text}"
        case None:
            pass
    return f"{action.type} {said}".strip()


def ways_in_words(action: Action) -> tuple[str, ...]:
    return tuple(in_words(action, each) for each in action.locators) or (in_words(action, None),)


def led_by(action: Action) -> str:
    """The kind of locator that leads: `aria`, or the action's type where it needs no element."""
    return KINDS[type(action.locators[0])] if action.locators else action.type


def another_way(action: Action, helping: ModelHelp) -> Action | None:
    """The action without what was tried, led by a kind of locator that led none before; nothing,
    when there is no such locator left in it."""
    target = action.target
    if target is None or not target.strategies:
        return None if in_words(action, None) in helping.tried else action
    fresh = [each for each in target.strategies if in_words(action, each) not in helping.tried]
    fresh.sort(key=lambda each: KINDS[type(each)] in helping.led)
    if not fresh or KINDS[type(fresh[0])] in helping.led:
        return None
    return msgspec.structs.replace(
        action, target=msgspec.structs.replace(target, strategies=tuple(fresh))
    )


def having_tried(helping: ModelHelp, action: Action, element: Resolved | None) -> ModelHelp:
    """Only the locator that leads counts as a try of its kind, and only if it found nothing: an
    element that was found and was the wrong one is known by all its locators, and another one is
    another approach."""
    locators = element.ways if element is not None else ()
    known = (in_words(action, locator) for locator in locators)
    tried = dict.fromkeys((*helping.tried, *ways_in_words(action), *known))
    led = dict.fromkeys((*helping.led, *(() if element is not None else (led_by(action),))))
    return msgspec.structs.replace(helping, tried=tuple(tried), led=tuple(led))


def having_failed(helping: ModelHelp, why: str) -> ModelHelp:
    errors = (*helping.errors, why)[-5:]
    return msgspec.structs.replace(helping, errors=errors, settled=False)
