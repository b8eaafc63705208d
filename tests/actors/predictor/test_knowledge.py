"""Given learned facts in log order: what is known, and from which turn on."""

from typing import Any, get_args

from hypothesis import given
from hypothesis import strategies as st

from rutter.actors.predictor.knowledge import Knowledge
from rutter.events.action import Action
from rutter.events.checks import AlertSaid
from rutter.events.envelope import Envelope, kind
from rutter.events.predictor import (
    LEARNED,
    Candidate,
    EffectsLearned,
    Notices,
    TransitionLearned,
    WorkflowDeleted,
    WorkflowLearned,
    WorkflowRenamed,
)
from rutter.events.run_settings import MILLION
from rutter.events.signature import signature, token
from rutter.events.vocabulary import AnyEvent, PredictorEvent
from rutter.events.workflow import Expectation, StandingApproval, Step, Workflow
from tests.support.shop_facts import click


def learned(name: str, *after: str) -> TransitionLearned:
    action = click(name)
    before = tuple(token(click(each)) for each in after)
    return TransitionLearned(token(action), signature(action), action, before)


def version(name: str, number: int) -> WorkflowLearned:
    return WorkflowLearned(Workflow(name, number, ()))


def fold(events: list[AnyEvent], knowledge: Knowledge, first_seq: int = 1) -> Knowledge:
    for seq, event in enumerate(events, first_seq):
        knowledge.take_in(Envelope(seq, "s", seq, seq, "predictor", 0, event, b""))
    return knowledge


def content(knowledge: Knowledge) -> tuple[Any, ...]:
    """Everything that is known, once the last turn counts."""
    knowledge.open_turn(1_000_000)
    histories = [[], *([each] for each in tokens), *([a, b] for a in tokens for b in tokens)]
    said = [
        (knowledge.as_seeds(history, 9), knowledge.foreseen(history, place, 9, ()))
        for history in histories
        for place in ("", "here")
    ]
    newest = {name: knowledge.versions.newest(name) for name in ("#a", "#b", "#c")}
    within = [knowledge.within(history, 9) for history in histories]
    return said, within, newest, knowledge.versions.highest


tokens = [token(click(name)) for name in ("#a", "#b", "#c")]
names = st.sampled_from(["#a", "#b", "#c"])
learnable = st.one_of(
    st.builds(lambda name, after: learned(name, *after), names, st.lists(names, max_size=2)),
    st.builds(version, names, st.integers(1, 9)),
    st.builds(WorkflowRenamed, names, names),
    st.builds(WorkflowDeleted, names),
)
stories = st.lists(learnable, max_size=25)


@given(stories, stories)
def test_folding_two_logs_is_folding_the_second_into_the_first(
    first: list[AnyEvent], second: list[AnyEvent]
) -> None:
    whole = fold([*first, *second], Knowledge())
    parts = fold(second, fold(first, Knowledge()), len(first) + 1)
    assert content(whole) == content(parts)


@given(stories, st.lists(st.integers(0, 25), max_size=5))
def test_where_turns_begin_does_not_change_what_is_known_in_the_end(
    events: list[AnyEvent], turns: list[int]
) -> None:
    knowledge = Knowledge()
    for seq, event in enumerate(events, 1):
        if seq in turns:
            knowledge.open_turn(seq)
        fold([event], knowledge, seq)
    assert content(knowledge) == content(fold(events, Knowledge()))


@given(stories)
def test_versions_never_fall(events: list[AnyEvent]) -> None:
    knowledge = Knowledge()
    for event in events:
        before = dict(knowledge.versions.highest)
        fold([event], knowledge)
        if not isinstance(event, WorkflowLearned):  # a recording says its own number
            highest = knowledge.versions.highest
            assert all(highest[name] >= number for name, number in before.items())


def test_what_a_turn_teaches_counts_from_the_next_turn_on() -> None:
    knowledge = fold([learned("#b", "#a")], Knowledge(), first_seq=7)
    history = [token(click("#a"))]
    assert knowledge.as_seeds(history, 3) == ()
    knowledge.open_turn(8)
    [only] = knowledge.as_seeds(history, 3)
    assert only == Candidate(token(click("#b")), click("#b"), MILLION, "first_order")


def test_the_position_is_the_last_one_before_the_turn() -> None:
    knowledge = Knowledge()
    assert knowledge.position == 0
    knowledge.open_turn(41)
    assert knowledge.position == 40


def test_a_turn_is_counted_once() -> None:
    knowledge = fold([learned("#b", "#a")], Knowledge())
    knowledge.open_turn(2)
    knowledge.open_turn(3)
    fold([learned("#c", "#a")], knowledge, 3).open_turn(4)
    shares = [each.probability for each in knowledge.as_seeds([token(click("#a"))], 3)]
    assert shares == [MILLION // 2, MILLION // 2]


def test_every_token_is_known_by_its_latest_action() -> None:
    knowledge = fold([learned("#b", "#a")], Knowledge())
    knowledge.open_turn(2)
    assert knowledge.doings.exactly(token(click("#b"))) == click("#b")
    assert knowledge.doings.exactly(token(click("#a"))) is None


def test_the_first_recording_of_a_name_is_version_one() -> None:
    assert Knowledge().next_version("order") == 1


def test_the_next_recording_of_a_name_is_the_next_version() -> None:
    knowledge = fold([version("order", 1), version("other", 5), version("order", 2)], Knowledge())
    assert knowledge.next_version("order") == 3
    assert knowledge.next_version("other") == 6


def test_a_deleted_workflow_keeps_its_number() -> None:
    knowledge = fold([version("order", 4), WorkflowDeleted("order")], Knowledge())
    assert knowledge.next_version("order") == 5


def test_a_renamed_workflow_brings_its_number_along() -> None:
    knowledge = fold([version("old", 4), WorkflowRenamed("old", "new")], Knowledge())
    assert knowledge.next_version("new") == 5
    two = fold([version("a", 2), version("b", 7), WorkflowRenamed("a", "b")], Knowledge())
    assert two.next_version("b") == 8
    assert fold([WorkflowRenamed("never", "new")], Knowledge()).next_version("new") == 1


def test_under_the_name_of_a_deleted_one_with_more_versions_it_is_still_the_newest() -> None:
    knowledge = fold([version("a", 3), version("b", 5), WorkflowDeleted("b")], Knowledge())
    fold([WorkflowRenamed("a", "b")], knowledge)
    assert knowledge.is_newest("b", 3)
    assert not knowledge.is_newest("b", 5)
    assert not knowledge.is_newest("a", 3)
    assert knowledge.next_version("b") == 6


def test_what_is_deleted_has_no_newest_version() -> None:
    knowledge = fold([version("a", 1), WorkflowDeleted("a")], Knowledge())
    assert not knowledge.is_newest("a", 1)
    assert fold([version("a", 2)], knowledge).is_newest("a", 2)


def test_what_can_be_learned_is_said_by_the_predictor() -> None:
    tags = {kind(event) for event in get_args(PredictorEvent)}
    assert {kind(event) for event in LEARNED} <= tags


# -- what verified runs showed ---------------------------------------------------------------------


def shown(name: str, *says: str) -> EffectsLearned:
    notices = Notices(0, tuple(AlertSaid(said, whole=True) for said in says))
    return EffectsLearned(name, 1, (notices,))


def awaited(knowledge: Knowledge, name: str, *recorded: str) -> list[str]:
    learned = tuple(AlertSaid(said, whole=True) for said in recorded)
    step = Step(Action("press", key="Enter"), after=Expectation(learned=learned))
    flow = Workflow(name, 1, (step,))
    return [each.value for each in knowledge.expected(flow).steps[0].after.learned]


def told(*events: AnyEvent) -> Knowledge:
    knowledge = Knowledge()
    for seq, event in enumerate(events, 1):
        knowledge.take_in(Envelope(seq, f"s{seq}", 1, seq, "predictor", 0, event, b""))
    return knowledge


def test_what_one_verified_run_lacked_is_no_longer_awaited() -> None:
    assert awaited(told(shown("order", "saved")), "order", "saved", "it rains") == ["saved"]


def test_what_two_and_all_verified_runs_said_is_awaited() -> None:
    assert awaited(told(shown("order", "done")), "order") == []
    assert awaited(told(*[shown("order", "done")] * 2), "order") == ["done"]
    assert awaited(told(shown("order", "done"), shown("order")), "order") == []


def test_it_goes_with_the_workflow_wherever_its_name_goes() -> None:
    twice = [shown("order", "old words")] * 2
    assert awaited(told(*twice, WorkflowRenamed("order", "orders")), "orders") == ["old words"]
    assert awaited(told(*twice, WorkflowDeleted("order")), "order", "mine") == ["mine"]
    gone = told(*twice, WorkflowDeleted("order"), WorkflowRenamed("other", "order"))
    assert awaited(gone, "order", "mine") == ["mine"]


def test_what_a_recording_approved_of_is_known_of_what_is_predicted() -> None:
    """As long as the workflow is known, and of that action alone."""
    given = StandingApproval("https://shop.example", "e1")
    steps = (Step(click("#a"), standing_approval=given), Step(click("#b")))
    knowledge = fold(
        [learned("#a"), learned("#b", "#a"), WorkflowLearned(Workflow("order", 1, steps))],
        Knowledge(),
    )
    knowledge.open_turn(99)

    def known(*history: str) -> list[StandingApproval | None]:
        before = [token(click(each)) for each in history]
        said = (knowledge.foreseen(before, "", 1, ()).candidates, knowledge.as_seeds(before, 1))
        return [each.recorded for candidates in said for each in candidates]

    assert set(known()) == {given}
    assert set(known("#a")) == {None}
    fold([WorkflowDeleted("order")], knowledge, 99)
    assert set(known()) == {None}
