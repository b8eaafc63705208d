"""Literals that were recorded vary from a name on: in what a step types, finds, checks and where it
is done. A person names them, in a recording or afterwards."""

import re
from collections.abc import Callable, Iterable, Mapping
from urllib.parse import quote, quote_plus

import msgspec

from rutter.actors.rules.pages.address import blur, mapped_paths, place_of
from rutter.actors.rules.workflows.templates import named_target, template, templated
from rutter.events.action import Action
from rutter.events.checks import (
    HERE,
    AlertSaid,
    Check,
    ElementState,
    ReadBack,
    StateIs,
    UrlHas,
    ValueSet,
)
from rutter.events.workflow import Expectation, Place, Step

_ORIGIN = re.compile(r"[a-z]+://[^/?#]*", re.IGNORECASE)


def with_names_in(step: Step, values: Mapping[str, str], own: str = "") -> Step:
    """The step with parameters in place of their values; `own` is what it types itself."""
    after = named(step.after, values, own)
    if after.place is not None:
        after = msgspec.structs.replace(after, place=placed(after.place, values.values()))
    return msgspec.structs.replace(
        step,
        action=with_names(step.action, values),
        before=placed(step.before, values.values()),
        after=after,
    )


def with_names(action: Action, values: Mapping[str, str]) -> Action:
    """The same of what is done, but for what is typed."""
    target = named_target(action.target, values) if action.target is not None else None
    if target is not None and target.strategies:  # without any, it keeps what it was found by
        action = msgspec.structs.replace(action, target=target)
    return msgspec.structs.replace(action, verify=named_checks(action.verify, values))


def placed(place: Place, values: Iterable[str]) -> Place:
    """A place whose path holds a value is another one in the next run."""
    if not place.origin:
        return place
    values = tuple(values)
    return mapped_paths(place, lambda path: place_of(place.origin + path, values).path)


def named(expectation: Expectation, values: Mapping[str, str], own: str = "") -> Expectation:
    """The expectation with parameters in place of their values. `own` is what the step itself
    types from now on: its field holds that, however short it is."""
    if not values:
        return expectation

    def change(check: Check) -> Check:
        return _named_check(check, values, own)

    back = expectation.read_back
    if back is not None:
        back = ReadBack(_named_address(back.url, values), tuple(map(change, back.checks)))
    return msgspec.structs.replace(
        expectation,
        learned=tuple(map(change, expectation.learned)),
        checks=tuple(map(change, expectation.checks)),
        read_back=back,
    )


def named_checks(checks: Iterable[Check], values: Mapping[str, str]) -> tuple[Check, ...]:
    return tuple(_named_check(check, values, "") for check in checks)


def named_read_back(read_back: ReadBack, values: Mapping[str, str]) -> ReadBack:
    checks = named_checks(read_back.checks, values)
    return ReadBack(_named_address(read_back.url, values), checks)


def _named_check(check: Check, values: Mapping[str, str], own: str) -> Check:
    if isinstance(check, ValueSet) and own and check.value == values[own]:
        return msgspec.structs.replace(check, value=template(own))
    if isinstance(check, UrlHas):
        return UrlHas(_in_address(check.value, values))
    if isinstance(check, AlertSaid):
        return AlertSaid(_said(check.value, values))
    return mapped(check, lambda text: templated(text, values))


def _said(text: str, values: Mapping[str, str]) -> str:
    """What a page said has lost its numbers when it was learned, so that a value with numbers in it
    is only found without them."""
    changed = templated(text, values)
    if changed != text:
        return changed
    return without(text, (value for value in values.values() if "#" in blur(value)))


def without(text: str, values: Iterable[str]) -> str:
    """A text that has lost its numbers, so the values are compared without theirs."""
    for value in sorted(map(blur, values), key=len, reverse=True):
        if len(value) > 2:
            text = re.sub(rf"(?<!\w){re.escape(value)}(?!\w)", "*", text)
    return text


def _named_address(url: str, values: Mapping[str, str]) -> str:
    """Which site it is does not vary, nor does `here`, whatever was typed."""
    if url == HERE:
        return url
    origin = _ORIGIN.match(url)
    at = origin.end() if origin else 0
    return url[:at] + _in_address(url[at:], values)


def _in_address(text: str, values: Mapping[str, str]) -> str:
    """Values are written into addresses in their own ways."""
    forms = {
        form.casefold(): name
        for name, value in values.items()
        for form in (value.strip(), quote(value), quote(value, ""), quote_plus(value))
        if len(value.strip()) > 2
    }
    if not forms:
        return text
    either = "|".join(map(re.escape, sorted(forms, key=len, reverse=True)))
    return re.sub(
        rf"(?<!\w)(?:{either})(?!\w)",
        lambda found: template(forms[found[0].casefold()]),
        text,
        flags=re.IGNORECASE,
    )


def mapped(check: Check, change: Callable[[str], str]) -> Check:
    """The check with every text of it changed; what a state is called is not a text."""
    fixed = ("role", "value") if isinstance(check, ElementState | StateIs) else ("role",)
    fields = {
        name: change(value)
        for name in check.__struct_fields__
        if name not in fixed and isinstance(value := getattr(check, name), str)
    }
    return msgspec.structs.replace(check, **fields)
