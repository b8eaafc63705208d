"""A reliability chart draws what was said against what was right, how many there were, and what
each threshold would have done. Plain SVG, as in `threshold_chart.py`."""

from collections.abc import Iterable, Sequence
from html import escape

import msgspec

from rutter.replay.accuracy.reliability import (
    Reliability,
    ReliabilityBin,
    advice,
    apart,
    counted,
    percent,
)

WIDTH, HEIGHT = 980, 610
SAID, WRONG = "#1f3a57", "#9b2d20"
FAINT, GREY, WORDS = "#e3e3e3", "#777777", "#333333"
DASHED, DOTTED = 'stroke-dasharray="5 4"', 'stroke-dasharray="2 3"'
SCALES = (0.05, 0.1, 0.2, 0.5, 1.0)  # ends of the axis of what was wrong


class _Panel(msgspec.Struct, frozen=True):
    """A panel has an axis up to its own height; across it is always from 0 to 1."""

    left: int
    top: int
    width: int
    height: int
    most: float = 1.0

    def x(self, across: float) -> float:
        return self.left + across * self.width

    def y(self, up: float) -> float:
        return self.top + (1 - min(up / self.most, 1.0)) * self.height

    @property
    def floor(self) -> int:
        return self.top + self.height


_RIGHT = _Panel(70, 105, 380, 290)
_COUNTS = _Panel(70, 425, 380, 80)
_COVERAGE = _Panel(570, 105, 380, 170)


def draw(found: Reliability, model: str) -> str:
    """The picture of one model as one SVG document."""
    headline, grounds = advice(found)
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
            'font-family="Helvetica, Arial, sans-serif" font-size="13">',
            f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
            _text(70, 32, f"How sure {model} was, and how right ({counted(found)})", 17),
            _text(70, 54, apart(found)),
            *_reliability(found.bins),
            *_histogram(found.bins),
            *_thresholds(found),
            _text(70, 572, headline, 15),
            _text(70, 593, grounds),
            "</svg>",
        )
    )


def _reliability(bins: Sequence[ReliabilityBin]) -> Iterable[str]:
    frame = _RIGHT
    yield _text(frame.left, 90, "how often it was right, by how sure it said it was", 14)
    yield from _grid(frame)
    yield _line((frame.x(0), frame.y(0)), (frame.x(1), frame.y(1)), GREY, DASHED)
    yield _text(frame.x(0.03), frame.y(0.93), "above the line: too modest", 12, colour=GREY)
    yield _text(frame.x(0.97), frame.y(0.04), "below it: too sure", 12, colour=GREY, anchor="end")
    for each in bins:
        if each.count:
            x = frame.x(each.said)
            low, high = frame.y(each.at_least), frame.y(each.at_most)
            yield _line((x, low), (x, high), SAID)
            for end in (low, high):
                yield _line((x - 4, end), (x + 4, end), SAID)
            yield f'<circle cx="{x:.1f}" cy="{frame.y(each.right):.1f}" r="4.5" fill="{SAID}"/>'


def _histogram(bins: Sequence[ReliabilityBin]) -> Iterable[str]:
    frame = _COUNTS
    most = max(each.count for each in bins) or 1
    for each in bins:
        left, width = frame.x(each.since) + 2, frame.width / len(bins) - 4
        height = frame.height * each.count / most
        if each.count:
            height = max(height, 1.0)  # one among thousands is seen too
            middle = left + width / 2
            yield _bar(left, frame.floor - height, width, height)
            count = f"{each.count}"
            yield _text(middle, frame.floor - height - 4, count, 11, anchor="middle")
    yield _line((frame.x(0), frame.floor), (frame.x(1), frame.floor), GREY)
    yield from _across(frame, "probability that it said, and how many there were")


def _thresholds(found: Reliability) -> Iterable[str]:
    said = found.recommended
    drawn = [(point.threshold, point.wrong / point.acted) for point in found.curve if point.acted]
    most = max([said.error_rate * 1.6, *(share for _, share in drawn)])
    wrong = _Panel(570, 335, 380, 170, next(end for end in SCALES if end >= min(most, 1.0)))
    yield _text(_COVERAGE.left, 90, "how often it would act, at each threshold", 14)
    yield from _grid(_COVERAGE)
    yield _curve(_COVERAGE, [(point.threshold, point.coverage) for point in found.curve], SAID)
    yield _text(wrong.left, 320, "how much of that would have been wrong", 14)
    yield from _grid(wrong)
    rate = wrong.y(said.error_rate)
    yield _line((wrong.x(0), rate), (wrong.x(1), rate), WRONG, DASHED)
    label = percent(said.error_rate)
    yield _text(wrong.x(1) + 4, rate + 4, label, 11, colour=WRONG)
    yield _curve(wrong, drawn, WRONG)
    if said.threshold is not None:
        at = wrong.x(said.threshold)
        for frame in (_COVERAGE, wrong):
            yield _line((at, frame.top), (at, frame.floor), WORDS, DOTTED)
        yield _text(at, _COVERAGE.floor + 16, f"{said.threshold:.2f}", anchor="middle")
    yield from _across(wrong, "run.threshold")


def _grid(frame: _Panel) -> Iterable[str]:
    for fifth in range(6):
        up = frame.most * fifth / 5
        y = frame.y(up)
        yield _line((frame.x(0), y), (frame.x(1), y), FAINT)
        yield _text(frame.left - 8, y + 4, percent(round(up, 4)), 12, anchor="end")


def _across(frame: _Panel, name: str) -> Iterable[str]:
    for tenth in range(0, 11, 2):
        yield _text(frame.x(tenth / 10), frame.floor + 17, f"{tenth / 10:.1f}", 12, anchor="middle")
    yield _text(frame.x(0.5), frame.floor + 36, name, anchor="middle")


def _curve(frame: _Panel, values: Sequence[tuple[float, float]], colour: str) -> str:
    path = " ".join(f"{frame.x(across):.1f},{frame.y(up):.1f}" for across, up in values)
    return f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2.5"/>'


def _line(
    since: tuple[float, float], until: tuple[float, float], colour: str, more: str = ""
) -> str:
    (x1, y1), (x2, y2) = since, until
    place = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
    return f'<line {place} stroke="{colour}" stroke-width="1.3" {more}/>'


def _bar(left: float, top: float, width: float, height: float) -> str:
    place = f'x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" height="{height:.1f}"'
    return f'<rect {place} fill="#8fa3b8"/>'


def _text(
    x: float, y: float, words: str, size: int = 13, *, colour: str = WORDS, anchor: str = "start"
) -> str:
    style = f'font-size="{size}" fill="{colour}" text-anchor="{anchor}"'
    return f'<text x="{x:.1f}" y="{y:.1f}" {style}>{escape(words)}</text>'
