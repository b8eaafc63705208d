"""A case of policy holds everything that a rule may look at, and says what it sets off, writes into
and calls itself. Pure."""

from collections.abc import Iterator
from urllib.parse import unquote

import msgspec

from rutter.actors.rules.pages.address import path_of
from rutter.actors.rules.policy.risky_words import final_words, said_by
from rutter.events.action import (
    CLICKS,
    OBSERVATIONS,
    Action,
    ByBeside,
    ByCss,
    ByRole,
    ByText,
    Secret,
    Target,
)
from rutter.events.page import Resolved
from rutter.events.policy import Policy, SideEffect
from rutter.events.service_pack import Checkpoint
from rutter.events.workflow import Driver

RECORDED: frozenset[Driver] = frozenset({"person", "script", "workflow"})
# These choose by themselves, from a snapshot that they were given.
CALLERS: frozenset[Driver] = frozenset({"agent", "model"})
# Reading changes nothing: no rule about what an element says applies to it (F2).
READING = OBSERVATIONS | {"scroll", "check", "hover", "wheel"}
# Keys that set off what has the focus; any other moves it, or is typed.
SETS_OFF = frozenset({"Enter", "NumpadEnter", " ", "Space"})
# What is filled in rather than set off: it has its own rules.
FIELDS = frozenset({"input", "textarea", "select", "option"})
SWITCHED = frozenset({"checkbox", "radio", "range", "color", "file"})
TYPED_IN = frozenset({"textbox", "searchbox", "combobox"})
BUTTON_INPUTS = frozenset({"button", "submit", "image", "reset"})
CELLS = frozenset({"gridcell", "cell", "rowheader", "columnheader"})  # of a table
EDITOR = "editor"  # the kind of what is written into in place
# A form with a password in it is a door only if its button says so.
SIGNS_IN = (
    *("sign in", "sign-in", "signin", "log in", "log-in", "login", "anmelden", "einloggen"),
    *("connexion", "se connecter", "iniciar sesi", "acceder", "accedi", "entrar", "inloggen"),
    *("zaloguj", "logga in", "log ind", "giri\u015f", "p\u0159ihl\u00e1sit"),
    *("\u0432\u043e\u0439\u0442\u0438", "\u0443\u0432\u0456\u0439\u0442\u0438"),
    *("\u30ed\u30b0\u30a4\u30f3", "\u767b\u5f55", "\ub85c\uadf8\uc778"),
)


class PolicyCase(msgspec.Struct, frozen=True):
    """A case has a `state` by the rules of F6, the `page` it is on, and `start`, the address that a
    person gave for the session. `recorded`: a recording approved of just this on this element."""

    policy: Policy
    action: Action
    driver: Driver
    element: Resolved | None = None
    state: str = ""
    checkpoint: Checkpoint | None = None
    page: str = ""
    start: str = ""
    recorded: bool = False


def sets_off(case: PolicyCase) -> bool:
    if case.action.type != "press":
        return case.action.type in CLICKS
    key = case.action.key or ""
    return (key if key == "+" else key.rpartition("+")[2]) in SETS_OFF


def is_field(element: Resolved) -> bool:
    """Or the label of one: a click on it is a click on that; or a text that is written in place."""
    if element.tag == "label":
        return element.kind in SWITCHED
    if element.kind == EDITOR:
        return True
    return element.tag in FIELDS and element.kind not in BUTTON_INPUTS


def is_typed_in(element: Resolved) -> bool:
    return element.role in TYPED_IN or (is_field(element) and element.kind not in SWITCHED)


def is_recorded_cell(case: PolicyCase) -> bool:
    """A cell of a table is chosen or written in by a click. Who chooses by itself is not told so by
    the page that wants the click."""
    element = case.element
    return element is not None and element.role in CELLS and case.driver in RECORDED


def is_a_door(case: PolicyCase) -> bool:
    """Signing in sends a form but leaves nothing behind. A form that asks for the password to pay
    or to delete something is no door."""
    element = case.element
    if element is None or not element.signs_in:
        return False
    if case.action.type == "press" and case.state == "LOGIN_REQUIRED":
        return True  # by Enter in a field, which does not say what it does
    says = f"{element.name.text}\n{element.text.text}".casefold()
    if said_by(says, final_words()):
        return False
    return any(word in says for word in SIGNS_IN)


def side_effect(case: PolicyCase) -> SideEffect:
    """S4 W2: what it does to the other side, as far as it shows."""
    if case.action.type in READING:
        return "read"
    element = case.element
    signs_in = element is not None and (element.secret or (element.submits and is_a_door(case)))
    return "auth" if signs_in or secrets_of(case.action) else "write"


def secrets_of(action: Action) -> list[str]:
    typed = [action.value.name] if isinstance(action.value, Secret) else []
    return [*typed, *(answer.secret for answer in action.dialogs if answer.secret)]


def said_in(case: PolicyCase) -> str:
    parts = [*_named_by(case.action.target), said_of(case.action.to)]
    if case.action.url is not None and case.driver not in RECORDED:
        parts.append(unquote(path_of(case.action.url)))
    if case.element is not None:
        element = case.element
        parts += [element.name.text, element.text.text[:200], path_of(element.href)]
        parts += [path_of(element.form_action) if element.submits else "", element.icon.text]
    return "\n".join(parts).casefold()


def said_of(target: Target | None) -> str:
    """Of where something is dragged: how that is found, and what it was when it was recorded."""
    if target is None:
        return ""
    recorded = target.fingerprint
    known = [recorded.name.text, recorded.text.text[:200]] if recorded is not None else []
    return "\n".join([*_named_by(target), *known])


def _named_by(target: Target | None) -> Iterator[str]:
    for strategy in target.strategies if target else ():
        match strategy:
            case ByCss(selector):
                yield selector
            case ByRole(_, name):
                yield name
            case ByText(text) | ByBeside(text):
                yield text
            case _:
                pass
