"""A threshold chart draws accuracy and coverage at each threshold as plain SVG."""

from collections.abc import Sequence

from rutter.replay.accuracy.threshold_curve import ThresholdPoint

_LEFT, _TOP, _WIDTH, _HEIGHT = 60, 50, 560, 300


def draw(points: Sequence[ThresholdPoint], total: int) -> str:
    """The curve as one SVG document."""
    drawn = [point for point in points if point.acted]
    accuracy = _line([(point.threshold, point.accuracy) for point in drawn], "#2e5d34")
    coverage = _line([(point.threshold, point.coverage) for point in points], "#1f3a57")
    return "\n".join(
        (
            '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 660 420" '
            'font-family="Helvetica, Arial, sans-serif" font-size="13">',
            '<rect width="660" height="420" fill="#ffffff"/>',
            f'<text x="{_LEFT}" y="28" font-size="16">What each threshold would have done '
            f"({total} predictions)</text>",
            _axes(),
            accuracy,
            coverage,
            '<text x="440" y="395" fill="#2e5d34">accuracy of what it does</text>',
            '<text x="60" y="395" fill="#1f3a57">coverage: how often it acts</text>',
            "</svg>",
        )
    )


def _axes() -> str:
    marks = []
    for tenth in range(0, 11, 2):
        x, y = _place(tenth / 10, tenth / 10)
        marks.append(
            f'<line x1="{_LEFT}" x2="{_LEFT + _WIDTH}" y1="{y}" y2="{y}" stroke="#e3e3e3"/>'
            f'<text x="{_LEFT - 10}" y="{y + 4}" text-anchor="end">{tenth * 10}%</text>'
            f'<text x="{x}" y="{_TOP + _HEIGHT + 20}" text-anchor="middle">{tenth / 10:.1f}</text>'
        )
    return "".join(marks)


def _line(values: Sequence[tuple[float, float]], colour: str) -> str:
    if not values:
        return ""
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in (_place(*value) for value in values))
    return f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2.5"/>'


def _place(across: float, up: float) -> tuple[float, float]:
    return _LEFT + across * _WIDTH, _TOP + (1 - up) * _HEIGHT
