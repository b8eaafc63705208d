"""Actions and targets in plain words, and any text made safe for an ASCII terminal (H7)."""

import re

from events.action import (
    Action,
    ByCss,
    ByPoint,
    ByRef,
    ByRole,
    ByText,
    Parameter,
    Secret,
    Strategy,
    Text,
    Typed,
    Value,
)
from events.page import Resolved
from events.workflow import MILLION


def ascii_only(text: str) -> str:
    """cp1252-safe and on one line: what is not plain ASCII is escaped, never dropped."""
    escaped = text.encode("ascii", "backslashreplace").decode("ascii")
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in escaped)


def in_words(action: Action, name: str = "") -> str:
    """What the action does; `name` is what its element calls itself, when that is known."""
    target = repr(name) if name else _target(action)
    value = _value(action.value)
    return ascii_only(_words(action, target, value))


def _words(action: Action, target: str, value: str) -> str:
    match action.type:
        case "navigate":
            return f"go to {action.url}"
        case "click":
            return f"click {target}"
        case "type":
            return f"type {value} {'behind what is in' if action.append else 'into'} {target}"
        case "select":
            return f"select {value} in {target}"
        case "press":
            return f"press {action.key}"
        case "scroll":
            return f"scroll to {target}" if action.target else f"scroll {action.direction}"
        case "wait_for":
            return f"wait for {target}"
        case "wait":
            return f"wait {action.ms} ms"
        case "extract":
            return f"read {action.name or 'text'} from {target}"


def way_in_words(strategy: Strategy) -> str:
    match strategy:
        case ByCss(selector):
            return selector
        case ByRole(role, name):
            return f"{role or 'element'} {_named(name)}"
        case ByText(text):
            return f"text {_named(text)}"
        case ByPoint(x, y):
            return f"point {x},{y}"
        case ByRef(ref):
            return ref


def healed_in_words(recorded: str, element: Resolved, score: int) -> str:
    """From what to what a target was healed, and how like the two are."""
    now = element.name.text or element.text.text or element.tag
    by = f" by {way_in_words(element.ways[0])}" if element.ways else ""
    alike = score * 100 // MILLION
    return ascii_only(f"{recorded!r} is now {now!r}{by} ({alike} % like it)")


def _target(action: Action) -> str:
    ways = action.target.strategies if action.target else ()
    for way in ways:
        if isinstance(way, ByRole) and way.name:
            return _named(way.name)
    return way_in_words(ways[0]) if ways else "the page"


def _named(name: str) -> str:
    """A name in quotes; one that is a parameter, by the parameter's name."""
    shown = re.sub(r"\$\{(\w+)\}", r"<\1>", name)
    return shown if re.fullmatch(r"<\w+>", shown) else repr(shown)


def _value(value: Value | None) -> str:
    match value:
        case Text(text):
            return repr(text)
        case Parameter(name):
            return f"<{name}>"
        case Secret(name):
            return f"<secret {name}>"
        case Typed(number):
            return f"<typed {number + 1}>"
        case None:
            return "nothing"
