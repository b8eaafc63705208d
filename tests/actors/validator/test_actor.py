"""Given a proposal and the element it turned out to be: admitted, refused, asked or started."""

from typing import Any

import msgspec

from rutter.actors.rules.policy.policy import DEFAULT_POLICY
from rutter.actors.rules.steps.confidence import apart
from rutter.actors.validator.actor import Validator
from rutter.events.action import (
    Action,
    ByBeside,
    ByRole,
    Parameter,
    Secret,
    Target,
    Text,
    Untrusted,
)
from rutter.events.critic import OutcomeUnknown, PageAssessed
from rutter.events.executor import ErrorCode, TargetChanged, TargetMissing
from rutter.events.page import Resolved, Resting
from rutter.events.person import ApprovalAnswered
from rutter.events.planner import CheckpointReached, PlanProposed, RunStopped
from rutter.events.policy import Policy
from rutter.events.runtime import SessionStarted
from rutter.events.service_pack import Checkpoint, Service, Sign
from rutter.events.signature import signature
from rutter.events.tools import ApprovalSought, approval_of
from rutter.events.validator import (
    ActionApproved,
    ActionRejected,
    ActionStarted,
    ActionWithheld,
    ApprovalRequested,
    ApprovalVoided,
    CheckpointPassed,
    CheckpointRefused,
    PlanAdmitted,
    QueryStarted,
)
from rutter.events.vocabulary import AnyEvent
from rutter.events.workflow import Driver, Place, StandingApproval, Workflow
from tests.support.case_table import for_each
from tests.support.given_when_then import Story, Told, given
from tests.support.shop_facts import (
    ORIGIN,
    any_action,
    click,
    css,
    element,
    fill,
    found,
    free_run,
    go_to,
    judged,
    page,
    plan,
    recording_of,
    run_of,
    saw,
    step,
    workflow,
)

RECORDING = recording_of(click())
SEND = element(digest="send", name="Place order", submits=True, form_method="post")
PLAIN = element(digest="plain", name="Next page")


def said(*story: AnyEvent | Told) -> tuple[AnyEvent, ...]:
    return given(Validator(), *story)


def rejected(rule: str, reason: str, code: Any, error: str, version: str = "1") -> ActionRejected:
    return ActionRejected(1, rule, reason, version, code, error)


def yes(approval: str = "1.1.1", by: Any = "terminal") -> ApprovalAnswered:
    return ApprovalAnswered(approval, True, by)


def no(message: str = "", by: Any = "terminal", approval: str = "1.1.1") -> ApprovalAnswered:
    return ApprovalAnswered(approval, False, by, message)


# -- the first look ------------------------------------------------------------------------------


def test_a_well_formed_proposal_is_admitted_to_be_looked_for() -> None:
    assert said(RECORDING, plan(click())) == (PlanAdmitted(1, 1, click(), 3_000, answer_ms=10_000),)


def test_how_long_it_is_looked_for_is_a_setting() -> None:
    [admitted] = said(recording_of(resolve_ms=7), plan(click(), number=4, attempt=2))
    assert admitted == PlanAdmitted(4, 2, click(), within_ms=7, answer_ms=10_000)


@for_each(
    "action, missing",
    [
        (Action("navigate"), "navigate needs a url"),
        (Action("click"), "click needs a target"),
        (Action("type", target=css("#a")), "type needs a value"),
        (Action("press"), "press needs a key"),
        (Action("select", value=Text("a")), "select needs a target"),
        (Action("scroll"), "scroll needs a direction"),
        (Action("wait_for"), "wait_for needs a target"),
        (Action("wait"), "wait needs a ms"),
        (Action("extract", target=Target(())), "extract needs a target"),
    ],
)
def test_a_proposal_that_misses_a_field_is_refused(action: Action, missing: str) -> None:
    assert said(RECORDING, plan(action)) == (
        rejected("required_fields", missing, "validation_error", "invalid_params"),
    )


@for_each("action", [any_action("wait"), any_action("wait_for")])
def test_what_only_waits_begins_at_once(action: Action) -> None:
    assert said(RECORDING, plan(action)) == (QueryStarted(1, 1, action),)


@for_each("action", [go_to("/"), any_action("check")])
def test_what_needs_no_element_is_judged_at_once(action: Action) -> None:
    assert said(RECORDING, plan(action)) == (
        ActionApproved(1, "nothing_matched", "no rule is against it", "1"),
        ActionStarted(1, 1, action),
    )


def test_a_scroll_of_the_whole_page_needs_no_element() -> None:
    whole = Action("scroll", direction="down")
    assert said(RECORDING, plan(whole))[1] == ActionStarted(1, 1, whole)


def test_a_scroll_to_an_element_does() -> None:
    assert isinstance(said(RECORDING, plan(Action("scroll", target=css("#a"))))[0], PlanAdmitted)


def test_a_key_press_is_resolved_to_what_has_the_focus() -> None:
    press = Action("press", key="Enter")
    assert said(RECORDING, plan(press)) == (PlanAdmitted(1, 1, press, 3_000, answer_ms=10_000),)
    assert isinstance(said(RECORDING, plan(press), found(SEND))[0], ApprovalRequested)


def test_a_navigation_against_policy_is_denied() -> None:
    private = go_to("/", origin="http://127.0.0.1:9")
    assert said(RECORDING, plan(private)) == (
        rejected(
            "private_network",
            "127.0.0.1:9 is private; name it with --allow 127.0.0.1:9",
            "policy_denied",
            "policy_denied",
        ),
    )


def test_a_refusal_names_the_policy_that_refused() -> None:
    strict = Policy("strict-3", public_hosts=False)
    [refusal] = said(recording_of(policy=strict), plan(go_to("/")))
    assert isinstance(refusal, ActionRejected)
    assert refusal.policy == "strict-3"


# -- the resolved element ------------------------------------------------------------------------


def test_an_element_nobody_objects_to_is_started_in_the_same_turn() -> None:
    assert said(RECORDING, plan(click()), found(PLAIN)) == (
        ActionApproved(1, "nothing_matched", "no rule is against it", "1"),
        ActionStarted(1, 1, click(), digest="plain"),
    )


def test_a_target_that_is_not_there_is_refused() -> None:
    missing = TargetMissing(1, 1, "element_not_found")
    assert said(RECORDING, plan(Action("click", target=css("#a", "#b"))), missing) == (
        rejected(
            "target_exists",
            "none of 2 ways to find it matched one visible element",
            "execution_error",
            "element_not_found",
        ),
    )


def test_a_key_with_nothing_to_press_it_on_is_refused() -> None:
    missing = TargetMissing(1, 1, "timeout")
    [refusal] = said(RECORDING, plan(Action("press", key="Enter")), missing)
    assert isinstance(refusal, ActionRejected)
    assert refusal.reason == "none of 0 ways to find it matched one visible element"


def test_a_list_is_not_typed_into() -> None:
    assert said(RECORDING, plan(fill()), found(element("select"))) == (
        rejected(
            "element_kind",
            "the element is a list to select from",
            "validation_error",
            "invalid_params",
        ),
    )


def test_a_list_is_selected_from() -> None:
    select = msgspec.structs.replace(fill(), type="select")
    assert isinstance(said(RECORDING, plan(select), found(element("select")))[0], ActionApproved)


@for_each("driver", ["person", "script", "workflow"])
def test_a_risky_element_asks_when_the_step_is_recorded(driver: Driver) -> None:
    risky = element(name="Delete all")
    flow = run_of(workflow(step(click())))
    assert said(flow, plan(click(), driver, index=0), found(risky)) == (
        ApprovalRequested(
            approval="1.1.1",
            step=1,
            kind="policy",
            question="order: Click the button \"Delete all\"? The element says 'delete'.",
            rule="denylist",
            signature=signature(click()),
            digest="e1",
            origin=ORIGIN,
            policy="1",
        ),
    )


@for_each("driver", ["prediction", "model", "agent"])
def test_a_risky_element_is_denied_to_who_did_not_record_it(driver: Driver) -> None:
    assert said(free_run(), plan(click(), driver), found(element(name="Delete all"))) == (
        rejected("denylist", "the element says 'delete'", "policy_denied", "policy_denied"),
    )


@for_each(
    "driver, known, asked",
    [
        ("prediction", "e1", True),  # a recording approved of it, on this very element
        ("prediction", "e2", False),  # on another one
        ("prediction", "", False),
        ("model", "e1", False),  # who proposes it has not seen it done
    ],
)
def test_what_is_predicted_and_was_recorded_on_this_element_is_asked_about(
    driver: Driver, known: str, asked: bool
) -> None:
    recorded = StandingApproval(ORIGIN, known) if known else None
    proposed = msgspec.structs.replace(plan(click(), driver), recorded=recorded)
    [first] = said(free_run(), proposed, found(element(name="Delete all")))
    assert isinstance(first, ApprovalRequested if asked else ActionRejected)
    assert first.rule == "denylist"


def test_a_literal_for_a_secret_field_is_denied() -> None:
    [refusal] = said(RECORDING, plan(fill("#pw", "hunter2")), found(element("input", secret=True)))
    assert isinstance(refusal, ActionRejected)
    assert refusal.rule == "secret_in_clear"
    assert "hunter2" not in refusal.reason


def test_a_secret_for_a_secret_field_is_started() -> None:
    typed = fill("#pw", Secret("pw"))
    story = RECORDING, plan(typed), found(element("input", secret=True))
    assert said(*story)[1] == ActionStarted(1, 1, typed, digest="e1")


def test_a_secret_for_a_plain_field_asks() -> None:
    [asked] = said(RECORDING, plan(fill("#name", Secret("pw"))), found(element("input")))
    assert isinstance(asked, ApprovalRequested)
    assert asked.rule == "secret_in_plain_field"


ENTER = Action("press", key="Enter", target=css("#quantity"))
BY_ENTER = element(
    "input", "quantity", "Quantity", submits=True, form_action="/order", form_method="post"
)
ORDERING = msgspec.structs.replace(SEND, form_action="/order")


@for_each(
    "became, action, meets, again",
    [
        (OutcomeUnknown(1, 1, "no answer"), click(), ORDERING, 1),
        (OutcomeUnknown(1, 1, "no answer"), ENTER, BY_ENTER, 1),  # the same form in another way
        (OutcomeUnknown(1, 1, "no answer"), click("#b"), element(name="Delete all"), 0),
        (OutcomeUnknown(7, 1, "of another step"), click(), ORDERING, 0),
        (judged(), click(), ORDERING, 0),
    ],
)
def test_a_question_says_which_step_may_have_done_the_same_already(
    became: AnyEvent, action: Action, meets: Resolved, again: int
) -> None:
    once = RECORDING, plan(click()), found(ORDERING), yes(), became
    [asked] = said(*once, plan(action, number=2), found(meets, step=2))
    assert isinstance(asked, ApprovalRequested)
    assert asked.maybe_done_by == again
    assert ("Step 1 may have done it already" in asked.question) is bool(again)


def test_what_may_have_happened_is_asked_about_whatever_its_recording_approved() -> None:
    approved = step(click(), standing_approval=EXACT)
    flow = run_of(workflow(approved, approved))
    once = flow, plan(click(), "workflow", index=0), found(SEND)
    assert isinstance(said(*once)[1], ActionStarted)
    twice = plan(click(), "workflow", number=2, index=1), found(SEND, step=2)
    assert isinstance(said(*once, *twice)[1], ActionStarted)
    [asked] = said(*once, OutcomeUnknown(1, 1, "no answer"), *twice)
    assert isinstance(asked, ApprovalRequested)
    assert (asked.rule, asked.maybe_done_by) == ("sends_a_form", 1)


def test_sending_a_form_asks() -> None:
    [asked] = said(RECORDING, plan(click()), found(SEND))
    assert isinstance(asked, ApprovalRequested)
    assert (asked.rule, asked.question) == (
        "sends_a_form",
        'Click the button "Place order"? It sends the form.',
    )


def test_a_question_about_an_element_without_a_name_does_without() -> None:
    [asked] = said(
        RECORDING, plan(click()), found(element(name="", submits=True, form_method="post"))
    )
    assert isinstance(asked, ApprovalRequested)
    assert asked.question == "Click the button without a name? It sends the form."


def test_reading_a_risky_element_needs_no_policy() -> None:
    read = Action("extract", target=css("#delete"))
    assert said(RECORDING, plan(read), found(element(name="Delete"))) == (
        QueryStarted(1, 1, read, digest="e1"),
    )


@for_each(
    "code, reason",
    [
        ("element_not_found", "nobody sees 'Number' on the page with something beside it"),
        ("element_ambiguous", "'Number' is said in several places: give more of the words there"),
    ],
)
def test_words_that_nothing_stands_beside_are_told(code: ErrorCode, reason: str) -> None:
    read = Action("extract", target=Target((ByBeside("Number"),)))
    [rejected] = said(RECORDING, plan(read), TargetMissing(1, 1, code))
    assert isinstance(rejected, ActionRejected)
    assert (rejected.error, rejected.reason) == (code, reason)


def test_the_page_is_read_as_it_is_once_it_is_at_rest_and_a_part_of_it_when_that_was_found() -> (
    None
):
    rest, whole = Resting(9_000), Action("read_page")
    asked = msgspec.structs.replace(plan(whole), rest=rest)
    assert said(RECORDING, asked) == (QueryStarted(1, 1, whole, rest=rest),)
    part = Action("read_page", target=css("main"))
    asked = msgspec.structs.replace(plan(part), rest=rest)
    admitted, read = said(RECORDING, asked), said(RECORDING, asked, found(element(name="Delete")))
    assert [type(each) for each in admitted] == [PlanAdmitted]
    assert read[-1] == QueryStarted(1, 1, part, "e1"), "it came to rest before that was found"


# -- standing approval (design 8) ----------------------------------------------------------------


def recorded(standing_approval: StandingApproval | None, **more: Any) -> Workflow:
    return workflow(
        step(click("#other")), step(click("#send"), standing_approval=standing_approval), **more
    )


def run_second_step(
    flow: Workflow | None, what: Resolved, driver: Driver = "workflow", index: int = 1
) -> tuple[AnyEvent, ...]:
    return said(run_of(flow), plan(click("#send"), driver, index=index), found(what))


def asks(decided: tuple[AnyEvent, ...]) -> bool:
    return [type(event) for event in decided] == [ApprovalRequested]


EXACT = StandingApproval(ORIGIN, "send")


def test_a_recording_approves_its_own_irreversible_step() -> None:
    assert run_second_step(recorded(EXACT), SEND) == (
        ActionApproved(1, "standing_approval", "approved by its recording", "1"),
        ActionStarted(1, 1, click("#send"), digest="send", irreversible=True),
    )


def test_standing_approval_is_not_for_another_element() -> None:
    assert asks(run_second_step(recorded(StandingApproval(ORIGIN, "other")), SEND))


AT_HOME = msgspec.structs.replace(
    SEND, digest="now", identity="now", home="same", form_action=f"{ORIGIN}/notes/add"
)


@for_each(
    "change, approved",
    [
        ({}, True),
        ({"form_action": f"{ORIGIN}/notes/*"}, True),
        ({"form_action": f"{ORIGIN}/notes/delete"}, False),
        ({"form_action": f"{ORIGIN}/users/add"}, False),
        ({"form_action": "https://evil.example/notes/add"}, False),
        ({"form_action": ""}, False),
        ({"home": "other"}, False),
        ({"home": ""}, False),
    ],
)
def test_what_is_sent_to_its_own_page_is_approved_by_all_addresses_of_that_page(
    change: dict[str, str], approved: bool
) -> None:
    """The recording saw `/notes/add` become `/notes/17`: what it sent then was to the latter."""
    page_then = Place(ORIGIN, "/notes/*", also=("/notes/add",))
    flow = recorded(StandingApproval(ORIGIN, "then", "then", "same"))
    steps = tuple(msgspec.structs.replace(each, before=page_then) for each in flow.steps)
    flow = msgspec.structs.replace(flow, steps=steps)
    assert asks(run_second_step(flow, msgspec.structs.replace(AT_HOME, **change))) is not approved


def test_standing_approval_is_not_for_another_origin() -> None:
    assert asks(run_second_step(recorded(StandingApproval("https://evil.example", "send")), SEND))


def test_a_recorded_step_is_not_done_on_another_site() -> None:
    elsewhere = msgspec.structs.replace(SEND, origin="https://evil.example")
    [refusal] = run_second_step(recorded(EXACT), elsewhere)
    assert isinstance(refusal, ActionRejected)
    assert (refusal.rule, refusal.code) == ("recorded_origin", "policy_denied")


def test_standing_approval_is_not_for_another_step() -> None:
    assert asks(run_second_step(recorded(EXACT), SEND, index=0))


@for_each("driver", ["person", "script"])
def test_standing_approval_is_not_for_another_driver(driver: Driver) -> None:
    assert asks(run_second_step(recorded(EXACT), SEND, driver))


def test_standing_approval_is_not_for_another_version() -> None:
    assert asks(run_second_step(recorded(None), SEND))


def test_standing_approval_is_not_for_what_an_earlier_session_may_have_done() -> None:
    proposed = plan(click("#send"), "workflow", index=1)
    for done, again in ((1, False), (2, True)):
        fork = msgspec.structs.replace(run_of(recorded(EXACT)), done_before=done)
        assert asks(said(fork, proposed, found(SEND))) is again


def test_standing_approval_needs_a_workflow() -> None:
    assert asks(run_second_step(None, SEND))


def test_standing_approval_does_not_lift_a_denial() -> None:
    secret = element("input", digest="send", secret=True)
    flow = recorded(EXACT)
    [refusal] = said(run_of(flow), plan(fill("#pw", "x"), "workflow", index=1), found(secret))
    assert isinstance(refusal, ActionRejected)


def test_what_needs_no_approval_uses_none() -> None:
    approved = run_second_step(recorded(StandingApproval(ORIGIN, "plain")), PLAIN)[0]
    assert isinstance(approved, ActionApproved)
    assert approved.rule == "nothing_matched"


# -- a person's answer ---------------------------------------------------------------------------

ASKED = RECORDING, plan(click()), found(SEND)


def test_a_yes_starts_what_was_asked_about() -> None:
    assert said(*ASKED, yes()) == (
        ApprovalVoided("1.1.1", "used"),
        ActionApproved(1, "sends_a_form", "approved by a person (terminal)", "1", "1.1.1"),
        ActionStarted(1, 1, click(), digest="send", irreversible=True),
    )


def test_a_no_refuses_it() -> None:
    assert said(*ASKED, no("not on a Friday")) == (
        ApprovalVoided("1.1.1", "refused"),
        rejected(
            "sends_a_form",
            "a person said no: not on a Friday",
            "policy_denied",
            "human_rejected",
        ),
    )


def test_a_no_without_a_reason_repeats_the_question() -> None:
    refusal = said(*ASKED, no())[1]
    assert isinstance(refusal, ActionRejected)
    question = 'Click the button "Place order"? It sends the form.'
    assert refusal.reason == f"a person said no: {question}"


def test_nobody_to_answer_means_that_a_person_is_needed() -> None:
    refusal = said(*ASKED, no("no person is here", by="nobody"))[1]
    assert refusal == rejected("sends_a_form", "no person is here", "policy_denied", "needs_person")


def test_an_approval_is_good_once() -> None:
    assert said(*ASKED, yes(), yes()) == ()


def test_a_refusal_is_final() -> None:
    assert said(*ASKED, no(), yes()) == ()


@for_each("other", ["1.1.2", "2.1.1", "", "1.1"])
def test_an_answer_to_another_question_is_no_answer(other: str) -> None:
    assert said(*ASKED, yes(other)) == ()


def test_an_answer_to_no_question_starts_nothing() -> None:
    assert said(RECORDING, plan(click()), found(PLAIN), yes()) == ()


def test_an_approval_is_void_when_another_step_is_proposed() -> None:
    story = Story(Validator())
    for event in ASKED:
        story.tell(event)
    assert story.tell(plan(click("#other"), number=2)) == (
        ApprovalVoided("1.1.1", "another step was proposed"),
        PlanAdmitted(2, 1, click("#other"), 3_000, answer_ms=10_000),
    )
    story.tell(found(SEND, step=2))
    assert story.tell(yes("1.1.1")) == ()


def test_the_next_question_is_another_one() -> None:
    [asked] = said(*ASKED, yes(), plan(click("#b"), number=2), found(SEND, step=2))
    assert isinstance(asked, ApprovalRequested)
    assert asked.approval == "2.1.2"


# -- the element changed under it ----------------------------------------------------------------


def changed(what: Resolved) -> TargetChanged:
    return TargetChanged(1, 1, what)


def test_a_changed_element_is_judged_again() -> None:
    assert said(RECORDING, plan(click()), found(PLAIN), changed(SEND))[0] == ApprovalRequested(
        "1.1.1",
        1,
        "policy",
        'Click the button "Place order"? It sends the form.',
        "sends_a_form",
        signature(click()),
        "send",
        ORIGIN,
        policy="1",
    )


def test_a_changed_element_that_is_harmless_is_started_as_it_is_now() -> None:
    calm = element(digest="calm", name="Next")
    assert said(RECORDING, plan(click()), found(PLAIN), changed(calm))[1] == ActionStarted(
        1, 1, click(), digest="calm"
    )


def test_a_changed_element_may_be_denied() -> None:
    story = free_run(), plan(click(), "prediction"), found(PLAIN), changed(element(name="Buy"))
    [refusal] = said(*story)
    assert isinstance(refusal, ActionRejected)


def test_a_used_approval_does_not_cover_the_changed_element() -> None:
    other = msgspec.structs.replace(SEND, digest="other")
    [asked] = said(*ASKED, yes(), changed(other))
    assert isinstance(asked, ApprovalRequested)
    assert (asked.approval, asked.digest) == ("1.1.2", "other")


def test_a_pending_approval_is_void_when_the_element_changes() -> None:
    other = msgspec.structs.replace(SEND, digest="other")
    voided, asked = said(*ASKED, changed(other))
    assert voided == ApprovalVoided("1.1.1", "the element changed")
    assert isinstance(asked, ApprovalRequested)
    assert asked.approval == "1.1.2"
    assert said(*ASKED, changed(other), yes("1.1.1")) == ()
    started = said(*ASKED, changed(other), yes("1.1.2"))[2]
    assert isinstance(started, ActionStarted)
    assert started.digest == "other"


def test_standing_approval_does_not_cover_the_changed_element() -> None:
    other = msgspec.structs.replace(SEND, digest="other")
    story = run_of(recorded(EXACT)), plan(click("#send"), "workflow", index=1), found(SEND)
    assert asks(said(*story, changed(other)))


# -- dry run -------------------------------------------------------------------------------------


def test_a_dry_run_stops_before_the_irreversible_action() -> None:
    dry = run_of(recorded(EXACT), dry_run=True)
    assert said(dry, plan(click("#send"), "workflow", index=1), found(SEND)) == (
        ActionWithheld(1, click("#send"), "would have done it: it sends a form (POST)"),
    )


def test_a_dry_run_does_everything_else() -> None:
    dry = run_of(recorded(EXACT), dry_run=True)
    story = dry, plan(click("#other"), "workflow", index=0), found(PLAIN)
    assert isinstance(said(*story)[1], ActionStarted)


def test_a_dry_run_still_denies() -> None:
    dry = free_run(dry_run=True)
    [refusal] = said(dry, plan(click(), "model"), found(element(name="Delete")))
    assert isinstance(refusal, ActionRejected)


# -- the end -------------------------------------------------------------------------------------

STOP = RunStopped("cancelled")


def test_an_unanswered_question_dies_with_the_run() -> None:
    assert said(*ASKED, STOP) == (ApprovalVoided("1.1.1", "the run stopped"),)


def test_a_run_without_a_question_ends_in_silence() -> None:
    assert said(RECORDING, plan(click()), STOP) == ()


@for_each("late", [plan(click(), number=2), found(PLAIN), changed(PLAIN), yes(), no()])
def test_nothing_is_started_after_the_stop(late: AnyEvent) -> None:
    assert said(*ASKED, STOP, late) == ()


@for_each("early", [plan(click()), found(PLAIN), yes(), STOP])
def test_nothing_is_started_in_a_session_that_never_started(early: AnyEvent) -> None:
    assert said(early) == ()


def test_every_verdict_names_the_policy_version() -> None:
    mine = msgspec.structs.replace(DEFAULT_POLICY, version="mine")
    begun: SessionStarted = recording_of(policy=mine)
    proposal: PlanProposed = plan(click())
    approved = said(begun, proposal, found(PLAIN))[0]
    assert isinstance(approved, ActionApproved)
    assert approved.policy == "mine"


def test_a_parameter_in_the_target_is_asked_about_by_its_name_not_its_value() -> None:
    row = Action("click", target=Target((ByRole("link", "${customer}"),)))
    risky = element("a", name="Aurora", href=f"{ORIGIN}/account/aurora", text=Untrusted("Aurora"))
    [asked] = said(RECORDING, plan(row), found(risky))
    assert isinstance(asked, ApprovalRequested)
    assert "${customer}" in asked.signature


def test_a_parameter_is_in_the_log_and_so_never_goes_into_a_secret_field() -> None:
    typed = fill("#pw", Parameter("pin"))
    [refused] = said(RECORDING, plan(typed), found(element("input", secret=True)))
    assert isinstance(refused, ActionRejected)
    assert refused.rule == "secret_in_clear"


# -- checkpoints (E3) ------------------------------------------------------------------------------

LAST_PAGE = saw(page("/finish", heading="Finish cancellation")), PageAssessed("FINAL_CONFIRMATION")
FINISH = element(digest="finish", name="Finish", submits=True, form_method="post")


def asked_of(decided: tuple[AnyEvent, ...]) -> ApprovalRequested:
    [asked] = decided
    assert isinstance(asked, ApprovalRequested)
    return asked


def test_on_the_last_page_the_person_types_confirm() -> None:
    asked = asked_of(said(RECORDING, *LAST_PAGE, plan(click()), found(FINISH)))
    assert (asked.kind, asked.phrase, asked.rule) == ("confirm", "confirm", "final_confirmation")


def test_what_the_page_was_before_it_was_looked_at_again_counts_no_more() -> None:
    asked = asked_of(said(RECORDING, *LAST_PAGE, saw(page("/")), plan(click()), found(FINISH)))
    assert asked.kind == "policy"


def test_a_recording_has_answered_for_its_last_page_too() -> None:
    flow = workflow(step(click(), standing_approval=StandingApproval(ORIGIN, "finish")))
    story = run_of(flow), *LAST_PAGE, plan(click(), "workflow", index=0), found(FINISH)
    approved = said(*story)[0]
    assert isinstance(approved, ActionApproved)
    assert approved.rule == "standing_approval"


@for_each("always", [False, True])
def test_a_checkpoint_of_the_service_asks_unless_the_recording_has_answered_it(
    always: bool,
) -> None:
    signs = (Sign("heading", "finish cancellation"),)
    service = Service("films", checkpoints=(Checkpoint("finish", signs, always),))
    flow = workflow(step(click(), standing_approval=StandingApproval(ORIGIN, "finish")))
    seen = saw(page("/finish", heading="Finish Cancellation"))
    recorded_step = plan(click(), "workflow", index=0), found(FINISH)
    decided = said(run_of(flow, service=service), seen, *recorded_step)
    if always:
        assert asked_of(decided).kind == "service"
    else:
        assert isinstance(decided[0], ActionApproved)
    agents = said(run_of(None, service=service), seen, plan(click(), "agent"), found(PLAIN))
    assert asked_of(agents).rule == "service_checkpoint"


LOGIN = CheckpointReached("login", 3, "step 3 of 5: the page asks to sign in", 2)


def test_a_sign_in_is_a_persons() -> None:
    asked = asked_of(said(RECORDING, LOGIN))
    assert (asked.kind, asked.rule, asked.step) == ("login", "login_checkpoint", 3)
    assert asked.question == (
        "step 3 of 5: the page asks to sign in. Sign in in the window, then say yes. Done?"
    )
    assert said(RECORDING, LOGIN, yes(asked.approval)) == (
        ApprovalVoided(asked.approval, "used"),
        CheckpointPassed("login", asked.approval),
    )
    assert said(RECORDING, LOGIN, no("not now", approval=asked.approval)) == (
        ApprovalVoided(asked.approval, "refused"),
        CheckpointRefused("login", asked.approval, "terminal", "not now"),
    )


def test_a_yes_to_a_sign_in_approves_no_step() -> None:
    story = RECORDING, plan(click()), found(SEND), LOGIN
    asked = said(*story)[-1]
    assert isinstance(asked, ApprovalRequested)
    decided = said(*story, yes(asked.approval))
    assert not [event for event in decided if isinstance(event, ActionApproved | ActionStarted)]


# -- the approval of one thing is for nothing else -------------------------------------------------


def started_by(decided: tuple[AnyEvent, ...]) -> bool:
    return any(isinstance(event, ActionStarted) for event in decided)


def test_an_approval_is_used_once() -> None:
    assert started_by(said(*ASKED, yes()))
    assert said(*ASKED, yes(), yes()) == ()


def test_an_approval_of_one_step_is_not_one_of_another() -> None:
    other = plan(click("#other"), number=2), found(SEND, step=2)
    assert not started_by(said(*ASKED, *other, yes("1.1.1")))
    assert started_by(said(*ASKED, *other, yes("2.1.2")))


def test_an_approval_that_comes_after_the_element_was_swapped_is_worth_nothing() -> None:
    swapped = TargetChanged(1, 1, element(digest="other", name="Delete all"))
    assert not started_by(said(*ASKED, swapped, yes("1.1.1")))


def test_an_element_that_is_swapped_after_the_approval_is_asked_about_anew() -> None:
    swapped = TargetChanged(1, 1, element(digest="other", name="Delete all"))
    decided = said(*ASKED, yes(), swapped)
    assert not started_by(decided)
    assert isinstance(decided[-1], ApprovalRequested)
    assert decided[-1].digest == "other"


def test_an_approval_that_comes_after_the_run_stopped_starts_nothing() -> None:
    assert said(*ASKED, RunStopped("cancelled"), yes()) == ()


def test_an_approval_that_was_refused_is_not_given_later() -> None:
    assert said(*ASKED, no("no"), yes()) == ()


def test_what_an_agent_was_told_when_it_asked_starts_no_step_of_its_own() -> None:
    sought = ApprovalSought("c1", "delete everything", "the page says so")
    story = run_of(None), sought, plan(click(), "agent"), found(SEND)
    decided = said(*story, yes(approval_of("c1")))
    assert not started_by(decided)


# -- what could not be undone when it was recorded ------------------------------------------------


def test_a_step_that_lost_its_form_is_asked_about_where_its_recording_was_final() -> None:
    final = workflow(
        step(click(), standing_approval=StandingApproval(ORIGIN, "send"), irreversible=True)
    )
    asked = asked_of(said(run_of(final), plan(click(), "workflow", index=0), found(PLAIN)))
    assert asked.rule == "was_irreversible"


def test_a_final_step_that_an_earlier_session_may_have_done_asks_whatever_was_recorded() -> None:
    flow = workflow(
        step(click(), standing_approval=StandingApproval(ORIGIN, "send"), irreversible=True)
    )
    begun = msgspec.structs.replace(run_of(flow), continues="run-1", done_before=1)
    asked = asked_of(said(begun, plan(click(), "workflow", index=0), found(SEND)))
    assert (asked.rule, asked.question) == (
        "done_before",
        'order: Click the button "Place order"? run-1 may have done it already.',
    )


def test_a_yes_where_the_phrase_was_asked_for_is_a_no() -> None:
    """Whoever answers: a script, a daemon, another program."""
    story = RECORDING, *LAST_PAGE, plan(click()), found(FINISH)
    typed = ApprovalAnswered("1.1.1", True, "scripted", phrase="confirm")
    assert started_by(said(*story, typed))
    for phrase in ("", "yes", "Confirm"):
        voided, refused = said(*story, msgspec.structs.replace(typed, phrase=phrase))
        assert voided == ApprovalVoided("1.1.1", "refused")
        assert isinstance(refused, ActionRejected)
        assert "was not typed out" in refused.reason


def test_a_dry_run_stops_before_a_healed_step_that_was_final() -> None:
    flow = workflow(
        step(click(), standing_approval=StandingApproval(ORIGIN, "send"), irreversible=True)
    )
    healed = msgspec.structs.replace(plan(click(), "workflow", index=0), healed=True)
    [withheld] = said(run_of(flow, dry_run=True), healed, found(PLAIN))
    assert isinstance(withheld, ActionWithheld)


def test_an_element_that_never_stays_what_it_was_is_given_up() -> None:
    story: list[AnyEvent | Told] = [*ASKED]
    for number in range(3):
        story.append(TargetChanged(1, 1, element(digest=f"pay-{number}", name=f"Pay {number}")))
        assert isinstance(said(*story)[-1], ApprovalRequested)
    [*_, refused] = said(*story, TargetChanged(1, 1, element(digest="pay", name="Pay")))
    assert isinstance(refused, ActionRejected)
    assert refused.rule == "keeps_changing"


# -- what is only suggested ----------------------------------------------------------------------

NEXT = click()
CAREFUL = free_run(threshold=700_000, suggest=500_000)
WHY = "it is 0.62 sure that this comes next, less than the 0.70 that it acts on alone"


def guess(action: Action = NEXT, probability: int = 620_000, **more: Any) -> PlanProposed:
    return plan(action, "prediction", probability=probability, **more)


def test_what_was_predicted_and_is_not_sure_enough_is_asked_about_whatever_it_is() -> None:
    [asked] = said(CAREFUL, guess(), found(PLAIN))
    assert isinstance(asked, ApprovalRequested)
    assert (asked.kind, asked.rule) == ("policy", "suggested")
    assert asked.question == f'Click the button "Next page"? {WHY[0].upper()}{WHY[1:]}.'


def test_a_yes_to_a_suggestion_does_it() -> None:
    approved, started = said(CAREFUL, guess(), found(PLAIN), yes())[1:]
    assert isinstance(approved, ActionApproved)
    assert (approved.rule, approved.approval) == ("suggested", "1.1.1")
    assert started == ActionStarted(1, 1, NEXT, digest="plain")


@for_each(
    "by, error, reason",
    [
        ("terminal", "human_rejected", "a person said no: not this one"),
        ("nobody", "needs_person", "not this one"),
    ],
)
def test_a_no_to_a_suggestion_is_a_no_like_any_other(by: str, error: str, reason: str) -> None:
    refusal = said(CAREFUL, guess(), found(PLAIN), no("not this one", by))[1]
    assert refusal == rejected("suggested", reason, "policy_denied", error)


@for_each("probability", [700_000, 1_000_000])
def test_what_is_sure_enough_is_done(probability: int) -> None:
    assert isinstance(
        said(CAREFUL, guess(probability=probability), found(PLAIN))[0], ActionApproved
    )


@for_each("driver", ["script", "workflow", "model", "agent"])
def test_what_somebody_else_proposed_is_no_suggestion(driver: Driver) -> None:
    other = plan(NEXT, driver, probability=620_000)
    assert isinstance(said(CAREFUL, other, found(PLAIN))[0], ActionApproved)


def test_in_an_old_log_nothing_is_suggested() -> None:
    """A what-if of another threshold folds plans that were sure enough when they were made."""
    old = free_run(threshold=900_000)
    assert isinstance(said(old, guess(), found(PLAIN))[0], ActionApproved)


def test_where_policy_asks_too_it_is_asked_once_and_both_are_said() -> None:
    sends = element(digest="send", name="Go on", submits=True, form_method="post")
    [asked] = said(CAREFUL, guess(), found(sends))
    assert isinstance(asked, ApprovalRequested)
    assert asked.rule == "sends_a_form"
    assert asked.question == f'Click the button "Go on"? It sends the form; {WHY}.'


def test_policy_denies_before_anything_is_suggested() -> None:
    denied = said(CAREFUL, guess(), found(element(name="Delete account")))[0]
    assert isinstance(denied, ActionRejected)
    assert (denied.rule, denied.error) == ("denylist", "policy_denied")
    away = guess(go_to("/", origin="http://127.0.0.1:9"))
    assert isinstance(said(CAREFUL, away)[0], ActionRejected)


def test_a_dry_run_suggests_what_it_would_do_and_stops_before_what_is_final() -> None:
    dry = free_run(threshold=700_000, suggest=500_000, dry_run=True)
    assert isinstance(said(dry, guess(), found(PLAIN))[0], ApprovalRequested)
    sends = element(digest="send", name="Go on", submits=True, form_method="post")
    assert isinstance(said(dry, guess(), found(sends))[0], ActionWithheld)


def test_reading_is_asked_about_too_where_it_is_only_suggested() -> None:
    read = Action("extract", target=css("#total"))
    [asked] = said(CAREFUL, guess(read), found(PLAIN))
    assert isinstance(asked, ApprovalRequested)
    assert asked.rule == "suggested"
    assert said(CAREFUL, guess(read), found(PLAIN), yes())[1:] == (
        QueryStarted(1, 1, read, "plain"),
    )
    waits = any_action("wait_for")
    assert isinstance(said(CAREFUL, guess(waits))[0], ApprovalRequested)


@for_each(
    "action, told",
    [
        (go_to("/orders"), f" ({ORIGIN}/orders)"),
        (Action("press", key="Enter"), " (Enter)"),
        (fill(value="three"), " ('three')"),
        (fill(value=Parameter("customer")), " (${customer})"),
        (fill(value=Secret("password")), " (the secret password)"),
        (click(), ""),
    ],
)
def test_a_suggestion_says_what_it_would_be_done_with(action: Action, told: str) -> None:
    field = element("input", name="Field", role="textbox")
    # What needs no element is asked about at once, all else when it was found.
    [asked] = said(CAREFUL, guess(action))
    if isinstance(asked, PlanAdmitted):
        [asked] = said(CAREFUL, guess(action), found(field))
    assert isinstance(asked, ApprovalRequested)
    assert f"sure that this comes next{told}, less than" in asked.question


def test_another_try_of_a_suggestion_is_asked_about_again() -> None:
    story = Story(Validator())
    for event in (CAREFUL, guess(), found(PLAIN), yes()):
        story.tell(event)
    story.tell(guess(attempt=2))
    [asked] = story.tell(found(PLAIN, attempt=2))
    assert isinstance(asked, ApprovalRequested)
    assert asked.approval == "1.2.2"


@for_each(
    "probability, threshold, numbers",
    [(620_000, 700_000, ("0.62", "0.70")), (699_999, 700_000, ("0.699999", "0.700000"))],
)
def test_two_probabilities_are_told_in_words_that_tell_them_apart(
    probability: int, threshold: int, numbers: tuple[str, str]
) -> None:
    assert apart(probability, threshold) == numbers
