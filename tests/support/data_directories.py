"""Runs leave data directories like these: a workflow recorded and run twice, with pictures."""

import asyncio
import atexit
import fcntl
import os
import shutil
import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, ClassVar

import msgspec

from rutter.actors.answers import PersonAnswer, ScriptedPerson
from rutter.actors.effector import Effector
from rutter.events.artifacts import ArtifactStore
from rutter.events.envelope import Actor, Envelope
from rutter.events.observer import PageObserved
from rutter.events.predictor import WorkflowLearned
from rutter.events.runtime import SessionStarted
from rutter.events.sqlite_log import SqliteLog
from rutter.events.sqlite_reader import SqliteReader
from rutter.events.vocabulary import AnyEvent
from rutter.pipeline.app import App
from rutter.pipeline.clock import CountingClock
from rutter.pipeline.config.data_directory import DataDirectory
from rutter.pipeline.sessions import session_started
from rutter.replay.projections import ProjectionStore
from tests.support.scripted_shop import AURORA, FAIRLEAD, ORDER, ScriptedObserver, effectors, shop

# Said in one session each, and nowhere else: in an event and in a picture. `run-1` alone has to do
# with Fairlead Offshore, which is in its values and on its pages, and so in the projections.
NEEDLES = {
    "record": "needle-in-the-recording",
    "run-1": "needle-in-the-first-run",
    "run-2": "needle-in-the-second-run",
}


class Photographing:
    """A scripted Observer takes a picture of every page: one that others share, and its own."""

    name: ClassVar[Actor] = "observer"

    def __init__(self, observer: Effector, artifacts: ArtifactStore, word: str) -> None:
        self._observer = observer
        self._artifacts = artifacts
        self._word = word

    async def handle(self, envelope: Envelope) -> AsyncIterator[AnyEvent]:
        async for event in self._observer.handle(envelope):
            if isinstance(event, PageObserved):
                word = self._word if "orders" in event.page.url else "shared"
                body = f"{word} {event.page.url}".encode() * 50
                picture = self._artifacts.put(body, "image/png")
                yield msgspec.structs.replace(event, screenshot=picture)
            else:
                yield event

    def failed(self, envelope: Envelope, error: Exception) -> AnyEvent | None:
        return self._observer.failed(envelope, error)


LONG_AGO = 1_000_000_000


def sailed(root: Path) -> DataDirectory:
    """One process that recorded `record` and sailed `run-1` and `run-2`, and stopped."""
    shutil.copytree(_original(), root)
    return DataDirectory(root)


@cache
def _original() -> Path:
    """Made once, then copied: equal for every test."""
    directory = DataDirectory(Path(mkdtemp(prefix="rutter-sailed-")))
    atexit.register(shutil.rmtree, directory.root)
    asyncio.run(_sail(directory))
    dump(directory)
    for path in directory.artifacts.root.glob("*/*"):
        os.utime(path, (LONG_AGO, LONG_AGO))  # as old as the log says; a copy keeps that
    return directory.root


async def _sail(directory: DataDirectory) -> None:
    log = await SqliteLog.open(directory.log)
    async with App.open(log, artifacts=directory.artifacts, clock=CountingClock()) as app:
        recording = session_started.recording("order", ORDER, AURORA, ())
        await _session(app, directory, "record", recording)
        learned = [e.event async for e in log.read(kinds=["WorkflowLearned"])][-1]
        assert isinstance(learned, WorkflowLearned)
        for name, values in (("run-1", FAIRLEAD), ("run-2", AURORA)):
            await _session(
                app, directory, name, session_started.run_of(learned.workflow, values, ())
            )


async def _session(app: App, directory: DataDirectory, name: str, started: SessionStarted) -> None:
    started = msgspec.structs.replace(started, goal=NEEDLES[name])
    crew = [
        Photographing(each, directory.artifacts, NEEDLES[name])
        if isinstance(each, ScriptedObserver)
        else each
        for each in effectors(
            shop(), started, answers=ScriptedPerson(otherwise=PersonAnswer(True, phrase="confirm"))
        )
    ]
    ended = await app.run_session(started, crew, name=name)
    assert ended.reason == "completed", ended


def tamper(log: Path, sql: str, *values: object) -> None:
    """What nobody should do to a log."""
    with closing(sqlite3.connect(log, isolation_level=None)) as connection:
        assert connection.execute(sql, values).rowcount > 0


def dump(directory: DataDirectory) -> dict[str, list[tuple[Any, ...]]]:
    """What its log means."""
    with SqliteReader(directory.log) as reader, ProjectionStore(directory.projections) as store:
        store.rebuild(reader)
        return store.dump()


def holding(root: Path, word: str) -> list[str]:
    """The files under `root` that hold this word."""
    files = (path for path in root.rglob("*") if path.is_file())
    return sorted(path.name for path in files if word.encode() in path.read_bytes())


@contextmanager
def held(lock: Path) -> Iterator[None]:
    """By another process, as it seems."""
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        file.write("4711\n")
        file.flush()
        yield
