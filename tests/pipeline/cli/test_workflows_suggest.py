"""`rutter workflows suggest` as people type it, on logs that the real pipeline made."""

import asyncio
from pathlib import Path

import msgspec
import pytest

from rutter.events.action import Action, Text
from rutter.events.sqlite_log import SqliteLog
from rutter.events.workflow import Step
from rutter.pipeline.clock import Clock
from rutter.pipeline.sessions import session_started
from tests.support import scripted_logs
from tests.support.case_table import for_each
from tests.support.command_shell import Rutter
from tests.support.scripted_shop import ORIGIN, by_css, shop
from tests.support.shop_sessions import NextClock, open_app, sail

LOOK = (
    Action("navigate", url=ORIGIN + "/"),
    Action("type", target=by_css("#q"), value=Text("")),
    Action("click", target=by_css("#find")),
)


def look_for(path: Path, *customers: str, clock: Clock | None = None) -> None:
    """Each looked for once, in a session of its own."""

    async def voyages() -> None:
        async with open_app(await SqliteLog.open(path), clock=clock) as app:
            for number, customer in enumerate(customers):
                typed = msgspec.structs.replace(LOOK[1], value=Text(customer))
                script = tuple(Step(action=each) for each in (LOOK[0], typed, LOOK[2]))
                ended = await sail(
                    app, session_started.recording(f"look-{number}", script, {}, ()), shop()
                )
                assert ended.reason == "completed", ended

    path.parent.mkdir(parents=True, exist_ok=True)
    asyncio.run(voyages())


@pytest.fixture
def rutter(rutter: Rutter) -> Rutter:
    """Three customers were looked for, and nobody keeps a workflow for it."""
    look_for(rutter.data / "log.db", "Aurora Shipping", "Fairlead Offshore", "Juniper Tankers")
    for number in range(3):
        assert rutter("workflows", "delete", f"look-{number}").code == 0
    return rutter


def test_what_was_done_three_times_is_suggested_with_the_command_that_records_it(
    rutter: Rutter,
) -> None:
    ended = rutter("workflows", "suggest")

    assert (ended.code, ended.err) == (0, "")
    assert ended.out.splitlines() == [
        "this was done 3 times in 3 sessions: find",
        f"   1  go to {ORIGIN}/",
        "   2  type <search> into 'Search'",
        "   3  click 'Find'",
        "      search varies: 'Juniper Tankers', 'Fairlead Offshore', 'Aurora Shipping'",
        f"      to record it, do it once more: rutter --data {rutter.data} record find "
        f"--url {ORIGIN}/ --param search='Juniper Tankers'",
        "",
    ]


def test_machines_are_told_the_same(rutter: Rutter) -> None:
    [habit] = rutter.json("workflows", "suggest")
    assert (habit["name"], habit["times"], habit["sessions"]) == ("find", 3, 3)
    assert habit["parameters"] == [
        {
            "name": "search",
            "step": 2,
            "examples": ["Juniper Tankers", "Fairlead Offshore", "Aurora Shipping"],
        }
    ]
    assert habit["record"].startswith(f"rutter --data {rutter.data} record find --url")


def test_how_often_is_asked_for(rutter: Rutter) -> None:
    ended = rutter("workflows", "suggest", "--least", "4")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out == (
        "nothing was done 4 times that is not a workflow already; "
        f"what was done twice: rutter --data {rutter.data} workflows suggest --least 2\n"
    )
    assert rutter.json("workflows", "suggest", "--least", "4") == []


@for_each("least", ["1", "0", "-3", "often"])
def test_once_is_no_habit(rutter: Rutter, least: str) -> None:
    ended = rutter("workflows", "suggest", "--least", least)
    assert (ended.code, ended.out) == (2, "")


def test_what_is_recorded_again_is_suggested_no_more(rutter: Rutter) -> None:
    look_for(rutter.data / "log.db", "Aurora Shipping", clock=NextClock())
    assert rutter.json("workflows", "suggest") == []


def test_runs_of_a_workflow_are_no_habit(tmp_path: Path) -> None:
    data = tmp_path / "sailed"
    scripted_logs.keep(data / "log.db")
    ended = Rutter(data)("workflows", "suggest", "--least", "2")
    assert ended.code == 0
    assert ended.out == (
        "nothing was done 2 times that is not a workflow already; "
        f"to name one, do it once: rutter --data {data} record NAME --url URL\n"
    )


def test_without_a_log_it_says_what_to_do(tmp_path: Path) -> None:
    nowhere = Rutter(tmp_path / "nowhere")
    ended = nowhere("workflows", "suggest")
    assert ended.code == 2
    assert "record something first" in ended.complaint
    assert not nowhere.data.exists()
