"""The survey says which artifacts are on disk, who names them, and which of them a known workflow
needs."""

import re
import sqlite3
import stat
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Literal

import msgspec

from rutter.events import sqlite_schema as schema
from rutter.events.advisor import AdvicePrepared, AdviceReceived
from rutter.events.artifacts import NAME, artifacts_in
from rutter.events.envelope import Envelope, kind
from rutter.events.observer import DownloadFinished
from rutter.events.page import Artifact
from rutter.events.predictor import WorkflowLearned
from rutter.events.runtime import ArtifactsExpired, SessionEnded, SessionStarted
from rutter.events.sqlite_reader import SqliteReader
from rutter.events.workflow import Workflow
from rutter.pipeline.config.data_directory import DataDirectory
from rutter.pipeline.upkeep.inspection import InspectionWatch, unwatched, watched
from rutter.replay.projections.projection import Entry
from rutter.replay.projections.workflows import WorkflowsTable
from rutter.replay.steps import SessionSteps
from rutter.replay.story.told_session import Story

PAGE = 1_000
DIGEST = re.compile(rb'"([0-9a-f]{64})"')

# What an artifact is for: a picture of a page, a file that a page sent, what a model was asked and
# said, or nothing that the log knows of (a process died before it could say it).
Use = Literal["screenshots", "downloads", "prompts", "unnamed"]
USES: Mapping[str, Use] = {
    kind(DownloadFinished): "downloads",
    kind(AdvicePrepared): "prompts",
    kind(AdviceReceived): "prompts",
}


class SurveyedFile(msgspec.Struct):
    """A file is surveyed. `used` says for what and when an event last named it; `by` are the
    sessions that do, `pinned` one of them that must be kept, and why."""

    digest: str
    size: int
    mtime_ns: int
    media: str = ""
    used: dict[Use, int] = {}
    by: list[str] = []
    pinned: str = ""

    @property
    def use(self) -> Use:
        """The one that it is counted under."""
        return next(iter(self.used), "unnamed")

    @property
    def last_ns(self) -> int:
        return max(self.used.values(), default=self.mtime_ns)


class ArtifactSurvey(msgspec.Struct, frozen=True):
    """A survey has all files by their digests, as the log of one moment names them; `until` is its
    end. `expired` are those that went, or were to go, by a rule; `strays` is what a killed process
    left half written. `needed` are sessions that something known rests on, or that run, and why."""

    files: dict[str, SurveyedFile]
    expired: frozenset[str]
    strays: tuple[Path, ...]
    until: int
    needed: dict[str, str]


def survey(directory: DataDirectory, watch: InspectionWatch = unwatched) -> ArtifactSurvey:
    """Only reads, beside a writer too."""
    files, strays = _on_disk(directory)
    with SqliteReader(directory.log) as reader, reader.snapshot():
        until = reader.last_seq()
        pinned = dict.fromkeys(running(reader), "it runs")
        flows = known_workflows(reader)
        for flow, taught_by in flows:
            for session in filter(None, (taught_by, flow.session)):
                pinned.setdefault(session, _of_version(flow))
        last_named: dict[str, int] = {}
        for envelope in _naming(reader, watch):
            _take(files, envelope, pinned, last_named)
        expired = frozenset(_expired(reader, last_named))
    for flow, _ in flows:
        for artifact in artifacts_in(WorkflowLearned(flow)):
            if artifact.sha256 in files:
                files[artifact.sha256].pinned = _of_version(flow)
    _take_from_prompts(files, directory, watch)
    return ArtifactSurvey(files, expired, strays, until, pinned)


def known_workflows(reader: SqliteReader) -> list[tuple[Workflow, str]]:
    """Every version that is known, and who taught it: folded here, with nothing written."""
    fold = WorkflowsTable()
    with closing(sqlite3.connect(":memory:")) as db:
        db.execute(f"CREATE TABLE workflows ({fold.tables['workflows']})")
        for envelope in reader.read(kinds=[kind(event) for event in fold.folds]):
            try:
                fold.apply(Entry(db, envelope, SessionSteps()))
            except sqlite3.IntegrityError:
                continue  # one that does not fold is parked elsewhere too
        rows = db.execute("SELECT workflow, session FROM workflows").fetchall()
    return [(msgspec.json.decode(body, type=Workflow), session) for body, session in rows]


def expired_digests(reader: SqliteReader) -> dict[str, tuple[str, int]]:
    """Every digest that was said to expire: by which rule, and when."""
    found: dict[str, tuple[str, int]] = {}
    for envelope in reader.read(kinds=[kind(ArtifactsExpired)]):
        if isinstance(event := envelope.event, ArtifactsExpired):
            found |= dict.fromkeys(event.digests, (event.rule, envelope.at_ns))
    return found


def where_is(artifact: Artifact, story: Story, directory: DataDirectory) -> str:
    """Its path, or that it has expired since. A log from elsewhere may name what is no artifact."""
    if not NAME.fullmatch(artifact.sha256):
        return "nowhere: what the log names is no artifact"
    place = directory.artifacts.path(artifact)
    if artifact.sha256 in story.expired and not place.exists():
        return f"expired ({artifact.sha256[:12]}, {artifact.size} bytes)"
    return str(place)


# -- how -------------------------------------------------------------------------------------------


def _on_disk(directory: DataDirectory) -> tuple[dict[str, SurveyedFile], tuple[Path, ...]]:
    """Files by the digests that they are named by, and what has another name."""
    files: dict[str, SurveyedFile] = {}
    strays: list[Path] = []
    for place in sorted(directory.artifacts.root.glob("*/*")):
        digest = place.parent.name + place.name
        try:
            found = place.stat()
        except OSError:  # gone meanwhile
            continue
        if NAME.fullmatch(digest) and stat.S_ISREG(found.st_mode):
            files[digest] = SurveyedFile(digest, found.st_size, found.st_mtime_ns)
        elif place.name.startswith(".") and place.is_file():
            strays.append(place)
    return files, tuple(strays)


def _of_version(flow: Workflow) -> str:
    return f"workflow {flow.name} version {flow.version}"


def running(reader: SqliteReader) -> list[str]:
    """Sessions that have no end yet."""
    kinds = "SELECT session FROM events WHERE kind = ?"
    both = f"{kinds} EXCEPT {kinds}"
    return [name for (name,) in reader.query(both, kind(SessionStarted), kind(SessionEnded))]


def _naming(reader: SqliteReader, watch: InspectionWatch) -> Iterator[Envelope]:
    """The events with an artifact in them. SQLite passes over the others: most of a log is pages
    without a picture, and decoding them would take longer than all the rest. By position, not by
    kind: whoever names one tomorrow is found too."""
    after, last = 0, reader.last_seq()
    sql = (
        "SELECT * FROM events WHERE seq > ? AND instr(payload, CAST('sha256' AS BLOB)) "
        f"ORDER BY seq LIMIT {PAGE}"
    )
    while page := reader.query(sql, after):
        watch("looking who names them", after, last)
        for row in page:
            yield schema.to_envelope(row)
        after = page[-1][0]


def _take(
    files: dict[str, SurveyedFile],
    envelope: Envelope,
    pinned: Mapping[str, str],
    last_named: dict[str, int],
) -> None:
    for artifact in artifacts_in(envelope.event):
        last_named[artifact.sha256] = envelope.seq
        kept = files.get(artifact.sha256)
        if kept is None:
            continue
        use = USES.get(kind(envelope.event))
        use = use or ("screenshots" if artifact.media.startswith("image/") else "downloads")
        kept.media = artifact.media
        kept.used[use] = max(kept.used.get(use, 0), envelope.at_ns)
        if envelope.session not in kept.by:
            kept.by.append(envelope.session)
        kept.pinned = kept.pinned or pinned.get(envelope.session, "")


def _expired(reader: SqliteReader, last_named: Mapping[str, int]) -> Iterator[str]:
    """Those that nothing names behind what was looked at when they were to go."""
    for envelope in reader.read(kinds=[kind(ArtifactsExpired)]):
        if isinstance(event := envelope.event, ArtifactsExpired):
            for digest in event.digests:
                if last_named.get(digest, 0) <= event.until:
                    yield digest


def _take_from_prompts(
    files: dict[str, SurveyedFile], directory: DataDirectory, watch: InspectionWatch
) -> None:
    """A picture that a model was shown is named by the prompt that it was in, and by no event."""
    prompts = [each for each in files.values() if "prompts" in each.used]
    for prompt in watched(watch, "reading prompts", prompts):
        try:
            body = directory.artifacts.path(Artifact(prompt.digest, 0)).read_bytes()
        except OSError:
            continue
        for found in DIGEST.findall(body):
            kept = files.get(found.decode("ascii"))
            if kept is None or kept.digest == prompt.digest:
                continue
            kept.media = kept.media or "image/png"
            kept.used["prompts"] = max(kept.used.get("prompts", 0), prompt.used["prompts"])
            kept.by += [session for session in prompt.by if session not in kept.by]
            kept.pinned = kept.pinned or prompt.pinned
