"""The gate over whole sessions: what was recorded sails alone, whoever chooses by itself asks."""

from typing import Any

import anyio
import msgspec
import pytest

from rutter.actors.answers import Nobody, PersonAnswer, ScriptedPerson, Who
from rutter.actors.person.actor import Person
from rutter.events.action import Action
from rutter.events.person import ApprovalAnswered
from rutter.events.planner import CheckpointReached
from rutter.events.runtime import SessionStarted
from rutter.events.service_pack import Checkpoint, Service, Sign
from rutter.events.validator import ActionApproved, ActionStarted, ApprovalRequested, ApprovalVoided
from rutter.events.workflow import Step
from rutter.pipeline.sessions import session_started
from tests.pipeline.tools.test_dispatcher import Shop, at, errors, tools_on
from tests.support.log_checks import Replayed, events_of
from tests.support.scripted_shop import (
    ORIGIN,
    SHOP,
    Becomes,
    ScriptedElement,
    ScriptedPage,
    World,
    by_css,
    effectors,
    shop,
)
from tests.support.shop_sessions import (
    YES,
    open_app,
    record_order,
    run_for_fairlead,
    sail,
    with_settings,
)

pytestmark = pytest.mark.anyio


def started_finally(events: list[Any]) -> list[ActionStarted]:
    return [event for event in events if isinstance(event, ActionStarted) and event.irreversible]


def scripted(*actions: Action) -> SessionStarted:
    steps = tuple(Step(action=action) for action in actions)
    return with_settings(session_started.recording("order", steps, {}, ()))


ORDERS = (Action("navigate", url=f"{ORIGIN}/customers/2"), Action("click", target=by_css("#place")))


def of(events: list[Any], kind: type[Any]) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


# -- the gate does not stop the product ------------------------------------------------------------


async def test_a_recorded_submit_runs_alone(replayed: Replayed) -> None:
    log = replayed.memory()
    async with open_app(log) as app:
        workflow = await record_order(app, log)
        ended = await sail(app, run_for_fairlead(workflow), answers=Nobody(), name="run")
    assert ended.reason == "completed"
    events = await events_of(log, "run")
    assert not of(events, ApprovalRequested)
    [final] = started_finally(events)
    [approved] = [each for each in of(events, ActionApproved) if each.step == final.step]
    assert approved.rule == "standing_approval"


async def test_whoever_recorded_nothing_and_proposes_the_same_submit_asks(
    replayed: Replayed,
) -> None:
    world = Shop()
    async with (
        open_app(replayed.memory()) as app,
        tools_on(app, world, at("/customers/2"), answers=Nobody()) as tools,
    ):
        await tools.call("get_snapshot")
        answer = await tools.call("browser_click", {"ref": "@e1"})
        assert tools.session
    assert errors(answer) == ("policy_denied", "policy_denied", False)
    assert world.path == "/customers/2"


# -- an approval is for one thing ------------------------------------------------------------------


async def test_an_element_that_was_swapped_after_the_yes_is_asked_about_anew(
    replayed: Replayed,
) -> None:
    """The recording asks once; then the button is another one at the moment of acting."""
    log = replayed.memory()
    swapped = ScriptedElement(
        name="Place order", leads_to="/orders/1001", submits=True, method="put"
    )
    world = shop().trouble("#place", Becomes(swapped))
    person = ScriptedPerson([YES, PersonAnswer(False, "that is another one")])
    async with open_app(log) as app:
        ended = await sail(app, scripted(*ORDERS), world, answers=person, name="rec")
    events = await events_of(log, "rec")
    assert ended.reason == "policy_denied"
    first, second = of(events, ApprovalRequested)
    assert first.digest != second.digest
    assert [each.why for each in of(events, ApprovalVoided)] == ["used", "refused"]
    assert "click" not in [action.type for action in world.done]


class Late:
    """Says yes, but only when the run is over."""

    who: Who = "scripted"

    def __init__(self) -> None:
        self.asked = anyio.Event()

    async def ask(self, question: ApprovalRequested) -> PersonAnswer:
        self.asked.set()
        await anyio.sleep_forever()
        raise AssertionError


async def test_a_yes_that_comes_too_late_is_a_no(replayed: Replayed) -> None:
    log = replayed.memory()
    started = scripted(*ORDERS)
    policy = msgspec.structs.replace(started.policy, approval_ms=1)
    started = msgspec.structs.replace(started, policy=policy)
    world = shop()
    late = Late()
    async with open_app(log) as app:
        others = [each for each in effectors(world, started) if each.name != "person"]
        ended = await app.run_session(
            started, [*others, Person(late, policy.approval_ms)], name="rec"
        )
    assert late.asked.is_set()
    assert (ended.reason, ended.failure) == ("policy_denied", "needs_person")
    [answer] = of(await events_of(log, "rec"), ApprovalAnswered)
    assert (answer.approved, answer.by) == (False, "nobody")
    assert "click" not in [action.type for action in world.done]


async def test_what_an_agent_had_approved_is_worth_nothing_for_what_it_does_next(
    replayed: Replayed,
) -> None:
    """It asks for leave to look around, gets it, and places an order instead."""
    world = Shop()
    person = ScriptedPerson([YES])  # one yes, and then none
    async with (
        open_app(replayed.memory()) as app,
        tools_on(app, world, at("/customers/2"), answers=person) as tools,
    ):
        await tools.call("get_snapshot")
        granted = await tools.call(
            "request_human_approval", {"action": "look around", "reason": "to know more"}
        )
        answer = await tools.call("browser_click", {"ref": "@e1"})
    assert granted.success
    assert not answer.success
    assert world.path == "/customers/2"
    assert [question.kind for question in person.asked] == ["requested", "confirm"]


# -- checkpoints ----------------------------------------------------------------------------------


async def test_a_checkpoint_of_the_service_stops_an_agent_before_whatever_it_does(
    replayed: Replayed,
) -> None:
    signs = (Sign("heading", "results"),)
    service = Service("shop", checkpoints=(Checkpoint("results", signs),))
    started = at("/results", given=session_started.Given(service=service))
    person = ScriptedPerson([PersonAnswer(False, "not from here")])
    async with (
        open_app(replayed.memory()) as app,
        tools_on(app, Shop(), started, answers=person) as tools,
    ):
        await tools.call("get_snapshot")
        answer = await tools.call("browser_click", {"ref": "@e0"})
    assert errors(answer)[0] == "human_rejected"
    assert answer.message == "User feedback: not from here"
    [question] = person.asked
    assert (question.kind, question.rule) == ("service", "service_checkpoint")


async def test_a_service_that_always_asks_asks_for_what_was_recorded_too(
    replayed: Replayed,
) -> None:
    signs = (Sign("heading", "offshore"),)
    service = Service("shop", checkpoints=(Checkpoint("customer", signs, always=True),))
    log = replayed.memory()
    async with open_app(log) as app:
        workflow = await record_order(app, log)
        ended = await sail(
            app, run_for_fairlead(workflow, service=service), answers=Nobody(), name="run"
        )
    assert (ended.reason, ended.failure) == ("policy_denied", "needs_person")
    [question] = of(await events_of(log, "run"), ApprovalRequested)
    assert question.kind == "service"


class SignsIn:
    """A person who signs in in the window: from then on the site is itself."""

    who: Who = "terminal"

    def __init__(self, world: World) -> None:
        self._world = world
        self.asked: list[ApprovalRequested] = []

    async def ask(self, question: ApprovalRequested) -> PersonAnswer:
        self.asked.append(question)
        self._world.becomes("/", SHOP["/"])
        return YES


@pytest.mark.parametrize("headed", [True, False])
async def test_a_person_signs_in_in_the_window_and_the_run_goes_on(
    headed: bool, replayed: Replayed
) -> None:
    """The way begins at a sign-in page that was not there when it was recorded."""
    log = replayed.memory()
    world = World(
        {
            **SHOP,
            "/": ScriptedPage("Sign in to your account", {"#in": ScriptedElement(name="Sign in")}),
        }
    )
    async with open_app(log) as app:
        workflow = await record_order(app, log)
        started = msgspec.structs.replace(run_for_fairlead(workflow), headed=headed)
        person = SignsIn(world)
        ended = await sail(app, started, world, answers=person, name="run")
    reached = of(await events_of(log, "run"), CheckpointReached)
    if headed:
        assert ended.reason == "completed", ended
        assert [each.kind for each in person.asked] == ["login"]
        assert [each.kind for each in reached] == ["login"]
    else:
        assert (ended.reason, ended.failure) == ("policy_denied", "needs_person")
        assert not person.asked
        assert not reached
