"""What each threshold would have done."""

from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from rutter.replay.accuracy.threshold_curve import curve
from rutter.replay.documents.threshold_chart import draw
from rutter.replay.whatif import ScoredPrediction

SCORED = st.lists(
    st.builds(ScoredPrediction, st.integers(0, 1_000_000), st.booleans()), max_size=60
)


@given(SCORED)
def test_a_higher_threshold_never_acts_more(predictions: list[ScoredPrediction]) -> None:
    points = curve(predictions)
    assert [p.acted for p in points] == sorted((p.acted for p in points), reverse=True)
    assert points[0].acted == len(predictions)
    assert all(point.correct + point.wrong == point.acted for point in points)


def test_equal_to_the_threshold_acts() -> None:
    (point,) = curve([ScoredPrediction(500_000, True)], [500_000])
    assert (point.acted, point.accuracy, point.coverage) == (1, 1.0, 1.0)


@given(SCORED)
def test_the_picture_is_well_formed(predictions: list[ScoredPrediction]) -> None:
    ElementTree.fromstring(draw(curve(predictions), len(predictions)))
