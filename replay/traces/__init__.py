"""Traces derive OpenTelemetry spans from the log; nothing is recorded beside it.

`SpanFold` turns events into finished spans, `mapping` is the one table of names and attributes. How
they leave is `pipeline/traces`: nothing here does I/O.
"""

from rutter.replay.traces.fold import SpanFold, spans_of
from rutter.replay.traces.span import Link, Span, SpanEvent

__all__ = ["Link", "Span", "SpanEvent", "SpanFold", "spans_of"]
