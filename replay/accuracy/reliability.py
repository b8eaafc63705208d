"""Reliability compares the probability of predictions with how often they were right, and
recommends a threshold from which on to act.

Predictions are put in ten bins by their probability; where it can be believed, what was said is how
often it was right. Little can be promised from few cases, so every share has its interval:
Wilson's, which holds for small counts and for shares near 0 and 1, where the usual one does not.
"""

from collections.abc import Iterable, Sequence
from math import pi, sqrt

import msgspec

from rutter.events.run_settings import MILLION
from rutter.replay.accuracy.threshold_curve import STEPS, ThresholdPoint, curve, ratio
from rutter.replay.whatif import ScoredPrediction

BINS = 10
WIDTH = MILLION // BINS
EVEN = MILLION // 2
FAR = 100  # times as many predictions as there are: nobody waits for that
HUNDREDTHS = range(0, MILLION + 1, 10_000)  # as finely as anybody sets a threshold
BOTH_SIDES = 1.959964  # of the normal distribution: 95 % lie within, 2.5 % beyond either end
ONE_SIDE = 1.644854  # 95 % lie below
ONE_SIDE_SQUARED = 2_705_544  # in millionths


class ReliabilityBin(msgspec.Struct, frozen=True):
    """A bin holds predictions that were about as sure: what they said on average, the share that
    was right, and within what that share may truly lie."""

    since: float
    until: float
    count: int
    said: float = 0.0
    right: float = 0.0
    at_least: float = 0.0
    at_most: float = 1.0


class RecommendedThreshold(msgspec.Struct, frozen=True):
    """A recommended threshold keeps an error rate: of what is as sure or surer, with 95 %
    confidence no more is wrong. `at_most` is that bound for the `wrong` of `acted`.

    Without `threshold` that cannot be promised. Then `nearest` is where it takes least, if as few
    are wrong there as until now: `more` predictions that are as sure, `more_in_all` if as many of
    all are. Without `nearest`, too many are wrong at every threshold, however many there are.
    """

    error_rate: float
    threshold: float | None = None
    acted: int = 0
    wrong: int = 0
    coverage: float = 0.0
    at_most: float = 1.0
    nearest: float | None = None
    more: int = 0
    more_in_all: int = 0


class Reliability(msgspec.Struct, frozen=True):
    """Reliability holds what predictions said, what was right, and what to make of it.

    `error` is how far the two are apart, over all bins (expected calibration error); `by_chance` is
    what it would be for so many predictions if all that was said were true.
    """

    predictions: int
    correct: int
    said: float
    right: float
    error: float
    by_chance: float
    bins: tuple[ReliabilityBin, ...]
    curve: tuple[ThresholdPoint, ...]
    recommended: RecommendedThreshold


def calibrated(predictions: Sequence[ScoredPrediction], error_rate: int) -> Reliability:
    """Everything of these predictions; the error rate is in millionths."""
    tallies = _tallied(predictions)
    count, correct = len(predictions), sum(scored.correct for scored in predictions)
    return Reliability(
        predictions=count,
        correct=correct,
        said=ratio(sum(tally.said for tally in tallies), count * MILLION),
        right=ratio(correct, count),
        error=ratio(sum(tally.apart for tally in tallies), count * MILLION),
        by_chance=_by_chance(tallies, count),
        bins=tuple(tally.bin() for tally in tallies),
        curve=curve(predictions, STEPS),
        recommended=recommend(predictions, error_rate),
    )


def recommend(predictions: Sequence[ScoredPrediction], error_rate: int) -> RecommendedThreshold:
    """The lowest threshold that keeps the error rate, which is above 0 and below a million.

    To act on what is more probably wrong than right is not recommended, however little it adds to
    the sum of errors; nor is a threshold below all that was ever seen.
    """
    least = min(EVEN, MILLION - error_rate)
    points = curve(predictions, (at for at in HUNDREDTHS if at >= least))
    points = tuple(point for point in points if point.acted)
    lowest = next((point for point in points if _keeps(point, error_rate)), None)
    if lowest is None:
        return _nearest(points, len(predictions), error_rate)
    kept = max(
        (point for point in points if point.acted == lowest.acted),
        key=lambda point: point.threshold,
    )
    return RecommendedThreshold(
        error_rate=error_rate / MILLION,
        threshold=kept.threshold,
        acted=kept.acted,
        wrong=kept.wrong,
        coverage=kept.coverage,
        at_most=round(wilson(kept.wrong, kept.acted, ONE_SIDE)[1], 6),
    )


def advice(found: Reliability) -> tuple[str, str]:
    """What to set for this error rate, and on what grounds; each in one line."""
    said = found.recommended
    wanted = f"for at most {percent(said.error_rate)} wrong"
    if said.threshold is not None:
        return (
            f"{wanted}: run.threshold = {said.threshold:.2f}",
            f"it would have acted on {said.acted} of {found.predictions}, {said.wrong} wrong: "
            f"{said.wrong / said.acted:.1%}, with 95% confidence at most {said.at_most:.1%}",
        )
    if said.nearest is not None and said.more_in_all > FAR * found.predictions:
        return (
            f"{wanted}: far too few sure predictions to promise it for any run.threshold",
            f"{said.nearest:.2f} is nearest, and it takes more than {FAR} times as many as there "
            "are: allow more",
        )
    if said.nearest is not None:
        return (
            f"{wanted}: too few sure predictions to promise it for any run.threshold",
            f"{said.nearest:.2f} is nearest: it takes {said.more} more that sure, about "
            f"{said.more_in_all} in all, if no larger share of them is wrong than until now",
        )
    if any(point.acted for point in found.curve if point.threshold >= EVEN / MILLION):
        return (
            f"{wanted}: not reachable with any run.threshold at the present share of wrong ones",
            "what it is surest of is wrong as often or more: allow more, or let it see more first",
        )
    why = "it was never surer than even: let it see more first"
    return f"{wanted}: no run.threshold can be recommended", why


def apart(found: Reliability) -> str:
    """How far what was said is from what was right, in one line."""
    return (
        f"said {found.said:.1%} on average, was right {found.right:.1%}; off by {found.error:.1%} "
        f"over all bins, where chance alone makes {found.by_chance:.1%}"
    )


def counted(found: Reliability) -> str:
    return f"{found.predictions} prediction{'' if found.predictions == 1 else 's'}"


def percent(share: float) -> str:
    return f"{share * 100:g}%"


def wilson(part: int, whole: int, z: float = BOTH_SIDES) -> tuple[float, float]:
    """Within what the true share may lie when `part` of `whole` were seen."""
    if not whole:
        return 0.0, 1.0
    middle = part + z * z / 2
    half = z * sqrt(part * (whole - part) / whole + z * z / 4)
    size = whole + z * z
    return max((middle - half) / size, 0.0), min((middle + half) / size, 1.0)


class _BinTally:
    """A tally counts one bin, in integers."""

    def __init__(self, index: int) -> None:
        self.index = index
        self.count = self.correct = self.said = self.doubt = 0

    def add(self, scored: ScoredPrediction) -> None:
        self.count += 1
        self.correct += scored.correct
        self.said += scored.probability
        self.doubt += scored.probability * (MILLION - scored.probability)

    @property
    def apart(self) -> int:
        return abs(self.said - self.correct * MILLION)

    def bin(self) -> ReliabilityBin:
        since, until = self.index / BINS, (self.index + 1) / BINS
        if not self.count:
            return ReliabilityBin(since, until, 0)
        low, high = wilson(self.correct, self.count)
        return ReliabilityBin(
            since=since,
            until=until,
            count=self.count,
            said=ratio(self.said, self.count * MILLION),
            right=ratio(self.correct, self.count),
            at_least=round(low, 4),
            at_most=round(high, 4),
        )


def _tallied(predictions: Iterable[ScoredPrediction]) -> tuple[_BinTally, ...]:
    tallies = tuple(_BinTally(index) for index in range(BINS))
    for scored in predictions:
        tallies[min(scored.probability // WIDTH, BINS - 1)].add(scored)
    return tallies


def _by_chance(tallies: Iterable[_BinTally], count: int) -> float:
    """How far a bin is off on average when everything that was said is true: the mean deviation of
    a normal distribution, which no share has more of than one case alone."""
    total = 0.0
    for tally in tallies:
        if tally.count:
            variance = tally.doubt / tally.count / MILLION / MILLION
            total += tally.count * min(sqrt(2 / pi * variance / tally.count), 2 * variance)
    return round(total / count, 4) if count else 0.0


def _keeps(point: ThresholdPoint, error_rate: int) -> bool:
    """Whether the upper end of Wilson's interval is within the error rate: the same as that the
    rate is far enough above the share, which integers can tell."""
    margin = _margin(point, error_rate)
    return margin > 0 and margin * margin * MILLION >= _doubt(error_rate) * point.acted


def _nearest(points: Iterable[ThresholdPoint], count: int, error_rate: int) -> RecommendedThreshold:
    """Where the fewest more are needed, at the share that is wrong until now."""
    found = RecommendedThreshold(error_rate / MILLION)
    for point in points:
        margin = _margin(point, error_rate)
        if margin <= 0:
            continue
        cases = point.acted * point.acted
        more = _divided_up(_doubt(error_rate) * cases, margin * margin * MILLION) - point.acted
        in_all = _divided_up(more * count, point.acted)
        if found.nearest is None or in_all <= found.more_in_all:
            found = msgspec.structs.replace(
                found, nearest=point.threshold, more=more, more_in_all=in_all
            )
    return found


def _margin(point: ThresholdPoint, error_rate: int) -> int:
    """How many more may be wrong, in millionths of one."""
    return error_rate * point.acted - MILLION * point.wrong


def _doubt(error_rate: int) -> int:
    return ONE_SIDE_SQUARED * error_rate * (MILLION - error_rate)


def _divided_up(number: int, by: int) -> int:
    return -(-number // by)
