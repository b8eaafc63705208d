"""Two models guess beside ours: back-off over all orders, and interpolated Kneser-Ney."""

from collections.abc import Sequence
from typing import Protocol

ORDER = 4
DISCOUNT = 0.75

Counts = dict[str, int]
Table = dict[tuple[str, ...], Counts]


class Guesses(Protocol):
    def predict(self, prefix: Sequence[str], k: int) -> list[tuple[str, float]]: ...

    def observe(self, prefix: Sequence[str], token: str) -> None: ...


def _best(shares: dict[str, float], k: int) -> list[tuple[str, float]]:
    return sorted(shares.items(), key=lambda each: (-each[1], each[0]))[:k]


class BackOff:
    """Back-off counts by total in the longest context that was ever seen."""

    def __init__(self) -> None:
        self.orders: list[Table] = [{} for _ in range(ORDER + 1)]

    def observe(self, prefix: Sequence[str], token: str) -> None:
        for order in range(min(ORDER, len(prefix)) + 1):
            counts = self.orders[order].setdefault(tuple(prefix[len(prefix) - order :]), {})
            counts[token] = counts.get(token, 0) + 1

    def predict(self, prefix: Sequence[str], k: int) -> list[tuple[str, float]]:
        for order in range(min(ORDER, len(prefix)), -1, -1):
            counts = self.orders[order].get(tuple(prefix[len(prefix) - order :]))
            if counts:
                total = sum(counts.values())
                return _best({token: count / total for token, count in counts.items()}, k)
        return []


class KneserNey:
    """Kneser-Ney interpolates with one discount; shorter contexts count contexts, not tokens."""

    def __init__(self) -> None:
        self.orders: list[Table] = [{} for _ in range(ORDER + 1)]
        self.seen: dict[str, None] = {}

    def observe(self, prefix: Sequence[str], token: str) -> None:
        self.seen.update(dict.fromkeys((*prefix[-1:], token)))
        for order in range(min(ORDER, len(prefix)), -1, -1):
            counts = self.orders[order].setdefault(tuple(prefix[len(prefix) - order :]), {})
            counts[token] = counts.get(token, 0) + 1
            if counts[token] > 1:
                return

    def predict(self, prefix: Sequence[str], k: int) -> list[tuple[str, float]]:
        shares: dict[str, float] = {}
        unseen = 1 / (len(self.seen) + 1)
        for order in range(min(ORDER, len(prefix)) + 1):
            counts = self.orders[order].get(tuple(prefix[len(prefix) - order :]))
            if not counts:
                continue
            total = sum(counts.values())
            left = DISCOUNT * len(counts) / total
            shares = {token: left * share for token, share in shares.items()}
            unseen *= left
            for token, count in counts.items():
                shares[token] = shares.get(token, unseen) + (count - DISCOUNT) / total
        return _best(shares, k)
