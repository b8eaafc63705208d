"""Events as they happen: each once, in order, for whoever watches, however slowly."""

import anyio
import pytest

from rutter.events.jobs import JobEnded
from rutter.events.memory_log import MemoryLog
from rutter.events.runtime import SessionEnded
from rutter.pipeline.app import App
from rutter.pipeline.clock import CountingClock
from rutter.pipeline.daemon.live.feed import Feed

pytestmark = pytest.mark.anyio


async def test_whoever_watches_hears_what_was_and_what_comes_and_goes_on_where_they_left() -> None:
    log = MemoryLog()
    async with App.open(log, clock=CountingClock()) as app:
        feed = Feed(log)
        app.listen(feed.hear)
        await app.say_process(JobEnded("a", "completed"))
        heard: list[str] = []
        last = 0

        async def watch(after: int, upto: str) -> None:
            nonlocal last
            async for envelope in feed.follow(after=after):
                assert envelope is not None
                last = envelope.seq
                if isinstance(envelope.event, JobEnded):
                    heard.append(envelope.event.job)
                    if envelope.event.job == upto:
                        return

        async with anyio.create_task_group() as group:
            group.start_soon(watch, 0, "c")
            await anyio.wait_all_tasks_blocked()
            await app.say_process(JobEnded("b", "completed"))
            await app.say_process(JobEnded("c", "completed"))
        assert heard == ["a", "b", "c"]
        await app.say_process(JobEnded("d", "completed"))
        await watch(last, "d")
        assert heard == ["a", "b", "c", "d"]


async def test_a_stream_in_which_nothing_happens_says_that_it_is_there() -> None:
    log = MemoryLog()
    async with App.open(log, clock=CountingClock()):
        feed = Feed(log)
        stream = feed.follow("nobody", beat_s=0.01)
        assert await anext(stream) is None
        assert await anext(stream) is None
        await stream.aclose()  # type: ignore[attr-defined]


async def test_the_stream_of_a_session_ends_with_it() -> None:
    log = MemoryLog()
    async with App.open(log, clock=CountingClock()) as app:
        feed = Feed(log)
        app.listen(feed.hear)
        first, *_ = [each async for each in log.read()]
        process = first.session
        await app.say_process(SessionEnded("completed"))
        told = [each async for each in feed.follow(process)]
        assert told[-1] is not None
        assert isinstance(told[-1].event, SessionEnded)
