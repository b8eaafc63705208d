"""Given optional steps that a run has passed over: they are looked for once more where the next
step is covered or not there, and what no recording met is told."""

from collections.abc import Callable, Mapping, Sequence

import msgspec
import pytest

from rutter.actors.answers import ScriptedPerson
from rutter.events.action import Action, ByCss, Strategy
from rutter.events.envelope import Envelope
from rutter.events.executor import TargetMissing
from rutter.events.log import EventLog
from rutter.events.page import Try
from rutter.events.planner import ObservationRequested, PlanProposed, PlanWithheld, StepsRecalled
from rutter.events.predictor import WorkflowLearned
from rutter.events.runtime import SessionEnded
from rutter.events.validator import PlanAdmitted
from rutter.events.workflow import Fork, Step, Workflow
from rutter.pipeline.app import App
from rutter.pipeline.sessions import session_started
from rutter.pipeline.workflows.edit import Edit, edited
from tests.pipeline.test_optional_steps import clicked
from tests.support.scripted_shop import (
    ORIGIN,
    SHOP,
    Fails,
    ScriptedElement,
    ScriptedPage,
    Trouble,
    World,
    by_css,
)
from tests.support.shop_sessions import YES, open_app, recording, sail, with_settings

pytestmark = pytest.mark.anyio

FIND = ScriptedElement(name="Find", leads_to="/results")
ACCEPT, CLOSE = ScriptedElement(name="Accept"), ScriptedElement(name="No, thanks")
ALL: Mapping[str, ScriptedElement] = {"#accept": ACCEPT, "#close": CLOSE, "#find": FIND}
ACTIONS = (
    Action("navigate", url=ORIGIN + "/"),
    Action("click", target=by_css("#accept")),
    Action("click", target=by_css("#close")),
    Action("click", target=by_css("#find")),
    Action("click", target=by_css("li:nth-child(1) a")),
)
BANNER, SURVEY, WANTED = 2, 3, 4


def page(*selectors: str) -> Mapping[str, ScriptedPage]:
    things = {each: thing for each, thing in ALL.items() if each in selectors}
    return {**SHOP, "/": ScriptedPage("Shop", things)}


class Covered(World):
    """A shop where these things come over the button, each when it is tried the next time, and go
    when they are clicked."""

    def __init__(self, *late: str, there: tuple[str, ...] = ()) -> None:
        super().__init__(page(*there, "#find"))
        self._late = list(late)
        self._over = list(there)
        self.tried = 0

    async def meet(self, where: str) -> Trouble | None:
        if where == "#find":
            self.tried += 1
            if self._late and not self._over:
                self._over.append(self._late.pop(0))
                self.becomes("/", page(*self._over, "#find")["/"])
            if self._over:
                return Fails("element_obscured")
        if where in self._over and where != self._over[-1]:
            return Fails("element_obscured")  # what came last lies over what came before
        return await super().meet(where)

    def act(self, action: Action, selector: str, typed: str) -> bool:
        moved = super().act(action, selector, typed)
        if selector in self._over:
            self._over.remove(selector)
            self.becomes("/", page(*self._over, "#find")["/"])
        return moved


async def learn(app: App, log: EventLog, optional: tuple[int, ...]) -> Workflow:
    """The way with a banner and a survey, recorded; these steps need not be there again."""
    world = World(page("#accept", "#close", "#find"))
    await sail(app, recording(*ACTIONS), world, answers=ScriptedPerson(otherwise=YES))
    lessons = [each.event async for each in log.read(kinds=["WorkflowLearned"])]
    assert isinstance(lessons[-1], WorkflowLearned)
    return edited(lessons[-1].workflow, Edit(optional=frozenset(optional)), 2)


async def run(
    log: EventLog,
    world: World,
    change: Callable[[Workflow], Workflow] = lambda flow: flow,
    **more: object,
) -> tuple[SessionEnded, list[Envelope]]:
    async with open_app(log) as app:
        flow = change(await learn(app, log, (BANNER, SURVEY)))
        started = with_settings(session_started.run_of(flow, {}, ()), **more)
        person = ScriptedPerson(otherwise=YES)
        ended = await sail(app, started, world, answers=person, name="run")
        return ended, [each async for each in log.read(session="run")]


def recalled(events: list[Envelope]) -> list[tuple[int, ...]]:
    found = [each.event for each in events if isinstance(each.event, StepsRecalled)]
    return [tuple(index + 1 for index in each.indexes) for each in found]


async def test_a_banner_that_comes_late_and_covers_the_next_step_is_answered(
    pipeline_log: EventLog,
) -> None:
    world = Covered("#accept")
    ended, events = await run(pipeline_log, world)

    assert ended.reason == "completed", ended
    assert clicked(world) == ["#accept", "#find", "li:nth-child(1) a"]
    assert recalled(events) == [(BANNER, SURVEY)]
    assert world.tried == 2


async def test_one_that_comes_when_another_was_answered_is_looked_for_again(
    pipeline_log: EventLog,
) -> None:
    world = Covered("#accept", "#close")
    ended, events = await run(pipeline_log, world)

    assert ended.reason == "completed", ended
    assert clicked(world) == ["#accept", "#close", "#find", "li:nth-child(1) a"]
    assert recalled(events) == [(BANNER, SURVEY), (SURVEY,)]


async def test_what_lies_under_another_is_answered_behind_it(pipeline_log: EventLog) -> None:
    world = Covered(there=("#accept", "#close"))
    ended, _ = await run(pipeline_log, world)

    assert ended.reason == "completed", ended
    assert clicked(world) == ["#close", "#accept", "#find", "li:nth-child(1) a"]


async def test_what_no_recording_met_is_told_when_each_was_looked_for_once(
    pipeline_log: EventLog,
) -> None:
    world = Covered("#nobody-knows")
    ended, events = await run(pipeline_log, world)

    assert (ended.reason, ended.failure) == ("failed", "retry_exhausted")
    assert ended.detail.endswith("covered by something, which is in none of the recordings")
    assert recalled(events) == [(BANNER, SURVEY)]
    assert clicked(world) == []


async def test_without_anything_optional_it_is_told_as_well(pipeline_log: EventLog) -> None:
    world = Covered("#nobody-knows", there=())
    without = Edit(dropped=frozenset({BANNER, SURVEY}))
    ended, events = await run(pipeline_log, world, lambda flow: edited(flow, without, 3))

    assert "in none of the recordings" in ended.detail
    assert recalled(events) == []


async def test_a_step_that_is_not_there_is_looked_for_behind_what_was_passed_over(
    pipeline_log: EventLog,
) -> None:
    """A page that shows nothing but its survey, a moment later."""

    class Replaced(World):
        def find(self, strategies: Sequence[Strategy]) -> tuple[str, tuple[Try, ...]]:
            asked = self.calls[-1]
            target = asked.action.target if isinstance(asked, PlanAdmitted) else None
            if target is not None and target.primary == ByCss("#find") and not self.done[1:]:
                self.becomes("/", page("#close")["/"])
            return super().find(strategies)

        def act(self, action: Action, selector: str, typed: str) -> bool:
            moved = super().act(action, selector, typed)
            if selector == "#close":
                self.becomes("/", page("#find")["/"])
            return moved

    world = Replaced(page("#find"))
    ended, events = await run(pipeline_log, world)

    assert ended.reason == "completed", ended
    assert clicked(world) == ["#close", "#find", "li:nth-child(1) a"]
    [recall] = [each.event for each in events if isinstance(each.event, StepsRecalled)]
    assert (recall.indexes, recall.why) == ((1, 2), "element_not_found")
    missing = [each.event.instead for each in events if isinstance(each.event, TargetMissing)]
    assert missing == [1, 0, -1, -1]  # twice the button is there instead, then it is missing itself


async def test_of_a_fork_one_branch_is_taken(pipeline_log: EventLog) -> None:
    world = Covered(there=("#accept",))
    ended, events = await run(pipeline_log, world, forked)

    assert ended.reason == "completed", ended
    assert clicked(world) == ["#accept", "#find", "li:nth-child(1) a"]
    [withheld] = [each.event for each in events if isinstance(each.event, PlanWithheld)]
    assert withheld.reason == "optional_step_3_of_5: another way was gone"
    assert SURVEY not in [
        each.event.index + 1 for each in events if isinstance(each.event, PlanProposed)
    ]


def forked(flow: Workflow) -> Workflow:
    steps = [
        msgspec.structs.replace(step, fork=Fork(1, index) if step.optional else None)
        for index, step in enumerate(flow.steps)
    ]
    return msgspec.structs.replace(flow, steps=tuple(steps))


async def test_a_session_of_before_waits_as_it_did(pipeline_log: EventLog) -> None:
    """What a log says that was written without looking back is derived as it was."""
    world = Covered("#accept")
    ended, events = await run(pipeline_log, world, looks_back=False)

    assert (ended.reason, ended.failure) == ("failed", "retry_exhausted")
    assert ended.detail == "element_obscured"
    assert recalled(events) == []


# -- optional pages, and keys ----------------------------------------------------------------------

NOTICED = (
    Action("navigate", url=ORIGIN + "/"),
    Action("click", target=by_css("#find")),
    Action("click", target=by_css("#on")),
    Action("click", target=by_css("li:nth-child(1) a")),
)
ON = ScriptedElement(name="Go on", leads_to="/results")
NOTICE = 3


def notice(*, shown: bool) -> dict[str, ScriptedPage]:
    find = ScriptedElement(name="Find", leads_to="/notice" if shown else "/results")
    return {
        **SHOP,
        "/": ScriptedPage("Shop", {"#find": find}),
        "/notice": ScriptedPage("Notice", {"#on": ON}),
    }


class Straying(World):
    """A page that goes on to a notice by itself, right under what is about to be clicked."""

    async def meet(self, where: str) -> Trouble | None:
        if where.startswith("li") and "#on" not in clicked(self):
            self.url = ORIGIN + "/notice"
            return Fails("action_failed")
        return await super().meet(where)


async def run_noticed(log: EventLog, world: World) -> tuple[SessionEnded, list[Envelope]]:
    async with open_app(log) as app:
        person = ScriptedPerson(otherwise=YES)
        await sail(app, recording(*NOTICED), World(notice(shown=True)), answers=person)
        lessons = [each.event async for each in log.read(kinds=["WorkflowLearned"])]
        assert isinstance(lessons[-1], WorkflowLearned)
        flow = edited(lessons[-1].workflow, Edit(optional=frozenset({NOTICE})), 2)
        started = with_settings(session_started.run_of(flow, {}, ()))
        ended = await sail(app, started, world, answers=person, name="run")
        return ended, [each async for each in log.read(session="run")]


async def test_a_page_that_is_where_the_next_step_is_due_is_not_waited_away_from(
    pipeline_log: EventLog,
) -> None:
    ended, events = await run_noticed(pipeline_log, World(notice(shown=False)))

    assert ended.reason == "completed", ended
    [withheld] = [each.event for each in events if isinstance(each.event, PlanWithheld)]
    assert withheld.reason == "optional_step_3_of_4: the page is where step 4 is due"
    looks = [e.event.why for e in events if isinstance(e.event, ObservationRequested)]
    assert looks == ["rest_awaited"], "at the end alone"


async def test_a_page_that_comes_in_between_a_moment_later_is_passed_through(
    pipeline_log: EventLog,
) -> None:
    world = Straying(notice(shown=False))
    ended, events = await run_noticed(pipeline_log, world)

    assert ended.reason == "completed", ended
    assert clicked(world) == ["#find", "#on", "li:nth-child(1) a"]
    assert recalled(events) == [(NOTICE,)]


async def test_what_may_have_been_done_is_not_begun_anew_behind_it(pipeline_log: EventLog) -> None:
    """Input reached the page, and then it went on to the notice."""

    class Sent(Straying):
        async def meet(self, where: str) -> Trouble | None:
            trouble = await super().meet(where)
            return Fails("action_failed", dispatched=True) if trouble is not None else None

    world = Sent(notice(shown=False))
    ended, events = await run_noticed(pipeline_log, world)

    assert (ended.reason, ended.failure) == ("failed", "verification_failed")
    assert recalled(events) == []
    assert clicked(world) == ["#find"]


async def test_a_key_that_belongs_to_what_was_passed_over_is_not_pressed(
    pipeline_log: EventLog,
) -> None:
    def with_key(flow: Workflow) -> Workflow:
        key = Step(Action("press", key="Enter"), before=flow.steps[1].before, optional=True)
        return msgspec.structs.replace(flow, steps=(*flow.steps[:3], key, *flow.steps[3:]))

    world = Covered()
    ended, events = await run(pipeline_log, world, with_key)

    assert ended.reason == "completed", ended
    assert "press" not in [action.type for action in world.done]
    withheld = [each.event for each in events if isinstance(each.event, PlanWithheld)]
    assert withheld[-1].reason.endswith("it belongs to step 3, which was passed over")


async def test_with_what_it_belongs_to_it_is_pressed(pipeline_log: EventLog) -> None:
    def with_key(flow: Workflow) -> Workflow:
        key = Step(Action("press", key="Enter"), before=flow.steps[1].before, optional=True)
        return msgspec.structs.replace(flow, steps=(*flow.steps[:3], key, *flow.steps[3:]))

    world = World(page("#close", "#find"))
    ended, _ = await run(pipeline_log, world, with_key)

    assert ended.reason == "completed", ended
    assert [action.type for action in world.done] == [
        "navigate", "click", "press", "click", "click",
    ]  # fmt: skip
