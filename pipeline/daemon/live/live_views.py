"""Live views take pictures of a session from its first watcher to its last.

Each watcher has room for one picture, the newest: whoever is slow misses some, and costs one
picture and what is in its socket, however slow it is. Nobody waits for anybody else.
"""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple, Protocol

import anyio
import msgspec

from rutter.actors.world.browser.screencast import Screencast
from rutter.actors.world.browser.window import Window
from rutter.events.errors import BrowserGone
from rutter.pipeline.config.reader import Config
from rutter.pipeline.daemon.http.refusals import HttpRefusal


class StreamSettings(msgspec.Struct, frozen=True):
    enabled: bool = False
    quality: int = 25
    max_width: int = 854


class StreamLimits(msgspec.Struct, frozen=True):
    """Limits bound watchers, who cost a task and a socket each, and sessions with pictures."""

    per_session: int = 8
    in_all: int = 32


class StreamEnd(NamedTuple):
    """A stream's end says why no more pictures come, in the words and numbers of WebSockets."""

    code: int
    reason: str


SESSION_ENDED = StreamEnd(1000, "the session has ended")
BROWSER_GONE = StreamEnd(1011, "the browser is gone")
VIEW_FAILED = StreamEnd(1011, "the view failed")
VIEWS_CLOSED = StreamEnd(1012, "the daemon stops")

OFF = HttpRefusal("stream_off", "set browser.stream.enabled to watch sessions live")
NO_SESSION = HttpRefusal("not_running", "no session of that name is running; see /sessions")
TOO_MANY = HttpRefusal("too_many_watchers", "close another view, then try again")


class Watchable(Protocol):
    """A session gives its watchers its window, once it is open
    (`rutter.actors.world.browser.screen.Screen`)."""

    async def appeared(self) -> Window: ...


class Casts(Protocol):
    """A cast takes a window's pictures (`rutter.actors.world.browser.screencast.Screencast`)."""

    shown: int
    withheld: int

    async def run(self) -> None: ...


class MakesCasts(Protocol):
    def __call__(
        self, window: Window, show: Callable[[bytes], None], *, quality: int, max_width: int
    ) -> Casts: ...


class LiveViewStatistics(msgspec.Struct, frozen=True):
    """Statistics count the sessions that are watched now. `withheld` are pictures that may have
    shown a secret, or that there was no telling of."""

    sessions: int
    watchers: int
    shown: int
    withheld: int


class NotWatchable(Exception):
    """This session cannot be watched, or not by one more."""

    def __init__(self, refusal: HttpRefusal) -> None:
        super().__init__(refusal.error)
        self.refusal = refusal


class Watcher:
    """A watcher has the newest picture that was not taken yet, or the end."""

    def __init__(self) -> None:
        self._newest: bytes | None = None
        self._ending: StreamEnd | None = None
        self._told = anyio.Event()

    def offer(self, picture: bytes) -> None:
        self._newest = picture
        self._told.set()

    def end(self, ending: StreamEnd) -> None:
        """What was offered before it and not taken is not shown any more."""
        self._ending = self._ending or ending
        self._newest = None
        self._told.set()

    async def next(self) -> bytes | StreamEnd:
        await self._told.wait()
        if self._ending is not None:
            return self._ending
        self._told = anyio.Event()
        picture, self._newest = self._newest, None
        assert picture is not None
        return picture


class LiveViews:
    """Live views find a session's window by `screen_of`, which is `App.screen`."""

    def __init__(
        self,
        screen_of: Callable[[str], Watchable | None],
        settings: StreamSettings | None = None,
        limits: StreamLimits | None = None,
        *,
        cast: MakesCasts = Screencast,
    ) -> None:
        self._screen_of = screen_of
        self._make_cast = cast
        self._settings = settings or StreamSettings()
        self._limits = limits or StreamLimits()
        self._views: dict[str, _View] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._closed = False

    @contextmanager
    def watch(self, session: str) -> Iterator[Watcher]:
        """Raises `NotWatchable`."""
        view = self._view_of(session)
        watcher = Watcher()
        view.join(watcher)
        try:
            yield watcher
        finally:
            view.leave(watcher)
            if not view.watchers:
                view.stop()
                self._forget(session, view)

    def check(self, session: str) -> None:
        """Raises `NotWatchable` where one more cannot watch this session now."""
        if not self._settings.enabled:
            raise NotWatchable(OFF)
        if self._screen_of(session) is None or self._closed:
            raise NotWatchable(NO_SESSION)
        here = len(self._views[session].watchers) if session in self._views else 0
        if here >= self._limits.per_session or self._watchers >= self._limits.in_all:
            raise NotWatchable(TOO_MANY)

    def statistics(self) -> LiveViewStatistics:
        casts = [view.cast for view in self._views.values() if view.cast is not None]
        return LiveViewStatistics(
            sessions=len(self._views),
            watchers=self._watchers,
            shown=sum(cast.shown for cast in casts),
            withheld=sum(cast.withheld for cast in casts),
        )

    async def close(self) -> None:
        """Tells all watchers, and ends what takes pictures."""
        self._closed = True
        for view in tuple(self._views.values()):
            view.end(VIEWS_CLOSED)
            view.stop()
        if self._tasks:
            await asyncio.wait(tuple(self._tasks))

    @property
    def _watchers(self) -> int:
        return sum(len(view.watchers) for view in self._views.values())

    def _view_of(self, session: str) -> "_View":
        self.check(session)
        screen = self._screen_of(session)
        assert screen is not None
        view = self._views.get(session)
        if view is None:
            view = self._views[session] = _View(screen, self._settings, self._make_cast)
            view.task.add_done_callback(lambda _: self._forget(session, view))
            self._tasks.add(view.task)
            view.task.add_done_callback(self._tasks.discard)
        return view

    def _forget(self, session: str, view: "_View") -> None:
        """Whoever comes now begins anew: the session may have another life."""
        if self._views.get(session) is view:
            del self._views[session]


class _View:
    """A view shows one session to its watchers."""

    def __init__(self, screen: Watchable, settings: StreamSettings, cast: MakesCasts) -> None:
        self._screen = screen
        self._make_cast = cast
        self._settings = settings
        self._newest: bytes | None = None
        self.watchers: set[Watcher] = set()
        self.cast: Casts | None = None
        self.task = asyncio.ensure_future(self._run())
        self.task.add_done_callback(self._on_done)

    def join(self, watcher: Watcher) -> None:
        """A page that does not move is shown to whoever comes later, too."""
        self.watchers.add(watcher)
        if self._newest is not None:
            watcher.offer(self._newest)

    def leave(self, watcher: Watcher) -> None:
        self.watchers.discard(watcher)

    def stop(self) -> None:
        self.task.cancel()

    def end(self, ending: StreamEnd) -> None:
        self._newest = None
        for watcher in self.watchers:
            watcher.end(ending)

    def _show(self, picture: bytes) -> None:
        self._newest = picture
        for watcher in self.watchers:
            watcher.offer(picture)

    async def _run(self) -> None:
        window: Window | None = None
        wish = self._settings
        try:
            window = await self._screen.appeared()
            self.cast = self._make_cast(
                window, self._show, quality=wish.quality, max_width=wish.max_width
            )
            await self.cast.run()
        except BrowserGone:
            self.end(SESSION_ENDED if window is None or window.closed_by_us else BROWSER_GONE)

    def _on_done(self, task: asyncio.Task[None]) -> None:
        if task.cancelled() or (error := task.exception()) is None:
            return
        self.end(VIEW_FAILED)
        asyncio.get_running_loop().call_exception_handler(
            {"message": "a live view failed", "exception": error}
        )


def stream_settings(config: Config) -> StreamSettings:
    return StreamSettings(
        enabled=config.flag("browser.stream.enabled"),
        quality=config.number("browser.stream.quality"),
        max_width=config.number("browser.stream.max_width"),
    )
