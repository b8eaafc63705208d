"""Disk use says what a data directory holds and takes: by kind, by session, by age, and what could
go."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import msgspec

from rutter.events import sqlite_schema as schema
from rutter.events.envelope import kind
from rutter.events.runtime import PayloadErased
from rutter.events.sqlite_reader import SqliteReader
from rutter.pipeline.config.data_directory import DataDirectory
from rutter.pipeline.upkeep.artifact_survey import ArtifactSurvey, survey
from rutter.pipeline.upkeep.expiry import DAY_NS, ExpiryRules, plan
from rutter.pipeline.upkeep.inspection import InspectionWatch, unwatched

# How old, in days: up to each of these, and what is older than all.
AGES = (("today", 1), ("this week", 7), ("this month", 30), ("this year", 365))
OLDER = "older"
LARGEST = 10  # sessions that are listed


class KindUse(msgspec.Struct, frozen=True):
    kind: str
    events: int
    bytes: int


class PartUse(msgspec.Struct, frozen=True):
    """A part of the directory takes so many bytes, in so many files."""

    what: str
    bytes: int
    files: int
    about: str = ""


class SessionUse(msgspec.Struct, frozen=True):
    """A session has payloads, and the artifacts that it was the first to name."""

    session: str
    bytes: int
    events: int
    artifacts: int
    last_ns: int


class AgeUse(msgspec.Struct, frozen=True):
    """Payloads and artifacts are so old."""

    age: str
    bytes: int
    events: int
    artifacts: int


class Freeable(msgspec.Struct, frozen=True):
    """A command (without `rutter`) could free this."""

    what: str
    bytes: int
    command: str


class DiskUse(msgspec.Struct, frozen=True):
    """Files take this much; `kinds`, `by_session` and `by_age` are of payloads and artifacts,
    biggest or youngest first. `expired` went by a rule."""

    events: int
    sessions: int
    erased: int
    first_ns: int
    last_ns: int
    log_bytes: int
    artifacts: int
    artifact_bytes: int
    projection_bytes: int
    kinds: tuple[KindUse, ...]
    expired: int = 0
    parts: tuple[PartUse, ...] = ()
    by_session: tuple[SessionUse, ...] = ()
    by_age: tuple[AgeUse, ...] = ()
    freeable: tuple[Freeable, ...] = ()


def measure(
    directory: DataDirectory,
    rules: ExpiryRules | None = None,
    now_ns: int = 0,
    watch: InspectionWatch = unwatched,
) -> DiskUse:
    """Counts and sizes. Only reads, and of payloads only those that name an artifact or say what
    was erased. Ages are of `now_ns`."""
    with SqliteReader(directory.log) as reader, reader.snapshot():
        ((events, sessions, first_ns, last_ns),) = reader.query(
            "SELECT count(*), count(DISTINCT session), min(at_ns), max(at_ns) FROM events"
        )
        kinds = reader.query(
            "SELECT kind, count(*), sum(length(payload)) FROM events GROUP BY kind ORDER BY 3 DESC"
        )
        by_session = reader.query(
            "SELECT session, sum(length(payload)), count(*), max(at_ns) FROM events "
            "GROUP BY session"
        )
        erased = _erased(reader)
    found = survey(directory, watch)
    now_ns = now_ns or last_ns or 0
    files = found.files.values()
    largest = _by_session(by_session, found)
    return DiskUse(
        events,
        sessions,
        erased,
        first_ns or 0,
        last_ns or 0,
        _bytes(directory.log),
        len(files),
        sum(each.size for each in files),
        _bytes(directory.projections),
        tuple(KindUse(*row) for row in kinds),
        len(found.expired - found.files.keys()),
        tuple(_parts(directory, found)),
        largest,
        _by_age(by_session, found, now_ns),
        tuple(_freeable(found, largest, rules or ExpiryRules(), now_ns)),
    )


def _erased(reader: SqliteReader) -> int:
    """How many payloads were said to go; one of them may have been said twice."""
    erased: set[tuple[str, int]] = set()
    for envelope in reader.read(kinds=[kind(PayloadErased)]):
        if isinstance(event := envelope.event, PayloadErased):
            erased |= {(event.session, n) for n in range(event.n, event.to + 1)}
    return len(erased)


def _parts(directory: DataDirectory, found: ArtifactSurvey) -> list[PartUse]:
    """Every file of the directory is in one of them."""
    about = {
        "log": "kept for ever",
        "tables": "projections: folded from the log, can be rebuilt",
        "traces": "how far traces were sent",
        "screenshots": "artifacts: pictures of pages",
        "downloads": "artifacts: files that pages sent",
        "prompts": "artifacts: what models were asked and said",
        "unnamed": "artifacts: of nothing that the log knows",
        "logins": "kept sign-ins",
        "settings": "configuration, tokens, marks",
    }
    sizes, files = Counter[str](), Counter[str]()
    for each in found.files.values():
        sizes[each.use] += each.size
        files[each.use] += 1
    for path in directory.root.rglob("*"):
        if path.is_file() and not path.is_symlink():
            part = _part_of(path.relative_to(directory.root))
            if part:
                sizes[part] += path.stat().st_size
                files[part] += 1
    for stray in found.strays:
        sizes["unnamed"] += stray.stat().st_size if stray.exists() else 0
        files["unnamed"] += 1
    shown = [name for name in (*about, "other") if files[name]]
    return [PartUse(name, sizes[name], files[name], about.get(name, "")) for name in shown]


def _part_of(path: Path) -> str:
    """Whose file it is; nothing for an artifact, which is known by its use."""
    top = path.parts[0]
    for begins, part in (
        ("log.db", "log"),
        ("projections.db", "tables"),
        ("traces.db", "traces"),
        ("artifacts", ""),
        ("login", "logins"),
    ):
        if top.startswith(begins):
            return part
    settings = ("config.toml", "daemon.json", "writer.lock", "tidied", "erasing")
    return "settings" if top.startswith(settings) or top.endswith(".token") else "other"


def _by_session(
    rows: list[tuple[str, int, int, int]], found: ArtifactSurvey
) -> tuple[SessionUse, ...]:
    sizes, files = Counter[str](), Counter[str]()
    for each in found.files.values():
        for first in each.by[:1]:
            sizes[first] += each.size
            files[first] += 1
    uses = [
        SessionUse(session, size + sizes[session], events, files[session], last_ns)
        for session, size, events, last_ns in rows
    ]
    return tuple(sorted(uses, key=lambda use: (-use.bytes, use.session))[:LARGEST])


def _by_age(
    rows: list[tuple[str, int, int, int]], found: ArtifactSurvey, now_ns: int
) -> tuple[AgeUse, ...]:
    sizes, events, files = Counter[str](), Counter[str](), Counter[str]()
    for _, size, count, last_ns in rows:
        age = _age(last_ns, now_ns)
        sizes[age] += size
        events[age] += count
    for each in found.files.values():
        age = _age(each.last_ns, now_ns)
        sizes[age] += each.size
        files[age] += 1
    names = [name for name in (*dict(AGES), OLDER) if sizes[name]]
    return tuple(AgeUse(name, sizes[name], events[name], files[name]) for name in names)


def _age(at_ns: int, now_ns: int) -> str:
    days = (now_ns - at_ns) // DAY_NS
    return next((name for name, limit in AGES if days < limit), OLDER)


def _freeable(
    found: ArtifactSurvey, largest: tuple[SessionUse, ...], rules: ExpiryRules, now_ns: int
) -> Iterator[Freeable]:
    planned = plan(found, rules, now_ns)
    if files := planned.files:
        what = f"{len(files)} artifacts that have expired"
        yield Freeable(what, sum(each.size for each in files), "log tidy")
    # What a process says of itself stays, and with a recording its workflow would go.
    sessions = [use for use in largest if use.session not in found.needed]
    for use in [each for each in sessions if not each.session.startswith("process-")][:1]:
        command = f"log erase {use.session} --why TEXT"
        yield Freeable("all that the largest session said", use.bytes, command)


def _bytes(path: Path) -> int:
    return sum(file.stat().st_size for file in schema.files_of(path) if file.exists())
