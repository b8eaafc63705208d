"""What every store of events must do: one contract, held against each of them."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rutter.events.codec import encode
from rutter.events.envelope import Envelope, Record, kind
from rutter.events.errors import LogCorrupt, LogWriteFailed
from rutter.events.log import MAX_TURN, EventLog
from rutter.events.memory_log import MemoryLog
from rutter.events.planner import PlanWithheld
from rutter.events.runtime import SessionPaused, SessionResumed
from rutter.events.sqlite_log import SqliteLog
from rutter.events.vocabulary import AnyEvent
from tests.support.chain_links import check_link
from tests.support.envelopes import Scribe, marked_turn
from tests.support.example_counts import examples

STORES = ["memory", "sqlite"]


async def open_log(store: str, directory: Path) -> EventLog:
    return MemoryLog() if store == "memory" else await SqliteLog.open(directory / "log.db")


@pytest.fixture(params=STORES)
async def log(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[EventLog]:
    opened = await open_log(request.param, tmp_path)
    yield opened
    await opened.close()


@pytest.fixture
def scribe() -> Scribe:
    return Scribe()


def withheld(count: int) -> list[AnyEvent]:
    return [PlanWithheld(f"reason {number}") for number in range(count)]


async def everything(log: EventLog) -> list[Envelope]:
    return [envelope async for envelope in log.read()]


def envelopes(*turns: list[Record]) -> list[Envelope]:
    return [record.envelope for turn in turns for record in turn]


@pytest.mark.anyio
class TestEveryLog:
    async def test_begins_at_one_and_is_empty(self, log: EventLog) -> None:
        assert log.next_seq == 1
        assert await everything(log) == []

    async def test_gives_back_what_was_appended_in_order(
        self, log: EventLog, scribe: Scribe
    ) -> None:
        turns = [scribe.turn(f"session {number % 3}", withheld(4)) for number in range(10)]
        for turn in turns:
            await log.append(turn)
        assert await everything(log) == envelopes(*turns)

    async def test_counts_what_was_handed_in_before_it_is_on_disk(
        self, log: EventLog, scribe: Scribe
    ) -> None:
        first = log.append(scribe.turn("a", withheld(3)))
        assert log.next_seq == 4
        second = log.append(scribe.turn("b", withheld(2)))
        assert log.next_seq == 6
        await second
        assert first.done(), "turns are acknowledged in the order they were handed in"

    async def test_acknowledges_every_turn_of_many_handed_in_at_once(
        self, log: EventLog, scribe: Scribe
    ) -> None:
        turns = [scribe.turn(f"session {number}", withheld(3)) for number in range(200)]
        await asyncio.gather(*[log.append(turn) for turn in turns])
        assert await everything(log) == envelopes(*turns)

    async def test_keeps_a_turn_whose_writer_stopped_waiting(
        self, log: EventLog, scribe: Scribe
    ) -> None:
        turn = scribe.turn("a", withheld(2))
        log.append(turn).cancel()
        await log.append(later := scribe.turn("a", withheld(1)))
        assert await everything(log) == envelopes(turn, later)

    async def test_reads_on_from_a_position(self, log: EventLog, scribe: Scribe) -> None:
        await log.append(turn := scribe.turn("a", withheld(5)))
        assert [envelope async for envelope in log.read(3)] == envelopes(turn)[3:]
        assert [envelope async for envelope in log.read(5)] == []
        assert [envelope async for envelope in log.read(99)] == []

    async def test_reads_one_session_some_kinds_or_both(
        self, log: EventLog, scribe: Scribe
    ) -> None:
        events: list[AnyEvent] = [SessionPaused("me"), SessionResumed("me"), PlanWithheld("no")]
        for session in ("a", "b", "a"):
            await log.append(scribe.turn(session, events))

        async def seqs(
            after: int = 0, session: str | None = None, kinds: list[str] | None = None
        ) -> list[int]:
            return [e.seq async for e in log.read(after, session=session, kinds=kinds)]

        assert await seqs(session="a") == [1, 2, 3, 7, 8, 9]
        assert await seqs(kinds=["PlanWithheld"]) == [3, 6, 9]
        assert await seqs(kinds=["SessionPaused", "SessionResumed"]) == [1, 2, 4, 5, 7, 8]
        assert await seqs(3, "a", ["PlanWithheld", "SessionPaused"]) == [7, 9]
        assert await seqs(session="nobody") == await seqs(kinds=[]) == []

    async def test_refuses_a_turn_that_does_not_continue_it_and_loses_nothing(
        self, log: EventLog, scribe: Scribe
    ) -> None:
        await log.append(first := scribe.turn("a", withheld(3)))
        right = scribe.turn("a", withheld(2))
        gap, repeated = Scribe(5).turn("b", withheld(1)), Scribe(3).turn("b", withheld(1))
        for wrong in (gap, repeated, [right[1]], [right[0], right[0]], right[::-1]):
            with pytest.raises(LogCorrupt):
                log.append(wrong)
        assert log.next_seq == 4
        await log.append(right)
        assert await everything(log) == envelopes(first, right)

    @pytest.mark.parametrize("change", [{"session": "b"}, {"n": 7}, {"n": 1}])
    async def test_refuses_a_turn_that_is_not_of_one_piece(
        self, log: EventLog, scribe: Scribe, change: dict[str, object]
    ) -> None:
        first, (envelope, payload) = scribe.turn("a", withheld(2))
        with pytest.raises(LogCorrupt):
            log.append([first, Record(msgspec.structs.replace(envelope, **change), payload)])
        assert log.next_seq == 1

    @pytest.mark.parametrize("length", [0, MAX_TURN + 1])
    async def test_refuses_a_turn_of_no_or_too_many_events(
        self, log: EventLog, scribe: Scribe, length: int
    ) -> None:
        with pytest.raises(LogCorrupt):
            log.append(scribe.turn("a", withheld(length)))
        await log.append(Scribe().turn("a", withheld(1)))

    async def test_takes_the_longest_turns_behind_any_others(
        self, log: EventLog, scribe: Scribe
    ) -> None:
        lengths = [MAX_TURN, 1, MAX_TURN // 2 - 1, MAX_TURN, MAX_TURN, 2]
        turns = [scribe.turn("a", withheld(length)) for length in lengths]
        await asyncio.gather(*[log.append(turn) for turn in turns])
        assert await everything(log) == envelopes(*turns)

    async def test_takes_thousands_of_turns_at_once(self, log: EventLog, scribe: Scribe) -> None:
        turns = [scribe.turn(f"session {n % 7}", withheld(1)) for n in range(3_000)]
        await asyncio.gather(*[log.append(turn) for turn in turns])
        assert await everything(log) == envelopes(*turns)

    async def test_carries_the_chain_of_every_session(self, log: EventLog, scribe: Scribe) -> None:
        for number in range(20):
            await log.append(scribe.turn(f"session {number % 3}", withheld(3)))
        for session in range(3):
            previous = None
            async for envelope in log.read(session=f"session {session}"):
                check_link(previous, envelope, encode(envelope.event))
                previous = envelope.hash
            assert previous is not None

    async def test_closes_only_after_what_was_handed_in(
        self, log: EventLog, scribe: Scribe
    ) -> None:
        handed_in = [log.append(scribe.turn("a", withheld(2))) for _ in range(50)]
        await log.close()
        assert all(future.done() and future.exception() is None for future in handed_in)

    async def test_refuses_everything_once_it_is_closed(
        self, log: EventLog, scribe: Scribe
    ) -> None:
        await log.append(scribe.turn("a", withheld(1)))
        await log.close()
        for _ in range(2):
            with pytest.raises(LogWriteFailed, match="closed"):
                await log.append(scribe.turn("a", withheld(1)))
        assert log.next_seq == 2

    async def test_may_be_closed_twice(self, log: EventLog) -> None:
        await asyncio.gather(log.close(), log.close())
        await log.close()


turns_of_sessions = st.lists(st.tuples(st.sampled_from("abc"), st.integers(1, 5)), max_size=12)


@pytest.mark.parametrize("store", STORES)
@examples(25)
@given(turns=turns_of_sessions, after=st.integers(0, 40), session=st.sampled_from("abc"))
def test_any_turns_are_read_as_a_list_would_be(
    store: str, turns: list[tuple[str, int]], after: int, session: str
) -> None:
    async def check(directory: Path) -> None:
        log, scribe = await open_log(store, directory), Scribe()
        made = [scribe.turn(name, marked_turn(1, ["x"] * size)) for name, size in turns]
        await asyncio.gather(*[log.append(turn) for turn in made])
        expected = [e for e in envelopes(*made) if e.seq > after and e.session == session]
        read = log.read(after, session=session, kinds=["ActionDone"])
        assert [envelope async for envelope in read] == expected
        assert {kind(envelope.event) for envelope in expected} <= {"ActionDone"}
        await log.close()

    with TemporaryDirectory() as directory:
        asyncio.run(check(Path(directory)))
