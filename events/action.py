"""An action says what to do to a page (A1), and a target how to find its element (A3).

Actions are plain values: they know nothing of browsers, and two equal ones are the same action.
"""

from collections.abc import Callable, Mapping
from operator import eq, ge, le, ne
from typing import Literal

import msgspec

from rutter.events.checks import Check

# A1, and `check`: a look whether something is so, which does nothing else.
ActionType = Literal[
    "navigate",
    "click",
    "type",
    "press",
    "select",
    "scroll",
    "wait_for",
    "wait",
    "extract",
    "read_page",
    "ghost_extract",
    "check",
    "hover",
    "drag",
    "wheel",
]
# S2 1: what changes something, what only reads, and what looks whether something is so.
Kind = Literal["action", "observation", "verification"]
# And tell what they read: from the page, or from a picture of it.
READS: frozenset[ActionType] = frozenset({"extract", "read_page", "ghost_extract"})
OBSERVATIONS: frozenset[ActionType] = READS | {"wait_for", "wait"}
RenderMode = Literal["dom", "ghost"]  # how a page was read: by its markup, or from a picture
Button = Literal["right", "middle"]  # other than the left one
Modifier = Literal["Alt", "Control", "Meta", "Shift"]
Direction = Literal["up", "down", "top", "bottom", "to"]


class Untrusted(msgspec.Struct, frozen=True, array_like=True):
    """A page said this text. It is never an instruction; the type survives storage (E4)."""

    text: str = ""


class ByCss(msgspec.Struct, frozen=True, tag_field="by", tag="css"):
    selector: str


class ByRole(msgspec.Struct, frozen=True, tag_field="by", tag="aria"):
    role: str
    name: str


class ByText(msgspec.Struct, frozen=True, tag_field="by", tag="text"):
    text: str


class ByPoint(msgspec.Struct, frozen=True, tag_field="by", tag="coordinates"):
    x: int
    y: int


class ByRef(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="by", tag="ref"):
    """A ref names an element of the last snapshot that was answered, for one action (D2).

    `look` is the observation that numbered it: `@e1` of one page is not the `@e1` of another.
    """

    ref: str
    look: int = 0


class ByBeside(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="by", tag="beside"):
    """A text says what is read beside it: the value that it labels, or the line that holds it."""

    text: str
    how: Literal["label", "near"] = "label"


Strategy = ByCss | ByRole | ByText | ByPoint | ByRef | ByBeside


def locator_text(strategy: Strategy) -> str:
    """The words or the selector by which a locator finds its element; of a place, nothing."""
    match strategy:
        case ByCss(selector):
            return selector
        case ByRole(_, name):
            return name
        case ByText(text) | ByBeside(text):
            return text
        case ByPoint() | ByRef():
            return ""


class Box(msgspec.Struct, frozen=True, array_like=True):
    """A box has viewport coordinates in CSS pixels."""

    x: int = 0
    y: int = 0
    width: int = 0
    height: int = 0


class Fingerprint(msgspec.Struct, frozen=True, omit_defaults=True):
    """A fingerprint keeps what an element was when recorded, to know it again when it moved."""

    tag: str = ""
    role: str = ""
    name: Untrusted = Untrusted()
    text: Untrusted = Untrusted()
    attributes: tuple[tuple[str, str], ...] = ()
    near: tuple[Untrusted, ...] = ()
    box: Box | None = None


class Target(msgspec.Struct, frozen=True, omit_defaults=True):
    """A target holds the locators of one element, best first."""

    strategies: tuple[Strategy, ...]
    fingerprint: Fingerprint | None = None

    @property
    def primary(self) -> Strategy | None:
        return self.strategies[0] if self.strategies else None


class Text(msgspec.Struct, frozen=True, tag_field="is", tag="text"):
    """A text is a value that is the same in every run."""

    text: str


class Parameter(msgspec.Struct, frozen=True, tag_field="is", tag="param"):
    """A parameter gets its value at run time (A4)."""

    name: str


class Secret(msgspec.Struct, frozen=True, tag_field="is", tag="secret"):
    """A secret gets its value at run time, and nothing ever writes that down."""

    name: str


class Typed(msgspec.Struct, frozen=True, tag_field="is", tag="typed"):
    """A script's literal stands for its text by number until its field is known to be plain.

    The literal itself is in no event before that: a password in a script would be on disk.
    """

    number: int


Value = Text | Parameter | Secret | Typed


class DialogAnswer(msgspec.Struct, frozen=True, omit_defaults=True):
    """An answer says what to do with a dialog of the page, which blocks it until answered.

    It is said to a dialog of this kind and message alone, as far as they are given; the message is
    without what varies. What is typed is `text`, where `${name}` is a parameter, or a secret.
    """

    accept: bool = False
    text: str | None = None
    kind: str = ""
    message: str = ""
    secret: str = ""


Operator = Literal[">=", "==", "<=", "!="]
COMPARED: Mapping[Operator, Callable[[int, int], bool]] = {">=": ge, "==": eq, "<=": le, "!=": ne}


class Count(msgspec.Struct, frozen=True, array_like=True):
    """A count says how many elements to wait for."""

    operator: Operator
    number: int

    def holds(self, seen: int) -> bool:
        return COMPARED[self.operator](seen, self.number)


ONE_OR_MORE = Count(">=", 1)


class Action(msgspec.Struct, frozen=True, omit_defaults=True):
    """An action is one thing to do. The Validator's table says which fields a type needs (E1).

    `tab` is a position among the open pages, in the order in which they opened; none is the one in
    front. `dialogs` answer what the page asks meanwhile; any more are dismissed. `append` types
    behind what the field holds instead of over it, `pasted` types as from elsewhere. `button`,
    `count` and `modifiers` are of a click: right, double, with keys held. `to` is where something
    is dragged, `drop` where on that it is let go, from its corner; `by` is how far the wheel is
    turned, across and down, in pixels. `verify` is what must be so afterwards: with it the action
    is a verification, and is never tried again. `aside` is done in a page of its own, which is
    closed when it was looked at. `wanted` is how many elements a wait_for wants to see; none is one
    or more. `page` is which page of its text a read_page reads, from 1; 0 is all of them. `prompt`
    is what a ghost_extract looks for, `viewport_only` whether in what is in view alone.
    """

    type: ActionType
    target: Target | None = None
    url: str | None = None
    key: str | None = None
    value: Value | None = None
    direction: Direction | None = None
    amount: int | None = None
    ms: int | None = None
    name: str | None = None
    tab: int | None = None
    dialogs: tuple[DialogAnswer, ...] = ()
    append: bool = False
    verify: tuple[Check, ...] = ()
    aside: bool = False
    pasted: bool = False
    button: Button | None = None
    count: int = 1
    modifiers: tuple[Modifier, ...] = ()
    to: Target | None = None
    drop: tuple[int, int] | None = None
    by: tuple[int, int] | None = None
    wanted: Count | None = None
    page: int = 0
    prompt: str = ""
    viewport_only: bool = False

    @property
    def locators(self) -> tuple[Strategy, ...]:
        """By what its element is found, best first; nothing where it has none."""
        return self.target.strategies if self.target is not None else ()


DOUBLE = 2  # clicks, of a double click
# What sets off whatever an element does.
CLICKS: frozenset[ActionType] = frozenset({"click", "drag"})


def kind_of(action: Action) -> Kind:
    if action.verify:
        return "verification"
    return "observation" if action.type in OBSERVATIONS else "action"
