"""Result files hold what a session brought home: values and tables, and what was downloaded."""

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import msgspec

from rutter.events.artifacts import ArtifactStore
from rutter.events.sqlite_reader import SqliteReader
from rutter.pipeline.config.settings import Settings
from rutter.pipeline.output.csv_table import as_csv
from rutter.pipeline.output.safe_files import folder_for, put_beside, safe_name
from rutter.replay.steps import KINDS, steps_in
from rutter.replay.story.results import SentFile, SessionResults, as_json

Format = Literal["table", "json", "csv"]
GONE = "no longer kept"


class WrittenFile(msgspec.Struct, frozen=True, omit_defaults=True):
    """A file was written, or this is why it was not."""

    name: str
    path: str = ""
    why_not: str = ""


def results_of(settings: Settings, session: str) -> SessionResults:
    with SqliteReader(settings.directory.log) as reader:
        return steps_in(reader.read(session=session, kinds=KINDS)).results


def hand_out(
    results: SessionResults,
    artifacts: ArtifactStore,
    folder: Path,
    *,
    guard: bool = True,
    formats: tuple[Format, ...] = ("json", "csv"),
) -> list[WrittenFile]:
    """Everything of it, in this order: the values, the tables, the downloads."""
    folder_for(folder)
    written = [
        WrittenFile(name, str(put_beside(folder, name, body)))
        for name, body in [*_texts(results, guard=guard)]
        if name.endswith(formats)
    ]
    return [*written, *(_handed(each, artifacts, folder) for each in results.downloads)]


def _texts(results: SessionResults, *, guard: bool) -> Iterator[tuple[str, bytes]]:
    yield "results.json", msgspec.json.format(msgspec.json.encode(as_json(results))) + b"\n"
    if results.texts:
        said = as_csv([*results.texts], [[*results.texts.values()]], guard=guard)
        yield "results.csv", said.encode()
    for name, rows in results.tables.items():
        said = as_csv(rows.columns, rows.rows, guard=guard)
        yield f"{safe_name(name, 'table')}.csv", said.encode()


def _handed(download: SentFile, artifacts: ArtifactStore, folder: Path) -> WrittenFile:
    name = safe_name(download.name, "download")
    if download.artifact is None:
        return WrittenFile(name, why_not=download.failure or "it was not kept")
    if not artifacts.path(download.artifact).exists():
        return WrittenFile(name, why_not=GONE)
    return WrittenFile(name, str(put_beside(folder, name, artifacts.get(download.artifact))))
