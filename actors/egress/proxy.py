"""The proxy: a process of its own with one listening port for each session, told what to do by
whoever started it, and ended when that one goes away."""

import asyncio
import os
import sys
from collections import Counter
from collections.abc import Callable

from actors.egress.dialing import BUFFER, Resolve, Streams, reach, resolve_by_system
from actors.egress.exchange import Exchange
from actors.egress.messages import (
    Ask,
    Blocked,
    Close,
    Counts,
    Open,
    Opened,
    Order,
    Refused,
    Report,
    line,
    read_order,
)
from actors.egress.rules import BY_ITSELF, Refusal, host_refused
from actors.egress.target import Target
from events.workflow import Policy

MAX_CONNECTIONS = 300  # Chromium opens 32 to a proxy, and 255 for WebSockets
MAX_KINDS = 50  # of what was refused, kept apart; a page can cause them without end
MAX_CONTACTS = 500
TELL_S = 0.02  # between two reports: a page that floods us does not flood our parent
MAX_LINE = 1 << 24  # an order holds a whole policy
MB = 1 << 20
OTHERS = Blocked("", 0, "others", "more than are told apart")


class Door:
    """One session's way out: its port, its policy, and the count of what came by."""

    def __init__(
        self,
        policy: Policy,
        resolve: Resolve,
        own_ports: set[int],
        tell: Callable[["Door"], None],
    ) -> None:
        self.policy = policy
        self.upload_bytes = policy.upload_mb * MB
        self.download_bytes = policy.download_mb * MB
        self.port = 0
        self._resolve = resolve
        self._own_ports = own_ports
        self._tell = tell
        self._server: asyncio.Server | None = None
        self._running: set[asyncio.Task[None]] = set()
        self._blocked: Counter[Blocked] = Counter()
        self._contacts: Counter[tuple[str, int]] = Counter()
        self._others = 0
        self._failed: dict[tuple[str, int], str] = {}

    async def open(self) -> None:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, limit=BUFFER)
        self.port = self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        if self._server is not None:
            self._server.close()
        for task in tuple(self._running):
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)

    # -- what a connection needs (`exchange.Way`) ----------------------------------------------

    async def reach(self, target: Target) -> Streams:
        scheme, host, port = target[:3]
        return await reach(self.policy, scheme, host, port, self._resolve, self._own_ports)

    def judge(self, target: Target) -> Refusal | None:
        scheme, host, port = target[:3]
        return host_refused(self.policy, scheme, host, port, top_level=False)

    def reached(self, target: Target) -> None:
        at = (target.host, target.port)
        if at in self._contacts or len(self._contacts) < MAX_CONTACTS:
            self._contacts[at] += 1
        else:
            self._others += 1

    def refused(self, target: Target | None, refusal: Refusal) -> None:
        if refusal.rule == BY_ITSELF:
            return  # nothing that a page did
        host, port = (target.host, target.port) if target is not None else ("", 0)
        kind = Blocked(host[:200], port, refusal.rule, refusal.reason[:200])
        known = kind in self._blocked or len(self._blocked) < MAX_KINDS
        self._blocked[kind if known else OTHERS] += 1
        self._tell(self)

    def failed(self, target: Target, why: str) -> None:
        if len(self._failed) < MAX_KINDS:
            self._failed[target.host[:200], target.port] = why
            self._tell(self)

    # -- what is told --------------------------------------------------------------------------

    def take_refused(self) -> Refused | None:
        blocked = list(self._blocked.items())
        failed = [(host, port, why) for (host, port), why in self._failed.items()]
        self._blocked.clear()
        self._failed.clear()
        return Refused(self.port, blocked, failed) if blocked or failed else None

    def counts(self, number: int) -> Counts:
        contacts = [(host, port, times) for (host, port), times in self._contacts.items()]
        return Counts(number, contacts, self._others)

    async def _accept(self, *streams: *Streams) -> None:
        task = asyncio.current_task()
        assert task is not None
        if len(self._running) >= MAX_CONNECTIONS:
            self.refused(None, Refusal("connections", "more connections than a page needs"))
            streams[1].transport.abort()
            return
        self._running.add(task)
        try:
            await Exchange(self, streams).run()
        except asyncio.CancelledError:
            pass  # the door is closed; `start_server` would report it as a failure
        finally:
            self._running.discard(task)


class Proxy:
    """The doors, and the conversation with who started us."""

    def __init__(self, resolve: Resolve, say: Callable[[Report], None]) -> None:
        self._resolve = resolve
        self._say = say
        self._doors: dict[int, Door] = {}
        self._own_ports: set[int] = set()
        self._untold: dict[Door, asyncio.TimerHandle] = {}

    async def obey(self, order: Order) -> None:
        match order:
            case Open(number, policy):
                door = Door(policy, self._resolve, self._own_ports, self._tell)
                await door.open()
                self._doors[door.port] = door
                self._own_ports.add(door.port)
                self._say(Opened(number, door.port))
            case Ask(number, port):
                self._report(number, self._doors.get(port))
            case Close(number, port):
                closed = self._doors.pop(port, None)
                if closed is not None:
                    await closed.close()
                    self._own_ports.discard(port)
                self._report(number, closed)

    async def close(self) -> None:
        for door in self._doors.values():
            await door.close()

    def _report(self, number: int, door: Door | None) -> None:
        if door is None:
            self._say(Counts(number))
            return
        if (blocked := door.take_refused()) is not None:
            self._say(blocked)
        self._say(door.counts(number))

    def _tell(self, door: Door) -> None:
        """At once, and then not again for a moment."""
        if door not in self._untold:
            if (blocked := door.take_refused()) is not None:
                self._say(blocked)
            loop = asyncio.get_running_loop()
            self._untold[door] = loop.call_later(TELL_S, self._tell_rest, door)

    def _tell_rest(self, door: Door) -> None:
        del self._untold[door]
        if (blocked := door.take_refused()) is not None:
            self._say(blocked)


async def serve(resolve: Resolve = resolve_by_system) -> None:
    """Until our input is closed: nobody needs a way out any more."""
    out = sys.stdout.fileno()
    proxy = Proxy(resolve, lambda report: _write_all(out, line(report)))
    reader = asyncio.StreamReader(limit=MAX_LINE)
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    try:
        while order := await reader.readline():
            await proxy.obey(read_order(order))
    except BrokenPipeError:
        pass  # nobody hears us: the same
    finally:
        await proxy.close()


def _write_all(out: int, data: bytes) -> None:
    while data:
        data = data[os.write(out, data) :]


def main(resolve: Resolve = resolve_by_system) -> None:
    asyncio.run(serve(resolve))
