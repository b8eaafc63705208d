"""Where traces go: our own keys, then the standard variables, then nowhere."""

from pathlib import Path

from rutter.pipeline.config.settings import load
from rutter.pipeline.config.trace_target import GRPC, HTTP, TraceTarget
from tests.support.case_table import for_each

BASE, WHOLE = "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
PROTOCOL = "OTEL_EXPORTER_OTLP_PROTOCOL"
EXPORTER = "OTEL_TRACES_EXPORTER"
OURS, WHERE = "RUTTER_TRACES_EXPORTER", "RUTTER_TRACES_ENDPOINT"


def target(tmp_path: Path, **env: str) -> tuple[str, str]:
    found = load(str(tmp_path), env=env).traces
    return found.exporter, found.endpoint


@for_each(
    "env, exporter, endpoint",
    [
        ({}, "", ""),
        ({EXPORTER: "none", BASE: "http://a:4318"}, "", ""),
        ({EXPORTER: "otlp"}, HTTP, "http://localhost:4318/v1/traces"),
        ({BASE: "http://a:4318"}, HTTP, "http://a:4318/v1/traces"),
        ({BASE: "https://a/otlp/"}, HTTP, "https://a/otlp/v1/traces"),
        ({BASE: "http://a:4318", WHOLE: "http://b/own"}, HTTP, "http://b/own"),
        ({EXPORTER: "otlp", PROTOCOL: "grpc"}, GRPC, "http://localhost:4317"),
        ({BASE: "http://a:4317", PROTOCOL: "grpc"}, GRPC, "http://a:4317"),
        ({EXPORTER: "console"}, "console", ""),
        ({OURS: "console", EXPORTER: "otlp", BASE: "http://a:4318"}, "console", ""),
        ({OURS: "none", EXPORTER: "otlp"}, "", ""),
        ({OURS: HTTP, PROTOCOL: "grpc"}, HTTP, "http://localhost:4318/v1/traces"),
        ({OURS: GRPC}, GRPC, "http://localhost:4317"),
        ({WHERE: "http://c:4318", BASE: "http://a"}, HTTP, "http://c:4318/v1/traces"),
        ({WHERE: "http://c:4318", WHOLE: "http://b/own"}, HTTP, "http://c:4318/v1/traces"),
    ],
)
def test_ours_stands_above_the_standard_variables(
    tmp_path: Path, env: dict[str, str], exporter: str, endpoint: str
) -> None:
    assert target(tmp_path, **env) == (exporter, endpoint)


@for_each(
    "address, whole",
    [
        ("http://localhost:4318", "http://localhost:4318/v1/traces"),
        ("http://localhost:4318/", "http://localhost:4318/v1/traces"),
        ("https://phoenix.example/v1/traces", "https://phoenix.example/v1/traces"),
        ("https://phoenix.example/otlp?key=a", "https://phoenix.example/otlp/v1/traces?key=a"),
    ],
)
def test_the_path_of_otlp_is_added_where_it_is_missing(address: str, whole: str) -> None:
    assert TraceTarget().at(address) == TraceTarget(HTTP, whole)


def test_an_address_that_is_named_goes_by_the_protocol_that_was_chosen(tmp_path: Path) -> None:
    chosen = load(str(tmp_path), env={PROTOCOL: "grpc"}).traces
    assert chosen.at("http://a:4317") == TraceTarget(GRPC, "http://a:4317", GRPC)
