"""Traces leave the process here: read on from a position, deliver, move the position once accepted.

`exporter` reads the log and keeps the `cursor`; a `sink` takes the spans: an exporter of the
OpenTelemetry SDK (`sdk_exporter`). `live` does it beside a run, in a thread of its own.
"""
