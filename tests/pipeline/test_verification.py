"""Never "done" for something that did not happen: whole runs against pages that deceive."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from rutter.actors.answers import ScriptedPerson
from rutter.events.action import Action, Text
from rutter.events.checks import (
    AlertSaid,
    FileContains,
    FileExists,
    ReadBack,
    StateIs,
    TextGone,
    TextVisible,
)
from rutter.events.critic import (
    ActionJudged,
    FilesRequested,
    OutcomeUnknown,
    ReadBackDue,
    StateDiffered,
    Verdict,
)
from rutter.events.executor import QueryAnswered, QueryFailed
from rutter.events.log import EventLog
from rutter.events.planner import ObservationRequested, PlanProposed
from rutter.events.predictor import EffectsLearned, StepDue, TransitionLearned, WorkflowLearned
from rutter.events.runtime import SessionEnded
from rutter.events.service_pack import Service, Sign, StateRule
from rutter.events.validator import ActionApproved, ActionStarted, ApprovalRequested, QueryStarted
from rutter.events.workflow import Criteria, Expectation, Indicator, Step, Workflow
from rutter.pipeline.app import App
from rutter.pipeline.sessions import session_started
from tests.support.case_table import for_each
from tests.support.given_when_then import only
from tests.support.log_checks import Replayed, events_of
from tests.support.scripted_shop import ORIGIN, Fails, ScriptedElement, ScriptedPage, World, by_css
from tests.support.shop_sessions import YES, open_app, sail, with_settings

pytestmark = pytest.mark.anyio

SAVE = ScriptedElement(
    name="Save",
    says="Saved 1 record",
    stores=("/records", "Ann Bonny"),
    submits=True,
    method="post",
)
OPEN = Action("navigate", url=f"{ORIGIN}/edit")
NAME = Action("type", target=by_css("#name"), value=Text("Ann Bonny"))
CLICK = Action("click", target=by_css("#save"))
BACK = ReadBack(f"{ORIGIN}/records", (TextVisible("Ann Bonny"),))


def office(save: ScriptedElement = SAVE) -> World:
    return World(
        {
            "/edit": ScriptedPage(
                "Edit",
                {
                    "#name": ScriptedElement("input", "textbox", "Name"),
                    "#save": save,
                    "#number": ScriptedElement("output", "status", "A-1042"),
                },
            ),
            "/records": ScriptedPage("Records", shows=("All of them",)),
            "/help": ScriptedPage("Help"),
        }
    )


def script(*steps: Step | Action) -> tuple[Step, ...]:
    return tuple(each if isinstance(each, Step) else Step(action=each) for each in steps)


async def record(
    app: App, log: EventLog, *steps: Step | Action, world: World | None = None
) -> Workflow:
    started = session_started.recording("save", script(*(steps or (OPEN, NAME, CLICK))), {}, ())
    person = ScriptedPerson(otherwise=YES)
    ended = await sail(app, with_settings(started), world or office(), answers=person, name="rec")
    assert ended.reason == "completed", ended
    [lesson] = [e for e in await events_of(log, "rec") if isinstance(e, WorkflowLearned)]
    return lesson.workflow


async def run(
    app: App, workflow: Workflow, world: World, name: str = "run", **more: Any
) -> SessionEnded:
    return await sail(
        app, with_settings(session_started.run_of(workflow, {}, ()), **more), world, name=name
    )


def read_back(workflow: Workflow, back: ReadBack = BACK) -> Workflow:
    """The workflow with this stated for its last step."""
    *others, last = workflow.steps
    after = msgspec.structs.replace(last.after, read_back=back)
    return msgspec.structs.replace(
        workflow, steps=(*others, msgspec.structs.replace(last, after=after))
    )


def verdicts(events: list[Any]) -> list[tuple[int, Verdict]]:
    return [(e.step, e.verdict) for e in events if isinstance(e, ActionJudged)]


def change(**more: Any) -> ScriptedElement:
    return msgspec.structs.replace(SAVE, **more)


# -- five sites that deceive -----------------------------------------------------------------------

DECEIVERS = {
    "a button that does nothing": (change(inert=True, says="", stores=("", "")), "no_effect"),
    "a click that goes to a look-alike": (change(leads_to="/help", says=""), "wrong_target"),
    "a save that silently fails": (change(says="", stores=("", "")), "failed"),
    "a toast that lies": (change(stores=("", "")), "failed"),
    "a server that does not answer": (
        change(inert=True, says="", stores=("", ""), waits=True),
        "unknown",
    ),
}


@for_each("site", DECEIVERS)
async def test_a_site_that_deceives_gets_the_right_verdict_and_teaches_nothing(
    site: str, replayed: Replayed
) -> None:
    save, verdict = DECEIVERS[site]
    log = replayed.memory()
    async with open_app(log) as app:
        workflow = read_back(await record(app, log))
        world = office(save)
        ended = await run(app, workflow, world)
    events = await events_of(log, "run")
    judged = {e.step: e for e in events if isinstance(e, ActionJudged)}
    assert judged[3].verdict == verdict
    assert judged[3].confidence == 200_000
    assert (ended.reason, ended.failure) == ("failed", "verification_failed")
    learned = [e.action.type for e in events if isinstance(e, TransitionLearned)]
    assert learned == ["navigate", "type"]
    assert not [e for e in events if isinstance(e, EffectsLearned)]
    assert [action.type for action in world.done].count("click") == 1, "it is never done twice"
    unknown = [e.step for e in events if isinstance(e, OutcomeUnknown)]
    assert unknown == ([3] if verdict == "unknown" else [])


async def test_a_button_that_lost_its_form_is_asked_about_before_it_is_pressed(
    replayed: Replayed,
) -> None:
    """What could not be undone when it was recorded, whatever it looks like now."""
    log = replayed.memory()
    changed = change(inert=True, says="", stores=("", ""), submits=False, method="")
    async with open_app(log) as app:
        workflow = await record(app, log)
        world = office(changed)
        ended = await run(app, workflow, world)
    assert (ended.reason, ended.failure) == ("policy_denied", "needs_person")
    assert only(await events_of(log, "run"), ApprovalRequested).rule == "was_irreversible"
    assert "click" not in [action.type for action in world.done]


async def test_the_honest_site_is_confirmed_by_all_of_it(replayed: Replayed) -> None:
    log = replayed.memory()
    async with open_app(log) as app:
        workflow = read_back(await record(app, log))
        world = office()
        ended = await run(app, workflow, world)
    assert ended.reason == "completed"
    events = await events_of(log, "run")
    assert verdicts(events) == [
        (1, "confirmed"),
        (2, "confirmed"),
        (4, "confirmed"),
        (3, "confirmed"),
    ]
    assert world.url == f"{ORIGIN}/edit", "the run's own page stays as it was"
    assert judged_of(events, 3).confidence == 1_000_000


def judged_of(events: list[Any], step: int) -> ActionJudged:
    [judged] = [e for e in events if isinstance(e, ActionJudged) and e.step == step]
    return judged


async def test_without_the_read_back_a_toast_that_lies_is_believed(replayed: Replayed) -> None:
    """The control: nothing but going there tells the two apart."""
    log = replayed.memory()
    async with open_app(log) as app:
        workflow = await record(app, log)
        ended = await run(app, workflow, office(change(stores=("", ""))))
    assert ended.reason == "completed"


# -- the read-back ---------------------------------------------------------------------------------


async def test_a_read_back_is_a_verification_of_its_own_that_policy_judges(
    replayed: Replayed,
) -> None:
    log = replayed.memory()
    async with open_app(log) as app:
        workflow = read_back(await record(app, log))
        await run(app, workflow, office())
    events = await events_of(log, "run")
    assert only(events, ReadBackDue).step == 3
    [look] = [e for e in events if isinstance(e, PlanProposed) and e.read_back_of]
    assert (look.step, look.read_back_of, look.kind) == (4, 3, "verification")
    assert look.action.aside
    assert [e.step for e in events if isinstance(e, ActionApproved)] == [1, 2, 3, 4]
    looks = [e.why for e in events if isinstance(e, ObservationRequested)]
    assert looks[-2:] == ["aside_over", "rest_awaited"]
    learned = [e.action.type for e in events if isinstance(e, TransitionLearned)]
    assert learned == ["navigate", "type", "click"], "looking teaches nothing"


async def test_where_nobody_can_look_the_outcome_is_unknown(replayed: Replayed) -> None:
    log = replayed.memory()
    async with open_app(log) as app:
        workflow = read_back(await record(app, log))
        world = office().trouble(BACK.url, Fails("navigation_failed", dispatched=True))
        ended = await run(app, workflow, world)
    events = await events_of(log, "run")
    assert judged_of(events, 3).verdict == "unknown"
    assert only(events, OutcomeUnknown).step == 3
    assert (ended.reason, ended.failure) == ("failed", "verification_failed")


async def test_a_read_back_that_policy_denies_leaves_the_outcome_unknown(
    replayed: Replayed,
) -> None:
    log = replayed.memory()
    async with open_app(log) as app:
        forbidden = ReadBack("http://10.0.0.1/records", BACK.checks)
        workflow = read_back(await record(app, log), forbidden)
        ended = await run(app, workflow, office())
    events = await events_of(log, "run")
    assert (ended.reason, ended.failure) == ("policy_denied", "policy_denied")
    assert only(events, OutcomeUnknown).step == 3
    assert 3 not in [step for step, _ in verdicts(events)]


async def test_a_read_back_is_for_the_values_of_the_run(replayed: Replayed) -> None:
    log = replayed.memory()
    async with open_app(log) as app:
        back = ReadBack(f"{ORIGIN}/records?q=${{who}}", (TextVisible("${who}"),))
        workflow = read_back(await record(app, log), back)
        workflow = msgspec.structs.replace(workflow, parameters=("who",))
        started = session_started.run_of(workflow, {"who": "Ann & Bonny"}, ())
        await sail(app, with_settings(started), office(), name="run")
    due = only(await events_of(log, "run"), ReadBackDue)
    assert due.read_back.url == f"{ORIGIN}/records?q=Ann%20%26%20Bonny"
    assert due.read_back.checks == (TextVisible("Ann & Bonny"),)


async def test_a_script_can_state_a_read_back_and_its_workflow_keeps_it(
    replayed: Replayed,
) -> None:
    log = replayed.memory()
    async with open_app(log) as app:
        stated = Step(action=CLICK, after=Expectation(read_back=BACK))
        workflow = await record(app, log, OPEN, NAME, stated)
        assert workflow.steps[-1].after.read_back == BACK
        ended = await run(app, workflow, office(change(stores=("", ""))))
    assert ended.failure == "verification_failed"


# -- checks ----------------------------------------------------------------------------------------


async def test_what_was_stated_is_checked_with_patience_and_with_evidence(
    replayed: Replayed,
) -> None:
    log = replayed.memory()
    async with open_app(log) as app:
        checks = (TextVisible("saved"), TextGone("nobody"))
        await record(app, log, OPEN, NAME, Step(action=CLICK, after=Expectation(checks=checks)))
    judged = judged_of(await events_of(log, "rec"), 3)
    assert (judged.verdict, judged.reason) == ("confirmed", "checked")
    assert [(e.source, e.checked) for e in judged.evidence[1:]] == [
        ("DOM", "saved"),
        ("DOM", "nobody"),
    ]
    assert judged.evidence[1].sample is not None
    assert "Saved 1 record" in judged.evidence[1].sample.text


async def test_a_pure_verification_does_nothing_and_is_final(replayed: Replayed) -> None:
    log = replayed.memory()
    world = office()
    async with open_app(log) as app:
        look = Action("check", verify=(TextVisible("no such thing"),))
        started = with_settings(session_started.recording("save", script(OPEN, look), {}, ()))
        ended = await sail(app, started, world, name="rec")
    events = await events_of(log, "rec")
    assert (ended.reason, ended.failure) == ("failed", "verification_failed")
    assert [e.attempt for e in events if isinstance(e, ActionStarted) and e.step == 2] == [1]
    assert judged_of(events, 2).reason == (
        "text_visible 'no such thing': the page does not show it"
    )


async def test_a_verification_in_a_workflow_is_run_and_teaches_nothing(
    replayed: Replayed,
) -> None:
    log = replayed.memory()
    async with open_app(log) as app:
        look = Action("check", verify=(TextVisible("Edit"),))
        workflow = await record(app, log, OPEN, look, NAME)
        ended = await run(app, workflow, office())
    assert ended.reason == "completed"
    events = await events_of(log, "run")
    learned = [(e.action.type, len(e.after)) for e in events if isinstance(e, TransitionLearned)]
    assert learned == [("navigate", 0), ("type", 1)], "the chain goes on behind it"


# -- what is learned -------------------------------------------------------------------------------


async def test_what_the_page_said_is_expected_again(replayed: Replayed) -> None:
    log = replayed.memory()
    async with open_app(log) as app:
        workflow = await record(app, log)
    expected = (AlertSaid("saved # record", whole=True), StateIs("COMPLETE"))
    assert workflow.steps[-1].after.learned == expected


async def test_what_verified_runs_say_each_time_is_expected_from_then_on(
    replayed: Replayed,
) -> None:
    log = replayed.memory()
    silent, talking = change(says=""), change(says="Well done")
    async with open_app(log) as app:
        workflow = await record(app, log, world=office(silent))
        for number in range(2):
            name = f"run-{number}"
            assert (await run(app, workflow, office(talking), name)).reason == "completed"
        ended = await run(app, workflow, office(silent), "silent")
    due = [e for e in await events_of(log, "silent") if isinstance(e, StepDue)][-1]
    assert due.step.after.learned == (AlertSaid("well done", whole=True),)
    assert ended.failure == "verification_failed"


async def test_a_notice_that_one_verified_run_showed_may_be_chance(replayed: Replayed) -> None:
    log = replayed.memory()
    silent = change(says="")
    async with open_app(log) as app:
        workflow = await record(app, log, world=office(silent))
        await run(app, workflow, office(change(says="It rains")), "rain")
        ended = await run(app, workflow, office(silent), "dry")
    assert ended.reason == "completed"


# -- observations ----------------------------------------------------------------------------------

READ = Action("extract", target=by_css("#number"), name="number")


async def test_an_observation_has_no_verdict_and_is_learned_when_it_was_answered(
    replayed: Replayed,
) -> None:
    log = replayed.memory()
    async with open_app(log) as app:
        await record(app, log, OPEN, READ, NAME)
    events = await events_of(log, "rec")
    assert only(events, QueryStarted).step == 2
    assert only(events, QueryAnswered).text.text == "A-1042"
    assert [step for step, _ in verdicts(events)] == [1, 3]
    assert [e.step for e in events if isinstance(e, ActionApproved)] == [1, 3]
    learned = [e.action.type for e in events if isinstance(e, TransitionLearned)]
    assert learned == ["navigate", "extract", "type"]


async def test_a_workflow_reads_a_page_whole_once_it_is_at_rest(replayed: Replayed) -> None:
    log, whole = replayed.memory(), Action("read_page", name="page")
    async with open_app(log) as app:
        workflow = await record(app, log, OPEN, whole, NAME)
        ended = await run(app, workflow, office())
    events = await events_of(log, "run")
    asked, answer = only(events, QueryStarted), only(events, QueryAnswered)
    assert (asked.action, asked.digest) == (whole, "")
    assert asked.rest is not None
    assert answer.rest is not None
    assert "A-1042" in answer.text.text
    assert [step for step, _ in verdicts(events)] == [1, 3]
    assert ended.reason == "completed"


async def test_an_observation_that_fails_is_not_tried_again(replayed: Replayed) -> None:
    log = replayed.memory()
    async with open_app(log) as app:
        workflow = await record(app, log, OPEN, READ)
        world = office().trouble("#number", Fails("timeout"))
        ended = await run(app, workflow, world)
    events = await events_of(log, "run")
    assert only(events, QueryFailed).attempt == 1
    assert (ended.reason, ended.failure, ended.detail) == ("failed", "lost", "timeout")


async def test_an_optional_observation_that_fails_is_passed_over(replayed: Replayed) -> None:
    log = replayed.memory()
    async with open_app(log) as app:
        workflow = await record(app, log, OPEN, READ, NAME)
        first, read, last = workflow.steps
        optional = msgspec.structs.replace(read, optional=True)
        workflow = msgspec.structs.replace(workflow, steps=(first, optional, last))
        world = office().trouble("#number", Fails("timeout"))
        ended = await run(app, workflow, world)
    assert ended.reason == "completed"


# -- states (F6, S1 FR-005) and criteria (S3 1.7) --------------------------------------------------

SHIPYARD = Service(
    "shipyard",
    states=(
        StateRule("ACCOUNT_ACTIVE", (Sign("heading", "edit"),)),
        StateRule("COMPLETE", (Sign("heading", "all done"),)),
        StateRule("FAILED", (Sign("heading", "out of rope"),)),
        StateRule("LOGIN_REQUIRED", (Sign("heading", "who goes there"),)),
    ),
)
SEND = ScriptedElement(name="Next", leads_to="/result")


def yard(first: str = "Edit", result: str = "All done") -> World:
    return World({"/edit": ScriptedPage(first, {"#save": SEND}), "/result": ScriptedPage(result)})


async def record_yard(app: App, log: EventLog) -> Workflow:
    given = session_started.Given(service=SHIPYARD)
    started = session_started.recording("save", script(OPEN, CLICK), {}, (), given=given)
    person = ScriptedPerson(otherwise=YES)
    ended = await sail(app, with_settings(started), yard(), answers=person, name="rec")
    assert ended.reason == "completed"
    [lesson] = [e for e in await events_of(log, "rec") if isinstance(e, WorkflowLearned)]
    return lesson.workflow


async def test_the_state_that_a_step_led_to_is_expected_and_what_differs_is_told(
    replayed: Replayed,
) -> None:
    log = replayed.memory()
    async with open_app(log) as app:
        workflow = await record_yard(app, log)
        assert workflow.steps[1].after.learned == (StateIs("COMPLETE"),)
        ended = await run(app, workflow, yard(result="We are out of rope"))
    events = await events_of(log, "run")
    assert only(events, StateDiffered) == StateDiffered(2, 1, "COMPLETE", "FAILED")
    assert judged_of(events, 2).verdict == "wrong_target"
    assert (ended.reason, ended.failure) == ("failed", "verification_failed")


async def test_a_page_that_no_rule_knows_may_be_the_same_in_a_new_dress(
    replayed: Replayed,
) -> None:
    log = replayed.memory()
    async with open_app(log) as app:
        workflow = await record_yard(app, log)
        await run(app, workflow, yard(result="Bravo"))
    assert judged_of(await events_of(log, "run"), 2).verdict == "confirmed"


async def test_a_state_that_was_stated_must_be_that_very_state(replayed: Replayed) -> None:
    log = replayed.memory()
    async with open_app(log) as app:
        workflow = await record_yard(app, log)
        first, last = workflow.steps
        after = msgspec.structs.replace(last.after, checks=(StateIs("COMPLETE"),))
        last = msgspec.structs.replace(last, after=after)
        workflow = msgspec.structs.replace(workflow, steps=(first, last))
        await run(app, workflow, yard(result="Bravo"))
    events = await events_of(log, "run")
    assert only(events, StateDiffered).actual == "UNKNOWN"


async def test_a_step_is_not_due_on_a_sign_in_page_whatever_its_address(
    replayed: Replayed,
) -> None:
    log = replayed.memory()
    async with open_app(log) as app:
        workflow = await record_yard(app, log)
        assert [step.state for step in workflow.steps] == ["START", "ACCOUNT_ACTIVE"]
        navigate = msgspec.structs.replace(workflow.steps[0], after=Expectation())
        workflow = msgspec.structs.replace(workflow, steps=(navigate, workflow.steps[1]))
        world = yard(first="Who goes there")
        ended = await run(app, workflow, world)
    assert (ended.reason, ended.failure) == ("policy_denied", "needs_person")
    assert "LOGIN_REQUIRED" in ended.detail
    assert [action.type for action in world.done] == ["navigate"]


async def test_a_step_that_led_to_a_sign_in_page_is_not_done(replayed: Replayed) -> None:
    log = replayed.memory()
    async with open_app(log) as app:
        workflow = await record_yard(app, log)
        await run(app, workflow, yard(first="Who goes there"))
    events = await events_of(log, "run")
    assert judged_of(events, 1).verdict == "wrong_target"
    assert only(events, StateDiffered).actual == "LOGIN_REQUIRED"


async def test_another_state_is_told_and_decides_only_about_what_cannot_be_undone(
    replayed: Replayed,
) -> None:
    log = replayed.memory()
    async with open_app(log) as app:
        workflow = await record_yard(app, log)
        navigate = msgspec.structs.replace(
            workflow.steps[0], after=msgspec.structs.replace(workflow.steps[0].after, learned=())
        )
        workflow = msgspec.structs.replace(workflow, steps=(navigate, workflow.steps[1]))
        await run(app, workflow, yard(first="We are out of rope"))
    events = await events_of(log, "run")
    assert judged_of(events, 1).verdict == "confirmed"
    [first, *_] = [e for e in events if isinstance(e, StateDiffered)]
    assert (first.step, first.expected, first.actual) == (1, "ACCOUNT_ACTIVE", "FAILED")


def signs(*says: str) -> tuple[Indicator, ...]:
    return tuple(Indicator("heading", said) for said in says)


@pytest.mark.parametrize(
    ("criteria", "reason", "detail"),
    [
        (Criteria(success=signs("all done")), "completed", "the recorded end is reached"),
        (
            Criteria(success=signs("cancelled", "ended")),
            "completed_unverified",
            "none of 2 signs of success is on the page",
        ),
        (
            Criteria(success=signs("all done"), failure=signs("done")),
            "completed_unverified",
            "the heading says 'done', which is a sign of failure",
        ),
    ],
)
async def test_a_run_is_done_when_the_signs_of_its_service_say_so(
    criteria: Criteria, reason: str, detail: str, replayed: Replayed
) -> None:
    log = replayed.memory()
    async with open_app(log) as app:
        workflow = await record_yard(app, log)
        started = session_started.run_of(
            workflow, {}, (), given=session_started.Given(criteria=criteria)
        )
        ended = await sail(app, with_settings(started), yard(), name="run")
    assert (ended.reason, ended.detail) == (reason, detail)


# -- files -----------------------------------------------------------------------------------------


async def test_a_file_that_must_be_there_is_waited_for_and_then_missed(
    replayed: Replayed, tmp_path: Path
) -> None:
    log = replayed.memory()
    there = tmp_path / "invoice.txt"
    there.write_text("Total 42")
    checks = (FileExists("invoice.txt"), FileContains("Total", "invoice.txt"))
    look = Action("check", verify=checks)
    missing = Action("check", verify=(FileExists("other.txt"),))
    given = session_started.Given(folders=(str(tmp_path),))
    steps = script(OPEN, look, missing)
    started = with_settings(session_started.recording("save", steps, {}, (), given=given))
    async with open_app(log) as app:
        ended = await sail(app, started, office(), name="rec")
    events = await events_of(log, "rec")
    assert [(e.source, e.sample) for e in judged_of(events, 2).evidence[1:]] == [("FILE", None)] * 2
    assert judged_of(events, 3).reason == "file_exists 'other.txt': there is no such file"
    assert [e.within_ms for e in events if isinstance(e, FilesRequested)][:2] == [0, 0]
    assert ended.failure == "verification_failed"
