"""The session of a window knows who is signed in there, which places its pages ask for, and whether
its browser is still there."""

import asyncio
import contextlib
from collections.abc import Callable, Coroutine
from typing import Any

import anyio
from playwright.async_api import BrowserContext
from playwright.async_api import Error as PlaywrightError

from rutter.actors.rules.policy.hosts import host_and_port
from rutter.actors.world.browser.login_state import BrowserState, state_of
from rutter.actors.world.browser.page_session import PageTimeout
from rutter.actors.world.browser.window_load import WindowLoad
from rutter.actors.world.egress.gate import Passage
from rutter.actors.world.secrets.encodings import shown_forms
from rutter.events.errors import BrowserGone

OPEN_MS = 10_000  # a browser that opens no page in this time is not going to
SOON_MS = 1_000  # a page that closes does so at once; one that hangs is ended
MAX_HOSTS = 500


class WindowSession:
    """A window's session is a browser context with a gate, and what all its pages share."""

    def __init__(self, context: BrowserContext, passage: Passage, crowd: WindowLoad) -> None:
        self._context = context
        self._crowd = crowd
        self.passage = passage
        self._tasks: set[asyncio.Task[Any]] = set()
        self._changed = anyio.Event()
        self._numbers = 0
        self.been_to: set[tuple[str, int]] = set()
        self.channels: dict[tuple[str, int], str] = {}
        self._lost = False
        self._ended = False
        self._closing = False
        self._closed = False
        self.step = 0  # the last that began
        self.under_way: Callable[[], int] | None = None  # the same, where a person acts
        self.secrets: tuple[str, ...] = ()

    def patient(self, ms: int) -> int:
        """How long to wait for what takes `ms` where no other window is open."""
        return self._crowd.patient(ms)

    @property
    def _connected(self) -> bool:
        browser = self._context.browser
        return browser is not None and browser.is_connected()

    async def restore(self, state: BrowserState) -> None:
        """What was known at an earlier time, before any page asks for it."""
        known: Any = {"cookies": list(state.cookies), "origins": list(state.origins)}
        try:
            with anyio.fail_after(self.patient(OPEN_MS) / 1000):
                await self._context.set_storage_state(known)
        except TimeoutError as error:
            raise BrowserGone(f"no login was taken within {OPEN_MS} ms") from error
        except PlaywrightError:
            # Its words may hold what it was given.
            raise BrowserGone("the browser does not take the kept login") from None

    async def cookies(self, *, within_ms: int) -> BrowserState:
        """What it would send, as far as that is told in time."""
        with anyio.move_on_after(within_ms / 1000), contextlib.suppress(PlaywrightError):
            return state_of({"cookies": await self._context.cookies()})
        return BrowserState()

    async def state(self, *, within_ms: int) -> BrowserState:
        """What the browser knows now. Some of IndexedDB cannot be copied: it is left out then."""
        try:
            with anyio.fail_after(within_ms / 1000):
                try:
                    return state_of(await self._context.storage_state(indexed_db=True))
                except PlaywrightError:
                    return state_of(await self._context.storage_state())
        except TimeoutError as error:
            raise PageTimeout(f"no state was told within {within_ms} ms") from error
        except PlaywrightError as error:
            raise BrowserGone("the browser does not tell its state") from error

    def been(self, url: str) -> None:
        """A page of the session is there now."""
        at = host_and_port(url)
        if at is not None and len(self.been_to) < MAX_HOSTS:
            self.been_to.add(at)

    def asked(self, url: str, how: str) -> None:
        """Something in a page asks for that, in the browser's own word for how."""
        at = host_and_port(url)
        if at is not None and len(self.channels) < MAX_HOSTS:
            self.channels.setdefault(at, how)

    async def why_not(self, url: str) -> str:
        """Why the proxy did not get there: the browser knows only that it did not."""
        at = host_and_port(url)
        return await self.passage.why_not(*at) if at is not None else ""

    def next_number(self) -> int:
        """What pages send is counted across all of them."""
        self._numbers += 1
        return self._numbers

    @property
    def secret_forms(self) -> tuple[str, ...]:
        """Known secrets as pictures may show them."""
        return shown_forms(self.secrets)

    def step_now(self) -> int:
        """The step that whatever happens now follows from."""
        return self.under_way() if self.under_way is not None else self.step

    @property
    def closed_by_us(self) -> bool:
        """Whether it is being closed, or was, and not because its browser died."""
        return self._closing and not self._died

    @property
    def _died(self) -> bool:
        return self._ended or self._lost or not (self._closed or self._connected)

    async def browser_answers(self) -> bool:
        """Whether the browser is there: pages also close when it dies. One that has no way out
        any more is as good as gone."""
        if self._lost:
            return False
        browser = self._context.browser
        with anyio.move_on_after(SOON_MS / 1000), contextlib.suppress(PlaywrightError):
            assert browser is not None
            await (await browser.new_browser_cdp_session()).detach()
            return True
        return False

    def _on_ended(self, _: BrowserContext) -> None:
        self._ended = self._ended or not self._closing
        self._tell()

    async def _close_context(self) -> None:
        try:
            with contextlib.suppress(PlaywrightError):
                await self._context.close()
        finally:
            with contextlib.suppress(BrowserGone):
                await self.passage.close()

    def _tell(self) -> None:
        """Wakes whoever waits for something here to change."""
        changed, self._changed = self._changed, anyio.Event()
        changed.set()

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
