"""The calibration table: which prediction was right, and which says nothing."""

from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rutter.events.action import Action, Parameter, Secret, Value
from rutter.events.critic import OutcomeUnknown, Verdict
from rutter.events.planner import PlanProposed
from rutter.events.predictor import (
    Candidate,
    PredictionMade,
    SessionForgotten,
    TransitionLearned,
    TransitionUndone,
)
from rutter.events.runtime import SessionEnded
from rutter.events.signature import doing, signature, token
from rutter.events.validator import ActionRejected, ApprovalRequested
from rutter.events.vocabulary import AnyEvent
from rutter.events.workflow import Driver
from rutter.replay.projections import ProjectionStore
from rutter.replay.projections.calibration import ExecutionCounts, executions, models, settled
from rutter.replay.whatif import ScoredPrediction
from tests.support import shop_facts, step_kinds
from tests.support.example_counts import examples
from tests.support.timed_log import Ledger

BUY, PAY, SHIP = (shop_facts.click(f"#{name}") for name in ("buy", "pay", "ship"))
STATE = ("calibration_open", "calibration_acting", "calibration_right")


def folded(ledger: Ledger) -> ProjectionStore:
    made = ProjectionStore(ledger.path.with_name("projections.db"))
    with ledger.reader() as reader:
        made.catch_up(reader)
    assert made.parked() == []
    return made


def rows(ledger: Ledger, columns: str = "probability, correct, acted") -> list[tuple[object, ...]]:
    with folded(ledger) as made:
        return made.db.execute(f"SELECT {columns} FROM calibration ORDER BY seq").fetchall()


def done_alone(ledger: Ledger, *, asked: bool = False) -> ExecutionCounts:
    with folded(ledger) as made:
        return executions(made.db, "foresight", asked=asked)


def predicted(action: Action, probability: int = 900_000, *others: Action) -> PredictionMade:
    ranked = tuple(
        Candidate(doing(each), each, probability // (place + 1), "blend")
        for place, each in enumerate((action, *others))
    )
    return PredictionMade("foresight", 7, ranked, generation=2)


def learned(action: Action, driver: Driver = "person") -> TransitionLearned:
    return TransitionLearned(token(action), signature(action), action, driver=driver)


def undone(action: Action, why: str = "went_back") -> TransitionUndone:
    return TransitionUndone(token(action), why)  # type: ignore[arg-type]


def acted(action: Action, verdict: Verdict = "confirmed", number: int = 1) -> tuple[AnyEvent, ...]:
    """Predicted, done because of it, and judged."""
    return (
        predicted(action),
        shop_facts.plan(action, "prediction", number=number),
        shop_facts.intent(action, number),
        shop_facts.judged(verdict, number),
    )


# -- what somebody else did ------------------------------------------------------------------------


def test_a_prediction_is_a_row_when_the_next_action_that_counts_has_come(ledger: Ledger) -> None:
    ledger.write(shop_facts.run_of(None), predicted(BUY, 800_000))
    assert rows(ledger) == []

    ledger.write(learned(BUY), predicted(PAY, 600_000, BUY), learned(BUY))
    columns = "seq, session, model, generation, probability, correct, acted, asked"
    assert rows(ledger, columns) == [
        (2, "run-1", "foresight", 2, 800_000, 1, 0, 0),
        (4, "run-1", "foresight", 2, 600_000, 0, 0, 0),
    ]


def test_only_the_last_prediction_before_an_action_is_about_it(ledger: Ledger) -> None:
    ledger.write(predicted(PAY, 100_000), predicted(BUY, 700_000), learned(BUY), learned(PAY))

    assert rows(ledger) == [(700_000, 1, 0)]


def test_nothing_predicted_is_no_row_and_an_older_prediction_is_not_about_this_page(
    ledger: Ledger,
) -> None:
    ledger.write(predicted(BUY), PredictionMade("foresight", 7), learned(BUY))

    assert rows(ledger) == []


@pytest.mark.parametrize(
    "value", [Parameter("customer"), Secret("customer"), Parameter("buyer"), None]
)
def test_what_a_typed_parameter_is_named_does_not_matter(
    ledger: Ledger, value: Value | None
) -> None:
    typed = shop_facts.fill("#name", Parameter("customer"))
    ledger.write(predicted(typed), learned(msgspec.structs.replace(typed, value=value)))

    assert rows(ledger, "correct") == [(1,)]


def test_sessions_side_by_side_are_settled_each_by_its_own(ledger: Ledger) -> None:
    ledger.write(predicted(BUY, 1), session="a")
    ledger.write(predicted(PAY, 2), session="b")
    ledger.write(learned(PAY), session="a")
    ledger.write(learned(PAY), session="b")

    assert rows(ledger, "session, probability, correct") == [("a", 1, 0), ("b", 2, 1)]


def test_a_session_that_ended_leaves_nothing_open(ledger: Ledger) -> None:
    ledger.write(*acted(PAY), predicted(BUY), learned(BUY), predicted(BUY))
    ledger.write(SessionEnded("cancelled"), learned(BUY))

    assert len(rows(ledger)) == 2
    with folded(ledger) as made:
        assert [made.dump()[table] for table in STATE] == [[], [], []]


# -- what a person took back -----------------------------------------------------------------------


def test_what_was_taken_back_right_away_was_not_right(ledger: Ledger) -> None:
    ledger.write(predicted(BUY), learned(BUY), predicted(PAY), undone(BUY))

    assert rows(ledger, "correct") == [(0,)]


def test_a_full_name_and_a_bare_one_take_back_the_same(ledger: Ledger) -> None:
    typed = shop_facts.fill("#name", Parameter("customer"))
    for taken_back in (token(typed), doing(typed)):
        ledger.write(predicted(typed), learned(typed), TransitionUndone(taken_back, "undo_key"))

    assert rows(ledger, "correct") == [(0,), (0,)]


def test_only_what_was_done_last_is_taken_back(ledger: Ledger) -> None:
    ledger.write(predicted(BUY), learned(BUY), predicted(PAY), learned(PAY), undone(PAY))
    ledger.write(predicted(SHIP), learned(SHIP), undone(PAY))

    assert rows(ledger, "correct") == [(1,), (0,), (1,)]


def test_the_same_again_unforeseen_and_taken_back_leaves_the_first_as_it_was(
    ledger: Ledger,
) -> None:
    ledger.write(predicted(BUY), learned(BUY), predicted(PAY), learned(BUY), undone(BUY))
    ledger.write(predicted(BUY), learned(BUY), PredictionMade("foresight", 7), learned(BUY))
    ledger.write(undone(BUY))

    assert rows(ledger, "correct") == [(1,), (0,), (1,)]


def test_what_is_taken_back_twice_is_taken_back_once(ledger: Ledger) -> None:
    ledger.write(predicted(BUY), learned(BUY), undone(BUY), predicted(BUY), undone(BUY))
    ledger.write(learned(BUY))

    assert rows(ledger, "correct") == [(0,), (1,)]


def test_a_person_who_says_no_takes_nothing_back_that_was_done(ledger: Ledger) -> None:
    ledger.write(predicted(BUY), learned(BUY), predicted(BUY), shop_facts.plan(BUY, "prediction"))
    ledger.write(undone(BUY, "refused"))

    assert rows(ledger) == [(900_000, 1, 0)]


# -- what was done because it was predicted --------------------------------------------------------


def test_what_was_done_because_it_was_predicted_is_an_execution_and_no_test(ledger: Ledger) -> None:
    ledger.write(*acted(BUY), *acted(PAY, "no_effect", 2), *acted(SHIP, "unknown", 3))

    assert rows(ledger) == [(900_000, 1, 1), (900_000, 0, 1), (900_000, 0, 1)]
    assert done_alone(ledger) == ExecutionCounts(acted=3, confirmed=1, wrong=2, unjudged=0)
    with folded(ledger) as made:
        assert settled(made.db, "foresight") == []


def test_what_was_held_back_until_the_end_was_verified_settles_nothing(ledger: Ledger) -> None:
    """It is learned when the last prediction of the session is still open."""
    ledger.write(*acted(BUY), predicted(PAY), learned(BUY, "prediction"))
    assert rows(ledger) == [(900_000, 1, 1)]

    ledger.write(predicted(PAY), learned(PAY, "model"))
    assert rows(ledger) == [(900_000, 1, 1), (900_000, 1, 0)]


def test_an_execution_that_a_person_took_back_was_wrong(ledger: Ledger) -> None:
    ledger.write(*acted(BUY), predicted(PAY), undone(BUY, "turned_back"))

    assert done_alone(ledger) == ExecutionCounts(acted=1, confirmed=0, wrong=1, unjudged=0)


def test_a_second_try_is_the_same_execution_and_the_last_verdict_holds(ledger: Ledger) -> None:
    ledger.write(*acted(BUY, "failed"), predicted(BUY, 950_000))
    ledger.write(shop_facts.plan(BUY, "prediction", attempt=2), shop_facts.intent(BUY, attempt=2))
    ledger.write(shop_facts.judged(attempt=2), learned(PAY))

    assert rows(ledger) == [(900_000, 1, 1)]


def test_an_execution_whose_end_nobody_saw_has_no_verdict(ledger: Ledger) -> None:
    ledger.write(*acted(BUY)[:-1], OutcomeUnknown(1, 1, "interrupted"), SessionEnded("interrupted"))

    assert done_alone(ledger) == ExecutionCounts(acted=1, confirmed=0, wrong=0, unjudged=1)


def test_what_was_refused_was_not_done_and_is_no_test_either(ledger: Ledger) -> None:
    ledger.write(predicted(BUY), shop_facts.plan(BUY, "prediction"))
    ledger.write(ActionRejected(1, "denylist", "no", "1", "policy_denied"), learned(BUY))

    assert rows(ledger) == []


def test_what_a_person_was_asked_about_first_is_counted_apart(ledger: Ledger) -> None:
    asked = ApprovalRequested("a1", 1, "policy", "shall I?", "suggested")
    ledger.write(predicted(BUY), shop_facts.plan(BUY, "prediction"), asked)
    ledger.write(shop_facts.intent(BUY), shop_facts.judged())

    assert done_alone(ledger) == ExecutionCounts(0, 0, 0, 0)
    assert done_alone(ledger, asked=True) == ExecutionCounts(1, 1, 0, 0)


def test_what_only_reads_is_right_when_it_is_answered(ledger: Ledger) -> None:
    in_vain = [
        msgspec.structs.replace(event, driver="prediction")
        if isinstance(event, PlanProposed)
        else event
        for event in step_kinds.waited_in_vain(2)
    ]
    ledger.write(predicted(step_kinds.READ), *step_kinds.read(1, driver="prediction"))
    ledger.write(predicted(step_kinds.WAIT), *in_vain)

    assert rows(ledger, "correct, acted") == [(1, 1), (0, 1)]


@pytest.mark.parametrize("verdict", ["confirmed", "failed"])
def test_a_look_whether_it_worked_is_no_execution_of_its_own(ledger: Ledger, verdict: str) -> None:
    told = [
        msgspec.structs.replace(event, driver="prediction")
        if isinstance(event, PlanProposed)
        else event
        for event in step_kinds.read_back(1, verdict)
    ]
    ledger.write(predicted(step_kinds.SAVE), *told)

    assert rows(ledger, "correct, acted") == [(verdict == "confirmed", 1)]


def test_a_look_whether_it_worked_uses_up_no_prediction(ledger: Ledger) -> None:
    look = shop_facts.plan(step_kinds.ASIDE, "prediction", kind="verification", read_back_of=1)
    ledger.write(predicted(BUY), look, learned(BUY))

    assert rows(ledger) == [(900_000, 1, 0)]


def test_a_script_that_goes_its_own_way_tests_the_prediction(ledger: Ledger) -> None:
    ledger.write(
        predicted(BUY), shop_facts.plan(PAY, "script"), shop_facts.intent(PAY), shop_facts.judged()
    )
    ledger.write(learned(PAY, "script"))

    assert rows(ledger) == [(900_000, 0, 0)]


# -- forgetting, and reading it all ----------------------------------------------------------------


def test_a_forgotten_session_is_left_out_but_what_was_done_in_it_is_not(ledger: Ledger) -> None:
    for session in ("a", "b"):
        ledger.write(predicted(BUY), learned(BUY), *acted(PAY, "failed"), session=session)
    ledger.write(SessionForgotten("a", "it was a test"), session="forget")

    assert rows(ledger, "session, correct, acted") == [("a", 0, 1), ("b", 1, 0), ("b", 0, 1)]


def test_models_are_told_apart_the_last_one_first(ledger: Ledger) -> None:
    old = msgspec.structs.replace(predicted(BUY, 500_000), model="markov2")
    ledger.write(old, learned(BUY), old, learned(PAY), predicted(PAY), learned(PAY), *acted(BUY))

    with folded(ledger) as made:
        assert list(models(made.db).items()) == [("foresight", 1), ("markov2", 2)]
        assert settled(made.db, "markov2") == [
            ScoredPrediction(500_000, True),
            ScoredPrediction(500_000, False),
        ]
        assert settled(made.db, "foresight") == [ScoredPrediction(900_000, True)]
        assert executions(made.db, "markov2", asked=False).acted == 0


EVENTS = st.sampled_from(
    (
        predicted(BUY),
        predicted(PAY, 300_000),
        learned(BUY),
        learned(PAY),
        learned(BUY, "prediction"),
        undone(BUY),
        shop_facts.plan(BUY, "prediction"),
        shop_facts.plan(PAY, "prediction", number=2),
        shop_facts.plan(PAY, "script", number=2),
        shop_facts.intent(BUY),
        shop_facts.intent(PAY, 2),
        shop_facts.judged(),
        shop_facts.judged("failed", 2),
        SessionForgotten("a"),
        SessionEnded("completed"),
    )
)


@examples(25)
@given(st.lists(st.tuples(st.sampled_from("ab"), EVENTS), max_size=40), st.data())
def test_however_it_is_folded_the_table_is_the_same(
    log: list[tuple[str, AnyEvent]], data: st.DataObject
) -> None:
    with TemporaryDirectory() as name, Ledger(Path(name) / "log.db") as ledger:
        made = ProjectionStore(Path(name) / "p.db")
        with made, ledger.reader() as reader:
            for session, event in log:
                ledger.write(event, session=session)
                if data.draw(st.booleans()):
                    made.catch_up(reader)
            made.catch_up(reader)
            piece_by_piece = made.dump()
            made.rebuild(reader)
            assert made.dump() == piece_by_piece
            alone = made.db.execute("SELECT count(*) FROM calibration WHERE acted").fetchone()[0]
            others = made.db.execute("SELECT count(*) FROM calibration").fetchone()[0] - alone
            assert len(settled(made.db, "foresight")) == others
            assert executions(made.db, "foresight", asked=False).acted == alone
