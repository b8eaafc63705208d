"""A service script is written by a person in the service's file and says what is done on a page
without a model."""

import re
from collections.abc import Collection, Sequence
from typing import Literal

import msgspec

from rutter.actors.rules.policy.policy import missing_field
from rutter.events.action import (
    Action,
    ByCss,
    ByRole,
    ByText,
    Direction,
    Parameter,
    Secret,
    Strategy,
    Target,
    Text,
    Value,
)
from rutter.events.errors import BadInput
from rutter.events.service_pack import ServiceScript

SEE = "see docs/services.md"
# Which of its own words each type takes, beside the ways to its element.
TAKES: dict[str, tuple[str, ...]] = {
    "click": ("target",),
    "type": ("target", "value"),
    "select": ("target", "value"),
    "press": ("target", "key"),
    "scroll": ("target", "direction", "amount"),
    "wait": ("ms",),
    "wait_for": ("target",),
    "navigate": ("url",),
}
_NAMED = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_ADDRESS = re.compile(r"https?://[^\s/]+\S*")


class LocatorEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An element is found by its role and name, what it shows, or a selector."""

    role: str = ""
    name: str = ""
    text: str = ""
    css: str = ""


class ActionEntry(LocatorEntry, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One action of a way. What is said beside `type` is the first way to find its element, `find`
    are those that come after it."""

    type: Literal["click", "type", "select", "press", "scroll", "wait", "wait_for", "navigate"]
    find: tuple[LocatorEntry, ...] = ()
    value: str | None = None
    secret: str | None = None
    key: str | None = None
    url: str | None = None
    direction: Direction | None = None
    amount: int | None = None
    ms: int | None = None


def read_action(act: ActionEntry, at: str) -> Action:
    """The action that is meant; `at` is its place in the file, for what is said when it is none."""
    locators = _strategies(act, at)
    for number, found in enumerate(act.find):
        added = _strategies(found, f"{at}.find[{number}]")
        if not added:
            raise BadInput(f"{at}.find[{number}] finds nothing", "give role and name, text or css")
        locators += added
    action = Action(
        act.type,
        target=Target(tuple(dict.fromkeys(locators))) if locators else None,
        url=act.url,
        key=act.key,
        value=_value(act, at),
        direction=act.direction,
        amount=act.amount,
        ms=act.ms,
    )
    _check(action, at)
    return action


def _strategies(found: LocatorEntry, at: str) -> list[Strategy]:
    if bool(found.role.strip()) != bool(found.name.strip()):
        raise BadInput(f"{at}: role and name go together", "give both, or text or css alone")
    locators: list[Strategy] = []
    if found.role.strip():
        locators.append(ByRole(found.role.strip(), found.name.strip()))
    if found.text.strip():
        locators.append(ByText(found.text.strip()))
    if found.css.strip():
        locators.append(ByCss(found.css.strip()))
    return locators


def _value(act: ActionEntry, at: str) -> Value | None:
    if act.secret is not None and act.value is not None:
        raise BadInput(f"{at} has a value and a secret", "one of them is typed")
    if act.secret is not None:
        if not act.secret.isidentifier():
            raise BadInput(f"{at}: {act.secret!r} is no name of a secret", 'such as "password"')
        return Secret(act.secret)
    if act.value is None:
        return None
    if named := _NAMED.fullmatch(act.value):
        return Parameter(named[1])
    if "${" in act.value:
        raise BadInput(f"{at}: {act.value!r} is no value", "${name} is the whole of it or no part")
    return Text(act.value)


def _check(action: Action, at: str) -> None:
    takes = TAKES[action.type]
    for field in ("target", "value", "key", "url", "direction", "amount", "ms"):
        if field not in takes and getattr(action, field) is not None:
            raise BadInput(f"{at}: {action.type} takes no {field}", SEE)
    if missing := missing_field(action):
        raise BadInput(f"{at}: {action.type} needs a {missing}", SEE)
    if action.url is not None and not _ADDRESS.fullmatch(action.url):
        raise BadInput(f"{at}: {action.url!r} is no web address", "it begins with https://")
    for field in ("ms", "amount"):
        if (getattr(action, field) or 0) < 0:
            raise BadInput(f"{at}: {field} is less than nothing", "give a whole number from 0")


# -- signing in, where no service says how ---------------------------------------------------------

# What people call the name that they sign in with, the likeliest first.
USER_NAMES = ("email", "e_mail", "username", "user_name", "user", "login", "account")
_IN_FORM = "form:has(input[type=password])"


def sign_in_script(values: Collection[str], secrets: Sequence[str]) -> ServiceScript | None:
    """How a page with a password is passed with what is bound: the name, the password, the button
    of their form. Nothing, where there is no password or more than one that could be it."""
    password = "password" if "password" in secrets else secrets[0] if len(secrets) == 1 else ""
    if not password:
        return None
    user = next((name for name in USER_NAMES if name in values), "")
    actions = [_typed_into(USER_FIELDS, Parameter(user))] if user else []
    actions.append(_typed_into(("input[type=password]",), Secret(password)))
    actions.append(Action("click", target=Target(tuple(map(ByCss, BUTTONS)))))
    return ServiceScript("LOGIN_REQUIRED", tuple(actions))


USER_FIELDS = (
    f"{_IN_FORM} input[autocomplete=username]",
    f"{_IN_FORM} input[type=email]",
    f"{_IN_FORM} input[type=text]",
    f"{_IN_FORM} input:not([type])",
)
BUTTONS = (
    f"{_IN_FORM} button[type=submit]",
    f"{_IN_FORM} input[type=submit]",
    f"{_IN_FORM} button:not([type])",
)


def _typed_into(selectors: Sequence[str], value: Value) -> Action:
    return Action("type", target=Target(tuple(map(ByCss, selectors))), value=value)
