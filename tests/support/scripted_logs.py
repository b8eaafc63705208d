"""The real pipeline makes logs to read from in a scripted world, with no browser."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from rutter.actors.answers import PersonAnswer, ScriptedPerson
from rutter.events.action import Action, Parameter, Secret
from rutter.events.log import EventLog
from rutter.events.predictor import WorkflowLearned
from rutter.events.runtime import SessionStarted
from rutter.events.sqlite_log import SqliteLog
from rutter.events.sqlite_reader import SqliteReader
from rutter.events.workflow import Step, Workflow
from rutter.pipeline.app import App
from rutter.pipeline.clock import CountingClock
from rutter.pipeline.sessions import session_started
from rutter.replay.projections import ProjectionStore
from tests.support.scripted_shop import (
    AURORA,
    FAIRLEAD,
    ORDER,
    ORIGIN,
    SHOP,
    ScriptedElement,
    ScriptedPage,
    World,
    by_css,
    effectors,
)

MOVED: Mapping[str, ScriptedPage] = {**SHOP, "/customers/2": ScriptedPage("Fairlead Offshore")}
EMPTY: Mapping[str, ScriptedPage] = {**SHOP, "/": ScriptedPage("Shop")}
GATE: Mapping[str, ScriptedPage] = {
    "/": ScriptedPage(
        "Gate",
        {
            "#user": ScriptedElement("input", "textbox", "User name"),
            "#pin": ScriptedElement("input", "textbox", "Pin", secret=True),
        },
    )
}
SIGN_IN = tuple(
    Step(action=action)
    for action in (
        Action("navigate", url=ORIGIN + "/"),
        Action("type", target=by_css("#user"), value=Parameter("user")),
        Action("type", target=by_css("#pin"), value=Secret("pin")),
    )
)
Sail = Callable[[SessionStarted, Mapping[str, ScriptedPage]], Awaitable[None]]
Voyages = Callable[[Sail, EventLog], Awaitable[None]]


def keep(path: Path) -> None:
    """Recorded, sailed alone, lost on the way, and recorded half; sessions 2 to 5."""
    _copy(_order_voyages, path)


def keep_locked(path: Path) -> None:
    """A recording that takes a parameter and a secret, and one that was not done."""
    _copy(_locked_voyages, path)


async def _order_voyages(sail: Sail, log: EventLog) -> None:
    await sail(session_started.recording("order", ORDER, AURORA, ()), SHOP)
    flow = await learned(log)
    await sail(session_started.run_of(flow, FAIRLEAD, ()), SHOP)
    await sail(session_started.run_of(flow, FAIRLEAD, ()), MOVED)
    await sail(session_started.recording("half", ORDER, AURORA, ()), EMPTY)


async def _locked_voyages(sail: Sail, log: EventLog) -> None:
    await sail(session_started.recording("sign-in", SIGN_IN, {"user": "mate"}, ("pin",)), GATE)
    await sail(session_started.recording("half", ORDER, AURORA, ()), EMPTY)


def _copy(voyages: Voyages, path: Path) -> None:
    """The clock only counts, so a log is the same whenever it is made: it is made once, and folded
    once."""
    path.parent.mkdir(parents=True, exist_ok=True)
    log, tables = _made(voyages)
    path.write_bytes(log)
    path.with_name("projections.db").write_bytes(tables)


@cache
def _made(voyages: Voyages) -> tuple[bytes, bytes]:
    with TemporaryDirectory() as folder:
        path, tables = Path(folder) / "log.db", Path(folder) / "projections.db"
        asyncio.run(_keep(path, voyages))
        with SqliteReader(path) as reader, ProjectionStore(tables) as store:
            store.rebuild(reader)
        return path.read_bytes(), tables.read_bytes()


async def _keep(path: Path, voyages: Voyages) -> None:
    log = await SqliteLog.open(path)
    person = ScriptedPerson(otherwise=PersonAnswer(True, phrase="confirm"))
    secrets = {"pin": "0000"}
    async with App.open(log, clock=CountingClock()) as app:

        async def sail(started: SessionStarted, sheets: Mapping[str, ScriptedPage]) -> None:
            world = World(sheets)
            made = effectors(world, started, answers=person, secrets=secrets)
            await app.run_session(started, made)

        await voyages(sail, log)


async def learned(log: EventLog) -> Workflow:
    """The workflow that was recorded first."""
    lessons = [each.event async for each in log.read(kinds=["WorkflowLearned"])]
    assert isinstance(lessons[0], WorkflowLearned)
    return lessons[0].workflow
