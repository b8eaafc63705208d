"""The hash chain: a changed, reordered or removed event is found."""

import hashlib
from collections.abc import Sequence

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rutter.events.chain import GENESIS, payload_hash
from rutter.events.codec import pack
from rutter.events.envelope import Record
from rutter.events.errors import LogCorrupt
from rutter.events.planner import PlanWithheld
from tests.support.case_table import for_each
from tests.support.chain_links import check_link
from tests.support.envelopes import Scribe, marked_turn


def chain(length: int = 5) -> list[Record]:
    texts = [f"event {number}" for number in range(length)]
    return Scribe().turn("session", marked_turn(1, texts))


def verify(records: Sequence[Record]) -> None:
    previous = None
    for envelope, payload in records:
        check_link(previous, envelope, payload)
        previous = envelope.hash


def test_a_chain_as_it_was_written_verifies() -> None:
    verify(chain())


@given(st.integers(0, 4), st.data())
def test_a_changed_payload_is_found(place: int, data: st.DataObject) -> None:
    records = chain()
    envelope, payload = records[place]
    at = data.draw(st.integers(0, len(payload) - 1))
    flipped = payload[at] ^ data.draw(st.integers(1, 255))
    records[place] = Record(envelope, payload[:at] + bytes([flipped]) + payload[at + 1 :])
    with pytest.raises(LogCorrupt, match=f"event {place + 1} of session session"):
        verify(records)


@for_each("place", range(5))
@for_each(
    "field, value",
    [
        ("session", "another"),
        ("n", 99),
        ("at_ns", 1),
        ("actor", "person"),
        ("cause", 99),
        ("event", PlanWithheld("of another kind")),
        ("hash", bytes(32)),
    ],
)
def test_a_changed_header_is_found(place: int, field: str, value: object) -> None:
    records = chain()
    envelope, payload = records[place]
    records[place] = Record(msgspec.structs.replace(envelope, **{field: value}), payload)
    with pytest.raises(LogCorrupt):
        verify(records)


def test_the_place_in_the_whole_log_is_in_no_hash() -> None:
    """Many machines may share one log one day: `seq` is theirs to give."""
    moved = [
        Record(msgspec.structs.replace(envelope, seq=envelope.seq + 100), payload)
        for envelope, payload in chain()
    ]
    verify(moved)


@given(st.permutations(range(5)))
def test_another_order_is_found(order: list[int]) -> None:
    records = chain()
    if order == sorted(order):
        return
    with pytest.raises(LogCorrupt):
        verify([records[place] for place in order])


@for_each("place", range(4))
def test_a_removed_event_is_found_by_the_one_behind_it(place: int) -> None:
    records = chain()
    del records[place]
    with pytest.raises(LogCorrupt, match=f"event {place + 2} of session session"):
        verify(records)


def test_an_event_of_another_session_cannot_be_slipped_in() -> None:
    records = chain()
    other = Scribe().turn("other", marked_turn(1, ["event 0"]))
    with pytest.raises(LogCorrupt):
        verify([*records[:2], *other, *records[2:]])


def test_a_payload_can_go_and_its_hash_alone_still_carries_the_chain() -> None:
    """What `PayloadErased` leaves: the next event follows from the hash, not from the payload."""
    first, second = chain(2)
    header = pack(("session", 2, second.envelope.at_ns, "runtime", 1, "ActionDone"))
    kept = payload_hash(second.payload)
    assert hashlib.sha256(first.envelope.hash + header + kept).digest() == second.envelope.hash


def test_the_first_event_of_a_session_follows_from_nothing() -> None:
    (first,) = chain(1)
    check_link(GENESIS, *first)
    with pytest.raises(LogCorrupt):
        check_link(b"\x01" * 32, *first)
