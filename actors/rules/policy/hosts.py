"""The host rules say whom the browser may reach, by names, ports and resolved addresses. Pure.

A host is written in many forms and always read as a browser reads it (WHATWG). An address that is
not public is reached only by who named it, or named the private name that it stands behind.
"""

import ipaddress
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

import ada_url

from rutter.events.policy import Policy

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

EVERYWHERE = "*"  # said in place of hosts: all that are public
PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443}
# Of these a name says itself that it is of this machine or of this network.
LOCAL_NAMES = (".localhost", ".local", ".internal")
# What Chromium asks for by itself on behalf of every page with a form, whatever is switched off
# that can be: no page means it.
OF_THE_BROWSER = frozenset({"content-autofill.googleapis.com"})
# What would end or begin another part of a URL: then it is not a host that is looked at.
NOT_IN_A_HOST = frozenset("/\\?#@ \t\r\n\0")
BY_ITSELF = "browser_itself"
HIGHEST_PORT = 65_535

# A table of our own: what `ipaddress` calls global differs between Python versions, and a verdict
# must be the same in every replay.
NOT_PUBLIC: tuple[Network, ...] = tuple(
    ipaddress.ip_network(network)
    for network in [
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",
        "127.0.0.0/8",
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.88.99.0/24",
        "192.168.0.0/16",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/4",
        "240.0.0.0/4",
        "::/96",
        "::ffff:0:0:0/96",
        "64:ff9b:1::/48",
        "100::/64",
        "2001::/23",
        "2001:db8::/32",
        "3fff::/20",
        "5f00::/16",
        "fc00::/7",
        "fe80::/9",
        "ff00::/8",
    ]
)
# Where IPv4 stands inside IPv6, and so many bits from its end: such an address is what it holds.
# The other forms (compatible, translated, Teredo) are in the table above, whatever they hold.
MAPPED = ipaddress.IPv6Network("::ffff:0:0/96")
HOLDING: tuple[tuple[ipaddress.IPv6Network, int], ...] = (
    (MAPPED, 0),
    (ipaddress.IPv6Network("64:ff9b::/96"), 0),
    (ipaddress.IPv6Network("2002::/16"), 80),
)


class HostRefusal(NamedTuple):
    """A refusal names the rule by which a host is not reached, and says the same in words."""

    rule: str
    reason: str


class HostPattern(NamedTuple):
    """A pattern is one entry of a list of hosts, read. `below`: all names that end in this one."""

    host: str = ""
    port: int | None = None
    below: bool = False
    network: Network | None = None


def url_refused(policy: Policy, url: str, *, top_level: bool) -> HostRefusal | None:
    """The same for a whole URL; `about:blank` is inside, no request comes of it."""
    if url == "about:blank":
        return None
    try:
        parsed = ada_url.URL(url)
    except ValueError:
        return HostRefusal("host", "that is not a web address")
    scheme = parsed.protocol.rstrip(":")
    if scheme not in PORTS:
        return HostRefusal("scheme", f"{scheme or 'that'} is not a web address")
    if parsed.username or parsed.password:
        return HostRefusal("userinfo", "an address with a name or password in it is not gone to")
    port = int(parsed.port) if parsed.port else PORTS[scheme]
    return host_refused(policy, scheme, parsed.hostname, port, top_level=top_level)


def host_and_port(url: str) -> tuple[str, int] | None:
    """Whom a URL of the web asks; `None` for any other."""
    try:
        parsed = ada_url.URL(url)
    except ValueError:
        return None
    scheme, host = parsed.protocol.rstrip(":"), plain_host(parsed.hostname)
    if scheme not in PORTS or not host:
        return None
    return host, int(parsed.port) if parsed.port else PORTS[scheme]


def host_refused(
    policy: Policy, scheme: str, host: str, port: int, *, top_level: bool
) -> HostRefusal | None:
    """Whether this host may be asked at all, before anybody looks up where it is."""
    if scheme not in PORTS:
        return HostRefusal("scheme", f"{scheme or 'that'} is not a web address")
    plain = plain_host(host)
    if not plain or not 0 < port <= HIGHEST_PORT:
        return HostRefusal("host", f"{host[:200]!r} is not a host with a port")
    if names(policy.hosts, plain, port) or (not top_level and names(policy.resources, plain, port)):
        return None
    where = _written(plain) if port == PORTS[scheme] else f"{_written(plain)}:{port}"
    if plain in OF_THE_BROWSER:
        return HostRefusal(BY_ITSELF, f"{where} is asked by the browser itself, not by a page")
    if is_private(plain):
        return HostRefusal("private_network", f"{where} is private; name it with --allow {where}")
    if policy.public_hosts or (policy.public_resources and not top_level):
        return None
    return HostRefusal("host", f"{where} is not among the allowed hosts")


def address_refused(policy: Policy, host: str, port: int, address: str) -> HostRefusal | None:
    """Whether this is an address that the host may resolve to: a public name that leads to a
    private one is how a page gets behind a firewall."""
    found = _address(address.partition("%")[0])
    plain = plain_host(host)
    if found is None or not plain:
        return HostRefusal("address", f"{host[:200]!r} resolves to {address[:200]!r}")
    named = (*policy.hosts, *policy.resources)
    if is_public(found) or names(named, str(found), port):
        return None
    # Whoever names this machine does not mean another one beside it.
    stands_for_it = found.is_loopback or not _is_of_this_machine(plain)
    if _is_local(plain) and stands_for_it and names(named, plain, port):
        return None
    return HostRefusal(
        "unspecified_address" if found.is_unspecified else "private_address",
        f"{_written(plain)} resolves to {found}, which is private; "
        f"name that too with --allow {_written(str(found))}",
    )


def unknown_host_refused(
    policy: Policy, host: str, port: int, *, anyone: bool
) -> HostRefusal | None:
    """Whether a host that is known to the company's proxy alone may be asked for by its name: of
    its addresses nobody here judges any. Whoever named it means it; `anyone` says that public names
    are meant as well, of which one without a dot is none."""
    plain = plain_host(host)
    if names((*policy.hosts, *policy.resources), plain, port) or (anyone and "." in plain):
        return None
    return HostRefusal(
        "unknown_here",
        f"{_written(plain)} is not known here, and a name that nobody named is not left to the "
        f"company's proxy; name it with --allow {_written(plain)}",
    )


def names(patterns: Iterable[str], host: str, port: int) -> bool:
    """Whether one of the patterns means this host and port."""
    plain = plain_host(host)
    if not plain:
        return False
    address = _address(plain)
    return any(_means(read_pattern(pattern), plain, address, port) for pattern in patterns)


@lru_cache(maxsize=4096)
def read_pattern(pattern: str) -> HostPattern | None:
    """`host`, `host:port`, `*.host`, `*.host:port`, or a network; `None` for anything else."""
    if "/" in pattern:
        return _network_pattern(pattern)
    host, port = pattern, None
    head, colon, tail = pattern.rpartition(":")
    if colon and (":" not in head or head.endswith("]")):
        if not (tail.isascii() and tail.isdigit()) or not 0 < int(tail[:6]) <= HIGHEST_PORT:
            return None
        host, port = head, int(tail)
    below = host.startswith("*.")
    plain = plain_host(host[2:] if below else host)
    if not plain or "*" in plain or (below and _address(plain) is not None):
        return None
    return HostPattern(plain, port, below)


@lru_cache(maxsize=4096)
def plain_host(host: str) -> str:
    """The one spelling of a host, as a browser reads it; empty when it is none.

    Names in lower case and ASCII without the dot of the root, IPv4 in four decimal numbers (also
    where it is mapped into IPv6: the same address), IPv6 without brackets.
    """
    if ":" in host and not host.startswith("["):
        host = f"[{host}]"
    if not host or NOT_IN_A_HOST & set(host) or (":" in host and not host.endswith("]")):
        return ""
    try:
        read = str(ada_url.URL(f"http://{host}/").hostname)
    except ValueError:
        return ""
    address = _address(read.strip("[]"))
    if address is not None:
        return str(_unmapped(address))
    plain = read.removesuffix(".")
    return "" if not plain or ".." in plain or plain.startswith(".") else plain


def is_private(host: str) -> bool:
    """Loopback, private, link-local and other addresses that are not the public internet."""
    plain = plain_host(host)
    address = _address(plain)
    return _is_local(plain) if address is None else not is_public(address)


def is_public(address: Address) -> bool:
    """Of the internet at large; an address that holds another one is what that one is."""
    if isinstance(address, ipaddress.IPv6Address):
        for network, behind in HOLDING:
            if address in network:
                return is_public(ipaddress.IPv4Address((int(address) >> behind) & 0xFFFF_FFFF))
    return not any(
        address in network for network in NOT_PUBLIC if network.version == address.version
    )


def _means(pattern: HostPattern | None, plain: str, address: Address | None, port: int) -> bool:
    if pattern is None or pattern.port not in (None, port):
        return False
    if pattern.network is not None:
        return (
            address is not None
            and pattern.network.version == address.version
            and address in pattern.network
        )
    if pattern.below:
        return address is None and plain.endswith("." + pattern.host)
    return plain == pattern.host


def _network_pattern(pattern: str) -> HostPattern | None:
    try:
        return HostPattern(network=ipaddress.ip_network(pattern, strict=False))
    except ValueError:
        return None


def _address(text: str) -> Address | None:
    try:
        return _unmapped(ipaddress.ip_address(text))
    except ValueError:
        return None


def _unmapped(address: Address) -> Address:
    if isinstance(address, ipaddress.IPv6Address) and address in MAPPED:
        return ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF)
    return address


def _is_local(plain: str) -> bool:
    return plain == "localhost" or plain.endswith(LOCAL_NAMES)


def _is_of_this_machine(plain: str) -> bool:
    return plain == "localhost" or plain.endswith(".localhost")


def _written(plain: str) -> str:
    return f"[{plain}]" if ":" in plain else plain
