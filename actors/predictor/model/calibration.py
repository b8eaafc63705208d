"""Calibration turns a model's probability into how often such a probability was right.

A line through a few knots, from the probability that the model works out to the one that it says.
"""

KNOTS = 12  # steps of the line: finer ones would be moved by chance
BELIEVED = 20.0  # predictions that the first line, which changes nothing, is worth
TRACKED = 100.0  # predictions that a knot is the mean of: habits change, and so does how sure to be
SUREST = 0.999  # nothing that was only seen so far is certain


class LearnedCalibration:
    __slots__ = ("height", "weight")

    def __init__(self) -> None:
        self.height = [knot / KNOTS for knot in range(KNOTS + 1)]
        self.weight = [BELIEVED] * (KNOTS + 1)

    def said(self, share: float) -> float:
        """What to say instead of `share`."""
        at = share * KNOTS
        knot = min(int(at), KNOTS - 1)
        part = at - knot
        height = self.height
        said = height[knot] * (1.0 - part) + height[knot + 1] * part
        return min(said, SUREST)

    def learn(self, share: float, came: bool) -> None:
        """The knots on both sides move by what was said too much or too little: the mean of
        what was seen there lately, so that the line is right on average."""
        miss = came - self.said(share)
        at = share * KNOTS
        knot = min(int(at), KNOTS - 1)
        part = at - knot
        self._move(knot, 1.0 - part, miss)
        self._move(knot + 1, part, miss)

    def _move(self, knot: int, near: float, miss: float) -> None:
        self.weight[knot] = min(self.weight[knot] + near, TRACKED)
        height = self.height[knot] + near * miss / self.weight[knot]
        self.height[knot] = 0.0 if height < 0.0 else min(height, 1.0)
