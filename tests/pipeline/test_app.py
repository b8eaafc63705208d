"""Whole sessions in a scripted world: recorded, sailed, stopped, broken, side by side."""

import pytest

from actors.person import Answer, ScriptedPerson
from events.log import EventLog
from events.predictor import WorkflowLearned
from events.runtime import SessionEnded
from pipeline import launch
from pipeline.app import App
from pipeline.clock import CountingClock
from tests.scripted import AURORA, FAIRLEAD, ORDER, effectors, shop

pytestmark = pytest.mark.anyio


async def test_a_workflow_watched_once_is_sailed_alone(pipeline_log: EventLog) -> None:
    recording = launch.recording("order", ORDER, AURORA, ())
    person = ScriptedPerson(otherwise=Answer(True))
    async with App.open(pipeline_log, clock=CountingClock()) as app:
        world = shop()
        ended = await app.run_session(recording, effectors(world, recording, answers=person))
        assert ended == SessionEnded("completed", detail="all 6 steps of the script were done")
        lesson = [e.event async for e in pipeline_log.read(kinds=["WorkflowLearned"])][-1]
        assert isinstance(lesson, WorkflowLearned)
        run = launch.run_of(lesson.workflow, FAIRLEAD, ())
        world = shop()
        ended = await app.run_session(run, effectors(world, run))
        assert ended == SessionEnded("completed", detail="the recorded end is reached")
        assert world.path == "/orders/1002"
