"""`rutter transitions` lists what followed what, with counts."""

from operator import itemgetter

from rutter.pipeline.cli.terminal import Options, Terminal
from rutter.pipeline.config.settings import Settings
from rutter.pipeline.queries.workflows_and_sessions import project


def transitions(options: Options, settings: Settings, terminal: Terminal) -> None:
    with project(settings) as store:
        rows = store.rows(
            "SELECT from_action, to_action, count, by_person, by_agent "
            "FROM transitions_first_order ORDER BY count DESC, from_action, to_action LIMIT ?",
            options.top,
        )
    terminal.answer(rows)
    cells = itemgetter("count", "by_person", "by_agent", "from_action", "to_action")
    columns = ("count", "by person", "by agent", "from", "to")
    terminal.table(columns, map(cells, rows), none="nothing learned yet")
