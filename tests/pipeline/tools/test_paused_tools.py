"""A session that is driven by calls is paused: what is called meanwhile waits, and is answered."""

import anyio
import pytest

from rutter.actors.answers import ScriptedPerson
from rutter.actors.rules.tools.tool_table import TOOLS
from rutter.events.tools import ToolCalled
from rutter.pipeline.tools.dispatcher import ToolResponse
from tests.pipeline.tools.test_dispatcher import Shop, errors, tools_on
from tests.support.example_counts import moments
from tests.support.log_checks import Replayed, TurnsLog, events_of
from tests.support.person_at_wheel import Wheel, nth
from tests.support.scripted_shop import ORIGIN, Waits
from tests.support.shop_sessions import YES, open_app
from tests.support.until_true import until

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(60)]


def asks(log: TurnsLog) -> bool:
    """Whether a second call was made."""
    calls = [r for turn in log.turns for r in turn if isinstance(r.envelope.event, ToolCalled)]
    return len(calls) > 1


async def test_a_call_that_is_made_while_it_is_paused_waits(replayed: Replayed) -> None:
    """Its time is not counted, however short it is; the page may be another one by then."""
    world = Shop()
    log = replayed.memory()
    timeouts = {**dict.fromkeys(TOOLS, 60_000), "get_snapshot": 0}
    answered: list[ToolResponse] = []
    async with open_app(log) as app, tools_on(app, world) as tools:
        await tools.call("get_snapshot")
        tools._timeouts_ms = timeouts
        await app.pause(tools.session, "ann")

        async def look() -> None:
            answered.append(await tools.call("get_snapshot"))

        async with anyio.create_task_group() as group:
            group.start_soon(look)
            with anyio.move_on_after(0.05):
                await anyio.Event().wait()
            assert answered == []
            tools._timeouts_ms = {}
            world.url = ORIGIN + "/results"
            await app.resume(tools.session, "ann")
    [answer] = answered
    assert answer.body()["snapshot"]["page"]["title"] == "Results"


async def test_a_ref_from_before_a_pause_is_of_a_page_that_may_be_gone(replayed: Replayed) -> None:
    world = Shop()
    log = TurnsLog(replayed.memory())
    answered: list[ToolResponse] = []
    async with open_app(log) as app, tools_on(app, world) as tools:
        await tools.call("get_snapshot")
        await app.pause(tools.session, "ann")

        async def click() -> None:
            answered.append(await tools.call("browser_click", {"ref": "@e1"}))

        async with anyio.create_task_group() as group:
            group.start_soon(click)
            await until(lambda: asks(log))
            await app.resume(tools.session, "ann")
    [answer] = answered
    assert errors(answer) == ("ref_invalid", "validation_error", True)
    assert answer.snapshot is not None
    assert [action.type for action in world.done] == ["navigate"]


async def test_what_was_called_before_a_pause_comes_to_its_end(replayed: Replayed) -> None:
    world = Shop()
    world.trouble("#find", waits := Waits(anyio.Event(), anyio.Event()))
    answered: list[ToolResponse] = []
    async with open_app(replayed.memory()) as app, tools_on(app, world) as tools:
        await tools.call("get_snapshot")

        async def click() -> None:
            answered.append(await tools.call("browser_click", {"ref": "@e1"}))

        async with anyio.create_task_group() as group:
            group.start_soon(click)
            await waits.reached.wait()
            await app.pause(tools.session, "ann")
            waits.answer.set()
            await until(lambda: answered)
        assert answered[0].success
        await app.resume(tools.session, "ann")
        assert (await tools.call("get_snapshot")).success


async def test_a_caller_that_goes_away_while_it_is_paused_has_called_for_nothing(
    replayed: Replayed,
) -> None:
    world = Shop()
    log = TurnsLog(replayed.memory())
    async with open_app(log) as app, tools_on(app, world) as tools:
        await tools.call("get_snapshot")
        await app.pause(tools.session, "ann")
        async with anyio.create_task_group() as group:
            group.start_soon(tools.call, "browser_click", {"ref": "@e1"})
            await until(lambda: asks(log))
            group.cancel_scope.cancel()
        await app.resume(tools.session, "ann")
        assert (await tools.call("get_snapshot")).success
    assert [action.type for action in world.done] == ["navigate"]


async def test_a_paused_session_can_be_let_go_of(replayed: Replayed) -> None:
    log = replayed.memory()
    async with open_app(log) as app, tools_on(app, Shop()) as tools:
        await tools.call("get_snapshot")
        await app.pause(tools.session, "ann")
    assert tools.ended is not None
    assert tools.ended.reason == "cancelled"


async def test_a_pause_anywhere_changes_nothing_that_is_called(replayed: Replayed) -> None:
    """Whenever it comes, each call is answered as if nobody had been there."""

    async def called(number: int) -> tuple[list[bool], list[str], str, int]:
        log, world = replayed.memory(), Shop()
        async with (
            open_app(log) as app,
            tools_on(app, world, answers=ScriptedPerson(otherwise=YES)) as tools,
        ):
            wheel = Wheel(app, tools.session, nth(number))
            async with anyio.create_task_group() as group:
                group.start_soon(wheel.briefly)
                said = [(await tools.call("get_snapshot")).success]
                for tool, given in (
                    ("browser_fill", {"ref": "@e0", "value": "Aurora"}),
                    ("browser_click", {"ref": "@e1"}),
                ):
                    answer = await tools.call(tool, given)
                    if answer.error == "ref_invalid":
                        answer = await tools.call(tool, given)
                    said.append(answer.success)
                group.cancel_scope.cancel()
            events = await events_of(log, tools.session)
        return said, [action.type for action in world.done], world.url, len(events)

    *alone, events = await called(0)
    assert alone == [[True] * 3, ["navigate", "type", "click"], ORIGIN + "/results"]
    for number in moments(events):
        *paused, _ = await called(number)
        assert paused == alone, number
