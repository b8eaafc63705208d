"""Beside a run: spans go out while it goes on, and whatever the collector does, it goes on."""

from pathlib import Path
from time import monotonic, thread_time

import anyio
import pytest

from rutter.events.sqlite_reader import SqliteReader
from rutter.pipeline import app as app_module
from rutter.pipeline.config.settings import load
from rutter.pipeline.traces import live as live_module
from rutter.pipeline.traces.cursor import FILE
from rutter.pipeline.traces.live import LiveExport, live_export
from rutter.pipeline.traces.sink import Sink
from rutter.replay.traces import spans_of
from tests.support.fussy_sink import Fussy
from tests.support.log_checks import Replayed
from tests.support.loopback import free_port
from tests.support.otlp_receiver import WAIT_S, Answer, Receiver, over_http
from tests.support.shop_sessions import NextClock, Thinks, open_app, record_order, recording, sail
from tests.support.until_true import until

pytestmark = pytest.mark.anyio
PATIENT = 1_000_000  # turns of the loop: a thread is waited for, on a machine that may be busy


def live(path: Path, sink: Sink) -> LiveExport:
    return LiveExport(path, path.with_name(FILE), sink, linger_s=0.01)


def ids_in(path: Path) -> set[bytes]:
    with SqliteReader(path) as reader:
        return {span.span_id for span in spans_of(reader.read())}


async def test_a_run_is_at_the_receiver_when_it_is_over(
    tmp_path: Path, replayed: Replayed, receiver: Receiver
) -> None:
    path = tmp_path / "log.db"
    log = await replayed.sqlite(path)
    traces = live(path, over_http(receiver.url))
    async with open_app(log) as app:
        app.follow(traces)
        await record_order(app, log)
    assert set(receiver.ids()) == ids_in(path)
    assert len(receiver.ids()) == len(set(receiver.ids()))
    assert traces.progress.delivered == len(receiver.ids())
    assert app.shutdown[-1].name == "export traces"
    assert app.shutdown[-1].in_time


async def test_spans_are_out_while_the_run_still_waits_for_a_person(
    tmp_path: Path, replayed: Replayed, receiver: Receiver
) -> None:
    path = tmp_path / "log.db"
    log = await replayed.sqlite(path)
    thinks = Thinks()
    async with open_app(log) as app:
        app.follow(live(path, over_http(receiver.url)))
        async with anyio.create_task_group() as group:

            async def record() -> None:
                await sail(app, recording(), answers=thinks)

            group.start_soon(record)
            await thinks.asked.wait()
            await anyio.to_thread.run_sync(receiver.wait_for_span, "step 1 navigate")
            assert "record order" not in receiver.names()
            thinks.answer.set()
    assert "record order" in receiver.names()


async def test_what_was_away_gets_everything_from_the_next_process(
    tmp_path: Path, replayed: Replayed
) -> None:
    path = tmp_path / "log.db"
    with free_port() as port:
        log = await replayed.sqlite(path)
        async with open_app(log) as app:
            app.follow(live(path, over_http(f"http://127.0.0.1:{port}")))
            await record_order(app, log)
    with Receiver(port=port) as receiver:
        again = await replayed.sqlite(path)
        async with open_app(again, clock=NextClock()) as app:
            app.follow(live(path, over_http(receiver.url)))
            await record_order(app, again)
        assert set(receiver.ids()) == ids_in(path)


@pytest.mark.parametrize("trouble", [Answer(500), Answer(hangs=True), Answer(drips=True)])
async def test_whatever_the_collector_does_the_run_goes_on(
    tmp_path: Path, replayed: Replayed, monkeypatch: pytest.MonkeyPatch, trouble: Answer
) -> None:
    monkeypatch.setattr(app_module, "TRACES_S", 0.3)
    path = tmp_path / "log.db"
    with Receiver(*[trouble] * 1_000) as receiver:
        log = await replayed.sqlite(path)
        traces = live(path, over_http(receiver.url))
        async with open_app(log) as app:
            app.follow(traces)
            workflow = await record_order(app, log)
            assert workflow.complete
            await anyio.to_thread.run_sync(receiver.wait_for_requests, 1)
            began = monotonic()
        assert monotonic() - began < WAIT_S / 2
    assert receiver.ids() == []
    assert traces.progress.delivered == 0
    with Receiver() as well:
        sink = over_http(well.url)
        sink.target = f"{receiver.url}/v1/traces"  # the same one, in a better mood
        later = live(path, sink)
        later.start()
        await later.stop()
        assert set(well.ids()) == ids_in(path)


async def test_hearing_of_an_event_costs_a_run_nothing(tmp_path: Path) -> None:
    traces = live(tmp_path / "log.db", Fussy())
    began = thread_time()  # of its own: a busy machine is no cost of the run
    for _ in range(10_000):
        traces.hear(None)  # type: ignore[arg-type]
    assert (thread_time() - began) / 10_000 < 50e-6


async def test_a_log_that_cannot_be_read_stops_the_traces_and_not_the_run(
    tmp_path: Path, replayed: Replayed
) -> None:
    log = await replayed.sqlite(tmp_path / "log.db")
    traces = LiveExport(tmp_path / "other.db", tmp_path / FILE, sink := Fussy())
    async with open_app(log) as app:
        app.follow(traces)
        await record_order(app, log)
    assert traces.failure.startswith("there is no log")
    assert sink.closed


async def test_a_cursor_that_cannot_be_kept_stops_the_traces_and_not_the_run(
    tmp_path: Path, replayed: Replayed
) -> None:
    (tmp_path / FILE).write_bytes(b"no database" * 400)
    path = tmp_path / "log.db"
    log = await replayed.sqlite(path)
    traces = live(path, Fussy())
    async with open_app(log) as app:
        app.follow(traces)
        await record_order(app, log)
    assert "delete it" in traces.failure


async def test_traces_begin_again_when_what_stopped_them_is_gone(
    tmp_path: Path, replayed: Replayed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_module, "RESTART_S", 0.01)
    (tmp_path / FILE).write_bytes(b"no database" * 400)
    path = tmp_path / "log.db"
    log = await replayed.sqlite(path)
    traces = live(path, sink := Fussy())
    async with open_app(log) as app:
        app.follow(traces)
        await record_order(app, log)
        await until(lambda: traces.failure, PATIENT)
        (tmp_path / FILE).unlink()
        await until(lambda: not traces.failure, PATIENT)
    assert set(sink.taken) == ids_in(path)


# -- as the environment asks for -------------------------------------------------------------------


def test_no_endpoint_means_no_export(tmp_path: Path) -> None:
    assert live_export(load(str(tmp_path), env={}), print) is None


async def test_the_endpoint_and_headers_come_from_the_environment(
    tmp_path: Path, replayed: Replayed, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-api-key=abc")
    env = {"OTEL_EXPORTER_OTLP_ENDPOINT": receiver.url}
    log = await replayed.sqlite(tmp_path / "log.db")
    traces = live_export(load(str(tmp_path), env=env), print)
    assert traces is not None
    async with open_app(log) as app:
        app.follow(traces)
        await record_order(app, log)
    assert receiver.asked[0][1]["x-api-key"] == "abc"
    assert (tmp_path / FILE).exists()


def test_an_address_that_is_none_is_said_and_stops_no_run(tmp_path: Path) -> None:
    notes: list[str] = []
    env = {"OTEL_EXPORTER_OTLP_ENDPOINT": "localhost:4317"}
    assert live_export(load(str(tmp_path), env=env), notes.append) is None
    assert "no traces" in notes[0]
