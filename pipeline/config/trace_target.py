"""A trace target says which exporter of the OpenTelemetry SDK sends traces, and to what address.

Our own keys first, then the SDK's standard variables. What else those say (headers, timeout,
certificates, compression, the resource) its exporters read themselves.
"""

from collections.abc import Mapping
from typing import Final

import msgspec

from rutter.pipeline.config.reader import Config

HTTP: Final = "otlp_proto_http"
GRPC: Final = "otlp_proto_grpc"
CONSOLE: Final = "console"
LOCAL: Final = {HTTP: "http://localhost:4318", GRPC: "http://localhost:4317"}
PATH: Final = "/v1/traces"


class TraceTarget(msgspec.Struct, frozen=True):
    """A target has an `exporter` by the SDK's name for it, empty where nobody asked for traces."""

    exporter: str = ""
    endpoint: str = ""
    protocol: str = HTTP

    def at(self, address: str) -> "TraceTarget":
        """The same protocol, at an address as people give it: `http://localhost:4318`."""
        return TraceTarget(self.protocol, _whole(address, self.protocol), self.protocol)


def trace_target(config: Config, env: Mapping[str, str]) -> TraceTarget:
    named = config.text("traces.exporter") or env.get("OTEL_TRACES_EXPORTER", "")
    spoken = "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"
    grpc = named == GRPC or (named != HTTP and "grpc" in (env.get(name) for name in spoken))
    protocol = GRPC if grpc else HTTP
    address = config.text("traces.endpoint")
    whole = "" if address else env.get("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "")
    address = address or env.get("OTEL_EXPORTER_OTLP_ENDPOINT", "")
    if named == "none" or not (named or whole or address):
        return TraceTarget(protocol=protocol)
    if named not in ("", "otlp", HTTP, GRPC):
        return TraceTarget(named, protocol=protocol)
    return TraceTarget(protocol, whole or _whole(address or LOCAL[protocol], protocol), protocol)


def _whole(address: str, protocol: str) -> str:
    """OTLP over HTTP has a path of its own, which people leave out."""
    if protocol == GRPC or not address:
        return address
    base, mark, query = address.partition("?")
    return f"{base.rstrip('/').removesuffix(PATH)}{PATH}{mark}{query}"
