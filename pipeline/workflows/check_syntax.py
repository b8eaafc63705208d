"""People write checks as `text_visible:Order sent`, or as S2's `{"type": ..., "value": ...}`.

What is no check is refused by name, with what there is instead.
"""

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple, get_args

import msgspec

from rutter.events.checks import (
    Check,
    Downloaded,
    ElementState,
    FileContains,
    FileSize,
    PageState,
    ReadBack,
    ServerAnswered,
    TextGone,
    ValueSet,
    texts_of,
)
from rutter.events.errors import BadInput

# As an observation tells them of an element; `gone` is that there is none of this name.
STATES = (
    "busy",
    "checked",
    "collapsed",
    "disabled",
    "expanded",
    "focused",
    "invalid",
    "mixed",
    "pressed",
    "readonly",
    "required",
    "selected",
    "unchecked",
)
GONE = "gone"
NOT = "not "
LONGEST = 1_000  # of one text: what a page shows is looked for in one script
LARGEST = 2**53  # bytes; beyond it JSON has no whole numbers
_NAMED = re.compile(r'(?P<name>.+?)(?:\[role="(?P<role>[^"]+)"\])?=(?P<value>.+)', re.DOTALL)
_HELD = re.compile(r"(?P<path>.+?)=(?P<value>.+)", re.DOTALL)
_SIZED = re.compile(
    r"(?P<path>.+?)(?P<how>>=|<=|=)(?P<least>[0-9]{1,16})(?:\.\.(?P<most>[0-9]{1,16}))?"
)


class _CheckForm(NamedTuple):
    """A check's form says how its type is written behind its colon."""

    form: str
    read: Callable[[str], dict[str, Any]] | None = None


def read_check(text: str) -> Check:
    """The check that `TYPE:VALUE` says."""
    kind, _, rest = text.partition(":")
    syntax = _FORMS.get(kind)
    if syntax is None:
        forms = ", ".join(f"{kind}:{known.form}" for kind, known in _FORMS.items())
        raise BadInput(f"there is no check {kind!r}", f"a check is one of {forms}")
    if not rest and kind != "download":
        raise BadInput(f"the check {kind!r} has no value", f"write {kind}:{syntax.form}")
    fields = {"value": rest} if syntax.read is None else syntax.read(rest)
    if not fields:
        raise BadInput(
            f"{rest!r} is not what {kind!r} is written with", f"write {kind}:{syntax.form}"
        )
    return check_from({"type": kind, **fields})


def check_from(given: Mapping[str, object]) -> Check:
    """The check that S2's metadata says; nothing that it holds is passed over."""
    kind = str(given.get("type"))
    if kind not in TYPES:
        raise BadInput(f"there is no check {kind!r}", f"a check is one of {', '.join(TYPES)}")
    known = ("type", *TYPES[kind].__struct_fields__)
    if unknown := sorted(set(given) - set(known)):
        raise BadInput(f"the check {kind!r} has no {unknown[0]!r}", f"it has {', '.join(known)}")
    try:
        check: Check = msgspec.convert(given, Check)
    except msgspec.ValidationError as error:
        raise BadInput(f"the check {kind!r} does not fit: {error}", _fix(kind)) from error
    _look_over(kind, check)
    return check


def read_back_from(url: str, checks: tuple[Check, ...]) -> ReadBack:
    """Where to look, and for what; whose site a path is on is not known here."""
    if not checks:
        raise BadInput("a read-back checks nothing", "say what must be there")
    if any(char.isspace() for char in url) or len(url) > LONGEST or not _is_plain(url):
        raise BadInput(f"{url!r} is no address", "write https://..., a path: /orders, or here")
    return ReadBack(url, checks)


def shows_something(read_back: ReadBack) -> ReadBack:
    """A page on which nothing is shown yet has nothing that must be gone either."""
    for check in read_back.checks:
        gone = isinstance(check, ElementState) and check.value == "gone"
        if not gone and not isinstance(check, TextGone):
            return read_back
    raise BadInput(
        f"a read-back of {read_back.url} that only looks for what is gone proves nothing",
        "state something that is there as well: text_visible:TEXT",
    )


def write_check(check: Check) -> str:
    """The check as `read_check` reads it."""
    kind = str(check.__struct_config__.tag)
    match check:
        case ValueSet(value, name, role) | ElementState(value, name, role):
            at = f'[role="{role}"]' if role else ""
            return f"{kind}:{name}{at}={value}"
        case FileContains(value, path):
            return f"{kind}:{path}={value}"
        case FileSize(value, least, most):
            said = f">={least}" if most is None else f"={least}..{most}"
            return f"{kind}:{value}{said}"
        case Downloaded(""):
            return kind
        case _:
            return f"{kind}:{check.value}"


# -- each type -------------------------------------------------------------------------------------


def _parted(form: re.Pattern[str], rest: str) -> dict[str, Any]:
    found = form.fullmatch(rest)
    return {} if found is None else {key: each for key, each in found.groupdict().items() if each}


def _sized(rest: str) -> dict[str, Any]:
    found = _SIZED.fullmatch(rest)
    if found is None or (found["most"] and found["how"] != "="):
        return {}
    least = int(found["least"])
    match found["how"]:
        case ">=":
            return {"value": found["path"], "at_least": least}
        case "<=":
            return {"value": found["path"], "at_least": 0, "at_most": least}
        case _:
            most = int(found["most"]) if found["most"] else least
            return {"value": found["path"], "at_least": least, "at_most": most}


_FORMS: Mapping[str, _CheckForm] = {
    "text_visible": _CheckForm("TEXT"),
    "text_gone": _CheckForm("TEXT"),
    "url": _CheckForm("PART"),
    "alert": _CheckForm("TEXT"),
    "value_set": _CheckForm("NAME=VALUE", partial(_parted, _NAMED)),
    "element_state": _CheckForm("NAME=STATE", partial(_parted, _NAMED)),
    "page_state": _CheckForm("STATE", lambda rest: {"value": rest.upper()}),
    "download": _CheckForm("NAME"),
    "file_exists": _CheckForm("PATH"),
    "file_contains": _CheckForm("PATH=TEXT", partial(_parted, _HELD)),
    "file_size": _CheckForm("PATH>=BYTES", _sized),
}
TYPES: Mapping[str, type[Check]] = {
    str(each.__struct_config__.tag): each for each in get_args(Check) if each is not ServerAnswered
}


def _fix(kind: str) -> str:
    if kind == "page_state":
        return f"a page is one of {', '.join(get_args(PageState))}"
    return f"as text it is {kind}:{_FORMS[kind].form}"


def _look_over(kind: str, check: Check) -> None:
    """What a type cannot say: nothing is empty, and what is named is there to be named."""
    for name in check.__struct_fields__:
        each = getattr(check, name)
        if each == "" and name != "role" and not isinstance(check, Downloaded):
            raise BadInput(f"the check {kind!r} has an empty {name}", _fix(kind))
    for text in texts_of(check):
        if len(text) > LONGEST or not _is_plain(text):
            raise BadInput(
                f"the check {kind!r} holds what no page shows", f"{LONGEST} characters at most"
            )
        if text and not text.strip():
            raise BadInput(f"the check {kind!r} holds nothing but blanks", _fix(kind))
    if isinstance(check, ElementState):
        _look_over_state(check)
    if isinstance(check, FileSize):
        _look_over_size(check)


def _look_over_state(check: ElementState) -> None:
    if check.value != GONE and check.value.removeprefix(NOT) not in STATES:
        raise BadInput(
            f"an element is never {check.value!r}",
            f"it is {', '.join(STATES)}, 'not ' one of them, or {GONE}",
        )


def _look_over_size(check: FileSize) -> None:
    most = LARGEST if check.at_most is None else check.at_most
    if not 0 <= check.at_least <= most <= LARGEST:
        raise BadInput(
            f"no file has from {check.at_least} to {most} bytes", "write PATH=1000..2000"
        )


def _is_plain(text: str) -> bool:
    """Fit for the log: whole characters, and no NUL, which ends a path."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return "\0" not in text
