"""A threshold curve holds accuracy, coverage and wrong executions at each threshold."""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from itertools import accumulate

import msgspec

from rutter.events.run_settings import MILLION
from rutter.replay.whatif import ScoredPrediction

STEPS = tuple(range(0, MILLION + 1, 50_000))


class ThresholdPoint(msgspec.Struct, frozen=True):
    """A point says what acting at this threshold would have come to."""

    threshold: float
    acted: int
    correct: int
    wrong: int
    coverage: float
    accuracy: float


def ratio(part: int, whole: int) -> float:
    """A share in four decimals; none of nothing."""
    return round(part / whole, 4) if whole else 0.0


def curve(
    predictions: Sequence[ScoredPrediction], thresholds: Iterable[int] = STEPS
) -> tuple[ThresholdPoint, ...]:
    """Sorted once, so that many thresholds cost no more than one."""
    ordered = sorted(predictions, key=lambda scored: scored.probability)
    said = [scored.probability for scored in ordered]
    correct_below = list(accumulate((scored.correct for scored in ordered), initial=0))
    points = []
    for threshold in thresholds:
        below = bisect_left(said, threshold)
        acted, correct = len(said) - below, correct_below[-1] - correct_below[below]
        points.append(
            ThresholdPoint(
                threshold=threshold / MILLION,
                acted=acted,
                correct=correct,
                wrong=acted - correct,
                coverage=ratio(acted, len(said)),
                accuracy=ratio(correct, acted),
            )
        )
    return tuple(points)
