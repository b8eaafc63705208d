"""`rutter transitions` lists what followed what, with counts."""

import argparse

from rutter.pipeline.cli.terminal import Terminal
from rutter.pipeline.config.settings import Settings
from rutter.pipeline.queries.workflows_and_sessions import project


def transitions(options: argparse.Namespace, settings: Settings, terminal: Terminal) -> None:
    with project(settings) as store:
        rows = store.rows(
            "SELECT from_action, to_action, count, by_person, by_agent "
            "FROM transitions_first_order ORDER BY count DESC, from_action, to_action LIMIT ?",
            options.top,
        )
    terminal.answer(rows)
    terminal.table(
        ("count", "by person", "by agent", "from", "to"),
        (
            [
                str(row[name])
                for name in ("count", "by_person", "by_agent", "from_action", "to_action")
            ]
            for row in rows
        ),
        none="nothing learned yet",
    )
