"""Given a company's proxy: what is judged here goes out through it, and nothing else does."""

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import msgspec
import pytest

from rutter.actors.world.egress import company_proxy as module
from rutter.actors.world.egress.company_proxy import CompanyProxy, reach_through, tunnel
from rutter.actors.world.egress.dialer import ClosedPorts, LastAddresses, Streams, Unreachable
from rutter.actors.world.egress.gate import Gate, ProxyPassage
from rutter.events.policy import Policy
from tests.support.case_table import for_each
from tests.support.company_proxy import CompanyProxyServer, Way, company_proxy
from tests.support.proxy_peers import Line, line_to, origin, rule
from tests.support.tls_authority import authority, issued

pytestmark = pytest.mark.anyio

NAMES = (
    "shop.example=8.8.8.8",
    "two.example=2606:4700:4700::1111,8.8.4.4",
    "inside.example=10.0.0.5",
    "near.local=127.0.0.1",
    "localhost=127.0.0.1",
)
COMMAND = (sys.executable, "-m", "tests.support.resolving_proxy", *NAMES)
USER, PASSWORD = "anna", "Seagull-4711"
CREDENTIALS = "YW5uYTpTZWFndWxsLTQ3MTE="


def to(server: CompanyProxyServer, *, names_there: bool = False) -> CompanyProxy:
    more = {"credentials": CREDENTIALS, "names_there": names_there}
    return msgspec.structs.replace(CompanyProxy("127.0.0.1", server.port), **more)


@contextlib.asynccontextmanager
async def passing(
    through: CompanyProxy, *hosts: str, public: bool = False
) -> AsyncIterator[tuple[ProxyPassage, Line]]:
    policy = Policy("1", hosts=hosts, public_hosts=public, public_resources=public)
    async with Gate(COMMAND, through=through) as gate:
        passage = await gate.open(policy)
        async with line_to(passage) as line:
            yield passage, line


async def test_what_is_known_here_goes_out_by_the_address_that_was_judged() -> None:
    leads = {"8.8.8.8:80": 0, "8.8.8.8:443": 0, "8.8.4.4:80": 0}
    async with origin() as site, company_proxy(leads, f"{USER}:{PASSWORD}") as company:
        company.leads = dict.fromkeys(leads, site.port)
        hosts = ("shop.example", "two.example")
        async with passing(to(company), *hosts) as (way, line):
            for _ in range(2):
                assert (await line.get("http://shop.example/a")).endswith("ok")
            assert (await line.get("http://two.example/")).endswith("ok"), "the second address"
            async with line_to(way) as tunnelled:
                assert (await tunnelled.connect("shop.example:443")).startswith("HTTP/1.1 200")
                await tunnelled.say("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
                assert (await tunnelled.answer()).endswith("ok")
            contacts = await way.contacts()
    asked = ["8.8.8.8:80", "[2606:4700:4700::1111]:80", "8.8.4.4:80", "8.8.8.8:443"]
    assert company.asked == asked
    assert "host: shop.example" in site.heads[0].lower()
    assert not [head for head in site.heads if "proxy-authorization" in head.lower()]
    assert contacts.by_name == frozenset()
    assert contacts.hosts["shop.example", 80] == 2


@for_each("there", [False, True])
async def test_what_is_of_this_machine_or_private_is_protected_as_ever(there: bool) -> None:
    async with origin() as site, company_proxy() as company:
        through = to(company, names_there=there)
        named = (site.host, f"near.local:{site.port}", f"localhost:{site.port}")
        async with passing(through, *named, public=True) as (_, line):
            for host in ("10.0.0.5", "169.254.169.254", "127.0.0.1", "[::1]", "0x7f.1"):
                assert rule(await line.get(f"http://{host}/")) == "private_network", host
            for host in ("printer.local", "metadata.google.internal"):
                assert rule(await line.get(f"http://{host}/")) == "private_network", host
            for host in (site.host, f"near.local:{site.port}", f"localhost:{site.port}"):
                assert (await line.get(f"http://{host}/")).endswith("ok"), host
            assert rule(await line.get("http://intranet/")) == "unknown_here"
    assert company.asked == [], "none of it is the company's proxy's to see"


async def test_a_name_that_leads_to_a_private_address_is_refused_where_that_is_known() -> None:
    async with company_proxy() as company:
        async with passing(to(company), "inside.example", public=True) as (_, line):
            assert rule(await line.get("http://inside.example/")) == "private_address"
        assert company.asked == []


@for_each(
    "named, there, by_name",
    [(True, False, True), (False, False, False), (False, True, True)],
)
async def test_what_only_the_company_knows_is_judged_by_its_name_and_that_is_told(
    named: bool, there: bool, by_name: bool
) -> None:
    async with origin() as site, company_proxy({"only.example:80": site.port}) as company:
        hosts = ("only.example",) if named else ()
        through = to(company, names_there=there)
        async with passing(through, *hosts, public=not named) as (way, line):
            answer = await line.get("http://only.example/")
            contacts = await way.contacts()
            blocked = list(way.blocked)
    assert answer.endswith("ok") is by_name
    assert rule(answer) == ("" if by_name else "unknown_here")
    assert contacts.by_name == ({("only.example", 80)} if by_name else frozenset())
    assert company.asked == (["only.example:80"] if by_name else [])
    if not by_name:
        assert "name it with --allow only.example" in blocked[0].reason


async def nowhere(host: str, port: int) -> Sequence[str]:
    return ("8.8.8.8",)


@pytest.mark.parametrize(
    ("direct", "through"),
    [
        ((), True),
        (("shop.example",), False),
        (("*.example",), False),
        (("*",), False),
        (("shop.example:8443",), True),
        (("other.example", "10.0.0.0/8"), True),
    ],
)
async def test_what_is_left_out_is_reached_without_it(
    monkeypatch: pytest.MonkeyPatch, direct: tuple[str, ...], through: bool
) -> None:
    went: list[str] = []

    async def dialled(*_: object) -> Streams:
        went.append("directly")
        raise Unreachable("")

    async def tunnelled(*_: object) -> Streams:
        went.append("through")
        raise Unreachable("")

    monkeypatch.setattr(module, "dial", dialled)
    monkeypatch.setattr(module, "tunnel", tunnelled)
    closed, worked = ClosedPorts((), ()), LastAddresses()
    proxy = CompanyProxy("proxy.example", 3128, direct=direct)
    policy, target = Policy("1"), ("https", "shop.example", 443)
    with pytest.raises(Unreachable):
        await reach_through(proxy, policy, target, nowhere, closed, worked)
    assert went == ["through" if through else "directly"]


@pytest.mark.parametrize(
    ("way", "says"),
    [
        ("refuses", "NNEL_CONNECTION_FAILED: {}, the proxy, answered 403"),
        ("dies", "the proxy, ended without an answer"),
        ("says nothing to", "the proxy, ended without an answer"),
    ],
)
async def test_a_proxy_that_fails_is_told_of_and_nothing_is_reached(
    monkeypatch: pytest.MonkeyPatch, way: Way, says: str
) -> None:
    monkeypatch.setattr(module, "CONNECT_S", 0.5)
    async with company_proxy({"8.8.8.8:443": 1}) as company:
        company.way = way
        with pytest.raises(Unreachable) as failed:
            await tunnel(to(company), "8.8.8.8", 443)
    assert says.format(company.where) in str(failed.value)


async def test_what_the_browser_is_told_names_the_proxy_and_never_the_password() -> None:
    async with (
        company_proxy({"8.8.8.8:443": 1}, "anna:another") as company,
        passing(to(company), "shop.example") as (way, line),
    ):
        answer = await line.connect("shop.example:443")
        why = await way.why_not("shop.example", 443)
    assert answer.startswith("HTTP/1.1 502")
    assert why.endswith(f"{company.where}, the proxy, does not take this name and password (407)")
    assert not [said for said in (answer, why) if CREDENTIALS in said or PASSWORD in said]
    assert CREDENTIALS in company.heads[0]
    gone = msgspec.structs.replace(to(company), port=1)
    with pytest.raises(
        Unreachable, match=r"PROXY_CONNECTION_FAILED: nobody answers at 127\.0\.0\.1:1,"
    ):
        await tunnel(gone, "8.8.8.8", 443)


async def test_one_that_is_spoken_to_by_tls_shows_who_it_is(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    known = authority()
    (tmp_path / "known.pem").write_bytes(known.pem)
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "known.pem"))
    for vouches in (known, authority()):
        company = CompanyProxyServer({"8.8.8.8:443": 1})
        context = issued(vouches, "localhost")
        server = await asyncio.start_server(company.handle, "127.0.0.1", 0, ssl=context)
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(Unreachable) as failed:
            await tunnel(CompanyProxy("localhost", port, tls=True), "10.9.9.9", 443)
        server.close()
        await company.close()
        assert company.asked == (["10.9.9.9:443"] if vouches is known else [])
        assert failed.value.status == (403 if vouches is known else 0)


async def test_a_tunnel_that_breaks_off_is_no_answer() -> None:
    async with origin() as site, company_proxy({"8.8.8.8:80": site.port}) as company:
        company.way = "breaks off"
        async with passing(to(company), "shop.example") as (_, line):
            answer = await line.get("http://shop.example/order")
    assert answer.startswith("HTTP/1.1 502"), "what was handed on is answered, and not sent again"
    assert len(company.asked) == 1
