"""Scenes in which language models are asked: scripted pages, models and people, and no browser.

Nothing in them depends on time or chance: made twice they are the same, byte for byte.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any
from unittest.mock import patch

import anyio

from rutter.actors.answers import PersonAnswer, ScriptedPerson
from rutter.actors.world.models.messages import Prompt, Reply
from rutter.actors.world.models.prices import Price
from rutter.events.action import Action, ByRole, Parameter, Target
from rutter.events.advisor import AdviceFailed, AdviceLost, AdviceReceived
from rutter.events.planner import AdviceRequested
from rutter.events.runtime import SessionStarted
from rutter.events.sqlite_log import SqliteLog
from rutter.events.sqlite_reader import SqliteReader
from rutter.events.sqlite_schema import Row
from rutter.events.workflow import Criteria, Indicator, Step, Workflow
from rutter.pipeline.app import App
from rutter.pipeline.clock import CountingClock
from rutter.pipeline.rehearsal import fixtures
from rutter.pipeline.rehearsal.scripted_model import (
    ScriptedModel,
    calls,
    elements_in,
    fails,
    proposes,
)
from rutter.pipeline.rehearsal.sheets import ScriptedElement, ScriptedPage
from rutter.pipeline.rehearsal.stage import Rehearsal, rehearse
from rutter.pipeline.rehearsal.troubles import Waits
from rutter.pipeline.rehearsal.world import ORIGIN, ScriptedWorld
from rutter.pipeline.sessions import session_started
from rutter.pipeline.sessions.service_file import read_service
from rutter.pipeline.sessions.session_started import Given
from tests.support.golden_logs import to_database

YES = PersonAnswer(True, phrase="confirm")
NO = PersonAnswer(False, message="not that one")
PRICE = Price(3_000_000, 15_000_000, 300_000, 3_750_000)
WHAT = {"what": "round one"}
HOUR_NS = 3_600_000_000_000

ACCOUNT = "https://gaffsail.example/account"
GOAL = "Cancel the membership, and be sure that it is cancelled."
CANCELLED = Given(criteria=Criteria((Indicator("heading", "is cancelled"),)))
WAY = (
    ("link", "Cancel membership"),
    ("link", "Continue to cancel"),
    ("radio", "Too expensive"),
    ("button", "Finish cancellation"),
    ("button", "Continue"),
)

FOUND = ScriptedPage(
    "Found", {"#first": ScriptedElement("a", "link", "Fender", leads_to="/fender")}
)
SEARCH = ScriptedElement("input", "searchbox", "Search")
SHOP = {
    "/": ScriptedPage(
        "Shop", {"#q": SEARCH, "#find": ScriptedElement(name="Find", leads_to="/found")}
    ),
    "/found": FOUND,
    "/fender": ScriptedPage("Fender", shows=("12 in stock",)),
}
SCRIPT = tuple(
    Step(action=action)
    for action in (
        Action("navigate", url=ORIGIN + "/"),
        Action("type", target=Target((ByRole("searchbox", "Search"),)), value=Parameter("what")),
        Action("click", target=Target((ByRole("button", "Find"),))),
        Action("click", target=Target((ByRole("link", "Fender"),))),
    )
)


class Later(CountingClock):
    """Of another process: what it names was not named before."""

    def new_id(self, prefix: str) -> str:
        return f"{super().new_id(prefix)}-later"


class Rehearsing:
    """One log, and the sessions that follow each other in it."""

    def __init__(self, log: SqliteLog, path: Path) -> None:
        self.log = log
        self.path = path

    async def play(
        self, started: SessionStarted, world: ScriptedWorld, *models: ScriptedModel, **more: Any
    ) -> Rehearsal:
        more = {"answers": ScriptedPerson(otherwise=YES), **more}
        # How long a call took and what fences a page off are the Advisor's own: neither decides.
        with (
            patch("rutter.actors.advisor.actor.monotonic_ns", int),
            patch("rutter.actors.advisor.actor.urandom", bytes),
        ):
            return await rehearse(
                started, world, model=models or None, price=PRICE, log=self.log, **more
            )

    async def recorded(self) -> Workflow:
        """The search, as a script does it."""
        told = await self.play(
            session_started.recording("search", SCRIPT, WHAT, ()), ScriptedWorld(SHOP)
        )
        return self.learned(told)

    async def died(self, session: Coroutine[Any, Any, object], waits: Waits) -> list[Row]:
        """What was on disk when the session had come so far."""
        running = asyncio.create_task(session)
        await waits.reached.wait()
        with SqliteReader(self.path) as reader:
            rows = list(reader.rows())
        running.cancel()
        await asyncio.wait([running])
        return rows

    async def go_on_with(self, rows: list[Row]) -> None:
        """The next process: it closes what the one before left open."""
        await self.log.close()
        self.path = self.path.with_name("after.db")
        to_database(self.path, rows)
        self.log = await SqliteLog.open(self.path)
        async with App.open(self.log, clock=Later(rows[-1][3] + HOUR_NS)) as app:
            assert len(app.interrupted) == 1

    @staticmethod
    def learned(told: Rehearsal) -> Workflow:
        assert told.ended.reason == "completed", told.ended
        assert told.learned is not None
        return told.learned


def shop_with(*things: ScriptedElement) -> ScriptedWorld:
    """The shop without its button: nothing there is like it."""
    shown = {f"#new-{place}": thing for place, thing in enumerate(things, 1)}
    return ScriptedWorld({**SHOP, "/": ScriptedPage("Shop", {"#q": SEARCH, **shown})})


def to_cancel(given: Given) -> SessionStarted:
    return session_started.goal_run("cancel", GOAL, ACCOUNT, {}, (), models=None, given=given)


def leads(prompt: Prompt) -> Reply:
    """A model that reads the page it is shown."""
    shown = {(line.role, line.name): line for line in elements_in(prompt)}
    for wanted in WAY:
        if wanted in shown and "checked" not in shown[wanted].state:
            return calls("browser_click", ref=shown[wanted].ref)
    return calls("complete_task", status="success", reason="the page says so")


async def led(stage: Rehearsing) -> None:
    """A model leads to a goal; what it led to is learned, and sailed again without it."""
    model = ScriptedModel(leads)
    told = await stage.play(to_cancel(CANCELLED), fixtures.cancellation(), model)
    workflow = stage.learned(told)
    asked = len(model.asked)
    again = await stage.play(
        session_started.run_of(workflow, {}, ()), fixtures.cancellation(), model
    )
    assert again.ended.reason == "completed", again.ended
    assert asked == len(model.asked) > 0


async def repaired(stage: Rehearsing) -> None:
    """An element is gone and nothing is like it: one proposal repairs the step, for good."""
    workflow = await stage.recorded()
    model = ScriptedModel(
        proposes(aria_role="link", aria_name="Show me", reasoning="it leads to what was found")
    )
    changed = ScriptedElement("a", "link", "Show me", leads_to="/found")
    told = await stage.play(session_started.run_of(workflow, WHAT, ()), shop_with(changed), model)
    newer = stage.learned(told)
    assert newer.version == workflow.version + 1
    told = await stage.play(session_started.run_of(newer, WHAT, ()), shop_with(changed), model)
    assert told.ended.reason == "completed", told.ended
    assert len(model.asked) == 1


async def corrected(stage: Rehearsing) -> None:
    """Two proposals do nothing, a person says no to the third, and then it is given up."""
    workflow = await stage.recorded()
    model = ScriptedModel(
        proposes(css="#new-1", reasoning="it looks like a way to search"),
        proposes(aria_role="link", aria_name="More ways", reasoning="that did nothing"),
        proposes(text="Ask the shop", reasoning="somebody there may know"),
        proposes(css="#new-1", reasoning="once more, perhaps"),
    )
    world = shop_with(
        ScriptedElement("a", "link", "Look closer", inert=True),
        ScriptedElement("a", "link", "More ways", inert=True),
        ScriptedElement(
            "a", "link", "Ask the shop", leads_to="/found", submits=True, method="post"
        ),
    )
    person = ScriptedPerson(otherwise=NO)
    told = await stage.play(
        session_started.run_of(workflow, WHAT, ()), world, model, answers=person
    )
    assert told.ended.reason == "failed", told.ended
    asked = [(each.purpose, each.correction) for each in told.all_of(AdviceRequested)]
    assert asked == [("repair", 0), ("correct", 1), ("correct", 2), ("correct", 3)], asked
    assert len(person.asked) == 1


async def unanswered(stage: Rehearsing) -> None:
    """One provider after the other fails, and the service goes its own way to the same end. Then
    the process dies while a model is asked, which the next one finds out."""
    known = read_service(Path("streaming"))
    service = Given(service=known.service, criteria=known.criteria)
    down = [
        ScriptedModel(fails("overloaded"), fails("timeout"), provider="anthropic"),
        ScriptedModel(fails("unauthorised"), provider="openai"),
        ScriptedModel(fails("unavailable"), fails("unavailable"), provider="ollama"),
    ]
    told = await stage.play(to_cancel(service), fixtures.cancellation(), *down)
    assert told.ended.reason == "completed", told.ended
    assert len(told.all_of(AdviceFailed)) == 5
    assert told.all_of(AdviceReceived) == []
    asked = Waits(anyio.Event(), anyio.Event())
    model = ScriptedModel(leads, asked)
    rows = await stage.died(stage.play(to_cancel(CANCELLED), fixtures.cancellation(), model), asked)
    await stage.go_on_with(rows)
    with SqliteReader(stage.path) as reader:
        [end] = [envelope.event for envelope in reader.read(kinds=["AdviceLost"])]
    assert end == AdviceLost("a2")


REHEARSED: dict[str, Callable[[Rehearsing], Awaitable[None]]] = {
    "led": led,
    "repaired": repaired,
    "corrected": corrected,
    "unanswered": unanswered,
}
