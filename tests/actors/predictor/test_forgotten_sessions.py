"""Given sessions of which one is forgotten: what is known is what the others taught."""

from collections.abc import Iterable
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from rutter.actors.predictor.knowledge import Knowledge
from rutter.events.action import Action, Parameter, Text
from rutter.events.checks import AlertSaid
from rutter.events.envelope import Envelope
from rutter.events.predictor import (
    EffectsLearned,
    EndLearned,
    Notices,
    SessionForgotten,
    TransitionLearned,
    TransitionUndone,
    WorkflowLearned,
    WorkflowRenamed,
)
from rutter.events.signature import signature, token
from rutter.events.vocabulary import AnyEvent
from rutter.events.workflow import Driver, Expectation, Step, Workflow
from tests.support.shop_facts import click

Told = tuple[str, AnyEvent]
NAMES = ("#a", "#b", "#c", "#d")


def learned(
    name: str, *after: str, place: str = "", driver: Driver = "person"
) -> TransitionLearned:
    action = click(name)
    before = tuple(token(click(each)) for each in after)
    return TransitionLearned(token(action), signature(action), action, before, driver, place)


def typing(value: Parameter | Text) -> TransitionLearned:
    action = Action("type", target=click("#field").target, value=value)
    return TransitionLearned(token(action), signature(action), action)


def fold(told: Iterable[Told]) -> Knowledge:
    knowledge = Knowledge()
    for seq, (session, event) in enumerate(told, 1):
        knowledge.take_in(Envelope(seq, session, seq, seq, "predictor", 0, event, b""))
    knowledge.open_turn(1_000_000)
    return knowledge


def said(knowledge: Knowledge) -> list[Any]:
    histories = [[], *([token(click(a)), token(click(b))] for a in NAMES for b in NAMES)]
    found: list[Any] = [knowledge.as_seeds(history, 9) for history in histories]
    found += [knowledge.foreseen(history, "/x", 9, ()) for history in histories]
    found += [knowledge.within(history, 9) for history in histories]
    return found


sessions = st.sampled_from(["one", "two", "three"])
names = st.sampled_from(NAMES)
places = st.sampled_from(["", "/x", "/y"])
drivers = st.sampled_from(["person", "agent", "prediction"])
facts = st.one_of(
    st.builds(
        lambda name, after, place, driver: learned(name, *after, place=place, driver=driver),
        names,
        st.lists(names, max_size=2),
        places,
        drivers,
    ),
    st.builds(
        lambda name, why, place: TransitionUndone(token(click(name)), why, (), place),
        names,
        st.sampled_from(["went_back", "refused"]),
        places,
    ),
    st.builds(lambda name, driver: EndLearned((token(click(name)),), driver), names, drivers),
)
stories = st.lists(st.tuples(sessions, facts), max_size=40)


@given(stories)
def test_to_forget_a_session_is_never_to_have_heard_of_it(story: list[Told]) -> None:
    forgotten = fold([*story, ("later", SessionForgotten("two"))])
    never = fold([each for each in story if each[0] != "two"])
    assert said(forgotten) == said(never)


@given(stories, stories)
def test_what_is_learned_afterwards_is_added_to_what_is_left(
    before: list[Told], after: list[Told]
) -> None:
    after = [each for each in after if each[0] != "two"]
    forgotten = fold([*before, ("later", SessionForgotten("two")), *after])
    assert said(forgotten) == said(fold([e for e in [*before, *after] if e[0] != "two"]))


@given(stories, st.integers(0, 40))
def test_a_model_that_was_asked_early_is_the_one_that_was_not(story: list[Told], at: int) -> None:
    knowledge = Knowledge()
    for seq, (session, event) in enumerate(story, 1):
        if seq == at:
            knowledge.open_turn(seq)
            said(knowledge)
        knowledge.take_in(Envelope(seq, session, seq, seq, "predictor", 0, event, b""))
    knowledge.open_turn(1_000_000)
    assert said(knowledge) == said(fold(story))


@given(stories, st.integers(1, 5))
def test_a_model_that_was_folded_piece_by_piece_is_the_one_folded_at_once(
    story: list[Told], rows: int
) -> None:
    knowledge = Knowledge()
    for seq, (session, event) in enumerate(story, 1):
        knowledge.open_turn(seq)
        knowledge.prepare("foresight", rows)
        knowledge.prepare("markov2", 1)
        knowledge.take_in(Envelope(seq, session, seq, seq, "predictor", 0, event, b""))
    knowledge.open_turn(1_000_000)
    assert said(knowledge) == said(fold(story))


def test_each_forgetting_is_a_generation() -> None:
    assert fold([("one", learned("#a"))]).generation == 0
    twice = fold([("p", SessionForgotten("one")), ("p", SessionForgotten("two"))])
    assert twice.generation == 2


def test_what_was_typed_in_a_forgotten_session_is_not_typed_again() -> None:
    told: list[Told] = [("one", typing(Text("Aurora"))), ("two", typing(Text("a mistake")))]
    history: list[str] = []
    [before] = fold(told).foreseen(history, "", 1, ()).candidates
    assert before.action.value is None  # it was typed otherwise each time
    left = fold([*told, ("p", SessionForgotten("two"))])
    [after] = left.foreseen(history, "", 1, ()).candidates
    assert after.action.value == Text("Aurora")


def test_how_it_was_done_with_what_is_bound_now_comes_before_how_it_was_done_last() -> None:
    told: list[Told] = [("one", typing(Parameter("customer"))), ("two", typing(Parameter("who")))]
    values = [
        fold(told).foreseen([], "", 1, bound).candidates[0].action.value
        for bound in ({"customer"}, {"who"}, {"customer", "who"}, ())
    ]
    assert values == [Parameter("customer"), Parameter("who"), Parameter("who"), None]


def test_names_of_parameters_do_not_split_what_was_seen() -> None:
    after = [token(typing(Parameter("who")).action)]
    told: list[Told] = []
    for number in range(6):
        value = Parameter(f"name{number}") if number % 2 else Text(f"text{number}")
        first = typing(value)
        told.append((f"s{number}", first))
        action = click("#save")
        told.append((f"s{number}", TransitionLearned(token(action), "", action, (first.token,))))
    [top, *_] = fold(told).foreseen(after, "", 3, ()).candidates
    assert top.action == click("#save")
    assert top.probability > 500_000


def version(number: int) -> WorkflowLearned:
    return WorkflowLearned(Workflow("order", number, (Step(action=click("#a")),)))


def test_the_versions_that_a_session_taught_go_with_it_and_their_numbers_stay() -> None:
    told: list[Told] = [("one", version(1)), ("two", version(2))]
    knowledge = fold([*told, ("p", SessionForgotten("two"))])
    assert knowledge.is_newest("order", 1)
    assert knowledge.next_version("order") == 3
    assert (
        fold([*told, *[("p", SessionForgotten(each)) for each in ("one", "two")]]).versions.newest(
            "order"
        )
        is None
    )


def test_what_a_forgotten_run_showed_is_not_awaited() -> None:
    flow = Workflow("order", 1, (Step(action=click("#a"), after=Expectation()),))
    shown = EffectsLearned("order", 1, (Notices(0, (AlertSaid("Saved"),)),))
    silent = EffectsLearned("order", 1)
    told: list[Told] = [("one", shown), ("two", shown), ("three", silent)]
    assert fold(told).expected(flow).steps[0].after.learned == ()
    [awaited] = (
        fold([*told, ("p", SessionForgotten("three"))]).expected(flow).steps[0].after.learned
    )
    assert awaited == AlertSaid("Saved")


def test_renaming_a_workflow_that_was_forgotten_whole_leaves_the_other_one_alone() -> None:
    other = WorkflowLearned(Workflow("buy", 1, (Step(action=click("#b")),)))
    told: list[Told] = [("one", version(1)), ("two", other), ("p", SessionForgotten("one"))]
    assert fold([*told, ("p", WorkflowRenamed("order", "buy"))]).is_newest("buy", 1)
