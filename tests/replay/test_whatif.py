"""What would have been decided under another configuration, given what happened."""

from pathlib import Path

import pytest

from rutter.events.errors import BadInput
from rutter.events.predictor import PredictionMade
from rutter.events.runtime import SessionStarted
from rutter.replay.whatif import (
    ChangedDecision,
    ChangedSettings,
    ScoredPrediction,
    WhatIf,
    ask,
    read_change,
)
from tests.support.case_table import for_each
from tests.support.golden_logs import envelopes


def asked(name: str, change: ChangedSettings) -> WhatIf:
    return ask(envelopes(name), change)


def test_a_higher_threshold_withholds_what_was_not_sure_enough() -> None:
    answer = asked("free", ChangedSettings(threshold=1.0))
    sure = asked("free", ChangedSettings(threshold=0.5))
    assert sure.differences == ()
    assert answer.count("lost") == 0  # every prediction there was a certainty: one recording


def test_no_order_at_all_predicts_nothing_and_withholds() -> None:
    answer = asked("free", ChangedSettings(order=0))
    lost = [found for found in answer.differences if found.effect == "lost"]
    assert lost
    assert all(found.instead.startswith("none") for found in lost)


def test_fewer_steps_stop_the_run_where_they_are_used_up() -> None:
    answer = asked("order", ChangedSettings(max_steps=5))
    lost = [found for found in answer.differences if found.effect == "lost"]
    assert {found.step for found in lost} >= {6, 7, 20}
    assert {found.outcome for found in lost} == {"confirmed", "answered"}


def test_a_wrong_execution_that_would_have_been_avoided_is_counted() -> None:
    """A page that lied was believed by nobody, but clicked: not going there avoids it."""
    answer = asked("trouble", ChangedSettings(hosts=()))
    lost = [found for found in answer.differences if found.effect == "lost"]
    avoided = [found for found in lost if found.outcome not in ("", "confirmed")]
    assert 0 < len(avoided) < len(lost)
    assert answer.count("lost", wrong=True) == len(avoided)


def test_a_word_on_the_denylist_changes_the_reason_it_asks() -> None:
    answer = asked("order", ChangedSettings(deny=("review",)))
    assert any("The element says 'review'" in found.instead for found in answer.differences)
    assert {found.effect for found in answer.differences} == {"same"}


def test_hosts_that_are_not_named_are_denied() -> None:
    answer = asked("order", ChangedSettings(hosts=()))
    refused = [found for found in answer.differences if "private_network" in found.instead]
    sessions = {e.session for e in envelopes("order") if isinstance(e.event, SessionStarted)}
    assert {found.session for found in refused} == sessions
    assert not [found for found in refused if found.effect == "gained"]
    # The first step of each, which goes there, and every one on a page of it.
    assert {found.step for found in refused if found.session == refused[0].session} >= {1, 2}


def test_nothing_is_simulated_past_a_difference() -> None:
    """Each turn is judged given what was recorded: one difference does not make the rest differ."""
    log = envelopes("order")
    answer = ask(log, ChangedSettings(deny=("review",)))
    assert len(answer.differences) < 5


def test_predictions_are_scored_by_what_was_confirmed_next() -> None:
    answer = asked("order", ChangedSettings())
    made = [e for e in envelopes("order") if isinstance(e.event, PredictionMade)]
    with_candidates = sum(
        bool(e.event.candidates) for e in made if isinstance(e.event, PredictionMade)
    )
    assert 0 < len(answer.predictions) <= with_candidates
    assert all(scored.correct for scored in answer.predictions)


def test_one_session_can_be_asked_alone() -> None:
    log = envelopes("order")
    only = next(e.session for e in log if isinstance(e.event, SessionStarted))
    answer = ask(log, ChangedSettings(max_steps=5), only)
    assert {found.session for found in answer.differences} == {only}


def test_effects_are_counted() -> None:
    found = [
        ChangedDecision(1, "s", 1, "planner", 1, "a", "b", "lost", "confirmed"),
        ChangedDecision(2, "s", 2, "planner", 2, "a", "b", "lost", "no_effect"),
        ChangedDecision(3, "s", 3, "planner", 3, "a", "b", "gained"),
    ]
    answer = WhatIf(3, 1, tuple(found), (ScoredPrediction(1, True),))
    assert answer.count("lost") == 2
    assert answer.count("lost", wrong=True) == 1
    assert answer.count("gained") == 1


# -- the file ------------------------------------------------------------------------------------


def written(tmp_path: Path, text: str) -> Path:
    place = tmp_path / "what-if.toml"
    place.write_text(text)
    return place


def test_a_change_is_read_from_toml(tmp_path: Path) -> None:
    change = read_change(written(tmp_path, 'threshold = 0.7\norder = 1\ndeny = ["pay"]\n'))
    assert change == ChangedSettings(threshold=0.7, order=1, deny=("pay",))


@for_each(
    "text, said",
    [
        ("thresold = 0.7", "thresold"),
        ("threshold = 1.7", "threshold"),
        ('threshold = "high"', "threshold"),
        ("order = 3", "order"),
        ("threshold = ", "TOML"),
    ],
)
def test_a_misspelt_key_or_a_wrong_value_is_refused_with_its_place(
    tmp_path: Path, text: str, said: str
) -> None:
    with pytest.raises(BadInput, match=said):
        read_change(written(tmp_path, text))


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot be read"):
        read_change(tmp_path / "nowhere.toml")


# -- another model -------------------------------------------------------------------------------


def test_another_model_predicts_over_the_recorded_history() -> None:
    recorded, other = (
        asked("order", ChangedSettings()),
        asked("order", ChangedSettings(predictor="foresight")),
    )
    # It says something wherever something was learned; markov2 only behind what it has seen.
    assert len(other.predictions) > len(recorded.predictions)
    assert sum(each.correct for each in other.predictions) >= sum(
        each.correct for each in recorded.predictions
    )


def test_where_both_models_come_to_the_same_nothing_differs() -> None:
    """Each has a probability of its own, and is taught what it asks for: neither is a decision."""
    answer = asked("free", ChangedSettings(predictor="foresight"))
    assert (answer.count("gained"), answer.count("lost")) == (0, 0)
    assert {found.actor for found in answer.differences} == {"predictor"}
    assert all(found.recorded != found.instead for found in answer.differences)
    free = next(e.session for e in reversed(envelopes("free")))
    followed = [found for found in answer.differences if found.session == free]
    assert len(followed) <= 1  # where it began: the free run itself went the same way


def test_what_another_model_is_less_sure_of_would_have_been_suggested() -> None:
    change = ChangedSettings(predictor="foresight", threshold=1.0, suggest=0.5)
    lost = [found for found in asked("free", change).differences if found.effect == "lost"]
    assert lost
    assert all("confidence_to_suggest_0." in found.instead for found in lost)
    never = ChangedSettings(predictor="foresight", threshold=1.0)
    instead = {f.instead for f in asked("free", never).differences if f.effect == "lost"}
    assert all(said.startswith("withheld: confidence_too_low_0.") for said in instead)


def test_a_step_is_lost_once_however_many_of_its_turns_end_otherwise() -> None:
    lost = [
        (found.session, found.step)
        for found in asked("trouble", ChangedSettings(hosts=())).differences
        if found.effect == "lost"
    ]
    assert len(lost) == len(set(lost))


def test_a_model_and_what_it_may_suggest_are_read_from_toml(tmp_path: Path) -> None:
    change = read_change(written(tmp_path, 'predictor = "markov2"\nsuggest = 0.4\n'))
    assert change == ChangedSettings(predictor="markov2", suggest=0.4)
    for text in ('predictor = "markov3"', "suggest = 4"):
        with pytest.raises(BadInput, match=text.partition(" ")[0]):
            read_change(written(tmp_path, text))
