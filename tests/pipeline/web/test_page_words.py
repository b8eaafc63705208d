"""Page words: what a time, an outcome and a count are called."""

from rutter.pipeline.web.page_words import lasted, number, outcome, percent
from tests.support.case_table import for_each


@for_each(
    "ms, said",
    [
        (400, "0.4 s"),
        (9_949, "9.9 s"),
        (12_300, "12 s"),
        (185_000, "3 min 5 s"),
        (7_810_000, "2 h 10 min"),
    ],
)
def test_how_long_it_took_is_said_as_exactly_as_it_matters(ms: float, said: str) -> None:
    assert lasted(ms) == said


@for_each(
    "reason, failure, paused, tone, words",
    [
        ("completed", "", None, "done", "Done"),
        ("completed_unverified", "", None, "waits", "Done, not proven"),
        (None, None, None, "moves", "Running"),
        (None, None, "the person", "waits", "Paused"),
        ("failed", "needs_person", None, "waits", "Needs a person"),
        ("failed", "lost", None, "failed", "Failed"),
        ("of_a_later_version", "", None, "failed", "Failed"),
    ],
)
def test_an_outcome_has_words_beside_its_colour(
    reason: str | None, failure: str | None, paused: str | None, tone: str, words: str
) -> None:
    assert outcome(reason, failure, paused) == (tone, words)


def test_counts_and_shares_are_said_in_words() -> None:
    assert (number(1, "step"), number(1_400, "step"), percent(823_400)) == (
        "1 step",
        "1,400 steps",
        "82 %",
    )
