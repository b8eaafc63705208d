"""Given sessions of which some are forgotten: the tables say what the others taught, as the model
does, and the story of a session says that it is."""

from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from rutter.actors.predictor.knowledge import Knowledge
from rutter.events.action import Action
from rutter.events.predictor import (
    SessionForgotten,
    TransitionLearned,
    WorkflowDeleted,
    WorkflowLearned,
    WorkflowRenamed,
)
from rutter.events.runtime import SessionEnded
from rutter.events.signature import signature, token
from rutter.events.sqlite_reader import SqliteReader
from rutter.events.vocabulary import AnyEvent
from rutter.events.workflow import Driver
from rutter.replay.projections import ProjectionStore, store
from tests.support import shop_facts
from tests.support.example_counts import examples
from tests.support.timed_log import Ledger

ACTIONS = tuple(shop_facts.click(f"#{name}") for name in "abc")
A, B, C = ACTIONS
COUNTED = {
    "transitions_first_order": "from_action, to_action, count, by_person, by_agent",
    "transitions_second_order": (
        "from_action_1, from_action_2, to_action, count, by_person, by_agent"
    ),
}
Told = tuple[str, AnyEvent]


def learned(action: Action, *after: Action, driver: Driver = "person") -> TransitionLearned:
    before = tuple(token(each) for each in after)
    return TransitionLearned(token(action), signature(action), action, before, driver)


def rows(ledger: Ledger, sql: str) -> list[tuple[object, ...]]:
    with (
        ledger.reader() as reader,
        ProjectionStore(ledger.path.with_name("projections.db")) as made,
    ):
        made.catch_up(reader)
        return made.db.execute(sql).fetchall()


def counted(made: ProjectionStore) -> dict[str, set[tuple[object, ...]]]:
    """The counts, without the numbers of their rows."""
    return {
        table: {*made.db.execute(f"SELECT {columns} FROM {table}")}
        for table, columns in COUNTED.items()
    }


# -- transitions -----------------------------------------------------------------------------------


def test_what_a_session_counted_is_taken_back_by_whom_it_was_done(ledger: Ledger) -> None:
    ledger.write(learned(A), learned(B, A), learned(C, A, B), session="one")
    ledger.write(learned(A), learned(B, A, driver="workflow"), session="two")
    ledger.write(SessionForgotten("one"), session="process")

    first = f"SELECT {COUNTED['transitions_first_order']} FROM transitions_first_order"
    assert rows(ledger, first) == [(token(A), token(B), 1, 0, 1)]
    assert rows(ledger, "SELECT * FROM transitions_second_order") == []


def test_what_was_taken_back_can_be_learned_again(ledger: Ledger) -> None:
    ledger.write(learned(A), learned(B, A), session="one")
    ledger.write(SessionForgotten("one"), session="process")
    ledger.write(learned(C, A), session="two")  # in the row that was freed
    ledger.write(SessionForgotten("one"), session="process")

    assert rows(ledger, "SELECT to_action, count FROM transitions_first_order") == [(token(C), 1)]


def test_a_session_that_nobody_knows_is_forgotten_without_a_trace(ledger: Ledger) -> None:
    ledger.write(learned(B, A), session="one")
    ledger.write(SessionForgotten("nobody"), session="process")

    assert rows(ledger, "SELECT count FROM transitions_first_order") == [(1,)]
    assert rows(ledger, "SELECT why FROM parked") == []


sessions = st.sampled_from(["one", "two", "three", "four"])
taught = st.builds(
    lambda action, after, driver: learned(action, *after, driver=driver),
    st.sampled_from(ACTIONS),
    st.lists(st.sampled_from(ACTIONS), max_size=2),
    st.sampled_from(["person", "workflow"]),
)
logs = st.lists(
    st.one_of(
        st.tuples(sessions, taught),
        st.tuples(st.just("process"), st.builds(SessionForgotten, sessions)),
    ),
    max_size=30,
)


def without(log: list[Told]) -> list[Told]:
    """The log as if what was forgotten had never been taught. It is forgotten once its session
    is closed; here one goes on, and what it teaches then counts."""
    kept: list[Told] = []
    for session, event in log:
        if isinstance(event, SessionForgotten):
            kept = [each for each in kept if each[0] != event.session]
        else:
            kept.append((session, event))
    return kept


@examples(40)
@given(logs, st.data())
def test_the_counts_are_those_of_a_log_without_it(log: list[Told], data: st.DataObject) -> None:
    with TemporaryDirectory() as name:
        root = Path(name)
        with (
            Ledger(root / "log.db") as ledger,
            ledger.reader() as reader,
            ProjectionStore(root / "live.db") as live,
        ):
            for session, event in log:
                ledger.write(event, session=session)
                if data.draw(st.booleans(), "catch up"):
                    with patch.object(store, "BATCH", data.draw(st.integers(1, 5), "batch")):
                        live.catch_up(reader)
            live.catch_up(reader)
            bit_by_bit, found = live.dump(), counted(live)
            live.rebuild(reader)
            assert live.dump() == bit_by_bit
        with Ledger(root / "other.db") as other:
            for session, event in without(log):
                other.write(event, session=session)
            with other.reader() as reader, ProjectionStore(root / "other-tables.db") as made:
                made.catch_up(reader)
                assert counted(made) == found


@examples(25)
@given(logs)
def test_the_counts_are_still_the_models_own(log: list[Told]) -> None:
    """Sessions end before they are forgotten: the model knows no other."""
    over: set[str] = set()
    with TemporaryDirectory() as name, Ledger(Path(name) / "log.db") as ledger:
        for session, event in log:
            if session not in over:
                ledger.write(event, session=session)
            if isinstance(event, SessionForgotten):
                over.add(event.session)
        with ledger.reader() as reader, ProjectionStore(Path(name) / "p.db") as made:
            made.catch_up(reader)
            pairs = made.db.execute(
                "SELECT from_action, to_action, count FROM transitions_first_order"
            ).fetchall()
            model = known(reader)
    by_action: dict[str, int] = {}
    for before, _, count in pairs:
        by_action[before] = by_action.get(before, 0) + count
    for before, to, count in pairs:
        [share] = [each.probability for each in model.as_seeds((before,), 9) if each.token == to]
        assert abs(share * by_action[before] - count * 1_000_000) <= by_action[before]
    for action in ACTIONS:
        if token(action) not in by_action:
            assert model.as_seeds((token(action),), 9) == ()


def known(reader: SqliteReader) -> Knowledge:
    knowledge = Knowledge()
    for envelope in reader.read():
        knowledge.take_in(envelope)
    knowledge.open_turn(reader.last_seq() + 1)
    return knowledge


# -- workflows and sessions ------------------------------------------------------------------------


def version(number: int, name: str = "order") -> WorkflowLearned:
    flow = shop_facts.workflow(shop_facts.step(A), session="record-1")
    return WorkflowLearned(msgspec.structs.replace(flow, name=name, version=number))


VERSIONS = "SELECT name, version FROM workflows ORDER BY name, version"


def test_the_versions_that_a_session_taught_go_and_the_others_stay(ledger: Ledger) -> None:
    ledger.write(version(1), session="record-1")
    ledger.write(version(2), session="run-2")
    ledger.write(version(3), session="process")  # changed by a person, recorded in record-1
    ledger.write(SessionForgotten("record-1"), session="process")

    assert rows(ledger, VERSIONS) == [("order", 2), ("order", 3)]


def test_it_goes_under_the_name_that_it_has_by_then(ledger: Ledger) -> None:
    ledger.write(version(1), session="record-1")
    ledger.write(version(1, "refund"), session="record-2")
    ledger.write(WorkflowRenamed("order", "buy"), session="process")
    ledger.write(SessionForgotten("record-1"), WorkflowDeleted("buy"), session="process")

    assert rows(ledger, VERSIONS) == [("refund", 1)]


def test_the_tables_and_the_model_know_the_same_versions(ledger: Ledger) -> None:
    ledger.write(version(1), session="record-1")
    ledger.write(version(2), session="run-2")
    ledger.write(SessionForgotten("run-2"), session="process")
    with ledger.reader() as reader:
        knowledge = known(reader)

    assert rows(ledger, VERSIONS) == [("order", 1)]
    assert knowledge.is_newest("order", 1)
    assert knowledge.next_version("order") == 3  # a number is never given twice


def test_when_a_session_was_forgotten_stands_in_its_row(ledger: Ledger) -> None:
    for name in ("run-1", "run-2"):
        ledger.write(shop_facts.run_of(None), SessionEnded("completed"), session=name)
    ledger.write(SessionForgotten("run-1"), session="process", ms=7)
    ledger.write(SessionForgotten("run-1"), session="process", ms=7)  # the first one counts

    at = rows(ledger, "SELECT session, forgotten_ns - started_ns FROM sessions ORDER BY seq")
    assert at == [("run-1", 7_000_000), ("run-2", None)]
