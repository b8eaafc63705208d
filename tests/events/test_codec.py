"""Events to bytes and back, for every type there is."""

import contextlib
from typing import Any, get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rutter.events.codec import decode, encode, to_json
from rutter.events.envelope import Envelope, kind
from rutter.events.errors import EventUnknown, LogCorrupt
from rutter.events.event import Event
from rutter.events.planner import PlanWithheld
from rutter.events.runtime import SessionStarted
from rutter.events.upcast import with_causes
from rutter.events.vocabulary import AnyEvent
from tests.support.any_values import from_struct
from tests.support.case_table import for_each
from tests.support.example_counts import examples

EVENT_TYPES: tuple[type[Event], ...] = get_args(AnyEvent)
any_event = st.sampled_from(EVENT_TYPES).flatmap(from_struct)


def with_field(event: Any, name: str, value: object) -> bytes:
    """The bytes of an event with one field set to whatever we like."""
    return msgspec.msgpack.encode({**msgspec.msgpack.decode(encode(event)), name: value})


@for_each("event_type", EVENT_TYPES)
@examples(15)
@given(data=st.data())
def test_every_event_comes_back_as_it_was(event_type: type[Event], data: st.DataObject) -> None:
    event = with_causes(data.draw(from_struct(event_type)))
    payload = encode(event)
    assert decode(payload) == event
    assert type(decode(payload)) is event_type
    assert encode(decode(payload)) == payload


@given(any_event, st.binary(min_size=32, max_size=32))
def test_an_envelope_comes_back_from_its_json(event: AnyEvent, digest: bytes) -> None:
    envelope = Envelope(1, "session", 1, 1_700_000_000_000_000_000, "runtime", 0, event, digest)
    assert msgspec.json.decode(to_json(envelope), type=Envelope) == envelope


@given(from_struct(SessionStarted), st.data())
def test_the_order_in_which_a_dict_was_filled_does_not_matter(
    event: SessionStarted, data: st.DataObject
) -> None:
    shuffled = dict(data.draw(st.permutations(list(event.values.items()))))
    assert encode(msgspec.structs.replace(event, values=shuffled)) == encode(event)


def test_what_is_as_by_default_takes_no_room() -> None:
    assert msgspec.msgpack.decode(encode(PlanWithheld("why"))) == {
        "event": "PlanWithheld",
        "reason": "why",
    }


def test_tags_are_unique_and_are_the_names_of_their_types() -> None:
    tags = [kind(event_type) for event_type in EVENT_TYPES]
    assert len(set(tags)) == len(tags)
    assert tags == [event_type.__name__ for event_type in EVENT_TYPES]


def test_every_tag_is_written_out_so_that_renaming_a_type_does_not_rename_its_events() -> None:
    for event_type in EVENT_TYPES:
        assert isinstance(event_type.__struct_config__.tag, str)
        assert event_type.__struct_config__.tag_field == "event"


@given(any_event)
def test_an_event_of_a_type_we_do_not_know_is_told_as_that(event: AnyEvent) -> None:
    with pytest.raises(EventUnknown, match="PageFolded"):
        decode(with_field(event, "event", "PageFolded"))


@pytest.mark.parametrize(
    "payload",
    [
        with_field(PlanWithheld("why"), "reason", 7),
        with_field(PlanWithheld("why"), "event", 7),
        msgspec.msgpack.encode({"event": "PlanWithheld"}),
        msgspec.msgpack.encode({"reason": "why"}),
        msgspec.msgpack.encode(["PlanWithheld", "why"]),
        encode(PlanWithheld("why"))[:-1],
        encode(PlanWithheld("why")).replace(b"why", b"\xff\xff\xff"),
        b"\x82\xa5event\xacPlanWithheld\xa1z" + b"\x91" * 200_000,
        b"",
    ],
    ids=["field", "tag", "missing", "untagged", "array", "cut", "text", "deep", "empty"],
)
def test_bytes_that_do_not_fit_their_type_are_told_as_corrupt(payload: bytes) -> None:
    with pytest.raises(LogCorrupt) as told:
        decode(payload)
    assert not isinstance(told.value, EventUnknown)


@given(st.binary(max_size=200))
def test_no_bytes_make_the_decoder_raise_anything_else(noise: bytes) -> None:
    with pytest.raises(LogCorrupt):
        decode(noise)


@given(any_event, st.data())
def test_a_damaged_payload_is_an_event_or_is_told_as_corrupt(
    event: AnyEvent, data: st.DataObject
) -> None:
    payload = bytearray(encode(event))
    place = data.draw(st.integers(0, len(payload) - 1))
    payload[place] = data.draw(st.integers(0, 255))
    with contextlib.suppress(LogCorrupt):
        decode(bytes(payload))


@given(any_event)
def test_a_field_of_a_newer_version_is_passed_over(event: AnyEvent) -> None:
    decoded = decode(with_field(event, "added_in_the_next_version", 1))
    assert decoded == with_causes(event)
