"""Projections: what each table says of hand-written events, and that folding is folding.

However a log is read (in one go, in pieces, by two readers, again from the start), the tables are
the same; what broke in the middle left nothing behind.
"""

import sqlite3
import subprocess
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import ClassVar, cast, get_args
from unittest.mock import patch

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rutter.actors.predictor.model.markov2 import Markov2
from rutter.events.action import Action, Parameter, Secret
from rutter.events.advisor import (
    AdviceFailed,
    AdviceLost,
    AdvicePrepared,
    AdviceReceived,
    TokenUsage,
    VisionGiven,
)
from rutter.events.critic import ActionJudged, Verdict
from rutter.events.errors import BadInput, LogCorrupt, WorldBroken
from rutter.events.observer import PageObserved
from rutter.events.planner import AdviceRequested, PlanProposed
from rutter.events.predictor import (
    Candidate,
    PredictionMade,
    TransitionLearned,
    WorkflowDeleted,
    WorkflowLearned,
    WorkflowRenamed,
)
from rutter.events.runtime import ProcessStarted, ProcessStopped, SessionEnded
from rutter.events.signature import signature, token
from rutter.events.sqlite_reader import SqliteReader
from rutter.events.validator import ActionRejected
from rutter.events.vocabulary import AnyEvent
from rutter.events.workflow import Driver, Workflow
from rutter.replay.fold import hears
from rutter.replay.projections import ProjectionStore, store
from rutter.replay.projections.metrics import snapshot
from rutter.replay.projections.model_calls import spending
from rutter.replay.projections.projection import Entry, Projection
from tests.support import shop_facts, step_kinds
from tests.support.case_table import for_each
from tests.support.example_counts import examples
from tests.support.timed_log import BEGIN_NS, Ledger

BUY, PAY, READ = (
    shop_facts.click("#buy"),
    shop_facts.click("#pay"),
    Action("extract", target=shop_facts.css("#n")),
)
VERDICTS: tuple[Verdict, ...] = ("confirmed", "confirmed", "no_effect", "failed")
ROOT = Path(__file__).parents[3]


def folded(ledger: Ledger) -> ProjectionStore:
    """A store of its own, caught up."""
    made = ProjectionStore(ledger.path.with_name(f"projections-{ledger.path.stat().st_ino}.db"))
    with ledger.reader() as reader:
        made.catch_up(reader)
    return made


def rows(ledger: Ledger, sql: str) -> list[tuple[object, ...]]:
    with folded(ledger) as made:
        return made.db.execute(sql).fetchall()


def metrics(ledger: Ledger) -> dict[str, float | int]:
    with folded(ledger) as made:
        return snapshot(made.db)


def learned(action: Action, *after: Action) -> TransitionLearned:
    return TransitionLearned(
        token(action), signature(action), action, tuple(token(each) for each in after)
    )


def predicted(action: Action, probability: int = 900_000, *others: Action) -> PredictionMade:
    best = Candidate(token(action), action, probability, "first_order")
    rest = tuple(Candidate(token(other), other, 1_000, "first_order") for other in others)
    return PredictionMade("markov2", 0, (best, *rest))


# -- transitions and actions: S0's tables ----------------------------------------------------------

# And beside S0's own: by whom.
S0_COLUMNS = {
    "actions": {"id", "action_signature", "action_json", "timestamp", "url", "success"},
    "transitions_first_order": {
        "id", "from_action", "to_action", "count", "by_person", "by_agent",
    },
    "transitions_second_order": {
        "id", "from_action_1", "from_action_2", "to_action", "count", "by_person", "by_agent",
    },
}  # fmt: skip


@pytest.mark.parametrize("table", S0_COLUMNS)
def test_the_tables_of_s0_are_there_with_their_columns(ledger: Ledger, table: str) -> None:
    found = rows(ledger, f"SELECT name FROM pragma_table_info('{table}')")

    assert {name for (name,) in found} >= S0_COLUMNS[table]


def test_a_transition_is_counted_behind_the_last_one_and_the_last_two(ledger: Ledger) -> None:
    go = shop_facts.go_to()
    ledger.write(learned(go), learned(BUY, go), learned(PAY, go, BUY), learned(PAY, go, BUY))

    assert rows(ledger, "SELECT from_action, to_action, count FROM transitions_first_order") == [
        (token(go), token(BUY), 1),
        (token(BUY), token(PAY), 2),
    ]
    assert rows(
        ledger,
        "SELECT from_action_1, from_action_2, to_action, count FROM transitions_second_order",
    ) == [(token(go), token(BUY), token(PAY), 2)]


@pytest.mark.parametrize("driver", get_args(Driver))
def test_what_a_person_did_and_what_an_agent_did_are_counted_apart(
    ledger: Ledger, driver: Driver
) -> None:
    go = shop_facts.go_to()
    by_driver = msgspec.structs.replace(learned(PAY, go, BUY), driver=driver)
    ledger.write(learned(PAY, go, BUY), by_driver)  # the first by a script, a person's own

    person = driver in ("person", "script")
    for table in ("transitions_first_order", "transitions_second_order"):
        assert rows(ledger, f"SELECT count, by_person, by_agent FROM {table}") == [
            (2, 1 + person, 1 - person)
        ]


def test_the_first_action_of_a_session_follows_nothing(ledger: Ledger) -> None:
    ledger.write(learned(BUY))

    assert rows(ledger, "SELECT * FROM transitions_first_order") == []


def test_a_judged_action_is_kept_with_the_page_it_was_done_on(ledger: Ledger) -> None:
    ledger.write(
        shop_facts.run_of(None), shop_facts.saw(shop_facts.page("/cart")), shop_facts.intent(BUY)
    )
    ledger.write(
        shop_facts.done(), shop_facts.saw(shop_facts.page("/paid")), shop_facts.judged(), ms=500
    )

    [(session, signed, body, timestamp, url, success)] = rows(
        ledger,
        "SELECT session, action_signature, action_json, timestamp, url, success FROM actions",
    )
    assert (session, signed, success) == ("run-1", signature(BUY), 1)
    assert msgspec.json.decode(cast(str, body), type=Action) == BUY
    assert timestamp == BEGIN_NS / 1e9 + 1.5
    assert url == shop_facts.ORIGIN + "/cart"


@pytest.mark.parametrize("verdict", ["no_effect", "wrong_target", "failed", "unknown"])
def test_an_action_that_was_not_confirmed_is_no_success(ledger: Ledger, verdict: Verdict) -> None:
    ledger.write(
        shop_facts.saw(shop_facts.page()), shop_facts.intent(BUY), shop_facts.judged(verdict)
    )

    assert rows(ledger, "SELECT success FROM actions") == [(0,)]


def test_an_action_that_was_never_judged_is_not_kept(ledger: Ledger) -> None:
    ledger.write(
        shop_facts.saw(shop_facts.page()), shop_facts.intent(BUY), SessionEnded("interrupted")
    )

    assert rows(ledger, "SELECT * FROM actions") == []


def test_sessions_side_by_side_keep_their_actions_apart(ledger: Ledger) -> None:
    for session, action in (("a", BUY), ("b", PAY)):
        ledger.write(
            shop_facts.saw(shop_facts.page(f"/{session}")),
            shop_facts.intent(action),
            session=session,
        )
    for session in ("b", "a"):
        ledger.write(shop_facts.judged(), session=session)

    assert rows(ledger, "SELECT session, action_signature, url FROM actions ORDER BY session") == [
        ("a", signature(BUY), shop_facts.ORIGIN + "/a"),
        ("b", signature(PAY), shop_facts.ORIGIN + "/b"),
    ]


def test_a_verdict_after_a_look_elsewhere_is_kept_with_its_own_action(ledger: Ledger) -> None:
    ledger.write(shop_facts.saw(shop_facts.page("/cart")), *step_kinds.read_back(1, "failed"))

    assert rows(ledger, "SELECT action_signature, url, success FROM actions") == [
        (signature(step_kinds.SAVE), shop_facts.ORIGIN + "/cart", 0)
    ]


def test_what_was_read_is_kept_as_an_action_of_s0_by_whether_it_was_answered(
    ledger: Ledger,
) -> None:
    ledger.write(
        shop_facts.saw(shop_facts.page()), *step_kinds.read(1), *step_kinds.waited_in_vain(2)
    )

    assert rows(ledger, "SELECT action_signature, success FROM actions") == [
        (signature(step_kinds.READ), 1),
        (signature(step_kinds.WAIT), 0),
    ]


def test_values_are_kept_by_their_names(ledger: Ledger) -> None:
    for value in (Parameter("customer"), Secret("password")):
        ledger.write(
            shop_facts.saw(shop_facts.page()),
            shop_facts.intent(shop_facts.fill("#f", value)),
            shop_facts.judged(),
        )

    bodies = [str(body) for (body,) in rows(ledger, "SELECT action_json FROM actions")]
    assert '"is":"param","name":"customer"' in bodies[0]
    assert '"is":"secret","name":"password"' in bodies[1]


# -- metrics: every field of S0 6 ------------------------------------------------------------------


def test_metrics_of_an_empty_log_are_all_there_and_zero(ledger: Ledger) -> None:
    assert metrics(ledger) == dict.fromkeys(
        (
            "total_predictions",
            "correct_predictions",
            "prediction_accuracy",
            "total_executions",
            "successful_executions",
            "execution_success_rate",
            "average_confidence",
            "unsafe_filtered",
            "average_decision_time_ms",
            "uptime_seconds",
        ),
        0,
    )


def test_a_prediction_is_correct_when_the_next_confirmed_action_has_its_token(
    ledger: Ledger,
) -> None:
    ledger.write(predicted(BUY, 800_000), learned(BUY))
    ledger.write(predicted(PAY, 600_000), learned(BUY))
    ledger.write(predicted(PAY, 400_000, BUY), learned(PAY))
    ledger.write(predicted(PAY, 200_000, BUY), learned(BUY))

    counted = metrics(ledger)
    assert (counted["total_predictions"], counted["correct_predictions"]) == (4, 2)
    assert (counted["prediction_accuracy"], counted["average_confidence"]) == (0.5, 0.5)


def test_an_action_that_was_not_confirmed_in_between_does_not_settle_a_prediction(
    ledger: Ledger,
) -> None:
    ledger.write(predicted(BUY), shop_facts.intent(PAY), shop_facts.judged("no_effect"))
    assert metrics(ledger)["total_predictions"] == 0

    ledger.write(learned(BUY))
    assert metrics(ledger)["correct_predictions"] == 1


def test_what_was_predicted_freely_is_settled_by_its_own_plan(ledger: Ledger) -> None:
    """A model does not teach itself: no transition is learned from it."""
    ledger.write(
        predicted(BUY, 700_000), shop_facts.plan(BUY, "prediction"), shop_facts.intent(BUY)
    )
    ledger.write(shop_facts.judged())
    ledger.write(predicted(PAY), shop_facts.plan(PAY, "prediction"), shop_facts.judged("no_effect"))

    counted = metrics(ledger)
    assert (counted["total_predictions"], counted["correct_predictions"]) == (1, 1)
    assert counted["average_confidence"] == 0.7


def test_a_script_that_did_otherwise_is_scored_by_what_was_learned_of_it(ledger: Ledger) -> None:
    ledger.write(predicted(BUY), shop_facts.plan(PAY, "script"), shop_facts.judged(), learned(PAY))

    counted = metrics(ledger)
    assert (counted["total_predictions"], counted["correct_predictions"]) == (1, 0)


def test_what_was_predicted_and_answered_is_correct(ledger: Ledger) -> None:
    ledger.write(predicted(step_kinds.READ), *step_kinds.read(1, driver="prediction"))
    ledger.write(predicted(step_kinds.WAIT), *step_kinds.waited_in_vain(2))

    counted = metrics(ledger)
    assert (counted["total_predictions"], counted["correct_predictions"]) == (1, 1)
    assert counted["total_executions"] == 0  # reading is no execution


@pytest.mark.parametrize(("verdict", "right"), [("confirmed", 1), ("failed", 0)])
def test_a_look_whether_it_worked_is_neither_predicted_nor_counted(
    ledger: Ledger, verdict: str, right: int
) -> None:
    """The step whose verdict waits for it is."""
    told = [
        msgspec.structs.replace(event, driver="prediction")
        if isinstance(event, PlanProposed) and not event.read_back_of
        else event
        for event in step_kinds.read_back(1, verdict)
    ]
    ledger.write(predicted(step_kinds.SAVE), *told)

    counted = metrics(ledger)
    assert (counted["total_predictions"], counted["correct_predictions"]) == (right, right)
    assert (counted["total_executions"], counted["successful_executions"]) == (1, right)


def test_what_only_checks_is_not_counted(ledger: Ledger) -> None:
    ledger.write(predicted(step_kinds.SAVE), *step_kinds.checked(1, "confirmed"))

    counted = metrics(ledger)
    assert (counted["total_executions"], counted["successful_executions"]) == (0, 0)
    assert (counted["total_predictions"], counted["average_decision_time_ms"]) == (0, 0)


def test_no_prediction_counts_for_nothing(ledger: Ledger) -> None:
    ledger.write(PredictionMade("markov2", 0), learned(BUY))

    assert metrics(ledger)["total_predictions"] == 0


def test_a_prediction_is_settled_once_and_in_its_own_session(ledger: Ledger) -> None:
    ledger.write(predicted(BUY), session="a")
    ledger.write(learned(PAY), session="b")
    ledger.write(learned(BUY), learned(PAY), session="a")

    counted = metrics(ledger)
    assert (counted["total_predictions"], counted["correct_predictions"]) == (1, 1)


def test_a_prediction_that_its_session_did_not_live_to_see_is_forgotten(ledger: Ledger) -> None:
    ledger.write(predicted(BUY), SessionEnded("cancelled"))

    assert metrics(ledger)["total_predictions"] == 0
    assert rows(ledger, "SELECT * FROM metrics_open") == []


def test_a_token_has_no_value_so_another_value_is_as_predicted(ledger: Ledger) -> None:
    ledger.write(predicted(shop_facts.fill("#f", "Ann")), learned(shop_facts.fill("#f", "Bob")))

    assert metrics(ledger)["correct_predictions"] == 1


def test_what_a_typed_parameter_is_named_does_not_make_a_prediction_wrong(ledger: Ledger) -> None:
    typed = [shop_facts.fill("#f", Parameter(name)) for name in ("customer", "buyer")]
    ledger.write(predicted(typed[0]), learned(typed[1]))
    ledger.write(predicted(typed[0]), shop_facts.plan(typed[1], "prediction"), shop_facts.judged())

    assert metrics(ledger)["correct_predictions"] == 2


def test_what_is_learned_of_a_free_run_at_its_end_settles_no_prediction(ledger: Ledger) -> None:
    """The last one is still open then, and is about what would have come next."""
    ledger.write(
        predicted(BUY), shop_facts.plan(BUY, "prediction"), shop_facts.judged(), predicted(PAY)
    )
    ledger.write(msgspec.structs.replace(learned(BUY), driver="prediction"))

    counted = metrics(ledger)
    assert (counted["total_predictions"], counted["correct_predictions"]) == (1, 1)


def test_executions_succeed_when_they_are_confirmed(ledger: Ledger) -> None:
    for verdict in VERDICTS:
        ledger.write(shop_facts.intent(BUY), shop_facts.judged(verdict))

    counted = metrics(ledger)
    assert (counted["total_executions"], counted["successful_executions"]) == (4, 2)
    assert counted["execution_success_rate"] == 0.5


def test_only_what_policy_refused_was_unsafe(ledger: Ledger) -> None:
    for code in ("policy_denied", "validation_error", "execution_error"):
        ledger.write(ActionRejected(1, "rule", "reason", "1", code))

    assert metrics(ledger)["unsafe_filtered"] == 1


def test_a_decision_takes_from_the_look_at_the_page_to_the_plan(ledger: Ledger) -> None:
    ledger.write(shop_facts.saw(shop_facts.page()))
    ledger.write(shop_facts.plan(BUY), ms=40)
    ledger.write(
        shop_facts.plan(BUY), ms=5_000
    )  # again, with no other look: no decision of its own
    ledger.write(shop_facts.saw(shop_facts.page()))
    ledger.write(shop_facts.plan(PAY), ms=20)

    assert metrics(ledger)["average_decision_time_ms"] == 30.0


def test_uptime_is_the_time_of_every_process_that_stopped(ledger: Ledger) -> None:
    for seconds in (12, 3):
        ledger.write(ProcessStarted("0.1.0"), session=f"process-{seconds}")
        ledger.write(ProcessStopped(), session=f"process-{seconds}", ms=seconds * 1_000 + 400)

    assert metrics(ledger)["uptime_seconds"] == 15.8


# -- sessions and workflows ------------------------------------------------------------------------


def test_a_session_is_one_row_from_its_start_to_its_end(ledger: Ledger) -> None:
    flow = shop_facts.workflow(shop_facts.step(BUY))
    ledger.write(shop_facts.run_of(flow, values={"b": "2", "a": "1"}))
    running = "SELECT session, seq, purpose, driver, name, version, ended_ns, reason FROM sessions"
    assert rows(ledger, running) == [("run-1", 1, "run", "workflow", "order", 1, None, None)]

    ledger.write(SessionEnded("failed", "lost", "step 2 of 3: not there"), ms=1_250)
    assert rows(
        ledger, "SELECT ended_ns - started_ns, reason, failure, detail, vals FROM sessions"
    ) == [(1_250_000_000, "failed", "lost", "step 2 of 3: not there", '{"a":"1","b":"2"}')]


def test_a_step_that_was_tried_twice_is_one_step(ledger: Ledger) -> None:
    ledger.write(shop_facts.run_of(None), shop_facts.plan(BUY), shop_facts.judged())
    for attempt, verdict in ((1, "failed"), (2, "confirmed")):
        ledger.write(
            shop_facts.plan(PAY, number=2, attempt=attempt),
            shop_facts.judged(cast(Verdict, verdict), 2, attempt),
        )
    ledger.write(shop_facts.plan(BUY, number=3), shop_facts.judged("no_effect", 3))

    assert rows(ledger, "SELECT done, proposed FROM sessions") == [(2, 3)]


def test_what_was_proposed_and_never_came_to_anything_is_not_done(ledger: Ledger) -> None:
    ledger.write(shop_facts.run_of(None), *step_kinds.read(1), *step_kinds.waited_in_vain(2))
    ledger.write(shop_facts.plan(PAY, number=3), ActionRejected(3, "r", "no", "1", "policy_denied"))

    assert rows(ledger, "SELECT done, proposed FROM sessions") == [(1, 3)]


def test_a_look_whether_it_worked_is_a_step_of_the_session(ledger: Ledger) -> None:
    ledger.write(shop_facts.run_of(None), *step_kinds.read_back(1))

    assert rows(ledger, "SELECT done, proposed FROM sessions") == [(2, 2)]


def test_what_a_model_was_asked_is_summed_up_by_session(ledger: Ledger) -> None:
    ledger.write(shop_facts.run_of(None), session="a")
    ledger.write(shop_facts.run_of(None), session="b")
    for tokens in (10, 20):
        advice = AdviceReceived(
            "r", "anthropic", "m", usage=TokenUsage(tokens, 1), cost_microdollars=7
        )
        ledger.write(AdviceRequested("r", "plan", "anthropic", "m"), advice, session="a")

    assert rows(
        ledger, "SELECT session, model_calls, tokens, cost_microdollars FROM sessions ORDER BY 1"
    ) == [("a", 2, 32, 14), ("b", 0, 0, 0)]


def test_a_call_that_failed_or_was_lost_counts_as_one(ledger: Ledger) -> None:
    ledger.write(shop_facts.run_of(None))
    ends = (
        AdviceFailed("r", "anthropic", "overloaded", True),
        AdviceFailed("r", "anthropic", "timeout", True),
        AdviceReceived("r", "ollama", "m", usage=TokenUsage(5, 1), priced=False),
        AdviceLost("r"),
    )
    for end in ends:
        ledger.write(AdviceRequested("r", "plan", "anthropic", "m"), end)
    # Nobody charges for being overloaded; what the others cost is not known.
    totals = "SELECT model_calls, tokens, cost_microdollars, unpriced FROM sessions"
    assert rows(ledger, totals) == [(4, 6, 0, 3)]


def test_every_model_call_is_a_row(ledger: Ledger) -> None:
    ledger.write(
        shop_facts.run_of(None),
        AdviceRequested("a1", "correct", "anthropic", "m", 2, step=4, correction=1),
        AdvicePrepared("a1", tokens=900),
        AdviceReceived(
            "a1",
            "anthropic",
            "m-2",
            usage=TokenUsage(1_000, 50, 800, 10),
            cost_microdollars=7,
            took_ms=9,
        ),
        AdviceRequested("a2", "plan", "anthropic", "m"),
        AdviceReceived("a2", "anthropic", "m-2", "said", invalid="it proposed nothing"),
        AdviceRequested("a3", "plan", "openai", "gpt"),
        AdviceFailed("a3", "openai", "rate_limited", True, took_ms=3),
        AdviceRequested("a4", "act", "openai", "gpt"),
        AdviceLost("a4"),
        AdviceRequested("a5", "act", "openai", "gpt"),
        ms=1,
    )
    columns = "request, purpose, provider, model, attempt, step, correction, ok, ending, error"
    assert rows(ledger, f"SELECT {columns} FROM model_calls ORDER BY n") == [
        ("a1", "correct", "anthropic", "m-2", 2, 4, 1, 1, "called", ""),
        ("a2", "plan", "anthropic", "m-2", 1, 0, 0, 0, "said", "invalid"),
        ("a3", "plan", "openai", "gpt", 1, 0, 0, 0, None, "rate_limited"),
        ("a4", "act", "openai", "gpt", 1, 0, 0, 0, None, "lost"),
        ("a5", "act", "openai", "gpt", 1, 0, 0, None, None, None),
    ]
    columns = "input_tokens, output_tokens, cached_tokens, kept_tokens, cost_microdollars, priced"
    spent = f"SELECT {columns}, took_ms, estimated_tokens FROM model_calls ORDER BY n LIMIT 1"
    assert rows(ledger, spent) == [(1_000, 50, 800, 10, 7, 1, 9, 900)]
    assert rows(ledger, "SELECT at_ns FROM model_calls WHERE n = 2") == [(BEGIN_NS + 2_000_000,)]


def test_a_picture_that_was_looked_at_is_a_row_and_one_that_nobody_saw_is_none(
    ledger: Ledger,
) -> None:
    ledger.write(
        shop_facts.run_of(None),
        *step_kinds.checked(4),
        VisionGiven(5, 1, "UNKNOWN", message="no vision is configured"),
        VisionGiven(6, 1, "UNKNOWN", "ollama", "late", took_ms=7, model="m", error="timeout"),
        VisionGiven(7, 1, "UNKNOWN", "ollama", model="m", usage=TokenUsage(9, 1), priced=False),
    )
    columns = "purpose, step, provider, model, ok, error, cost_microdollars, priced, took_ms"
    assert rows(ledger, f"SELECT {columns} FROM model_calls ORDER BY n") == [
        ("vision", 4, "scripted", "eyes-2", 1, "", 3_600, 1, 5),
        ("vision", 6, "ollama", "m", 0, "timeout", 0, 0, 7),
        ("vision", 7, "ollama", "m", 1, "", 0, 0, 0),
    ]
    columns = "input_tokens, output_tokens, cached_tokens, kept_tokens"
    assert rows(ledger, f"SELECT {columns} FROM model_calls WHERE step = 4") == [
        (1_100, 20, 100, 50)
    ]
    totals = "SELECT model_calls, tokens, cost_microdollars, unpriced FROM sessions"
    assert rows(ledger, totals) == [(3, 1_130, 3_600, 2)]
    with folded(ledger) as made:
        spent = spending(made.db)
    assert (spent["calls"], spent["failed"], spent["unpriced"]) == (3, 1, 2)


def test_a_call_whose_question_was_erased_is_a_row_all_the_same(ledger: Ledger) -> None:
    ledger.write(
        shop_facts.run_of(None), AdviceReceived("a1", "anthropic", "m", cost_microdollars=7)
    )

    found = "SELECT request, purpose, provider, ok, cost_microdollars FROM model_calls"
    assert rows(ledger, found) == [("a1", "", "anthropic", 1, 7)]
    assert rows(ledger, "SELECT unpriced FROM sessions") == [(0,)]


def test_spending_is_summed_up_by_provider(ledger: Ledger) -> None:
    ledger.write(
        shop_facts.run_of(None),
        AdviceRequested("a1", "plan", "openai", "gpt"),
        AdviceFailed("a1", "openai", "unauthorised", False),
        AdviceRequested("a2", "plan", "anthropic", "m"),
        AdviceReceived("a2", "anthropic", "m", usage=TokenUsage(10, 2, 4, 1), cost_microdollars=7),
        AdviceRequested("a3", "plan", "anthropic", "m"),
    )
    with folded(ledger) as made:
        found = spending(made.db)

    whole = {name: found[name] for name in ("calls", "failed", "unpriced", "cost_microdollars")}
    assert whole == {"calls": 3, "failed": 1, "unpriced": 1, "cost_microdollars": 7}
    anthropic, openai = found["providers"]
    assert (anthropic["provider"], anthropic["model"], anthropic["calls"]) == ("anthropic", "m", 2)
    tokens = ("input_tokens", "output_tokens", "cached_tokens", "kept_tokens")
    assert [anthropic[name] for name in tokens] == [10, 2, 4, 1]
    assert (openai["calls"], openai["failed"], openai["unpriced"]) == (1, 1, 0)


def test_steps_that_took_no_model_are_hits(ledger: Ledger) -> None:
    with folded(ledger) as made:
        assert spending(made.db)["hit_rate"] is None
    ledger.write(
        shop_facts.run_of(None),
        shop_facts.plan(BUY, "workflow", number=1),
        shop_facts.plan(BUY, "workflow", number=1, attempt=2),
        shop_facts.judged(number=1),
        shop_facts.plan(BUY, "prediction", number=2),
        shop_facts.judged(number=2),
        *step_kinds.repaired(3),  # of two steps, the one that was done is the model's
        shop_facts.plan(
            step_kinds.ASIDE, "workflow", number=5, kind="verification", read_back_of=4
        ),
        shop_facts.judged(number=5),
        *step_kinds.read(6),
        shop_facts.plan(PAY, "script", number=7),
        shop_facts.judged(number=7),
    )
    with folded(ledger) as made:
        found = spending(made.db)
    assert found["steps_by_driver"] == {"workflow": 2, "prediction": 1, "model": 1}
    assert found["hit_rate"] == 0.75


def test_calls_fold_the_same_bit_by_bit_and_at_once(ledger: Ledger, tmp_path: Path) -> None:
    log = (
        shop_facts.run_of(None),
        AdviceRequested("a1", "plan", "anthropic", "m"),
        AdvicePrepared("a1", tokens=900),
        AdviceFailed("a1", "anthropic", "overloaded", True),
        AdviceRequested("a2", "plan", "anthropic", "m", 2),
        AdviceReceived("a2", "anthropic", "m", usage=TokenUsage(3, 4), cost_microdollars=2),
        shop_facts.plan(BUY, "model"),
        AdviceRequested("a3", "plan", "anthropic", "m"),
        AdviceLost("a3"),
        SessionEnded("completed"),
    )
    with ProjectionStore(tmp_path / "bit-by-bit.db") as made, ledger.reader() as reader:
        for event in log:
            ledger.write(event)
            made.catch_up(reader)
        bit_by_bit = made.dump()
        made.rebuild(reader)
        assert made.dump() == bit_by_bit
    assert len(bit_by_bit["model_calls"]) == 3


def test_every_version_of_a_workflow_is_a_row(ledger: Ledger) -> None:
    first = shop_facts.workflow(
        shop_facts.step(BUY), parameters=("customer", "note"), secrets=("pin",)
    )
    second = msgspec.structs.replace(first, version=2, steps=(), complete=False)
    ledger.write(WorkflowLearned(first), session="record-1")
    ledger.write(WorkflowLearned(second, stopped_at="step 2: lost"), session="record-2", ms=9)

    columns = "name, version, steps, complete, parameters, secrets, session, stopped_at"
    assert rows(ledger, f"SELECT {columns} FROM workflows ORDER BY version") == [
        ("order", 1, 1, 1, "customer note", "pin", "record-1", ""),
        ("order", 2, 0, 0, "customer note", "pin", "record-2", "step 2: lost"),
    ]
    bodies = rows(ledger, "SELECT workflow FROM workflows ORDER BY version")
    decoded = [msgspec.json.decode(cast(str, body), type=Workflow) for (body,) in bodies]
    assert decoded == [first, second]


def test_a_deleted_workflow_is_gone_and_a_renamed_one_has_its_new_name(ledger: Ledger) -> None:
    for name in ("order", "refund"):
        flow = msgspec.structs.replace(shop_facts.workflow(shop_facts.step(BUY)), name=name)
        ledger.write(WorkflowLearned(flow), session=f"record-{name}")
    ledger.write(WorkflowDeleted("order"), WorkflowRenamed("refund", "return"), session="edit")

    assert rows(ledger, "SELECT name FROM workflows") == [("return",)]


# -- folding is folding ----------------------------------------------------------------------------

ACTIONS = tuple(shop_facts.click(f"#{name}") for name in "abcd")


@st.composite
def sessions(draw: st.DrawFn) -> list[AnyEvent]:
    """One session as it might have gone, ended or not."""
    told: list[AnyEvent] = [shop_facts.run_of(None), shop_facts.saw(shop_facts.page())]
    after: tuple[Action, ...] = ()
    steps = draw(
        st.lists(st.tuples(st.sampled_from(ACTIONS), st.sampled_from(VERDICTS)), max_size=5)
    )
    for number, (action, verdict) in enumerate(steps, 1):
        if draw(st.booleans()):
            told.append(predicted(draw(st.sampled_from(ACTIONS)), draw(st.integers(1, 10**6))))
        told += [shop_facts.plan(action, number=number), shop_facts.intent(action, number)]
        told += [shop_facts.done(number), shop_facts.saw(shop_facts.page(f"/{number}"))]
        told.append(shop_facts.judged(verdict, number))
        if verdict == "confirmed":
            told.append(learned(action, *after[-2:]))
        after = (*after, action) if verdict == "confirmed" else ()
    made = (step_kinds.read, step_kinds.waited_in_vain, step_kinds.read_back)
    for make in draw(st.lists(st.sampled_from(made), max_size=1)):
        told += make(len(steps) + 1)
    if draw(st.booleans()):
        told.append(SessionEnded("completed"))
    return told


@st.composite
def logs(draw: st.DrawFn) -> list[tuple[str, AnyEvent]]:
    """Several sessions, interleaved anyhow."""
    told = {f"s{index}": each for index, each in enumerate(draw(st.lists(sessions(), max_size=4)))}
    order = draw(st.permutations([name for name, events in told.items() for _ in events]))
    streams = {name: iter(events) for name, events in told.items()}
    return [(name, next(streams[name])) for name in order]


Dump = Mapping[str, list[tuple[object, ...]]]


def dump_of(path: Path, reader: SqliteReader) -> Dump:
    with ProjectionStore(path) as made:
        made.catch_up(reader)
        return made.dump()


@examples(40)
@given(logs(), st.data())
def test_however_a_log_is_folded_the_tables_are_the_same(
    log: list[tuple[str, AnyEvent]], data: st.DataObject
) -> None:
    with TemporaryDirectory() as name, Ledger(Path(name) / "log.db") as ledger:
        root = Path(name)
        with ledger.reader() as reader, ProjectionStore(root / "live.db") as live:
            for session, event in log:
                ledger.write(event, session=session, ms=3)
                if data.draw(st.booleans(), "catch up"):
                    with patch.object(store, "BATCH", data.draw(st.integers(1, 7), "batch")):
                        live.catch_up(reader)
            with ProjectionStore(root / "live.db") as beside:  # a second store, the same file
                folded_beside = beside.catch_up(reader)
            assert (live.catch_up(reader), live.position()) == (0, len(log))
            assert folded_beside <= len(log)

            at_once = dump_of(root / "at-once.db", reader)
            assert live.dump() == at_once
            assert live.rebuild(reader) == len(log)
            assert live.dump() == at_once


@examples(25)
@given(logs())
def test_the_counts_are_the_models_own_and_never_fall(log: list[tuple[str, AnyEvent]]) -> None:
    with TemporaryDirectory() as name, Ledger(Path(name) / "log.db") as ledger:
        model, seen = Markov2(), []
        with ledger.reader() as reader, ProjectionStore(Path(name) / "p.db") as made:
            for session, event in log:
                ledger.write(event, session=session)
                made.catch_up(reader)
                seen.append(_counts(made))
                if isinstance(event, TransitionLearned):
                    model.observe(event.after, event.token)
            first = made.db.execute(
                "SELECT from_action, to_action, count FROM transitions_first_order"
            ).fetchall()
            second = made.db.execute(
                "SELECT from_action_1, from_action_2, to_action, count "
                "FROM transitions_second_order"
            ).fetchall()
    for before, after in pairwise(seen):
        assert all(after.get(key, 0) >= count for key, count in before.items())
    expected = {(f, t): c for f, to in model.first.items() for t, c in to.items()}
    assert {(f, t): c for f, t, c in first} == expected
    assert {(f, g, t): c for f, g, t, c in second} == {
        (*pair, t): c for pair, to in model.second.items() for t, c in to.items()
    }


def _counts(made: ProjectionStore) -> dict[object, int]:
    counted: dict[object, int] = dict(made.db.execute("SELECT counter, value FROM metrics"))
    counted |= {
        (one, other): count
        for one, other, count in made.db.execute(
            "SELECT from_action, to_action, count FROM transitions_first_order"
        )
    }
    return counted


# -- all of a batch, or none of it -----------------------------------------------------------------


class Breaking(Projection):
    """Folds as told, and breaks at one event after it has written its row."""

    name: ClassVar[str] = "breaking"
    tables: ClassVar[Mapping[str, str]] = {"breaking": "step INTEGER NOT NULL"}

    def __init__(self, at: int, error: BaseException | None) -> None:
        self._at = at
        self.error = error

    @hears
    def _judged(self, entry: Entry, judged: ActionJudged) -> None:
        entry.execute("INSERT INTO breaking VALUES (?)", judged.step)
        if self.error is not None and judged.step == self._at:
            raise self.error


def ten_steps(ledger: Ledger) -> None:
    ledger.write(*(shop_facts.judged(number=number) for number in range(1, 11)))


def steps_in(made: ProjectionStore) -> list[object]:
    return [step for (step,) in made.db.execute("SELECT step FROM breaking ORDER BY step")]


@pytest.mark.parametrize(
    ("error", "seen_as"),
    [
        (sqlite3.OperationalError("database or disk is full"), WorldBroken),
        (ZeroDivisionError(), ZeroDivisionError),
        (KeyboardInterrupt(), KeyboardInterrupt),
    ],
)
def test_what_breaks_in_the_middle_leaves_nothing_half_folded(
    ledger: Ledger, tmp_path: Path, error: BaseException, seen_as: type[BaseException]
) -> None:
    ten_steps(ledger)
    breaking = Breaking(7, error)
    with (
        patch.object(store, "BATCH", 5),
        ledger.reader() as reader,
        ProjectionStore(tmp_path / "p.db", [breaking]) as made,
    ):
        with pytest.raises(seen_as):
            made.catch_up(reader)
        assert (made.position(), steps_in(made)) == (5, [1, 2, 3, 4, 5])

        breaking.error = None
        assert made.catch_up(reader) == 5
        assert (made.position(), steps_in(made)) == (10, list(range(1, 11)))
        assert made.parked() == []


@pytest.mark.parametrize("error", [sqlite3.IntegrityError("not unique"), ValueError("no number")])
def test_an_event_that_does_not_fit_is_parked_live_and_stops_a_rebuild(
    ledger: Ledger, tmp_path: Path, error: Exception
) -> None:
    ten_steps(ledger)
    with (
        patch.object(store, "BATCH", 5),
        ledger.reader() as reader,
        ProjectionStore(tmp_path / "p.db", [Breaking(7, error)]) as made,
    ):
        assert made.catch_up(reader) == 10
        assert made.parked() == [("breaking", 7, f"{type(error).__name__}: {error}")]
        assert steps_in(made) == [1, 2, 3, 4, 5, 6, 8, 9, 10]

        with pytest.raises(LogCorrupt) as corrupt:
            made.rebuild(reader)
        assert "ActionJudged at 7 does not fit breaking" in corrupt.value.what
        assert (made.position(), steps_in(made)) == (5, [1, 2, 3, 4, 5])


def test_a_file_that_another_process_holds_is_said_to_be_locked(
    ledger: Ledger, tmp_path: Path
) -> None:
    ten_steps(ledger)
    other = sqlite3.connect(tmp_path / "p.db", isolation_level=None)
    with ledger.reader() as reader, ProjectionStore(tmp_path / "p.db") as made:
        made.db.execute("PRAGMA busy_timeout=0")
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(WorldBroken) as broken:
            made.catch_up(reader)
        other.execute("ROLLBACK")
        other.close()

        assert "locked by another process" in broken.value.what
        assert made.catch_up(reader) == 10


@pytest.mark.slow
def test_a_process_that_dies_in_the_middle_leaves_the_last_whole_batch(
    ledger: Ledger, tmp_path: Path
) -> None:
    ten_steps(ledger)
    dying = subprocess.run(
        [sys.executable, "-c", DYING, str(ledger.path), str(tmp_path / "p.db")],
        cwd=ROOT,
        check=False,
    )
    assert dying.returncode == 9

    with ledger.reader() as reader, ProjectionStore(tmp_path / "p.db", [Breaking(0, None)]) as made:
        assert (made.position(), steps_in(made)) == (5, [1, 2, 3, 4, 5])
        assert made.catch_up(reader) == 5


DYING = """
import os, sys
from pathlib import Path
from rutter.events.sqlite_reader import SqliteReader
from rutter.replay.projections import ProjectionStore, store
from tests.replay.projections.test_store import Breaking

class Dying(Breaking):
    def apply(self, entry):
        super().apply(entry)
        if entry.envelope.event.step == 7:
            os._exit(9)

store.BATCH = 5
ProjectionStore(Path(sys.argv[2]), [Dying(0, None)]).catch_up(SqliteReader(Path(sys.argv[1])))
"""


@pytest.mark.slow
def test_two_processes_that_catch_up_at_once_fold_every_event_once(
    ledger: Ledger, tmp_path: Path
) -> None:
    total = 600
    ledger.write(learned(BUY, PAY), *(learned(PAY, BUY) for _ in range(total - 1)))
    with ExitStack() as running:
        both = [
            running.enter_context(
                subprocess.Popen(
                    [sys.executable, "-c", CATCHING_UP, str(ledger.path), str(tmp_path / "p.db")],
                    cwd=ROOT,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    text=True,
                )
            )
            for _ in range(2)
        ]
        for each in both:
            assert each.stdout is not None
            assert each.stdout.readline() == "ready\n"  # only now do they race
        for each in both:
            assert each.stdin is not None
            each.stdin.write("go\n")
            each.stdin.flush()
        counted = [int(each.communicate()[0]) for each in both]

    assert sum(counted) == total
    with ledger.reader() as reader:
        assert dump_of(tmp_path / "p.db", reader) == dump_of(tmp_path / "fresh.db", reader)


CATCHING_UP = """
import sys
from pathlib import Path
from rutter.events.sqlite_reader import SqliteReader
from rutter.replay.projections import ProjectionStore, store

store.BATCH = 3
reader = SqliteReader(Path(sys.argv[1]))
print("ready", flush=True)
sys.stdin.readline()
print(ProjectionStore(Path(sys.argv[2])).catch_up(reader))
"""


# -- the file is disposable ------------------------------------------------------------------------


def test_tables_of_another_version_are_thrown_away_and_rebuilt(
    ledger: Ledger, tmp_path: Path
) -> None:
    ledger.write(learned(BUY, PAY))
    path = tmp_path / "p.db"
    with ledger.reader() as reader:
        expected = dump_of(path, reader)
    with sqlite3.connect(path) as db:
        db.execute("DROP TABLE transitions_first_order")
        db.execute("CREATE TABLE transitions_first_order (of_another_shape)")
        db.execute("CREATE TABLE left_over (x)")
        db.execute("PRAGMA user_version=99")
    db.close()

    with ledger.reader() as reader, ProjectionStore(path) as made:
        assert made.position() == 0
        assert made.catch_up(reader) == 1
        assert made.dump() == expected
        tables = "SELECT count(*) FROM sqlite_master WHERE name = 'left_over'"
        assert made.db.execute(tables).fetchone() == (0,)


@for_each("events", [1, 3, 5])
def test_another_log_in_the_place_of_the_old_one_is_folded_from_its_beginning(
    tmp_path: Path, events: int
) -> None:
    """Deleted, or restored from a backup: positions of the old one mean nothing in it."""
    counts = [
        _folded_first_order(tmp_path, name, action, count)
        for name, action, count in (("old.db", BUY, 3), ("new.db", PAY, events))
    ]

    assert counts[1] == [(1, token(READ), token(PAY), events, events, 0)]


def _folded_first_order(
    root: Path, name: str, action: Action, count: int
) -> list[tuple[object, ...]]:
    with Ledger(root / name) as ledger, ledger.reader() as reader:
        ledger.write(*[learned(action, READ)] * count)
        return dump_of(root / "p.db", reader)["transitions_first_order"]


def test_it_is_private_to_its_owner(ledger: Ledger, tmp_path: Path) -> None:
    with ledger.reader() as reader:
        dump_of(tmp_path / "p.db", reader)

    assert (tmp_path / "p.db").stat().st_mode & 0o077 == 0


def test_what_is_not_a_database_is_named_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "p.db").write_text("something else entirely, and long enough to be looked at")
    with pytest.raises(WorldBroken) as broken:
        ProjectionStore(tmp_path / "p.db")

    assert str(tmp_path / "p.db") in broken.value.what
    assert broken.value.fix == "delete it: it is rebuilt from the log"


def test_a_directory_that_is_not_there_is_a_broken_world(tmp_path: Path) -> None:
    with pytest.raises(WorldBroken):
        ProjectionStore(tmp_path / "nowhere" / "p.db")


def test_there_is_nothing_to_fold_without_a_log(tmp_path: Path) -> None:
    with pytest.raises(BadInput):
        SqliteReader(tmp_path / "log.db")


def test_events_that_no_table_is_made_of_are_passed_over_for_good(ledger: Ledger) -> None:
    ledger.write(shop_facts.done(), shop_facts.done())
    with folded(ledger) as made, ledger.reader() as reader:
        assert (made.position(), made.catch_up(reader)) == (2, 0)


def test_every_projection_names_tables_of_its_own(tmp_path: Path) -> None:
    named = [table for each in store.all_projections() for table in each.tables]

    assert len(named) == len(set(named))
    assert all(isinstance(each.name, str) and each.folds for each in store.all_projections())
    assert {PageObserved, PlanProposed} <= {e for p in store.all_projections() for e in p.folds}
