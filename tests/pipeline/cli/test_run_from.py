"""`rutter run NAME --from SESSION`: which session can be continued, and with which values."""

import asyncio
from pathlib import Path

import msgspec
import pytest

from rutter.actors.answers import ScriptedPerson
from rutter.events.errors import BrowserGone
from rutter.events.sqlite_log import SqliteLog
from rutter.pipeline.config.settings import Settings, load
from rutter.pipeline.queries.workflows_and_sessions import Tables, latest_workflow, project
from rutter.pipeline.sessions.earlier_run import named, unsettled, values_of
from tests.support.case_table import for_each
from tests.support.command_shell import Rutter
from tests.support.scripted_shop import AURORA, FAIRLEAD, Raises, shop
from tests.support.shop_sessions import YES, open_app, record_order, run_for_fairlead, sail

DIED = Raises(BrowserGone("the browser died"))


@pytest.fixture(scope="module")
def sailed(tmp_path_factory: pytest.TempPathFactory) -> Rutter:
    """The order recorded; a run of it that was cut short while it ordered, one that came to its
    end with other values, and one of another workflow."""
    rutter = Rutter(tmp_path_factory.mktemp("sailed") / "data")
    asyncio.run(_sail(rutter.data / "log.db"))
    return rutter


async def _sail(path: Path) -> None:
    path.parent.mkdir(parents=True)
    log = await SqliteLog.open(path)
    async with open_app(log) as app:
        flow = await record_order(app, log, "watched")
        run = run_for_fairlead(flow)
        await sail(app, run, shop().trouble("#place", DIED), name="cut")
        aurora = msgspec.structs.replace(run, values=AURORA)
        person = ScriptedPerson(otherwise=YES)
        ended = await sail(app, aurora, shop(), answers=person, name="whole")
        assert ended.reason == "completed", ended
        other = msgspec.structs.replace(
            run, name="other", workflow=msgspec.structs.replace(flow, name="other")
        )
        await sail(app, other, shop().trouble("#find", DIED), name="elsewhere")


def settings_of(rutter: Rutter) -> Settings:
    return load(str(rutter.data), headless=True)


@for_each(
    "session, complaint",
    [
        ("nowhere", "there is no session 'nowhere'"),
        ("watched", "watched is no run of 'order' (record order)"),
        ("elsewhere", "elsewhere is no run of 'order' (run other)"),
        ("whole", "it was completed; run it without --from"),
    ],
)
def test_what_cannot_be_continued_is_refused_before_anything_is_done(
    sailed: Rutter, session: str, complaint: str
) -> None:
    ended = sailed("run", "order", "--from", session, "--set", "customer=Fairlead Offshore")
    assert ended.code == 2
    assert complaint in ended.complaint


def test_a_free_run_continues_nothing(sailed: Rutter) -> None:
    ended = sailed("run", "--free", "--url", "https://shop.example/", "--from", "cut")
    assert (ended.code, "a free run continues nothing" in ended.complaint) == (2, True)


def test_a_run_that_was_cut_short_is_continued_with_its_values(sailed: Rutter) -> None:
    settings = settings_of(sailed)
    with project(settings) as store:
        flow = latest_workflow(store, "order")
    with Tables(settings) as tables:
        events = named("cut", flow, tables)
    assert events[0].session == "cut"
    assert values_of(events, flow) == FAIRLEAD
    fewer = msgspec.structs.replace(flow, parameters=())
    assert values_of(events, fewer) == {}


def test_what_was_completed_with_other_values_does_not_settle_it(sailed: Rutter) -> None:
    """E7: another order that went well says nothing about this one."""
    settings = settings_of(sailed)
    with project(settings) as store:
        flow = latest_workflow(store, "order")
    with Tables(settings) as tables:
        assert unsettled(flow, FAIRLEAD, tables)[0].session == "cut"
        assert unsettled(flow, AURORA, tables) == []
        assert unsettled(flow, {"customer": "Juniper"}, tables) == []


def test_what_still_runs_has_left_nothing_open(sailed: Rutter) -> None:
    """In a daemon runs go side by side: one that is about to order was not cut short."""
    settings = settings_of(sailed)
    with project(settings) as store:
        flow = latest_workflow(store, "order")
    with Tables(settings) as tables:
        assert unsettled(flow, FAIRLEAD, tables, under_way=("cut",)) == []
