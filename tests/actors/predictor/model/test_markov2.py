"""Given transitions that were counted: what comes next, in millionths."""

from hypothesis import given
from hypothesis import strategies as st

from rutter.actors.predictor.model.markov2 import Markov2, distribution
from rutter.events.run_settings import MILLION

tokens = st.sampled_from(["a", "b", "c", "d"])
journeys = st.lists(tokens, max_size=30)


def model_of(*journeys: list[str]) -> Markov2:
    model = Markov2()
    for journey in journeys:
        for place, token in enumerate(journey):
            model.observe(journey[:place], token)
    return model


def test_with_two_actions_of_history_seen_together_it_is_second_order() -> None:
    model = model_of(list("abc"), list("xbd"))
    assert model.predict("ab") == ("second_order", [("c", MILLION)])
    assert model.predict("xb") == ("second_order", [("d", MILLION)])


def test_two_actions_never_seen_together_fall_back_to_first_order() -> None:
    model = model_of(list("abc"), list("xbd"))
    assert model.predict("zb") == ("first_order", [("c", 500_000), ("d", 500_000)])


def test_with_one_action_of_history_it_is_first_order() -> None:
    assert model_of(list("abc")).predict("b") == ("first_order", [("c", MILLION)])


def test_without_history_nothing_is_predicted() -> None:
    assert model_of(list("abc")).predict("") is None


def test_what_was_never_followed_predicts_nothing() -> None:
    assert model_of(list("abc")).predict("bc") is None
    assert Markov2().predict("ab") is None


def test_only_the_last_two_actions_count() -> None:
    assert model_of(list("abc")).predict("zzzab") == ("second_order", [("c", MILLION)])


def test_confidence_is_count_by_total() -> None:
    assert distribution({"a": 3, "b": 1}) == [("a", 750_000), ("b", 250_000)]


def test_what_rounding_leaves_goes_to_the_largest_remainder() -> None:
    assert distribution({"a": 1, "b": 1, "c": 1}) == [
        ("a", 333_334),
        ("b", 333_333),
        ("c", 333_333),
    ]
    assert distribution({"a": 2, "b": 1}) == [("a", 666_667), ("b", 333_333)]
    assert distribution({"a": 1, "b": 2, "c": 4}) == [
        ("c", 571_429),
        ("b", 285_714),
        ("a", 142_857),
    ]


@given(st.dictionaries(st.text(max_size=5), st.integers(1, 10**9), min_size=1, max_size=40))
def test_probabilities_sum_to_one_million(counts: dict[str, int]) -> None:
    ranked = distribution(counts)
    assert sum(share for _, share in ranked) == MILLION
    assert {token for token, _ in ranked} == set(counts)


@given(st.dictionaries(st.text(max_size=5), st.integers(1, 50), min_size=1, max_size=40))
def test_no_share_is_more_than_one_millionth_from_the_truth(counts: dict[str, int]) -> None:
    total = sum(counts.values())
    for token, share in distribution(counts):
        assert abs(share * total - counts[token] * MILLION) < total


@given(
    st.dictionaries(st.text(max_size=5), st.integers(1, 5), min_size=1, max_size=20).flatmap(
        lambda counts: st.tuples(st.just(counts), st.permutations(list(counts.items())))
    )
)
def test_the_order_is_by_count_then_by_token_however_it_was_counted(
    counted: tuple[dict[str, int], list[tuple[str, int]]],
) -> None:
    counts, shuffled = counted
    ranked = distribution(dict(shuffled))
    assert ranked == distribution(counts)
    assert [token for token, _ in ranked] == sorted(counts, key=lambda t: (-counts[t], t))


@given(journeys, journeys)
def test_counts_never_fall(first: list[str], second: list[str]) -> None:
    before, after = model_of(first), model_of(first, second)
    for token, counts in before.first.items():
        assert all(after.first[token][each] >= count for each, count in counts.items())
    for pair, counts in before.second.items():
        assert all(after.second[pair][each] >= count for each, count in counts.items())


@given(journeys)
def test_every_transition_of_first_and_second_order_is_counted(journey: list[str]) -> None:
    model = model_of(journey)
    counted = [sum(counts.values()) for counts in model.first.values()]
    assert sum(counted) == max(len(journey) - 1, 0)
    pairs = [sum(counts.values()) for counts in model.second.values()]
    assert sum(pairs) == max(len(journey) - 2, 0)


@given(journeys, st.lists(tokens, max_size=3))
def test_predicting_changes_nothing(journey: list[str], history: list[str]) -> None:
    model = model_of(journey)
    assert model.predict(history) == model.predict(history)
    assert (model.first, model.second) == (model_of(journey).first, model_of(journey).second)
