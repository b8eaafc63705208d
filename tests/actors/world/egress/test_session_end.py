"""How a session ends behind the gate: its window and its passage are closed, whatever fails."""

import asyncio
from collections import Counter
from pathlib import Path
from typing import Any, cast

import pytest
from playwright.async_api import Error as PlaywrightError

from rutter.actors.observer import actor as observing
from rutter.actors.observer.actor import Observer
from rutter.actors.world.browser import chromium as browsers
from rutter.actors.world.browser.chromium import Chromium, Running
from rutter.actors.world.egress.gate import NOTHING, Contacts, OpenPassage
from rutter.actors.world.egress.gate_messages import Blocked
from rutter.events.envelope import Envelope
from rutter.events.errors import BrowserGone
from rutter.events.observer import HostsContacted, RequestBlocked
from rutter.events.planner import RunStopped
from rutter.events.policy import Policy
from rutter.events.vocabulary import AnyEvent

pytestmark = pytest.mark.anyio


class Way(OpenPassage):
    """A passage that says how it fares."""

    def __init__(self, failure: BaseException | None = None, *, hangs: bool = False) -> None:
        super().__init__()
        self.failure, self.hangs = failure, hangs
        self.closed = False

    async def contacts(self) -> Contacts:
        if self.failure is not None:
            raise self.failure
        if self.hangs:
            await asyncio.Event().wait()
        return Contacts({("shop.example", 443): 2})

    async def close(self) -> None:
        self.closed = True


# -- what is told ------------------------------------------------------------------------------


class Session:
    """A window and its screen, as far as the end of a session looks at them."""

    def __init__(self, passage: Way) -> None:
        self.passage = passage
        self.window = self
        self.dialogs: Counter[Any] = Counter()
        self.popups: Counter[Any] = Counter()
        self.channels: dict[tuple[str, int], str] = {}
        self.been_to: set[tuple[str, int]] = set()
        self.closed = False
        self.logins = None

    async def sent_off(self, within_ms: int) -> None:
        return

    async def downloads(self, within_ms: int) -> list[Any]:
        return []

    async def close(self) -> None:
        self.closed = True

    async def ended(self) -> list[AnyEvent]:
        stop = RunStopped("completed")
        envelope = cast(Any, type("Told", (), {"event": stop}))
        watching = Observer(cast(Any, self), None)
        return [fact async for fact in watching.handle(cast(Envelope, envelope))]


async def test_every_host_that_was_refused_is_told() -> None:
    session = Session(Way())
    hosts = [f"cdn{number}.example" for number in range(15)]
    session.passage.blocked.update({Blocked(host, 443, "host", "no"): 2 for host in hosts})
    *blocked, contacted = await session.ended()
    assert [fact.host for fact in blocked if isinstance(fact, RequestBlocked)] == hosts
    assert isinstance(contacted, HostsContacted)
    assert not session.passage.blocked
    assert session.closed


async def test_a_window_is_closed_though_the_proxy_does_not_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(observing, "LAST_MS", 20)
    for way in (Way(hangs=True), Way(BrowserGone("the proxy ended"))):
        session = Session(way)
        assert await session.ended() == []
        assert session.closed
    broken = Session(Way(RuntimeError("broken")))
    with pytest.raises(RuntimeError):
        await broken.ended()
    assert broken.closed


# -- the browser -------------------------------------------------------------------------------


class Browser:
    def __init__(self) -> None:
        self.connected = True

    def is_connected(self) -> bool:
        return self.connected

    async def close(self) -> None:
        self.connected = False


class Ways:
    alive = True

    def __init__(self) -> None:
        self.opened: list[Way] = []

    async def start(self) -> None: ...

    async def open(self, policy: Policy) -> Way:
        self.opened.append(Way())
        return self.opened[-1]

    async def close(self) -> None: ...


def running() -> Running:
    return Running(cast(Any, Browser()), None)


@pytest.fixture
def started() -> Chromium:
    chromium = Chromium(Path("chromium"), Ways())
    chromium._running = running()
    return chromium


async def test_a_passage_without_a_context_is_closed(
    started: Chromium, monkeypatch: pytest.MonkeyPatch
) -> None:
    ways = cast(Ways, started._gate)

    async def fails(*_: object) -> None:
        raise PlaywrightError("no context")

    monkeypatch.setattr(browsers, "new_context", fails)
    with pytest.raises(BrowserGone, match="no context"):
        await started.open_window(NOTHING)
    begun = asyncio.Event()

    async def hangs(*_: object) -> None:
        begun.set()
        await asyncio.Event().wait()

    monkeypatch.setattr(browsers, "new_context", hangs)
    opening = asyncio.ensure_future(started.open_window(NOTHING))
    await begun.wait()
    opening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await opening
    assert [way.closed for way in ways.opened] == [True, True]
    assert started._running is not None
    assert started._running.windows == 0


async def test_a_browser_that_is_stuck_keeps_its_windows_until_the_last_is_closed(
    started: Chromium, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = running()

    async def launched(*_: object) -> Running:
        return other

    monkeypatch.setattr(Chromium, "_launched", launched)
    started._playwright = cast(Any, object())
    stuck = started._running
    assert stuck is not None
    stuck.windows = 2
    started._stuck(stuck)
    await started._renew()
    assert started._running is other
    started._left(stuck)
    assert stuck.browser.is_connected()
    started._left(stuck)
    await asyncio.gather(*started._ending)
    assert not stuck.browser.is_connected()
    assert other.lives
