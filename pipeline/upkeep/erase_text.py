"""Erasing by text removes what holds a given text, wherever it is: one person's content, by their
name.

Every session that holds it goes whole: its pictures show what no search can read, and what was
derived from the text stands beside it. Of a process only the payloads that hold it go; what it says
of itself stays. The text is in no event: what is written is what went and why (decision 007), and
nothing by which the text could be guessed.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from rutter.actors.world.secrets.redacted_artifacts import parts_of
from rutter.actors.world.secrets.redaction import SHORTEST, Secrets
from rutter.events import sqlite_schema as schema
from rutter.events.artifacts import artifacts_in
from rutter.events.chain import is_gone
from rutter.events.envelope import kind
from rutter.events.errors import BadInput, LogCorrupt
from rutter.events.page import Artifact
from rutter.events.predictor import SessionForgotten, WorkflowLearned
from rutter.events.runtime import (
    ArtifactsExpired,
    LogSealed,
    PayloadErased,
    ProcessStarted,
    ProcessStopped,
)
from rutter.events.sqlite_reader import SqliteReader
from rutter.events.triggers import HookSet, ScheduleSet
from rutter.events.vocabulary import AnyEvent
from rutter.pipeline.app import close_interrupted_sessions
from rutter.pipeline.config.data_directory import DataDirectory
from rutter.pipeline.upkeep.artifact_survey import running, survey
from rutter.pipeline.upkeep.erase import carry_out, finish_erasing
from rutter.pipeline.upkeep.inspection import InspectionWatch, unwatched, watched, watched_rows

# What a process says of itself, and nobody's name is in it.
ITSELF = (ProcessStarted, ProcessStopped, LogSealed, ArtifactsExpired)
OWN = frozenset(kind(event) for event in ITSELF)
# What is said once more without its reason before it goes: what it did must still be done.
SAID_AGAIN = sorted((kind(PayloadErased), kind(SessionForgotten)))
AGAIN = "its reason was erased"
# What is no longer known or run without them.
TAKEN_ALONG = frozenset((kind(WorkflowLearned), kind(ScheduleSet), kind(HookSet)))


class SessionWithText(msgspec.Struct):
    """A session holds the text: in how many of its events, and which artifacts of it do. All
    `events` of it go; of a process only those of `at`. What it `takes` along are the workflows,
    schedules and hooks that were said in what goes."""

    session: str
    events: int = 0
    holding: int = 0
    artifacts: int = 0
    at: list[int] = []
    process: bool = False
    takes: list[str] = []


class TextFound(msgspec.Struct, frozen=True):
    """The text was found here. `unnamed` are artifacts that nothing names; `elsewhere` files of the
    directory that are not ours to change."""

    sessions: tuple[SessionWithText, ...]
    payloads: int
    unnamed: tuple[str, ...]
    elsewhere: tuple[str, ...]

    @property
    def anything(self) -> bool:
        return bool(self.sessions or self.unnamed)


class ErasedText(msgspec.Struct, frozen=True):
    """The text went, or would; this of it is still somewhere, and why."""

    dry_run: bool
    sessions: tuple[SessionWithText, ...]
    payloads: int
    artifacts: int
    takes: tuple[str, ...]
    elsewhere: tuple[str, ...]


class Needle:
    """A needle finds a text in any case, with other blanks, coded for an address, for HTML or JSON,
    in base64, or cut off at the end of a longer one."""

    def __init__(self, text: str) -> None:
        core = " ".join(text.split())
        if len(core) < SHORTEST:
            raise BadInput(
                f"{SHORTEST - 1} letters are in every other word",
                "give a longer text, a whole name",
            )
        cases = {core, core.lower(), core.upper(), core.title(), core.casefold()}
        self._texts = Secrets((str(at), each) for at, each in enumerate(sorted(cases)))

    def is_in(self, text: str) -> bool:
        coded = text.encode("utf-8", "replace")
        return self._texts.may_hold(coded) and self._texts.clean(text) != text

    def in_payload(self, payload: bytes) -> bool:
        """Text by text: one that a page cut off is found by its end."""
        if not self._texts.may_hold(payload):
            return False
        try:
            return any(map(self.is_in, _texts_of(msgspec.msgpack.decode(payload))))
        except msgspec.DecodeError:  # damaged, and still to be searched
            return self.in_body(payload)

    def in_body(self, body: bytes) -> bool:
        """A file as bytes, as text of two kinds, and what is packed in it."""
        for part in parts_of(body):
            if self._texts.may_hold(part) and self.is_in(part.decode("utf-8", "replace")):
                return True
            if b"\0" in part and any(
                self.is_in(part.decode(coding, "replace")) for coding in ("utf-16-le", "utf-16-be")
            ):
                return True
        return False


def find(directory: DataDirectory, text: str, watch: InspectionWatch = unwatched) -> TextFound:
    """Where it is. Only reads, beside a running process too."""
    needle = Needle(text)
    bodies = set(_bodies(directory, needle, watch))
    held: dict[str, SessionWithText] = {}
    named: set[str] = set()
    with SqliteReader(directory.log) as reader, reader.snapshot():
        counts = dict(reader.query("SELECT session, count(*) FROM events GROUP BY session"))
        for row in watched_rows(reader, watch, "looking for it in the log"):
            if row[6] in OWN or is_gone(row[7]):
                continue
            artifacts = {each.sha256 for each in _artifacts(row)} & bodies
            named |= artifacts
            if artifacts or needle.in_payload(row[7]):
                _note(held, row, counts[row[1]], len(artifacts))
        payloads = sum(_going(reader, each) for each in held.values())
    unnamed = tuple(sorted(bodies - named))
    return TextFound(tuple(held.values()), payloads, unnamed, tuple(_elsewhere(directory, needle)))


async def erase_text(
    directory: DataDirectory, text: str, why: str, watch: InspectionWatch = unwatched
) -> ErasedText:
    """Erases all that holds it. The caller holds the lock. Told apart from a kill in the middle by
    the mark of `rutter.pipeline.upkeep.erase`; what was not intended by then is found by the next
    one."""
    if Needle(text).is_in(why):
        raise BadInput("the reason is kept in the log, and holds the text", "give another --why")
    finish_erasing(directory, watch)
    await _close_what_is_open(directory)
    found = find(directory, text, watch)
    if not found.anything:
        raise BadInput(
            "nothing in the log or its artifacts holds that text",
            "pictures are not read: erase the session that shows it, see: rutter sessions",
        )
    gone = 0
    if found.sessions:
        gone = await carry_out(directory, list(_intents(directory, found, why)), watch)
    for digest in found.unnamed:
        directory.artifacts.path(Artifact(digest, 0)).unlink(missing_ok=True)
    return told(found, gone + len(found.unnamed), left=_elsewhere(directory, Needle(text)))


def told(
    found: TextFound, artifacts: int, *, left: Iterable[str] | None = None, dry_run: bool = False
) -> ErasedText:
    takes = dict.fromkeys(name for each in found.sessions for name in each.takes)
    return ErasedText(
        dry_run,
        found.sessions,
        found.payloads,
        artifacts,
        tuple(takes),
        tuple(found.elsewhere if left is None else left),
    )


# -- where it is -----------------------------------------------------------------------------------


def _bodies(directory: DataDirectory, needle: Needle, watch: InspectionWatch) -> Iterator[str]:
    """The artifacts that hold it."""
    files = survey(directory).files
    for digest in watched(watch, "looking for it in artifacts", files):
        try:
            body = directory.artifacts.path(Artifact(digest, 0)).read_bytes()
        except OSError:
            continue
        if needle.in_body(body):
            yield digest


def _note(held: dict[str, SessionWithText], row: schema.Row, events: int, artifacts: int) -> None:
    session, process = row[1], row[1].startswith("process-")
    each = held.setdefault(session, SessionWithText(session, events, process=process))
    each.holding += 1
    each.artifacts += artifacts
    each.at.append(row[2])


def _going(reader: SqliteReader, held: SessionWithText) -> int:
    """How many payloads go because of it, and what is no longer known or run without them."""
    going = [
        row
        for row in reader.rows(session=held.session)
        if not is_gone(row[7]) and (row[2] in held.at or not held.process)
    ]
    for row in going:
        if row[6] in TAKEN_ALONG:
            match schema.to_envelope(row).event:
                case WorkflowLearned(workflow=flow):
                    held.takes.append(f"workflow {flow.name} version {flow.version}")
                case ScheduleSet(name=name):
                    held.takes.append(f"schedule {name}")
                case HookSet(name=name):
                    held.takes.append(f"hook {name}")
                case _:
                    pass
    return len(going)


def _artifacts(row: schema.Row) -> list[Artifact]:
    if b"sha256" not in row[7]:
        return []
    try:
        return artifacts_in(schema.to_envelope(row).event)
    except LogCorrupt:  # of a type that is not known: its bytes are looked at all the same
        return []


def _texts_of(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, bytes):
        yield value.decode("utf-8", "replace")
    elif isinstance(value, dict):
        for name, each in value.items():
            yield from _texts_of(name)
            yield from _texts_of(each)
    elif isinstance(value, list):
        for each in value:
            yield from _texts_of(each)


def _elsewhere(directory: DataDirectory, needle: Needle) -> Iterator[str]:
    """Files of the directory that hold it and are a person's own to change."""
    ours = {*schema.files_of(directory.log), *schema.files_of(directory.projections)}
    for path in sorted(directory.root.rglob("*")):
        known = path in ours or directory.artifacts.root in path.parents
        if not known and path.is_file() and not path.is_symlink() and _holds(path, needle):
            yield str(path)


def _holds(path: Path, needle: Needle) -> bool:
    try:
        return needle.in_body(path.read_bytes())
    except OSError:
        return False


# -- what goes -------------------------------------------------------------------------------------


async def _close_what_is_open(directory: DataDirectory) -> None:
    """A session that a dead process left open is closed first, as any start would do."""
    with SqliteReader(directory.log) as reader:
        is_open = running(reader)
    if is_open:
        await close_interrupted_sessions(directory)


def _intents(directory: DataDirectory, found: TextFound, why: str) -> Iterator[AnyEvent]:
    """What is said, in this order: first again what must still hold, then what goes."""
    with SqliteReader(directory.log) as reader:
        processes = [each for each in found.sessions if each.process]
        for held in processes:
            for row in reader.rows(session=held.session, kinds=SAID_AGAIN):
                event = schema.to_envelope(row).event
                if row[2] in held.at and isinstance(event, PayloadErased | SessionForgotten):
                    yield msgspec.structs.replace(event, why=AGAIN)
    for held in found.sessions:
        if held.process:
            yield from (PayloadErased(held.session, n, why) for n in held.at)
        else:
            yield PayloadErased(held.session, 1, why, held.events)
