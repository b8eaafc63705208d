"""A talk by TLS goes by unread; its records tell whether the server owes the browser an answer.

Chromium sends a request again by itself when a connection that has served before ends with no
answer on it, also one that is not to be repeated. It does not where the connection ends in a record
that cannot be right. So a server that leaves while it owes an answer is heard to break off, and its
own goodbye, which would be an end in order, is held back for as long as one may follow.
"""

from typing import NamedTuple

# More than the longest record there is: whatever was begun is completed by it, and is not right.
BROKEN = bytes((1 << 14) + 2048)
HANDSHAKE, DATA, ALERT = 22, 23, 21
HEAD = 5  # the kind, the version in two bytes, the length in two
SEALED_ALERT = 19  # TLS 1.3: two bytes, the kind, and what seals them; data is hardly ever as short
# HTTP/2 acknowledges settings by nine bytes in a record; no request of HTTP/1.1 is as short.
SHORT = 33
# The shortest head of an answer, with a few headers, is longer; of HTTP/2, a few frames that
# answer nothing are not.
ANSWER = 128


class TlsRecord(NamedTuple):
    """A record ends in what was said now; it may have begun before (`start` is negative then)."""

    kind: int
    length: int
    start: int
    end: int


class TlsRecords:
    """The records of one side are told by their heads."""

    def __init__(self) -> None:
        self._head = b""
        self._left = 0  # of the one that goes by

    def ended(self, said: bytes) -> list[TlsRecord]:
        found = []
        at = 0
        while at < len(said):
            if not self._left:
                part = said[at : at + HEAD - len(self._head)]
                self._head += part
                at += len(part)
                if len(self._head) < HEAD:
                    break
                self._left = self._length
                if self._left:
                    continue
            taken = min(self._left, len(said) - at)
            at += taken
            self._left -= taken
            if not self._left:
                found.append(TlsRecord(self._head[0], self._length, at - HEAD - self._length, at))
                self._head = b""
        return found

    @property
    def _length(self) -> int:
        return int.from_bytes(self._head[3:HEAD], "big")


class TlsTalk:
    """A talk goes on in one tunnel. What is not TLS is left as it is."""

    def __init__(self) -> None:
        self._begun = False
        self._is_tls = False
        self._of_browser = TlsRecords()
        self._of_server = TlsRecords()
        self._asked = False
        self._many_at_once = False  # HTTP/2: what is said may answer something else
        self._answered = 0  # bytes, since the browser spoke last

    @property
    def owed(self) -> bool:
        """Whether a request may be without its answer."""
        return self._asked and (self._many_at_once or self._answered < ANSWER)

    @property
    def kept(self) -> bool:
        """Whether it has served, as far as can be told, and waits for the next request."""
        return self.answers_in_turn and self._answered >= ANSWER

    @property
    def answers_in_turn(self) -> bool:
        return self._asked and not self._many_at_once

    def browser_says(self, said: bytes) -> None:
        if not self._begun:
            self._begun = True
            self._is_tls = said[0] == HANDSHAKE
        if self._is_tls:
            self._answered = 0
            sizes = [each.length for each in self._of_browser.ended(said) if each.kind == DATA]
            self._asked = self._asked or bool(sizes)
            self._many_at_once = self._many_at_once or any(size <= SHORT for size in sizes)

    def server_says(self, said: bytes) -> tuple[bytes, bytes]:
        """What goes on at once, and what may be a goodbye."""
        if not self._is_tls:
            return said, b""
        ended = self._of_server.ended(said)
        self._answered += len(said)
        last = ended[-1] if ended else None
        if last is None or last.end < len(said) or not _says_goodbye(last):
            return said, b""
        start = max(0, last.start)
        self._answered -= len(said) - start
        return (said[:start], said[start:]) if self.owed else (said, b"")


def _says_goodbye(record: TlsRecord) -> bool:
    return record.kind == ALERT or (record.kind == DATA and record.length == SEALED_ALERT)
