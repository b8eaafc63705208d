"""The proxy against bytes no browser sends: refused, or handed on so that it is read one way."""

from collections.abc import Iterator

import pytest

from rutter.events.policy import Policy
from tests.hostile.attacks import ATTACKS, Attack
from tests.hostile.canaries import Canaries
from tests.hostile.proxy_process import Listener, ProxyProcess, say
from tests.support.case_table import for_each


@pytest.fixture(scope="module")
def canaries() -> Iterator[Canaries]:
    places = [("at an address of its own", ""), ("here", "127.0.0.1"), ("here, long", "::1")]
    with Canaries(places) as running:
        yield running


@pytest.fixture(scope="module")
def site() -> Iterator[Listener]:
    with Listener() as running:
        yield running


@pytest.fixture(scope="module")
def proxy() -> Iterator[ProxyProcess]:
    with ProxyProcess() as running:
        yield running


@pytest.fixture(scope="module")
def door(proxy: ProxyProcess, site: Listener) -> int:
    return proxy.open(Policy("1", hosts=(site.at,), public_hosts=False, public_resources=False))


def written(attack: Attack, site: Listener, canaries: Canaries, door: int, at: str) -> bytes:
    host, port = canaries.addresses[at]
    canary = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    words = {"{site}": site.at, "{canary}": canary, "{port}": str(port), "{own}": str(door)}
    words["{beyond}"] = str(port + 65_536)
    said = attack.said
    for word, meaning in words.items():
        said = said.replace(word, meaning)
    return said.encode("latin-1")


@for_each("attack", ATTACKS)
def test_what_is_read_two_ways_reaches_nobody(
    attack: Attack, proxy: ProxyProcess, door: int, site: Listener, canaries: Canaries
) -> None:
    for at in canaries.addresses:
        site.clear()
        answer = say(door, written(attack, site, canaries, door, at))
        proxy.counts(door)
        assert not canaries.hits
        assert len(site.requests) == attack.heard, (answer, site.requests)
        assert answer.count(b"HTTP/1.1 200 ") == attack.heard, answer
        for request in site.requests:
            framing = [name for name, _ in request.headers if name in FRAMING]
            assert len(framing) <= 1, request
            assert [value for name, value in request.headers if name == "host"] == [site.at]
            assert (request.target, b"stolen" in request.body) in HEARD, request


FRAMING = ("content-length", "transfer-encoding")
HEARD = {("/one", False), ("/one", True)}


def test_a_canary_is_heard_when_it_is_named(proxy: ProxyProcess, site: Listener) -> None:
    """The same words reach it where they may: so the test above can fail."""
    with Canaries([("named", "")]) as canaries:
        host, port = canaries.addresses["named"]
        door = proxy.open(Policy("1", hosts=(f"{host}:{port}",)))
        attacks = {attack.name: attack for attack in ATTACKS}
        for name in ("a tunnel", "a second request to another host"):
            say(door, written(attacks[name], site, canaries, door, "named"))
        assert [hit.said for hit in canaries.hits if hit.how == "tcp"] == [
            "GET /stolen HTTP/1.1",
            "GET /stolen HTTP/1.1",
        ]
        assert proxy.counts(door).contacts == [(host, port, 2)]


def test_its_own_ports_are_refused_even_where_this_machine_may_be_reached(
    proxy: ProxyProcess,
) -> None:
    door = proxy.open(Policy("1", hosts=("127.0.0.0/8", "localhost", "[::1]", "0.0.0.0")))
    another = proxy.open(Policy("1"))
    for port in (door, another):
        for host in ("127.0.0.1", "localhost", "2130706433", "[::ffff:7f00:1]", "0.0.0.0", "127.9"):
            authority = f"{host}:{port}"
            tunnel = f"CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n\r\n"
            plain = f"GET http://{authority}/ HTTP/1.1\r\nHost: {authority}\r\n\r\n"
            for said in (tunnel, plain):
                answer = say(door, said.encode())
                assert b" 403 " in answer.partition(b"\r\n")[0], (said, answer)
                assert b"own_port" in answer, (said, answer)
    assert not proxy.counts(door).contacts


def test_a_door_that_is_closed_lets_nobody_through(proxy: ProxyProcess, site: Listener) -> None:
    door = proxy.open(Policy("1", hosts=(site.at,)))
    site.clear()
    said = f"GET http://{site.at}/one HTTP/1.1\r\nHost: {site.at}\r\n\r\n".encode()
    assert b" 200 " in say(door, said)
    proxy.close_door(door)
    with pytest.raises(ConnectionRefusedError):
        say(door, said)
    assert len(site.requests) == 1
