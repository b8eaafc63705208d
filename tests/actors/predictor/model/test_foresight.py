"""Given events that were observed: what the default model says comes next."""

import hashlib
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rutter import actors
from rutter.actors.predictor.model.calibration import SUREST, LearnedCalibration
from rutter.actors.predictor.model.contexts import (
    BREAK,
    Contexts,
    Successors,
    Trails,
    chain_of,
    key_of,
    keys_on_page,
)
from rutter.actors.predictor.model.foresight import Foresight
from rutter.events.run_settings import MILLION
from tests.support.case_table import for_each
from tests.support.example_counts import examples

ROOT = Path(actors.__file__).resolve().parent.parent
GOLDEN = "9247ca0c9a1cb009"
GOLDEN_ON_PAGES = "6789e4ae925e1f40"


tokens = st.sampled_from(["a", "b", "c", "d", "e"])
journeys = st.lists(st.lists(tokens, max_size=15), max_size=8)
histories = st.lists(st.one_of(tokens, st.text(max_size=2)), max_size=60)
places = st.one_of(st.just(""), st.sampled_from(["/orders", "/customers"]), st.text(max_size=3))
walks = st.lists(st.lists(st.tuples(places, tokens), max_size=15), max_size=8)
Walk = Sequence[tuple[str, str]]  # the page that one was on, what was done there


def taught(model: Foresight, journeys: Sequence[Sequence[str]]) -> Foresight:
    for journey in journeys:
        for place, token in enumerate(journey):
            model.observe(journey[:place], token)
    return model


def walked(model: Foresight, walks: Sequence[Walk]) -> Foresight:
    for walk in walks:
        history: list[str] = []
        for place, token in walk:
            model.observe(history, token, place=place)
            history.append(token)
    return model


def state_of(thing: object) -> object:
    """Everything that a model holds, in the order in which it holds it."""
    names = getattr(thing, "__slots__", None) or getattr(thing, "__dict__", None)
    if isinstance(thing, dict):
        return [(key, state_of(value)) for key, value in thing.items()]
    if isinstance(thing, list):
        return [state_of(each) for each in thing]
    if names is None:
        return thing
    return [(name, state_of(getattr(thing, name))) for name in sorted(names)]


def wandering(sessions: int) -> list[list[str]]:
    """Journeys with habits, detours and repeats, made with whole numbers alone."""
    made, number = [], 12345
    for _ in range(sessions):
        journey: list[str] = []
        for place in range(14):
            number = (number * 1103515245 + 12345) % 2**31
            chance = number >> 16
            step = chance % 23 if chance % 4 == 0 else (place * 3 + chance % 2) % 11
            journey.append(journey[-1] if journey and chance % 9 == 0 else f"step {step}")
        made.append(journey)
    return made


def digest_of_predictions(*pages: str) -> str:
    model = Foresight()
    digest = hashlib.sha256()
    for number, journey in enumerate(wandering(60)):
        for at, token in enumerate(journey):
            place = pages[(number * at + len(journey[at - 1])) % len(pages)] if pages else ""
            digest.update(repr(model.predict(journey[:at], 10, place=place)).encode())
            model.observe(journey[:at], token, place=place)
    digest.update(repr(state_of(model)).encode())
    return digest.hexdigest()[:16]


# Two forms with the same fields and the same button, and one that is shorter.
FORMS = {
    "hire": "name street next date next agree next iban next finish",
    "claim": "name street next date amount next reason next agree next send",
    "move": "street next date next agree next send",
}


def form_filling(sessions: int) -> list[Walk]:
    """People fill in forms, from the start or from where they left off, and are distracted."""
    made: list[Walk] = []
    number = 99
    for session in range(sessions):
        name = list(FORMS)[session * 7 % 5 % 3]
        steps = FORMS[name].split()
        begun = session * 5 % len(steps) if session % 2 else 0
        page = steps[:begun].count("next")
        walk: list[tuple[str, str]] = []
        for step in steps[begun:]:
            number = (number * 1103515245 + 12345) % 2**31
            if number >> 16 & 15 == 0:
                walk.append((f"/{name}/{page}", "help"))
            walk.append((f"/{name}/{page}", step))
            page += step == "next"
        made.append(walk)
    return made


def times_right(walks: Sequence[Walk]) -> int:
    """How often the best one came, each asked before it was learned."""
    model, right = Foresight(), 0
    for walk in walks:
        history: list[str] = []
        for place, token in walk:
            found = model.predict(history, 1, place=place)
            right += bool(found) and found[0][0] == token
            model.observe(history, token, place=place)
            history.append(token)
    return right


@given(walks=walks, history=histories, place=places, k=st.integers(0, 12))
def test_what_it_says_is_best_first_and_no_more_than_certain(
    walks: list[Walk], history: list[str], place: str, k: int
) -> None:
    found = walked(Foresight(), walks).predict(history, k, place=place)
    shares = [share for _, share in found]
    assert len(found) <= k
    assert len({token for token, _ in found}) == len(found)
    assert shares == sorted(shares, reverse=True)
    assert all(isinstance(share, int) and share >= 0 for share in shares)
    assert sum(shares) <= MILLION


@given(walks=walks, asked=st.lists(st.tuples(histories, places), max_size=5))
def test_asking_it_changes_nothing_in_it(
    walks: list[Walk], asked: list[tuple[list[str], str]]
) -> None:
    model = walked(Foresight(), walks)
    before = repr(state_of(model))
    for history, place in asked:
        model.predict(history, 5, place=place)
    assert repr(state_of(model)) == before


@given(journeys)
def test_the_same_events_in_the_same_order_make_the_same_model(journeys: list[list[str]]) -> None:
    assert state_of(taught(Foresight(), journeys)) == state_of(taught(Foresight(), journeys))


def test_which_of_two_came_last_matters() -> None:
    first = taught(Foresight(), [list("ab"), list("ac")])
    second = taught(Foresight(), [list("ac"), list("ab")])
    assert state_of(first) != state_of(second)


def test_the_numbers_are_those_that_were_written_down() -> None:
    """They are in logs: who changes them on purpose gives the logic a new version."""
    assert digest_of_predictions() == GOLDEN
    assert digest_of_predictions("/orders", "/customers") == GOLDEN_ON_PAGES


@pytest.mark.slow
@pytest.mark.parametrize("seed", ["0", "4711"])
def test_no_number_depends_on_how_strings_are_hashed(seed: str) -> None:
    script = (
        "import importlib.util as u\n"
        f"s = u.spec_from_file_location('these', {str(Path(__file__))!r})\n"
        "m = u.module_from_spec(s); s.loader.exec_module(m)\n"
        "print(m.digest_of_predictions(), m.digest_of_predictions('/orders', '/customers'))"
    )
    said = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert said.stdout.split() == [GOLDEN, GOLDEN_ON_PAGES]


def test_who_learned_nothing_says_nothing() -> None:
    assert Foresight().predict([], 3) == []
    assert Foresight().predict(["a"], 3) == []


def test_what_began_every_session_is_expected_at_the_start() -> None:
    model = taught(Foresight(), [list("abc")] * 20)
    assert model.predict([], 1)[0][0] == "a"


def test_an_unknown_past_leaves_what_is_usual_and_little_certainty() -> None:
    model = taught(Foresight(), [list("abcab")] * 5)
    (best, share), *_ = model.predict(["never seen", "nor this"], 3)
    assert best in {"a", "b"}
    assert share < MILLION * 3 // 4


def test_seen_once_is_not_certain() -> None:
    (best, share), *_ = taught(Foresight(), [list("abc")]).predict(list("ab"), 3)
    assert best == "c"
    assert share < MILLION * 9 // 10


def test_what_always_came_is_nearly_certain_but_never_quite() -> None:
    model = taught(Foresight(), [list("abcdefghij")] * 60)
    (best, share), *_ = model.predict(list("abcde"), 3)
    assert best == "f"
    assert MILLION * 95 // 100 < share <= int(SUREST * MILLION)


def test_two_steps_back_tell_apart_what_one_does_not() -> None:
    model = taught(Foresight(), [list("abc"), list("xbd")] * 15)
    assert model.predict(list("ab"), 1)[0][0] == "c"
    assert model.predict(list("xb"), 1)[0][0] == "d"


def test_a_new_habit_wins_over_a_longer_old_one() -> None:
    model = taught(Foresight(), [list("abc")] * 60 + [list("abd")] * 40)
    assert model.predict(list("ab"), 1)[0][0] == "d"


def test_how_a_session_began_tells_what_ends_it() -> None:
    model = taught(Foresight(), [list("amnopx"), list("bmnopy")] * 40)
    assert model.predict(list("amnop"), 1)[0][0] == "x"
    assert model.predict(list("bmnop"), 1)[0][0] == "y"


def test_coins_are_not_believed_to_have_a_memory() -> None:
    tosses = [["toss", "heads" if toss * 7919 % 13 < 7 else "tails"] for toss in range(400)]
    (_, share), *_ = taught(Foresight(), tosses).predict(["toss"], 2)
    assert MILLION * 40 // 100 < share < MILLION * 75 // 100


def test_what_it_brought_about_itself_teaches_no_calibration() -> None:
    model = taught(Foresight(), wandering(10))
    before = repr([state_of(part) for part in (model.calibration, model.factors, model.trust)])
    seen = model.total
    model.observe(["step 1"], "step 2", measured=False)
    assert model.total == seen + 1
    assert before == repr(
        [state_of(part) for part in (model.calibration, model.factors, model.trust)]
    )


def test_what_was_taken_back_is_expected_less() -> None:
    model = taught(Foresight(), [list("abc")] * 4 + [list("abd")] * 3)
    before = dict(model.predict(list("ab"), 5))
    model.doubt(list("ab"), "c")
    after = dict(model.predict(list("ab"), 5))
    assert after["c"] < before["c"]


@given(journeys, histories, tokens)
def test_anything_may_be_taken_back_and_it_goes_on(
    journeys: list[list[str]], history: list[str], token: str
) -> None:
    model = taught(Foresight(), journeys)
    for _ in range(3):
        model.doubt(history, token)
    for journey in journeys:
        for place, each in enumerate(journey):
            model.doubt(journey[:place], each)
    taught(model, journeys)
    assert len(model.predict(history, 3)) <= 3


def test_one_history_leads_elsewhere_on_another_page() -> None:
    orders = [("/orders", "open"), ("/orders/new", "next"), ("/orders/new/2", "pay")]
    claims = [("/claims", "open"), ("/claims/new", "next"), ("/claims/new/2", "describe")]
    model = walked(Foresight(), [orders, claims] * 12)
    (best, share), *_ = model.predict(["open", "next"], 2, place="/orders/new/2")
    assert (best, share > MILLION * 8 // 10) == ("pay", True)
    (best, share), *_ = model.predict(["open", "next"], 2, place="/claims/new/2")
    assert (best, share > MILLION * 8 // 10) == ("describe", True)
    (_, share), *_ = model.predict(["open", "next"], 2)
    assert share < MILLION * 7 // 10


@for_each("history", [["never seen"], ["open", "", "never seen"], ["open", ""]])
def test_a_page_that_is_known_well_makes_up_for_an_unknown_history(history: list[str]) -> None:
    walk = [("/desk", "open"), ("/orders", "search"), ("/orders", "pick"), ("/order", "print")]
    other = [("/desk", "open"), ("/mail", "read")]
    model = walked(Foresight(), [walk, other] * 12)
    assert model.predict(history, 1, place="/order")[0][0] == "print"
    assert model.predict(history, 1, place="/mail")[0][0] == "read"


def test_with_the_page_more_of_what_looks_alike_is_foreseen() -> None:
    walks = form_filling(150)
    steps = sum(map(len, walks))
    without = times_right([[("", token) for _, token in walk] for walk in walks])
    assert times_right(walks) > without + steps // 10


def test_a_page_that_tells_nothing_costs_next_to_nothing() -> None:
    journeys = wandering(200)
    alone = times_right([[("", token) for token in journey] for journey in journeys])
    for places in (["/"], ["/a", "/b", "/c", "/d", "/e"]):
        walks = [
            [(places[(number * 7 + at * 3) % len(places)], token) for at, token in enumerate(each)]
            for number, each in enumerate(journeys)
        ]
        assert times_right(walks) > alone - sum(map(len, journeys)) // 100


def test_what_was_taken_back_on_a_page_is_expected_less_there() -> None:
    model = walked(Foresight(), [[("/orders", "delete")], [("/orders", "print")]] * 6)
    before = dict(model.predict([], 5, place="/orders"))
    model.doubt([], "delete", place="/orders")
    assert dict(model.predict([], 5, place="/orders"))["delete"] < before["delete"]


def test_what_was_before_a_break_is_no_context_of_what_came_after() -> None:
    assert chain_of([1, 2, BREAK, 3]) == chain_of([7, 8, BREAK, 3])
    assert chain_of([1, 2, BREAK]) == chain_of([BREAK]) != chain_of([])
    assert len({*chain_of([BREAK, 3]), *chain_of([3])}) == len(chain_of([BREAK, 3])) + 1
    model = taught(Foresight(), [["a", "b", "c"], ["x", "b", "d"]] * 15)
    crossing = dict(model.predict(["a", "", "b"], 2))
    assert abs(crossing["c"] - crossing["d"]) < MILLION // 10
    assert model.predict(["", "a", "b"], 1)[0][0] == "c"


def test_a_break_is_never_foreseen() -> None:
    model = taught(Foresight(), [["a", "b"]] * 5)
    for _ in range(9):
        model.observe(["a", ""], "b")
        model.observe(["new", ""], "b")
    assert "" not in dict(model.predict(["a"], 12))
    assert "" not in dict(model.predict(["a", ""], 12))


@examples(10)
@given(st.integers(2, 40))
def test_what_never_fails_for_thousands_of_steps_divides_by_nothing(tokens: int) -> None:
    model = Foresight()
    for number in range(2500):
        model.observe([f"{number % tokens}"], f"{(number + 1) % tokens}")
    model.observe(["0"], "new")
    assert model.predict(["0"], 1)[0][0] == "1"


def test_a_session_longer_than_the_tail_still_knows_how_it_began() -> None:
    long = ["begin", *("x" for _ in range(100)), "y"]
    model = taught(Foresight(), [long] * 3)
    assert model.predict(long[:-1], 2)


@given(st.lists(st.integers(0, 50), min_size=1, max_size=400), st.integers(4, 60))
def test_counts_stay_below_their_limit_and_in_step_with_their_total(
    followed: list[int], limit: int
) -> None:
    successors = Successors(followed[0])
    for token in followed[1:]:
        successors.add(token, limit)
        assert successors.total == sum(successors.counts.values()) <= limit
        assert successors.last == token
        assert token in successors.counts


def test_contexts_not_met_again_are_forgotten_and_the_others_stay() -> None:
    contexts = Contexts(limit=30, room=10)
    for key in range(100):
        contexts.add(7_000, 1)
        contexts.add(key, 2)
        assert len(contexts.young) + len(contexts.old) <= 20
    assert contexts.get(7_000) is not None
    assert contexts.get(0) is None
    assert contexts.get(99) == 2


def test_trails_not_met_again_are_forgotten() -> None:
    trails = Trails(room=10)
    for number in range(100):
        trails.add(chain_of([number, 1, 2, 3]), 5)
    assert trails.longest(chain_of([0, 1, 2, 3])) == (-1, -1, -1)
    assert trails.longest(chain_of([99, 1, 2, 3])) == (0, 1, 5)
    assert len(trails.young) + len(trails.old) <= 20


def test_a_longer_trail_is_begun_where_the_shorter_one_was_known() -> None:
    trails, chain = Trails(room=100), chain_of(list(range(12)))
    places = []
    for _ in range(4):
        trails.add(chain, 5)
        places.append(trails.longest(chain))
    assert places == [(0, 1, 5), (1, 1, 5), (2, 1, 5), (2, 2, 5)]


def test_contexts_of_every_kind_have_numbers_of_their_own() -> None:
    keys = [key_of(kind, token) for kind in (0, 23, 34, 45) for token in range(200)]
    keys += [key for token in range(200) for key in chain_of([token])]
    # The last token alone is a kind like the others: 0 is not used by anything else.
    assert len(set(keys[200:])) == len(keys) - 200


def test_places_have_contexts_of_their_own() -> None:
    chain = chain_of([1, 2, 3])
    longs = ["https://shop.example/" + "a" * size for size in (0, 1, 7, 8, 9, 200)]
    named = [*"abc", "ab", "ba", "\ud800", "é", *longs, *(each + " DONE" for each in longs)]
    keys = [key for name in named for key in keys_on_page(78, name, chain)]
    assert len(set(keys) | set(chain)) == 3 * len(named) + len(chain)


def test_a_token_nobody_knows_ends_the_contexts() -> None:
    assert chain_of([1, -1, 2, 3]) == chain_of([0, 0, 2, 3])[:2]
    assert chain_of([-1]) == []


def test_calibration_begins_by_changing_nothing() -> None:
    assert [LearnedCalibration().said(share) for share in (0.0, 0.25, 0.5)] == [0.0, 0.25, 0.5]


def test_calibration_learns_how_often_a_probability_was_right() -> None:
    calibration = LearnedCalibration()
    for number in range(2000):
        calibration.learn(0.9, number % 2 == 0)
    assert 0.45 < calibration.said(0.9) < 0.56
    assert calibration.said(0.25) == 0.25


@given(st.lists(st.tuples(st.floats(0.0, 1.0), st.booleans()), max_size=200), st.floats(0.0, 1.0))
def test_whatever_calibration_learned_it_says_a_probability(
    learned: list[tuple[float, bool]], share: float
) -> None:
    calibration = LearnedCalibration()
    for said, came in learned:
        calibration.learn(said, came)
    assert 0.0 <= calibration.said(share) <= SUREST
