"""The run-time part of an exported script is copied into it as it stands. It needs Playwright
alone.

Elements are found as a workflow finds them: by the first way that leads to exactly one visible
element. Nothing here guesses between two.
"""

import argparse
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from math import inf
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote, unquote, urlsplit

from playwright.sync_api import (
    BrowserContext,
    Dialog,
    Error,
    Frame,
    Locator,
    Page,
    Request,
    Response,
    sync_playwright,
)

WITHIN_S = 10.0
OPTIONAL_S = 3.0
WEAK_S = 2.0  # before a way is believed that tells only where an element lies
READING_S = 3.0  # a page that reads for longer listens to news
MOST_TYPED = 200  # letters that are worth a key each
POLL_MS = 30
Locators = Callable[[Frame], list[Locator]]
Found = TypeVar("Found")
Look = Callable[[], Found | None]
# What can be named and has a state or a value.
ROLES = (
    "button",
    "checkbox",
    "combobox",
    "link",
    "listbox",
    "menuitem",
    "option",
    "radio",
    "searchbox",
    "slider",
    "spinbutton",
    "switch",
    "tab",
    "textbox",
)
STATES = {
    "busy": "e => e.ariaBusy === 'true'",
    "checked": "e => e.checked ? !e.indeterminate : e.ariaChecked === 'true'",
    "unchecked": "e => 'checked' in e ? !e.checked && !e.indeterminate : e.ariaChecked !== 'true'",
    "mixed": "e => e.indeterminate || e.ariaChecked === 'mixed'",
    "collapsed": "e => e.ariaExpanded === 'false' || e.parentElement?.open === false",
    "expanded": "e => e.ariaExpanded === 'true' || e.parentElement?.open === true",
    "focused": "e => e.matches(':focus')",
    "disabled": "e => e.matches(':disabled') || !!e.closest('[aria-disabled=\"true\"]')",
    "invalid": "e => !['false', null].includes(e.ariaInvalid)",
    "pressed": "e => e.ariaPressed === 'true'",
    "readonly": "e => e.readOnly === true || e.ariaReadOnly === 'true'",
    "required": "e => e.required === true || e.ariaRequired === 'true'",
    "selected": "e => e.selected === true || e.ariaSelected === 'true'",
}
ALL_TEXT = """() => { const all = (node) => node.nodeType === 3 ? node.data :
  /^(script|style|template|noscript)$/i.test(node.nodeName) ? '' :
  [...(node.shadowRoot?.childNodes ?? []), ...node.childNodes].map(all).join(' ');
  return document.body ? all(document.body) : ''; }"""


class NotAsRecorded(Exception):
    """The page is not what it was when the workflow was recorded."""


class Requests:
    """The pages send requests, which are answered or not."""

    def __init__(self, context: BrowserContext) -> None:
        self.answers: list[tuple[str, int]] = []  # method and address, status
        self._open: dict[Request, float] = {}
        self._since = time.monotonic()
        self.owed: list[tuple[str, int]] = []
        context.on("request", self._sent)
        context.on("response", self._answered)
        context.on("requestfinished", self._ended)
        context.on("requestfailed", self._ended)

    def _sent(self, request: Request) -> None:
        self._since = time.monotonic()
        if request.resource_type in ("fetch", "xhr", "document"):
            self._open[request] = self._since

    def _answered(self, response: Response) -> None:
        sent = response.request
        self.answers.append((f"{sent.method} {re.split('[?#]', sent.url)[0]}", response.status))

    def _ended(self, request: Request) -> None:
        self._open.pop(request, None)
        self._since = time.monotonic()

    def owe(self, kinds: str) -> None:
        """What follows the step that comes now."""
        self.owed.append((kinds, len(self.answers)))

    def rests(self, began: float, quiet_s: float) -> bool:
        now = time.monotonic()
        if any(not self.took(kinds, since) for kinds, since in self.owed):
            return False
        for sent, at in self._open.items():
            if sent.method != "GET" or now - at < READING_S:
                return False
        return now - max(began, min(self._since, began + READING_S)) >= quiet_s

    def took(self, kinds: str, since: int) -> bool:
        """Whether one of these was answered well since then."""
        return any(status < 400 and is_to(kinds, to) for to, status in self.answers[since:])


def is_to(kinds: str, sent: str) -> bool:
    """Whether a request is one of these, with `*` for a part of its path that varies."""
    wanted = [kind.split("/") for kind in kinds.split(" | ")]
    return any(
        len(parts) == len(sent.split("/"))
        and all(part in ("*", found) for part, found in zip(parts, sent.split("/"), strict=True))
        for parts in wanted
    )


class Pages(Requests):
    """A run has open pages that send requests, in the order in which they opened; one of them is in
    front."""

    def __init__(self, context: BrowserContext) -> None:
        super().__init__(context)
        self._opened: dict[Page, Page | None] = {}  # each with the one that was in front then
        self._front: Page | None = None
        self._context = context
        self.downloads: list[str] = []
        context.on("page", self._add)
        context.new_page()

    def _add(self, page: Page) -> None:
        self._opened[page] = self._front
        self._front = page
        page.on("download", lambda download: self.downloads.append(download.suggested_filename))

    @contextmanager
    def aside(self, url: str) -> Iterator[Page]:
        """A page of its own, to look where a result must show."""
        page = self._context.new_page()
        page.goto(url, wait_until="domcontentloaded")
        yield page
        page.close()

    def rest(self, quiet_s: float) -> None:
        """Until the page has sent what it owes, nothing is on its way and none was for a while. A
        page that never rests is not waited for longer than any other step."""
        page, began = self.front(), time.monotonic()
        while time.monotonic() - began < WITHIN_S and not self.rests(began, quiet_s):
            page.wait_for_timeout(POLL_MS)
        self.owed.clear()

    @contextmanager
    def answered(self, kinds: str) -> Iterator[None]:
        """The server must take what is sent meanwhile."""
        since = len(self.answers)
        yield
        page = self.front()
        wait(page, lambda: self.took(kinds, since), f"the server did not take: {kinds}")

    def open(self) -> list[Page]:
        return [page for page in self._opened if not page.is_closed()]

    def front(self) -> Page:
        front = self._front
        if front is None or front.is_closed():
            opener = self._opened[front] if front is not None else None
            front = opener if opener in self.open() else self.open()[-1]
        self._front = front
        return front

    def tab(self, number: int) -> Page:
        wait(self.open()[0], lambda: number < len(self.open()), f"no page {number} is open")
        self._front = self.open()[number]
        self._front.bring_to_front()
        return self._front


def wait(page: Page, look: Look[Found], what: str, within_s: float = WITHIN_S) -> Found:
    """What was looked for, once it is there."""
    end = time.monotonic() + within_s
    while not (found := look()):
        if time.monotonic() >= end:
            raise NotAsRecorded(f"{what} (at {page.url})")
        page.wait_for_timeout(POLL_MS)
    return found


def one_of(
    page: Page, locators: Locators, within_s: float = WITHIN_S, hidden: bool = False, sure: int = 0
) -> Locator:
    """The element that the first way leads to which leads to exactly one, frames included. As long
    as something else may lie where it will, only the first `sure` ways are gone, if any are."""
    patient = time.monotonic() + WEAK_S

    def look() -> Locator | None:
        most = sure if sure and time.monotonic() < patient else None
        for locator in [*zip(*map(locators, own_frames(page)), strict=True)][:most]:
            seen = [each for inside in locator for each in matching(inside, hidden)]
            if len(seen) == 1:
                return seen[0]
        return None

    return wait(page, look, "no way to find it matched exactly one visible element", within_s)


def wait_for(
    page: Page, locators: Locators, enough: Callable[[int], bool] = bool, within_s: float = WITHIN_S
) -> None:
    """Until as many visible elements are there as are enough, by the first way that has any."""

    def look() -> bool:
        found = zip(*map(locators, own_frames(page)), strict=True)
        seen = [sum(len(matching(inside)) for inside in locator) for locator in found]
        return enough(next(filter(None, seen), 0))

    wait(page, look, "what is waited for is not there", within_s)


def own_frames(page: Page) -> list[Frame]:
    """The page and the frames of its own site: what others put into it is not what is meant."""
    site = urlsplit(page.url)[:2]
    return [each for each in page.frames if urlsplit(each.url)[:2] in (site, ("about", ""))]


def matching(locator: Locator, hidden: bool = False) -> list[Locator]:
    try:
        return [each for each in locator.all() if hidden or each.is_visible()]
    except Error:
        return []  # the page has just moved on, or this way leads nowhere in it


def if_there(page: Page, place: str, locators: Locators) -> Locator | None:
    """The element of an optional step, or nothing after a while."""
    try:
        check_place(page, place, OPTIONAL_S)
        return one_of(page, locators, within_s=OPTIONAL_S)
    except NotAsRecorded:
        return None


def check_place(page: Page, place: str, within_s: float = WITHIN_S) -> None:
    wait(page, lambda: re.fullmatch(place, page.url), f"this is not {place}", within_s)


def check_heading(page: Page, heading: str) -> None:
    """Numbers and values were blurred when the heading was recorded."""

    def shown() -> bool:
        headings = page.get_by_role("heading").all_inner_texts()
        return any(re.fullmatch(heading, folded(text)) for text in headings)

    wait(page, shown, f"there is no heading {heading!r}")


def check_text(page: Page, text: str) -> None:
    wait(page, lambda: shows(page, text), f"the page does not show {text!r}")


def check_no_text(page: Page, text: str) -> None:
    wait(page, lambda: not shows(page, text), f"the page shows {text!r}")


def shows(page: Page, text: str) -> bool:
    """In any case and across elements, shadow roots included."""
    said = "document.body ? document.body.innerText : ''"
    return any(
        folded(text) in folded(answer(frame, said) or "") or matching(frame.get_by_text(text))
        for frame in own_frames(page)
    )


def check_said(page: Page, said: str) -> None:
    """What a notice says: `*` is what varies, numbers were blurred when it was recorded."""
    blurred = re.sub(r"\d+", "#", folded(said))
    pattern = ".+".join(re.escape(part) for part in re.split(r"[*#]+", blurred))

    def told() -> bool:
        texts = [answer(frame, ALL_TEXT) or "" for frame in own_frames(page)]
        return any(re.search(pattern, folded(text)) for text in texts)

    wait(page, told, f"the page does not say {said!r}")


def folded(text: str) -> str:
    return " ".join(text.split()).casefold()


def in_address(value: str) -> str:
    """A value as one part of an address."""
    return quote(value, "")


def check_url(page: Page, part: str) -> None:
    wait(
        page,
        lambda: part in page.url or part in unquote(page.url),
        f"the address does not hold {part!r}",
    )


def called(page: Page, role: str, name: str) -> list[Locator]:
    """The visible elements of this name, in the page and the frames of its own site."""
    exact = re.compile(rf"^{re.escape(name)}$", re.IGNORECASE)
    found: list[Locator] = []
    for frame in own_frames(page):
        by_role: Callable[..., Locator] = frame.get_by_role
        for each in (role,) if role else ROLES:
            found += matching(by_role(each, name=exact))
        if not role:  # what Playwright knows no role of
            found += matching(frame.locator("summary", has_text=exact))
    return found


def check_value(page: Page, role: str, name: str, value: str) -> None:
    wait(
        page,
        lambda: any(holds(each, value) for each in called(page, role, name)),
        f"{name!r} does not hold {value!r}",
    )


def holds(element: Locator, value: str) -> bool:
    """A list holds what it shows as chosen, and what stands for that."""
    chosen = "e => [e.value, ...[...e.selectedOptions ?? []].map(each => each.label.trim())]"
    return value in (answer(element, chosen) or ())


def answer(asked: Locator | Frame, script: str) -> Any:
    """Nothing, where the page has just moved on."""
    try:
        return asked.evaluate(script)
    except Error:
        return None


def check_state(page: Page, role: str, name: str, state: str) -> None:
    def stands() -> bool:
        found = called(page, role, name)
        if state == "gone":
            return not found
        script, wanted = STATES[state.removeprefix("not ")], not state.startswith("not ")
        return any(bool(answer(each, script)) is wanted for each in found)

    wait(page, stands, f"{name!r} is not as stated: {state}")


def check_download(pages: Pages, name: str) -> None:
    """A download counts once."""
    there = pages.downloads
    came = wait(pages.front(), lambda: [n for n in there if name in n], f"no file {name!r} came")
    there.remove(came[0])


def check_file(page: Page, path: str, text: str = "", least: int = 0, most: float = inf) -> None:
    def fits() -> bool:
        file = Path(path)
        if not file.is_file() or not least <= file.stat().st_size <= most:
            return False
        return not text or text in file.read_text("utf-8", "replace")

    wait(page, fits, f"the file {path!r} is not as it must be")


def arriving(page: Page, place: str) -> AbstractContextManager[object]:
    """Waits, at the end of the block, for the page that it leads to."""
    return page.expect_navigation(url=re.compile(place), wait_until="domcontentloaded")


def type_in(element: Locator, value: str) -> None:
    """With a key for each letter, as some fields wait for that; and as a whole where that is too
    long, cannot be typed so or did not come to the same."""
    typed = element.evaluate(
        "e => e.isContentEditable || e.localName === 'textarea' || e.localName === 'input' &&"
        " ['text', 'search', 'url', 'tel', 'email', 'number', ''].includes(e.type)"
    )
    if not typed or len(value) > MOST_TYPED or "\n" in value:
        element.fill(value)
        return
    if content(element):
        element.fill("")
    element.press_sequentially(value)
    with suppress(Error):  # it is gone: the page took it
        if same(content(element)) != same(value):
            element.fill(value)


def content(element: Locator) -> str:
    said = str(element.evaluate("e => e.isContentEditable ? e.textContent : e.value"))
    return re.sub("[\u200b\ufeff]", "", said).strip()


def same(text: str) -> str:
    """A text however a field writes it."""
    return re.sub(r"[\W_]", "", re.sub(r"(?<![\d.,])0+(?=\d)", "", text)).casefold()


def type_secret(element: Locator, value: str) -> None:
    try:
        element.fill(value)
    except Error:
        raise NotAsRecorded("a secret could not be typed") from None  # the error would repeat it


def type_behind(element: Locator, value: str) -> None:
    element.focus()
    element.press("ControlOrMeta+End")
    element.press_sequentially(value)


def turn_wheel(element: Locator, by: tuple[int, int]) -> None:
    element.hover()
    element.page.mouse.wheel(*by)


def paste(element: Locator, value: str, behind: bool = False) -> None:
    """As the page hears of one; the clipboard is left alone."""
    element.focus()
    element.press("ControlOrMeta+End" if behind else "ControlOrMeta+a")
    taken = element.evaluate(
        """(e, text) => {
            const clipboardData = new DataTransfer();
            clipboardData.setData("text/plain", text);
            const how = { clipboardData, bubbles: true, cancelable: true, composed: true };
            return !e.dispatchEvent(new ClipboardEvent("paste", how));
        }""",
        value,
    )
    if not taken:
        element.page.keyboard.insert_text(value)


def read(element: Locator) -> str:
    field = element.evaluate("e => ['input', 'textarea'].includes(e.localName)")
    return " ".join((element.input_value() if field else element.inner_text()).split())


@contextmanager
def answering(page: Page, *answers: tuple[bool, str | None]) -> Iterator[None]:
    """What the page asks meanwhile is answered so, one by one; any more is dismissed."""
    left = list(answers)

    def answer(dialog: Dialog) -> None:
        accept, text = left.pop(0) if left else (False, None)
        if accept:
            dialog.accept(text) if text is not None else dialog.accept()
        else:
            dialog.dismiss()

    page.on("dialog", answer)
    try:
        yield
    finally:
        page.remove_listener("dialog", answer)


def run_flow(
    flow: Callable[[Pages, Mapping[str, str], Mapping[str, str]], Mapping[str, str]],
    parameters: Mapping[str, str | None],
    secrets: Mapping[str, str],
) -> None:
    """Runs the flow with values from flags and secrets from the environment."""
    flags = argparse.ArgumentParser(allow_abbrev=False)
    for name, default in parameters.items():
        flags.add_argument("--" + name, required=default is None, default=default, metavar="VALUE")
    flags.add_argument("--headed", action="store_true", help="in a window that you can watch")
    flags.add_argument("--chromium", default=os.environ.get("CHROMIUM"), help="its executable")
    given = vars(flags.parse_args())
    unset = [variable for variable in secrets.values() if variable not in os.environ]
    if unset:
        flags.error("set in the environment: " + ", ".join(unset))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            headless=not given["headed"], executable_path=given["chromium"]
        )
        context = browser.new_context(viewport={"width": 1280, "height": 900})
        context.set_default_timeout(WITHIN_S * 1000)
        values = {name: given[name] for name in parameters}
        bound = {name: os.environ[variable] for name, variable in secrets.items()}
        for name, result in flow(Pages(context), values, bound).items():
            print(f"{name} = {result}")
        browser.close()
    print("done")
