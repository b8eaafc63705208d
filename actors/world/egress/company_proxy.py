"""The company's proxy is the only way out of some networks: ours goes through it by CONNECT.

Names are looked up and every address is judged here as ever, and the other proxy is given the
address. Where only that one knows where a host is, it is given the name, judged by that alone.
"""

import asyncio
import re
from collections.abc import Sequence
from ipaddress import ip_address

import msgspec

from rutter.actors.rules.policy.hosts import is_private, names, plain_host, unknown_host_refused
from rutter.actors.world.egress.dialer import (
    BUFFER,
    CONNECT_S,
    AddressRefused,
    ClosedPorts,
    LastAddresses,
    Streams,
    Unreachable,
    dial,
    in_turns,
    judged_addresses,
)
from rutter.actors.world.egress.name_lookup import Resolve
from rutter.events.policy import Policy

NOT_THERE = "net::ERR_PROXY_CONNECTION_FAILED"
NO_TUNNEL = "net::ERR_TUNNEL_CONNECTION_FAILED"
AT_MOST = 2  # addresses of one host that it is asked for
STATUS = re.compile(rb"HTTP/1\.[01] ([0-9]{3})")


class CompanyProxy(msgspec.Struct, frozen=True, omit_defaults=True):
    """A company's proxy has an address, and Basic `credentials` as they are sent. What `direct`
    means is reached without it. `names_there`: names are its own to look up, also public ones."""

    host: str
    port: int
    tls: bool = False
    credentials: str = ""
    direct: tuple[str, ...] = ()
    names_there: bool = False

    @property
    def where(self) -> str:
        return f"{self.host}:{self.port}"

    def leaves_out(self, host: str, port: int) -> bool:
        return "*" in self.direct or names(self.direct, host, port)


async def reach_through(
    proxy: CompanyProxy,
    policy: Policy,
    target: tuple[str, str, int],
    resolve: Resolve,
    closed: ClosedPorts,
    worked: LastAddresses,
) -> tuple[Streams, bool]:
    """A connection to the scheme, host and port, and whether it was judged by its name alone.
    Raises `AddressRefused` or `Unreachable`."""
    plain, port = plain_host(target[1]), target[2]
    direct = proxy.leaves_out(plain, port)
    look_up = _unknown if proxy.names_there and not direct and not is_private(plain) else resolve
    try:
        addresses = await judged_addresses(policy, target, look_up, closed)
    except Unreachable:
        if direct:
            raise
        refusal = unknown_host_refused(policy, plain, port, anyone=proxy.names_there)
        if refusal is not None:
            raise AddressRefused(refusal) from None
        return await tunnel(proxy, plain, port), True
    if direct or any(map(_is_of_this_link, addresses)):
        return await dial(plain, port, addresses, worked), False
    return await _by_address(proxy, in_turns(addresses)[:AT_MOST], port), False


async def tunnel(proxy: CompanyProxy, host: str, port: int) -> Streams:
    """Raises `Unreachable`, with what came of it and never who asks."""
    try:
        async with asyncio.timeout(CONNECT_S):
            streams = await asyncio.open_connection(
                proxy.host, proxy.port, limit=BUFFER, ssl=proxy.tls or None
            )
    except OSError as error:  # a time limit is an OSError too
        raise Unreachable(f"{NOT_THERE}: nobody answers at {proxy.where}, the proxy") from error
    try:
        async with asyncio.timeout(CONNECT_S):
            status = await _asked(
                proxy, f"[{host}]:{port}" if ":" in host else f"{host}:{port}", streams
            )
    except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
        status = 0
    except BaseException:
        streams[1].transport.abort()
        raise
    if 200 <= status < 300:
        return streams
    streams[1].transport.abort()
    raise Unreachable(f"{NO_TUNNEL}: {proxy.where}, the proxy, {_in_words(status)}", status)


async def _asked(proxy: CompanyProxy, at: str, streams: Streams) -> int:
    """The status of its answer. What the server says behind it is left to be read."""
    reader, writer = streams
    who = f"Proxy-Authorization: Basic {proxy.credentials}\r\n" if proxy.credentials else ""
    writer.write(f"CONNECT {at} HTTP/1.1\r\nHost: {at}\r\n{who}\r\n".encode())
    head = STATUS.match(await reader.readuntil(b"\r\n\r\n"))
    return int(head[1]) if head is not None else 0


def _in_words(status: int) -> str:
    if status == 407:
        return "does not take this name and password (407)"
    return f"answered {status}" if status else "ended without an answer"


async def _by_address(proxy: CompanyProxy, addresses: Sequence[str], port: int) -> Streams:
    for address in addresses[:-1]:
        try:
            return await tunnel(proxy, address, port)
        except Unreachable:
            continue  # often one kind of address leads nowhere as a whole
    return await tunnel(proxy, addresses[-1], port)


async def _unknown(host: str, port: int) -> Sequence[str]:
    """Nobody here is asked where it is."""
    return ()


def _is_of_this_link(address: str) -> bool:
    """Of this machine, or of its link: to the other proxy it would be another one."""
    found = ip_address(address.partition("%")[0])
    return found.is_loopback or found.is_unspecified or found.is_link_local
