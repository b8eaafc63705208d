"""A check's result follows from what was seen: the page, the texts asked for, files, downloads.

Pure lookups. `held` is nothing where it was not looked for yet.
"""

from collections.abc import Iterable, Mapping
from urllib.parse import quote, unquote

import msgspec

from rutter.actors.rules.pages.address import host_of
from rutter.actors.rules.pages.address import path_of as path_in
from rutter.actors.rules.pages.notices import says
from rutter.actors.rules.pages.server_exchanges import matching, taken, worst
from rutter.actors.rules.steps.placeholders import PLACEHOLDER
from rutter.events.action import Untrusted
from rutter.events.checks import (
    HERE,
    AlertSaid,
    Check,
    Downloaded,
    ElementState,
    FileCheck,
    FileContains,
    FileExists,
    FileSize,
    PageState,
    ReadBack,
    ServerAnswered,
    StateIs,
    TextGone,
    TextVisible,
    UrlHas,
    ValueSet,
    path_of,
)
from rutter.events.critic import Source
from rutter.events.observer import FileSeen
from rutter.events.page import Exchange, Page, PageElement

FILES = (FileExists, FileContains, FileSize)
GONE = "gone"
NOT = "not "


class AfterStep(msgspec.Struct, frozen=True):
    """The page after a step says what is known of it. `shown` and `files` are what was looked for,
    and nothing else. `unread` is a page of which a part could not be read."""

    page: Page
    state: PageState = "UNKNOWN"
    before: Page | None = None
    state_before: PageState = "UNKNOWN"
    unread: bool = False
    shown: Mapping[str, Untrusted | None] = {}
    files: Mapping[FileCheck, FileSeen] = {}
    downloads: tuple[str, ...] = ()
    exchanges: tuple[Exchange, ...] = ()


class CheckResult(msgspec.Struct, frozen=True):
    """A check came to this. `sample` is what the page says there; `why` why it does not hold.
    `unseen`: what it is about may be in a part of the page that was not read."""

    check: Check
    held: bool | None
    checked: str
    sample: str = ""
    why: str = ""
    unseen: bool = False

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


def bound_back(read_back: ReadBack, values: Mapping[str, str], here: str = "") -> ReadBack:
    """Where to look, and for what, in this run. A value in an address is one part of it."""
    encoded = {name: quote(value, safe="", errors="replace") for name, value in values.items()}
    url = here if read_back.url == HERE else filled(read_back.url, encoded)
    return ReadBack(url, bound_all(read_back.checks, values))


def filled(text: str, values: Mapping[str, str]) -> str:
    return PLACEHOLDER.sub(lambda found: values.get(found[1], found[0]), text)


def result_of(check: Check, seen: AfterStep) -> CheckResult:
    if empty := _empty(check):
        return empty
    match check:
        case TextVisible(value):
            return _text(check, value, seen, wanted=True)
        case TextGone(value):
            return _text(check, value, seen, wanted=False)
        case UrlHas(value):
            there = _is_in_address(value, seen.page.url)
            return _plain(check, f"address {value}", seen.page.url, held=there)
        case AlertSaid():
            return _alert(check, seen)
        case ValueSet() | ElementState():
            return _element(check, seen.page)
        case StateIs(value):
            return _plain(check, f"state {value}", seen.state, held=seen.state == value)
        case Downloaded(value):
            came = any(value in name for name in seen.downloads)
            return _plain(check, f"download {value}".strip(), ", ".join(seen.downloads), held=came)
        case ServerAnswered():
            return _answer(check, seen.exchanges)
        case FileExists() | FileContains() | FileSize():
            return _file(check, seen.files.get(check))


def _empty(check: Check) -> CheckResult | None:
    """A value that is empty in this run is in everything: it proves nothing."""
    if isinstance(check, Downloaded) or check.value.strip():
        return None
    return CheckResult(check, False, "nothing", why="there is nothing to look for")


def _is_in_address(value: str, url: str) -> bool:
    """What stands in the query does not say where one is, unless it is asked for."""
    if not any(sign in value for sign in "?=#"):
        scheme, host, port = host_of(url)
        url = f"{scheme}://{host}{':' if port else ''}{port}{path_in(url)}"
    return value in url or value in unquote(url)


def _plain(check: Check, checked: str, found: str, *, held: bool) -> CheckResult:
    return CheckResult(check, held, checked, found, "" if held else f"it is {found or 'nothing'}")


def _text(check: Check, text: str, seen: AfterStep, *, wanted: bool) -> CheckResult:
    if text not in seen.shown:
        return CheckResult(check, None, text)
    around = seen.shown[text]
    if around is None and not wanted and (seen.page.truncated or seen.unread):
        why = "a part of the page could not be read"
        return CheckResult(check, False, text, why=why, unseen=True)
    held = (around is not None) == wanted
    why = "the page shows it" if around is not None else "the page does not show it"
    return CheckResult(
        check, held, text, around.text if around is not None else "", "" if held else why
    )


def _answer(check: ServerAnswered, exchanges: tuple[Exchange, ...]) -> CheckResult:
    """One that was taken is enough: pages send the same kind for many things."""
    found = matching(check, exchanges)
    if good := next((each for each in found if taken(each)), None):
        return CheckResult(check, True, check.value, f"answered with {good.status}")
    if bad := worst(found):
        said = f"answered with {bad.status}"
        return CheckResult(check, False, check.value, said, f"the server {said}")
    why = "there was no answer" if found else "nothing of that kind was sent"
    return CheckResult(check, False, check.value, why=why)


def _alert(check: AlertSaid, seen: AfterStep) -> CheckResult:
    """What was learned is a notice that came with the step: one that stood there says nothing."""
    before = seen.before.alerts if check.whole and seen.before is not None else ()
    new = [alert for alert in seen.page.alerts if alert not in before]
    for alert in new:
        if says(check.value, alert.text, whole=check.whole):
            return CheckResult(check, True, check.value, alert.text)
    for alert in before:
        if alert in seen.page.alerts and says(check.value, alert.text, whole=check.whole):
            return CheckResult(check, False, check.value, alert.text, "the page said it before")
    said = new[0].text if new else ""
    why = "the page says something else" if said else "the page does not say it"
    return CheckResult(check, False, check.value, said, why)


def _element(check: ValueSet | ElementState, page: Page) -> CheckResult:
    """Where several have the name, all of them: nobody said which."""
    found = [each for each in page.elements if _is_called(each, check.name, check.role)]
    checked = f"{check.name}: {check.value}"
    cut = not found and bool(page.dropped or page.truncated)
    if isinstance(check, ElementState) and check.value == GONE:
        why = "not all of the page was read" if cut else "it is there" if found else ""
        return CheckResult(check, not found and not cut, checked, check.name, why, unseen=cut)
    if not found:
        return CheckResult(check, False, checked, why=f"there is no {check.name!r}", unseen=cut)
    stands = [_stands(each, check) for each in found]
    if all(stands):
        return CheckResult(check, True, checked, _how(found[0], check))
    how = _how(found[stands.index(False)], check)
    return CheckResult(check, False, checked, how, f"it is {how!r}")


def _how(element: PageElement, check: ValueSet | ElementState) -> str:
    if isinstance(check, ValueSet):
        return element.value.text if element.value is not None else ""
    return " ".join(element.state) or "as any other"


def _stands(element: PageElement, check: ValueSet | ElementState) -> bool:
    if isinstance(check, ValueSet):
        return _how(element, check) == check.value
    if check.value.startswith(NOT):
        return check.value.removeprefix(NOT) not in element.state
    return check.value in element.state


def _is_called(element: PageElement, name: str, role: str) -> bool:
    same = " ".join(element.name.text.casefold().split()) == " ".join(name.casefold().split())
    return same and role in ("", element.role)


def _file(check: FileCheck, seen: FileSeen | None) -> CheckResult:
    checked = path_of(check)
    if seen is None:
        return CheckResult(check, None, checked)
    if seen.error:
        return CheckResult(check, False, checked, why=f"{seen.error}: {seen.message}")
    if not seen.exists:
        return CheckResult(check, False, checked, why="there is no such file")
    match check:
        case FileContains(value):
            held = bool(seen.holds)
            return CheckResult(
                check, held, checked, why="" if held else f"it does not hold {value!r}"
            )
        case FileSize(_, at_least, at_most):
            fits = seen.size >= at_least and (at_most is None or seen.size <= at_most)
            return CheckResult(
                check, fits, checked, why="" if fits else f"it has {seen.size} bytes"
            )
        case FileExists():
            return CheckResult(check, True, checked)
