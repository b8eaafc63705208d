"""The proxy is a process with one listening port for each session, told what to do by whoever
started it, and ended when that one goes away."""

import asyncio
import logging
import os
import resource
import sys
from collections import Counter
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

import msgspec

from rutter.actors.rules.policy.hosts import BY_ITSELF, HostRefusal, host_refused
from rutter.actors.world.egress.company_proxy import CompanyProxy, reach_through
from rutter.actors.world.egress.dialer import BUFFER, ClosedPorts, LastAddresses, Streams, reach
from rutter.actors.world.egress.gate_messages import (
    MAX_KINDS,
    OTHERS,
    AskCounts,
    Blocked,
    ClosePort,
    ContactCounts,
    EndKept,
    OpenPort,
    Order,
    OrderFailed,
    PortOpened,
    RefusedRequests,
    Report,
    line,
    read_order,
)
from rutter.actors.world.egress.name_lookup import Lookups, Resolve, SystemNames
from rutter.actors.world.egress.proxy_connection import ProxiedConnection
from rutter.actors.world.egress.request_target import RequestTarget
from rutter.actors.world.egress.splice import QUIET_S, Tunnel
from rutter.events.policy import Policy

MAX_CONNECTIONS = 300  # of one door: Chromium opens 32 to a proxy, and 255 for WebSockets
FILES_BESIDES = 64  # ports that listen, our own pipes, names that are looked up
MAX_CONTACTS = 500
KEPT_TIMES = 15  # so often one that still answers is looked at, before a request goes by it perhaps
CLOSE_S = 2.0  # what does not end by then is left to end by itself: it has no way out any more
TELL_S = 0.02  # between two reports: a page that floods us does not flood our parent
MOST_FILES = 20_000
MAX_LINE = 1 << 24  # an order holds a whole policy
MB = 1 << 20


class Room:
    """The room limits connections: each is a file here and another one to the server."""

    def __init__(self, files: int) -> None:
        self._free = max(1, (files - FILES_BESIDES) // 2)
        self.of_one_door = min(MAX_CONNECTIONS, max(1, self._free // 2))

    def take(self) -> bool:
        if self._free <= 0:
            return False
        self._free -= 1
        return True

    def give_back(self) -> None:
        self._free += 1


class Door:
    """A door is one session's port, with its policy, and the count of what came by."""

    def __init__(
        self,
        policy: Policy,
        resolve: Resolve,
        closed: ClosedPorts,
        room: Room,
        tell: Callable[["Door"], None],
        through: CompanyProxy | None = None,
    ) -> None:
        self.policy = policy
        self.upload_bytes = policy.upload_mb * MB
        self.download_bytes = policy.download_mb * MB
        self.port = 0
        self._through = through
        self._by_name: set[tuple[str, int]] = set()
        self._resolve = Lookups(resolve)
        self._closed_ports = closed
        self._room = room
        self._worked = LastAddresses()
        self._tell = tell
        self._server: asyncio.Server | None = None
        self._closed = False
        self._running: set[asyncio.Task[None]] = set()
        self.tunnels: set[Tunnel] = set()
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
        self._closed = True
        for task in tuple(self._running):
            task.cancel()
        if self._running:
            await asyncio.wait(self._running, timeout=CLOSE_S)

    # -- what a connection needs (`exchange.Way`) ----------------------------------------------

    async def reach(self, target: RequestTarget) -> Streams:
        asked = (self.policy, target[:3], self._resolve, self._closed_ports, self._worked)
        if self._through is None:
            return await reach(*asked)
        streams, by_name = await reach_through(self._through, *asked)
        if by_name and len(self._by_name) < MAX_CONTACTS:
            self._by_name.add((target.host, target.port))
        return streams

    def judge(self, target: RequestTarget) -> HostRefusal | None:
        scheme, host, port = target[:3]
        return host_refused(self.policy, scheme, host, port, top_level=False)

    def reached(self, target: RequestTarget) -> None:
        at = (target.host, target.port)
        if at in self._contacts or len(self._contacts) < MAX_CONTACTS:
            self._contacts[at] += 1
        else:
            self._others += 1

    def refused(self, target: RequestTarget | None, refusal: HostRefusal) -> None:
        if refusal.rule == BY_ITSELF:
            return  # nothing that a page did
        host, port = (target.host, target.port) if target is not None else ("", 0)
        kind = Blocked(host[:200], port, refusal.rule, refusal.reason[:200])
        known = kind in self._blocked or len(self._blocked) < MAX_KINDS
        self._blocked[kind if known else OTHERS] += 1
        self._tell(self)

    def failed(self, target: RequestTarget, why: str) -> None:
        if len(self._failed) < MAX_KINDS:
            self._failed[target.host[:200], target.port] = why
            self._tell(self)

    # -- what is told --------------------------------------------------------------------------

    def take_refused(self) -> RefusedRequests | None:
        blocked = list(self._blocked.items())
        failed = [(host, port, why) for (host, port), why in self._failed.items()]
        self._blocked.clear()
        self._failed.clear()
        return RefusedRequests(self.port, blocked, failed) if blocked or failed else None

    def counts(self, number: int) -> ContactCounts:
        contacts = [(host, port, times) for (host, port), times in self._contacts.items()]
        return ContactCounts(number, contacts, self._others, sorted(self._by_name))

    async def _accept(self, *streams: *Streams) -> None:
        task = asyncio.current_task()
        assert task is not None
        if self._closed:
            streams[1].transport.abort()
            return
        if len(self._running) >= self._room.of_one_door or not self._room.take():
            self.refused(
                None, HostRefusal("connections", "more connections than there is room for")
            )
            streams[1].transport.abort()
            return
        self._running.add(task)
        try:
            await ProxiedConnection(self, streams).run()
        except asyncio.CancelledError:
            pass  # the door is closed; `start_server` would report it as a failure
        finally:
            self._running.discard(task)
            self._room.give_back()


class Proxy:
    """The proxy has doors, and talks with who started it."""

    def __init__(self, resolve: Resolve, say: Callable[[Report], None], files: int) -> None:
        self._resolve = resolve
        self._say = say
        self._room = Room(files)
        self._working: set[asyncio.Task[None]] = set()
        self._doors: dict[int, Door] = {}
        self._own_ports: set[int] = set()
        self._barred: set[int] = set()
        self._untold: dict[Door, asyncio.TimerHandle] = {}

    async def obey(self, order: Order) -> None:
        """Never waits for a page or a server: the next order may be another session's."""
        match order:
            case OpenPort() as opening:
                self._barred.update(opening.barred)
                self._say(await self._opened(opening))
            case AskCounts(number, port):
                self._report(number, self._doors.get(port))
            case EndKept(number, port):
                self._spawn(self._ended(number, self._doors.get(port)))
            case ClosePort(number, port):
                self._spawn(self._closed(number, port))

    async def close(self) -> None:
        doors = (door.close() for door in self._doors.values())
        await asyncio.gather(*doors, *self._working, return_exceptions=True)

    async def _opened(self, opening: OpenPort) -> PortOpened | OrderFailed:
        number, closed = opening.number, ClosedPorts(self._own_ports, self._barred)
        shared = (self._resolve, closed, self._room, self._tell)
        door = Door(opening.policy, *shared, opening.through)
        try:
            await door.open()
        except (OSError, IndexError) as error:  # no port or no file is to be had
            return OrderFailed(number, str(error)[:200])
        self._doors[door.port] = door
        self._own_ports.add(door.port)
        return PortOpened(number, door.port)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        working = asyncio.ensure_future(work)
        self._working.add(working)
        working.add_done_callback(self._working.discard)

    async def _ended(self, number: int, door: Door | None) -> None:
        """What answers now is waited for a moment: the next request could go by it."""
        for _ in range(KEPT_TIMES):
            answering = door is not None and [each for each in door.tunnels if each.end_if_kept()]
            await asyncio.sleep(QUIET_S if answering else 0)  # at least until those are ended
            if not answering:
                break
        self._report(number, door)

    async def _closed(self, number: int, port: int) -> None:
        if (door := self._doors.pop(port, None)) is not None:
            await door.close()
            if port not in self._doors:  # the system gives it anew as soon as it is free
                self._own_ports.discard(port)
        self._report(number, door)

    def _report(self, number: int, door: Door | None) -> None:
        if door is None:
            self._say(ContactCounts(number))
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


async def serve(resolve: Resolve | None = None) -> None:
    """Until our input is closed: nobody needs a way out any more."""
    out = sys.stdout.fileno()
    resolve = resolve or SystemNames()
    proxy = Proxy(resolve, lambda report: _write_all(out, line(report)), _files())
    reader = asyncio.StreamReader(limit=MAX_LINE)
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(Complaint())
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


def _files() -> int:
    """How many files may be open: as many as this machine lets us have."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, MOST_FILES)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
        soft = most
    return MOST_FILES if soft == resource.RLIM_INFINITY else soft


class Complaint:
    """A complaint tells in one line and once what went wrong where nobody waits for it: our errors
    are shown in the terminal of whoever runs a session."""

    def __init__(self) -> None:
        self._said = False

    def __call__(self, _: asyncio.AbstractEventLoop, about: Mapping[str, Any]) -> None:
        if not self._said:
            self._said = True
            why = about.get("exception") or about.get("message")
            sys.stderr.write(f"proxy: {str(why)[:200]}\n")


def main(resolve: Resolve | None = None) -> None:
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)
    try:
        asyncio.run(serve(resolve))
    except (OSError, ValueError, msgspec.MsgspecError) as error:
        sys.exit(f"proxy: {str(error)[:200]}")
