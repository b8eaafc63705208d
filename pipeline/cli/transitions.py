"""`rutter transitions` lists what followed what, with counts."""

import argparse

from rutter.pipeline.cli.terminal import Terminal
from rutter.pipeline.config.settings import Settings
from rutter.pipeline.queries.workflows_and_sessions import project


def transitions(options: argparse.Namespace, settings: Settings, terminal: Terminal) -> int:
    with project(settings) as store:
        rows = store.rows(
            "SELECT from_action, to_action, count, by_person, by_agent "
            "FROM transitions_first_order ORDER BY count DESC, from_action, to_action LIMIT ?",
            options.top,
        )
    if terminal.as_json:
        terminal.json(rows)
    elif not rows:
        terminal.say("nothing learned yet")
    else:
        terminal.table(
            ("count", "by person", "by agent", "from", "to"),
            (
                (
                    *(str(row[name]) for name in ("count", "by_person", "by_agent")),
                    row["from_action"],
                    row["to_action"],
                )
                for row in rows
            ),
        )
    return 0
