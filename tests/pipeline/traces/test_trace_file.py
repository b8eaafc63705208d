"""A file of requests, one a line."""

import os
from pathlib import Path

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from rutter.events.errors import BadInput
from rutter.pipeline.traces.trace_file import TraceFile
from rutter.replay.traces import spans_of
from rutter.replay.traces.otlp_protobuf import encode_request
from tests.replay.traces.test_otlp_json import read_line
from tests.support.trail_sessions import advised, plain

ONE = list(spans_of(plain("run-1").events))
TWO = list(spans_of(advised("run-2").events))


def test_what_is_written_is_read_as_it_was_sent(tmp_path: Path) -> None:
    sink = TraceFile(tmp_path / "traces.jsonl")
    assert sink.deliver(ONE).accepted
    assert sink.deliver(TWO).accepted
    sink.close()
    lines = (tmp_path / "traces.jsonl").read_bytes().splitlines()
    assert [read_line(line) for line in lines] == [
        ExportTraceServiceRequest.FromString(encode_request(spans)) for spans in (ONE, TWO)
    ]


def test_a_line_is_whole_on_disk_when_it_counts(tmp_path: Path) -> None:
    sink = TraceFile(tmp_path / "traces.jsonl")
    sink.deliver(ONE)
    assert (tmp_path / "traces.jsonl").read_bytes().endswith(b"}\n")
    sink.close()


@pytest.mark.parametrize("torn", [b'{"resourceSpans":[{', b"x" * 200_000])
def test_a_torn_line_is_cut_off_and_those_before_it_stay(tmp_path: Path, torn: bytes) -> None:
    path = tmp_path / "traces.jsonl"
    sink = TraceFile(path)
    sink.deliver(ONE)
    sink.close()
    whole = path.read_bytes()
    path.write_bytes(whole + torn)
    sink = TraceFile(path)
    sink.deliver(TWO)
    sink.close()
    first, second = path.read_bytes().splitlines(keepends=True)
    assert first == whole
    assert read_line(second) == ExportTraceServiceRequest.FromString(encode_request(TWO))


def test_a_file_of_nothing_but_a_torn_line_begins_anew(tmp_path: Path) -> None:
    path = tmp_path / "traces.jsonl"
    path.write_bytes(b"torn")
    TraceFile(path).close()
    assert path.read_bytes() == b""


def test_a_full_disk_is_a_refusal_and_leaves_no_half_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "traces.jsonl"
    sink = TraceFile(path)
    sink.deliver(ONE)
    whole = path.read_bytes()

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        refused = sink.deliver(TWO)
    assert (refused.accepted, path.read_bytes()) == (False, whole)
    assert "No space left" in refused.why
    assert sink.deliver(TWO).accepted
    sink.close()
    assert len(path.read_bytes().splitlines()) == 2


def test_a_place_where_no_file_can_be_is_bad_input(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot be written"):
        TraceFile(tmp_path / "missing" / "traces.jsonl")


def test_only_its_owner_can_read_it(tmp_path: Path) -> None:
    TraceFile(tmp_path / "traces.jsonl").close()
    assert (tmp_path / "traces.jsonl").stat().st_mode & 0o777 == 0o600
