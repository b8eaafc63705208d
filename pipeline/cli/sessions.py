"""`rutter sessions` lists what ran, beside a running process."""

from operator import itemgetter
from typing import Any

from rutter.events.faults import fault_of_end
from rutter.pipeline.cli.terminal import Options, Terminal, when
from rutter.pipeline.config.settings import Settings
from rutter.pipeline.queries.workflows_and_sessions import project

GOAL = 40  # characters of a goal in a table


def sessions(options: Options, settings: Settings, terminal: Terminal) -> None:
    with project(settings) as store:
        rows = store.rows("SELECT * FROM sessions ORDER BY seq DESC LIMIT ?", options.last)
    terminal.answer([row | _fault(row) for row in rows])
    terminal.show_rows(
        rows,
        {
            "session": itemgetter("session"),
            "what": _what,
            "started": lambda row: when(row["started_ns"]),
            "done/proposed": lambda row: f"{row['done']}/{row['proposed']}",
            "took": _took,
            "end": _end,
        },
        none="no sessions yet",
    )


def _what(row: dict[str, Any]) -> str:
    """Of a goal, its beginning."""
    goal = row["goal"] if len(row["goal"]) <= GOAL else row["goal"][: GOAL - 3] + "..."
    return " ".join(filter(None, (row["purpose"], row["name"], goal and f"({goal})")))


def _took(row: dict[str, Any]) -> str:
    return f"{(row['ended_ns'] - row['started_ns']) / 1e9:.1f} s" if row["ended_ns"] else "-"


def _end(row: dict[str, Any]) -> str:
    now = "running" if row["paused"] is None else "paused"
    end = f"{row['reason'] or now} {row['failure'] or ''}".strip()
    return f"{end}, forgotten" if row["forgotten_ns"] is not None else end


def _fault(row: dict[str, Any]) -> dict[str, object]:
    """Of a session that did not come to its end: what kind of failure it was, and what to do."""
    fault = fault_of_end(row["reason"] or "", row["failure"] or "", sent=bool(row["sent"]))
    told = {name: getattr(fault, name) for name in ("error_code", "retriable", "hint")}
    return told if fault.error_code else {}
