"""The dialer resolves a name once, judges every address, and dials only a judged one."""

import asyncio
import contextlib
import ipaddress
import socket
from collections import deque
from collections.abc import Collection, Sequence
from itertools import chain, zip_longest
from typing import NamedTuple

from rutter.actors.rules.policy.hosts import HostRefusal, address_refused, host_refused, plain_host
from rutter.actors.world.egress.name_lookup import Resolve
from rutter.events.policy import Policy

CONNECT_S = 15  # Chromium itself waits longer, but nobody waits for a page that long
STAGGER_S = 0.3  # then the next address is tried beside the one that says nothing (RFC 8305)
MAX_DIALLED = 8  # of one host's addresses; each is a file that is open for a while
WORKED_S = 600.0
MAX_WORKED = 500
BUFFER = 1 << 18

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class AddressRefused(Exception):
    """The policy is against this address."""

    def __init__(self, refusal: HostRefusal) -> None:
        super().__init__(refusal.reason)
        self.refusal = refusal


class Unreachable(Exception):
    """The host is allowed, but not there; this is what a browser without a proxy calls that. With
    the `status` that the company's proxy answered, if it did."""

    def __init__(self, why: str, status: int = 0) -> None:
        super().__init__(why)
        self.status = status


NO_NAME = "net::ERR_NAME_NOT_RESOLVED"
NO_ANSWER = "net::ERR_CONNECTION_TIMED_OUT"
NOBODY_THERE = "net::ERR_CONNECTION_REFUSED"
NO_WAY = "net::ERR_ADDRESS_UNREACHABLE"
NOTHING_SAID = "net::ERR_EMPTY_RESPONSE"


class ClosedPorts(NamedTuple):
    """No policy opens these ports of this machine: the proxy's own, and those of who started it."""

    own: Collection[int]
    barred: Collection[int]

    def refused(self, port: int, address: str) -> HostRefusal | None:
        if port in self.own and _is_here(address):
            return HostRefusal("own_port", "that is the proxy's own port")
        if port in self.barred and (_is_here(address) or _is_ours(address)):
            return HostRefusal("own_port", "that is the daemon's own port")
        return None


class LastAddresses:
    """A host was last reached by this address: tried first the next time, if it is still its."""

    def __init__(self) -> None:
        self._last: dict[tuple[str, int], tuple[float, str]] = {}

    def note(self, host: str, port: int, address: str) -> None:
        if len(self._last) >= MAX_WORKED:
            self._last.clear()
        self._last[host, port] = (asyncio.get_running_loop().time() + WORKED_S, address)

    def first(self, host: str, port: int, addresses: Sequence[str]) -> Sequence[str]:
        until, address = self._last.get((host, port), (0.0, ""))
        if address not in addresses or asyncio.get_running_loop().time() > until:
            return addresses
        return [address, *(other for other in addresses if other != address)]


async def reach(
    policy: Policy,
    target: tuple[str, str, int],
    resolve: Resolve,
    closed: ClosedPorts,
    worked: LastAddresses,
) -> Streams:
    """A connection to the scheme, host and port. Raises `AddressRefused` or `Unreachable`."""
    addresses = await judged_addresses(policy, target, resolve, closed)
    return await dial(plain_host(target[1]), target[2], addresses, worked)


async def judged_addresses(
    policy: Policy, target: tuple[str, str, int], resolve: Resolve, closed: ClosedPorts
) -> Sequence[str]:
    """Where the host is, if the policy lets it and every address of it be reached."""
    scheme, host, port = target
    if (refusal := host_refused(policy, scheme, host, port, top_level=False)) is not None:
        raise AddressRefused(refusal)
    plain = plain_host(host)
    addresses = [plain] if _is_address(plain) else await _resolved(plain, port, resolve)
    for address in addresses:
        refusal = address_refused(policy, plain, port, address)
        refusal = refusal or closed.refused(port, address)
        if refusal is not None:
            raise AddressRefused(refusal)
    return addresses


async def dial(plain: str, port: int, addresses: Sequence[str], worked: LastAddresses) -> Streams:
    """By one of these, which were judged."""
    if len(addresses) == 1:
        return await _dialled(addresses, port)
    streams = await _dialled(worked.first(plain, port, in_turns(addresses))[:MAX_DIALLED], port)
    worked.note(plain, port, str(streams[1].get_extra_info("peername", ("",))[0]))
    return streams


async def _resolved(host: str, port: int, resolve: Resolve) -> Sequence[str]:
    try:
        addresses = await resolve(host, port)
    except (OSError, UnicodeError) as error:  # a time limit is an OSError as well
        raise Unreachable(NO_NAME) from error
    if not addresses:
        raise Unreachable(NO_NAME)
    return addresses


def in_turns(addresses: Sequence[str]) -> list[str]:
    """Both kinds of address in turns: often one of them leads nowhere as a whole."""
    kind = ":" in addresses[0]
    same = [address for address in addresses if (":" in address) == kind]
    other = [address for address in addresses if (":" in address) != kind]
    pairs = zip_longest(same, other)
    return [address for address in chain.from_iterable(pairs) if address is not None]


async def _dialled(addresses: Sequence[str], port: int) -> Streams:
    """By the first that answers; the addresses are numbers, nothing is looked up again."""
    try:
        async with asyncio.timeout(CONNECT_S):
            if len(addresses) == 1:
                return await asyncio.open_connection(addresses[0], port, limit=BUFFER)
            return await _raced(addresses, port)
    except TimeoutError as error:
        raise Unreachable(NO_ANSWER) from error
    except ConnectionRefusedError as error:
        raise Unreachable(NOBODY_THERE) from error
    except OSError as error:
        raise Unreachable(NO_WAY) from error


async def _raced(addresses: Sequence[str], port: int) -> Streams:
    """Each has a moment alone, then the next one is tried beside it. The others are hung up on."""
    left = deque(addresses)
    dialling: set[asyncio.Task[Streams]] = set()
    failures: list[BaseException] = []
    try:
        while left or dialling:
            if left:
                dial = asyncio.open_connection(left.popleft(), port, limit=BUFFER)
                dialling.add(asyncio.ensure_future(dial))
            done, _ = await asyncio.wait(
                dialling,
                timeout=STAGGER_S if left else None,
                return_when=asyncio.FIRST_COMPLETED,
            )
            for ended in done:
                dialling.discard(ended)
                if (failure := ended.exception()) is None:
                    dialling |= done - {ended}
                    return ended.result()
                failures.append(failure)
    finally:
        for other in dialling:
            other.cancel()
            other.add_done_callback(_hung_up)
    # That somebody is there who refuses says more than that another address leads nowhere.
    refused = [failure for failure in failures if isinstance(failure, ConnectionRefusedError)]
    raise (refused or failures)[0]


def _hung_up(dial: asyncio.Task[Streams]) -> None:
    if not dial.cancelled() and dial.exception() is None:
        dial.result()[1].transport.abort()


def _is_address(host: str) -> bool:
    with contextlib.suppress(ValueError):
        ipaddress.ip_address(host)
        return True
    return False


def _is_here(address: str) -> bool:
    """This machine, by any of the addresses that lead to what listens on loopback."""
    held = ipaddress.ip_address(plain_host(address) or "127.0.0.1")
    return held.is_loopback or held.is_unspecified


def _is_ours(address: str) -> bool:
    """Whether it is one of this machine's: only those can be bound. Of one link (fe80::1%eth0) it
    can be with its zone alone, any other one without."""
    return any(map(_can_be_bound, {address, address.partition("%")[0]}))


def _can_be_bound(address: str) -> bool:
    try:
        found = socket.getaddrinfo(address, 0, type=socket.SOCK_DGRAM, flags=socket.AI_NUMERICHOST)
        family, kind, number, _, at = found[0]
        with socket.socket(family, kind, number) as probe:
            probe.bind(at)
    except OSError:
        return False
    return True
