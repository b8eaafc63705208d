"""The fold turns the log into finished spans, session by session.

Every span is made once, by one event: folding a log again from any point before it makes the same
span at the same place. That is what lets an exporter keep nothing but a position.
"""

from collections.abc import Iterable, Iterator

from rutter.events.envelope import Envelope
from rutter.events.runtime import SessionStarted
from rutter.replay.traces.session_spans import SessionSpans
from rutter.replay.traces.span import Span


class SpanFold:
    """The fold takes events in the log's order; sessions that run side by side do not meet."""

    def __init__(self) -> None:
        self._open: dict[str, SessionSpans] = {}

    def take(self, envelope: Envelope) -> list[Span]:
        """The spans that this event finished, children before their parents."""
        session = self._open.get(envelope.session)
        if session is not None:
            finished = session.take(envelope)
            if session.ended:
                del self._open[envelope.session]
            return finished
        if isinstance(envelope.event, SessionStarted):
            self._open[envelope.session] = SessionSpans(envelope, envelope.event)
        return []  # else of a process, or of a session that began before this fold did

    def open_since(self) -> int | None:
        """Where the oldest session that has not ended begins: a later fold must start there."""
        return next((session.seq for session in self._open.values()), None)

    def unfinished(self) -> tuple[str, ...]:
        """The sessions whose run is not over: their spans are not all there yet."""
        return tuple(self._open)


def spans_of(events: Iterable[Envelope]) -> Iterator[Span]:
    """Every finished span of these events."""
    fold = SpanFold()
    for envelope in events:
        yield from fold.take(envelope)
