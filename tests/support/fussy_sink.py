"""A sink takes what it is given and says no when it is told to."""

from collections.abc import Sequence

from rutter.pipeline.traces.sink import Delivery
from rutter.replay.traces import Span


class Fussy:
    """A sink takes spans until it has `takes` of them, and never more than `at_most` at once."""

    target = "fussy"

    def __init__(self, *, takes: int = 1 << 30, at_most: int = 1 << 30) -> None:
        self.takes = takes
        self.at_most = at_most
        self.taken: list[bytes] = []
        self.batches: list[int] = []
        self.closed = False

    def deliver(self, spans: Sequence[Span]) -> Delivery:
        if len(spans) > self.at_most:
            return Delivery(False, "too large", too_large=True)
        if len(self.taken) >= self.takes:
            return Delivery(False, "no more")
        self.batches.append(len(spans))
        self.taken += [span.span_id for span in spans]
        return Delivery(True)

    def close(self) -> None:
        self.closed = True
