"""Stories that tests write by hand get their tags from their words, as those of old logs do."""

import re

from rutter.events.action import Action
from rutter.events.causes import OTHER
from rutter.events.critic import ActionJudged
from rutter.events.planner import PlanProposed
from rutter.events.runtime import SessionEnded
from rutter.events.upcast import with_causes
from rutter.replay.story.told_session import Story

OF_WORKFLOW = re.compile(r"workflow_step_(\d+)_of_")


def tagged(story: Story) -> Story:
    ended = SessionEnded(story.reason, story.failure, story.detail)  # type: ignore[arg-type]
    told = with_causes(ended)
    assert isinstance(told, SessionEnded)
    story.cause = told.cause or OTHER
    for step in story.steps:
        plan = PlanProposed(step.step, 1, "workflow", Action("click"), step.why)
        planned = with_causes(plan)
        judged = with_causes(ActionJudged(step.step, 1, "failed", step.reason))
        assert isinstance(planned, PlanProposed)
        assert isinstance(judged, ActionJudged)
        step.source, step.code = planned.source or "other", judged.code
        if found := OF_WORKFLOW.match(step.why):
            step.index = int(found[1]) - 1
    return story
