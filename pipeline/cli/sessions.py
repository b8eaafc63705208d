"""`rutter sessions` lists what ran, beside a running process."""

import argparse
from typing import Any

from rutter.events.faults import fault_of_end
from rutter.pipeline.cli.show import GOAL, when
from rutter.pipeline.cli.terminal import Terminal
from rutter.pipeline.config.settings import Settings
from rutter.pipeline.queries.workflows_and_sessions import project


def sessions(options: argparse.Namespace, settings: Settings, terminal: Terminal) -> None:
    with project(settings) as store:
        rows = store.rows("SELECT * FROM sessions ORDER BY seq DESC LIMIT ?", options.last)
    terminal.answer([row | _fault(row) for row in rows])
    terminal.table(
        ("session", "what", "started", "done/proposed", "took", "end"),
        (
            (
                row["session"],
                " ".join(filter(None, (row["purpose"], row["name"], _goal(row["goal"])))),
                when(row["started_ns"]),
                f"{row['done']}/{row['proposed']}",
                f"{(row['ended_ns'] - row['started_ns']) / 1e9:.1f} s" if row["ended_ns"] else "-",
                _end(row),
            )
            for row in rows
        ),
        none="no sessions yet",
    )


def _end(row: dict[str, Any]) -> str:
    now = "running" if row["paused"] is None else "paused"
    end = f"{row['reason'] or now} {row['failure'] or ''}".strip()
    return f"{end}, forgotten" if row["forgotten_ns"] is not None else end


def _goal(goal: str) -> str:
    """In a column: its beginning."""
    return f"({goal if len(goal) <= GOAL else goal[: GOAL - 3] + '...'})" if goal else ""


def _fault(row: dict[str, Any]) -> dict[str, object]:
    """Of a session that did not come to its end: what kind of failure it was, and what to do."""
    fault = fault_of_end(row["reason"] or "", row["failure"] or "", sent=bool(row["sent"]))
    told = {name: getattr(fault, name) for name in ("error_code", "retriable", "hint")}
    return told if fault.error_code else {}
