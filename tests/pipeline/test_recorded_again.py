"""Given a workflow that is recorded again under its name: what is learned from both."""

from collections.abc import Mapping

import pytest

from rutter.actors.answers import ScriptedPerson
from rutter.events.action import Action
from rutter.events.log import EventLog
from rutter.events.predictor import SessionForgotten, WorkflowLearned
from rutter.events.runtime import SessionEnded
from rutter.events.workflow import Workflow
from rutter.pipeline.app import App
from rutter.pipeline.sessions import session_started
from rutter.pipeline.workflows.edit import Edit, edited
from tests.pipeline.test_optional_steps import clicked
from tests.support.scripted_shop import ORIGIN, SHOP, ScriptedElement, ScriptedPage, World, by_css
from tests.support.shop_sessions import YES, open_app, recording, sail, with_settings

pytestmark = pytest.mark.anyio

ACCEPT, FIND = "#accept", "#find"


def page(*, banner: bool) -> Mapping[str, ScriptedPage]:
    over = {ACCEPT: ScriptedElement(name="Accept cookies")} if banner else {}
    return {
        **SHOP,
        "/": ScriptedPage(
            "Shop", {**over, FIND: ScriptedElement(name="Find", leads_to="/results")}
        ),
    }


def actions(*, banner: bool) -> tuple[Action, ...]:
    every = (
        Action("navigate", url=ORIGIN + "/"),
        Action("click", target=by_css(ACCEPT)),
        Action("click", target=by_css(FIND)),
        Action("click", target=by_css("li:nth-child(1) a")),
    )
    return every if banner else (every[0], *every[2:])


async def record(app: App, *, banner: bool, **more: object) -> SessionEnded:
    started = recording(*actions(banner=banner), **more)
    return await sail(
        app, started, World(page(banner=banner)), answers=ScriptedPerson(otherwise=YES)
    )


async def lessons(log: EventLog) -> list[WorkflowLearned]:
    found = [each.event async for each in log.read(kinds=["WorkflowLearned"])]
    return [each for each in found if isinstance(each, WorkflowLearned)]


async def run(app: App, workflow: Workflow, *, banner: bool) -> tuple[SessionEnded, World]:
    world = World(page(banner=banner))
    started = with_settings(session_started.run_of(workflow, {}, ()))
    ended = await sail(app, started, world, answers=ScriptedPerson(otherwise=YES))
    return ended, world


@pytest.mark.parametrize("first", [True, False])
async def test_with_and_without_a_banner_in_any_order_it_sails_both_ways(
    pipeline_log: EventLog, first: bool
) -> None:
    async with open_app(pipeline_log) as app:
        await record(app, banner=first)
        await record(app, banner=not first)
        before, after = await lessons(pipeline_log)
        with_it, one = await run(app, after.workflow, banner=True)
        without, other = await run(app, after.workflow, banner=False)

    assert [step.optional for step in after.workflow.steps] == [False, True, False, False]
    assert after.workflow.version == 2
    assert after.compared is not None
    assert after.compared.version == before.workflow.version
    assert after.compared.recordings == (before.workflow.session, after.workflow.session)
    assert with_it.reason == without.reason == "completed"
    assert clicked(one) == [ACCEPT, FIND, "li:nth-child(1) a"]
    assert clicked(other) == [FIND, "li:nth-child(1) a"]


async def test_the_same_again_changes_nothing(pipeline_log: EventLog) -> None:
    async with open_app(pipeline_log) as app:
        await record(app, banner=True)
        await record(app, banner=True)
        before, after = await lessons(pipeline_log)

    assert after.workflow.steps == before.workflow.steps
    assert after.compared is not None
    assert after.compared.merged
    assert (after.compared.optional, after.compared.added) == ((), ())


async def test_what_is_to_replace_is_not_compared(pipeline_log: EventLog) -> None:
    """So it is in logs from before as well: they say nothing of comparing."""
    async with open_app(pipeline_log) as app:
        await record(app, banner=True)
        await record(app, banner=False, compares=False)
        _, after = await lessons(pipeline_log)

    assert after.compared is None
    assert [step.optional for step in after.workflow.steps] == [False, False, False]


async def test_what_a_person_changed_is_what_it_is_compared_with(pipeline_log: EventLog) -> None:
    async with open_app(pipeline_log) as app:
        await record(app, banner=True)
        [first] = await lessons(pipeline_log)
        hosts = edited(first.workflow, Edit(hosts=("cdn.example",)), 2)
        await app.say_process(WorkflowLearned(hosts))
        await record(app, banner=False)
        *_, last = await lessons(pipeline_log)

    assert last.workflow.version == 3
    assert last.compared is not None
    assert last.compared.version == 2
    assert "cdn.example" in last.workflow.hosts


async def test_a_recording_that_was_cut_short_is_merged_with_nothing(
    pipeline_log: EventLog,
) -> None:
    async with open_app(pipeline_log) as app:
        await record(app, banner=True)
        started = recording(*actions(banner=True), max_steps=2)
        await sail(app, started, World(page(banner=True)), answers=ScriptedPerson(otherwise=YES))
        await record(app, banner=False)
        _, half, last = await lessons(pipeline_log)

    assert not half.workflow.complete
    assert half.compared is None
    assert last.compared is not None
    assert last.compared.version == 1


async def test_what_is_forgotten_is_merged_with_nothing_any_more(pipeline_log: EventLog) -> None:
    async with open_app(pipeline_log) as app:
        await record(app, banner=True)
        await record(app, banner=False)
        _, second = await lessons(pipeline_log)
        await app.say_process(SessionForgotten(second.workflow.session))
        await record(app, banner=True)
        *_, last = await lessons(pipeline_log)

    assert last.compared is not None
    assert last.compared.version == 1
    assert not any(step.optional for step in last.workflow.steps)
