"""Given a bounded queue: what goes in comes out, and all of it is counted."""

import asyncio

import anyio
import pytest

from rutter.pipeline.runtime.mailbox import Mailbox, MailboxStatistics
from tests.support.until_true import until

pytestmark = pytest.mark.anyio


async def test_what_goes_in_comes_out_in_order() -> None:
    box: Mailbox[int] = Mailbox("box", 5)
    await box.put(1)
    box.put_nowait(2)
    assert box.statistics().size
    assert [await box.get(), await box.get()] == [1, 2]
    assert not box.statistics().size


async def test_it_says_how_full_it_is_and_was() -> None:
    box: Mailbox[str] = Mailbox("planner", 4)
    for letter in "abc":
        await box.put(letter)
    await box.get()
    assert box.statistics() == MailboxStatistics("planner", size=2, limit=4, most=3, total=3)


async def test_a_full_one_makes_the_sender_wait() -> None:
    box: Mailbox[int] = Mailbox("box", 1)
    await box.put(1)
    sent = anyio.Event()

    async def send() -> None:
        await box.put(2)
        sent.set()

    async with anyio.create_task_group() as group:
        group.start_soon(send)
        for _ in range(10):
            await anyio.sleep(0)
        assert not sent.is_set()
        assert box.statistics().total == 1
        assert await box.get() == 1
        await until(sent.is_set)
    assert box.statistics() == MailboxStatistics("box", size=1, limit=1, most=1, total=2)


async def test_a_full_one_refuses_who_cannot_wait() -> None:
    box: Mailbox[int] = Mailbox("box", 1)
    box.put_nowait(1)
    with pytest.raises(asyncio.QueueFull):
        box.put_nowait(2)
    assert box.statistics().total == 1
