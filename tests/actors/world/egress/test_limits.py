"""What one session uses up is not taken from the others: files, threads, and the proxy's time."""

import asyncio
import contextlib
import os
import shlex
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from rutter.actors.world.egress import gate as gates
from rutter.actors.world.egress import name_lookup, splice
from rutter.actors.world.egress.dialer import Streams
from rutter.actors.world.egress.gate import Gate, ProxyPassage
from rutter.actors.world.egress.name_lookup import AT_ONCE, Lookups, SystemNames
from rutter.actors.world.egress.proxy import MAX_CONNECTIONS, Room
from rutter.events.errors import BrowserGone
from rutter.events.policy import Policy
from tests.support.proxy_peers import line_to, origin, serving

pytestmark = pytest.mark.anyio


def naming(*hosts: str) -> Policy:
    return Policy("1", hosts=hosts, public_hosts=False, public_resources=False)


# -- files -------------------------------------------------------------------------------------


def test_one_door_never_has_all_the_room() -> None:
    small, large = Room(128), Room(20_000)
    assert (small.of_one_door, large.of_one_door) == (16, MAX_CONNECTIONS)
    assert [small.take() for _ in range(33)] == [True] * 32 + [False]
    small.give_back()
    assert small.take()
    assert Room(10).take()


async def test_a_proxy_without_files_says_so_and_lives_on(tmp_path: Path) -> None:
    said = tmp_path / "said"
    proxy = shlex.join((sys.executable, "-P", "-m", "rutter.actors.world.egress"))
    command = ("sh", "-c", f"ulimit -n 128; exec {proxy} 2>{shlex.quote(str(said))}")
    async with origin() as named, Gate(command) as gate:
        first, other = await gate.open(naming(named.host)), await gate.open(naming(named.host))
        held = [await asyncio.open_connection("127.0.0.1", first.port) for _ in range(40)]
        assert await _gets(other, named.host)
        opened: list[ProxyPassage] = []
        with contextlib.suppress(BrowserGone):
            for _ in range(120):
                opened.append(await gate.open(naming()))  # noqa: PERF401 (those before it fails)
        with pytest.raises(BrowserGone, match="cannot do that now"):
            await gate.open(naming())
        assert opened
        assert gate.alive
        for passage in opened:
            await passage.close()
        assert await _gets(await gate.open(naming(named.host)), named.host)
        await first.contacts()
        assert {kind.rule for kind in first.blocked} == {"connections"}
        for _, writer in held:
            writer.close()
    assert len(said.read_text().splitlines()) <= 1


async def _gets(passage: ProxyPassage, host: str) -> bool:
    async with line_to(passage) as line:
        return (await line.get(f"http://{host}/")).endswith("ok")


# -- the proxy's time --------------------------------------------------------------------------


async def test_a_browser_that_does_not_read_holds_nobody_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begun = asyncio.Event()

    async def endless(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 40000000\r\n\r\n")
        try:
            for _megabyte in range(40):
                writer.write(bytes(1_000_000))
                async with asyncio.timeout(0.2):  # then all that lies between us is full
                    await writer.drain()
        except OSError:
            begun.set()
        finally:
            writer.transport.abort()

    async with serving(endless) as port, Gate() as gate:
        passage = await gate.open(naming(f"127.0.0.1:{port}"))
        other = await gate.open(naming())
        async with line_to(passage) as line:
            line.writer.transport.pause_reading()  # type: ignore[attr-defined]
            await line.say(
                f"GET http://127.0.0.1:{port}/ HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n"
            )
            await begun.wait()
            monkeypatch.setattr(gates, "ANSWER_S", 5)
            await passage.close()
            assert (await other.contacts()).hosts == {}
            assert gate.alive


async def test_a_proxy_that_hangs_is_ended_and_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    async with Gate() as gate:
        passage = await gate.open(naming())
        lost = asyncio.Event()
        passage.when_lost(lost.set)
        assert gate._process is not None
        os.kill(gate._process.pid, signal.SIGSTOP)
        with monkeypatch.context() as impatient:
            impatient.setattr(gates, "ANSWER_S", 0.1)
            with pytest.raises(BrowserGone, match="does not answer"):
                await gate.open(naming())
        assert not gate.alive
        await lost.wait()
        await gate.start()
        await (await gate.open(naming())).close()


async def test_who_has_a_passage_is_told_when_the_proxy_ends() -> None:
    async with Gate() as gate:
        passage, closed = await gate.open(naming()), await gate.open(naming())
        told: list[str] = []
        lost = asyncio.Event()
        closed.when_lost(lambda: told.append("closed"))
        await closed.close()
        passage.when_lost(lost.set)
        assert gate._process is not None
        os.kill(gate._process.pid, signal.SIGKILL)
        await lost.wait()
        assert told == []


async def test_who_only_listens_through_a_tunnel_is_not_cut_off(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(splice, "IDLE_S", 0.6)
    loop = asyncio.get_running_loop()

    async def ticking(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        until = loop.time() + 1.5
        while loop.time() < until:
            writer.write(b".")
            await asyncio.sleep(0.02)
        writer.write(b"end")
        await reader.read()
        writer.close()

    ended = asyncio.Event()

    async def tunnel(*client: *Streams) -> None:
        server = await asyncio.open_connection("127.0.0.1", port)
        with pytest.raises(TimeoutError):  # in the end, when both are silent
            await splice.splice(client, server, list[int]().append, set())
        for _, writer in (client, server):
            writer.close()
        ended.set()

    async with serving(ticking) as port, serving(tunnel) as door:
        reader, writer = await asyncio.open_connection("127.0.0.1", door)
        assert (await reader.read(-1)).endswith(b".end")
        await ended.wait()
        writer.close()


# -- names -------------------------------------------------------------------------------------


@pytest.fixture
def silent(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The names that were asked for, of which some are not answered before the test is over."""
    asked: list[str] = []
    over = threading.Event()

    def getaddrinfo(host: str, *_: object, **__: object) -> list[tuple[object, ...]]:
        asked.append(host)
        if host.startswith("silent"):
            over.wait()
            raise socket.gaierror
        return [(0, 0, 0, "", ("192.0.2.1", 0)), (0, 0, 0, "", ("192.0.2.1", 0))]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    yield asked
    over.set()


async def test_names_that_nobody_answers_for_are_no_other_sessions_trouble(
    silent: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(name_lookup, "RESOLVE_S", 0.1)
    names = SystemNames()
    one, other = Lookups(names), Lookups(names)
    asking = [one(f"silent{number}.example", 80) for number in range(3 * AT_ONCE)]
    failed = await asyncio.gather(*asking, return_exceptions=True)
    assert {type(failure) for failure in failed} == {TimeoutError}
    # Those that are still asked for count, though nobody waits for them any more.
    assert len(silent) == AT_ONCE
    with pytest.raises(TimeoutError):
        await one("shop.example", 80)
    monkeypatch.setattr(name_lookup, "RESOLVE_S", 10)
    assert await other("shop.example", 80) == ("192.0.2.1",)


async def test_an_answer_is_kept_for_a_moment(
    silent: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    names = SystemNames()
    assert await names("shop.example", 80) == await names("shop.example", 443) == ("192.0.2.1",)
    assert silent == ["shop.example"]
    monkeypatch.setattr(name_lookup, "KEPT_S", 0.0)
    await names("other.example", 80)
    await names("other.example", 80)
    assert silent == ["shop.example", "other.example", "other.example"]
    assert await names("app.localhost", 80) == name_lookup.LOOPBACK
