"""A sink takes spans and says what became of them."""

from collections import deque
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Final, Protocol

import msgspec

from rutter.replay.traces import Span

BATCH: Final = 512  # spans in a request: what the SDK's batches hold, and collectors are built for
FIRST_WAIT_S: Final = 0.5
MOST_WAIT_S: Final = 30.0
# A collector that asks for more time than this is asked again all the same: it may have meant
# something else, and being asked twice an hour hurts nobody.
MOST_ASKED_S: Final = 1_800.0


class Delivery(msgspec.Struct, frozen=True):
    """A delivery is one attempt. What was `rejected` is thrown away: sending it again is no use."""

    accepted: bool
    why: str = ""
    rejected: int = 0
    after_s: float = 0.0
    too_large: bool = False


class Sink(Protocol):
    """A sink takes spans and says if it has them. Bounded in time; never raises for the world."""

    @property
    def target(self) -> str:
        """Its name in the cursor: no credentials in it."""

    def deliver(self, spans: Sequence[Span]) -> Delivery: ...

    def close(self) -> None: ...


class ExportProgress(msgspec.Struct):
    """An export has come so far."""

    delivered: int = 0
    rejected: int = 0
    refusals: int = 0
    why: str = ""


class Outbox:
    """The outbox has spans that are made and not accepted yet, in order; they go in batches."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._spans: deque[Span] = deque()
        self._batch = BATCH
        self._in_a_row = 0
        self.progress = ExportProgress()

    def __len__(self) -> int:
        return len(self._spans)

    def put(self, spans: Iterable[Span]) -> None:
        self._spans.extend(spans)

    def push(self) -> Delivery:
        """One batch, once. What is not accepted stays."""
        batch = list(islice(self._spans, self._batch))
        delivery = self._sink.deliver(batch)
        if delivery.too_large and len(batch) > 1:
            self._batch = max(1, len(batch) // 2)
            return self.push()
        if delivery.too_large:
            # It will never be taken, and what comes after it must not wait for ever.
            delivery = Delivery(True, delivery.why, rejected=1)
        self._count(delivery, len(batch))
        if delivery.accepted:
            for _ in batch:
                self._spans.popleft()
        return delivery

    def wait_s(self, delivery: Delivery) -> float:
        """How long to leave a sink alone that refused: longer each time, and as it asked."""
        if delivery.accepted:
            return 0.0
        doubled = min(FIRST_WAIT_S * 2.0 ** (self._in_a_row - 1), MOST_WAIT_S)
        return max(doubled, min(delivery.after_s, MOST_ASKED_S))

    def _count(self, delivery: Delivery, spans: int) -> None:
        progress = self.progress
        if delivery.accepted:
            self._in_a_row = 0
            progress.delivered += spans - delivery.rejected
            progress.rejected += delivery.rejected
        else:
            self._in_a_row += 1
            progress.refusals += 1
        progress.why = delivery.why or progress.why
