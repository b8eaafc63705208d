"""Three kinds of step as spans: what is read, what is checked, and looks whether a step worked."""

from typing import Any

from rutter.events.action import Untrusted
from rutter.events.advisor import TokenUsage, VisionGiven
from rutter.events.checks import ReadBack
from rutter.events.critic import ReadBackDue, VisionSought
from rutter.events.executor import QueryAnswered, QueryFailed
from rutter.events.observer import FileSeen, FilesSeen
from rutter.events.planner import ObservationRequested
from rutter.events.validator import ActionRejected, PlanAdmitted, QueryStarted
from rutter.replay.traces.span import CLIENT, ERROR, OK, UNSET
from tests.support import shop_facts, step_kinds
from tests.support.trail_sessions import (
    act,
    approve,
    end,
    judge,
    observed,
    propose,
    resolve,
    under_way,
)
from tests.support.trails import MS, Trail, Tree, check_tree


def read(trail: Trail, number: int, answer: Any) -> None:
    """An observation, planned and made."""
    trail.tell(
        "planner", shop_facts.plan(step_kinds.READ, "workflow", number=number, kind="observation")
    )
    trail.tell("validator", PlanAdmitted(number, 1, step_kinds.READ, 3_000))
    trail.tell("executor", shop_facts.found(shop_facts.element(name="Number"), number), ms=2)
    trail.tell("validator", QueryStarted(number, 1, step_kinds.READ, "e1"))
    trail.tell("executor", answer, ms=7)


def saved_and_looked(trail: Trail) -> int:
    """Step 1 is done and looked for elsewhere by step 2, which has been seen; where that was."""
    propose(trail)
    resolve(trail)
    approve(trail)
    act(trail)
    trail.tell("observer", observed("/saved"))
    trail.tell("critic", ReadBackDue(1, 1, step_kinds.LOOK))
    look = shop_facts.plan(
        step_kinds.ASIDE, "workflow", number=2, kind="verification", read_back_of=1
    )
    trail.tell("planner", look)
    approve(trail, 2)
    act(trail, 2)
    return trail.tell("observer", observed("/orders"))


def test_an_observation_is_a_step_that_is_answered_by_its_act() -> None:
    trail = under_way()
    read(trail, 1, QueryAnswered(1, 1, 5_000))
    end(trail)
    tree = Tree(trail.events)
    [step] = tree.steps()
    done = tree.only("act")
    assert step.name == "step 1 extract"
    assert (step.attributes["rutter.kind"], step.attributes["rutter.verdict"]) == (
        "observation",
        "answered",
    )
    assert (step.status, done.status) == (OK, OK)
    assert done.end_ns - done.start_ns == 5 * MS
    assert done.attributes["gen_ai.tool.name"] == "extract"
    assert "judge" not in tree.names(step)[3:]
    assert tree.run.attributes["rutter.steps.answered"] == 1
    assert tree.run.attributes["rutter.steps.confirmed"] == 0
    check_tree(tree.spans)


def test_an_observation_that_found_nothing_is_an_error() -> None:
    trail = under_way()
    read(trail, 1, QueryFailed(1, 1, "ref_invalid", "another element", 1_000))
    end(trail, "failed", "lost", "ref_invalid")
    tree = Tree(trail.events)
    [step] = tree.steps()
    assert (step.status, step.message) == (ERROR, "ref_invalid: another element")
    assert step.attributes["rutter.verdict"] == "failed"
    assert tree.only("act").attributes["error.type"] == "ref_invalid"


def test_what_was_read_goes_out_bounded() -> None:
    trail = under_way()
    read(trail, 1, QueryAnswered(1, 1, 5, Untrusted("r" * 5_000)))
    end(trail)
    assert Tree(trail.events).only("act").attributes["output.value"] == "r" * 200


def test_a_look_whether_it_worked_lies_in_its_step_and_both_get_their_verdict() -> None:
    trail = under_way()
    seen = saved_and_looked(trail)
    failed = step_kinds.judged(1, "failed", step_kinds.dom("Order 7", 200_000), sure=200_000)
    trail.tell(
        "critic", step_kinds.judged(2), failed, ObservationRequested("aside_over", 0), cause=seen
    )
    trail.tell("observer", observed("/saved"))
    read(trail, 3, QueryAnswered(3, 1, 5))
    end(trail, "failed", "verification_failed", "not there")
    tree = Tree(trail.events)
    saved, third = tree.steps()
    look = tree.only("step 2 navigate")
    assert look.parent_id == saved.span_id
    assert (saved.attributes["rutter.verdict"], look.attributes["rutter.verdict"]) == (
        "failed",
        "confirmed",
    )
    assert (saved.status, look.status) == (ERROR, OK)
    assert look.attributes["rutter.kind"] == "verification"
    assert look.attributes["rutter.read_back_of"] == 1
    assert (third.name, third.parent_id) == ("step 3 extract", tree.run.span_id)
    assert tree.names(look) == ["plan", "validate", "act", "observe", "judge"]
    assert tree.names(saved)[-3:] == ["judge", "step 2 navigate", "judge"]
    assert tree.below(saved)[-1].attributes["rutter.confidence"] == 0.2
    check_tree(tree.spans)


def test_a_look_that_policy_refuses_leaves_the_verdict_to_come() -> None:
    trail = under_way(propose, resolve, approve, act)
    trail.tell("observer", observed("/saved"))
    trail.tell("critic", ReadBackDue(1, 1, step_kinds.LOOK))
    trail.tell(
        "planner", shop_facts.plan(step_kinds.ASIDE, number=2, kind="verification", read_back_of=1)
    )
    trail.tell("validator", ActionRejected(2, "hosts", "not allowed", "1", "policy_denied"))
    trail.tell("critic", step_kinds.judged(1, "unknown"))
    end(trail, "failed", "verification_failed")
    tree = Tree(trail.events)
    [saved] = tree.steps()
    assert saved.attributes["rutter.verdict"] == "unknown"
    assert tree.only("step 2 navigate").attributes["rutter.verdict"] == "rejected"
    check_tree(tree.spans)


def test_a_second_try_after_a_look_goes_on_with_its_own_step() -> None:
    trail = under_way()
    seen = saved_and_looked(trail)
    trail.tell(
        "critic", step_kinds.judged(2, "failed"), step_kinds.judged(1, "no_effect"), cause=seen
    )
    trail.tell("planner", shop_facts.plan(step_kinds.SAVE, "workflow", attempt=2))
    approve(trail, 1, 2)
    act(trail, 1, 2)
    judge(trail, shop_facts.judged(attempt=2))
    end(trail)
    tree = Tree(trail.events)
    [saved] = tree.steps()
    assert (saved.attributes["rutter.attempts"], saved.attributes["rutter.verdict"]) == (
        2,
        "confirmed",
    )
    assert tree.only("step 2 navigate").parent_id == saved.span_id
    check_tree(tree.spans)


def test_both_are_without_a_verdict_when_the_run_dies_in_between() -> None:
    trail = under_way()
    saved_and_looked(trail)
    end(trail, "interrupted", "browser_lost", "gone")
    tree = Tree(trail.events)
    [saved] = tree.steps()
    look = tree.only("step 2 navigate")
    assert saved.message == look.message == "no verdict: browser_lost: gone"
    check_tree(tree.spans)


def test_vision_is_a_call_that_leaves_the_house_and_the_verdict_as_it_is() -> None:
    trail = under_way(propose, resolve, approve, act)
    trail.tell("observer", observed("/done"))
    trail.tell("critic", VisionSought(1, 1, "Order sent"))
    trail.tell("advisor", VisionGiven(1, 1, "VERIFIED", "scripted", "it shows it", took_ms=3), ms=4)
    trail.tell("critic", step_kinds.judged(1, "failed", step_kinds.dom("x", 200_000), sure=650_000))
    end(trail, "failed", "verification_failed")
    tree = Tree(trail.events)
    [step] = tree.steps()
    [call] = tree.named("chat")
    assert (call.kind, call.status, call.end_ns - call.start_ns) == (CLIENT, UNSET, 3 * MS)
    assert call.attributes["rutter.vision"] == "VERIFIED"
    assert call.parent_id == step.span_id
    assert (step.status, tree.named("judge")[-1].attributes["rutter.confidence"]) == (ERROR, 0.65)


def looked(given: VisionGiven) -> Tree:
    trail = under_way(propose)
    trail.tell("critic", VisionSought(1, 1, "Order sent"))
    trail.tell("advisor", given, ms=4)
    end(trail, "failed", "verification_failed")
    return Tree(trail.events)


TOTALS = (
    *("rutter.model_calls", "rutter.model_calls.failed", "rutter.model_calls.unpriced"),
    *("rutter.tokens.input", "rutter.cost_microdollars"),
)


def test_a_picture_that_was_looked_at_tells_what_it_cost() -> None:
    usage = TokenUsage(1_100, 20, 100, 50)
    tree = looked(
        VisionGiven(
            1, 1, "VERIFIED", "ollama", model="eyes-2", usage=usage, cost_microdollars=3_600
        )
    )
    expected = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "ollama",
        "gen_ai.response.model": "eyes-2",
        "gen_ai.usage.input_tokens": 1_100,
        "gen_ai.usage.output_tokens": 20,
        "gen_ai.usage.cache_read.input_tokens": 100,
        "gen_ai.usage.cache_creation.input_tokens": 50,
        "llm.model_name": "eyes-2",
        "llm.token_count.total": 1_120,
        "llm.cost.total": 0.0036,
        "rutter.cost_microdollars": 3_600,
        "rutter.advice.purpose": "vision",
        "rutter.advice.priced": True,
    }
    call = tree.only("chat eyes-2")
    assert {key: call.attributes[key] for key in expected} == expected
    assert [tree.run.attributes[key] for key in TOTALS] == [1, 0, 0, 1_100, 3_600]


def test_looking_that_fails_is_a_failed_call_and_nobody_to_look_is_none() -> None:
    tree = looked(VisionGiven(1, 1, "UNKNOWN", "ollama", "late", model="m", error="timeout"))
    call = tree.only("chat m")
    assert (call.status, call.attributes["error.type"]) == (ERROR, "timeout")
    assert "gen_ai.usage.input_tokens" not in call.attributes
    assert [tree.run.attributes[key] for key in TOTALS] == [1, 1, 1, 0, 0]

    tree = looked(VisionGiven(1, 1, "UNKNOWN", message="no vision is configured"))
    assert "gen_ai.usage.input_tokens" not in tree.only("chat").attributes
    assert [tree.run.attributes[key] for key in TOTALS] == [0, 0, 0, 0, 0]


def test_files_that_were_looked_at_are_told_by_their_number_alone() -> None:
    trail = under_way(propose)
    trail.tell("observer", FilesSeen(1, (FileSeen("/home/me/orders.csv"),)))
    end(trail)
    [*_, looked] = Tree(trail.events).named("observe")
    assert looked.attributes["rutter.files"] == 1
    assert not any("orders.csv" in str(value) for value in looked.attributes.values())


def test_where_it_is_looked_goes_out_without_its_query() -> None:
    trail = under_way(propose)
    trail.tell("critic", ReadBackDue(1, 1, ReadBack("/orders?key=1#x", step_kinds.LOOK.checks)))
    end(trail)
    [*_, due] = Tree(trail.events).named("judge")
    assert due.attributes["rutter.read_back.url"] == "/orders"
