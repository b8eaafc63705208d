"""The replay bench measures deciding again and folding: events per second, against a bare read +
decode + fold loop.

The log is a real one (the order workflow on the bundled site, recorded once), its run copied under
other names with chains of their own, so that it holds as many sessions as wanted.
"""

import asyncio
import gc
import os
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from bench.tables import print_table
from rutter.actors.answers import PersonAnswer, ScriptedPerson
from rutter.actors.predictor.knowledge import Knowledge
from rutter.actors.world.browser.chromium import Chromium
from rutter.actors.world.egress.gate import Gate
from rutter.events import sqlite_schema
from rutter.events.chain import GENESIS, link
from rutter.events.codec import decode, encode
from rutter.events.envelope import Envelope, Record, kind
from rutter.events.predictor import LEARNED
from rutter.events.runtime import SessionStarted
from rutter.events.sqlite_log import SqliteLog
from rutter.events.sqlite_reader import SqliteReader
from rutter.pipeline.app import App
from rutter.pipeline.config.chromium_install import Installer
from rutter.pipeline.demo_sites.chandlery import Site, order_script
from rutter.pipeline.sessions import session_started
from rutter.pipeline.workflows.recorder_import import RecorderScript, prepare
from rutter.replay.projections.store import ProjectionStore
from rutter.replay.verify import verify

SESSIONS = int(os.environ.get("RUTTER_BENCH_SESSIONS", "300"))
ROUNDS = 3
TEMPORAL = 4_000  # events/s of Temporal's replayer, measured on such a machine


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.db"
        asyncio.run(make_log(path, SESSIONS))
        with SqliteReader(path) as reader:
            events = reader.last_seq()
        print(f"replay: {events} events of {SESSIONS} sessions")
        _measure(path, events)
        _memory(path, events)


def _measure(path: Path, events: int) -> None:
    bare = _rate(lambda: _bare(path), events)
    fold = _rate(lambda: _fold(path), events)
    again = _rate(lambda: _verify(path), events)
    projected = _rate(lambda: _project(path), events)
    print_table(
        "replay",
        ("what", "events/s", "ratio", "to"),
        [
            ("bare read + decode + fold", f"{bare:,.0f}", "1.00", "itself"),
            ("fold of the model", f"{fold:,.0f}", f"{fold / bare:.2f}", "bare (aim 0.9)"),
            ("decide again and compare", f"{again:,.0f}", f"{again / bare:.2f}", "bare"),
            ("", "", f"{again / TEMPORAL:.1f}", "Temporal's replayer (aim 10)"),
            ("all projections rebuilt", f"{projected:,.0f}", f"{projected / bare:.2f}", "bare"),
        ],
    )


def _rate(work: Callable[[], None], events: int) -> float:
    took = []
    for _ in range(ROUNDS):
        gc.collect()
        began = time.process_time()
        work()
        took.append(time.process_time() - began)
    return events / statistics.median(took)


def _bare(path: Path) -> None:
    """The least that any fold over this log can do: rows, decoded, into the model."""
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    knowledge = Knowledge()
    for row in connection.execute("SELECT * FROM events ORDER BY seq"):
        event = decode(row[7])
        seq, session, n, at_ns, actor, cause, _, _, digest = row
        envelope = Envelope(seq, session, n, at_ns, actor, cause, event, digest)
        if type(event) in LEARNED:
            knowledge.take_in(envelope)
    knowledge.open_turn(1)
    connection.close()


def _fold(path: Path) -> None:
    knowledge = Knowledge()
    with SqliteReader(path) as reader:
        for envelope in reader.read():
            if type(envelope.event) in LEARNED:
                knowledge.take_in(envelope)
    knowledge.open_turn(1)


def _verify(path: Path) -> None:
    with SqliteReader(path) as reader:
        report = verify(reader.read())
    if not report.ok:
        raise SystemExit(f"divergence: {report.divergence}")


def _project(path: Path) -> None:
    place = path.with_name("projections.db")
    with ProjectionStore(place) as store, SqliteReader(path) as reader:
        store.rebuild(reader)


def _memory(path: Path, events: int) -> None:
    """Peak memory of a fresh process, for a tenth of the log and for all of it. In this process
    it would say nothing: what verifying takes was taken by the rounds before."""
    small, large = _peak(path, events // 10), _peak(path, events)
    per_million = (large - small) / (1 << 20) * 1_000_000 / (events - events // 10)
    print(
        f"peak memory of deciding again: {small >> 20} MB for {events // 10} events, "
        f"{large >> 20} MB for {events}: {per_million:.0f} MB a million more (aim under 50)"
    )


def _peak(path: Path, events: int) -> int:
    code = (
        "import resource, sys; from itertools import islice; from pathlib import Path\n"
        "from rutter.events.sqlite_reader import SqliteReader; "
        "from rutter.replay.verify import Verifier\n"
        "verifier = Verifier()\n"
        "with SqliteReader(Path(sys.argv[1])) as reader:\n"
        "    for envelope in islice(reader.read(), int(sys.argv[2])): verifier.take(envelope)\n"
        "assert verifier.divergence is None\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)"
    )
    command = [sys.executable, "-c", code, str(path), str(events)]
    return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


# -- the log -----------------------------------------------------------------------------------


async def make_log(path: Path, sessions: int) -> None:
    """One recording and one run, for real; the run copied until there are `sessions`."""
    original = path.with_name("original.db")
    await _sail(original)
    with SqliteReader(original) as reader:
        rows = list(reader.rows())
    log = await SqliteLog.open(path)
    for turn in _copies(rows, sessions):
        await log.append(turn)
    await log.close()


async def _sail(path: Path) -> None:
    values, secrets = {"customer": "Aurora Shipping"}, {"password": "bowline-7"}
    log = await SqliteLog.open(path)
    with Site() as site:
        recorded = msgspec.convert(order_script(site.base_url), RecorderScript)
        script = prepare(recorded, values, secrets)
        allow = [site.base_url.removeprefix("http://")]
        yes = ScriptedPerson(otherwise=PersonAnswer(True, phrase="confirm"))
        async with App.open(log) as app, Chromium(Installer(print).ensure(), Gate()) as browser:
            started = session_started.recording("order", script.steps, values, secrets, allow=allow)
            await app.run_in_browser(
                started, browser, answers=yes, secrets=secrets, typed=script.typed
            )
            with SqliteReader(path) as reader:
                learned = next(reader.read(kinds=["WorkflowLearned"])).event
            workflow = getattr(learned, "workflow")  # noqa: B009 - by kind it is WorkflowLearned
            for _ in range(2):
                run = session_started.run_of(workflow, values, secrets)
                await app.run_in_browser(run, browser, answers=yes, secrets=secrets)


def _copies(rows: list[sqlite_schema.Row], sessions: int) -> Iterator[list[Record]]:
    """The log as it is, then its last run again and again under other names."""
    by_session: dict[str, list[sqlite_schema.Row]] = {}
    for row in rows:
        by_session.setdefault(row[1], []).append(row)
        yield [Record(sqlite_schema.to_envelope(row), row[7])]
    run = [s for s, own in by_session.items() if isinstance(decode(own[0][7]), SessionStarted)][-1]
    seq = len(rows) + 1
    for copy in range(sessions - len(by_session)):
        turn = _renamed(by_session[run], f"{run}-{copy:06d}", seq)
        seq += len(turn)
        yield turn


def _renamed(rows: list[sqlite_schema.Row], session: str, seq: int) -> list[Record]:
    records = []
    previous = GENESIS
    for offset, row in enumerate(rows):
        event = decode(row[7])
        payload = encode(event)
        _, _, n, at_ns, actor, cause, _, _, _ = row
        previous = link(
            previous,
            session=session,
            n=n,
            at_ns=at_ns,
            actor=actor,
            cause=cause,
            kind=kind(event),
            payload=payload,
        )
        envelope = Envelope(seq + offset, session, n, at_ns, actor, cause, event, previous)
        records.append(Record(envelope, payload))
    return records


if __name__ == "__main__":
    main()
