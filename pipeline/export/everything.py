"""`rutter export --all` writes everything one has, in formats that other programs read.

Written beside its place and renamed: it is there as a whole or not at all. What opens something is
left out: tokens, kept logins, and the values of secrets, which are in no file of ours anyway.
"""

import mimetypes
import os
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import IO, Any

import msgspec

from rutter.events.artifacts import artifacts_in
from rutter.events.durable import disk_told, drafted, sync
from rutter.events.envelope import Envelope, kind
from rutter.events.errors import BadInput, LogCorrupt
from rutter.events.observer import DownloadFinished
from rutter.events.page import Artifact
from rutter.events.sqlite_reader import SqliteReader
from rutter.events.workflow import Workflow
from rutter.pipeline.config.data_directory import DataDirectory
from rutter.pipeline.config.keys import KEYS
from rutter.pipeline.config.settings import Settings
from rutter.pipeline.export.playwright_script import playwright_script
from rutter.pipeline.export.recorder_json import recorder_script
from rutter.pipeline.output.csv_table import as_csv
from rutter.pipeline.output.safe_files import safe_name
from rutter.pipeline.queries.look_back import events_about
from rutter.pipeline.queries.workflows_and_sessions import project
from rutter.pipeline.upkeep.artifact_survey import expired_digests
from rutter.pipeline.upkeep.backup import UNCHANGED, check_free, draft_folder, export_log
from rutter.pipeline.upkeep.inspection import InspectionWatch, unwatched, watched
from rutter.replay.projections import ProjectionStore
from rutter.replay.projections.metrics import snapshot
from rutter.replay.projections.model_calls import spending
from rutter.replay.story.session_story import tell
from rutter.replay.story.told_session import Story, as_json

ZIP = ".zip"
LOG = "log.rutter"
# What a setting may hold that is a secret by itself: of an address only its host is told.
ADDRESSES = "notify.urls"
SESSIONS = ("session", "purpose", "name", "started_ns", "took_ms", "reason", "failure", "detail")
RESULTS = ("session", "workflow", "name", "value")
STEPS = ("session", "step", "kind", "words", "verdict", "reason", "url", "took_ms")
TRANSITIONS = (
    "SELECT from_action, to_action, count, by_person, by_agent FROM transitions_first_order "
    "ORDER BY 1, 2"
)
Row = Sequence[object]
Script = Callable[[Workflow, Mapping[str, str]], str]
SCRIPTS: tuple[tuple[str, Script], ...] = (
    ("recorder.json", recorder_script),
    ("playwright.py", playwright_script),
)


class Exported(msgspec.Struct, frozen=True):
    """An export has written this. `left_out` are artifacts that have expired or are missing."""

    place: str
    workflows: int
    sessions: int
    artifacts: int
    left_out: int
    files: int
    bytes: int


def export_all(settings: Settings, place: Path, watch: InspectionWatch = unwatched) -> Exported:
    """A folder, or one file where the name ends in .zip. Only reads, beside a running process."""
    check_free(place)
    with draft_folder(place, f".{place.name}.{os.getpid()}") as draft:
        told = _write_all(settings, draft, watch)
        files = [path for path in sorted(draft.rglob("*")) if path.is_file()]
        for path in (*files, draft, *(each for each in draft.rglob("*") if each.is_dir())):
            sync(path)
        size = sum(path.stat().st_size for path in files)
        if place.suffix == ZIP:
            with disk_told(place, UNCHANGED), drafted(place) as packed:
                _pack(packed, draft, files, watch)
                size = packed.stat().st_size
        else:
            draft.rename(place)
            sync(place.parent)
    return msgspec.structs.replace(told, place=str(place), files=len(files), bytes=size)


def _write_all(settings: Settings, draft: Path, watch: InspectionWatch) -> Exported:
    directory = settings.directory
    with project(settings) as store:
        flows = _workflows(store, draft / "workflows", watch)
        _metrics(store, draft)
        names = [row[0] for row in store.db.execute("SELECT session FROM sessions ORDER BY seq")]
    home = draft / "sessions"
    home.mkdir()
    with (
        SqliteReader(directory.log) as reader,
        reader.snapshot(),
        (home / "sessions.jsonl").open("wb") as lines,
    ):
        stories, artifacts = _Sessions(lines), _Artifacts(draft, directory, expired_digests(reader))
        for session in watched(watch, "writing sessions", names):
            events = list(reader.read(session=session))
            stories.add(tell([*events, *events_about(reader, session)]))
            artifacts.add(events)
    stories.write_tables(home)
    artifacts.write_list()
    _write_json(draft / "configuration.json", _configuration(settings))
    export_log(directory, draft / LOG, watch)
    told = Exported("", flows, len(names), artifacts.kept, artifacts.left_out, 0, 0)
    about = resources.files(__package__).joinpath("readme.txt").read_text("utf-8")
    (draft / "README.txt").write_text(about.format(**msgspec.structs.asdict(told)), "utf-8")
    return told


# -- workflows -------------------------------------------------------------------------------------


def _workflows(store: ProjectionStore, folder: Path, watch: InspectionWatch) -> int:
    """Every version as it is known; the newest also as others can run it."""
    rows = store.db.execute("SELECT workflow FROM workflows ORDER BY name, version").fetchall()
    flows = [msgspec.json.decode(body, type=Workflow) for (body,) in rows]
    newest = {flow.name: flow for flow in flows}
    folder.mkdir()
    places = dict(zip(newest, _distinct(newest), strict=True))
    for flow in watched(watch, "writing workflows", flows):
        home = folder / places[flow.name]
        home.mkdir(exist_ok=True)
        _write_json(home / f"version-{flow.version}.json", flow)
        if flow is newest[flow.name]:
            _scripts(flow, home)
    return len(newest)


def _scripts(flow: Workflow, home: Path) -> None:
    for name, write in SCRIPTS:
        try:
            text = write(flow, {})
        except BadInput as error:  # what others have no words for
            (home / f"{name}.txt").write_text(f"not written: {error}\n", "utf-8")
            continue
        (home / name).write_text(text, "utf-8")


def _distinct(names: Mapping[str, object]) -> Iterator[str]:
    """Folders that any disk takes and tells apart."""
    taken: set[str] = set()
    for name in names:
        base = safe_name(name, "workflow")
        found, number = base, 1
        while found.casefold() in taken:
            number += 1
            found = f"{base}-{number}"
        taken.add(found.casefold())
        yield found


# -- sessions --------------------------------------------------------------------------------------


class _Sessions:
    """Sessions become a line of JSON each; all of them, their steps and their results are
    tables."""

    def __init__(self, lines: IO[bytes]) -> None:
        self._lines = lines
        self._sessions: list[Row] = []
        self._steps: list[Row] = []
        self._results: list[Row] = []

    def add(self, story: Story) -> None:
        self._lines.write(msgspec.json.encode(as_json(story)) + b"\n")
        self._sessions.append([getattr(story, name) for name in SESSIONS])
        for step in story.steps:
            self._steps.append([story.session, *(getattr(step, name) for name in STEPS[1:])])
        for name, value in story.results.items():
            self._results.append([story.session, story.name, name, value])

    def write_tables(self, folder: Path) -> None:
        _write_table(folder / "sessions.csv", SESSIONS, self._sessions)
        _write_table(folder / "steps.csv", STEPS, self._steps)
        _write_table(folder / "results.csv", RESULTS, self._results)


class _Artifacts:
    """Artifacts are written under names that say what they are, with a list of all of them."""

    def __init__(
        self, draft: Path, directory: DataDirectory, expired: Mapping[str, tuple[str, int]]
    ) -> None:
        self._folder = draft / "artifacts"
        self._folder.mkdir()
        self._store = directory.artifacts
        self._expired = expired
        self._written: dict[str, str] = {}
        self._rows: list[Row] = []

    @property
    def kept(self) -> int:
        return sum(bool(name) for name in self._written.values())

    @property
    def left_out(self) -> int:
        return len(self._written) - self.kept

    def add(self, events: list[Envelope]) -> None:
        for envelope in events:
            for artifact in artifacts_in(envelope.event):
                digest, what = artifact.sha256, kind(envelope.event)
                if digest not in self._written:
                    self._written[digest] = self._copy(envelope, artifact)
                rule, _ = self._expired.get(digest, ("", 0))
                file = self._written[digest] or (f"expired ({rule})" if rule else "gone")
                row = (envelope.session, envelope.n, what, artifact.media, artifact.size, digest)
                self._rows.append((*row, file))

    def write_list(self) -> None:
        columns = ("session", "event", "kind", "media", "bytes", "sha256", "file")
        _write_table(self._folder / "index.csv", columns, self._rows)

    def _copy(self, envelope: Envelope, artifact: Artifact) -> str:
        """The name that it got; empty when there is nothing to copy."""
        event = envelope.event
        try:
            body = self._store.get(artifact)
        except (LogCorrupt, OSError):
            return ""
        home = self._folder / safe_name(envelope.session, "session")
        home.mkdir(exist_ok=True)
        words = re.sub(r"(?<!^)(?=[A-Z])", "-", kind(event)).lower()
        name = f"{words}{mimetypes.guess_extension(artifact.media) or ''}"
        if isinstance(event, DownloadFinished):
            name = safe_name(event.name.text, "download")
        place = home / f"{envelope.n:05}-{artifact.sha256[:8]}-{name}"
        place.write_bytes(body)
        return str(place.relative_to(self._folder.parent))


# -- the rest --------------------------------------------------------------------------------------


def _metrics(store: ProjectionStore, draft: Path) -> None:
    _write_json(draft / "metrics.json", {**snapshot(store.db), "models": spending(store.db)})
    columns = ("from", "to", "count", "by_person", "by_agent")
    _write_table(draft / "transitions.csv", columns, store.db.execute(TRANSITIONS))


def _configuration(settings: Settings) -> dict[str, Any]:
    """Every value and who said it; of secrets where they are, and never what they are."""
    config = settings.config
    values = {key.name: config.said(key.name)._asdict() for key in KEYS}
    told = values[ADDRESSES]
    told["value"] = [_without_path(each) for each in told["value"] or ()]
    secrets = {name: given.source for name, given in config.secrets.items()}
    return {"values": values, "rules": config.rules, "secrets": secrets}


def _without_path(address: str) -> str:
    """A source by its name; of an address the host, for the rest of it may open something."""
    found = re.match(r"(https?://)(?:[^/@]*@)?([^/?#]+)", address)
    return f"{found[1]}{found[2]}/..." if found else address


def _write_table(place: Path, columns: Sequence[str], rows: Iterable[Row]) -> None:
    place.write_bytes(as_csv([*columns], [[*map(str, row)] for row in rows]).encode())


def _write_json(place: Path, value: object) -> None:
    body = msgspec.json.encode(value, order="deterministic", enc_hook=str)
    place.write_bytes(msgspec.json.format(body) + b"\n")


def _pack(packed: Path, draft: Path, files: list[Path], watch: InspectionWatch) -> None:
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in watched(watch, "packing", files):
            archive.write(path, path.relative_to(draft))
