"""Whether a check holds, from what was seen: the page, texts that were asked for, files, downloads.

Pure lookups. `held` is nothing where it was not looked for yet.
"""

import re
from collections.abc import Iterable, Mapping
from urllib.parse import unquote

import msgspec

from actors.bindings import PLACEHOLDER
from actors.place import blur
from events.action import Untrusted
from events.checks import (
    Check,
    Downloaded,
    ElementState,
    FileCheck,
    FileContains,
    FileExists,
    FileSize,
    PageState,
    ReadBack,
    Said,
    StateIs,
    TextGone,
    TextVisible,
    UrlHas,
    ValueSet,
    path_of,
)
from events.critic import Source
from events.observer import FileSeen
from events.page import Element, Page

FILES = (FileExists, FileContains, FileSize)
GONE = "gone"
NOT = "not "


class Seen(msgspec.Struct, frozen=True):
    """What is known after a step. `shown` and `files` are what was looked for, and nothing else."""

    page: Page
    state: PageState = "UNKNOWN"
    shown: Mapping[str, Untrusted | None] = {}
    files: Mapping[FileCheck, FileSeen] = {}
    downloads: tuple[str, ...] = ()


class Result(msgspec.Struct, frozen=True):
    """What a check came to. `sample` is what the page says there; `why` why it does not hold."""

    check: Check
    held: bool | None
    checked: str
    sample: str = ""
    why: str = ""

    @property
    def source(self) -> Source:
        return "FILE" if isinstance(self.check, FILES) else "DOM"


def texts_in(checks: Iterable[Check]) -> tuple[str, ...]:
    """What the page must be asked for, because no observation tells it by itself."""
    texts = [each.value for each in checks if isinstance(each, TextVisible | TextGone)]
    return tuple(dict.fromkeys(texts))


def files_in(checks: Iterable[Check]) -> tuple[FileCheck, ...]:
    return tuple(dict.fromkeys(each for each in checks if isinstance(each, FILES)))


def bound(check: Check, values: Mapping[str, str]) -> Check:
    """The check with parameters replaced by their values."""
    fields = {
        name: filled(value, values)
        for name in check.__struct_fields__
        if isinstance(value := getattr(check, name), str)
    }
    return msgspec.structs.replace(check, **fields)


def bound_all(checks: Iterable[Check], values: Mapping[str, str]) -> tuple[Check, ...]:
    return tuple(bound(check, values) for check in checks)


def bound_back(read_back: ReadBack, values: Mapping[str, str]) -> ReadBack:
    """Where to look, and for what, in this run. A value in an address is one part of it."""
    encoded = {name: _encoded(value) for name, value in values.items()}
    return ReadBack(filled(read_back.url, encoded), bound_all(read_back.checks, values))


def filled(text: str, values: Mapping[str, str]) -> str:
    return PLACEHOLDER.sub(lambda found: values.get(found[1], found[0]), text)


def result_of(check: Check, seen: Seen) -> Result:
    match check:
        case TextVisible(value):
            return _text(check, value, seen, wanted=True)
        case TextGone(value):
            return _text(check, value, seen, wanted=False)
        case UrlHas(value):
            there = value in seen.page.url or value in unquote(seen.page.url)
            return _plain(check, f"address {value}", seen.page.url, held=there)
        case Said(value):
            return _alert(check, value, seen.page)
        case ValueSet(value, name, role) | ElementState(value, name, role):
            return _element(check, value, name, role, seen.page)
        case StateIs(value):
            return _plain(check, f"state {value}", seen.state, held=seen.state == value)
        case Downloaded(value):
            came = any(value in name for name in seen.downloads)
            return _plain(check, f"download {value}".strip(), ", ".join(seen.downloads), held=came)
        case FileExists() | FileContains() | FileSize():
            return _file(check, seen.files.get(check))


def _plain(check: Check, checked: str, found: str, *, held: bool) -> Result:
    return Result(check, held, checked, found, "" if held else f"it is {found or 'nothing'}")


def _text(check: Check, text: str, seen: Seen, *, wanted: bool) -> Result:
    if text not in seen.shown:
        return Result(check, None, text)
    around = seen.shown[text]
    if around is None and not wanted and seen.page.truncated:
        return Result(check, False, text, why="the page is too large to be read to its end")
    held = (around is not None) == wanted
    why = "the page shows it" if around is not None else "the page does not show it"
    return Result(check, held, text, around.text if around is not None else "", "" if held else why)


def _alert(check: Check, value: str, page: Page) -> Result:
    wanted = ".+".join(re.escape(part) for part in blur(value).split("*"))
    for alert in page.alerts:
        if re.search(wanted, blur(alert.text)):
            return Result(check, True, value, alert.text)
    said = page.alerts[0].text if page.alerts else ""
    return Result(check, False, value, said, "the page does not say it")


def _element(check: Check, value: str, name: str, role: str, page: Page) -> Result:
    found = [each for each in page.elements if _is_called(each, name, role)]
    checked = f"{name}: {value}"
    if isinstance(check, ElementState) and value == GONE:
        if not found and (page.dropped or page.truncated):
            return Result(check, False, checked, why="not all of the page was read")
        return Result(check, not found, checked, name, "it is there" if found else "")
    if not found:
        return Result(check, False, checked, why=f"there is no {name!r}")
    if isinstance(check, ValueSet):
        held = [each.value.text if each.value else "" for each in found]
        return Result(check, value in held, checked, held[0], f"it holds {held[0]!r}")
    stands = any(_stands(each, value) for each in found)
    how = " ".join(found[0].state) or "as any other"
    return Result(check, stands, checked, how, "" if stands else f"it is {how}")


def _stands(element: Element, value: str) -> bool:
    if value.startswith(NOT):
        return value.removeprefix(NOT) not in element.state
    return value in element.state


def _is_called(element: Element, name: str, role: str) -> bool:
    same = " ".join(element.name.text.casefold().split()) == " ".join(name.casefold().split())
    return same and role in ("", element.role)


def _file(check: FileCheck, seen: FileSeen | None) -> Result:
    checked = path_of(check)
    if seen is None:
        return Result(check, None, checked)
    if seen.error:
        return Result(check, False, checked, why=f"{seen.error}: {seen.message}")
    if not seen.exists:
        return Result(check, False, checked, why="there is no such file")
    match check:
        case FileContains(value):
            held = bool(seen.holds)
            return Result(check, held, checked, why="" if held else f"it does not hold {value!r}")
        case FileSize(_, at_least, at_most):
            fits = seen.size >= at_least and (at_most is None or seen.size <= at_most)
            return Result(check, fits, checked, why="" if fits else f"it has {seen.size} bytes")
        case FileExists():
            return Result(check, True, checked)


def _encoded(value: str) -> str:
    return "".join(
        char if (char.isalnum() and char.isascii()) or char in "-._~" else _percent(char)
        for char in value
    )


def _percent(char: str) -> str:
    return "".join(f"%{byte:02X}" for byte in char.encode("utf-8", "replace"))
