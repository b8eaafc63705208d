"""`rutter metrics` as a person types it: the seeds' numbers, and whether it can be believed."""

from pathlib import Path
from xml.etree import ElementTree

import pytest

from rutter.events.predictor import Candidate, PredictionMade, SessionForgotten, TransitionLearned
from rutter.events.run_settings import PredictorName
from rutter.events.signature import doing, signature, token
from rutter.events.vocabulary import AnyEvent
from tests.support import shop_facts
from tests.support.case_table import for_each
from tests.support.command_shell import Ended, Rutter
from tests.support.timed_log import Ledger

BUY, PAY = shop_facts.click("#buy"), shop_facts.click("#pay")
NEXT = "rutter record NAME --url URL"


def told(said: float, count: int, right: int, model: PredictorName = "foresight") -> list[AnyEvent]:
    """So many predictions of one thing, and what was done instead of some."""
    best = Candidate(doing(BUY), BUY, round(said * 1_000_000), "blend")
    events: list[AnyEvent] = []
    for index in range(count):
        done = BUY if index < right else PAY
        events.append(PredictionMade(model, 0, (best,)))
        events.append(TransitionLearned(token(done), signature(done), done, driver="person"))
    return events


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path / "log.db")


@pytest.fixture
def rutter(ledger: Ledger, tmp_path: Path) -> Rutter:
    """210 predictions of a model that can be believed, and what was done because of it."""
    for said, count, right in ((0.95, 150, 148), (0.75, 40, 30), (0.35, 20, 7)):
        ledger.write(*told(said, count, right), session="taught")
    for number, verdict in enumerate(("confirmed", "confirmed", "no_effect"), 1):
        ledger.write(*told(0.95, 1, 1)[:1], shop_facts.plan(BUY, "prediction", number=number))
        ledger.write(shop_facts.intent(BUY, number), shop_facts.judged(verdict, number))  # type: ignore[arg-type]
    return Rutter(tmp_path)


def squeezed(ended: Ended) -> list[str]:
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.isascii()
    return [" ".join(line.split()) for line in ended.out.splitlines()]


def refused(ended: Ended, what: str, fix: str) -> None:
    assert (ended.code, ended.out) == (2, "")
    said, _, todo = ended.complaint.partition(" -> ")
    assert what in said
    assert fix in todo


def test_every_bin_is_a_line_with_a_bar_of_what_was_right_and_a_mark_at_what_was_said(
    rutter: Rutter,
) -> None:
    lines = squeezed(rutter("metrics"))

    at = lines.index("how sure foresight was, and how right (210 predictions)")
    assert lines[at + 1 : at + 6] == [
        "sure count said right 95% within # right, | said",
        "0.3 to 0.4 20 0.350 0.350 0.18 to 0.57 #######|............",
        "0.7 to 0.8 40 0.750 0.750 0.60 to 0.86 ###############|....",
        "0.9 to 1.0 150 0.950 0.987 0.95 to 1.00 ###################|",
        "said 85.5% on average, was right 88.1%; off by 2.6% over all bins, where chance alone "
        "makes 2.9%",
    ]


def test_what_each_threshold_would_have_done_and_which_is_recommended(rutter: Rutter) -> None:
    lines = squeezed(rutter("metrics"))

    assert "0.70 190 178 12 0.905 0.937" in lines
    assert (
        "for at most 5% wrong: run.threshold = 0.95 (it would have acted on 150 of 210, 2 wrong: "
        "1.3%, with 95% confidence at most 3.9%)"
    ) in lines
    assert "now run.threshold is 0.70: it would have acted on 190, 12 wrong (6.3%)" in lines


def test_who_allows_more_errors_is_recommended_a_lower_threshold(rutter: Rutter) -> None:
    [line] = [
        line
        for line in squeezed(rutter("metrics", "--error-rate", "0.1"))
        if line.startswith("for at most 10% wrong: ")
    ]

    assert line.startswith("for at most 10% wrong: run.threshold = 0.75 ")


def test_what_it_did_alone_is_told_apart(rutter: Rutter) -> None:
    lines = squeezed(rutter("metrics"))

    assert (
        "acted on predictions alone: 3, confirmed 2, wrong 1, without a verdict 0; "
        "not counted above"
    ) in lines


def test_calibration_stands_beneath_the_seeds_fields_in_json(rutter: Rutter) -> None:
    counted = rutter.json("metrics")
    calibration = counted["calibration"]

    assert list(counted)[-2:] == ["models", "calibration"]
    assert counted["total_predictions"] == 212  # the two that it confirmed itself too
    assert (calibration["model"], calibration["models"]) == ("foresight", {"foresight": 210})
    assert (calibration["predictions"], calibration["correct"]) == (210, 185)
    assert [each["count"] for each in calibration["bins"]] == [0, 0, 0, 20, 0, 0, 0, 40, 0, 150]
    assert len(calibration["curve"]) == 21
    assert calibration["recommended"]["threshold"] == 0.95
    assert (calibration["now"]["threshold"], calibration["now"]["wrong"]) == (0.7, 12)
    alone = {"acted": 3, "confirmed": 2, "wrong": 1, "unjudged": 0}
    nobody = dict.fromkeys(alone, 0)
    assert calibration["executions"] == {"alone": alone, "approved": nobody}


def test_the_picture_is_drawn_into_a_file(rutter: Rutter, tmp_path: Path) -> None:
    picture = tmp_path / "sure.svg"
    assert squeezed(rutter("metrics", "--picture", picture))[-1] == f"[OK] {picture}"
    ElementTree.fromstring(picture.read_text("utf-8"))

    picture.unlink()
    assert rutter.json("metrics", "--picture", picture)["total_predictions"] == 212
    assert picture.exists()


def test_a_picture_that_cannot_be_written_is_bad_input(rutter: Rutter, tmp_path: Path) -> None:
    place = tmp_path / "no" / "sure.svg"
    refused(rutter("metrics", "--picture", place), f"{place} cannot be written", "check --picture")


@pytest.mark.parametrize("name", ["sure.png", "sure", "sure.svg.gz"])
def test_what_is_not_called_svg_is_not_drawn(rutter: Rutter, tmp_path: Path, name: str) -> None:
    place = tmp_path / name
    right = place.with_suffix(".svg")
    refused(rutter("metrics", "--picture", place), "drawn as SVG", f"give --picture {right}")
    assert not place.exists()


@for_each("rate", ["0", "1", "1.5", "-0.1", "nan", "inf", "5%", "0.0000001", ""])
def test_what_is_no_share_is_no_error_rate(rutter: Rutter, rate: str) -> None:
    ended = rutter("metrics", f"--error-rate={rate}")
    refused(ended, f"{rate!r} is no share", "above 0 and below 1: 0.05 is one in twenty")


def test_the_model_that_runs_go_by_is_told_and_the_others_are_named(
    rutter: Rutter, ledger: Ledger
) -> None:
    ledger.write(*told(0.5, 8, 4, "markov2"), session="old")

    lines = squeezed(rutter("metrics"))
    assert "how sure foresight was, and how right (210 predictions)" in lines
    command = f"rutter --data {rutter.data} metrics --model markov2"
    assert lines[-1] == f"8 more by markov2: {command}"

    lines = squeezed(rutter("metrics", "--model", "markov2"))
    assert "how sure markov2 was, and how right (8 predictions)" in lines
    # The threshold that is set is not this model's, nor was anything done because of it.
    assert not [line for line in lines if line.startswith(("now", "acted"))]


def test_a_model_that_was_only_acted_on_has_nothing_more_to_tell(
    rutter: Rutter, ledger: Ledger
) -> None:
    ledger.write(*told(0.9, 1, 1, "markov2")[:1], shop_facts.plan(BUY, "prediction"), session="old")
    ledger.write(shop_facts.intent(BUY), shop_facts.judged(), session="old")

    assert rutter.json("metrics")["calibration"]["models"]["markov2"] == 0
    assert not [line for line in squeezed(rutter("metrics")) if " more by " in line]


def test_where_the_model_that_runs_go_by_has_said_nothing_the_last_one_is_told(
    ledger: Ledger, tmp_path: Path
) -> None:
    ledger.write(*told(0.5, 8, 4, "markov2"))

    assert Rutter(tmp_path).json("metrics")["calibration"]["model"] == "markov2"


def test_a_model_that_never_predicted_is_bad_input(rutter: Rutter) -> None:
    ended = rutter("metrics", "--model", "oracle")
    refused(ended, "no prediction of a model 'oracle'", "it has: foresight (210)")


def test_too_few_are_told_with_how_many_are_missing(ledger: Ledger, tmp_path: Path) -> None:
    ledger.write(*told(0.9, 20, 20))
    lines = squeezed(Rutter(tmp_path)("metrics"))

    assert (
        "for at most 5% wrong: too few sure predictions to promise it for any run.threshold (0.90 "
        "is nearest: it takes 32 more that sure, about 32 in all, if no larger share of them is "
        "wrong than until now)"
    ) in lines


def test_without_predictions_it_says_what_to_do(ledger: Ledger, tmp_path: Path) -> None:
    ledger.write(shop_facts.run_of(None))
    rutter = Rutter(tmp_path)

    last = squeezed(rutter("metrics"))[-1]
    assert last.startswith("no prediction was put to the test yet: ")
    assert NEXT in last
    refused(rutter("metrics", "--picture", tmp_path / "p.svg"), "there is nothing to draw", NEXT)
    refused(rutter("metrics", "--model", "foresight"), "no prediction of a model", NEXT)
    calibration = rutter.json("metrics")["calibration"]
    assert (calibration["model"], calibration["predictions"]) == (None, 0)


def test_where_everything_was_forgotten_what_it_did_is_still_told(
    rutter: Rutter, ledger: Ledger
) -> None:
    ledger.write(SessionForgotten("taught"), session="forget")
    lines = squeezed(rutter("metrics"))

    assert lines[-2].startswith("no prediction was put to the test yet: ")
    assert lines[-1].startswith("acted on predictions alone: 3, confirmed 2, wrong 1")
