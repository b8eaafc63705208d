"""Whether what it says can be believed, and which threshold that makes."""

from math import comb
from xml.etree import ElementTree

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rutter.events.run_settings import MILLION
from rutter.replay.accuracy.reliability import (
    ONE_SIDE,
    Reliability,
    advice,
    calibrated,
    counted,
    recommend,
    wilson,
)
from rutter.replay.documents.reliability_chart import draw
from rutter.replay.whatif import ScoredPrediction
from tests.support.case_table import for_each

SCORED = st.lists(st.builds(ScoredPrediction, st.integers(0, MILLION), st.booleans()), max_size=40)
RATES = st.integers(1, MILLION - 1)


def scored(*groups: tuple[float, int, int]) -> list[ScoredPrediction]:
    """So many predictions that were so sure, and how many of them were right."""
    return [
        ScoredPrediction(round(said * MILLION), index < right)
        for said, count, right in groups
        for index in range(count)
    ]


# In groups, of which few are wrong: there are thresholds to recommend, and more than one.
SURE = st.lists(
    st.tuples(st.integers(30, 100), st.integers(0, 90), st.integers(0, 9)), max_size=6
).map(lambda told: scored(*((said / 100, right + wrong, right) for said, right, wrong in told)))


def found(*groups: tuple[float, int, int], rate: float = 0.05) -> Reliability:
    return calibrated(scored(*groups), round(rate * MILLION))


# -- bins ------------------------------------------------------------------------------------------


@given(SCORED, RATES)
def test_every_prediction_is_in_one_bin(predictions: list[ScoredPrediction], rate: int) -> None:
    told = calibrated(predictions, rate)

    assert sum(each.count for each in told.bins) == told.predictions == len(predictions)
    assert sum(each.count * each.right for each in told.bins) == pytest.approx(
        told.correct, abs=0.01
    )
    for each in told.bins:
        if each.count:
            assert each.since <= each.said <= each.until
            assert 0 <= each.at_least <= each.right <= each.at_most <= 1


def test_a_bin_begins_where_the_one_before_it_ends_and_the_last_one_holds_certainty() -> None:
    told = found((0.1, 1, 0), (0.099999, 1, 0), (0.9, 1, 1), (1.0, 1, 1))

    assert [each.count for each in told.bins] == [1, 1, 0, 0, 0, 0, 0, 0, 0, 2]


def test_a_bin_says_what_was_said_and_what_was_right() -> None:
    told = found((0.82, 10, 6), (0.86, 10, 8))

    assert (told.bins[8].said, told.bins[8].right) == (0.84, 0.7)
    assert (told.said, told.right) == (0.84, 0.7)
    assert told.error == 0.14


def test_the_error_is_of_all_bins_by_how_many_they_hold() -> None:
    """Too sure in one and too modest in another does not cancel out."""
    told = found((0.9, 30, 24), (0.3, 10, 6))

    assert told.error == pytest.approx(0.75 * 0.1 + 0.25 * 0.3)


def test_an_empty_log_is_told_without_a_number_that_nobody_measured() -> None:
    told = found()

    assert (told.predictions, told.error, told.by_chance) == (0, 0.0, 0.0)
    assert told.recommended.threshold is told.recommended.nearest is None


# -- what chance alone makes -----------------------------------------------------------------------


@for_each("count", [1, 2, 10, 50, 400])
@for_each("said", [0.05, 0.31, 0.5, 0.77, 0.98])
def test_chance_makes_about_what_the_binomial_distribution_does(said: float, count: int) -> None:
    exact = sum(
        comb(count, right) * said**right * (1 - said) ** (count - right) * abs(right / count - said)
        for right in range(count + 1)
    )
    told = found((said, count, 0))

    assert told.by_chance == pytest.approx(exact, rel=0.3, abs=0.005)


def test_chance_makes_less_of_more() -> None:
    floors = [found((0.7, count, 0), (0.4, count, 0)).by_chance for count in (1, 10, 100, 1_000)]

    assert floors == sorted(floors, reverse=True)
    assert floors[-1] < floors[0] / 10


def test_what_is_certain_leaves_nothing_to_chance() -> None:
    assert found((1.0, 5, 5), (0.0, 5, 0)).by_chance == 0


# -- intervals -------------------------------------------------------------------------------------


def test_wilsons_interval_is_the_one_in_the_books() -> None:
    """Newcombe (1998), his four examples."""
    for part, whole, low, high in (
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ):
        assert wilson(part, whole) == pytest.approx((low, high), abs=5e-5)


def test_nothing_seen_says_nothing() -> None:
    assert wilson(0, 0) == (0.0, 1.0)


# -- the recommended threshold ---------------------------------------------------------------------


@given(SURE, RATES)
@example(scored((0.95, 60, 60)), 50_000)
def test_what_is_recommended_keeps_the_error_rate(
    predictions: list[ScoredPrediction], rate: int
) -> None:
    told = recommend(predictions, rate)
    if told.threshold is None:
        return
    taken = [each.correct for each in predictions if each.probability >= told.threshold * MILLION]

    assert (told.acted, told.wrong) == (len(taken), taken.count(False))
    assert told.wrong * MILLION <= rate * told.acted
    assert wilson(told.wrong, told.acted, ONE_SIDE)[1] <= rate / MILLION + 1e-6


@given(SURE, RATES)
@example(scored((0.95, 60, 60)), 50_000)
def test_no_lower_threshold_that_acts_on_more_would_keep_it(
    predictions: list[ScoredPrediction], rate: int
) -> None:
    told = recommend(predictions, rate)
    least = min(MILLION // 2, MILLION - rate)
    below = round((told.threshold if told.threshold is not None else 1.01) * 100)
    for hundredth in range(-(-least // 10_000), below):
        taken = [each.correct for each in predictions if each.probability >= hundredth * 10_000]
        if len(taken) > told.acted:
            assert wilson(taken.count(False), len(taken), ONE_SIDE)[1] > rate / MILLION - 1e-6


@given(SURE, RATES, RATES)
def test_a_lower_rate_never_recommends_a_lower_threshold(
    predictions: list[ScoredPrediction], one: int, other: int
) -> None:
    strict, lax = (recommend(predictions, rate) for rate in sorted((one, other)))
    if strict.threshold is not None:
        assert lax.threshold is not None
        assert strict.threshold >= lax.threshold


def test_the_lowest_threshold_that_keeps_it_is_recommended() -> None:
    told = found((0.95, 200, 199), (0.85, 100, 99), (0.65, 100, 70)).recommended

    assert (told.threshold, told.acted, told.wrong) == (0.85, 300, 2)
    assert told.coverage == 0.75
    assert told.at_most == pytest.approx(0.0199, abs=1e-4)


def test_no_threshold_is_recommended_below_what_was_ever_seen() -> None:
    """Nobody knows how right it is there."""
    assert found((0.93, 100, 100)).recommended.threshold == 0.93


def test_what_is_more_probably_wrong_than_right_is_not_done_though_it_is_rare() -> None:
    """The sum of errors would allow it."""
    told = found((0.99, 1_000, 1_000), (0.5, 2, 1), (0.2, 5, 1))

    assert told.recommended.threshold == 0.5


def test_who_allows_more_than_half_to_be_wrong_may_go_below_even() -> None:
    assert found((0.45, 200, 100), rate=0.6).recommended.threshold == 0.45


def test_none_wrong_of_few_promises_little_and_it_says_how_many_are_missing() -> None:
    told = found((0.9, 20, 20)).recommended

    assert (told.threshold, told.nearest) == (None, 0.9)
    assert (told.more, told.more_in_all) == (32, 32)
    assert found((0.9, 51, 51)).recommended.threshold is None
    assert found((0.9, 52, 52)).recommended.threshold == 0.9  # 20 and the 32


@given(st.integers(1, 60), st.integers(0, 2), st.integers(20_000, 900_000))
def test_as_many_more_as_it_says_are_enough(right: int, wrong: int, rate: int) -> None:
    count = right + wrong
    told = found((0.9, count, right), rate=rate / MILLION).recommended
    if told.nearest is None:
        return
    # Not every number has the same share; one that is a multiple of it has.
    times = -(-(count + told.more) // count)
    enough = found((0.9, count * times, right * times), rate=rate / MILLION).recommended
    assert enough.threshold == 0.9


def test_what_is_missing_is_told_of_all_predictions_too() -> None:
    """One in four is as sure as it takes."""
    told = found((0.9, 20, 20), (0.6, 60, 30)).recommended

    assert (told.nearest, told.more, told.more_in_all) == (0.9, 32, 128)


def test_too_many_wrong_is_not_too_few_predictions() -> None:
    told = found((0.9, 500, 400)).recommended

    assert told.threshold is told.nearest is None


# -- in words --------------------------------------------------------------------------------------


@for_each(
    "groups, said, grounds",
    [
        (
            [(0.95, 200, 199), (0.4, 20, 8)],
            "for at most 5% wrong: run.threshold = 0.95",
            "it would have acted on 200 of 220, 1 wrong: 0.5%, with 95% confidence at most 2.2%",
        ),
        (
            [(0.9, 20, 20)],
            "for at most 5% wrong: too few sure predictions to promise it for any run.threshold",
            "0.90 is nearest: it takes 32 more that sure, about 32 in all, if no larger share of "
            "them is wrong than until now",
        ),
        (
            [(0.9, 500, 400)],
            "for at most 5% wrong: not reachable with any run.threshold at the present share of "
            "wrong ones",
            "what it is surest of is wrong as often or more: allow more, or let it see more first",
        ),
        (
            [(0.9, 20, 19)],  # just as many as are allowed
            "for at most 5% wrong: not reachable with any run.threshold at the present share of "
            "wrong ones",
            "what it is surest of is wrong as often or more: allow more, or let it see more first",
        ),
        (
            [(0.9, 201, 191)],  # hardly fewer
            "for at most 5% wrong: far too few sure predictions to promise it for any "
            "run.threshold",
            "0.90 is nearest, and it takes more than 100 times as many as there are: allow more",
        ),
        (
            [(0.3, 500, 150)],
            "for at most 5% wrong: no run.threshold can be recommended",
            "it was never surer than even: let it see more first",
        ),
    ],
)
def test_advice_names_the_key_to_set_and_its_grounds(
    groups: list[tuple[float, int, int]], said: str, grounds: str
) -> None:
    assert advice(found(*groups)) == (said, grounds)


def test_one_prediction_is_no_plural() -> None:
    assert counted(found((0.9, 1, 1))) == "1 prediction"


# -- the picture -----------------------------------------------------------------------------------

SVG = "{http://www.w3.org/2000/svg}"


@given(SCORED, RATES)
def test_the_picture_is_well_formed_and_nothing_is_outside_it(
    predictions: list[ScoredPrediction], rate: int
) -> None:
    picture = ElementTree.fromstring(draw(calibrated(predictions, rate), "a <model>"))
    width, height = map(float, picture.attrib["viewBox"].split()[2:])

    for each in picture.iter():
        for name in ("x", "x1", "x2", "cx"):
            assert 0 <= float(each.get(name, 0)) <= width
        for name in ("y", "y1", "y2", "cy"):
            assert 0 <= float(each.get(name, 0)) <= height


def test_the_picture_has_a_point_with_its_interval_and_a_bar_for_every_bin_that_is_not_empty() -> (
    None
):
    told = found((0.95, 200, 190), (0.85, 100, 60), (0.15, 10, 0))
    picture = ElementTree.fromstring(draw(told, "foresight"))
    points = picture.findall(f"{SVG}circle")
    texts = [each.text for each in picture.findall(f"{SVG}text")]

    assert len(points) == 3
    # One that was as right as it said is on the line: as far across as it is up.
    across = (float(points[-1].attrib["cx"]) - 70) / 380
    up = 1 - (float(points[-1].attrib["cy"]) - 105) / 290
    assert (across, up) == pytest.approx((0.95, 0.95), abs=1e-3)
    assert {"200", "100", "10"} <= set(texts)
    assert "How sure foresight was, and how right (310 predictions)" in texts
    assert set(advice(told)) <= set(texts)
