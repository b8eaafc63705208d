"""Given these events of one session, expect these spans."""

import msgspec

from rutter.events.action import Untrusted
from rutter.events.advisor import (
    AdviceFailed,
    AdviceLost,
    AdvicePrepared,
    AdviceReceived,
    TokenUsage,
    WantedCall,
)
from rutter.events.critic import CompletionChecked, OutcomeUnknown, PageAssessed
from rutter.events.envelope import Envelope
from rutter.events.executor import (
    ActionDone,
    ActionFailed,
    PersonActed,
    TargetChanged,
    TargetMissing,
)
from rutter.events.observer import BrowserLost, DialogOpened, ObservationFailed
from rutter.events.person import ApprovalAnswered
from rutter.events.planner import (
    AdviceRequested,
    ObservationRequested,
    PlanProposed,
    PlanWithheld,
    RunStopped,
)
from rutter.events.predictor import PredictionMade, StepDue, WorkflowFinished
from rutter.events.runtime import (
    ActorFailed,
    DeadlinePassed,
    PayloadGone,
    SessionEnded,
    SessionInterrupted,
    StopRequested,
)
from rutter.events.validator import (
    ActionApproved,
    ActionRejected,
    ActionStarted,
    ActionWithheld,
    ApprovalRequested,
    ApprovalVoided,
    PlanAdmitted,
)
from rutter.replay.traces import Link
from rutter.replay.traces.ids import run_id, trace_id
from rutter.replay.traces.session_spans import MAX_NOTES, MAX_WAITING
from rutter.replay.traces.span import CLIENT, ERROR, OK, UNSET
from tests.support.shop_facts import (
    element,
    free_run,
    judged,
    page,
    recording_of,
    run_of,
    saw,
    step,
)
from tests.support.trail_sessions import (
    CLICK,
    PROMPT,
    act,
    advised,
    approve,
    begin,
    end,
    judge,
    observed,
    plain,
    propose,
    resolve,
    under_way,
    whole_step,
)
from tests.support.trails import MS, Trail, Tree, check_tree

WORK = ["observe", "judge", "predict", "plan", "validate", "resolve", "validate", "act"]
SEEN = ["observe", "judge", "learn"]


# -- the tree --------------------------------------------------------------------------------------


def test_a_run_holds_its_steps_and_a_step_what_the_actors_did() -> None:
    tree = Tree(plain(steps=2).events)
    assert tree.run.name == "run order"
    assert tree.names(tree.run) == ["step 1 click", "step 2 click", "plan"]
    first, second = tree.steps()
    assert tree.names(first) == WORK + SEEN
    assert tree.names(second) == WORK[2:] + SEEN
    check_tree(tree.spans)


def test_every_event_lies_in_a_span() -> None:
    trail = plain(steps=3)
    told: list[str] = []
    for span in Tree(trail.events).spans:
        told += str(span.attributes.get("rutter.events", "")).split()
    assert len(told) == trail.n - 2  # the first and the last are the run itself


def test_work_links_to_the_span_that_its_cause_lies_in() -> None:
    tree = Tree(plain().events)
    linked = [(span.name, tree.linked(span)) for span in tree.below(tree.steps()[0])]
    assert linked == [
        ("observe", ["run order"]),
        ("judge", ["observe"]),
        ("predict", ["judge"]),
        ("plan", ["predict"]),
        ("validate", ["plan"]),
        ("resolve", ["validate"]),
        ("validate", ["resolve"]),
        ("act", ["validate"]),
        ("observe", ["act"]),
        ("judge", ["observe"]),
        ("learn", ["judge"]),
    ]


def test_what_one_actor_did_about_one_cause_is_one_span() -> None:
    tree = Tree(plain().events)
    assert [span.attributes["rutter.events"] for span in tree.named("validate")] == [
        "PlanAdmitted",
        "ActionApproved ActionStarted",
    ]


def test_a_span_is_finished_only_when_nothing_can_be_added_to_it() -> None:
    trail = plain()
    assert Tree(trail.events[:-1]).named("run order") == []
    assert Tree(trail.events[:-1]).named("step 1 click") == []
    assert Tree(trail.events[:2]).spans == []


# -- times -----------------------------------------------------------------------------------------


def test_work_that_says_how_long_it_took_began_that_long_before_its_report() -> None:
    trail = plain()
    done = next(told for told in trail.events if isinstance(told.event, ActionDone))
    act_span = Tree(trail.events).only("act")
    assert (act_span.start_ns, act_span.end_ns) == (done.at_ns - 10 * MS, done.at_ns)


def test_work_never_began_before_its_cause() -> None:
    trail = under_way(propose, resolve, approve)
    started = trail.events[-1]
    trail.tell("executor", ActionDone(1, 1, took_us=9_000_000), ms=5)
    judge(trail)
    end(trail)
    assert Tree(trail.events).only("act").start_ns == started.at_ns


def test_a_decision_takes_from_its_cause_to_its_last_event() -> None:
    trail = plain()
    tree = Tree(trail.events)
    due = next(told for told in trail.events if isinstance(told.event, StepDue))
    proposed = next(told for told in trail.events if isinstance(told.event, PlanProposed))
    [planning] = [span for span in tree.below(tree.steps()[0]) if span.name == "plan"]
    assert (planning.start_ns, planning.end_ns) == (due.at_ns, proposed.at_ns)


def test_a_run_reaches_from_its_first_event_to_its_last() -> None:
    trail = plain()
    run = Tree(trail.events).run
    assert (run.start_ns, run.end_ns) == (trail.events[0].at_ns, trail.events[-1].at_ns)


# -- status ----------------------------------------------------------------------------------------


def test_what_was_confirmed_is_ok() -> None:
    tree = Tree(plain().events)
    assert [tree.run.status, tree.steps()[0].status, tree.named("judge")[-1].status] == [OK] * 3
    assert tree.only("act").status == UNSET  # whether it worked is the Critic's to say
    assert tree.steps()[0].attributes["rutter.verdict"] == "confirmed"
    assert tree.run.attributes["rutter.steps.confirmed"] == 1


def test_a_retry_is_the_same_step() -> None:
    trail = under_way(propose, resolve, approve)
    trail.tell("executor", ActionFailed(1, 1, "element_obscured", False, "a banner", 4_000), ms=5)
    judge(trail, judged("failed"))
    propose(trail, attempt=2)
    resolve(trail, attempt=2)
    approve(trail, attempt=2)
    act(trail, attempt=2)
    judge(trail, judged(attempt=2))
    end(trail)
    tree = Tree(trail.events)
    [only] = tree.steps()
    first, second = tree.named("act")
    assert (only.attributes["rutter.attempts"], only.status) == (2, OK)
    assert (first.status, first.message) == (ERROR, "element_obscured: a banner")
    assert first.attributes["error.type"] == "element_obscured"
    assert (second.attributes["rutter.attempt"], second.status) == (2, UNSET)
    assert tree.names(only) == WORK + SEEN[:2] + WORK[2:] + SEEN
    check_tree(tree.spans)


def test_a_step_that_stays_failed_is_an_error_and_so_is_its_run() -> None:
    trail = under_way(propose, resolve, approve, act)
    judge(trail, judged("no_effect"))
    end(trail, "failed", "verification_failed", "no_effect: nothing_changed")
    tree = Tree(trail.events)
    assert (tree.steps()[0].status, tree.steps()[0].message) == (ERROR, "no_effect: seen")
    assert tree.run.status == ERROR
    assert tree.run.message == "verification_failed: no_effect: nothing_changed"
    assert tree.run.attributes["rutter.end.failure"] == "verification_failed"


def test_a_refusal_ends_its_step_with_the_reason() -> None:
    trail = under_way(propose)
    refused = ActionRejected(1, "denylist", "it deletes", "1", "policy_denied", "policy_denied")
    trail.tell("validator", refused)
    end(trail, "policy_denied", "policy_denied", "it deletes")
    tree = Tree(trail.events)
    assert tree.steps()[0].attributes["rutter.verdict"] == "rejected"
    assert tree.steps()[0].message == tree.only("validate").message == "policy_denied: it deletes"


def test_an_element_that_is_not_there_is_an_error_of_looking_for_it() -> None:
    trail = under_way(propose)
    trail.tell("validator", PlanAdmitted(1, 1, CLICK, 3_000))
    trail.tell("executor", TargetMissing(1, 1, "element_not_found", took_us=3_000), ms=4)
    missing = ActionRejected(1, "target_exists", "none", "1", "execution_error", "")
    trail.tell("validator", missing)
    end(trail, "failed", "lost", "none")
    tree = Tree(trail.events)
    assert (tree.only("resolve").status, tree.only("resolve").message) == (
        ERROR,
        "element_not_found",
    )
    assert tree.run.status == ERROR


def test_an_element_that_changed_is_judged_again_in_the_same_step() -> None:
    trail = under_way(propose, resolve, approve)
    trail.tell("executor", TargetChanged(1, 1, element(digest="e2")), ms=2)
    approve(trail)
    act(trail)
    judge(trail)
    end(trail)
    tree = Tree(trail.events)
    assert [span.status for span in tree.named("act")] == [ERROR, UNSET]
    assert tree.steps()[0].status == OK


def test_a_dry_run_stops_with_no_fault() -> None:
    trail = under_way(propose)
    trail.tell("validator", ActionWithheld(1, CLICK, "would have done it"))
    end(trail, "completed_unverified", "", "dry run")
    tree = Tree(trail.events)
    assert (tree.run.status, tree.steps()[0].status) == (UNSET, UNSET)
    assert tree.steps()[0].attributes["rutter.verdict"] == "withheld"


def test_a_person_who_stops_a_run_makes_no_error_of_it() -> None:
    trail = under_way(propose)
    trail.tell("runtime", StopRequested("the person at the terminal"), cause=0)
    end(trail, "cancelled", "", "stopped")
    tree = Tree(trail.events)
    assert (tree.run.status, tree.steps()[0].status) == (UNSET, UNSET)


# -- people ----------------------------------------------------------------------------------------


def ask(trail: Trail, *, approved: bool) -> None:
    begin(trail)
    propose(trail)
    resolve(trail)
    asked = ApprovalRequested("1.1.1", 1, "policy", "click 'Go': it pays. Approve?", "denylist")
    trail.tell("validator", asked)
    trail.tell("person", ApprovalAnswered("1.1.1", approved, "terminal"), ms=4_000)


def test_waiting_for_a_person_is_a_span_of_its_own() -> None:
    trail = Trail()
    ask(trail, approved=True)
    used = ApprovalVoided("1.1.1", "used")
    allowed = ActionApproved(1, "denylist", "approved by a person", "1", "1.1.1")
    trail.tell("validator", used, allowed, ActionStarted(1, 1, CLICK))
    act(trail)
    judge(trail)
    end(trail)
    tree = Tree(trail.events)
    waited = tree.only("ask person")
    assert waited.end_ns - waited.start_ns == 4_000 * MS
    assert waited.attributes["input.value"] == "click 'Go': it pays. Approve?"
    assert (waited.attributes["output.value"], waited.status) == ("yes", OK)
    assert tree.linked(waited) == ["validate"]
    assert tree.linked(tree.named("validate")[-1]) == ["ask person"]
    check_tree(tree.spans)


def test_a_person_who_says_no_is_told_as_such() -> None:
    trail = Trail()
    ask(trail, approved=False)
    refused = ActionRejected(1, "denylist", "not approved", "1", "policy_denied", "human_rejected")
    trail.tell("validator", ApprovalVoided("1.1.1", "refused"), refused)
    end(trail, "policy_denied", "policy_denied", "not approved")
    tree = Tree(trail.events)
    assert (tree.only("ask person").status, tree.only("ask person").message) == (
        ERROR,
        "not approved",
    )
    assert tree.steps()[0].message == "human_rejected: not approved"


def test_what_a_person_did_is_a_step_that_a_person_drove() -> None:
    trail = Trail()
    trail.tell("runtime", recording_of(), cause=0)
    for number in (1, 2):
        trail.tell("person", PersonActed(number, CLICK), cause=0, ms=50)
        trail.tell("observer", observed("/done"))
        trail.tell("critic", judged(), PageAssessed())
    end(trail)
    tree = Tree(trail.events)
    assert [span.name for span in tree.steps()] == ["step 1 click", "step 2 click"]
    assert [span.attributes["rutter.driver"] for span in tree.steps()] == ["person", "person"]
    assert tree.names(tree.steps()[0]) == ["act", "observe", "judge"]
    check_tree(tree.spans)


# -- models ----------------------------------------------------------------------------------------


def test_a_model_call_follows_the_genai_conventions() -> None:
    tree = Tree(advised().events)
    call = tree.only("chat claude-sonnet-5")
    assert (call.kind, call.status) == (CLIENT, UNSET)
    assert call.end_ns - call.start_ns == 700 * MS
    expected = {
        "openinference.span.kind": "LLM",
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "anthropic",
        "gen_ai.request.model": "claude-sonnet-5",
        "gen_ai.response.model": "claude-sonnet-5",
        "gen_ai.usage.input_tokens": 1_200,
        "gen_ai.usage.output_tokens": 80,
        "gen_ai.usage.cache_read.input_tokens": 1_000,
        "gen_ai.usage.cache_creation.input_tokens": 150,
        "gen_ai.response.finish_reasons": ("tool_call",),
        "llm.model_name": "claude-sonnet-5",
        "llm.token_count.prompt": 1_200,
        "llm.token_count.completion": 80,
        "llm.token_count.total": 1_280,
        "llm.cost.total": 0.0048,
        "rutter.advice.purpose": "plan",
        "rutter.advice.estimated_tokens": 1_100,
        "rutter.advice.prompt": PROMPT.sha256,
        "rutter.advice.missing": ("picture",),
        "rutter.certainty": 0.9,
        "rutter.events": "AdvicePrepared AdviceReceived",
        "output.value": "The button leads on.",
    }
    assert {key: call.attributes[key] for key in expected} == expected


def test_a_model_call_belongs_to_the_step_that_it_led_to() -> None:
    tree = Tree(advised().events)
    assert tree.names(tree.steps()[0])[:5] == [
        *("observe", "judge", "plan", "chat claude-sonnet-5", "plan")
    ]
    assert tree.linked(tree.only("chat claude-sonnet-5")) == ["plan"]
    check_tree(tree.spans)


def test_a_run_tells_what_its_models_cost() -> None:
    run = Tree(advised().events).run
    told = {key: run.attributes[key] for key in ("rutter.model_calls", "rutter.cost_microdollars")}
    assert told == {"rutter.model_calls": 1, "rutter.cost_microdollars": 4_800}
    assert run.attributes["rutter.tokens.input"] == 1_200


def test_a_model_that_fails_is_an_error_with_its_code() -> None:
    trail = under_way()
    trail.tell("planner", AdviceRequested("a1", "plan", "anthropic", "claude-x"))
    trail.tell("advisor", AdviceFailed("a1", "anthropic", "overloaded", True, "busy", 90), ms=100)
    end(trail, "failed", "lost")
    call = Tree(trail.events).only("chat claude-x")
    assert (call.status, call.message) == (ERROR, "overloaded: busy")
    assert call.attributes["error.type"] == "overloaded"
    assert call.attributes["gen_ai.request.model"] == "claude-x"


def test_an_answer_that_never_came_is_a_call_that_was_lost() -> None:
    trail = under_way()
    trail.tell("planner", AdviceRequested("a1", "plan", "anthropic", "claude-x"))
    asked_ns = trail.events[-1].at_ns
    trail.later(3_600_000)
    trail.tell("runtime", SessionInterrupted("the process that ran it died"), cause=0)
    trail.tell("planner", AdviceLost("a1"))
    end(trail, "interrupted", "", "the process that ran it died")
    tree = Tree(trail.events)
    call = tree.only("chat claude-x")
    assert (call.start_ns, call.end_ns, call.status) == (asked_ns, asked_ns, ERROR)
    assert tree.run.attributes["rutter.model_calls"] == 1
    check_tree(tree.spans)


def test_a_lost_call_is_no_part_of_what_the_planner_says_beside_it() -> None:
    trail = under_way()
    trail.tell("planner", AdviceRequested("a1", "plan", "anthropic", "claude-x"))
    trail.tell("advisor", AdvicePrepared("a1", PROMPT, 700))
    stop = trail.tell("person", StopRequested("person", "enough"), cause=0)
    stopped = RunStopped("cancelled", "", "enough", 1)
    trail.tell("planner", AdviceLost("a1"), stopped, cause=stop)
    trail.tell("runtime", SessionEnded("cancelled", "", "enough"))
    tree = Tree(trail.events)
    call = tree.only("chat claude-x")
    assert (call.status, call.message) == (ERROR, "lost")
    assert call.attributes["error.type"] == "lost"
    assert call.attributes["rutter.events"] == "AdvicePrepared AdviceLost"
    assert tree.spans[-2].attributes["rutter.events"] == "RunStopped"
    totals = ("rutter.model_calls", "rutter.model_calls.failed", "rutter.model_calls.unpriced")
    assert [tree.run.attributes[total] for total in totals] == [1, 1, 1]
    check_tree(tree.spans)


def test_what_happens_while_a_model_thinks_is_no_part_of_its_call() -> None:
    trail = under_way()
    asked = trail.tell("planner", AdviceRequested("a1", "act", "ollama", "m"))
    prepared = trail.tell("advisor", AdvicePrepared("a1", PROMPT, 700), cause=asked)
    trail.tell("observer", observed("/meanwhile"), cause=0, ms=30)
    calls = (
        WantedCall("c1", "click", '{"ref":"@e1"}'),
        WantedCall("c2", "fill", "{}", "give a ref"),
    )
    answer = AdviceReceived(
        "a1", "ollama", "m:7b", calls=calls, usage=TokenUsage(9, 2), priced=False, took_ms=60
    )
    trail.tell("advisor", answer, cause=prepared, ms=40)
    end(trail)
    tree = Tree(trail.events)
    call = tree.only("chat m:7b")
    assert call.end_ns - call.start_ns == 60 * MS
    expected = {
        "gen_ai.request.model": "m",
        "gen_ai.tool.call.id": "c1",
        "rutter.advice.tool": "click",
        "rutter.advice.tools": ("click", "fill"),
        "rutter.advice.ignored": 1,
        "rutter.advice.priced": False,
        "output.value": "click ref=@e1",
    }
    assert {key: call.attributes[key] for key in expected} == expected
    # A sum that nobody knows is not told as none.
    assert not {"llm.cost.total", "rutter.cost_microdollars"} & set(call.attributes)
    assert tree.run.attributes["rutter.model_calls.unpriced"] == 1
    assert tree.run.attributes["rutter.model_calls.failed"] == 0
    check_tree(tree.spans)


def test_an_answer_that_is_none_is_an_error() -> None:
    trail = under_way()
    trail.tell("planner", AdviceRequested("a1", "repair", "openai", "gpt", 2, 3, 4, 1))
    trail.tell("advisor", AdviceReceived("a1", "openai", "gpt", "cut", invalid="no object"))
    end(trail)
    call = Tree(trail.events).only("chat gpt")
    assert (call.status, call.message) == (ERROR, "invalid: no object")
    expected = {
        "error.type": "invalid",
        "gen_ai.response.finish_reasons": ("length",),
        "rutter.advice.invalid": "no object",
        "rutter.advice.attempt": 2,
        "rutter.step": 3,
        "rutter.index": 4,
        "rutter.advice.correction": 1,
    }
    assert {key: call.attributes[key] for key in expected} == expected


def test_a_call_that_nobody_ended_is_there_all_the_same() -> None:
    trail = under_way()
    trail.tell("planner", AdviceRequested("a1", "plan", "anthropic", "claude-x"))
    trail.tell("advisor", AdvicePrepared("a1", PROMPT, 700))
    trail.tell("runtime", ActorFailed("critic", "ValueError", "broken"), cause=0)
    trail.tell("runtime", SessionEnded("failed", "actor_failed", "broken"))
    tree = Tree(trail.events)
    assert tree.only("chat claude-x").message == "no answer"
    assert tree.run.attributes["rutter.model_calls"] == 1
    check_tree(tree.spans)


def test_a_call_is_counted_though_that_it_was_asked_for_is_erased() -> None:
    trail = under_way()
    trail.tell("planner", PayloadGone("AdviceRequested", bytes(32)))
    trail.tell("advisor", AdviceReceived("a1", "anthropic", "m", cost_microdollars=7))
    end(trail)
    run = Tree(trail.events).run.attributes
    totals = ("rutter.model_calls", "rutter.model_calls.unpriced", "rutter.cost_microdollars")
    assert [run[total] for total in totals] == [1, 0, 7]


# -- trouble ---------------------------------------------------------------------------------------


def test_an_interrupted_run_ends_at_its_last_sign_of_life() -> None:
    trail = under_way(propose, resolve, approve)
    alive_ns = trail.events[-1].at_ns
    trail.later(86_400_000)
    trail.tell("runtime", SessionInterrupted("the process that ran it died"), cause=0)
    stopped = trail.tell("planner", RunStopped("interrupted", "", "died", 1))
    trail.tell("critic", OutcomeUnknown(1, 1, "interrupted before its outcome was judged"))
    trail.tell("runtime", SessionEnded("interrupted", "", "died"), cause=stopped)
    tree = Tree(trail.events)
    assert tree.run.end_ns == alive_ns
    assert (tree.run.status, tree.run.message) == (ERROR, "interrupted: died")
    assert [event.name for event in tree.steps()[0].events] == ["SessionInterrupted"]
    assert tree.steps()[0].attributes["rutter.verdict"] == "unknown"
    assert tree.steps()[0].message.startswith("outcome unknown")
    check_tree(tree.spans)


def test_a_browser_that_died_is_the_error_of_whoever_was_at_work() -> None:
    trail = under_way(propose, resolve, approve)
    trail.tell("executor", BrowserLost("the browser is gone"), ms=9)
    trail.tell("planner", RunStopped("interrupted", "browser_lost", "the browser is gone", 1))
    trail.tell("critic", OutcomeUnknown(1, 1, "interrupted before its outcome was judged"))
    trail.tell("runtime", SessionEnded("interrupted", "browser_lost", "the browser is gone"))
    tree = Tree(trail.events)
    assert tree.only("act").message == "browser_lost: the browser is gone"
    assert tree.only("act").attributes["error.type"] == "browser_lost"
    assert tree.names(tree.run) == ["step 1 click", "plan"]


def test_a_page_that_cannot_be_read_is_an_error_of_looking() -> None:
    trail = Trail()
    trail.tell("runtime", run_of(None), cause=0)
    trail.tell("observer", ObservationFailed("timeout", "no answer"), ms=3_000)
    end(trail, "interrupted", "browser_lost", "timeout")
    tree = Tree(trail.events)
    assert (tree.only("observe").status, tree.only("observe").message) == (
        ERROR,
        "timeout: no answer",
    )
    assert tree.names(tree.run) == ["observe", "plan"]


def test_an_actor_that_fails_leaves_an_exception_where_it_was_at_work() -> None:
    trail = under_way(propose, resolve, approve, act)
    trail.tell("observer", observed("/done"))
    trail.tell("runtime", ActorFailed("critic", "KeyError", "'place'"))
    trail.tell("runtime", SessionEnded("failed", "actor_failed", "critic: KeyError"))
    tree = Tree(trail.events)
    failed = tree.named("judge")[-1]
    assert (failed.status, failed.message) == (ERROR, "KeyError: 'place'")
    [raised] = failed.events
    assert raised.name == "exception"
    assert raised.attributes == {"exception.type": "KeyError", "exception.message": "'place'"}
    assert tree.steps()[0].message == "no verdict: actor_failed: critic: KeyError"
    check_tree(tree.spans)


def test_a_turn_that_does_not_end_is_the_runtimes_own_failure() -> None:
    trail = under_way()
    trail.tell("runtime", ActorFailed("runtime", "TurnTooLong", "256 events"))
    trail.tell("runtime", SessionEnded("failed", "actor_failed"))
    assert Tree(trail.events).only("runtime").status == ERROR


def test_thoughts_that_led_to_no_step_are_the_runs_own() -> None:
    trail = Trail()
    trail.tell("runtime", free_run(), cause=0)
    trail.tell("observer", observed())
    trail.tell("critic", PageAssessed())
    trail.tell("predictor", PredictionMade("markov2", 7))
    withheld = PlanWithheld("no_predictions_available")
    trail.tell("planner", withheld, RunStopped("failed", "lost", "no_predictions_available"))
    trail.tell("runtime", SessionEnded("failed", "lost", "no_predictions_available"))
    tree = Tree(trail.events)
    assert tree.names(tree.run) == ["observe", "judge", "predict", "plan"]
    assert tree.only("plan").attributes["rutter.events"] == "PlanWithheld RunStopped"


def test_looking_again_before_a_step_is_part_of_the_step_that_comes_of_it() -> None:
    trail = under_way()
    unmet = StepDue(0, 1, step(CLICK), unmet="not at /done yet")
    trail.tell("predictor", unmet)
    trail.tell("planner", ObservationRequested("place_unmet", 3_000))
    trail.tell("observer", observed())
    trail.tell("critic", PageAssessed())
    whole_step(trail)
    end(trail)
    tree = Tree(trail.events)
    assert tree.names(tree.steps()[0])[:6] == [
        *("observe", "judge", "predict", "plan", "observe", "judge")
    ]
    check_tree(tree.spans)


def test_looking_again_for_an_effect_is_the_critics_work() -> None:
    trail = under_way(propose, resolve, approve, act)
    trail.tell("observer", observed())
    trail.tell("critic", ObservationRequested("effect_awaited", 900))
    judge(trail)
    end(trail)
    tree = Tree(trail.events)
    assert tree.named("judge")[1].attributes["rutter.events"] == "ObservationRequested"


def test_the_end_that_is_checked_is_the_runs_own() -> None:
    trail = under_way(whole_step)
    trail.tell("predictor", WorkflowFinished(1), cause=trail.n - 1)
    trail.tell("critic", CompletionChecked(True, "the recorded end is reached"))
    end(trail)
    tree = Tree(trail.events)
    assert tree.names(tree.run) == ["step 1 click", "predict", "judge", "plan"]
    assert tree.named("judge")[-1].status == OK


# -- moments ---------------------------------------------------------------------------------------


def test_what_happened_beside_the_road_is_noted_where_it_fell() -> None:
    trail = under_way(propose, resolve, approve, act)
    dialog = DialogOpened("alert", Untrusted("Are you sure?"), "dismissed")
    trail.tell("observer", dialog)
    judge(trail)
    trail.tell("clock", DeadlinePassed("wall_time", 90_000), cause=0)
    end(trail, "max_wall_time", "", "90000 ms have passed")
    tree = Tree(trail.events)
    [opened] = tree.steps()[0].events
    assert (opened.name, opened.attributes["rutter.message"]) == ("DialogOpened", "Are you sure?")
    assert opened.at_ns == next(t for t in trail.events if t.event is dialog).at_ns
    assert [event.name for event in tree.run.events] == ["DeadlinePassed"]
    assert tree.linked(tree.below(tree.run)[-1]) == ["run order"]  # the plan that stopped it


def test_a_page_that_opens_dialogs_without_end_fills_no_span() -> None:
    trail = under_way(propose)
    for _ in range(3 * MAX_NOTES):
        trail.tell("observer", DialogOpened("alert", Untrusted("again"), "dismissed"))
    end(trail)
    assert len(Tree(trail.events).steps()[0].events) == MAX_NOTES


def test_a_run_that_looks_without_end_holds_little() -> None:
    trail = under_way()
    for _ in range(MAX_WAITING):
        trail.tell("observer", saw(page("/")))
    assert len(Tree(trail.events).spans) > MAX_WAITING
    end(trail)
    check_tree(Tree(trail.events).spans)


# -- other sessions --------------------------------------------------------------------------------


def test_a_session_that_continues_another_links_to_its_trace() -> None:
    trail = Trail("run-2")
    started = msgspec.structs.replace(run_of(None), continues="run-1", forked_from="run-0")
    trail.tell("runtime", started, cause=0)
    end(trail)
    assert Tree(trail.events).run.links == (
        Link(trace_id("run-1"), run_id("run-1"), "continues"),
        Link(trace_id("run-0"), run_id("run-0"), "forked_from"),
    )


def test_an_erased_payload_leaves_its_place_in_the_trace() -> None:
    trail = plain()
    tree = Tree([told if told.n != 2 else _erased(2, trail) for told in trail.events])
    assert [event.name for event in tree.run.events] == ["PayloadGone"]
    check_tree(tree.spans)


def test_a_run_whose_end_was_erased_is_over_all_the_same() -> None:
    trail = plain()
    tree = Tree([*trail.events[:-1], _erased(trail.n, trail, "SessionEnded")])
    assert tree.run.status == UNSET
    assert "rutter.end.reason" not in tree.run.attributes


def _erased(n: int, trail: Trail, was: str = "PageObserved") -> Envelope:
    return msgspec.structs.replace(trail.events[n - 1], event=PayloadGone(was, bytes(32)))
