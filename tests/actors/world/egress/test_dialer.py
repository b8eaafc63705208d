"""Which of a host's addresses is dialled, and when: all of them were judged before."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from rutter.actors.world.egress import dialer
from rutter.actors.world.egress.dialer import (
    AddressRefused,
    ClosedPorts,
    LastAddresses,
    Unreachable,
    reach,
)
from rutter.events.policy import Policy

pytestmark = pytest.mark.anyio

ANY = Policy("1")
SHOP = ("https", "shop.example", 443)
SILENT = ("2606:4700::1", "2606:4700::2", "2606:4700::3")
THERE = ("1.1.1.1", "1.0.0.1")


class Writer:
    def __init__(self, address: str) -> None:
        self.address = address
        self.aborted = False
        self.transport = self

    def get_extra_info(self, *_: object) -> tuple[str, int]:
        return (self.address, 443)

    def abort(self) -> None:
        self.aborted = True


class World:
    """Some addresses answer, some say nothing, some refuse."""

    def __init__(self) -> None:
        self.dialled: list[str] = []
        self.given_up: list[str] = []
        self.refusing: set[str] = set()
        self.silent: set[str] = set(SILENT)
        self.answered: list[Writer] = []

    async def open_connection(self, address: str, port: int, **_: object) -> Any:
        self.dialled.append(address)
        if address in self.refusing:
            raise ConnectionRefusedError
        try:
            if address in self.silent:
                await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.given_up.append(address)
            raise
        self.answered.append(Writer(address))
        return None, self.answered[-1]


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    made = World()
    monkeypatch.setattr(asyncio, "open_connection", made.open_connection)
    monkeypatch.setattr(dialer, "STAGGER_S", 0.01)
    return made


async def reached(addresses: Sequence[str], worked: LastAddresses) -> str:
    async def resolve(host: str, port: int) -> Sequence[str]:
        return addresses

    _, writer = await reach(ANY, SHOP, resolve, ClosedPorts((), ()), worked)
    return str(writer.get_extra_info("peername")[0])


async def test_an_address_that_says_nothing_is_not_waited_for(world: World) -> None:
    worked = LastAddresses()
    assert await reached((*SILENT, *THERE), worked) == "1.1.1.1"
    assert world.dialled == ["2606:4700::1", "1.1.1.1"]
    await asyncio.sleep(0)
    assert world.given_up == ["2606:4700::1"]
    world.dialled.clear()
    assert await reached((*SILENT, *THERE), worked) == "1.1.1.1"
    assert world.dialled == ["1.1.1.1"]  # it worked before


async def test_what_worked_before_is_only_tried_while_it_is_the_hosts(world: World) -> None:
    worked = LastAddresses()
    await reached((*SILENT, "1.1.1.1"), worked)
    world.dialled.clear()
    assert await reached(("1.0.0.1", "9.9.9.9"), worked) == "1.0.0.1"
    assert world.dialled == ["1.0.0.1"]


async def test_one_that_refuses_gives_way_at_once_and_all_of_them_are_the_reason(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dialer, "STAGGER_S", 60)
    world.refusing = {"1.1.1.1"}
    assert await reached(THERE, LastAddresses()) == "1.0.0.1"
    world.refusing = set(THERE)
    with pytest.raises(Unreachable, match="CONNECTION_REFUSED"):
        await reached(THERE, LastAddresses())
    monkeypatch.setattr(dialer, "CONNECT_S", 0.05)
    with pytest.raises(Unreachable, match="TIMED_OUT"):
        await reached(SILENT, LastAddresses())
    assert set(world.given_up) <= set(SILENT)


async def test_of_two_that_answer_at_once_one_is_hung_up_on(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dialer, "STAGGER_S", 0)
    await reached(THERE, LastAddresses())
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert [writer.aborted for writer in world.answered].count(False) == 1


async def test_nobody_is_dialled_before_all_are_judged(world: World) -> None:
    with pytest.raises(AddressRefused, match="private"):
        await reached((*THERE, "127.0.0.1"), LastAddresses())
    assert world.dialled == []
