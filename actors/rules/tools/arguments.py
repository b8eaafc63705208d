"""A call's arguments are checked against the table of tools and made fit to be logged.

Whatever it is - no object, half a character, a number too large, a file of megabytes - it comes
out as an order or as what is wrong with it. A text to be typed never leaves here inside an order.
"""

import re
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

import msgspec

from rutter.actors.rules.tools.key_names import ALLOWED, key_named
from rutter.actors.rules.tools.tool_table import (
    TOOLS,
    Arguments,
    Descriptor,
    Extract,
    Fill,
    Press,
    Scroll,
    Select,
)

MAX_BYTES = 65_536  # of one call's arguments
_NAMED = re.compile(r"\$\{(\w+)\}")
_REF = re.compile(r"@e[0-9]{1,18}")


class LoggedCall(NamedTuple):
    """The log may hold this call; beside it stands the text that it types."""

    tool: str
    arguments: str
    invalid: str = ""
    typed: str | None = None
    path: str = ""


class BoundNames(NamedTuple):
    """Names are bound in the session: `${name}` in a value stands for one of them."""

    values: Collection[str] = ()
    secrets: Collection[str] = ()


def order(tool: object, arguments: object, *, number: int, names: BoundNames) -> LoggedCall:
    """`number` is what the text to be typed is called in the log."""
    descriptor = TOOLS.get(tool) if isinstance(tool, str) else None
    if descriptor is None:
        return LoggedCall(_shown(tool), "{}", "there is no such tool")
    plain = _plain(arguments)
    if not isinstance(plain, dict):
        return LoggedCall(descriptor.name, "{}", "the arguments are not a JSON object that fits")
    try:
        given = msgspec.convert(plain, descriptor.args)
    except msgspec.ValidationError as error:
        return LoggedCall(descriptor.name, _harmless(descriptor, plain), _wrong(error))
    if lacking := _lacking(given):
        return LoggedCall(descriptor.name, _harmless(descriptor, plain), lacking)
    if isinstance(given, Press):
        return _pressed(descriptor, given)
    return _fits(descriptor, given, number, names)


def _lacking(given: Arguments) -> str:
    """What no schema of one argument says."""
    if isinstance(given, Scroll) and given.ref is None and given.direction is None:
        return "give a ref or a direction"
    if isinstance(given, Extract):
        ways = (given.ref, given.label, given.near)
        return "" if ways.count(None) == len(ways) - 1 else "give one of ref, label and near"
    return ""


def _pressed(descriptor: Descriptor, given: Press) -> LoggedCall:
    """One that the browser does not know would be taken for the end of the browser."""
    key = key_named(given.key)
    if key is None:
        return LoggedCall(descriptor.name, "{}", f"there is no such key: {ALLOWED}")
    return LoggedCall(descriptor.name, _json({"key": key}))


def _fits(descriptor: Descriptor, given: Arguments, number: int, names: BoundNames) -> LoggedCall:
    kept: dict[str, Any] = msgspec.to_builtins(given)
    typed: str | None = None
    if isinstance(given, Fill | Select):
        found = _NAMED.fullmatch(given.value)
        if found and found[1] in names.secrets:
            kept["value"] = {"secret": found[1]}
        elif found and found[1] in names.values:
            kept["value"] = {"param": found[1]}
        else:
            kept["value"], typed = {"typed": number}, given.value
    path = str(kept.get("path", ""))
    return LoggedCall(descriptor.name, _json(kept), typed=typed, path=path)


def _plain(arguments: object) -> object:
    """As JSON would carry it, so that nothing gets in that could not be logged."""
    try:
        encoded = msgspec.json.encode({} if arguments is None else arguments)
        return msgspec.json.decode(encoded) if len(encoded) <= MAX_BYTES else None
    except (TypeError, ValueError, OverflowError, RecursionError, msgspec.MsgspecError):
        return None


def _harmless(descriptor: Descriptor, plain: Mapping[str, object]) -> str:
    """Of arguments that do not fit, those that cannot be somebody's secret."""
    known = descriptor.input_schema["properties"]
    return _json(
        {
            name: value
            for name, value in plain.items()
            if name in known
            and (isinstance(value, bool) or (isinstance(value, str) and _REF.fullmatch(value)))
        }
    )


def _wrong(error: msgspec.ValidationError) -> str:
    """What is wrong, without the value that is."""
    said = str(error)
    if "unknown field" in said:
        return "there is an argument that this tool does not take"
    found = re.search(r" - at `\$\.(\w+)", said)
    if found and ("enum" in said or "regex" in said):
        return f"{found[1]} does not fit its schema"
    return said[:200]


def _shown(tool: object) -> str:
    """A name that is not in the table, as far as it can be one."""
    return tool if isinstance(tool, str) and re.fullmatch(r"[a-z_]{1,40}", tool) else "?"


def _json(value: object) -> str:
    return msgspec.json.encode(value, order="sorted").decode()
