"""Traces leave the process here: read on from a position, deliver, move the position once accepted.

`exporter` reads the log and keeps the `cursor`; a sink takes the spans: the `collector` over HTTP,
or a `trace_file`. `live` does it beside a run, in a thread that no event ever waits for.
"""
