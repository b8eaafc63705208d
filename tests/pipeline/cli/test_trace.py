"""`rutter trace`: as people type it, at a real receiver and into a file."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from rutter.events.sqlite_reader import SqliteReader
from rutter.pipeline.cli import trace
from rutter.pipeline.config.exit_codes import Exit
from rutter.replay.traces import Span, spans_of
from rutter.replay.traces.ids import trace_id
from tests.support import scripted_logs
from tests.support.command_shell import Rutter, check_logs
from tests.support.loopback import free_port
from tests.support.otlp_forms import read_line
from tests.support.otlp_receiver import Answer, Receiver, partial


@pytest.fixture
def rutter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Rutter]:
    """Recorded, sailed alone, lost on the way, and recorded half."""
    monkeypatch.delenv("OTEL_EXPORTER_OTLP_ENDPOINT", raising=False)
    monkeypatch.delenv("OTEL_EXPORTER_OTLP_HEADERS", raising=False)
    command = Rutter(tmp_path / "data")
    scripted_logs.keep(command.data / "log.db")
    yield command
    check_logs(command.data)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as made:
        yield made


def spans(rutter: Rutter, session: str | None = None) -> list[Span]:
    with SqliteReader(rutter.data / "log.db") as reader:
        return list(spans_of(reader.read(session=session)))


def ids(made: list[Span]) -> list[bytes]:
    return [span.span_id for span in made]


# -- to a collector --------------------------------------------------------------------------------


def test_everything_goes_to_the_collector_once(rutter: Rutter, receiver: Receiver) -> None:
    ended = rutter("trace", "--otlp", receiver.url)
    assert ended.code == Exit.DONE
    whole = spans(rutter)
    assert receiver.ids() == ids(whole)
    assert f"[OK] {len(whole)} spans delivered to {receiver.url}/v1/traces" in ended.out
    again = rutter("trace", "--otlp", receiver.url)
    assert "nothing new" in again.out
    assert receiver.ids() == ids(whole)


def test_again_sends_what_was_sent(rutter: Rutter, receiver: Receiver) -> None:
    rutter("trace", "--otlp", receiver.url)
    rutter("trace", "--again", "--otlp", receiver.url)
    assert receiver.ids() == 2 * ids(spans(rutter))


def test_one_session_goes_as_often_as_it_is_asked_for(rutter: Rutter, receiver: Receiver) -> None:
    for _ in range(2):
        assert rutter("trace", "last", "--otlp", receiver.url).code == Exit.DONE
    session = rutter.json("sessions")[0]["session"]
    assert receiver.ids() == 2 * ids(spans(rutter, session))
    assert {span.trace_id for span in receiver.spans} == {trace_id(session)}


def test_the_environment_may_name_the_collector(
    rutter: Rutter, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.url)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-api-key=abc")
    assert rutter("trace").code == Exit.DONE
    assert receiver.ids() == ids(spans(rutter))
    assert receiver.asked[0][1]["x-api-key"] == "abc"


def test_machines_get_counts(rutter: Rutter, receiver: Receiver) -> None:
    told = rutter.json("trace", "--otlp", receiver.url)
    assert told == {
        "to": f"{receiver.url}/v1/traces",
        "running": [],
        "delivered": len(spans(rutter)),
        "rejected": 0,
        "refusals": 0,
        "why": "",
    }


def test_what_the_collector_threw_away_is_said(rutter: Rutter) -> None:
    with Receiver(partial(4, "span too old")) as receiver:
        ended = rutter("trace", "--otlp", receiver.url)
    assert ended.code == Exit.DONE
    assert "4 were taken and rejected there: 4 spans rejected: span too old" in ended.out


def test_a_collector_that_is_down_loses_nothing(
    rutter: Rutter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trace, "PATIENCE_S", 0.05)
    with free_port() as port:
        ended = rutter("trace", "--otlp", f"http://127.0.0.1:{port}")
    assert ended.code == Exit.ENVIRONMENT
    first, last = ended.err.splitlines()
    assert "not taken yet" in first
    assert "nothing is lost: run it again" in last
    with Receiver(port=port) as receiver:
        assert rutter("trace", "--otlp", receiver.url).code == Exit.DONE
        assert receiver.ids() == ids(spans(rutter))


def test_a_collector_that_stumbles_is_asked_again(rutter: Rutter) -> None:
    with Receiver(Answer(503)) as receiver:
        assert rutter("trace", "--otlp", receiver.url).code == Exit.DONE
        assert receiver.ids() == ids(spans(rutter))


# -- into a file -----------------------------------------------------------------------------------


def test_the_whole_log_goes_into_a_file(rutter: Rutter, tmp_path: Path) -> None:
    place = tmp_path / "traces.jsonl"
    ended = rutter("trace", "--file", place)
    assert (ended.code, ended.err) == (Exit.DONE, "")
    assert _in_file(place) == ids(spans(rutter))
    assert "spans delivered to" in ended.out


def test_one_session_goes_into_a_file(rutter: Rutter, tmp_path: Path) -> None:
    place = tmp_path / "traces.jsonl"
    assert rutter("trace", "last", "--file", place).code == Exit.DONE
    session = rutter.json("sessions")[0]["session"]
    assert _in_file(place) == ids(spans(rutter, session))


def test_the_same_file_twice_is_the_same_bytes(rutter: Rutter, tmp_path: Path) -> None:
    one, other = tmp_path / "one.jsonl", tmp_path / "other.jsonl"
    rutter("trace", "--file", one)
    rutter("trace", "--file", other)
    assert one.read_bytes() == other.read_bytes()


def test_a_file_that_is_there_is_left_alone(rutter: Rutter) -> None:
    log = rutter.data / "log.db"
    before = log.read_bytes()
    ended = rutter("trace", "--file", log)
    assert ended.code == Exit.BAD_INPUT
    assert "is already there" in ended.complaint
    assert log.read_bytes() == before


def test_half_a_file_is_no_file(
    rutter: Rutter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    ended = rutter("trace", "--file", tmp_path / "traces.jsonl")
    assert ended.code == Exit.ENVIRONMENT
    assert "no space left" in ended.complaint
    assert not (tmp_path / "traces.jsonl").exists()


def _in_file(place: Path) -> list[bytes]:
    return [
        span.span_id
        for line in place.read_bytes().splitlines()
        for span in read_line(line).resource_spans[0].scope_spans[0].spans
    ]


# -- what cannot be done ---------------------------------------------------------------------------


def test_where_to_must_be_said(rutter: Rutter) -> None:
    ended = rutter("trace")
    assert ended.code == Exit.BAD_INPUT
    assert "--otlp http://localhost:4318" in ended.complaint


def test_not_both_at_once(rutter: Rutter, tmp_path: Path) -> None:
    ended = rutter("trace", "--otlp", "http://localhost:4318", "--file", tmp_path / "t")
    assert ended.code == Exit.BAD_INPUT


@pytest.mark.parametrize("address", ["localhost:4318", "ftp://a.example", "nonsense"])
def test_what_is_no_address_is_said(rutter: Rutter, address: str) -> None:
    ended = rutter("trace", "--otlp", address)
    assert ended.code == Exit.BAD_INPUT
    assert "is not the address of an OTLP collector" in ended.complaint


def test_a_session_that_is_not_there(rutter: Rutter) -> None:
    ended = rutter("trace", "run-nowhere", "--otlp", "http://localhost:4318")
    assert ended.code == Exit.BAD_INPUT
    assert "there is no session 'run-nowhere'" in ended.complaint


def test_a_directory_without_a_log(tmp_path: Path) -> None:
    ended = Rutter(tmp_path)("trace", "--otlp", "http://localhost:4318")
    assert ended.code == Exit.BAD_INPUT
    assert "there is no log" in ended.complaint
