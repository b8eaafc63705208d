"""Given what a person asks for: the session's start, with everything it depends on pinned."""

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from rutter.actors.logic_version import LOGIC
from rutter.actors.rules.policy.policy import DEFAULT_POLICY
from rutter.events.action import Action, DialogAnswer, Secret
from rutter.events.checks import Check, FileContains, FileExists, FileSize, ReadBack
from rutter.events.errors import BadInput
from rutter.events.policy import Policy
from rutter.events.run_settings import MILLION, LanguageModel, Limits, ModelUse, RunSettings
from rutter.events.runtime import SessionStarted
from rutter.events.service_pack import Service
from rutter.events.workflow import (
    Criteria,
    Expectation,
    Indicator,
    Place,
    StandingApproval,
    Step,
    Workflow,
)
from rutter.pipeline.config.keys import Value
from rutter.pipeline.config.reader import Config, SourcedValue
from rutter.pipeline.config.settings import Settings
from rutter.pipeline.config.thresholds import Thresholds
from rutter.pipeline.sessions.request import RunRequest
from rutter.pipeline.sessions.session_policy import fork_policy, secret_origins, with_hosts
from rutter.pipeline.sessions.session_started import (
    Given,
    free_run,
    goal_run,
    limits_for,
    recording,
    run_of,
    tool_session,
    watching,
)
from rutter.pipeline.sessions.start import configured
from tests.support.case_table import for_each
from tests.support.shop_facts import click, step

SCRIPT = (step(click("#a")), step(click("#b")))
FLOW = Workflow(
    "order",
    3,
    SCRIPT,
    parameters=("customer", "quantity"),
    secrets=("password",),
    hosts=("127.0.0.1:8000",),
)
VALUES = {"customer": "Aurora", "quantity": "3"}


def refusal(flow: Workflow, values: dict[str, str], secrets: tuple[str, ...]) -> str:
    with pytest.raises(BadInput) as caught:
        run_of(flow, values, secrets)
    return str(caught.value)


def test_a_recording_has_its_script_and_the_names_of_its_values() -> None:
    started = recording("order", SCRIPT, VALUES, ["password"], allow=["localhost:9"])
    assert (started.purpose, started.driver, started.name) == ("record", "script", "order")
    assert (started.script, started.values) == (SCRIPT, VALUES)
    assert started.secrets == ("password",)
    assert started.policy.hosts == ("localhost:9",)
    assert started.workflow is None
    assert started.logic == LOGIC


def test_a_run_has_its_workflow_in_full() -> None:
    started = run_of(FLOW, VALUES, ["password"])
    assert (started.purpose, started.driver, started.name) == ("run", "workflow", "order")
    assert started.workflow == FLOW
    assert started.secrets == ("password",)
    assert not started.settings.dry_run


def test_a_run_may_go_where_its_recording_went_and_where_it_is_told_to() -> None:
    started = run_of(FLOW, VALUES, ["password"], allow=["sso.example", "127.0.0.1:8000"])
    assert started.policy.hosts == ("127.0.0.1:8000", "sso.example")


def test_a_dry_run_is_a_setting() -> None:
    dry = run_of(FLOW, VALUES, ["password"], dry_run=True, seeks_proof=True).settings
    assert (dry.dry_run, dry.seeks_proof) == (True, False)
    assert run_of(FLOW, VALUES, ["password"], seeks_proof=True).settings.seeks_proof


def test_a_named_workflow_has_five_minutes_and_twice_its_length_in_steps() -> None:
    limits = run_of(FLOW, VALUES, ["password"]).settings.limits
    assert (limits.max_steps, limits.max_wall_ms, limits.max_failures) == (4, 300_000, 3)
    assert limits_for(10).max_steps == 20


def test_a_free_run_goes_to_its_page_and_then_where_it_is_sure() -> None:
    started = free_run("https://shop.example/", {}, [], threshold=700_000)
    assert (started.purpose, started.driver, started.url) == (
        "free",
        "prediction",
        "https://shop.example/",
    )
    assert [each.action for each in started.script] == [
        Action("navigate", url="https://shop.example/")
    ]
    assert started.settings.threshold == 700_000
    assert started.settings.limits == Limits(12, 90_000, 3)


@for_each("threshold", [-1, 1_000_001])
def test_a_threshold_is_a_probability(threshold: int) -> None:
    with pytest.raises(BadInput, match="the threshold is a probability; give --threshold"):
        free_run("https://shop.example/", {}, [], threshold=threshold)


@for_each("threshold", [0, 1_000_000])
def test_certainty_and_recklessness_are_probabilities(threshold: int) -> None:
    assert free_run("https://x.example/", {}, [], threshold=threshold).settings.threshold == (
        threshold
    )


def test_what_is_not_bound_is_named_with_the_flag_that_binds_it() -> None:
    assert refusal(FLOW, {}, ("password",)) == (
        "'order' needs customer, quantity; bind with --set customer=... --set quantity=..."
    )
    assert refusal(FLOW, VALUES, ()) == (
        "'order' needs the secret password; add --secret password=env:VARIABLE"
    )


def test_what_the_workflow_does_not_know_is_refused() -> None:
    assert refusal(FLOW, {**VALUES, "colour": "red"}, ("password",)) == (
        "'order' has no parameter 'colour'; it has: customer, quantity"
    )
    plain = Workflow("plain", 1, SCRIPT)
    assert refusal(plain, {"colour": "red"}, ()) == (
        "'plain' has no parameter 'colour'; it has: none"
    )


def test_half_a_recording_cannot_be_run() -> None:
    half = Workflow("order", 2, SCRIPT, complete=False)
    assert refusal(half, {}, ()) == (
        "workflow 'order' version 2 was not recorded to its end; "
        "record it again, or if it is all: rutter workflows edit order --complete"
    )


def test_hosts_are_added_once_and_nothing_else_changes() -> None:
    mine = Policy("7", denylist=("x",), hosts=("a",), public_hosts=False)
    assert with_hosts(mine, ["b", "a", "b"]) == Policy(
        "7", denylist=("x",), hosts=("a", "b"), public_hosts=False
    )
    assert with_hosts(DEFAULT_POLICY, []) == DEFAULT_POLICY


def test_a_run_keeps_the_policy_it_is_given() -> None:
    mine = Policy("7", hosts=("127.0.0.1", "x.example"), public_hosts=False)
    for started in (
        recording("order", SCRIPT, {}, (), policy=mine),
        run_of(FLOW, VALUES, ["password"], policy=mine),
        free_run("https://x.example/", {}, (), threshold=1, policy=mine),
    ):
        assert (started.policy.version, started.policy.public_hosts) == ("7", False)


# -- what is known of the service, and where files are ---------------------------------------------

DONE = Criteria(success=(Indicator("state", "COMPLETE"),))
GIVEN = Given(service=Service("shop"), criteria=DONE, folders=("/srv/out", "/srv/more"))


def test_every_kind_of_session_is_told_of_the_service() -> None:
    for started in (
        recording("order", SCRIPT, {}, (), given=GIVEN),
        watching("order", "https://x.example/", {}, given=GIVEN),
        run_of(FLOW, VALUES, ["password"], given=GIVEN),
        free_run("https://x.example/", {}, (), threshold=1, given=GIVEN),
        tool_session("https://x.example/", given=GIVEN),
    ):
        assert (started.settings.service, started.settings.criteria) == (Service("shop"), DONE)
        assert started.policy.folders == ("/srv/out", "/srv/more")
        assert not started.settings.vision


def looking_at(*checks: Check) -> Workflow:
    return Workflow("order", 1, (Step(action=Action("check", verify=checks)),), parameters=("n",))


@for_each(
    "check, fix",
    [
        (FileExists("/etc/passwd"), "add --folder /etc"),
        (FileExists("/srv/out/../etc/x"), "add --folder"),
        (FileExists("../x"), "add --folder DIR"),
        (FileContains("x", "/srv/output/a"), "add --folder /srv/output"),
        (FileSize("/srv/${n}"), "add --folder /srv"),
    ],
)
def test_a_file_outside_of_the_folders_is_refused_before_anything_is_done(
    check: Check, fix: str
) -> None:
    given = Given(folders=("/srv/out",))
    back = Step(
        action=Action("click"),
        after=Expectation(read_back=ReadBack("https://x.example/", (check,))),
    )
    stated = Step(action=Action("click"), after=Expectation(checks=(check,)))
    for each in (looking_at(check).steps[0], back, stated):
        with pytest.raises(BadInput) as caught:
            run_of(Workflow("o", 1, (each,), parameters=("n",)), {"n": "a"}, (), given=given)
        assert "step 1 looks at the file" in caught.value.what
        assert fix in caught.value.fix
        with pytest.raises(BadInput):
            recording("o", (each,), {"n": "a"}, (), given=given)


def test_a_file_in_a_folder_or_below_is_looked_at() -> None:
    checks = (FileExists("/srv/out/a"), FileSize("/srv/out/${n}/b"), FileContains("x", "a/b"))
    given = Given(folders=("/srv/out",))
    assert run_of(looking_at(*checks), {"n": "a"}, (), given=given).policy.folders == ("/srv/out",)


def test_no_file_is_looked_at_without_a_folder() -> None:
    with pytest.raises(BadInput, match="no folder given") as caught:
        run_of(looking_at(FileExists("a")), {"n": "a"}, ())
    assert caught.value.fix == "add --folder DIR"


def test_a_value_leads_out_of_no_folder() -> None:
    with pytest.raises(BadInput, match="step 1"):
        run_of(
            looking_at(FileExists("/srv/${n}")), {"n": "../etc"}, (), given=Given(folders=("/srv",))
        )


# -- what it may reach, by what it is for ----------------------------------------------------------

LISTED = Policy("1-x", hosts=("shop.example", "127.0.0.1:8000"), public_hosts=False)


def reach(started: SessionStarted) -> tuple[tuple[str, ...], bool, tuple[str, ...], bool]:
    policy = started.policy
    return policy.hosts, policy.public_hosts, policy.resources, policy.public_resources


def test_a_recording_may_go_to_public_hosts_and_to_private_ones_that_were_named() -> None:
    by_script = recording("order", SCRIPT, {}, (), allow=["10.0.0.1"])
    assert reach(by_script) == (("10.0.0.1",), True, (), True)
    by_hand = watching("order", "http://127.0.0.1:9/x", {}, allow=["10.0.0.1"])
    assert reach(by_hand) == (("127.0.0.1:9", "10.0.0.1"), True, (), True)


def test_a_run_may_reach_its_own_hosts_and_resources_and_no_others() -> None:
    flow = Workflow("o", 1, SCRIPT, hosts=("shop.example",), resources=("cdn.example",))
    started = run_of(flow, {}, (), allow=["10.0.0.1"])
    assert reach(started) == (("shop.example", "10.0.0.1"), False, ("cdn.example",), False)


def test_a_workflow_that_names_no_hosts_has_those_of_its_steps() -> None:
    old = Workflow("o", 1, (Step(action=Action("navigate", url="http://a.example:81/")), *SCRIPT))
    assert run_of(old, {}, ()).policy.hosts == ("a.example:81", "shop.example")


def test_what_no_workflow_binds_may_go_where_it_begins_and_load_what_is_public() -> None:
    for started in (
        free_run("http://127.0.0.1:9/", {}, (), threshold=1, allow=["a.example"]),
        tool_session("http://127.0.0.1:9/", allow=["a.example"]),
    ):
        assert reach(started) == (("127.0.0.1:9", "a.example"), False, (), True)
    assert reach(tool_session()) == ((), False, (), True)


def test_a_star_is_every_public_host() -> None:
    started = tool_session("https://a.example/", allow=["*"])
    assert reach(started) == (("a.example",), True, (), True)


def test_a_configured_star_holds_nothing_private() -> None:
    everything = Policy("1-x", hosts=("*", "10.0.0.1"), resources=("*",))
    for host in ("127.0.0.1:8000", "db.internal"):
        flow = Workflow("o", 1, SCRIPT, hosts=(host,))
        with pytest.raises(BadInput, match="not among the allowed hosts"):
            run_of(flow, {}, (), policy=everything)
        assert reach(run_of(flow, {}, ()))[0] == (host,)
        loads = Workflow("o", 1, SCRIPT, hosts=("shop.example",), resources=(host,))
        with pytest.raises(BadInput, match="may be loaded from"):
            run_of(loads, {}, (), policy=everything)
    flow = Workflow("o", 1, SCRIPT, hosts=("shop.example", "10.0.0.1"), resources=("c.example",))
    assert reach(run_of(flow, {}, (), policy=everything)) == (
        ("shop.example", "10.0.0.1"),
        False,
        ("c.example",),
        False,
    )


def test_a_run_loads_from_nothing_that_the_configured_resources_lack() -> None:
    base = Policy("1-x", resources=("*.cdn.example",), public_resources=False)
    flow = Workflow("o", 1, SCRIPT, hosts=("shop.example",), resources=("a.cdn.example",))
    assert reach(run_of(flow, {}, (), policy=base))[2:] == (("a.cdn.example",), False)
    wider = Workflow("o", 1, SCRIPT, hosts=("shop.example",), resources=("tracker.example",))
    with pytest.raises(BadInput, match=r"tracker\.example is not among the hosts"):
        run_of(wider, {}, (), policy=base)


def test_with_an_allowlist_it_is_what_may_be_gone_to() -> None:
    for started in (
        recording("order", SCRIPT, {}, (), policy=LISTED),
        watching("order", "https://shop.example/", {}, policy=LISTED),
        free_run("https://shop.example/", {}, (), threshold=1, policy=LISTED),
        tool_session("https://shop.example/", policy=LISTED, allow=["*"]),
        tool_session(policy=LISTED),
    ):
        assert reach(started) == (LISTED.hosts, False, (), True)
    started = run_of(FLOW, VALUES, ["password"], policy=LISTED)
    assert reach(started) == (("127.0.0.1:8000",), False, (), False)


def test_nothing_is_started_that_would_leave_the_allowlist() -> None:
    away = (Step(action=Action("navigate", url="https://evil.example/")),)
    flow = Workflow("o", 1, away, hosts=("shop.example",), resources=("cdn.example",))
    strict = Policy("1-x", hosts=("shop.example",), public_hosts=False, public_resources=False)
    starts: tuple[Callable[[], SessionStarted], ...] = (
        lambda: recording("o", (*SCRIPT, *away), {}, (), policy=LISTED),
        lambda: recording("o", SCRIPT, {}, (), policy=LISTED, allow=["evil.example"]),
        lambda: watching("o", "https://evil.example/", {}, policy=LISTED),
        lambda: run_of(flow, {}, (), policy=LISTED, allow=["evil.example"]),
        lambda: run_of(flow, {}, (), policy=strict),
        lambda: free_run("https://evil.example/", {}, (), threshold=1, policy=LISTED),
        lambda: tool_session("https://evil.example/", policy=LISTED),
        lambda: tool_session(policy=LISTED, allow=["127.0.0.1"]),
    )
    for start in starts:
        with pytest.raises(BadInput, match="is not among"):
            start()


def test_what_is_no_host_cannot_be_allowed() -> None:
    for nonsense in ("http://a.example", "a b", "", "*.*", "a.example:x", "10.0.0.0/99"):
        with pytest.raises(BadInput, match="is no host"):
            tool_session(allow=[nonsense])


def test_limits_of_the_configuration_are_kept_whatever_is_started() -> None:
    base = Policy("1-x", upload_mb=200, download_mb=2, approval_ms=9, denylist=("nuke",))
    for started in (recording("o", SCRIPT, {}, (), policy=base), tool_session(policy=base)):
        policy = started.policy
        assert (policy.upload_mb, policy.download_mb, policy.approval_ms) == (200, 2, 9)
        assert (policy.denylist, policy.version) == (("nuke",), "1-x")


def typing(origin: str, name: str = "password", standing_approval: str = "") -> Step:
    return Step(
        action=Action("type", value=Secret(name)),
        before=Place(origin, "/"),
        standing_approval=StandingApproval(standing_approval, "d") if standing_approval else None,
    )


def test_a_secret_belongs_where_it_was_typed_when_it_was_recorded() -> None:
    asked = Action("click", dialogs=(DialogAnswer(secret="pin"),))
    steps = (
        typing("https://shop.example"),
        typing("https://shop.example", standing_approval="https://frame.example"),
        Step(action=asked, before=Place("https://bank.example", "/")),
        typing("https://a.example", "lost"),
        typing("about:", "lost"),
        typing("", "old"),
    )
    names = ("password", "pin", "lost", "old")
    flow = Workflow("o", 1, steps, secrets=names, hosts=("shop.example",))
    found = (
        ("password", "https://shop.example"),
        ("password", "https://frame.example"),
        ("pin", "https://bank.example"),
        ("lost", "https://a.example"),
    )
    assert secret_origins(flow) == found
    framed = Workflow(
        "o", 1, (typing("https://shop.example", standing_approval="https://frame.example"),)
    )
    assert secret_origins(framed) == (("password", "https://frame.example"),)
    assert run_of(flow, {}, names).policy.secret_origins == found
    told = [("password", "https://other.example")]
    assert run_of(flow, {}, names, origins=told).policy.secret_origins == (*told, *found[2:])
    base = Policy("1-x", secret_origins=(("password", "https://shop.example"),))
    narrow = run_of(flow, {}, names, policy=base).policy.secret_origins
    assert narrow == (found[0], *found[2:])
    with pytest.raises(BadInput, match="belongs to other origins"):
        run_of(flow, {}, names, policy=base, origins=told)


def test_what_the_configuration_sets_holds_for_every_run_and_for_tools_what_calls_allow() -> None:
    said: dict[str, Value] = {
        "run.settle_ms": 5,
        "controller.execution_delay": 0.007,
        "critic.vision_enabled": True,
        "run.proof": "stored",
    }
    config = Config({name: SourcedValue(value) for name, value in said.items()})
    settings = Settings(Path(), config=config)
    asked = RunRequest(sure=Thresholds("markov2", 600_000, 300_000))
    headed = msgspec.structs.replace(asked, headed=True)
    run = configured(run_of(FLOW, VALUES, ["password"]), headed, settings)
    assert (run.settings.settle_ms, run.settings.execution_delay_ms, run.headed) == (5, 7, True)
    shown = configured(recording("order", (), {}, ()), asked, settings)
    assert (run.settings.proof, shown.settings.proof) == ("stored", "acknowledged")
    tools = configured(tool_session(), asked, settings)
    assert (tools.settings.settle_ms, tools.settings.vision, tools.headed) == (500, True, False)
    limits = Limits(max_steps=3)
    free = free_run("https://x.example/", {}, (), threshold=1, limits=limits)
    assert free.settings.limits == limits
    for started in (run, tools, configured(free, asked, settings)):
        own = started.settings
        found = own.predictor, own.threshold, own.suggest
        assert found == ("markov2", 600_000, 300_000)


def test_every_session_that_is_started_now_goes_by_the_calibrated_model() -> None:
    url, goal = "https://shop.example/", "Go"
    for started in (
        recording("order", SCRIPT, {}, ()),
        watching("order", url, {}),
        run_of(FLOW, VALUES, ["password"]),
        free_run(url, {}, ()),
        goal_run("go", goal, url, {}, (), models=MODELS, given=SHOWN),
        tool_session(url),
    ):
        settings = started.settings
        found = settings.predictor, settings.threshold, settings.suggest
        assert found == ("foresight", 700_000, 500_000)


def test_a_log_in_which_nothing_is_said_of_the_model_is_an_old_one() -> None:
    """What a struct leaves out when it is kept must mean what it meant then."""
    old = RunSettings()
    assert (old.predictor, old.threshold, old.suggest) == ("markov2", 500_000, MILLION)


def test_a_fork_reaches_what_the_old_session_did_and_freely_no_more() -> None:
    old = recording("o", (Step(action=Action("navigate", url="https://a.example/")),), {}, ())
    free = fork_policy(DEFAULT_POLICY, old, ["b.example"], free=True)
    assert (free.hosts, free.public_hosts) == (("a.example", "b.example"), False)
    run = run_of(FLOW, VALUES, ["password"])
    again = fork_policy(DEFAULT_POLICY, run, (), free=False)
    assert (again.hosts, again.public_hosts, again.public_resources) == (
        ("127.0.0.1:8000",),
        False,
        False,
    )
    with pytest.raises(BadInput, match="is not among"):
        fork_policy(LISTED, old, (), free=False)


# -- with a language model -------------------------------------------------------------------------

MODELS = ModelUse((LanguageModel("anthropic", "m"),), ("browser_click", "complete_task"))
SHOWN = Given(criteria=Criteria((Indicator("text", "is cancelled"),)))


def test_a_run_to_a_goal_is_led_by_calls_of_tools_within_the_limits_of_mode_b() -> None:
    started = goal_run(
        "cancel",
        "Cancel it",
        "http://127.0.0.1:8000/account",
        VALUES,
        ["password"],
        models=MODELS,
        limits=Limits(max_steps=5, max_wall_ms=7_000, max_failures=1),
        given=SHOWN,
        dry_run=True,
    )
    assert (started.purpose, started.driver, started.name) == ("tools", "model", "cancel")
    assert (started.goal, started.models, started.secrets) == ("Cancel it", MODELS, ("password",))
    assert [each.action.url for each in started.script] == ["http://127.0.0.1:8000/account"]
    assert started.settings.limits == Limits(5, 7_000, 1, max_turns=20)
    assert (started.settings.dry_run, started.settings.screenshots) == (True, False)
    assert started.settings.criteria == SHOWN.criteria
    assert started.policy.hosts == ("127.0.0.1:8000",)


@for_each(
    "goal, url, models, given, wrong",
    [
        (" ", "https://a.example", MODELS, SHOWN, "the goal says nothing"),
        ("Go", "", MODELS, SHOWN, "--url URL"),
        ("Go", "https://a.example", MODELS, Given(), "--success WHERE=TEXT"),
        ("Go", "https://a.example", MODELS, Given(criteria=Criteria()), "--service"),
        (
            "Go",
            "https://a.example",
            ModelUse(MODELS.models, ("browser_click",)),
            SHOWN,
            "complete_task",
        ),
        ("Go", "ftp://a.example", MODELS, SHOWN, "not a web address"),
    ],
)
def test_a_goal_that_could_not_be_known_to_be_reached_is_refused(
    goal: str, url: str, models: ModelUse, given: Given, wrong: str
) -> None:
    with pytest.raises(BadInput, match=wrong):
        goal_run("x", goal, url, {}, (), models=models, given=given)
