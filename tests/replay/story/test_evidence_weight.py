"""Which evidence decides, and how sure the verdict is over all."""

from rutter.events.critic import ActionJudged, Evidence
from rutter.replay.story.evidence_weight import confidence_shown, deciding, overall

HELD = Evidence("DOM", "/paid", 1_000_000)
MISSED = Evidence("DOM", "Order 7", 200_000)
SEEN = Evidence("VISION", "Order 7", 500_000)


def test_what_failed_decides_over_what_held_wherever_it_stands() -> None:
    assert deciding((HELD, MISSED)) == deciding((MISSED, HELD)) == MISSED


def test_vision_decides_nothing_beside_an_authority() -> None:
    lower = Evidence("VISION", "Order 7", 100_000)

    assert deciding((HELD, SEEN)) == deciding((HELD, lower)) == HELD
    assert deciding((SEEN,)) == SEEN


def test_nothing_decides_where_there_is_nothing() -> None:
    assert deciding(()) is None
    assert overall(ActionJudged(1, 1, "unknown", "r")) == 0


def test_of_several_that_held_the_last_is_told() -> None:
    file = Evidence("FILE", "a.csv", 1_000_000)

    assert deciding((HELD, file)) == file


def test_the_confidence_over_all_is_the_judges_own() -> None:
    judged = ActionJudged(1, 1, "failed", "r", (MISSED, SEEN), 650_000)

    assert overall(judged) == 650_000
    assert [confidence_shown(each, judged) for each in judged.evidence] == [650_000, 500_000]


def test_a_log_from_before_it_was_counted_says_that_of_its_evidence() -> None:
    assert overall(ActionJudged(1, 1, "no_effect", "r", (MISSED,))) == 200_000
