"""Sites that deceive, in a real browser: the right verdict, nothing learned, nothing done twice."""

from collections.abc import AsyncIterator
from typing import Any, get_args

import msgspec
import pytest

from rutter.actors.answers import PersonAnswer, ScriptedPerson
from rutter.actors.world.browser.chromium import Chromium
from rutter.events.action import Action, Text
from rutter.events.checks import AlertSaid, ReadBack, TextVisible
from rutter.events.critic import ActionJudged, OutcomeUnknown
from rutter.events.predictor import TransitionLearned, WorkflowLearned
from rutter.events.runtime import SessionEnded, SessionStarted
from rutter.events.workflow import Expectation, Step, Workflow
from rutter.pipeline.app import App
from rutter.pipeline.sessions import session_started
from tests.support.deceitful_site import How, Office
from tests.support.log_checks import Replayed, events_of
from tests.support.shop_facts import css

pytestmark = [pytest.mark.browser, pytest.mark.anyio]

NAME = "Ann Bonny"


class Clerk:
    """Records once in the office as it should be, then works there however it is."""

    def __init__(self, app: App, log: Any, chromium: Chromium, office: Office) -> None:
        self._app, self._log, self._chromium = app, log, chromium
        self.office = office

    async def record(self) -> Workflow:
        self.office.be("late")
        url = self.office.url
        back = ReadBack(f"{url}/records", (TextVisible(NAME),))
        steps = (
            Step(Action("navigate", url=f"{url}/edit")),
            Step(Action("type", target=css("#name"), value=Text(NAME))),
            Step(
                Action("click", target=css("#save")),
                after=Expectation(checks=(AlertSaid("saved"),), read_back=back),
            ),
        )
        host = url.removeprefix("http://")
        started = session_started.recording("save", steps, {}, (), allow=[host])
        assert (await self._sail(started, "rec")).reason == "completed"
        [lesson] = [e for e in await events_of(self._log, "rec") if isinstance(e, WorkflowLearned)]
        return lesson.workflow

    async def work(self, workflow: Workflow, how: How) -> tuple[SessionEnded, list[Any]]:
        self.office.be(how)
        started = session_started.run_of(workflow, {}, ())
        hasty = msgspec.structs.replace(
            started.settings, settle_ms=500, place_ms=700, answer_ms=900
        )
        ended = await self._sail(msgspec.structs.replace(started, settings=hasty), how)
        return ended, await events_of(self._log, how)

    async def _sail(self, started: SessionStarted, name: str) -> SessionEnded:
        person = ScriptedPerson(otherwise=PersonAnswer(True, phrase="confirm"))
        return await self._app.run_in_browser(started, self._chromium, answers=person, name=name)


@pytest.fixture
async def clerk(replayed: Replayed, chromium: Chromium) -> AsyncIterator[Clerk]:
    log = replayed.memory()
    with Office() as office:
        async with App.open(log) as app:
            yield Clerk(app, log, chromium, office)


async def test_five_ways_to_deceive_get_five_right_verdicts(clerk: Clerk) -> None:
    workflow = await clerk.record()
    seen = {}
    for how in get_args(How):
        ended, events = await clerk.work(workflow, how)
        [judged] = [e for e in events if isinstance(e, ActionJudged) and e.step == 3]
        unknown = [e.step for e in events if isinstance(e, OutcomeUnknown)]
        learned = [e.action.type for e in events if isinstance(e, TransitionLearned)]
        seen[how] = (judged.verdict, ended.reason, ended.failure, learned.count("click"), unknown)
        assert clerk.office.posts <= 1, how
        assert judged.evidence, how
    failed = ("failed", "verification_failed", 0)
    assert seen == {
        "dead": ("no_effect", *failed, []),
        "look_alike": ("wrong_target", *failed, []),
        "silent": ("failed", *failed, []),
        "lying": ("failed", *failed, []),
        "slow": ("unknown", *failed, [3]),
        "outside": ("unknown", *failed, [3]),
        "late": ("confirmed", "completed", "", 1, []),
        "honest": ("confirmed", "completed", "", 1, []),
    }
