"""Whether a log is what was written: each kind of damage is found, and named by its place."""

from collections import Counter
from collections.abc import Callable
from typing import Any, Final, get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import inspect

from rutter.events.artifacts import naming_fields
from rutter.events.chain import GENESIS, erased, link
from rutter.events.codec import decode
from rutter.events.observer import ScreenshotTaken
from rutter.events.page import Artifact
from rutter.events.planner import PlanWithheld
from rutter.events.runtime import ChainHead, LogSealed, PayloadErased, SessionEnded
from rutter.events.sqlite_schema import Row
from rutter.events.vocabulary import AnyEvent
from rutter.replay import integrity
from rutter.replay.integrity import LogFault, LogFindings, LogInspector, check
from tests.support import golden_logs
from tests.support.case_table import for_each
from tests.support.envelopes import Scribe
from tests.support.example_counts import examples

Rows = list[Row]
SEQ: Final = 0
SESSION: Final = 1
N: Final = 2
AT: Final = 3
ACTOR: Final = 4
CAUSE: Final = 5
KIND: Final = 6
PAYLOAD: Final = 7
HASH: Final = 8


@pytest.fixture
def order() -> Rows:
    """A recording, two runs and the process that ran them, as they really happened."""
    return golden("order")


def golden(name: str) -> Rows:
    return list(golden_logs.rows(name))


def written(*turns: tuple[str, list[AnyEvent]]) -> Rows:
    """A log made by hand, with a true chain."""
    scribe = Scribe()
    records = [record for session, events in turns for record in scribe.turn(session, events)]
    return [
        (e.seq, e.session, e.n, e.at_ns, e.actor, e.cause, e.event.__class__.__name__, p, e.hash)
        for e, p in records
    ]


def changed(row: Row, column: int, value: object) -> Row:
    cells: list[object] = list(row)
    cells[column] = value
    return tuple(cells)  # type: ignore[return-value]


def flip(body: bytes, at: int = 0) -> bytes:
    return body[:at] + bytes([body[at] ^ 1]) + body[at + 1 :]


def place(row: Row) -> tuple[int, str, int]:
    return row[SEQ], row[SESSION], row[N]


def named(found: LogFindings) -> list[tuple[str, int, str, int]]:
    return [(fault.kind, fault.seq, fault.session, fault.n) for fault in found.faults]


def only(found: LogFindings) -> LogFault:
    [fault] = found.faults
    return fault


def renumbered(rows: Rows) -> Rows:
    """As somebody would leave it who closes the gaps: positions are in no hash."""
    return [changed(row, SEQ, seq) for seq, row in enumerate(rows, 1)]


def sessions(rows: Rows) -> list[str]:
    """Those of the work, without that of the process."""
    found = dict.fromkeys(row[SESSION] for row in rows)
    return [name for name in found if not name.startswith("process")]


def rechained(rows: Rows, session: str) -> Rows:
    """A session rewritten by somebody who knows how the chain is made."""
    previous, made = GENESIS, []
    for row in rows:
        if row[SESSION] == session:
            previous = link(
                previous,
                session=session,
                n=row[N],
                at_ns=row[AT],
                actor=row[ACTOR],
                cause=row[CAUSE],
                kind=row[KIND],
                payload=row[PAYLOAD],
            )
            row = changed(row, HASH, previous)
        made.append(row)
    return made


def mentions(info: Any, wanted: type) -> bool:
    """Whether values of this type can hold one of the wanted type, however deep."""
    if isinstance(info, inspect.StructType):
        return info.cls is wanted or any(mentions(field.type, wanted) for field in info.fields)
    inner = [getattr(info, name, ()) for name in ("types", "item_types")]
    inner += [(getattr(info, name),) for name in ("item_type", "value_type") if hasattr(info, name)]
    return any(mentions(each, wanted) for group in inner for each in group)


class TestWhole:
    @for_each("name", golden_logs.names())
    def test_a_log_as_it_was_written_has_no_fault(self, name: str) -> None:
        rows = golden(name)
        found = check(rows)
        assert found.ok
        assert found.events == len(rows)
        assert found.sessions == len({row[SESSION] for row in rows})
        assert (found.unsealed, found.erased) == (0, 0)

    def test_an_empty_log_has_no_fault(self) -> None:
        assert check([]).ok

    def test_what_no_seal_covers_yet_is_counted(self) -> None:
        rows = written(("a", [PlanWithheld("x")] * 3))
        assert (check(rows).ok, check(rows).unsealed) == (True, 3)

    def test_the_heads_are_the_last_hashes_of_the_sessions(self, order: Rows) -> None:
        inspector = LogInspector()
        for row in order:
            inspector.take(row)
        last = {row[SESSION]: (row[N], row[HASH]) for row in order}
        assert {head.session: (head.n, head.hash) for head in inspector.heads()} == last

    def test_every_artifact_that_an_event_can_name_is_looked_for(self) -> None:
        """However deep it is: a workflow has pictures in its steps."""
        for event in get_args(AnyEvent):
            info = inspect.type_info(event)
            assert isinstance(info, inspect.StructType)
            naming = {field.name for field in info.fields if mentions(field.type, Artifact)}
            assert naming == set(naming_fields(event)), event

    def test_artifacts_are_known_by_the_first_event_that_names_them(self) -> None:
        picture = Artifact("ab" * 32, 7)
        inspector = LogInspector()
        shots: list[AnyEvent] = [ScreenshotTaken(picture), ScreenshotTaken(picture)]
        for row in written(("a", shots)):
            inspector.take(row)
        assert inspector.named[picture.sha256].n == 1
        assert inspector.findings().artifacts == 1


class TestChanged:
    @pytest.mark.parametrize("at", [0, 1, 7, 200, 500, -1])
    def test_a_flipped_byte_of_a_payload_is_one_fault_at_its_event(
        self, order: Rows, at: int
    ) -> None:
        row = order[at]
        order[at] = changed(row, PAYLOAD, flip(row[PAYLOAD], len(row[PAYLOAD]) // 2))
        assert named(check(order)) == [("changed", *place(row))]

    @pytest.mark.parametrize("at", [0, 1, 7, 200, 500, -1])
    def test_a_flipped_byte_of_a_hash_is_one_fault_at_its_event(self, order: Rows, at: int) -> None:
        row = order[at]
        order[at] = changed(row, HASH, flip(row[HASH]))
        assert named(check(order)) == [("changed", *place(row))]

    @pytest.mark.parametrize(
        ("column", "value"),
        [(AT, 1_700_000_000_000_000_001), (ACTOR, "person"), (CAUSE, 3), (KIND, "PlanWithheld")],
    )
    def test_a_changed_header_is_one_fault_at_its_event(
        self, order: Rows, column: int, value: object
    ) -> None:
        row = order[100]
        order[100] = changed(row, column, value)
        assert named(check(order)) == [("changed", *place(row))]

    @pytest.mark.parametrize("n", [0, -5, 3, 2**40, 2**70])
    def test_a_changed_number_is_one_fault_that_says_which_event_it_was(
        self, order: Rows, n: int
    ) -> None:
        row = order[100]
        order[100] = changed(row, N, n)
        fault = only(check(order))
        assert (fault.kind, fault.seq, fault.what) == (
            "changed",
            101,
            f"it was written as event {row[N]}",
        )

    def test_a_changed_session_is_found_where_the_event_is_and_where_it_was(
        self, order: Rows
    ) -> None:
        row = order[100]
        order[100] = changed(row, SESSION, "somebody-else")
        found = named(check(order))
        assert ("missing", 102, row[SESSION], row[N]) in found
        assert any(session == "somebody-else" for _, _, session, _ in found)

    @pytest.mark.parametrize(
        ("column", "value"),
        [(N, "7"), (SESSION, None), (SESSION, 7), (PAYLOAD, "text"), (HASH, None), (AT, 1.5)],
    )
    def test_a_column_of_another_type_is_told_as_that(
        self, order: Rows, column: int, value: object
    ) -> None:
        order[100] = changed(order[100], column, value)
        found = check(order)
        assert ("malformed", 101) in [(fault.kind, fault.seq) for fault in found.faults]
        assert len(found.faults) <= 2  # and the gap, where it cannot be told whose row it was

    def test_text_that_is_not_utf_8_is_told_as_changed(self, order: Rows) -> None:
        order[100] = changed(order[100], ACTOR, "plann\udcffr")
        assert named(check(order)) == [("changed", *place(order[100]))]

    def test_two_swapped_payloads_are_two_faults(self, order: Rows) -> None:
        one, other = order[50], order[60]
        order[50], order[60] = (
            changed(one, PAYLOAD, other[PAYLOAD]),
            changed(other, PAYLOAD, one[PAYLOAD]),
        )
        assert named(check(order)) == [("changed", *place(one)), ("changed", *place(other))]


class TestOrder:
    def test_two_swapped_events_of_a_session_are_found(self, order: Rows) -> None:
        one, other = order[50], order[51]
        assert one[SESSION] == other[SESSION]
        order[50], order[51] = changed(other, SEQ, 51), changed(one, SEQ, 52)
        assert named(check(order)) == [("order", 52, one[SESSION], one[N])]

    def test_events_of_two_sessions_that_changed_places_are_found_by_their_times(self) -> None:
        rows = golden("side_by_side")
        at = next(
            at
            for at in range(100, len(rows))
            if rows[at][SESSION] != rows[at + 1][SESSION]
            and rows[at][AT] < rows[at + 1][AT]
            and rows[at][KIND] not in integrity.BEGINNINGS
        )
        one, other = rows[at], rows[at + 1]
        rows[at], rows[at + 1] = changed(other, SEQ, at + 1), changed(one, SEQ, at + 2)
        assert named(check(rows)) == [("order", at + 2, one[SESSION], one[N])]

    def test_a_clock_that_was_set_back_between_two_processes_is_no_fault(self) -> None:
        first, second = golden("order"), golden("free")
        second = [
            changed(changed(row, SEQ, row[SEQ] + len(first)), SESSION, f"later-{row[SESSION]}")
            for row in second
        ]
        for session in {row[SESSION] for row in second}:
            second = rechained(second, session)
        later = [row for row in second if row[KIND] != "LogSealed"]  # its heads have other names
        later = [row for row in later if row[KIND] != "ProcessStopped"]
        assert later[0][KIND] == "ProcessStarted"
        early = [changed(row, AT, row[AT] - 10**18) for row in later]
        for session in {row[SESSION] for row in early}:
            early = rechained(early, session)
        assert check([*first, *early]).faults == ()

    def test_an_event_behind_the_end_of_its_session_is_found(self) -> None:
        end, late = SessionEnded("completed"), PlanWithheld("too late")
        rows = written(("a", [PlanWithheld("x"), end, late]))
        assert named(check(rows)) == [("after_end", 3, "a", 3)]

    def test_an_event_that_is_there_twice_is_found(self, order: Rows) -> None:
        twice = [*order[:51], order[50], *order[51:]]
        found = named(check(renumbered(twice)))
        assert found == [("order", 52, order[50][SESSION], order[50][N])]


class TestMissing:
    @pytest.mark.parametrize("at", [1, 50, 300, 600])
    def test_a_removed_event_is_one_fault_with_its_position_and_number(
        self, order: Rows, at: int
    ) -> None:
        row = order.pop(at)
        assert named(check(order)) == [("missing", *place(row))]

    @pytest.mark.parametrize("at", [1, 50, 300, 600])
    def test_it_is_found_too_when_the_positions_were_closed_up(self, order: Rows, at: int) -> None:
        row = order.pop(at)
        [(kind, _, session, n)] = named(check(renumbered(order)))
        assert (kind, session, n) == ("missing", row[SESSION], row[N])

    def test_several_removed_events_are_one_fault(self, order: Rows) -> None:
        row = order[50]
        del order[50:55]
        fault = only(check(order))
        assert (fault.kind, fault.seq, fault.n) == ("missing", row[SEQ], row[N])
        assert f"events {row[N]} to {row[N] + 4}" in fault.what

    @pytest.mark.parametrize("close_up", [False, True])
    def test_the_removed_last_event_of_a_session_is_found_by_its_seal(
        self, order: Rows, close_up: bool
    ) -> None:
        at = next(at for at, row in enumerate(order) if row[KIND] == "SessionEnded")
        row = order.pop(at)
        [(kind, seq, session, n)] = named(check(renumbered(order) if close_up else order))
        assert (kind, session, n) == ("missing", row[SESSION], row[N])
        assert close_up or seq == row[SEQ]

    def test_the_removed_last_event_of_the_log_is_found(self, order: Rows) -> None:
        last = order.pop()
        assert last[KIND] == "LogSealed"
        assert named(check(order)) == [("unsealed", last[SEQ] - 1, last[SESSION], last[N])]

    @pytest.mark.parametrize("close_up", [False, True])
    @pytest.mark.parametrize("which", [0, 1, 2])
    def test_a_removed_session_is_one_fault_that_names_it(
        self, order: Rows, which: int, close_up: bool
    ) -> None:
        session = sessions(order)[which]
        left = [row for row in order if row[SESSION] != session]
        fault = only(check(renumbered(left) if close_up else left))
        assert (fault.kind, fault.session, fault.n) == ("missing", session, 1)
        assert f"{len(order) - len(left)} events" in fault.what

    def test_positions_that_nothing_explains_are_named(self) -> None:
        rows = written(("a", [PlanWithheld("x")] * 3))
        rows = [changed(row, SEQ, row[SEQ] + (5 if row[SEQ] > 1 else 0)) for row in rows]
        assert named(check(rows)) == [("missing", 2, "", 0)]


class TestSeals:
    def test_a_session_rewritten_with_a_new_chain_is_found_by_its_seal(self, order: Rows) -> None:
        session = sessions(order)[1]
        at = next(at for at, row in enumerate(order) if row[SESSION] == session and row[N] == 5)
        order[at] = changed(order[at], AT, order[at][AT] - 1)
        found = check(rechained(order, session))
        assert {(fault.kind, fault.session) for fault in found.faults} == {("seal", session)}

    def test_a_seal_that_was_overtaken_is_held_against_the_event_it_names(self) -> None:
        """Facts of other sessions are numbered between the counting of heads and the seal."""
        scribe = Scribe()
        turn = scribe.turn("a", [PlanWithheld("1"), PlanWithheld("2"), PlanWithheld("3")])
        second = turn[1].envelope

        def sealed(digest: bytes) -> Rows:
            return written(
                ("a", [PlanWithheld("1"), PlanWithheld("2"), PlanWithheld("3")]),
                ("process", [LogSealed((ChainHead("a", 2, digest),))]),
            )

        assert check(sealed(second.hash)).ok
        assert named(check(sealed(flip(second.hash)))) == [("seal", 3, "a", 2)]


class TestErased:
    def log(self, *more: tuple[str, list[AnyEvent]]) -> Rows:
        said: list[AnyEvent] = [PlanWithheld(f"said {n}") for n in range(1, 6)]
        return written(("a", [*said, SessionEnded("completed")]), *more)

    def erase(self, rows: Rows, *places: int) -> Rows:
        for at in places:
            rows[at] = changed(rows[at], PAYLOAD, erased(rows[at][KIND], rows[at][PAYLOAD]))
        return rows

    def test_payloads_erased_on_the_record_leave_a_whole_log(self) -> None:
        rows = self.log(("process", [PayloadErased("a", 2, "asked to", 4)]))
        found = check(self.erase(rows, 1, 2, 3))
        assert (found.ok, found.erased) == (True, 3)

    def test_a_payload_that_went_with_no_word_is_found(self) -> None:
        rows = self.log(("process", [PayloadErased("a", 2, "asked to")]))
        assert named(check(self.erase(rows, 1, 3))) == [("erased", 4, "a", 4)]

    def test_a_payload_that_was_to_go_and_is_still_there_is_found(self) -> None:
        rows = self.log(("process", [PayloadErased("a", 1, "asked to", 3)]))
        assert named(check(self.erase(rows, 0, 2))) == [("erased", 7, "a", 2)]

    def test_saying_it_twice_covers_nothing_else(self) -> None:
        said: list[AnyEvent] = [PayloadErased("a", 2, "once"), PayloadErased("a", 2, "twice")]
        rows = self.log(("process", said))
        assert named(check(self.erase(rows, 1, 4))) == [("erased", 5, "a", 5)]

    @for_each("session, n, last", [("b", 1, 0), ("a", 0, 0), ("a", 3, 99)])
    def test_a_word_about_events_that_are_not_there_is_found(
        self, session: str, n: int, last: int
    ) -> None:
        rows = self.log(("process", [PayloadErased(session, n, "why", last)]))
        assert named(check(rows)) == [("erased", 7, "process", 1)]

    def test_a_kept_hash_that_was_changed_is_found(self) -> None:
        rows = self.log(("process", [PayloadErased("a", 2, "asked to")]))
        rows = self.erase(rows, 1)
        rows[1] = changed(rows[1], PAYLOAD, flip(rows[1][PAYLOAD], -1 % len(rows[1][PAYLOAD])))
        assert ("changed", 2, "a", 2) in named(check(rows))


class TestUnreadable:
    def test_an_event_of_an_unknown_type_is_named_though_its_chain_holds(self, order: Rows) -> None:
        session = sessions(order)[2]
        at = max(at for at, row in enumerate(order) if row[SESSION] == session) - 3
        payload = msgspec.msgpack.encode({"event": "PageFolded"})
        order[at] = changed(changed(order[at], PAYLOAD, payload), KIND, "PageFolded")
        rows = [row for row in rechained(order, session) if row[KIND] != "LogSealed"]
        fault = check(rows).faults[0]
        assert (fault.kind, fault.seq) == ("unreadable", at + 1)
        assert "PageFolded" in fault.what

    def test_a_type_that_is_not_the_one_in_its_row_is_found(self) -> None:
        rows = written(("a", [PlanWithheld("x")]))
        rows[0] = changed(rows[0], KIND, "SessionPaused")
        assert named(check(rechained(rows, "a"))) == [("changed", 1, "a", 1)]

    def test_damage_without_end_is_counted_and_not_kept(
        self, order: Rows, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(integrity, "MOST_FAULTS", 10)
        found = check([changed(row, PAYLOAD, b"x") for row in order])
        assert (len(found.faults), found.more_faults) == (10, len(order) - 10)


# -- any damage at all -----------------------------------------------------------------------------

LOGS = {name: golden(name) for name in golden_logs.names()}
Damage = Callable[[Rows, st.DataObject], Rows]


def flip_a_bit(rows: Rows, data: st.DataObject) -> Rows:
    at = data.draw(st.integers(0, len(rows) - 1))
    column = data.draw(st.sampled_from([SESSION, N, AT, ACTOR, CAUSE, KIND, PAYLOAD, HASH]))
    value = rows[at][column]
    bit = data.draw(st.integers(0, 7))
    if isinstance(value, int):
        rows[at] = changed(rows[at], column, value ^ (1 << bit))
        return rows
    body = bytearray(value.encode() if isinstance(value, str) else value)
    body[data.draw(st.integers(0, len(body) - 1))] ^= 1 << bit
    text = bytes(body).decode("utf-8", "surrogateescape")
    rows[at] = changed(rows[at], column, text if isinstance(value, str) else bytes(body))
    return rows


def remove_any(rows: Rows, data: st.DataObject) -> Rows:
    del rows[data.draw(st.integers(0, len(rows) - 1))]
    return rows


def remove_and_close_up(rows: Rows, data: st.DataObject) -> Rows:
    return renumbered(remove_any(rows, data))


def swap_any(rows: Rows, data: st.DataObject) -> Rows:
    """Two events of one session: their order between sessions is not in any hash."""
    told = Counter(row[SESSION] for row in rows)  # a process that died says one thing alone
    session = data.draw(st.sampled_from(sorted(name for name in told if told[name] > 1)))
    places = [at for at, row in enumerate(rows) if row[SESSION] == session]
    one, other = data.draw(st.lists(st.sampled_from(places), min_size=2, max_size=2, unique=True))
    rows[one], rows[other] = rows[other], rows[one]
    return renumbered(rows)


@pytest.mark.parametrize("damage", [flip_a_bit, remove_any, remove_and_close_up, swap_any])
@examples(30)
@given(data=st.data())
def test_any_damage_is_found(damage: Damage, data: st.DataObject) -> None:
    rows = damage(list(LOGS[data.draw(st.sampled_from(sorted(LOGS)))]), data)
    assert not check(rows).ok


def test_encoding_is_not_what_is_trusted(order: Rows) -> None:
    """Bytes that decode to the same event are not the bytes that were hashed."""
    row = order[10]
    again = msgspec.msgpack.encode({**msgspec.msgpack.decode(row[PAYLOAD]), "unknown": 1})
    order[10] = changed(row, PAYLOAD, again)
    assert named(check(order)) == [("changed", *place(row))]
    assert decode(again) == decode(row[PAYLOAD])
