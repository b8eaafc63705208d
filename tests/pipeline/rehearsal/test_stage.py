"""Whole sessions without browser, key or network: real deciders, the real Advisor, a true log."""

from pathlib import Path
from typing import Any

import anyio
import msgspec
import pytest

from rutter.actors.answers import PersonAnswer, ScriptedPerson
from rutter.actors.world.models.prices import Price
from rutter.events.action import Action, ByRole, Parameter, Target, Text
from rutter.events.advisor import AdviceFailed, AdvicePrepared, AdviceReceived
from rutter.events.log import EventLog
from rutter.events.memory_log import MemoryLog
from rutter.events.planner import TargetHealed
from rutter.events.runtime import SessionStarted
from rutter.events.validator import ApprovalRequested
from rutter.events.workflow import Criteria, Indicator, Step
from rutter.pipeline.rehearsal import fixtures, stage
from rutter.pipeline.rehearsal.scripted_model import (
    ScriptedModel,
    calls,
    elements_in,
    fails,
    ref_of,
    says,
)
from rutter.pipeline.rehearsal.sheets import ScriptedElement, ScriptedPage
from rutter.pipeline.rehearsal.stage import NotReplayed, Stalled, rehearse, rehearsing_tools
from rutter.pipeline.rehearsal.troubles import Waits
from rutter.pipeline.rehearsal.world import ORIGIN, ScriptedWorld
from rutter.pipeline.sessions import session_started
from rutter.pipeline.sessions.service_file import read_service
from rutter.pipeline.sessions.session_started import Given
from rutter.replay.verify import Divergence, Verification
from tests.support.case_table import for_each

pytestmark = pytest.mark.anyio

YES = PersonAnswer(True, phrase="confirm")
ACCOUNT = "https://gaffsail.example/account"
CANCELLED = Criteria((Indicator("heading", "is cancelled"),))
WAY = (
    ("link", "Cancel membership"),
    ("link", "Continue to cancel"),
    ("radio", "Too expensive"),
    ("button", "Finish cancellation"),
    ("button", "Continue"),
)


def goal() -> SessionStarted:
    given = Given(criteria=CANCELLED)
    return session_started.goal_run(
        "cancel", "Cancel it.", ACCOUNT, {}, (), models=None, given=given
    )


def leads(prompt: Any) -> Any:
    """A model that reads the page it is shown."""
    shown = {(line.role, line.name): line for line in elements_in(prompt)}
    for wanted in WAY:
        if wanted in shown and "checked" not in shown[wanted].state:
            return calls("browser_click", ref=shown[wanted].ref)
    return calls("complete_task", status="success", reason="it says so")


async def test_the_same_goal_twice_costs_calls_once() -> None:
    log = MemoryLog()
    model = ScriptedModel(leads)
    person = ScriptedPerson(otherwise=YES)
    price = Price(3_000_000, 15_000_000)
    first = await rehearse(
        goal(), fixtures.cancellation(), model=model, answers=person, price=price, log=log
    )
    assert first.ended.reason == "completed", first.ended
    spent = first.all_of(AdviceReceived)
    assert len(model.asked) == len(spent) == first.story.model_calls == 6
    assert all(each.priced and each.cost_microdollars > 0 for each in spent)
    assert first.story.steps[-1].verdict == "confirmed"
    assert first.learned is not None

    world = fixtures.cancellation()
    again = session_started.run_of(first.learned, {}, ())
    second = await rehearse(again, world, model=model, answers=person, log=log)
    assert second.ended.reason == "completed", second.ended
    assert len(model.asked) == 6
    assert world.path == "/cancel/done"
    assert second.session != first.session


async def test_where_it_cannot_be_done_the_model_may_say_so() -> None:
    def looks(prompt: Any) -> Any:
        assert ref_of(prompt, "link", "Cancel membership") == ""
        return calls("complete_task", status="failed", reason="a partner bills it")

    world = fixtures.cancellation("cancel_third_party")
    ended = (await rehearse(goal(), world, model=ScriptedModel(looks))).ended
    assert ended.reason == "failed"
    assert [action.type for action in world.done] == ["navigate"]


async def test_a_model_that_fails_is_followed_by_the_next() -> None:
    down = ScriptedModel(fails("overloaded"), fails("overloaded"), provider="anthropic")
    up = ScriptedModel(leads, provider="openai")
    person = ScriptedPerson(otherwise=YES)
    told = await rehearse(goal(), fixtures.cancellation(), model=[down, up], answers=person)
    assert told.ended.reason == "completed", told.ended
    assert [each.provider for each in told.all_of(AdviceFailed)] == ["anthropic"] * 2
    assert {each.provider for each in told.all_of(AdviceReceived)} == {"openai"}
    assert len(down.asked) == 2


async def test_a_person_is_asked_whatever_the_model_wants() -> None:
    world = fixtures.cancellation()
    person = ScriptedPerson(otherwise=PersonAnswer(False, message="not today"))
    model = ScriptedModel(leads, leads, says("I stop."))
    told = await rehearse(goal(), world, model=model, answers=person)
    assert told.ended.reason != "completed"
    assert told.all_of(ApprovalRequested)
    assert world.path == "/account"


SHOP = {
    "/": ScriptedPage(
        "Shop",
        {
            "#q": ScriptedElement("input", "searchbox", "Search"),
            "#find": ScriptedElement(name="Find", leads_to="/found"),
        },
    ),
    "/found": ScriptedPage(
        "Found", {"#first": ScriptedElement("a", "link", "Fender", leads_to="/fender")}
    ),
    "/fender": ScriptedPage("Fender", shows=("12 in stock",)),
}
SEARCH = tuple(
    Step(action=action)
    for action in (
        Action("navigate", url=ORIGIN + "/"),
        Action("type", target=Target((ByRole("searchbox", "Search"),)), value=Parameter("what")),
        Action("click", target=Target((ByRole("button", "Find"),))),
        Action("click", target=Target((ByRole("link", "Fender"),))),
    )
)


async def recorded(log: EventLog) -> Any:
    started = session_started.recording("search", SEARCH, {"what": "round one"}, ())
    told = await rehearse(started, ScriptedWorld(SHOP), log=log)
    assert told.ended.reason == "completed", told.ended
    return told.learned


async def test_a_workflow_is_recorded_and_run_and_waiting_takes_no_time() -> None:
    log = MemoryLog()
    workflow = await recorded(log)
    world = ScriptedWorld(SHOP)
    told = await rehearse(
        session_started.run_of(workflow, {"what": "round one"}, ()), world, log=log
    )
    assert told.ended.reason == "completed", told.ended
    assert world.fields == {"#q": "round one"}
    dead = ScriptedWorld(
        {
            **SHOP,
            "/": ScriptedPage("Shop", {**SHOP["/"].things, "#find": ScriptedElement(name="Find")}),
        }
    )
    told = await rehearse(
        session_started.run_of(workflow, {"what": "round one"}, ()), dead, log=log
    )
    assert told.ended.reason == "failed"
    assert len(told.events) < 200, "patience is measured by a clock that is moved"


async def test_what_is_gone_is_healed_from_what_is_like_it() -> None:
    log = MemoryLog()
    workflow = await recorded(log)
    renamed = ScriptedElement("a", "link", "All fenders", leads_to="/fender")
    world = ScriptedWorld({**SHOP, "/found": ScriptedPage("Found", {"#only": renamed})})
    started = session_started.run_of(workflow, {"what": "round one"}, ())
    told = await rehearse(started, world, answers=ScriptedPerson(otherwise=YES), log=log)
    assert told.ended.reason == "completed", told.ended
    assert [each.element.name.text for each in told.all_of(TargetHealed)] == ["All fenders"]
    assert told.learned is not None
    assert told.learned.version == workflow.version + 1


async def test_tools_are_called_from_outside() -> None:
    log = MemoryLog()
    world = ScriptedWorld(SHOP)
    async with rehearsing_tools(
        session_started.tool_session(ORIGIN + "/"), world, log=log
    ) as tools:
        seen = (await tools.call("get_snapshot")).snapshot
        assert seen is not None
        refs = {element.name: element.ref for element in seen.elements}
        filled = await tools.call("browser_fill", {"ref": refs["Search"], "value": "Fender"})
        assert (filled.success, filled.snapshot is not None) == (True, True)
        stale = await tools.call("browser_click", {"ref": "@e99"})
        assert (stale.success, stale.error) == (False, "ref_invalid")
        seen = (await tools.call("get_snapshot")).snapshot
        assert seen is not None
        find = next(each.ref for each in seen.elements if each.name == "Find")
        assert (await tools.call("browser_click", {"ref": find})).success
        scrolled = await tools.call("browser_scroll", {"direction": "down"})
        assert scrolled.snapshot is not None
    assert (world.path, world.fields) == ("/found", {"#q": "Fender"})
    assert [action.type for action in world.done][:3] == ["navigate", "type", "click"]


async def test_a_secret_is_in_no_event_and_in_no_prompt() -> None:
    """Though the page shows it, and it was typed."""
    token = "reef-knot-bowline-7"
    field = ScriptedElement("input", "textbox", "Access token", secret=True)
    world = ScriptedWorld(
        {"/": ScriptedPage("Settings", {"#t": field, "#x": ScriptedElement(name=f"Copy {token}")})}
    )
    started = session_started.goal_run(
        "set", "Set it.", ORIGIN + "/", {}, ("token",), models=None, given=Given(criteria=CANCELLED)
    )
    model = ScriptedModel(
        lambda prompt: calls(
            "browser_fill", ref=ref_of(prompt, "textbox", "Access token"), value="${token}"
        ),
        calls("complete_task", status="failed", reason="that was all"),
    )
    person = ScriptedPerson(otherwise=YES)
    told = await rehearse(started, world, model=model, answers=person, secrets={"token": token})
    assert world.fields == {"#t": token}
    assert len(model.asked) == 2
    assert token.encode() not in msgspec.msgpack.encode(told.events)
    assert token.encode() not in msgspec.msgpack.encode(model.asked)


async def test_a_log_that_does_not_follow_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def diverges(log: object) -> Verification:
        return Verification(1, 1, 1, divergence=Divergence(1, "s", 1, "planner", "event", "a", "b"))

    monkeypatch.setattr(stage, "verify", diverges)
    script = (Step(action=Action("navigate", url=ORIGIN + "/")),)
    with pytest.raises(NotReplayed, match="planner"):
        await rehearse(session_started.recording("go", script, {}, ()), ScriptedWorld(SHOP))


async def test_a_session_that_waits_for_what_never_comes_has_stalled() -> None:
    world = ScriptedWorld(SHOP).trouble(ORIGIN + "/", Waits(anyio.Event(), anyio.Event()))
    started = session_started.recording("go", SEARCH, {"what": "x"}, ())
    with pytest.raises(Stalled, match="it did not end within"):
        await rehearse(started, world, within_s=0.05)


@for_each("begins_at", ["/account", "/login"])
@for_each(
    "account, ends",
    [
        ("cancel_account", "the title says 'cancelled'"),
        ("cancel_third_party", "a partner bills this membership"),
        ("cancel_already_cancelled", "the membership is cancelled already"),
    ],
)
async def test_a_service_is_run_without_a_model(begins_at: str, account: str, ends: str) -> None:
    known = read_service(Path("streaming"))
    started = session_started.goal_run(
        "cancel",
        "Cancel it.",
        f"https://gaffsail.example{begins_at}",
        {"email": "bosun@example.com"},
        ("password",),
        models=None,
        given=Given(service=known.service, criteria=known.criteria),
    )
    world = fixtures.cancellation(account)
    person = ScriptedPerson(otherwise=YES)
    told = await rehearse(started, world, answers=person, secrets={"password": "reef-knot-4"})
    assert told.ended.detail.startswith(ends), told.ended
    done = account == "cancel_account"
    assert told.ended.reason == ("completed" if done else "failed")
    assert ("final_confirmation" in [each.rule for each in person.asked]) is done
    assert told.story.model_calls == 0


async def test_who_brings_no_model_is_asked_nothing() -> None:
    script = (
        Step(action=Action("navigate", url=ORIGIN + "/")),
        Step(
            action=Action("type", target=Target((ByRole("searchbox", "Search"),)), value=Text("x"))
        ),
    )
    told = await rehearse(session_started.recording("go", script, {}, ()), ScriptedWorld(SHOP))
    assert told.all_of(AdvicePrepared) == []
