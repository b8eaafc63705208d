"""The proxy as the browser meets it: by its own port, in bytes."""

import asyncio
import base64
import contextlib
import hashlib
import os
import signal
import socket
import sys
from collections import Counter
from collections.abc import AsyncIterator
from time import perf_counter

import pytest

from rutter.actors.world.egress.gate import Gate, NoGate, ProxyPassage
from rutter.actors.world.egress.gate_messages import Blocked
from rutter.actors.world.egress.proxy_connection import ACK_AT_ONCE
from rutter.events.errors import BrowserGone
from rutter.events.policy import Policy
from tests.support.case_table import for_each
from tests.support.proxy_peers import Line, line_to, origin, rule, serving

pytestmark = pytest.mark.anyio

RESOLVER = (sys.executable, "-m", "tests.support.resolving_proxy")


@pytest.fixture(scope="module")
async def gate(anyio_backend: str) -> AsyncIterator[Gate]:
    async with Gate() as running:
        yield running


@contextlib.asynccontextmanager
async def passing(
    gate: Gate, *hosts: str, **policy: int
) -> AsyncIterator[tuple[ProxyPassage, Line]]:
    """A passage for what is named, and a connection to it."""
    passage = await gate.open(
        Policy("1", hosts=hosts, public_hosts=False, public_resources=False, **policy)  # type: ignore[arg-type]
    )
    try:
        async with line_to(passage) as line:
            yield passage, line
    finally:
        await passage.close()


# -- plain requests ----------------------------------------------------------------------------


async def test_each_request_of_one_connection_is_judged_and_handed_on(gate: Gate) -> None:
    async with origin() as named, origin() as other, passing(gate, named.host) as (way, line):
        first = await line.get(
            f"http://{named.host}/a?b=1|2",
            "",
            "Proxy-Connection: keep-alive",
            "Connection: X-Hop",
            "X-Hop: 1",
            "TE: trailers",
            "X-Kept: yes",
        )
        assert first.endswith("ok")
        assert rule(await line.get(f"http://{other.host}/")) == "private_network"
        assert (await line.get(f"http://{named.host}/c")).endswith("ok")
        contacts = await way.contacts()
        assert contacts.hosts == {("127.0.0.1", named.port): 2}
        assert other.connections == 0
        assert named.heads[0].startswith("GET /a?b=1|2 HTTP/1.1\r\n")
        said = named.heads[0].lower()
        assert "x-kept: yes" in said
        assert f"host: {named.host}" in said
        assert not [word for word in ("x-hop", "proxy-", "trailers") if word in said]
        [(kind, times)] = way.blocked.items()
        assert (kind.host, kind.port, kind.rule, times) == (
            "127.0.0.1",
            other.port,
            "private_network",
            1,
        )
        assert str(other.port) in kind.reason


async def test_one_connection_to_a_server_carries_several_requests(gate: Gate) -> None:
    async with origin() as named, passing(gate, named.host) as (_, line):
        for _ in range(3):
            assert (await line.get(f"http://{named.host}/")).endswith("ok")
        assert (named.connections, len(named.heads)) == (1, 3)


@pytest.mark.skipif(ACK_AT_ONCE is None, reason="this system has one way to acknowledge")
async def test_a_server_that_answers_in_two_parts_waits_for_no_acknowledgement(gate: Gate) -> None:
    """As those do that leave it to the system when small parts go: it sends the second once the
    first is acknowledged, which on a kept connection would be 40 ms later, each time."""

    async def apart(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        held = writer.get_extra_info("socket")
        held.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 0)
        with contextlib.suppress(asyncio.IncompleteReadError, OSError):
            while await reader.readuntil(b"\r\n\r\n"):
                writer.write(b"HTTP/1.1 200 OK\r\n")
                writer.write(b"content-length: 2\r\n\r\n")
                writer.write(b"ok")
        writer.close()

    async with serving(apart) as port, passing(gate, f"127.0.0.1:{port}") as (_, line):
        took = []
        for _ in range(20):
            began = perf_counter()
            assert (await line.get(f"http://127.0.0.1:{port}/")).endswith("ok")
            took.append(perf_counter() - began)
    assert min(took[10:]) < 0.04  # a new connection is acknowledged at once in any case


@for_each(
    "url, host, why",
    [
        ("http://127.0.0.1:{port}/", "elsewhere.example", "host_header"),
        ("http://127.0.0.1:{port}/", "127.0.0.1:1", "host_header"),
        ("http://u:p@127.0.0.1:{port}/", "127.0.0.1:{port}", "userinfo"),
        ("http://127.0.0.1:{port}\\@x/", "127.0.0.1:{port}", "userinfo"),
        ("https://127.0.0.1:{port}/", "127.0.0.1:{port}", "scheme"),
        ("ftp://127.0.0.1:{port}/", "127.0.0.1:{port}", "scheme"),
        ("/", "127.0.0.1:{port}", "request"),
        ("http://[::ffff:7f00:1]:{other}/", "[::ffff:7f00:1]:{other}", "private_network"),
        ("http://0x7f.1:{other}/", "0x7f.1:{other}", "private_network"),
        ("http://localhost:{port}/", "localhost:{port}", "private_network"),
    ],
)
async def test_what_is_not_plainly_meant_is_refused(
    gate: Gate, url: str, host: str, why: str
) -> None:
    async with origin() as named, origin() as other, passing(gate, named.host) as (_, line):
        ports = {"port": named.port, "other": other.port}
        assert rule(await line.get(url.format(**ports), host.format(**ports))) == why
        assert named.connections == other.connections == 0


@for_each(
    "bad",
    [
        "GET http://a.example/ HTTP/1.1\r\n\r\n",
        "GET http://a.example/ HTTP/1.1\r\nHost: a.example\r\nHost: b.example\r\n\r\n",
        "nonsense\r\n\r\n",
        "GET http://a.example/ HTTP/1.1\r\nHost: a.example\r\nX: " + "x" * 200_000 + "\r\n\r\n",
    ],
)
async def test_what_is_no_request_is_hung_up_on(gate: Gate, bad: str) -> None:
    async with passing(gate, "a.example") as (_, line):
        await line.say(bad)
        assert "200" not in (await line.head())[:20]


async def test_the_proxy_cannot_be_asked_for_itself(gate: Gate) -> None:
    async with (
        passing(gate, "127.0.0.0/8", "localhost", "[::1]", "0.0.0.0") as (way, line),
        passing(gate) as (other, _),
    ):
        for port in (way.port, other.port):
            for host in ("127.0.0.1", "127.1.2.3", "localhost", "0.0.0.0", "[::ffff:127.0.0.1]"):
                assert rule(await line.get(f"http://{host}:{port}/")) == "own_port"
            async with line_to(way) as tunnel:
                assert rule(await tunnel.connect(f"127.0.0.1:{port}")) == "own_port"


async def test_an_answer_without_a_length_ends_when_the_server_does(gate: Gate) -> None:
    answer = b"HTTP/1.0 200 OK\r\nX-Rutter-Refused: lies\r\n\r\nwhole body"
    async with origin(answer) as named, passing(gate, named.host) as (_, line):
        head = await line.get(f"http://{named.host}/")
        assert "transfer-encoding: chunked" in head.lower()
        assert "refused" not in head.lower()
        assert b"whole body" in await line.reader.readuntil(b"0\r\n\r\n")


async def test_what_is_not_there_is_hung_up_on(gate: Gate) -> None:
    async with serving(_nothing) as port:
        pass
    async with passing(gate, f"127.0.0.1:{port}", "nowhere.invalid") as (way, line):
        assert await line.get(f"http://127.0.0.1:{port}/") == ""
        async with line_to(way) as tunnel:
            assert (await tunnel.connect(f"127.0.0.1:{port}")).startswith("HTTP/1.1 502")
        assert (await way.contacts()).hosts == {}


async def _nothing(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.close()


# -- limits ------------------------------------------------------------------------------------


UNANSWERED = {
    "nothing": b"",
    "half a head": b"HTTP/1.1 200 O",
    "nonsense": b"\x15\x03\x03\0\x02\x02\x50",
    "hints": b"HTTP/1.1 103 Early Hints\r\n\r\n",
    "try again": b"HTTP/1.1 408 No\r\ncontent-length: 2\r\n\r\nno",
    "try elsewhere": b"HTTP/1.1 421 No\r\ncontent-length: 2\r\n\r\nno",
}


@for_each("name", UNANSWERED)
@for_each("method", ["GET", "POST"])
async def test_what_was_handed_on_and_is_not_answered_is_told_so(
    gate: Gate, name: str, method: str
) -> None:
    """Hung up on, or told to try again, the browser would send it once more."""
    asked = 0

    async def failing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal asked
        await reader.readuntil(b"\r\n\r\n")
        asked += 1
        writer.write(UNANSWERED[name])
        writer.close()

    async with serving(failing) as port, passing(gate, "127.0.0.1") as (way, line):
        for times in (1, 2):  # the connection is of use after it
            at = f"127.0.0.1:{port}"
            length = "Content-Length: 3\r\n\r\na=1" if method == "POST" else "\r\n"
            await line.say(f"{method} http://{at}/ HTTP/1.1\r\nHost: {at}\r\n{length}")
            while not (answer := await line.answer()).startswith("HTTP/1.1 502"):
                assert answer.startswith("HTTP/1.1 103")
            assert asked == times
        said = await way.why_not("127.0.0.1", port)
        assert said == ("" if name.startswith("try") else "net::ERR_EMPTY_RESPONSE")


async def test_what_is_not_to_be_repeated_goes_by_a_connection_of_its_own(gate: Gate) -> None:
    page = ("Upgrade-Insecure-Requests: 1",)
    async with origin() as named, passing(gate, named.host) as (_, line):
        for headers in ((), (), page, ()):
            await line.get(f"http://{named.host}/", "", *headers)
        assert named.connections == 2


async def test_more_than_may_be_sent_or_received_at_once_is_cut(gate: Gate) -> None:
    got = 0

    async def swallow(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal got
        with contextlib.suppress(OSError):
            while data := await reader.read(65_536):
                got += len(data)
        writer.close()

    large = b"HTTP/1.1 200 OK\r\ncontent-length: 3000000\r\n\r\n" + bytes(3_000_000)
    async with (
        serving(swallow) as port,
        origin(large) as sender,
        passing(gate, "127.0.0.1", upload_mb=1, download_mb=2) as (way, line),
    ):
        at = f"127.0.0.1:{port}"
        await line.say(
            f"POST http://{at}/ HTTP/1.1\r\nHost: {at}\r\nContent-Length: 9000000\r\n\r\n"
        )
        await line.say(bytes(9_000_000))
        assert (await line.head()).startswith("HTTP/1.1 502")
        async with line_to(way) as tunnel:
            assert (await tunnel.connect(at)).startswith("HTTP/1.1 200")
            await tunnel.say(bytes(9_000_000))
            assert await tunnel.head() == ""
        async with line_to(way) as reading:
            with pytest.raises((asyncio.IncompleteReadError, OSError)):
                await reading.get(f"http://{sender.host}/")
        await way.contacts()
        assert Counter({kind.rule: times for kind, times in way.blocked.items()}) == Counter(
            upload_size=2, download_size=1
        )
        assert got <= 2 * (1 << 20) + 2 * 65_536 + 1_000


async def test_what_a_page_causes_without_end_is_counted_not_kept(gate: Gate) -> None:
    async with passing(gate, "named.example") as (way, line):
        for number in range(120):
            assert rule(await line.get(f"http://h{number}.example/")) == "host"
        for _ in range(30):
            await line.get("http://again.example/")
        await way.contacts()
        assert sum(way.blocked.values()) == 150
        assert len(way.blocked) <= 51


# -- tunnels and WebSockets --------------------------------------------------------------------


async def test_a_tunnel_leads_only_where_it_may(gate: Gate) -> None:
    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65_536):
            writer.write(data.upper())
            await writer.drain()
        writer.write(b"end")
        writer.close()

    async with serving(echo) as port, passing(gate, f"127.0.0.1:{port}") as (way, line):
        await line.say(f"CONNECT 127.0.0.1:{port} HTTP/1.1\r\nHost: x\r\n\r\nearly")
        assert (await line.head()).startswith("HTTP/1.1 200")
        assert await line.reader.readexactly(5) == b"EARLY"
        await line.say(b"later")
        assert await line.reader.readexactly(5) == b"LATER"
        line.writer.write_eof()
        assert await line.reader.read() == b"end"
        for at in (
            *("127.0.0.1:1", "[::1]:443", "169.254.169.254:80", "2130706433:22", "a.example:443"),
        ):
            async with line_to(way) as tunnel:
                assert rule(await tunnel.connect(at)) in ("private_network", "host")
        for at in ("nothing", "a b:1", ":80", "127.0.0.1:99999"):
            async with line_to(way) as tunnel:
                assert "200" not in (await tunnel.connect(at))[:20]


async def test_a_websocket_in_clear_is_spliced_once_it_stands(gate: Gate) -> None:
    async def websocket(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        key = head.split("Sec-WebSocket-Key: ")[1].split("\r\n")[0]
        digest = hashlib.sha1((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest()
        writer.write(
            b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Accept: " + base64.b64encode(digest) + b"\r\n\r\nhello"
        )
        writer.write(await reader.readexactly(4))
        writer.close()

    async with serving(websocket) as port, passing(gate, f"127.0.0.1:{port}") as (_, line):
        head = await line.get(
            f"http://127.0.0.1:{port}/",
            "",
            "Connection: Upgrade",
            "Upgrade: websocket",
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
            "Sec-WebSocket-Version: 13",
        )
        assert head.startswith("HTTP/1.1 101")
        assert "upgrade: websocket" in head.lower()
        assert await line.reader.readexactly(5) == b"hello"
        await line.say(b"ping")
        assert await line.reader.read() == b"ping"


# -- names -------------------------------------------------------------------------------------


async def test_a_name_is_resolved_once_and_every_address_of_it_is_judged() -> None:
    async with origin() as named:
        names = [
            "once.local=127.0.0.1",  # whoever asks twice gets another answer
            "once.local=127.0.0.9",
            "mixed.example=8.8.8.8,127.0.0.1",
            "mapped.example=::ffff:127.0.0.1",
            "meta.example=169.254.169.254",
            "nas.local=127.0.0.1",
        ]
        hosts = ["once.local", "mixed.example", "mapped.example", "meta.example", "nas.local"]
        async with Gate((*RESOLVER, *names)) as gate, passing(gate, *hosts) as (way, line):
            for host in ("mixed.example", "mapped.example", "meta.example"):
                assert rule(await line.get(f"http://{host}:{named.port}/")) == "private_address"
            assert (await line.get(f"http://nas.local:{named.port}/")).endswith("ok")
            assert (await line.get(f"http://once.local:{named.port}/")).endswith("ok")
            assert named.connections == 2
            async with line_to(way) as tunnel:
                assert rule(await tunnel.connect(f"mixed.example:{named.port}")) == (
                    "private_address"
                )
            await way.contacts()  # what was told before it is here then
            kinds = {kind for kind in way.blocked if kind.host == "mapped.example"}
            assert {kind.reason for kind in kinds} == {
                "mapped.example resolves to 127.0.0.1, which is private; "
                "name that too with --allow 127.0.0.1"
            }


# -- the process -------------------------------------------------------------------------------


async def test_a_proxy_that_died_is_no_way_out_and_is_started_again_when_asked_for() -> None:
    async with Gate() as gate:
        passage = await gate.open(Policy("1"))
        assert gate._process is not None
        os.kill(gate._process.pid, signal.SIGKILL)
        await gate._process.wait()
        with pytest.raises(BrowserGone, match="proxy"):
            await passage.contacts()
        with pytest.raises(BrowserGone, match="proxy"):
            _ = passage.blocked
        with pytest.raises(OSError, match="Connect call failed"):
            await asyncio.open_connection("127.0.0.1", passage.port)
        await passage.close()
        assert not gate.alive
        await gate.start()
        await (await gate.open(Policy("1"))).close()


async def test_the_proxy_ends_when_whoever_started_it_is_gone() -> None:
    gate = Gate()
    await gate.start()
    process = gate._process
    assert process is not None
    assert process.stdin is not None
    process.stdin.close()
    async with asyncio.timeout(5):
        assert await process.wait() == 0
    await gate.close()


@pytest.mark.parametrize(
    "program",
    ["", "print('hello', flush=True)", "import sys; sys.stdin.read()", "raise SystemExit(3)"],
)
async def test_what_is_no_proxy_of_ours_does_not_pass_its_test(
    program: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rutter.actors.world.egress.gate.ANSWER_S", 0.3)
    with pytest.raises(BrowserGone, match="only way out"):
        await Gate((sys.executable, "-c", program)).start()
    with pytest.raises(BrowserGone, match="did not start"):
        await Gate(("/nonexistent/program",)).start()


LIAR = """
import rutter.actors.world.egress.dialer as dialing, rutter.actors.world.egress.proxy as proxy
proxy.host_refused = dialing.host_refused = lambda *a, **k: None
dialing.address_refused = lambda *a, **k: None
proxy.main()
"""


async def test_a_proxy_that_lets_everything_through_does_not_pass_its_test() -> None:
    with pytest.raises(BrowserGone, match="should not"):
        await Gate((sys.executable, "-c", LIAR)).start()


async def test_a_passage_that_is_closed_takes_nobody() -> None:
    async with origin() as named, Gate() as gate:
        passage = await gate.open(Policy("1", hosts=(named.host,)))
        async with line_to(passage) as line:
            assert (await line.get(f"http://{named.host}/")).endswith("ok")
            await passage.close()
            assert await line.get(f"http://{named.host}/") == ""
        with pytest.raises(OSError, match="Connect call failed"):
            await asyncio.open_connection("127.0.0.1", passage.port)


async def test_without_a_gate_there_is_nothing_to_count() -> None:
    gate = NoGate()
    await gate.start()
    passage = await gate.open(Policy("1"))
    assert (passage.server, passage.blocked, (await passage.contacts()).hosts) == ("", {}, {})
    await passage.close()
    await gate.close()
    assert Blocked("a", 1, "b", "c").host == "a"
