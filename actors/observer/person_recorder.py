"""The person recorder tells what a person does as facts: the page before a step, it, the page
after.

The page tells of input at its capture phase, before anything came of it. A step is held until the
page has answered, so that what the person said to its dialogs goes with it; then it is a fact.
"""

from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from functools import partial
from time import perf_counter_ns
from typing import Any, Literal

import anyio
import msgspec

from rutter.actors.observer.bar_presses import BarRefused, ToldSteps, disturbed
from rutter.actors.observer.heard_actions import action_of
from rutter.actors.rules.pages.address import blur, host_of
from rutter.actors.rules.pages.server_exchanges import folded
from rutter.actors.rules.text.secret_words import asks_for_a_secret, safe_url
from rutter.actors.rules.text.untrusted import quarantined
from rutter.actors.world.browser.page_listener import Overheard, WindowListener
from rutter.actors.world.browser.page_session import DocumentGone, PageTimeout
from rutter.actors.world.browser.recording_bar import RecordingBar
from rutter.actors.world.browser.step_pictures import StepPictures
from rutter.actors.world.browser.window import Window
from rutter.events.action import CLICKS, DOUBLE, Action, DialogAnswer, Secret
from rutter.events.errors import BrowserGone
from rutter.events.executor import PersonActed, StepPictured
from rutter.events.observer import PageObserved
from rutter.events.page import Exchange, Page, Resolved
from rutter.events.runtime import RecordingFinished
from rutter.events.vocabulary import AnyEvent

SETTLE_MS = 1_000  # how long a page may take to show what a step changed
ENTERED_MS = 150  # the same for what was entered: that is there already, only a dialog may follow
OBSERVE_MS = 3_000
DOUBLE_MS = 500  # the second click of a double click comes within this
# What a page says late: that it saved something, that it did not. It is looked at again when it
# changed and rests, or at the end of the time if it never does; so often and no more.
LATE_MS = 1_500
REST_MS = 200
LATE_LOOKS = 2
MAX_MESSAGE = 500

Wording = Callable[[Action, str], str]  # what an action does, in words for people
Why = Literal["after_action", "requested", "before_input"]


class PersonRecorder:
    """The recorder follows the person from the first step on until the window is closed."""

    def __init__(
        self,
        window: Window,
        listener: WindowListener,
        values: Mapping[str, str],
        first_step: int,
        phrases: tuple[str, ...] = (),
        close_ups: StepPictures | None = None,
        wording: Wording | None = None,
    ) -> None:
        self._window = window
        self._listener = listener
        self._values = dict(values)
        self._names = {value: name for name, value in values.items()}
        self._secrets: dict[tuple[str, str], str] = {}
        self._step = first_step
        self._waiting: deque[Overheard] = deque()
        self._phrases = phrases
        self._close_ups = close_ups or StepPictures(None, taking=False)
        self._seen: PageObserved | None = None
        self._unseen = False
        self._taken: Overheard | None = None  # what they did and is no fact yet
        self._sent: tuple[Exchange, ...] = ()  # by pages, and not told yet
        self._told_steps = ToldSteps(first_step - 1, wording or _without_words, values)
        self._bar = RecordingBar(window, partial(listener.tell, "bar", 0)) if wording else None
        window.under_way = self._under_way

    async def open(self) -> None:
        """The bar beside the page, where one is wanted."""
        if self._bar is not None:
            await self._bar.open()
            await self._bar.show(self._told_steps.view())

    async def close(self) -> None:
        if self._bar is not None:
            await self._bar.close()

    async def facts(self) -> AsyncIterator[AnyEvent]:
        """Until the window is closed or the session is stopped."""
        await self._glance()
        over = False
        while not over:
            heard = await self._next()
            async for fact in self._said_of(heard):
                over = over or isinstance(fact, RecordingFinished)
                yield fact

    async def _said_of(self, heard: Overheard) -> AsyncIterator[AnyEvent]:
        match heard.kind:
            case "closed":
                if not await self._window.browser_answers():
                    raise BrowserGone("the browser went away while a person was recorded")
                yield RecordingFinished("window_closed")
                return
            case "finished":
                facts = self._finished("interrupt")
            case "bar":
                facts = self._pressed(heard)
            case "input":
                facts = self._acted(heard)
            case "went" if _is_web(str(heard.body["url"])):
                facts = self._went(heard)
            case _:
                return  # a dialog that no step of theirs opened
        async for fact in facts:
            yield fact
        if _acts(heard):
            async for late in self._later():
                yield late

    async def _finished(self, by: Literal["interrupt", "bar"]) -> AsyncIterator[AnyEvent]:
        """What is still being typed is a step too."""
        typing = self._listener.typing
        for tab in self._window.tabs:
            with suppress(PageTimeout, DocumentGone, BrowserGone):
                await tab.call("settleInput", within_ms=SETTLE_MS)
        self._listener.typing = False  # if it was told, it is heard below
        while (heard := self._take("input")) is not None:
            async for fact in self._acted(heard):
                yield fact
        if self._unseen and typing:  # it came to nothing, and was waited for
            async for seen in self._after():
                yield seen
        elif not self._unseen and (last := await self._look_anew()) is not None:
            yield self._telling(last)
        yield RecordingFinished(by)

    # -- the bar -------------------------------------------------------------------------------

    async def _pressed(self, heard: Overheard) -> AsyncIterator[AnyEvent]:
        """What is said of a step is said when that was seen in full."""
        match heard.body["do"]:
            case "disturbed":
                yield disturbed(heard.body)
                return
            case "discard":
                yield RecordingFinished("discarded")
                return
            case "done":
                async for fact in self._finished("bar"):
                    yield fact
                return
            case _:
                pass
        if self._unseen and (seen := await self._look("after_action")) is not None:
            self._unseen = False
            yield self._telling(seen)
        try:
            if self._unseen:
                raise BarRefused("The page does not answer yet. Press again.")
            if heard.body["do"] == "keep":
                async for fact in self._picked(heard):
                    yield fact
            elif heard.body["do"] == "naming" and self._bar is not None:
                self._told_steps.check_varies()
                await self._show()
                await self._bar.ask_name(self._told_steps.view())
            else:
                marked, note = self._told_steps.marked(heard.body)
                if marked.mark == "varies":
                    self._values[marked.name] = marked.value
                    self._names[marked.value] = marked.name
                yield marked
                await self._show(note)
        except BarRefused as refused:
            await self._show(str(refused), bad=True)

    async def _picked(self, heard: Overheard) -> AsyncIterator[AnyEvent]:
        """A step that reads or checks: they saw it there, and nothing came of that."""
        action, element = self._told_steps.picked(heard.body, self._values)
        raw = heard.body["found"]["before"]
        before = self._called(self._observed(raw, int(heard.body["tab"]), "before_input"))
        yield before
        where = heard._replace(tab=int(heard.body["tab"]), alone=len(self._window.tabs) == 1)
        yield self._told(action, where, element, ())
        self._unseen = False
        yield msgspec.structs.replace(before, why="after_action")
        await self._show()

    async def _show(self, note: str = "", *, bad: bool = False) -> None:
        if self._bar is not None:
            await self._bar.show(self._told_steps.view(note, bad=bad))

    # -- steps ---------------------------------------------------------------------------------

    async def _acted(self, heard: Overheard) -> AsyncIterator[AnyEvent]:
        before = self._called(self._observed(heard.body["before"], heard.tab, "before_input"))
        element = msgspec.convert(heard.body["element"], Resolved)
        action = action_of(heard.body, element, self._names)
        if isinstance(action.value, Secret):
            named = self._secret_of(element.origin, action.value.name)
            action = msgspec.structs.replace(action, value=named)
        if heard.body.get("may_double") and await self._doubled():
            action = msgspec.structs.replace(action, count=DOUBLE)
        within_ms = SETTLE_MS if action.type in (*CLICKS, "press") else ENTERED_MS
        answers = await self._answered(heard.tab, element.origin, within_ms)
        yield before
        acted = self._told(action, heard, element, answers)
        yield acted
        await self._show()
        taken = await self._close_ups.of_box(before.page, element.fingerprint.box)
        if taken is not None and action.target is not None:
            yield StepPictured(acted.step, taken)
        async for seen in self._after():
            yield seen

    async def _doubled(self) -> bool:
        """Whether the click that was heard was the first half of a double click. What the page asks
        or the person does meanwhile says that it was not."""
        with anyio.move_on_after(DOUBLE_MS / 1000):
            while not self._heard():
                await self._listener.more()
        second = next(iter(self._heard()), None)
        if second is None or second.kind != "input" or second.body["kind"] != "double":
            return False
        self._waiting.popleft()
        return True

    async def _went(self, heard: Overheard) -> AsyncIterator[AnyEvent]:
        """To an address that the person typed, or back: nothing in the page asked for it."""
        if self._unseen and self._seen is not None:
            yield msgspec.structs.replace(self._seen, why="before_input")
        url = safe_url(str(heard.body["url"]))
        yield self._told(Action("navigate", url=url), heard, None, ())
        await self._show()
        async for seen in self._after():
            yield seen

    def _told(
        self,
        action: Action,
        heard: Overheard,
        element: Resolved | None,
        answers: tuple[DialogAnswer, ...],
    ) -> PersonActed:
        step, self._step, self._unseen = self._step, self._step + 1, True
        self._taken = None
        # Where more than one page was open, which one it was is part of the step.
        where = None if heard.alone else heard.tab
        action = msgspec.structs.replace(action, tab=where, dialogs=answers)
        acted = PersonActed(step=step, action=action, element=element)
        self._told_steps.tell(acted)
        return acted

    def _secret_of(self, origin: str, name: str) -> Secret:
        """Two sites may both call it a password: each has a name of its own."""
        if (origin, name) not in self._secrets:
            same = sum(known == name for _, known in self._secrets)
            self._secrets[origin, name] = f"{name}_{same + 1}" if same else name
        return Secret(self._secrets[origin, name])

    async def _after(self) -> AsyncIterator[PageObserved]:
        """The page as it is now, unless the person has gone on already: then it is told with what
        they did next. What they are typing is no effect of what they did before."""
        if self._goes_on():
            return
        seen = await self._look("after_action")
        if seen is not None and not self._goes_on():
            self._unseen = False
            yield self._telling(seen)
            await self._remember(seen.page)

    def _goes_on(self) -> bool:
        return any(heard.kind == "input" for heard in self._heard()) or self._listener.typing

    def _telling(self, seen: PageObserved) -> PageObserved:
        """This look is told, and what was sent with it."""
        self._sent = ()
        return seen

    def _under_way(self) -> int:
        """The step that whatever pages send now follows from: the last that the person began,
        however far it has been told. One that is being typed is told when it is over."""
        taken = () if self._taken is None else (self._taken,)
        begun = [each for each in (*taken, *self._waiting, *self._listener.untaken) if _acts(each)]
        halves = sum(map(_is_double_of, begun, begun[1:]))
        return self._step - 1 + len(begun) - halves + self._listener.typing

    async def _glance(self) -> None:
        """What is before the person when they begin was told already: only a picture is wanted."""
        if not self._close_ups.taking:
            return
        with suppress(PageTimeout, DocumentGone, BrowserGone, msgspec.ValidationError):
            raw = await self._window.tab.call("observe", {"phrases": ()}, within_ms=OBSERVE_MS)
            await self._remember(self._observed(raw, self._window.index, "requested").page)

    async def _remember(self, page: Page) -> None:
        """The page as it is before their next step. If they have done that meanwhile, the picture
        may show what came of it."""
        with suppress(BrowserGone):
            await self._close_ups.remember(self._window.tab, page)
        if any(heard.kind in ("input", "went") for heard in self._heard()):
            self._close_ups.forget()

    async def _later(self) -> AsyncIterator[PageObserved]:
        """What the page says late, while the person does nothing. What they do waits for none of
        it, and a look that it may have changed already is not told."""
        late_ns = perf_counter_ns() + LATE_MS * 1_000_000
        for _ in range(LATE_LOOKS):
            left_ms = _until(late_ns)
            if self._unseen or left_ms <= 0 or not await self._stirred(left_ms):
                return
            seen = await self._look_anew()
            if seen is not None and not self._heard() and not self._listener.typing:
                yield self._telling(seen)
                await self._remember(seen.page)

    async def _look_anew(self) -> PageObserved | None:
        """The page, if it is another one than was seen last, or has sent something."""
        before = self._seen
        seen = await self._look("requested")
        if seen is None or seen.exchanges:
            return seen
        return None if before is not None and seen.page == before.page else seen

    # -- what came of it -----------------------------------------------------------------------

    async def _answered(self, tab: int, origin: str, within_ms: int) -> tuple[DialogAnswer, ...]:
        """Waits until the page has changed or the person went on; what they answered meanwhile."""
        answers: list[DialogAnswer] = []
        await self._settled(tab, within_ms)
        while (heard := self._take("dialog_opened")) is not None:
            closed = await self._until_closed()
            if closed is None:
                break
            answers.append(self._answer(heard.body, closed.body, origin))
            await self._settled(tab, within_ms)
        return tuple(answers)

    def _answer(
        self, asked: Mapping[str, Any], said: Mapping[str, Any], origin: str
    ) -> DialogAnswer:
        """What was asked goes with it: another question does not get this answer."""
        kind, message = str(asked["type"]), str(asked["message"])
        answer = DialogAnswer(
            accept=bool(said["accepted"]),
            kind=kind,
            message=blur(message, self._values.values())[:MAX_MESSAGE],
        )
        if kind != "prompt" or not answer.accept:
            return answer
        if asks_for_a_secret(message):
            return msgspec.structs.replace(answer, secret=self._secret_of(origin, "answer").name)
        text = str(said["text"] or "")
        named = self._names.get(text)
        return msgspec.structs.replace(answer, text=f"${{{named}}}" if named else text)

    async def _settled(self, tab: int, within_ms: int) -> bool:
        """Until the page changed, asked something, or there is something else to hear. Whether it
        changed."""
        came = False
        async with anyio.create_task_group() as group:

            async def changed() -> None:
                nonlocal came
                with suppress(BrowserGone):
                    came = await self._window.tabs[tab].change(within_ms)
                group.cancel_scope.cancel()

            async def heard() -> None:
                await self._listener.more()
                group.cancel_scope.cancel()

            if not self._heard() and tab < len(self._window.tabs):
                group.start_soon(changed)
                group.start_soon(heard)
        return came

    async def _stirred(self, within_ms: int) -> bool:
        """Waits until the page changed and rests; whether it did, and the person did nothing."""
        until_ns = perf_counter_ns() + within_ms * 1_000_000
        stirred = False
        while self._window.tabs and (left_ms := _until(until_ns)) > 0:
            wait_ms = min(left_ms, REST_MS) if stirred else left_ms
            if not await self._settled(self._window.index, wait_ms):
                break
            stirred = True
        return stirred and not self._heard()

    async def _until_closed(self) -> Overheard | None:
        """Until the dialog is answered: the person may think as long as they like."""
        while True:
            if (closed := self._take("dialog_closed")) is not None:
                return closed
            if any(heard.kind in ("closed", "finished") for heard in self._heard()):
                return None
            await self._listener.more()

    async def _look(self, why: Why) -> PageObserved | None:
        """What is in front now: it may be a page that this one opened."""
        try:
            tab = self._window.tab
            raw = await tab.call("observe", {"phrases": self._phrases}, within_ms=OBSERVE_MS)
        except (PageTimeout, DocumentGone, BrowserGone):
            return None
        seen = self._observed(raw, self._window.index, why)
        page = msgspec.structs.replace(seen.page, been=tab.addresses.been)
        self._sent = folded(self._sent, self._window.exchanges())
        self._seen = msgspec.structs.replace(seen, page=page, exchanges=self._sent)
        return self._seen

    def _called(self, before: PageObserved) -> PageObserved:
        """With what the page had called itself by then, as far as it was looked at or is there."""
        page, tabs = before.page, self._window.tabs
        last = self._seen.page if self._seen is not None else None
        been = last.been if last is not None and last.url == page.url else ()
        if page.tab < len(tabs) and tabs[page.tab].addresses.now == page.url:
            been = tabs[page.tab].addresses.been
        return msgspec.structs.replace(before, page=msgspec.structs.replace(page, been=been))

    def _observed(self, raw: dict[str, Any], tab: int, why: Why) -> PageObserved:
        phrases = msgspec.convert(raw.pop("phrases", ()), tuple[str, ...])
        status = msgspec.convert(raw.pop("status", 0), int)
        unread = msgspec.convert(raw.pop("unread", False), bool)
        page, suspicious = quarantined(msgspec.convert(raw, Page))
        page = msgspec.structs.replace(page, tab=tab, tabs=len(self._window.tabs))
        seen = PageObserved(page=page, why=why, phrases=phrases, status=status, unread=unread)
        return msgspec.structs.replace(seen, suspicious=suspicious)

    # -- hearing -------------------------------------------------------------------------------

    async def _next(self) -> Overheard:
        while not self._heard():
            await self._listener.more()
        return self._now(self._waiting.popleft())

    def _now(self, heard: Overheard) -> Overheard:
        self._taken = heard if _acts(heard) else None
        return heard

    def _heard(self) -> deque[Overheard]:
        self._waiting.extend(self._listener.take())
        return self._waiting

    def _take(self, kind: str) -> Overheard | None:
        """The next of this kind, if nothing the person did stands before it."""
        for heard in self._heard():
            if heard.kind == kind:
                self._waiting.remove(heard)
                return self._now(heard) if _acts(heard) else heard
            if heard.kind in ("input", "went"):
                return None
        return None


def _acts(heard: Overheard) -> bool:
    return heard.kind == "input" or (heard.kind == "went" and _is_web(str(heard.body["url"])))


def _is_double_of(first: Overheard, second: Overheard) -> bool:
    """Two clicks that are one step."""
    return second.body.get("kind") == "double" and bool(first.body.get("may_double"))


def _until(then_ns: int) -> int:
    """How many milliseconds are left."""
    return (then_ns - perf_counter_ns()) // 1_000_000


def _is_web(url: str) -> bool:
    return host_of(url)[0] in ("http", "https")


def _without_words(action: Action, name: str) -> str:
    """Nobody reads them."""
    return f"{action.type} {name}".strip()
