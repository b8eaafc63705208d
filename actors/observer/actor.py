"""The Observer reads the page in one round trip and says what was there."""

import mimetypes
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from time import perf_counter_ns
from typing import ClassVar, Literal, TypeVar

import anyio.to_thread
import msgspec

from rutter.actors.observer.person_recorder import PersonRecorder
from rutter.actors.rules.pages.page_state import detect, phrases_for
from rutter.actors.rules.text.untrusted import on_one_line, plain
from rutter.actors.world.allowed_files import look_at_files
from rutter.actors.world.browser.page_reading import OBSERVE_MS, PageReading, seen_of
from rutter.actors.world.browser.page_session import DocumentGone, PageClosed, PageTimeout
from rutter.actors.world.browser.screen import Screen
from rutter.actors.world.browser.step_pictures import StepPictures
from rutter.actors.world.browser.window import TOO_MANY
from rutter.actors.world.browser.window_downloads import PageDownload
from rutter.events.action import Untrusted
from rutter.events.artifacts import ArtifactStore
from rutter.events.codec import pack
from rutter.events.critic import FilesRequested
from rutter.events.envelope import Actor, Envelope
from rutter.events.errors import BrowserGone, WorldBroken
from rutter.events.executor import ActionDone, ActionFailed, QueryAnswered, QueryFailed
from rutter.events.logins import LoginKept, LoginNotKept
from rutter.events.observer import (
    BrowserLost,
    Contact,
    DialogOpened,
    DownloadFinished,
    FilesSeen,
    HostsContacted,
    ObservationFailed,
    PageObserved,
    PopupOpened,
    RequestBlocked,
    ScreenshotTaken,
    Shown,
)
from rutter.events.page import Artifact, Page, PageElement, Rest, Resting
from rutter.events.planner import ObservationRequested, PersonAwaited, RunStopped
from rutter.events.runtime import ActorFailed, SessionStarted
from rutter.events.service_pack import Service
from rutter.events.vocabulary import AnyEvent

INLINE = 16_384  # what an observation may carry for deciders (design 3)
SCREENSHOT_MS = 5_000
DOWNLOAD_MS = 5_000  # a file that a click asked for; a longer one is told after a later step
LAST_MS = 2_000
SENT_OFF_MS = 10_000  # what was to change something gets this long to reach its server
COOKIES_MS = 1_000
STATE_MS = 4_000  # what the browser knows of a login, of all the time that closing has
MAX_TOLD = 5  # of each kind, after each step
MAX_NAMES = 1_000
MAX_CONTACTS = 200
MAX_TEXTS = 20  # looked for at once; the page is asked for no more
MAX_PHRASES = 1000
GONE = Page(url="chrome-error://crashed/")  # what is seen of a page that died aside: nothing

Kind = TypeVar("Kind")


class Observer:
    name: ClassVar[Actor] = "observer"

    def __init__(self, screen: Screen, artifacts: ArtifactStore | None) -> None:
        self._screen = screen
        self._artifacts = artifacts
        self._pictures = False
        self._close_ups = StepPictures(None, taking=False)
        self._values: Mapping[str, str] = {}
        self._hung = False
        self._viewport_only = False
        self._looks = 0
        self._phrases: tuple[str, ...] = ()
        self._folders: tuple[str, ...] = ()
        self._policy = ""
        self._files: FilesSeen | None = None
        self._service: Service | None = None
        self._signed_out = False

    async def handle(self, envelope: Envelope) -> AsyncIterator[AnyEvent]:
        match envelope.event:
            case SessionStarted(settings=settings, values=values, purpose=purpose) as started:
                self._pictures, self._values = settings.screenshots, values
                self._close_ups = StepPictures(self._artifacts, taking=settings.pictures)
                self._folders = started.policy.folders
                self._policy = started.policy.version
                self._phrases = phrases_for(settings)[:MAX_PHRASES]
                self._viewport_only = purpose == "tools"  # S3 1.1.3: the default of get_snapshot
                self._service = settings.service
                await self._screen.open()
                for login in self._screen.logins.used if self._screen.logins is not None else ():
                    yield login
                yield await self._observe("start")
            case ActionDone() | ActionFailed() | QueryAnswered() | QueryFailed():
                observed = await self._observe("after_action")
                async for fact in self._meanwhile(DOWNLOAD_MS):
                    yield fact
                yield observed
            case ObservationRequested() as requested:
                async for fact in self._look_again(requested):
                    yield fact
            case FilesRequested() as request:
                self._files = await look_at_files(request, self._folders, self._files)
                yield self._files
            case PersonAwaited(step=step):
                window = self._screen.window
                listener = await window.listen(self._phrases)
                witness = PersonRecorder(
                    window,
                    listener,
                    self._values,
                    step,
                    self._phrases,
                    self._close_ups,
                    self._screen.bar_words,
                )
                try:
                    await witness.open()
                    self._screen.listening.set()
                    self._screen.on_listening()
                    async for fact in witness.facts():
                        yield fact
                finally:
                    await witness.close()
            case RunStopped() | ActorFailed() as stop:
                async for fact in self._end(stop):
                    yield fact
            case _:
                return

    def failed(self, envelope: Envelope, error: Exception) -> AnyEvent | None:
        return BrowserLost(why=str(error)[:200]) if isinstance(error, BrowserGone) else None

    async def _end(self, stop: RunStopped | ActorFailed) -> AsyncIterator[AnyEvent]:
        done = isinstance(stop, RunStopped) and stop.reason == "completed"
        try:
            if not done:
                taken = await self._screenshot(full_page=True)
                if taken is not None:
                    yield ScreenshotTaken(taken, why="stopped")
            with suppress(BrowserGone, TimeoutError):  # it is over in any case
                await self._screen.window.sent_off(SENT_OFF_MS)
                async for fact in self._meanwhile(LAST_MS):
                    yield fact
                if done:
                    for kept in await self._logins_kept():
                        yield kept
                yield await self._contacted()
        finally:
            await self._screen.close()

    async def _logins_kept(self) -> tuple[LoginKept | LoginNotKept, ...]:
        """Cookies are renewed on the way: what the browser knows now is what the next run needs. A
        page that asks to sign in is known to nobody."""
        logins = self._screen.logins
        if logins is None or not logins.keeps:
            return ()
        if self._signed_out:
            return logins.leave("the last page asks to sign in")
        try:
            state = await self._screen.window.state(within_ms=STATE_MS)
        except (PageTimeout, BrowserGone) as gone:
            return logins.leave(str(gone))
        return await anyio.to_thread.run_sync(logins.keep, state, abandon_on_cancel=True)

    async def _contacted(self) -> HostsContacted:
        """Whom the session spoke to: those whose pages were open first, then the busiest."""
        window = self._screen.window
        with anyio.fail_after(LAST_MS / 1000):
            hosts, others, by_name = await window.passage.contacts()
        listed = [
            Contact(*at, at in window.been_to, requests, at in by_name)
            for at, requests in hosts.items()
        ]
        listed.sort(key=lambda each: (not each.top_level, -each.requests, each.host, each.port))
        return HostsContacted(tuple(listed[:MAX_CONTACTS]), others + len(listed[MAX_CONTACTS:]))

    async def _look_again(self, requested: ObservationRequested) -> AsyncIterator[AnyEvent]:
        """The page in front once it changed, or the one that is asked for, once it is open; and
        before it the files that came, within the time that this look has in any case."""
        if requested.why == "rest_awaited":
            yield await self._observe_at_rest(requested)
            return
        window, tab, within_ms = self._screen.window, requested.tab, requested.within_ms
        until_ns = perf_counter_ns() + within_ms * 1_000_000
        if requested.why == "aside_over":
            await window.close_asides()
        else:
            with suppress(PageTimeout, PageClosed):  # what is in front now is seen all the same
                if tab is not None and tab != window.index:
                    await self._screen.show(tab, within_ms=within_ms)
                else:
                    await self._changed(within_ms)
        async for fact in self._files_sent(max(0, until_ns - perf_counter_ns()) // 1_000_000):
            yield fact
        yield await self._observe(
            "requested", whole_page=requested.whole_page, texts=requested.texts
        )

    async def _observe_at_rest(self, requested: ObservationRequested) -> AnyEvent:
        """The page in front once it has nothing left to do, or the time for that is up."""
        rest = Rest()
        with suppress(PageClosed):  # what is in front then is seen all the same
            rest = await self._screen.tab.rest(requested.rest or Resting(requested.within_ms))
        seen = await self._observe("requested", texts=requested.texts)
        if isinstance(seen, PageObserved):
            seen = msgspec.structs.replace(seen, rest=rest)
        return seen

    async def _changed(self, within_ms: int) -> None:
        window = self._screen.window
        tab = window.tab
        try:
            await window.change(within_ms)
        except BrowserGone:
            if not window.is_aside(tab):  # one that died aside is told of by looking at it
                raise

    async def _observe(
        self,
        why: Literal["start", "after_action", "requested"],
        *,
        whole_page: bool = False,
        texts: tuple[str, ...] = (),
    ) -> PageObserved | ObservationFailed:
        began = perf_counter_ns()
        how = {
            "viewportOnly": self._viewport_only and not whole_page,
            "marks": self._viewport_only,  # for callers of tools: what a person does not see
            "texts": texts[:MAX_TEXTS],
            "phrases": self._phrases,
            "barriers": True,
        }
        try:
            seen = await self._read(how)
        except PageTimeout as error:
            self._hung = True
            return ObservationFailed(code="timeout", message=str(error))
        except msgspec.ValidationError as error:  # what a page says may be anything
            return ObservationFailed(code="action_failed", message=str(error)[:200])
        self._hung = False
        took_us = (perf_counter_ns() - began) // 1_000
        if self._screen.logins is not None:
            # A token that was renewed on the way here may be what the page says.
            self._screen.on_state(await self._screen.window.cookies(within_ms=COOKIES_MS))
            self._signed_out = detect(seen.page, seen.phrases, self._service) == "LOGIN_REQUIRED"
        picture = await self._screenshot(full_page=False) if self._pictures else None
        page = fit(seen.page, INLINE - len(pack((seen.shown, seen.phrases, seen.made))))
        return PageObserved(page, why, took_us, picture, self._looks, *seen[1:-1], made=seen.made)

    async def _read(self, how: dict[str, object]) -> PageReading:
        """The page in front; when that is closed meanwhile, the one behind it. Behind a page that
        was opened aside is none that may stand for it."""
        window = self._screen.window
        while not window.lost_aside:
            tab = window.tab
            aside = window.is_aside(tab)
            self._looks += 1
            try:
                asked = {**how, "look": self._looks, "aside": aside}
                raw = await tab.call("observe", asked, within_ms=OBSERVE_MS)
            except (BrowserGone, PageTimeout) as gone:
                if aside and await window.browser_answers():
                    break
                if not isinstance(gone, PageClosed) or not await window.survives(tab):
                    raise
            else:
                index = window.tabs.index(tab) if tab in window.tabs else 0
                return seen_of(raw, tab, index, len(window.tabs), window.exchanges())
        texts = msgspec.convert(how["texts"], tuple[str, ...])
        return PageReading(GONE, tuple(Shown(text) for text in texts))

    async def _meanwhile(self, within_ms: int) -> AsyncIterator[AnyEvent]:
        """What pages did besides. They can do it without end: equal ones are counted."""
        try:
            window = self._screen.window
        except BrowserGone:
            return
        for (kind, message, accepted), repeats in _few(window.dialogs, ("", "", False)):
            answer: Literal["accepted", "dismissed"] = "accepted" if accepted else "dismissed"
            yield DialogOpened(kind, plain(Untrusted(message)), answer, repeats)
        for (url, tab), repeats in _few(window.popups, ("", TOO_MANY)):
            yield PopupOpened(url, repeats, tab)
        # All of them: who is to allow what a page needs must know every host. The gate bounds them.
        for (host, port, rule, reason), repeats in _taken(window.passage.blocked):
            channel = window.channels.get((host, port), "")
            yield RequestBlocked(host, port, channel, repeats, rule, reason, self._policy)
        async for fact in self._files_sent(within_ms):
            yield fact

    async def _files_sent(self, within_ms: int) -> AsyncIterator[DownloadFinished]:
        files = await self._screen.window.downloads(within_ms)
        for download in files[:MAX_TOLD]:
            yield await self._kept(download)
        if others := files[MAX_TOLD:]:
            yield await _left(others)

    async def _kept(self, download: PageDownload) -> DownloadFinished:
        name, path, failure, step = download
        name = on_one_line(name)
        if path is None or self._artifacts is None:
            failure = failure or "there is no place for it"
            return DownloadFinished(Untrusted(name), None, failure, step)
        media = mimetypes.guess_type(name)[0] or "application/octet-stream"
        body = await anyio.Path(path).read_bytes()
        artifact = await anyio.to_thread.run_sync(
            self._artifacts.put, body, media, abandon_on_cancel=True
        )
        await anyio.Path(path).unlink(missing_ok=True)
        return DownloadFinished(Untrusted(name), artifact, step=step)

    async def _screenshot(self, *, full_page: bool) -> Artifact | None:
        """A picture of the page, on disk, when one can be had; a run does not fail without."""
        if self._artifacts is None or self._hung:
            return None
        try:
            image = await self._screen.tab.screenshot(full_page=full_page, within_ms=SCREENSHOT_MS)
            return await anyio.to_thread.run_sync(
                self._artifacts.put, image, "image/png", abandon_on_cancel=True
            )
        except (PageTimeout, DocumentGone, WorldBroken):
            return None


async def _left(downloads: list[PageDownload]) -> DownloadFinished:
    """The names of files that were too many at once, as far as one fact may hold them."""
    for download in downloads:
        if download.path is not None:
            await anyio.Path(download.path).unlink(missing_ok=True)
    names = on_one_line(", ".join(download.name for download in downloads))[:MAX_NAMES]
    failure = f"{len(downloads)} more than are kept at once"
    return DownloadFinished(Untrusted(names), None, failure, downloads[-1].step)


def _taken(counted: Counter[Kind]) -> list[tuple[Kind, int]]:
    told = list(counted.items())
    counted.clear()
    return told


def _few(counted: Counter[Kind], others: Kind) -> list[tuple[Kind, int]]:
    """The first few kinds and the number of all others: a page must not fill the log."""
    told = _taken(counted)
    if len(told) > MAX_TOLD:
        rest = sum(repeats for _, repeats in told[MAX_TOLD - 1 :])
        told = [*told[: MAX_TOLD - 1], (others, rest)]
    return told


def fit(page: Page, room: int = INLINE) -> Page:
    """The page within the inline limit: elements at the end are dropped and counted."""
    room = max(0, room)
    while (size := len(pack(page))) > room and page.elements:
        keep = max(0, len(page.elements) * room // size - 1)
        dropped = page.dropped + len(page.elements) - keep
        elements = tuple(_without(element, keep) for element in page.elements[:keep])
        page = msgspec.structs.replace(page, elements=elements, dropped=dropped)
    return page


def _without(element: PageElement, keep: int) -> PageElement:
    """An element whose children are only those that are still there."""
    children = tuple(child for child in element.children if child < keep)
    return msgspec.structs.replace(element, children=children)
