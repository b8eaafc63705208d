"""Integrity checks that a log is what was written: from its stored rows alone, link by link.

Every session's chain is followed over the stored bytes, whatever they decode to. Counting has no
gaps, nothing stands behind a session's end, each sealed head is there and is what was sealed, and
a payload that is gone was erased on the record. What is wrong is named by its place; the check then
goes on from what is stored, so that one damaged event is one fault.

What this cannot see: a tail cut off behind the last seal looks like a crash. The position of the
projections (`rutter.pipeline.upkeep.inspection`) and the heads in a backup or export tell that.
"""

from collections.abc import Iterable
from typing import Literal

import msgspec

from rutter.events.artifacts import artifacts_in
from rutter.events.chain import GENESIS, link
from rutter.events.codec import decode
from rutter.events.envelope import kind
from rutter.events.errors import LogCorrupt
from rutter.events.page import Artifact
from rutter.events.runtime import (
    ArtifactsExpired,
    ChainHead,
    LogSealed,
    PayloadErased,
    PayloadGone,
    ProcessStarted,
    ProcessStopped,
    SessionEnded,
    SessionInterrupted,
)
from rutter.events.sqlite_schema import Row
from rutter.events.upcast import current_tag
from rutter.events.vocabulary import AnyEvent

HASH = 32
MOST_FAULTS = 1_000  # a log that is nothing but damage need not fill the memory with it
TYPES = (int, str, int, int, str, int, str, bytes, bytes)
COLUMNS = ("seq", "session", "n", "at_ns", "actor", "cause", "kind", "payload", "hash")
ENDED, STOPPED = kind(SessionEnded), kind(ProcessStopped)
# A new process begins with one of these, and its clock may be behind that of the one before.
BEGINNINGS = frozenset({kind(ProcessStarted), kind(SessionInterrupted), ENDED})

Kind = Literal[
    "malformed",  # a row that is not one
    "missing",  # an event, the end of a session, a whole session
    "order",  # an event at another place than its own
    "changed",  # not what was hashed
    "after_end",
    "seal",  # what was sealed is not what is there
    "unsealed",  # a process stopped and its last seal is not there
    "unreadable",  # as it was written, but of a type or shape this program does not know
    "erased",  # gone with no word about it, or not gone after it
    "artifact",
    "projections",
    "file",
]


class LogFault(msgspec.Struct, frozen=True):
    """A fault says what is wrong, and where: position in the log, session, event of the session."""

    kind: Kind
    what: str
    seq: int = 0
    session: str = ""
    n: int = 0


class LogFindings(msgspec.Struct, frozen=True):
    events: int
    sessions: int
    seals: int
    unsealed: int
    erased: int
    artifacts: int
    faults: tuple[LogFault, ...]
    more_faults: int = 0
    expired: int = 0

    @property
    def ok(self) -> bool:
        return not self.faults


class NamedArtifact(msgspec.Struct, frozen=True):
    """A named artifact knows the first event that names it."""

    artifact: Artifact
    seq: int
    session: str
    n: int


class _SessionChain(msgspec.Struct):
    """The chain of one session grows event by event."""

    n: int = 0
    seq: int = 0
    kind: str = ""
    stored: bytes = GENESIS  # what its last row has as hash; empty when that cannot be told
    derived: bytes = GENESIS  # what that row should have
    ended: bool = False
    sealed: int = 0
    missing: list[tuple[int, int, int, int]] = []  # from n, to n, between these positions
    gone: dict[int, int] = {}  # the position of each event whose payload is gone
    unrecorded: set[int] = set()  # those of them that nobody said would go
    first: int = 1  # the event that `hashes` begins with
    hashes: bytearray = msgspec.field(default_factory=bytearray)

    def remember(self, n: int, digest: bytes) -> None:
        """Hashes since the last seal, so that the next one can be held against them."""
        if n != self.first + len(self.hashes) // HASH:
            self.first = n
            self.hashes.clear()
        self.hashes += digest

    def hash_at(self, n: int) -> bytes | None:
        if n < self.first:
            return None
        place = (n - self.first) * HASH
        return bytes(self.hashes[place : place + HASH]) or None

    def seal(self, n: int) -> None:
        """Heads before this one are not asked for any more."""
        self.sealed = max(self.sealed, n)
        if n >= self.first:
            del self.hashes[: (n - self.first) * HASH]
            self.first = n


def check(rows: Iterable[Row]) -> LogFindings:
    """All that is wrong with these rows, given in the order of their positions."""
    inspector = LogInspector()
    for row in rows:
        inspector.take(row)
    return inspector.findings()


class LogInspector:
    """The inspector takes a log row by row; it knows its heads and the artifacts it names."""

    def __init__(self) -> None:
        self.named: dict[str, NamedArtifact] = {}
        self.expired: set[str] = set()  # of those, the ones that went by a rule
        self._last_named: dict[str, int] = {}
        self._chains: dict[str, _SessionChain] = {}
        self._faults: list[LogFault] = []
        self._more_faults = 0
        self._faulty: set[tuple[str, int]] = set()
        self._gaps: list[tuple[int, int]] = []  # first position and how many, not yet explained
        self.last_seq = self._last_ns = self._sealed_at = 0
        self._events = self._seals = 0

    def take(self, row: Row) -> None:
        self._events += 1
        self._count(row[0])
        if tuple(map(type, row)) != TYPES:
            self._malformed(row)
            return
        chain = self._chains.setdefault(row[1], _SessionChain())
        if chain.ended:
            self._fault("after_end", f"{row[6]} stands behind the end of its session", row)
        if self._follows(chain, row):
            self._in_time(row)
            self._read(chain, row)
        chain.ended = chain.ended or row[6] == ENDED

    def heads(self) -> tuple[ChainHead, ...]:
        """Where each session's chain ends, by name."""
        return tuple(
            ChainHead(session, chain.n, chain.stored)
            for session, chain in sorted(self._chains.items())
        )

    def findings(self) -> LogFindings:
        """What was found, in log order. Call it once, when all rows are in."""
        for session, chain in self._chains.items():
            self._close(session, chain)
        for first, count in self._gaps:
            what = "no event is" if count == 1 else f"no events are ({count} of them)"
            self._put(LogFault("missing", f"{what} at this position", first))
        return LogFindings(
            self._events,
            sum(chain.seq > 0 for chain in self._chains.values()),
            self._seals,
            self.last_seq - self._sealed_at,
            sum(len(chain.gone) for chain in self._chains.values()),
            len(self.named),
            tuple(sorted(self._faults, key=lambda fault: (fault.seq, fault.n))),
            self._more_faults,
            len(self.expired & self.named.keys()),
        )

    # -- one row -------------------------------------------------------------------------------

    def _count(self, seq: int) -> None:
        if seq > self.last_seq + 1:
            self._gaps.append((self.last_seq + 1, seq - self.last_seq - 1))
        self.last_seq = seq

    def _malformed(self, row: Row) -> None:
        """A column of another type. If it can be told whose row it is, the session goes on."""
        column = next(c for c, v, t in zip(COLUMNS, row, TYPES, strict=True) if type(v) is not t)
        self._fault("malformed", f"its {column} is not what that column holds", row)
        chain = self._chains.get(row[1])
        if chain is not None and row[2] == chain.n + 1:
            chain.n, chain.seq = row[2], row[0]
            chain.stored = chain.derived = row[8] if column != "hash" else b""

    def _follows(self, chain: _SessionChain, row: Row) -> bool:
        """Whether it is the next of its session and its hash follows from what it holds."""
        due, n = chain.n + 1, row[2]
        derived = row[8]
        if n != due and self._link(chain.stored, (*row[:2], due, *row[3:])) == row[8]:
            self._fault("changed", f"it was written as event {due}", row)
            n = due
        elif n < due:
            self._out_of_order(chain, row)
            return False
        elif n > due:  # it follows from what is not there: nothing to hold it against
            chain.missing.append((due, n - 1, chain.seq, row[0]))
        elif chain.stored:
            derived = self._link(chain.stored, row)
            # When the hash before it is what was changed, this row still follows from the true one.
            if derived != row[8] and row[8] != self._link(chain.derived, row):
                self._fault("changed", "it is not what was written: its hash does not follow", row)
        chain.n, chain.seq, chain.kind = n, row[0], row[6]
        chain.stored, chain.derived = row[8], derived
        chain.remember(n, row[8])
        return (row[1], row[2]) not in self._faulty

    def _out_of_order(self, chain: _SessionChain, row: Row) -> None:
        n = row[2]
        for place, (first, last, after, before) in enumerate(chain.missing):
            if first <= n <= last:
                parts = [(first, n - 1, after, before), (n + 1, last, after, before)]
                chain.missing[place : place + 1] = [part for part in parts if part[0] <= part[1]]
                break
        self._fault("order", f"it stands behind event {chain.n} of its session", row)

    def _in_time(self, row: Row) -> None:
        """One writer, one clock: within a process no event is older than the one before it."""
        if row[3] < self._last_ns and row[6] not in BEGINNINGS:
            self._fault("order", "it is older than the event at the position before it", row)
        self._last_ns = row[3]

    @staticmethod
    def _link(previous: bytes, row: Row) -> bytes:
        _, session, n, at_ns, actor, cause, kind_, payload, _ = row
        try:
            return link(
                previous,
                session=session,
                n=n,
                at_ns=at_ns,
                actor=actor,
                cause=cause,
                kind=kind_,
                payload=payload,
            )
        except (UnicodeEncodeError, OverflowError):  # text or a number that was never written
            return b""

    # -- what it says --------------------------------------------------------------------------

    def _read(self, chain: _SessionChain, row: Row) -> None:
        try:
            event = decode(row[7])
        except LogCorrupt as error:
            self._fault("unreadable", error.what, row)
            return
        was = event.was if isinstance(event, PayloadGone) else kind(event)
        if was not in (row[6], current_tag(row[6])):
            self._fault("changed", f"stored as {row[6]}, but it is {was}", row)
        self._hear(chain, row, event)

    def _hear(self, chain: _SessionChain, row: Row, event: AnyEvent) -> None:
        match event:
            case PayloadGone():
                chain.gone[row[2]] = row[0]
                chain.unrecorded.add(row[2])
            case PayloadErased():
                self._erased(row, event)
            case LogSealed():
                self._seals += 1
                self._sealed_at = row[0]
                for head in event.heads:
                    self._sealed(row, head)
            case ArtifactsExpired(digests=digests, until=until):
                self.expired |= {each for each in digests if self._last_named.get(each, 0) <= until}
            case _:
                for artifact in artifacts_in(event):
                    named = NamedArtifact(artifact, row[0], row[1], row[2])
                    self.named.setdefault(artifact.sha256, named)
                    self._last_named[artifact.sha256] = row[0]
                    self.expired.discard(artifact.sha256)

    def _sealed(self, row: Row, head: ChainHead) -> None:
        chain = self._chains.setdefault(head.session, _SessionChain())
        if chain.n < head.n:
            self._lost_tail(row, chain, head)
        elif (head.session, head.n) not in self._faulty and chain.hash_at(head.n) not in (
            None,
            head.hash,
        ):
            what = f"it is not what was sealed at position {row[0]}: the session was rewritten"
            self._put(LogFault("seal", what, chain.seq, head.session, head.n))
        chain.seal(head.n)

    def _lost_tail(self, row: Row, chain: _SessionChain, head: ChainHead) -> None:
        """A seal knows of more than is there."""
        count = head.n - chain.n
        seq = self._explain_gaps(count, chain.seq, row[0])
        if chain.n == 0:
            what = f"the whole session is missing: {count} events were sealed at position {row[0]}"
        else:
            what = f"the end of the session is missing: {_events(chain.n + 1, head.n)}"
        self._put(LogFault("missing", what, seq or row[0], head.session, chain.n + 1))
        # From here on the session counts as told: what follows is held against the sealed head.
        chain.n, chain.stored, chain.derived = head.n, head.hash, head.hash
        chain.remember(head.n, head.hash)

    def _erased(self, row: Row, event: PayloadErased) -> None:
        chain = self._chains.get(event.session)
        if chain is None or not 1 <= event.n <= event.to <= chain.n:
            self._fault("erased", f"it names events that {event.session} does not have", row)
            return
        for n in range(event.n, event.to + 1):
            if n not in chain.gone:
                what = "it was to be erased by what is said here, and is still there"
                self._put(LogFault("erased", what, row[0], event.session, n))
                break
        chain.unrecorded -= set(range(event.n, event.to + 1))

    # -- the end -------------------------------------------------------------------------------

    def _close(self, session: str, chain: _SessionChain) -> None:
        for first, last, after, before in chain.missing:
            seq = self._explain_gaps(last - first + 1, after, before) or before
            what = "it is missing" if first == last else f"{_events(first, last)} are missing"
            self._put(LogFault("missing", what, seq, session, first))
        for n in sorted(chain.unrecorded):
            what = "its payload is gone, and no PayloadErased says so"
            self._put(LogFault("erased", what, chain.gone[n], session, n))
        if chain.kind == STOPPED and chain.sealed < chain.n:
            # Between the two a process can die; the next one then seals what it left.
            what = "the process stopped, but the seal that it writes last is missing or was cut off"
            self._put(LogFault("unsealed", what, chain.seq, session, chain.n + 1))

    def _explain_gaps(self, count: int, after: int, before: int) -> int:
        """The positions that so many missing events had, when just so many are not there."""
        inside = [gap for gap in self._gaps if after < gap[0] < before]
        if not inside or sum(size for _, size in inside) != count:
            return 0
        self._gaps = [gap for gap in self._gaps if gap not in inside]
        return inside[0][0]

    def _fault(self, kind_: Kind, what: str, row: Row) -> None:
        _, session, n = row[:3]
        known = isinstance(session, str) and isinstance(n, int)
        if known:
            self._faulty.add((session, n))
        self._put(LogFault(kind_, what, row[0], session if known else "", n if known else 0))

    def _put(self, fault: LogFault) -> None:
        if len(self._faults) < MOST_FAULTS:
            self._faults.append(fault)
        else:
            self._more_faults += 1


def _events(first: int, last: int) -> str:
    return f"event {first}" if first == last else f"events {first} to {last}"
