"""From a name to a connection: resolved once, every address judged, only a judged one dialled."""

import asyncio
import contextlib
import ipaddress
import socket
from collections.abc import Awaitable, Callable, Collection, Sequence

from actors.egress.rules import Refusal, address_refused, host_refused, plain_host
from events.workflow import Policy

RESOLVE_S = 10
CONNECT_S = 15  # Chromium itself waits longer, but nobody waits for a page that long
BUFFER = 1 << 18
LOOPBACK = ("127.0.0.1", "::1")

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Refused(Exception):
    """The policy is against it."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.reason)
        self.refusal = refusal


class Unreachable(Exception):
    """It may be reached, but is not there: what a browser without a proxy calls that."""


NO_NAME = "net::ERR_NAME_NOT_RESOLVED"
NO_ANSWER = "net::ERR_CONNECTION_TIMED_OUT"
NOBODY_THERE = "net::ERR_CONNECTION_REFUSED"
NO_WAY = "net::ERR_ADDRESS_UNREACHABLE"


async def resolve_by_system(host: str, port: int) -> Sequence[str]:
    """Every address of a name. This machine's own names are nobody else's to answer (RFC 6761)."""
    if host == "localhost" or host.endswith(".localhost"):
        return LOOPBACK
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(each[4][0]) for each in found))


async def reach(
    policy: Policy, scheme: str, host: str, port: int, resolve: Resolve, own_ports: Collection[int]
) -> Streams:
    """A connection to the host. Raises `Refused` or `Unreachable`."""
    if (refusal := host_refused(policy, scheme, host, port, top_level=False)) is not None:
        raise Refused(refusal)
    plain = plain_host(host)
    addresses = [plain] if _is_address(plain) else await _resolved(plain, port, resolve)
    for address in addresses:
        refusal = address_refused(policy, plain, port, address)
        if refusal is None and port in own_ports and _is_here(address):
            refusal = Refusal("own_port", "that is the proxy's own port")
        if refusal is not None:
            raise Refused(refusal)
    return await _dialled(addresses, port)


async def _resolved(host: str, port: int, resolve: Resolve) -> Sequence[str]:
    try:
        async with asyncio.timeout(RESOLVE_S):
            addresses = await resolve(host, port)
    except (OSError, UnicodeError) as error:  # a time limit is an OSError as well
        raise Unreachable(NO_NAME) from error
    if not addresses:
        raise Unreachable(NO_NAME)
    return addresses


async def _dialled(addresses: Sequence[str], port: int) -> Streams:
    """By the first that answers; the addresses are numbers, nothing is looked up again."""
    each_s = CONNECT_S / len(addresses)
    why = NOBODY_THERE
    for address in addresses:
        try:
            async with asyncio.timeout(each_s):
                return await asyncio.open_connection(address, port, limit=BUFFER)
        except TimeoutError:
            why = NO_ANSWER
        except ConnectionRefusedError:
            why = NOBODY_THERE
        except OSError:
            why = NO_WAY
    raise Unreachable(why)


def _is_address(host: str) -> bool:
    with contextlib.suppress(ValueError):
        ipaddress.ip_address(host)
        return True
    return False


def _is_here(address: str) -> bool:
    """This machine, by any of the addresses that lead to what listens on loopback."""
    held = ipaddress.ip_address(plain_host(address) or "127.0.0.1")
    return held.is_loopback or held.is_unspecified
