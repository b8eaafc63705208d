"""`rutter results` gives what a session read and downloaded, for people, machines, or in a
folder."""

import sys
from collections.abc import Sequence

from rich.markup import escape

from rutter.events.artifacts import ArtifactStore
from rutter.events.errors import BadInput
from rutter.pipeline.cli.terminal import Options, Terminal
from rutter.pipeline.config.settings import Settings
from rutter.pipeline.output.csv_table import as_csv
from rutter.pipeline.output.result_files import GONE, Format, WrittenFile, hand_out, results_of
from rutter.pipeline.queries.workflows_and_sessions import find_session
from rutter.replay.story.results import SentFile, SessionResults, TableRows, as_json, rows_in_words
from rutter.replay.story.told_session import Story
from rutter.replay.story.wording import ascii_only

SHOWN = 20  # rows of a table on a terminal; the others are in the files


def results(options: Options, settings: Settings, terminal: Terminal) -> None:
    found = results_of(settings, find_session(settings, options.session))
    wanted = options.format or ("json" if terminal.as_json else "table")
    if options.table is not None and wanted != "csv":
        raise BadInput("--table is for --format csv", "add --format csv")
    if options.out is not None:
        named: bool = options.format in ("json", "csv")
        formats: tuple[Format, ...] = (options.format,) if named else ("json", "csv")
        guard, artifacts = not options.formulas, settings.directory.artifacts
        handed = hand_out(found, artifacts, options.out, guard=guard, formats=formats)
        tell_handed(handed, terminal)
    elif wanted == "csv":
        columns, rows = _one_table(found, options.table)
        write_plain(as_csv(columns, rows, guard=not options.formulas))
    elif wanted == "json":
        terminal.json(as_json(found))
    else:
        _show(found, settings, Terminal())


def hand_out_after(story: Story, options: Options, settings: Settings, terminal: Terminal) -> None:
    """Of a run that is over: what it came to so far, whatever its end."""
    if options.results is None:
        return
    found = results_of(settings, story.session)
    guard = not options.formulas
    handed = hand_out(found, settings.directory.artifacts, options.results, guard=guard)
    tell_handed(handed, terminal, after=True)


def tell_handed(handed: Sequence[WrittenFile], terminal: Terminal, *, after: bool = False) -> None:
    """Beside the JSON of a run there is no second one."""
    if terminal.as_json and not after:
        terminal.json(handed)
    for each in handed:
        line = each.path or f"{each.name}: {each.why_not}"
        if after and terminal.as_json:
            terminal.note(f"written: {line}")
        else:
            terminal.say_below(f"written: {line}" if each.path else f"not written: {line}")


def write_plain(text: str) -> None:
    """UTF-8 and nothing added, whatever the terminal is set to."""
    buffer = getattr(sys.stdout, "buffer", None)
    if buffer is None:
        sys.stdout.write(text)
        return
    sys.stdout.flush()
    buffer.write(text.encode())
    buffer.flush()


def _one_table(found: SessionResults, name: str | None) -> tuple[list[str], list[list[str]]]:
    """What stands in one CSV: a table, or the values as one row."""
    listed = ", ".join(found.tables) or "none"
    if name is not None:
        if name not in found.tables:
            raise BadInput(f"{found.session} read no table {name!r}", f"it read: {listed}")
        return found.tables[name].columns, found.tables[name].rows
    if found.texts:
        return [*found.texts], [[*found.texts.values()]]
    if len(found.tables) > 1:
        raise BadInput("several tables do not fit into one CSV", f"add --table, one of: {listed}")
    if found.tables:
        [rows] = found.tables.values()
        return rows.columns, rows.rows
    raise BadInput(f"{found.session} read nothing", "see: rutter workflows edit NAME --extract")


def _show(found: SessionResults, settings: Settings, terminal: Terminal) -> None:
    terminal.say(f"{found.session}: {found.workflow}" if found.workflow else found.session)
    if not found:
        edit = settings.command("workflows edit NAME --extract 'STEP=NAME SELECTOR'")
        terminal.say(f"it read nothing and was sent no file; let it read: {edit}")
        return
    if found.texts:
        terminal.table(("name", "value"), found.texts.items())
    for name, rows in found.tables.items():
        _show_rows(name, rows, found, settings, terminal)
    if found.downloads:
        terminal.say("downloads:")
        artifacts = settings.directory.artifacts
        terminal.table(
            ("name", "bytes", "kept"),
            ((each.name, *_kept(each, artifacts)) for each in found.downloads),
        )


def _kept(download: SentFile, artifacts: ArtifactStore) -> tuple[str, str]:
    artifact = download.artifact
    if artifact is None:
        return "-", f"no: {download.failure}"
    return str(artifact.size), "yes" if artifacts.path(artifact).exists() else GONE


def _show_rows(
    name: str, rows: TableRows, found: SessionResults, settings: Settings, terminal: Terminal
) -> None:
    caption = f" ({rows.caption})" if rows.caption else ""
    terminal.say(f"{name}{caption}: {rows_in_words(rows)}")
    # A heading is text of the page, and rich would read its own marks in it.
    terminal.table([escape(ascii_only(each)) for each in rows.columns], rows.rows[:SHOWN])
    if len(rows.rows) > SHOWN:
        rest = settings.command(f"results {found.session} --format csv --table {name}")
        terminal.say(f"... {len(rows.rows) - SHOWN} more: {rest}")
