"""Whole sessions in a scripted world: recorded, sailed, stopped, broken, side by side."""

from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import anyio
import pytest

from rutter.actors.answers import PersonAnswer, ScriptedPerson
from rutter.actors.decider import DecidingActor
from rutter.actors.effector import Effector
from rutter.actors.planner.actor import Planner
from rutter.actors.planner.state import PlannerState
from rutter.actors.timer.actor import Timer
from rutter.events.action import Action, ByCss, ByRole, ByText
from rutter.events.causes import Cause
from rutter.events.critic import ActionJudged, OutcomeUnknown
from rutter.events.envelope import Envelope, Record
from rutter.events.errors import BadInput, BrowserGone, LogWriteFailed
from rutter.events.executor import ActionDone, TargetChanged, TargetResolved
from rutter.events.log import EventLog
from rutter.events.memory_log import MemoryLog
from rutter.events.observer import PageObserved
from rutter.events.planner import PlanProposed
from rutter.events.predictor import PredictionMade, WorkflowLearned
from rutter.events.run_settings import MILLION
from rutter.events.runtime import (
    ActorFailed,
    DeadlinePassed,
    LogSealed,
    SessionEnded,
    StopRequested,
)
from rutter.events.upcast import with_causes
from rutter.events.validator import (
    ActionStarted,
    ActionWithheld,
    ApprovalRequested,
    ApprovalVoided,
    PlanAdmitted,
)
from rutter.events.vocabulary import AnyEvent
from rutter.events.workflow import Workflow
from rutter.pipeline import app as module
from rutter.pipeline.app import App
from rutter.pipeline.runtime.shutdown import PhaseReport
from rutter.pipeline.sessions import session_started
from rutter.replay.verify import fresh_deciders
from tests.support.given_when_then import only
from tests.support.log_checks import (
    BrokenLog,
    HeldLog,
    Replayed,
    TurnsLog,
    check_chains,
    events_of,
    read_all,
    turn_with,
)
from tests.support.scripted_shop import (
    AURORA,
    FAIRLEAD,
    ORDER,
    ORIGIN,
    Becomes,
    Fails,
    Raises,
    ScriptedElement,
    Waits,
    World,
    by_css,
    effectors,
    shop,
)
from tests.support.shop_sessions import (
    YES,
    NextClock,
    Thinks,
    kinds,
    open_app,
    record_order,
    recording,
    run_for_fairlead,
    sail,
    with_settings,
)
from tests.support.until_true import until

pytestmark = pytest.mark.anyio

HOME = Action("navigate", url=ORIGIN + "/")
FIND = Action("click", target=by_css("#find"))
PLACE = ORDER[-1].action


@asynccontextmanager
async def with_order(replayed: Replayed) -> AsyncIterator[tuple[App, World, Workflow]]:
    """The order was recorded, and is to be run in a shop that may have changed."""
    log = replayed.memory()
    async with open_app(log) as app:
        yield app, shop(), await record_order(app, log)


async def turn_the_loop(times: int = 50) -> None:
    for _ in range(times):
        await anyio.sleep(0)


# -- the whole way -------------------------------------------------------------------------------


async def test_a_workflow_watched_once_is_run_alone(pipeline_log: EventLog) -> None:
    async with open_app(pipeline_log) as app:
        workflow = await record_order(app, pipeline_log)
        world, person = shop(), ScriptedPerson()
        ended = await sail(app, run_for_fairlead(workflow), world, answers=person)
    assert ended == with_causes(SessionEnded("completed", detail="the recorded end is reached"))
    assert world.path == "/orders/1002"
    assert world.fields == {"#q": "Fairlead Offshore", "#qty": "3"}
    assert person.asked == []


async def test_what_is_learned_can_be_run_with_other_values(pipeline_log: EventLog) -> None:
    async with open_app(pipeline_log) as app:
        workflow = await record_order(app, pipeline_log, name="the-recording")
    assert (workflow.version, workflow.complete, workflow.session) == (1, True, "the-recording")
    assert (workflow.parameters, workflow.hosts) == (("customer",), ("shop.example",))
    row = workflow.steps[3].action.target
    assert row is not None
    assert row.strategies == (ByRole("link", "${customer}"),)
    assert [step.standing_approval is not None for step in workflow.steps] == [False] * 5 + [True]


async def test_the_next_recording_is_the_next_version(pipeline_log: EventLog) -> None:
    async with open_app(pipeline_log) as app:
        versions = [(await record_order(app, pipeline_log)).version for _ in range(3)]
    assert versions == [1, 2, 3]


async def test_a_recording_that_fails_half_way_keeps_what_happened(replayed: Replayed) -> None:
    log = replayed.memory()
    nowhere = Action("click", target=by_css("#nowhere"))
    async with open_app(log) as app:
        ended = await sail(app, recording(HOME, FIND, nowhere), name="s")
    assert (ended.reason, ended.failure) == ("failed", "lost")
    lesson = only(await events_of(log, "s"), WorkflowLearned)
    assert [step.action.type for step in lesson.workflow.steps] == ["navigate", "click"]
    assert not lesson.workflow.complete
    assert lesson.stopped_at == (
        "element_not_found: none of 1 ways to find it matched one visible element, for 3.0 s"
    )


async def test_a_free_run_does_what_it_is_sure_of_and_says_where_it_is_lost(
    replayed: Replayed,
) -> None:
    log = replayed.memory()
    free = session_started.free_run(ORIGIN + "/", FAIRLEAD, (), threshold=MILLION)
    world = shop()
    async with open_app(log) as app:
        for number in range(2):
            await record_order(app, log, name=f"record-{number}")
        ended = await sail(app, with_settings(free, predictor="markov2"), world, name="free")
    # it types, finds, opens the customer, types; sending the form was never its to decide
    assert [action.type for action in world.done] == ["navigate", "type", "click", "click", "type"]
    assert (ended.reason, ended.failure) == ("policy_denied", "needs_person")
    proposed = [e for e in await events_of(log, "free") if isinstance(e, PlanProposed)]
    assert [plan.reason for plan in proposed[1:]] == ["confidence_above_threshold_1.00"] * 5


async def test_what_one_process_learned_the_next_one_knows(replayed: Replayed) -> None:
    first = TurnsLog(replayed.memory())
    async with open_app(first) as app:
        await record_order(app, first)
    second = replayed.memory(*first.turns)
    free = session_started.free_run(ORIGIN + "/", FAIRLEAD, (), threshold=MILLION)
    async with open_app(second, clock=NextClock()) as app:
        await sail(app, with_settings(free, predictor="markov2"), name="free")
        assert (await record_order(app, second)).version == 2
    made = [e for e in await events_of(second, "free") if isinstance(e, PredictionMade)]
    assert [len(prediction.candidates) for prediction in made] == [0, 1, 1, 1, 1, 1]


async def test_the_same_run_twice_gives_the_same_bytes(replayed: Replayed) -> None:
    async def voyage(log: MemoryLog) -> list[tuple[bytes, bytes]]:
        async with open_app(log) as app:
            workflow = await record_order(app, log)
            async with anyio.create_task_group() as group:
                for number in range(3):
                    run = run_for_fairlead(workflow)
                    group.start_soon(partial(sail, app, run, name=f"run-{number}"))
        return [(payload, envelope.hash) for envelope, payload in await read_all(log)]

    assert await voyage(replayed.memory()) == await voyage(replayed.memory())


# -- durable before effect -----------------------------------------------------------------------


async def test_nothing_is_touched_before_its_intent_is_on_disk(replayed: Replayed) -> None:
    log = HeldLog(replayed.memory(), turn_with(ActionStarted))
    world = shop()
    async with open_app(log) as app, anyio.create_task_group() as group:
        group.start_soon(sail, app, recording(HOME), world)
        await until(lambda: log.holding)
        await turn_the_loop()
        assert world.done == []
        log.let_go()
    assert world.done == [HOME]


async def test_nobody_is_asked_before_the_question_is_on_disk(replayed: Replayed) -> None:
    log = HeldLog(replayed.memory(), turn_with(ApprovalRequested))
    person = ScriptedPerson(otherwise=YES)
    async with open_app(log) as app, anyio.create_task_group() as group:
        group.start_soon(lambda: sail(app, recording(), answers=person))
        await until(lambda: log.holding)
        await turn_the_loop()
        assert person.asked == []
        log.let_go()
    assert len(person.asked) == 1


async def test_listeners_hear_only_what_is_on_disk_and_in_order(replayed: Replayed) -> None:
    log = HeldLog(replayed.memory(), turn_with(ActionStarted))
    heard: list[Envelope] = []
    async with open_app(log) as app:
        app.listen(heard.append)
        async with anyio.create_task_group() as group:
            group.start_soon(sail, app, recording(HOME))
            await until(lambda: log.holding)
            await turn_the_loop()
            assert "ActionStarted" not in kinds([envelope.event for envelope in heard])
            log.let_go()
        count = len(heard)
        app.unlisten(heard.append)
    assert [envelope.seq for envelope in heard] == list(range(1, count + 1))
    assert isinstance(heard[-1].event, SessionEnded)


@pytest.mark.parametrize(
    ("slow", "follows"), [(PlanAdmitted, TargetResolved), (ActionDone, PageObserved)]
)
async def test_looking_does_not_wait_for_the_disk(
    replayed: Replayed, slow: type[Any], follows: type[Any]
) -> None:
    log = HeldLog(replayed.memory(), turn_with(slow))
    async with open_app(log) as app, anyio.create_task_group() as group:
        group.start_soon(sail, app, recording(HOME, FIND))
        await until(lambda: log.holding)
        before = len(log.turns)
        await until(lambda: any(turn_with(follows)(turn) for turn in log.turns[before:]))
        assert log.holding
        log.let_go()


async def test_a_write_that_fails_ends_the_run_and_nothing_is_touched_after_it(
    replayed: Replayed,
) -> None:
    def third_intent(turn: Any) -> bool:
        return any(
            isinstance(record.envelope.event, ActionStarted) and record.envelope.event.step == 3
            for record in turn
        )

    log = BrokenLog(replayed.memory(), third_intent)
    world = shop()
    async with open_app(log) as app:
        with pytest.raises(LogWriteFailed, match="the disk is gone"):
            await sail(app, recording(), world)
        assert app.running() == ()
    assert [action.type for action in world.done] == ["navigate", "type"]


async def test_a_write_that_fails_ends_every_run(replayed: Replayed) -> None:
    log = BrokenLog(replayed.memory(), lambda turn: turn[0].envelope.seq > 60)
    failures: list[LogWriteFailed] = []

    async def fail(app: App) -> None:
        with pytest.raises(LogWriteFailed) as caught:
            await sail(app, recording(HOME, *[FIND] * 5, max_same=9))
        failures.append(caught.value)

    async with open_app(log) as app, anyio.create_task_group() as group:
        for _ in range(5):
            group.start_soon(fail, app)
    assert failures == [log.broken] * 5


async def test_a_write_that_fails_while_stopping_does_not_hold_up_the_shutdown(
    replayed: Replayed,
) -> None:
    log = BrokenLog(replayed.memory(), turn_with(StopRequested))
    world = shop().trouble("#find", waits := Waits(anyio.Event(), anyio.Event()))
    began = anyio.current_time()

    async def fail(app: App) -> None:
        with pytest.raises(LogWriteFailed):
            await sail(app, recording(HOME, FIND), world)

    async with anyio.create_task_group() as group, open_app(log) as app:
        group.start_soon(fail, app)
        await waits.reached.wait()
    assert anyio.current_time() - began < module.STOP_S / 2


# -- deciders and effectors that break -----------------------------------------------------------


class FailsFor(Planner):
    """A Planner with a bug that one session meets."""

    def __init__(self, session: str) -> None:
        self._session = session

    def decide(self, state: PlannerState, envelope: Envelope) -> Iterable[AnyEvent]:
        if envelope.session == self._session and isinstance(envelope.event, PredictionMade):
            raise ZeroDivisionError("a bug")
        return super().decide(state, envelope)


class Endless(Planner):
    def decide(self, state: PlannerState, envelope: Envelope) -> Iterable[AnyEvent]:
        if envelope.session == "endless" and not isinstance(envelope.event, SessionEnded):
            return [ActionWithheld(1, HOME, "again")]
        return super().decide(state, envelope)


def with_planner(planner: Callable[[], Planner]) -> Callable[[], list[DecidingActor[Any]]]:
    def make() -> list[DecidingActor[Any]]:
        others = [actor for actor in fresh_deciders() if actor.name != "planner"]
        return [*others, DecidingActor(planner())]

    return make


async def test_a_decider_that_raises_ends_its_session_and_no_other(replayed: Replayed) -> None:
    deciders = with_planner(lambda: FailsFor("bad"))
    log = replayed.memory(deciders=deciders)
    ends: dict[str, SessionEnded] = {}

    async def run(app: App, name: str) -> None:
        ends[name] = await sail(app, recording(HOME, FIND), name=name)

    async with open_app(log, deciders()) as app, anyio.create_task_group() as group:
        for name in ("good", "bad", "fine"):
            group.start_soon(run, app, name)
    assert ends["bad"] == with_causes(
        SessionEnded("failed", "actor_failed", "planner: ZeroDivisionError: a bug")
    )
    assert kinds(await events_of(log, "bad"))[-2:] == ["ActorFailed", "SessionEnded"]
    assert ends["good"].reason == ends["fine"].reason == "completed"


async def test_a_broken_session_still_closes_its_page(replayed: Replayed) -> None:
    deciders = with_planner(lambda: FailsFor("bad"))
    world = shop()
    log = replayed.memory(deciders=deciders)
    async with open_app(log, deciders()) as app:
        await sail(app, recording(HOME), world, name="bad")
    assert world.closed


async def test_a_decider_that_never_ends_ends_its_session() -> None:
    # Not `replayed`: tests/replay/test_verify.py says how replay takes a turn that was cut.
    log = MemoryLog()
    deciders = with_planner(Endless)()
    async with open_app(log, deciders) as app:
        ended = await sail(app, recording(HOME), name="endless")
        fine = await sail(app, recording(HOME), name="fine")
    assert ended.failure == "actor_failed"
    assert ended.detail.startswith("runtime: TurnTooLong")
    assert fine.reason == "completed"
    check_chains(await read_all(log))


async def test_an_effector_that_cannot_be_restarted_ends_its_session(
    replayed: Replayed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rutter.pipeline.runtime.session.BACKOFF_S", 0.001)
    log = replayed.memory()
    world = shop().trouble("look", *[Raises(ValueError("odd page"))] * 9)
    async with open_app(log) as app:
        ended = await sail(app, recording(HOME), world, name="s")
    assert ended == with_causes(
        SessionEnded("failed", "actor_failed", "observer: ValueError: odd page")
    )
    assert only(await events_of(log, "s"), ActorFailed).actor == "observer"


async def test_a_stop_asked_for_while_an_effector_is_given_up_changes_nothing(
    replayed: Replayed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rutter.pipeline.runtime.session.BACKOFF_S", 0.001)
    log = HeldLog(replayed.memory(), turn_with(ActorFailed))
    world = shop().trouble("look", *[Raises(ValueError("odd page"))] * 9)
    async with open_app(log) as app, anyio.create_task_group() as group:
        group.start_soon(partial(sail, app, recording(HOME), world, name="s"))
        await until(lambda: log.holding, turns=1_000_000)
        await app.stop("s", "terminal")
        log.let_go()
    ended = (await events_of(log, "s"))[-1]
    assert isinstance(ended, SessionEnded)
    assert ended.failure == "actor_failed"


async def test_an_effector_that_is_restarted_is_not_noticed(
    replayed: Replayed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rutter.pipeline.runtime.session.BACKOFF_S", 0.001)
    world = shop().trouble("look", Raises(ValueError("odd page")))
    async with open_app(replayed.memory()) as app:
        ended = await sail(app, recording(HOME), world)
    assert ended.reason == "completed"


async def test_a_browser_that_dies_interrupts_the_run(replayed: Replayed) -> None:
    log = replayed.memory()
    world = shop().trouble("#find", Raises(BrowserGone("the browser crashed")))
    async with open_app(log) as app:
        ended = await sail(app, recording(HOME, FIND), world, name="s")
    assert ended == with_causes(SessionEnded("interrupted", "browser_lost", "the browser crashed"))
    unknown = only(await events_of(log, "s"), OutcomeUnknown)
    assert (unknown.step, unknown.why) == (2, "interrupted before its outcome was judged")


# -- steps that do not go as planned -------------------------------------------------------------


async def test_a_transient_failure_is_tried_once_more(replayed: Replayed) -> None:
    log = replayed.memory()
    world = shop().trouble("#find", Fails("element_obscured"))
    async with open_app(log) as app:
        ended = await sail(app, recording(HOME, FIND), world, name="s")
    assert ended.reason == "completed"
    verdicts = [e.verdict for e in await events_of(log, "s") if isinstance(e, ActionJudged)]
    assert verdicts == ["confirmed", "failed", "confirmed"]


async def test_a_click_that_was_dispatched_is_never_repeated(replayed: Replayed) -> None:
    world = shop().trouble("#find", Fails("timeout", dispatched=True))
    async with open_app(replayed.memory()) as app:
        ended = await sail(app, recording(HOME, FIND), world)
    assert ended == with_causes(SessionEnded("failed", "verification_failed", "timeout"))


async def test_a_run_whose_click_does_nothing_is_tried_once_more_and_fails(
    replayed: Replayed,
) -> None:
    async with with_order(replayed) as (app, world, workflow):
        world.replace_at("/", "#find", ScriptedElement(name="Find", inert=True))
        ended = await sail(app, run_for_fairlead(workflow), world)
    assert (ended.reason, ended.failure) == ("failed", "retry_exhausted")
    assert [action.type for action in world.done] == ["navigate", "type", "click", "click"]


async def test_what_cannot_be_undone_and_did_nothing_is_not_tried_again(replayed: Replayed) -> None:
    async with with_order(replayed) as (app, world, workflow):
        place = ScriptedElement(name="Place order", submits=True, method="post", inert=True)
        world.replace_at("/customers/2", "#place", place)
        ended = await sail(app, run_for_fairlead(workflow), world)
    assert (ended.reason, ended.failure) == ("failed", "verification_failed")
    assert [action.type for action in world.done] == [step.action.type for step in ORDER]


async def test_a_run_that_is_led_elsewhere_says_so(replayed: Replayed) -> None:
    async with with_order(replayed) as (app, world, workflow):
        world.replace_at("/", "#find", ScriptedElement(name="Find", leads_to="/login"))
        ended = await sail(app, run_for_fairlead(workflow), world)
    said = "wrong_target: led_elsewhere, not at /results"
    assert ended == SessionEnded("failed", "verification_failed", said, Cause(code="led_elsewhere"))


async def test_a_recorded_click_that_does_nothing_is_part_of_the_workflow(
    replayed: Replayed,
) -> None:
    log = replayed.memory()
    nothing = Action("click", target=by_css("#decoration"))
    async with open_app(log) as app:
        await sail(app, recording(HOME, nothing, nothing), name="s")
        lesson = only(await events_of(log, "s"), WorkflowLearned)
        ended = await sail(app, with_settings(session_started.run_of(lesson.workflow, {}, ())))
    assert len(lesson.workflow.steps) == 3
    assert ended.reason == "completed"


async def test_an_element_that_changed_under_the_click_is_judged_again(replayed: Replayed) -> None:
    log = replayed.memory()
    sends = ScriptedElement(name="Find", leads_to="/results", submits=True, method="post")
    world, person = shop().trouble("#find", Becomes(sends)), ScriptedPerson([YES])
    async with open_app(log) as app:
        ended = await sail(app, recording(HOME, FIND), world, answers=person, name="s")
    assert ended.reason == "completed"
    assert [question.rule for question in person.asked] == ["sends_a_form"]
    assert only(await events_of(log, "s"), TargetChanged).element.submits


async def test_refused_after_the_element_changed_nothing_was_done(replayed: Replayed) -> None:
    log = replayed.memory()
    sends = ScriptedElement(name="Find", leads_to="/results", submits=True, method="post")
    world = shop().trouble("#find", Becomes(sends))
    async with open_app(log) as app:
        ended = await sail(app, recording(HOME, FIND), world, name="s")
    assert ended.failure == "needs_person"
    assert world.done == [HOME]
    assert "OutcomeUnknown" not in kinds(await events_of(log, "s"))


async def test_a_standing_approval_does_not_cover_another_button(replayed: Replayed) -> None:
    async with with_order(replayed) as (app, world, workflow):
        other = ScriptedElement(
            name="Cancel order", leads_to="/orders/1002", submits=True, method="post"
        )
        world.replace_at("/customers/2", "#place", other)
        ended = await sail(app, run_for_fairlead(workflow), world)
    assert (ended.reason, ended.failure) == ("policy_denied", "needs_person")
    assert PLACE.type not in [action.type for action in world.done[4:]]


async def test_a_dry_run_does_everything_but_the_irreversible(replayed: Replayed) -> None:
    log = replayed.memory()
    world = shop()
    async with open_app(log) as app:
        workflow = await record_order(app, log)
        dry = session_started.run_of(workflow, FAIRLEAD, (), dry_run=True)
        ended = await sail(app, with_settings(dry), world, name="dry")
    assert ended.reason == "completed_unverified"
    assert len(world.done) == 5
    assert only(await events_of(log, "dry"), ActionWithheld).step == 6


async def test_a_person_who_says_no_ends_the_run(replayed: Replayed) -> None:
    log = replayed.memory()
    world, person = shop(), ScriptedPerson([PersonAnswer(False, "wrong customer")])
    async with open_app(log) as app:
        ended = await sail(app, recording(), world, answers=person)
    assert ended == with_causes(
        SessionEnded("policy_denied", "policy_denied", "a person said no: wrong customer")
    )
    assert world.path == "/customers/1"


async def test_typing_into_a_list_is_selecting_from_it(replayed: Replayed) -> None:
    log = replayed.memory()
    world = shop()
    world.replace_at("/customers/1", "#qty", ScriptedElement("select", "combobox", "Quantity"))
    async with open_app(log) as app:
        person = ScriptedPerson(otherwise=YES)
        ended = await sail(app, recording(), world, answers=person, name="s")
    assert ended.reason == "completed"
    lesson = only(await events_of(log, "s"), WorkflowLearned)
    assert lesson.workflow.steps[4].action.type == "select"


# -- stopping ------------------------------------------------------------------------------------


async def stopped_in_flight(app: App, world: World, stop: Callable[[], Any]) -> SessionEnded:
    """The end of a session that was stopped while its click had not come back."""
    waits = Waits(anyio.Event(), anyio.Event())
    world.trouble("#find", waits)
    ended: list[SessionEnded] = []

    async def run() -> None:
        ended.append(await sail(app, recording(HOME, FIND), world, name="s"))

    async with anyio.create_task_group() as group:
        group.start_soon(run)
        await waits.reached.wait()
        await stop()
    return ended[0]


async def test_a_run_stopped_in_the_middle_says_that_the_outcome_is_unknown(
    pipeline_log: EventLog,
) -> None:
    world = shop()
    async with open_app(pipeline_log) as app:
        ended = await stopped_in_flight(app, world, lambda: app.stop("s", "terminal", "enough"))
        events = await events_of(pipeline_log, "s")
    assert ended == with_causes(SessionEnded("cancelled", "", "stopped by terminal: enough"))
    assert only(events, OutcomeUnknown).step == 2
    assert kinds(events)[-5:] == [
        *("StopRequested", "RunStopped", "OutcomeUnknown", "WorkflowLearned", "SessionEnded")
    ]
    assert world.closed


async def test_a_run_stopped_between_steps_leaves_nothing_unknown(replayed: Replayed) -> None:
    log, person = replayed.memory(), Thinks()
    async with open_app(log) as app, anyio.create_task_group() as group:
        group.start_soon(lambda: sail(app, recording(), answers=person, name="s"))
        await person.asked.wait()
        await app.stop("s", "terminal")
    events = await events_of(log, "s")
    assert "OutcomeUnknown" not in kinds(events)
    assert only(events, ApprovalVoided).why == "the run stopped"


async def test_what_does_not_run_cannot_be_stopped(replayed: Replayed) -> None:
    async with open_app(replayed.memory()) as app:
        with pytest.raises(BadInput, match="no session 'ghost' is running; see: rutter sessions"):
            await app.stop("ghost", "terminal")


async def test_a_stop_that_comes_too_late_changes_nothing(replayed: Replayed) -> None:
    log = HeldLog(replayed.memory(), turn_with(SessionEnded))
    async with open_app(log) as app, anyio.create_task_group() as group:
        group.start_soon(lambda: sail(app, recording(HOME), name="s"))
        await until(lambda: log.holding)
        await app.stop("s", "terminal")
        log.let_go()
    assert isinstance((await events_of(log, "s"))[-1], SessionEnded)


async def test_leaving_the_app_stops_what_still_runs(pipeline_log: EventLog) -> None:
    waits = Waits(anyio.Event(), anyio.Event())
    world = shop().trouble("#find", waits)
    ended: list[SessionEnded] = []

    async def run(app: App) -> None:
        ended.append(await sail(app, recording(HOME, FIND), world, name="s"))

    async with anyio.create_task_group() as group, open_app(pipeline_log) as app:
        group.start_soon(run, app)
        await waits.reached.wait()
    assert ended == [with_causes(SessionEnded("cancelled", "", "stopped by shutdown"))]
    assert app.shutdown == (
        PhaseReport("stop sessions", True),
        PhaseReport("seal the log", True),
        PhaseReport("drain the queues", True),
        PhaseReport("close the log", True),
    )


async def test_many_sessions_that_end_by_themselves_do_not_disturb_the_shutdown(
    replayed: Replayed,
) -> None:
    ends: list[SessionEnded] = []

    async def run(app: App) -> None:
        ends.append(await sail(app, recording(HOME, FIND)))

    async with anyio.create_task_group() as group, open_app(replayed.memory()) as app:
        for _ in range(12):
            group.start_soon(run, app)
        await until(lambda: ends)
    assert len(ends) == 12
    assert {end.reason for end in ends} <= {"completed", "cancelled"}
    assert all(report.in_time for report in app.shutdown)


async def test_a_page_that_does_not_close_does_not_hold_up_the_rest(
    replayed: Replayed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "STOP_S", 0.02)
    log = replayed.memory()
    waits = Waits(anyio.Event(), anyio.Event())
    world = shop().trouble("close", waits)
    async with anyio.create_task_group() as group:
        async with open_app(log) as app:
            group.start_soon(sail, app, recording(HOME), world)
            await waits.reached.wait()
        group.cancel_scope.cancel()
    assert [(report.name, report.in_time) for report in app.shutdown] == [
        ("stop sessions", False),
        ("seal the log", True),
        ("drain the queues", True),
        ("close the log", True),
    ]


async def test_a_pipeline_that_stops_takes_no_new_session(replayed: Replayed) -> None:
    log = HeldLog(replayed.memory(), turn_with(StopRequested))
    world = shop().trouble("#find", waits := Waits(anyio.Event(), anyio.Event()))
    refused: list[BadInput] = []

    async def too_late(app: App) -> None:
        await until(lambda: log.holding)
        with pytest.raises(BadInput, match="the pipeline is stopping") as caught:
            await sail(app, recording(HOME))
        refused.append(caught.value)
        log.let_go()

    async with anyio.create_task_group() as group, open_app(log) as app:
        group.start_soon(sail, app, recording(HOME, FIND), world)
        await waits.reached.wait()
        group.start_soon(too_late, app)
    assert len(refused) == 1


async def test_two_sessions_cannot_have_one_name(replayed: Replayed) -> None:
    person = Thinks()
    async with open_app(replayed.memory()) as app, anyio.create_task_group() as group:
        group.start_soon(lambda: sail(app, recording(), answers=person, name="s"))
        await person.asked.wait()
        with pytest.raises(BadInput, match="a session 's' is running"):
            await sail(app, recording(HOME), name="s")
        person.answer.set()


# -- the run's own time --------------------------------------------------------------------------


def with_timer(world: World, started: Any, person: Any = None) -> list[Effector]:
    return [*effectors(world, started, answers=person), Timer()]


async def test_a_run_that_takes_too_long_is_stopped(replayed: Replayed) -> None:
    log = replayed.memory()
    world = shop().trouble("#find", Waits(anyio.Event(), anyio.Event()))
    started = recording(HOME, FIND, max_wall_ms=500)
    async with open_app(log) as app:
        ended = await app.run_session(started, with_timer(world, started), name="s")
    assert ended == with_causes(SessionEnded("max_wall_time", "", "500 ms have passed"))
    events = await events_of(log, "s")
    assert only(events, DeadlinePassed) == DeadlinePassed("wall_time", 500)
    assert only(events, OutcomeUnknown).step == 2


async def test_the_time_that_a_person_thinks_is_not_counted(
    replayed: Replayed, monkeypatch: pytest.MonkeyPatch
) -> None:
    now_ns = 0
    monkeypatch.setattr("rutter.actors.timer.actor.monotonic_ns", lambda: now_ns)
    person, started = Thinks(), recording(max_wall_ms=90_000)
    ended: list[SessionEnded] = []

    async def run(app: App) -> None:
        ended.append(await app.run_session(started, with_timer(shop(), started, person)))

    async with open_app(replayed.memory()) as app, anyio.create_task_group() as group:
        group.start_soon(run, app)
        await person.asked.wait()
        await turn_the_loop()
        now_ns = 3_600 * 10**9  # an hour later
        person.answer.set()
    assert ended[0].reason == "completed"


# -- side by side --------------------------------------------------------------------------------


async def test_twenty_sessions_side_by_side_are_not_stalled_by_one_that_hangs(
    pipeline_log: EventLog,
) -> None:
    ends: dict[int, SessionEnded] = {}
    waits, others_done = Waits(anyio.Event(), anyio.Event()), anyio.Event()
    worlds = [shop() for _ in range(20)]
    worlds[7].trouble("#find", waits)

    async def run(app: App, number: int) -> None:
        person = ScriptedPerson(otherwise=YES)
        name = f"s{number}"
        ends[number] = await sail(app, recording(), worlds[number], answers=person, name=name)
        if len(ends) == 19:
            others_done.set()

    async with open_app(pipeline_log) as app, anyio.create_task_group() as group:
        for number in range(20):
            group.start_soon(run, app, number)
        with anyio.fail_after(20):
            await others_done.wait()
        assert waits.reached.is_set()
        assert app.running() == ("s7",)
        await app.stop("s7", "terminal")
    assert {end.reason for number, end in ends.items() if number != 7} == {"completed"}
    assert ends[7].reason == "cancelled"


async def test_every_queue_counts(replayed: Replayed) -> None:
    person = Thinks()
    async with open_app(replayed.memory()) as app:
        async with anyio.create_task_group() as group:
            group.start_soon(lambda: sail(app, recording(), answers=person, name="s"))
            await person.asked.wait()
            counted = {box.name: box for box in app.statistics()}
            person.answer.set()
        after = {box.name for box in app.statistics()}
    deciders = {"critic", "predictor", "planner", "validator"}
    assert set(counted) == {
        "intake",
        "answers",
        *deciders,
        *("s/observer", "s/executor", "s/person"),
    }
    assert after == {"intake", "answers", *deciders}
    assert counted["s/person"].total == 1
    assert all(box.total > 0 and box.most <= box.limit for box in counted.values())


# -- the process ---------------------------------------------------------------------------------


async def test_a_process_says_when_it_starts_and_stops(replayed: Replayed) -> None:
    log = replayed.memory()
    async with open_app(log):
        pass
    assert kinds(await events_of(log, "process-0001")) == [
        "ProcessStarted",
        "ProcessStopped",
        "LogSealed",
    ]


async def test_the_seal_holds_the_head_of_every_session(replayed: Replayed) -> None:
    log = replayed.memory()
    async with open_app(log) as app:
        for name in ("a", "b"):
            await sail(app, recording(HOME), name=name)
    records: list[Record] = await read_all(log)
    last = {record.envelope.session: record.envelope for record in records[:-1]}
    seal = records[-1].envelope.event
    assert isinstance(seal, LogSealed)
    assert {head.session: (head.n, head.hash) for head in seal.heads} == {
        session: (envelope.n, envelope.hash) for session, envelope in last.items()
    }


async def test_the_log_is_sealed_as_it_grows(
    replayed: Replayed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SEAL_EVERY", 10)
    log = replayed.memory()
    async with open_app(log) as app:
        for name in ("a", "b"):
            await sail(app, recording(HOME), name=name)
    seals = [e.event for e, _ in await read_all(log) if isinstance(e.event, LogSealed)]
    sealed = [[head.session for head in seal.heads] for seal in seals]
    assert sealed == [["a", "process-0001"], ["b", "process-0001"], ["process-0001"]]


async def test_text_finds_what_roles_do_not(replayed: Replayed) -> None:
    by_text = Action("click", target=by_css("#gone"))
    assert by_text.target is not None
    ways = (ByCss("#gone"), ByText("find"))
    either = Action("click", target=type(by_text.target)(ways))
    world = shop()
    async with open_app(replayed.memory()) as app:
        ended = await sail(app, recording(HOME, either), world)
    assert ended.reason == "completed"
    assert world.path == "/results"


async def test_a_run_of_another_customer_leaves_the_first_ones_page_alone(
    replayed: Replayed,
) -> None:
    async with with_order(replayed) as (app, world, workflow):
        again = with_settings(session_started.run_of(workflow, AURORA, ()))
        assert (await sail(app, again, world)).reason == "completed"
    assert world.path == "/orders/1001"
