"""The log that the benches of long use are run on is one that the pipeline wrote."""

from pathlib import Path

import pytest

from bench.long_log import FORGOTTEN, PROCESSES, make
from rutter.actors.predictor import Predictor
from rutter.events.envelope import kind
from rutter.events.predictor import SessionForgotten
from rutter.events.runtime import ProcessStarted, SessionEnded, SessionStarted
from rutter.events.sqlite_log import SqliteLog
from rutter.events.sqlite_reader import SqliteReader
from rutter.pipeline.app import App
from rutter.replay.integrity import check
from rutter.replay.verify import fresh_deciders, verify

pytestmark = pytest.mark.anyio

EVENTS = 1_000


async def test_a_log_of_long_use_is_whole_follows_from_its_facts_and_opens(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    await make(path, EVENTS)

    with SqliteReader(path) as reader:
        found = check(reader.rows())
        assert (found.ok, found.faults) == (True, ())
        assert found.events >= EVENTS
        report = verify(reader.read())
        assert (report.divergence, report.events) == (None, found.events)
        counted = dict(reader.query("SELECT kind, count(*) FROM events GROUP BY kind"))
        purposes = {
            (event.purpose, event.driver)
            for event in (each.event for each in reader.read(kinds=[kind(SessionStarted)]))
            if isinstance(event, SessionStarted)
        }
    assert counted[kind(SessionForgotten)] >= FORGOTTEN
    assert counted[kind(ProcessStarted)] == PROCESSES
    assert counted[kind(SessionStarted)] == counted[kind(SessionEnded)]
    assert {"PredictionMade", "TransitionUndone", "EffectsLearned", "ToolCalled"} <= counted.keys()
    assert purposes == {
        ("record", "script"),
        ("record", "person"),
        ("run", "workflow"),
        ("free", "prediction"),
        ("tools", "agent"),
    }

    deciders = fresh_deciders()
    async with App.open(await SqliteLog.open(path), deciders=deciders) as app:
        assert app.interrupted == []
    [predictor] = [each.decider for each in deciders if isinstance(each.decider, Predictor)]
    assert predictor.knowledge.generation == counted[kind(SessionForgotten)]
    assert len(predictor.knowledge.journal) > counted["TransitionLearned"]


async def test_the_same_number_of_events_is_the_same_log(tmp_path: Path) -> None:
    for name in ("one.db", "other.db"):
        await make(tmp_path / name, EVENTS // 4)
    with SqliteReader(tmp_path / "one.db") as one, SqliteReader(tmp_path / "other.db") as other:
        assert [row[8] for row in one.rows()] == [row[8] for row in other.rows()]
