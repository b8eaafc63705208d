"""A session is told event by event, and its spans are looked at as people look at a trace."""

from collections.abc import Iterable

from rutter.events.envelope import Actor, Envelope
from rutter.events.vocabulary import AnyEvent
from rutter.replay.traces import Span, spans_of

BEGIN_NS = 1_700_000_000_000_000_000
MS = 1_000_000


class Trail:
    """A trail numbers what it is told. By default an event follows from the one before it."""

    def __init__(self, session: str = "run-1", *, seq: int = 0) -> None:
        self.session = session
        self.events: list[Envelope] = []
        self._seq = seq
        self._ms = 0

    def tell(self, actor: Actor, *events: AnyEvent, cause: int | None = None, ms: int = 1) -> int:
        """What `actor` said about one cause, the first of it `ms` later; the last one's number."""
        because = self.n if cause is None else cause
        for event in events:
            self._ms += ms
            self._seq += 1
            at_ns = BEGIN_NS + self._ms * MS
            envelope = Envelope(
                self._seq, self.session, self.n + 1, at_ns, actor, because, event, bytes(32)
            )
            self.events.append(envelope)
        return self.n

    def later(self, ms: int) -> None:
        self._ms += ms

    @property
    def n(self) -> int:
        return len(self.events)


class Tree:
    """A tree holds the finished spans of some events."""

    def __init__(self, events: Iterable[Envelope]) -> None:
        self.spans = list(spans_of(events))

    @property
    def run(self) -> Span:
        [run] = [span for span in self.spans if not span.parent_id]
        return run

    def below(self, parent: Span) -> list[Span]:
        """Children in the order in which they began."""
        own = [span for span in self.spans if span.parent_id == parent.span_id]
        return sorted(own, key=lambda span: (span.start_ns, span.end_ns))

    def names(self, parent: Span) -> list[str]:
        return [span.name for span in self.below(parent)]

    def steps(self) -> list[Span]:
        return [span for span in self.below(self.run) if span.name.startswith("step")]

    def named(self, name: str) -> list[Span]:
        return [span for span in self.spans if span.name == name]

    def only(self, name: str) -> Span:
        [span] = self.named(name)
        return span

    def linked(self, span: Span) -> list[str]:
        """The names of the spans that this one came from."""
        names = {each.span_id: each.name for each in self.spans}
        return [names[link.span_id] for link in span.links]


def check_tree(spans: Iterable[Span]) -> None:
    """What every export of ended sessions must be: whole, and sound."""
    by_id = {span.span_id: span for span in spans}
    roots = [span.trace_id for span in by_id.values() if not span.parent_id]
    assert len(roots) == len(set(roots))
    for span in by_id.values():
        assert len(span.trace_id) == 16
        assert len(span.span_id) == 8
        assert span.start_ns <= span.end_ns
        assert span.attributes["openinference.span.kind"]
        for link in span.links:
            if link.why == "cause":
                assert by_id[link.span_id].trace_id == link.trace_id == span.trace_id
        if span.parent_id:
            parent = by_id[span.parent_id]
            assert parent.trace_id == span.trace_id
            assert parent.start_ns <= span.start_ns
            assert span.end_ns <= parent.end_ns
