"""From the log to a sink: complete, at least once, and from where it was."""

import sqlite3
from pathlib import Path

import pytest

from rutter.events.errors import WorldBroken
from rutter.events.runtime import SessionEnded
from rutter.events.sqlite_reader import SqliteReader
from rutter.events.sqlite_schema import Row, to_envelope
from rutter.pipeline.traces import exporter as module
from rutter.pipeline.traces.cursor import FILE, Cursor, Position
from rutter.pipeline.traces.exporter import Exporter, SinkPatience, deliver_log, deliver_spans
from rutter.pipeline.traces.sink import BATCH, Delivery, Sink
from rutter.replay.traces import spans_of
from tests.support import golden_logs
from tests.support.case_table import for_each
from tests.support.fussy_sink import Fussy
from tests.support.loopback import free_port
from tests.support.otlp_forms import on_the_wire
from tests.support.otlp_receiver import Answer, Receiver, over_http, partial
from tests.support.trails import check_tree

ROWS: list[Row] = list(golden_logs.rows("order"))
SPANS = list(spans_of(to_envelope(row) for row in ROWS))
IDS = [span.span_id for span in SPANS]


def export(log: Path, sink: Sink, *, patience_s: float = 20.0) -> int:
    """All that is not out yet, as a process of its own would; how many spans that was."""
    with SqliteReader(log) as reader:
        cursor = Cursor(log.with_name(FILE), sink.target)
        return deliver_log(Exporter(reader, cursor, sink), SinkPatience(patience_s)).delivered


def append(log: Path, rows: list[Row]) -> None:
    with sqlite3.connect(log) as database:
        database.executemany("INSERT INTO events VALUES (?,?,?,?,?,?,?,?,?)", rows)
    database.close()


def position(log: Path, target: str) -> Position:
    return Cursor(log.with_name(FILE), target).read()


# -- all of it -------------------------------------------------------------------------------------


def test_the_whole_trace_arrives_at_a_real_receiver(log: Path, receiver: Receiver) -> None:
    sink = over_http(receiver.url)
    assert export(log, sink) == len(SPANS)
    sink.close()
    assert receiver.ids() == IDS
    whole = on_the_wire(SPANS)
    assert receiver.spans == list(whole.resource_spans[0].scope_spans[0].spans)
    check_tree(SPANS)


def test_what_is_out_is_not_sent_again(log: Path) -> None:
    sink = Fussy()
    assert export(log, sink) == len(SPANS)
    assert export(log, sink) == 0
    assert sink.taken == IDS


def test_every_target_gets_all_of_it(log: Path) -> None:
    one, other = Fussy(), Fussy()
    other.target = "other"
    export(log, one)
    export(log, other)
    assert one.taken == other.taken == IDS


def test_the_same_ids_whoever_exports(log: Path, tmp_path: Path) -> None:
    first, second = Fussy(), Fussy()
    export(log, first)
    log.with_name(FILE).unlink()
    export(log, second)
    assert first.taken == second.taken


# -- on from where it was --------------------------------------------------------------------------


@for_each("cut", range(1, len(ROWS), 83))
def test_a_log_that_grows_is_exported_on_by_other_processes(tmp_path: Path, cut: int) -> None:
    log = tmp_path / "log.db"
    golden_logs.to_database(log, ROWS[:cut])
    sink = Fussy()
    export(log, sink)
    append(log, ROWS[cut:])
    export(log, sink)
    assert sink.taken == IDS


def test_the_cursor_stands_before_what_is_not_accepted(log: Path) -> None:
    sink = Fussy(takes=0)
    with pytest.raises(WorldBroken, match="no more"):
        export(log, sink, patience_s=0)
    assert position(log, sink.target) == Position()
    sink.takes = 1 << 30
    export(log, sink)
    assert sink.taken == IDS
    assert position(log, sink.target).position == len(ROWS)


def test_a_sink_that_goes_away_in_the_middle_loses_nothing(
    log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "FULL", 50)
    sink = Fussy(takes=300)
    with pytest.raises(WorldBroken):
        export(log, sink, patience_s=0)
    reached = position(log, sink.target).position
    assert 0 < reached < len(ROWS)
    sink.takes = 1 << 30
    export(log, sink)
    assert set(sink.taken) == set(IDS)
    assert len(sink.taken) - len(IDS) < BATCH  # at least once, and hardly ever twice


def test_a_process_that_dies_between_delivery_and_cursor_sends_the_same_again(log: Path) -> None:
    sink = Fussy()
    with SqliteReader(log) as reader:
        exporter = Exporter(reader, Cursor(log.with_name(FILE), sink.target), sink)
        exporter._cursor.move = lambda to: None  # type: ignore[method-assign]
        while exporter.advance() is not None:
            pass
    export(log, sink)
    assert sink.taken == IDS + IDS


def test_a_session_that_has_not_ended_gives_what_is_finished_and_the_rest_later(
    tmp_path: Path,
) -> None:
    ends = [row[0] for row in ROWS if isinstance(to_envelope(row).event, SessionEnded)]
    log = tmp_path / "log.db"
    golden_logs.to_database(log, ROWS[: ends[-1] - 1])
    sink = Fussy()
    with SqliteReader(log) as reader:
        exporter = Exporter(reader, Cursor(log.with_name(FILE), sink.target), sink)
        deliver_log(exporter, SinkPatience())
        assert exporter.unfinished() == (ROWS[ends[-1] - 1][1],)
    assert set(sink.taken) < set(IDS)
    known = position(log, sink.target)
    assert known.since < known.position
    append(log, ROWS[ends[-1] - 1 :])
    export(log, sink)
    assert sink.taken == IDS


def test_another_log_under_an_old_cursor_is_sent_from_its_beginning(tmp_path: Path) -> None:
    log, sink = tmp_path / "log.db", Fussy()
    golden_logs.to_database(log, golden_logs.rows("trouble"))
    export(log, sink)
    log.unlink()
    golden_logs.to_database(log, ROWS)
    sink.taken.clear()
    export(log, sink)
    assert sink.taken == IDS
    assert export(log, sink) == 0


def test_a_log_that_is_shorter_than_its_cursor_is_sent_from_its_beginning(tmp_path: Path) -> None:
    log, sink = tmp_path / "log.db", Fussy()
    golden_logs.to_database(log, ROWS)
    export(log, sink)
    log.unlink()
    golden_logs.to_database(log, ROWS[:200])
    sink.taken.clear()
    assert export(log, sink) == len(sink.taken) > 0


# -- collectors with their moods -------------------------------------------------------------------


@pytest.mark.parametrize(
    "moods",
    [
        [Answer(500), Answer(500)],
        [Answer(429, [("retry-after", "0")]), Answer(503)],
        [Answer(drops=True), Answer(drops=True)],
        [Answer(400), Answer(401), Answer(404)],
    ],
)
def test_errors_lose_nothing(log: Path, moods: list[Answer]) -> None:
    with Receiver(*moods) as receiver:
        sink = over_http(receiver.url)
        export(log, sink)
        sink.close()
        assert receiver.ids() == IDS


def test_a_slow_collector_loses_nothing(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "0.2")
    with Receiver(Answer(hangs=True)) as receiver:
        sink = over_http(receiver.url)
        export(log, sink)
        sink.close()
        assert set(receiver.ids()) == set(IDS)


def test_a_collector_that_was_down_gets_everything_when_it_is_back(log: Path) -> None:
    with free_port() as port:
        away = over_http(f"http://127.0.0.1:{port}")
        with pytest.raises(WorldBroken, match="run it again when the collector is back"):
            export(log, away, patience_s=0.05)
    with Receiver(port=port) as receiver:
        export(log, away)
        away.close()
        assert receiver.ids() == IDS


def test_a_collector_that_asks_for_time_is_given_it(log: Path) -> None:
    with Receiver(Answer(429, [("Retry-After", "60")])) as receiver:
        sink = over_http(receiver.url)
        with pytest.raises(WorldBroken, match="429"):
            export(log, sink, patience_s=5)
        assert len(receiver.asked) == 1
        sink.close()


def test_what_a_collector_throws_away_is_counted_and_not_sent_again(log: Path) -> None:
    with Receiver(partial(2, "too old")) as receiver:
        sink = over_http(receiver.url)
        with SqliteReader(log) as reader:
            exporter = Exporter(reader, Cursor(log.with_name(FILE), sink.target), sink)
            progress = deliver_log(exporter, SinkPatience())
        sink.close()
        assert (progress.delivered, progress.rejected) == (len(SPANS) - 2, 2)
        assert receiver.ids() == IDS


# -- spans of one session --------------------------------------------------------------------------


def test_spans_that_are_asked_for_go_whatever_the_cursor_says(log: Path) -> None:
    sink = Fussy()
    for _ in range(2):
        assert deliver_spans(iter(SPANS), sink, SinkPatience()).delivered == len(SPANS)
    assert sink.taken == IDS + IDS


def test_nobody_waits_for_ever() -> None:
    with pytest.raises(WorldBroken, match="nothing is lost"):
        deliver_spans(SPANS, Fussy(takes=0), SinkPatience(0.05))


def test_who_waits_is_told_once() -> None:
    notes: list[str] = []
    with pytest.raises(WorldBroken):
        deliver_spans(SPANS, Fussy(takes=0), SinkPatience(0.2, notes.append))
    assert notes == ["not taken yet (no more); trying for 0.2 s"]


def test_patience_begins_anew_when_something_was_taken() -> None:
    patience = SinkPatience(0.2)
    for _ in range(3):
        patience.wait(Delivery(False, "no"), 0.15)
        patience.wait(Delivery(True), 0.0)
    with pytest.raises(WorldBroken):
        patience.wait(Delivery(False, "no"), 0.3)
