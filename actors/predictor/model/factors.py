"""A factor tells candidates apart by what else is known, learned from their shares.

Every candidate carries marks; a mark's factor is how much more often than expected those that
carry it came. Factors are multiplied and the shares made to sum to one again, so marks that say
the same thing settle between them. No logarithm is needed: a step of the factor is a product.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from rutter.actors.predictor.model.contexts import Followed

# Marks, by the number of the first of each kind.
AGO = 0  # 7: how long ago it was done in this session; 0 is not
ECHO = 7  # 3: it followed the last time in this session, by how many tokens before agree
ON_TRAIL = 10  # 9: a long context was followed by it: three lengths, three counts in a row
OTHER = 19  # 4: none of the candidates, by how many orders were known
BEGUN = 23  # 11 each: what is usual by other contexts, against what is expected here
TWO_ON = 34
NTH = 45
AFTER_LAST = 56  # twice: by how many orders were known
ON_PAGE = 78  # three times: by how many tokens before
MARKS = 111

STEPS = 10  # from "much less usual" to "much more usual"
HOPED = 2.0  # observations that the blend's own share is worth against another context's
SLOW = 8.0  # a new factor moves by one part in so many
STEADY = 60.0  # and an old one in so many
NEVER_LESS = 1e-6  # the share of all that are no candidates
SLIGHT = 0.002  # an expectation below this moves no factor: it would only cost time
LEAST, MOST = 1 / 64, 64.0  # no factor goes beyond

Candidate = tuple[int, float, list[int]]  # token, weight, its marks
# First mark, the mark of who is not among them, total with what is hoped, counts.
Lead = tuple[int, int, float, Mapping[int, int]]


def lead(first: int, followed: Followed) -> Lead:
    """What another context says: of a token that was not seen there it says to all the same."""
    if isinstance(followed, int):
        return first, first + int(STEPS * HOPED / (HOPED * 2 + 1)), HOPED + 1, {followed: 1}
    total = followed.total + HOPED
    return first, first + int(STEPS * HOPED / (HOPED + total)), total, followed.counts


class Hints(NamedTuple):
    """Hints are known beside the blend, when candidates are weighed."""

    ago: Mapping[int, int]
    echo: tuple[int, int]  # a token and its mark
    trail: tuple[int, int]
    leads: Sequence[Lead]
    other: int


class Factors:
    __slots__ = ("factor", "mass")

    def __init__(self) -> None:
        self.factor = [1.0] * MARKS
        self.mass = [SLOW] * MARKS

    def weigh(
        self, shares: Sequence[tuple[int, float]], hints: Hints
    ) -> tuple[list[Candidate], float, float]:
        """Candidates with their weights, that of all other tokens, and the sum."""
        factor = self.factor
        (ago, (echo, echo_mark), (trail, trail_mark), leads, other) = hints
        left = 1.0
        whole = 0.0
        weighed: list[Candidate] = []
        for token, share in shares:
            left -= share
            hoped = HOPED * share
            mark = ago.get(token, AGO)
            weight = share * factor[mark]
            marks = [mark]
            if token == echo:
                marks.append(echo_mark)
                weight *= factor[echo_mark]
            if token == trail:
                marks.append(trail_mark)
                weight *= factor[trail_mark]
            for first, absent, total, counts in leads:
                if token in counts:
                    usual = counts[token] + hoped
                    mark = first + int(STEPS * usual / (usual + share * total))
                else:
                    mark = absent
                marks.append(mark)
                weight *= factor[mark]
            whole += weight
            weighed.append((token, weight, marks))
        rest = max(left, NEVER_LESS) * factor[other]
        return weighed, rest, whole + rest

    def learn(
        self, weighed: Sequence[Candidate], other: int, rest: float, whole: float, token: int
    ) -> None:
        """`token` came: every factor by how far its marks were expected to."""
        expected = {other: rest / whole}
        came = [other]
        for each, weight, marks in weighed:
            share = weight / whole
            if each == token:
                came = marks
            elif share < SLIGHT:
                continue
            for mark in marks:
                if mark in expected:
                    expected[mark] += share
                else:
                    expected[mark] = share
        factor, mass = self.factor, self.mass
        for mark, share in expected.items():
            step = ((1.0 if mark in came else 0.0) - share) / mass[mark]
            moved = factor[mark] * (1.0 + step)
            if LEAST < moved < MOST:
                factor[mark] = moved
            if mass[mark] < STEADY:
                mass[mark] += share
