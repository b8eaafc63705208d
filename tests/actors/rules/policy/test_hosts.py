"""Whom the browser may reach, whatever the spelling."""

import ipaddress

from hypothesis import example, given
from hypothesis import strategies as st

from rutter.actors.rules.policy.hosts import (
    NOT_PUBLIC,
    HostRefusal,
    address_refused,
    host_refused,
    is_private,
    names,
    plain_host,
    read_pattern,
    url_refused,
)
from rutter.events.policy import Policy
from tests.support.case_table import for_each

OPEN = Policy("1")
CLOSED = Policy("1", public_hosts=False, public_resources=False)


def refused(
    host: str, port: int = 80, *, top_level: bool = False, policy: Policy = OPEN, scheme: str = ""
) -> str:
    said = host_refused(policy, scheme or "http", host, port, top_level=top_level)
    return said.rule if said else ""


def leads_to(address: str, *hosts: str, host: str = "shop.example", port: int = 80) -> str:
    said = address_refused(Policy("1", hosts=hosts), host, port, address)
    return said.rule if said else ""


# -- spellings of one address ------------------------------------------------------------------


def spellings(address: ipaddress.IPv4Address) -> list[str]:
    """What browsers and resolvers all read as this one address, or as one that holds it."""
    number, parts = int(address), address.packed
    low16, low24 = number & 0xFFFF, number & 0xFFFFFF
    return [
        str(address),
        f"{address}.",
        str(number),
        f"{number:#x}",
        f"0{number:o}",
        f"{parts[0]}.{low24}",
        f"{parts[0]}.{parts[1]}.{low16}",
        ".".join(f"{part:#X}" for part in parts),
        ".".join(f"0{part:o}" for part in parts),
        "".join(f"%{ord(sign):02x}" for sign in str(address)),
        "".join(chr(0xFF10 + int(sign)) if sign.isdigit() else "。" for sign in str(address)),
        f"[::ffff:{address}]",
        f"[0:0:0:0:0:FFFF:{number >> 16:X}:{low16:X}]",
        f"::ffff:{address}",
    ]


def holders(address: ipaddress.IPv4Address) -> list[str]:
    """IPv6 addresses with this one inside: they lead to it by a gateway, or did once."""
    number = int(address)
    teredo = (0x20010000 << 96) | (0x41424344 << 64) | (number ^ 0xFFFFFFFF)
    return [
        f"[64:ff9b::{address}]",
        f"[2002:{number >> 16:x}:{number & 0xFFFF:x}::1]",
        f"[::{address}]",
        f"[::ffff:0:{address}]",
        f"[{ipaddress.IPv6Address(teredo)}]",
        f"[64:ff9b:1::{address}]",
    ]


private_v4 = st.sampled_from([n for n in NOT_PUBLIC if n.version == 4]).flatmap(
    lambda network: st.integers(
        int(network.network_address), int(network.broadcast_address)
    ).map(ipaddress.IPv4Address)
)  # fmt: skip


@given(private_v4, st.sampled_from(range(14)))
@example(ipaddress.IPv4Address("127.0.0.1"), 0)
@example(ipaddress.IPv4Address("169.254.169.254"), 1)
def test_a_private_address_is_refused_in_every_spelling(
    address: ipaddress.IPv4Address, way: int
) -> None:
    host = spellings(address)[way]
    assert plain_host(host) == str(address)
    assert refused(host) == "private_network"
    assert refused(host, policy=Policy("1", hosts=(str(address),))) == ""


@given(private_v4, st.sampled_from(range(6)))
@example(ipaddress.IPv4Address("0.0.0.0"), 2)
def test_an_address_that_holds_a_private_one_is_private_and_not_named_by_it(
    address: ipaddress.IPv4Address, way: int
) -> None:
    host = holders(address)[way]
    assert refused(host) == "private_network"
    assert refused(host, policy=Policy("1", hosts=(str(address),))) == "private_network"
    nowhere = ipaddress.ip_address(host.strip("[]")).is_unspecified  # `::` holds 0.0.0.0
    expected = "unspecified_address" if nowhere else "private_address"
    assert leads_to(host.strip("[]"), str(address)) == expected


@given(st.ip_addresses(v=4))
def test_a_name_leads_to_an_address_just_when_that_address_may_be_asked(
    address: ipaddress.IPv4Address,
) -> None:
    assert bool(leads_to(str(address))) is is_private(str(address))
    assert bool(leads_to(f"::ffff:{address}")) is is_private(str(address))
    assert bool(leads_to(f"64:ff9b::{address}")) is is_private(str(address))


@given(st.ip_addresses(v=6).map(str))
def test_an_ipv6_host_reads_as_itself(address: str) -> None:
    plain = plain_host(f"[{address}]")
    assert plain_host(plain) == plain
    assert ipaddress.ip_address(plain) is not None
    assert bool(leads_to(address)) is is_private(plain)


@given(st.text(max_size=30))
@example("a/b")
@example("a@b")
@example("a:1")
@example("[::1]:1")
@example("[::1")
@example("::1]")
@example("a..b")
@example(".")
def test_what_is_read_as_a_host_reads_the_same_again(text: str) -> None:
    plain = plain_host(text)
    assert plain_host(plain) == plain
    assert not set(plain) & set("/\\?#@ %")
    if not plain:
        assert refused(text) == "host"


@for_each(
    "host", ["[fe80::1%25eth0]", "fe80::1%eth0", "a b", "a/b", "u@h", "a%2fb", "", ".", "256.1.1.1"]
)
def test_what_is_no_host_is_refused_even_where_everything_public_is_allowed(host: str) -> None:
    assert refused(host) == "host"


def test_a_port_outside_the_range_is_refused() -> None:
    assert [refused("shop.example", port) for port in (0, -1, 65_536, 65_535)] == [
        *["host"] * 3,
        "",
    ]


# -- names -------------------------------------------------------------------------------------


@for_each(
    "pattern, host, port, meant",
    [
        ("shop.example", "SHOP.example.", 443, True),
        ("shop.example:443", "shop.example", 443, True),
        ("shop.example:443", "shop.example", 80, False),
        ("*.shop.example", "a.b.shop.example", 1, True),
        ("*.shop.example", "shop.example", 1, False),
        ("*.shop.example", "evilshop.example", 1, False),
        ("*.shop.example:8", "a.shop.example", 9, False),
        ("*.bücher.example", "www.xn--bcher-kva.example", 80, True),
        ("BÜCHER.example", "xn--bcher-kva.example", 80, True),
        ("10.0.0.0/8", "10.1.2.3", 80, True),
        ("10.0.0.0/8", "0xa.1", 80, True),
        ("10.0.0.0/8", "[::ffff:10.1.2.3]", 80, True),
        ("10.0.0.0/8", "11.0.0.1", 80, False),
        ("10.0.0.0/8", "10.example", 80, False),
        ("fd00::/8", "[fd12::1]", 80, True),
        ("fd00::/8", "10.0.0.1", 80, False),
        ("127.0.0.1:8000", "2130706433", 8000, True),
        ("[::1]:8000", "::1", 8000, True),
        ("::1", "[0:0::1]", 5, True),
        ("*.0.0.1", "127.0.0.1", 80, False),
        ("*", "shop.example", 80, False),
        ("*.*", "shop.example", 80, False),
        ("", "shop.example", 80, False),
        ("shop.example:", "shop.example", 80, False),
        ("shop.example:x", "shop.example", 80, False),
        ("https://shop.example", "shop.example", 443, False),
        ("shop.example", "shop.example@evil.example", 80, False),
    ],
)
def test_patterns_mean_what_they_say(pattern: str, host: str, port: int, meant: bool) -> None:
    assert names((pattern,), host, port) is meant


@given(st.text(max_size=20))
def test_any_text_reads_as_a_pattern_or_as_none(text: str) -> None:
    read = read_pattern(text)
    assert read is None or read.host or read.network is not None


def test_only_hosts_may_be_gone_to_and_resources_only_be_loaded_from() -> None:
    policy = Policy(
        "1",
        hosts=("a.example",),
        resources=("b.example", "127.0.0.1:9"),
        public_hosts=False,
        public_resources=False,
    )
    assert refused("a.example", policy=policy, top_level=True) == ""
    assert refused("a.example", policy=policy) == ""
    assert refused("b.example", policy=policy) == ""
    assert refused("b.example", policy=policy, top_level=True) == "host"
    assert refused("c.example", policy=policy) == "host"
    assert refused("127.0.0.1", 9, policy=policy) == ""
    assert refused("127.0.0.1", 9, policy=policy, top_level=True) == "private_network"


def test_public_resources_open_nothing_to_go_to() -> None:
    policy = Policy("1", public_hosts=False)
    assert refused("c.example", policy=policy) == ""
    assert refused("c.example", policy=policy, top_level=True) == "host"
    assert refused("c.example", policy=CLOSED) == "host"


def test_what_the_browser_asks_by_itself_is_refused_unless_it_is_named() -> None:
    own = "content-autofill.googleapis.com"
    assert refused(own, 443, scheme="https") == "browser_itself"
    assert refused(own, 443, policy=Policy("1", hosts=(own,))) == ""


def test_a_refusal_says_what_to_name() -> None:
    assert host_refused(OPEN, "http", "LOCALHOST", 8000, top_level=True) == HostRefusal(
        "private_network", "localhost:8000 is private; name it with --allow localhost:8000"
    )
    said = host_refused(OPEN, "https", "[::1]", 443, top_level=True)
    assert said == HostRefusal("private_network", "[::1] is private; name it with --allow [::1]")


# -- what a name resolves to -------------------------------------------------------------------


def test_a_public_name_never_leads_to_a_private_address_unless_that_is_named_too() -> None:
    assert leads_to("93.184.216.34", "shop.example") == ""
    assert leads_to("127.0.0.1", "shop.example") == "private_address"
    assert leads_to("169.254.169.254", "shop.example") == "private_address"
    assert leads_to("127.0.0.1", "shop.example", "127.0.0.1") == ""
    assert leads_to("127.0.0.1", "shop.example", "127.0.0.1:81") == "private_address"
    assert leads_to("10.0.0.7", "shop.example", "10.0.0.0/8") == ""
    assert leads_to("::ffff:10.0.0.7", "shop.example", "10.0.0.0/8") == ""
    assert leads_to("fe80::1%2", "shop.example") == "private_address"
    assert leads_to("not an address", "shop.example") == "address"


def test_a_private_name_that_was_named_leads_to_private_addresses() -> None:
    assert leads_to("10.0.0.7", "nas.local", host="nas.local") == ""
    assert leads_to("10.0.0.7", host="nas.local") == "private_address"
    assert leads_to("10.0.0.7", "*.internal", host="db.internal") == ""
    assert leads_to("127.0.0.1", "localhost", host="localhost") == ""
    assert leads_to("::1", "*.localhost", host="app.localhost") == ""


def test_this_machine_by_name_is_no_other_machine() -> None:
    assert leads_to("10.0.0.7", "localhost", host="localhost") == "private_address"
    assert leads_to("169.254.169.254", "localhost", host="localhost") == "private_address"


# -- whole URLs --------------------------------------------------------------------------------


@for_each(
    "url, rule",
    [
        ("about:blank", ""),
        ("about:blank#x", "scheme"),
        ("https://shop.example/a", ""),
        ("wss://shop.example/a", ""),
        ("HTTPS:\\\\shop.example\\a", ""),
        ("https://u@shop.example/", "userinfo"),
        ("https://:p@shop.example/", "userinfo"),
        ("https://shop.example@127.0.0.1/", "userinfo"),
        ("file:///etc/passwd", "scheme"),
        ("data:text/html,x", "scheme"),
        ("javascript:1", "scheme"),
        ("blob:https://shop.example/1", "scheme"),
        ("ftp://shop.example/", "scheme"),
        ("view-source:http://127.0.0.1/", "scheme"),
        ("shop.example", "host"),
        ("http://0x7f.1/", "private_network"),
        (" h\nttp://127.1/ ", "private_network"),
    ],
)
def test_urls_are_read_as_a_browser_reads_them(url: str, rule: str) -> None:
    said = url_refused(OPEN, url, top_level=True)
    assert (said.rule if said else "") == rule
