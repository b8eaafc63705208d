"""Trust says how much each count is believed over the shorter context below it: it is learned.

Counts of the same kind share a weight: of the same order, about as large, about as diverse, the
last successor as often in a row. A weight is the mean of how far the count explained what came.
"""

from collections.abc import Sequence

from rutter.actors.predictor.model.contexts import Followed, Successors

FIRST = 4.0  # observations that the first guess of a weight is worth
LONG = 1000.0  # a weight is the mean of about so many observations
LEAST, MOST = 0.0005, 0.9995  # nothing is believed in full, or so little that it cannot recover
BASE = 0.9  # first guess for single tokens against one never seen before

# Sizes of a count that are told apart: 1, 2, 3, 4 to 5, to 9, to 19, to 59, more.
_SIZE = [0, 1, 2, 3, 4, 4, 5, 5, 5, 5, *[6] * 10, *[7] * 40]
_LARGEST = 8
_SINGLE = 16 + 1

Used = tuple[int, float, Followed]


def kind_of_count(order: int, followed: Successors) -> int:
    """Which counts are like this one."""
    total = followed.total
    different = len(followed.counts)
    run = followed.run
    size = _SIZE[total] if total < len(_SIZE) else _LARGEST
    spread = different - 1 if different < 3 else 2 if different * 2 < total else 3
    return (order * 9 + size) * 16 + spread * 4 + min(run, 3)


class Trust:
    __slots__ = ("explained", "times")

    def __init__(self) -> None:
        self.explained: dict[int, float] = {}
        self.times: dict[int, float] = {}

    def blend(self, known: Sequence[Followed | None]) -> tuple[dict[int, float], float, list[Used]]:
        """The share of every successor, what is left for single tokens, and what was used, the
        longest context first. The first of them is of no token: what was done on this page."""
        shares: dict[int, float] = {}
        used: list[Used] = []
        left = 1.0
        for order in range(len(known) - 1, -1, -1):
            followed = known[order]
            if followed is None:
                continue
            if isinstance(followed, int):
                kind = order * 144 + _SINGLE
                trust = self.of(kind, 1, 1)
                shares[followed] = shares.get(followed, 0.0) + left * trust
            else:
                kind = kind_of_count(order, followed)
                trust = self.of(kind, followed.total, len(followed.counts))
                each = left * trust / followed.total
                for token, count in followed.counts.items():
                    if token in shares:
                        shares[token] += each * count
                    else:
                        shares[token] = each * count
            left *= 1.0 - trust
            used.append((kind, trust, followed))
        return shares, left, used

    def of(self, kind: int, total: int, different: int) -> float:
        times = self.times.get(kind)
        if times is None:
            return total / (total + different)  # Witten and Bell's guess
        return min(max(self.explained[kind] / times, LEAST), MOST)

    def base(self) -> float:
        times = self.times.get(0)
        return BASE if times is None else min(max(self.explained[0] / times, LEAST), MOST)

    def learn(self, used: Sequence[Used], token: int, single: float, never: float) -> None:
        """`token` came: `single` is its share of all tokens, `never` that of one never seen."""
        below = self._explain(0, self.base(), single, never)
        for kind, trust, followed in reversed(used):
            if isinstance(followed, int):
                share = 1.0 if followed == token else 0.0
            else:
                share = followed.counts.get(token, 0) / followed.total
            below = self._explain(kind, trust, share, below)

    def _explain(self, kind: int, trust: float, share: float, below: float) -> float:
        both = trust * share + (1.0 - trust) * below
        times = self.times.get(kind)
        if times is None:
            times, explained = FIRST, FIRST * trust
        else:
            explained = self.explained[kind]
        if times >= LONG:
            times, explained = times * 0.5, explained * 0.5
        self.times[kind] = times + 1.0
        self.explained[kind] = explained + trust * share / both
        return both
