"""Given a workflow with an optional step: it is done where it can be, and passed over elsewhere."""

from collections.abc import Mapping

import pytest

from rutter.actors.answers import ScriptedPerson
from rutter.events.action import Action
from rutter.events.log import EventLog
from rutter.events.planner import PlanWithheld
from rutter.events.predictor import WorkflowLearned
from rutter.events.runtime import SessionEnded
from rutter.events.workflow import Workflow
from rutter.pipeline.app import App
from rutter.pipeline.sessions import session_started
from rutter.pipeline.workflows.edit import Edit, edited
from rutter.replay.story.session_story import tell
from tests.support.scripted_shop import (
    ORIGIN,
    SHOP,
    Fails,
    ScriptedElement,
    ScriptedPage,
    World,
    by_css,
)
from tests.support.shop_sessions import YES, open_app, recording, sail, with_settings

pytestmark = pytest.mark.anyio

GREETED: Mapping[str, ScriptedPage] = {
    **SHOP,
    "/": ScriptedPage(
        "Shop",
        {
            "#find": ScriptedElement(name="Find", leads_to="/notice"),
            "#accept": ScriptedElement(name="Accept"),
        },
    ),
    "/notice": ScriptedPage("Notice", {"#on": ScriptedElement(name="Go on", leads_to="/results")}),
}
PLAIN: Mapping[str, ScriptedPage] = {
    **SHOP,
    "/": ScriptedPage("Shop", {"#find": ScriptedElement(name="Find", leads_to="/results")}),
}
ACTIONS = (
    Action("navigate", url=ORIGIN + "/"),
    Action("click", target=by_css("#accept")),
    Action("click", target=by_css("#find")),
    Action("click", target=by_css("#on")),
    Action("click", target=by_css("li:nth-child(1) a")),
)
BANNER, NOTICE = 2, 4


async def learn(app: App, log: EventLog, optional: set[int]) -> Workflow:
    """The way with a banner and a notice, recorded; these steps need not be there again."""
    await sail(app, recording(*ACTIONS), World(GREETED), answers=ScriptedPerson(otherwise=YES))
    lessons = [each.event async for each in log.read(kinds=["WorkflowLearned"])]
    assert isinstance(lessons[-1], WorkflowLearned)
    workflow = lessons[-1].workflow
    return edited(workflow, Edit(optional=frozenset(optional)), 2)


async def run(app: App, workflow: Workflow, world: World) -> SessionEnded:
    started = with_settings(session_started.run_of(workflow, {}, ()))
    return await sail(app, started, world, answers=ScriptedPerson(otherwise=YES), name="run")


def clicked(world: World) -> list[str]:
    return [
        way.selector  # type: ignore[union-attr]
        for action in world.done
        if action.target is not None
        for way in action.target.strategies[:1]
    ]


async def test_where_they_are_there_optional_steps_are_done(pipeline_log: EventLog) -> None:
    world = World(GREETED)
    async with open_app(pipeline_log) as app:
        ended = await run(app, await learn(app, pipeline_log, {BANNER, NOTICE}), world)

    assert ended.reason == "completed", ended
    assert clicked(world) == ["#accept", "#find", "#on", "li:nth-child(1) a"]


async def test_where_they_are_not_they_are_passed_over(pipeline_log: EventLog) -> None:
    world = World(PLAIN)
    async with open_app(pipeline_log) as app:
        ended = await run(app, await learn(app, pipeline_log, {BANNER, NOTICE}), world)
        events = [each async for each in pipeline_log.read(session="run")]

    assert ended.reason == "completed", ended
    assert clicked(world) == ["#find", "li:nth-child(1) a"]
    withheld = [each.event for each in events if isinstance(each.event, PlanWithheld)]
    assert [each.index + 1 for each in withheld] == [BANNER, NOTICE]
    assert [each.verdict for each in tell(events).steps] == [
        "confirmed",
        "passed_over",
        "confirmed",
        "confirmed",
    ]


async def test_a_step_that_is_not_optional_is_not_passed_over(pipeline_log: EventLog) -> None:
    async with open_app(pipeline_log) as app:
        workflow = await learn(app, pipeline_log, {NOTICE})
        ended = await run(app, workflow, World(PLAIN))

    assert (ended.reason, ended.failure) == ("failed", "lost")


async def test_no_more_is_passed_over_than_what_is_optional(pipeline_log: EventLog) -> None:
    world = World({**PLAIN, "/results": ScriptedPage("Results")})
    async with open_app(pipeline_log) as app:
        ended = await run(app, await learn(app, pipeline_log, {BANNER, NOTICE}), world)

    assert (ended.reason, ended.failure) == ("failed", "lost")
    assert clicked(world) == ["#find"]


async def test_an_optional_step_that_fails_is_no_reason_to_go_on(pipeline_log: EventLog) -> None:
    world = World(GREETED).trouble("#accept", Fails("element_disabled"))
    async with open_app(pipeline_log) as app:
        ended = await run(app, await learn(app, pipeline_log, {BANNER}), world)

    assert ended.reason == "failed"
    assert "element_disabled" in ended.detail
