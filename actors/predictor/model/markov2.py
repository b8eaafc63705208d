"""The seeds' model (B2, B3) counts first- and second-order transitions, nothing else.

Probabilities are integers in millionths that sum to exactly one million, so that a comparison
with a threshold does not depend on the machine.
"""

from collections.abc import Mapping, Sequence
from typing import Literal

from rutter.events.run_settings import MILLION

Order = Literal["first_order", "second_order"]
Counts = dict[str, int]


class Markov2:
    """Markov2 can `observe` one transition, and `predict` without side effects."""

    def __init__(self) -> None:
        self.first: dict[str, Counts] = {}
        self.second: dict[tuple[str, str], Counts] = {}

    def observe(self, after: Sequence[str], token: str) -> None:
        """Counts `token` behind the last one and the last two tokens before it."""
        if len(after) >= 1:
            _count(self.first.setdefault(after[-1], {}), token)
        if len(after) >= 2:
            _count(self.second.setdefault((after[-2], after[-1]), {}), token)

    def predict(self, history: Sequence[str]) -> tuple[Order, list[tuple[str, int]]] | None:
        """Every next token with its probability, best first; `None` when nothing was seen."""
        if len(history) >= 2:
            counts = self.second.get((history[-2], history[-1]))
            if counts:
                return "second_order", distribution(counts)
        if history:
            counts = self.first.get(history[-1])
            if counts:
                return "first_order", distribution(counts)
        return None


def distribution(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    """Counts as millionths, largest first, ties by token; what rounding leaves goes to the
    largest remainders, so the sum is one million."""
    total = sum(counts.values())
    order = sorted(counts, key=lambda token: (-counts[token], token))
    shares = {token: divmod(counts[token] * MILLION, total) for token in order}
    left = MILLION - sum(whole for whole, _ in shares.values())
    extra = set(sorted(order, key=lambda token: (-shares[token][1], token))[:left])
    return [(token, shares[token][0] + (token in extra)) for token in order]


def _count(counts: Counts, token: str) -> None:
    counts[token] = counts.get(token, 0) + 1
