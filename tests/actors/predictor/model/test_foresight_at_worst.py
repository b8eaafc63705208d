"""Given a log at its worst: what is foreseen follows from it alone, and never acts on a guess."""

from typing import Any

import msgspec

from rutter.actors.planner.actor import Planner
from rutter.actors.predictor.journal import DONE, LearnedRow
from rutter.actors.predictor.knowledge import Knowledge
from rutter.actors.predictor.model.learners import OfForesight
from rutter.actors.rules.policy.policy import DEFAULT_POLICY, PolicyCase, is_irreversible
from rutter.actors.rules.steps.confidence import why_suggested
from rutter.actors.rules.workflows.versions import Effects
from rutter.events.action import Action, Parameter, Text
from rutter.events.checks import AlertSaid
from rutter.events.envelope import Envelope
from rutter.events.executor import PersonActed
from rutter.events.page import Page
from rutter.events.planner import PlanProposed, StepSettled
from rutter.events.predictor import (
    EffectsLearned,
    Notices,
    PredictionMade,
    SessionForgotten,
    TransitionLearned,
    TransitionUndone,
)
from rutter.events.run_settings import RunSettings
from rutter.events.signature import doing, signature, token
from rutter.events.vocabulary import AnyEvent
from tests.actors.predictor.test_foreseen_sessions import (
    A,
    B,
    C,
    button,
    by_hand,
    of_kind,
    page_with,
    predict,
    sailing,
    taught,
    told,
)
from tests.support.given_when_then import Story
from tests.support.shop_facts import (
    click,
    element,
    fill,
    go_to,
    judged,
    page,
    plan,
    recording_of,
    run_of,
    saw,
    step,
    workflow,
)

THRESHOLD = 700_000


def learned(action: Action, *after: Action) -> TransitionLearned:
    before = tuple(map(token, after))
    return TransitionLearned(token(action), signature(action), action, before, "person")


def fold(*story: tuple[str, AnyEvent], asked_at: int = 0) -> Knowledge:
    """What is known after this; at `asked_at` somebody asked what comes next."""
    knowledge = Knowledge()
    for seq, (session, event) in enumerate(story, 1):
        knowledge.open_turn(seq)
        if seq == asked_at:
            knowledge.foreseen([token(A)], "", 3, ())
        knowledge.take_in(Envelope(seq, session, seq, seq, "predictor", 0, event, b""))
    knowledge.open_turn(len(story) + 1)
    return knowledge


# -- the log alone decides -------------------------------------------------------------------------


def test_what_a_forgotten_session_goes_on_to_teach_does_not_depend_on_when_somebody_asked() -> None:
    story: list[tuple[str, AnyEvent]] = [
        ("one", learned(A)),
        ("one", learned(B, A)),
        ("two", learned(A)),
        ("process", SessionForgotten("two")),
        ("two", learned(C, A)),
        ("two", learned(A, A, C)),
        ("two", learned(C, C, A)),
    ]
    never_asked, asked = fold(*story), fold(*story, asked_at=5)
    history = [token(A)]
    assert asked.foreseen(history, "", 3, ()) == never_asked.foreseen(history, "", 3, ())


def test_how_a_thing_is_done_after_a_session_was_forgotten_is_as_if_it_had_never_been() -> None:
    by_customer, by_who = (fill("#q", Parameter(name)) for name in ("customer", "who"))
    story: list[tuple[str, AnyEvent]] = [
        ("one", learned(by_customer)),
        ("two", learned(by_who)),
        ("three", learned(by_customer)),
    ]
    forgotten = fold(*story, ("process", SessionForgotten("three")))
    never = fold(*story[:2])
    bound = {"customer", "who"}
    assert forgotten.doings.like(doing(by_who), bound) == never.doings.like(doing(by_who), bound)


def test_a_step_of_ours_in_between_does_not_double_the_step_before_it() -> None:
    heard: list[tuple[str, ...]] = []

    class Listening:
        def observe(self, history: tuple[str, ...], token: str, **_: Any) -> None:
            heard.append(tuple(history))

    learner = OfForesight()
    learner.model = Listening()  # type: ignore[assignment]
    a, b, c = map(token, (A, B, C))
    learner.take(LearnedRow(1, a, (), "", DONE))
    learner.take(
        LearnedRow(1, c, (a, b), "", DONE)
    )  # b was predicted, and is learned later or never
    assert heard == [(), (a, b)]


def test_what_is_done_when_the_first_step_was_taken_back_begins_the_session() -> None:
    story: list[tuple[str, AnyEvent]] = []
    for number in range(6):
        session = f"session-{number}"
        story.append((session, learned(A)))
        story.append((session, TransitionUndone(token(A), "went_back")))
        story.append((session, learned(B)))
    made = fold(*story).foreseen([], "", 3, ())
    assert [each.action for each in made.candidates[:1]] == [B]


# -- nothing wrong is done unattended --------------------------------------------------------------


def acts_on(made: PredictionMade, **settings: Any) -> list[PlanProposed]:
    """What a free run at the default threshold does alone because of this."""
    heard = Story(Planner())
    for event in (sailing(threshold=THRESHOLD, **settings), saw(page("/"))):
        heard.tell(event)
    return of_kind(list(heard.tell(made)), PlanProposed)


def test_what_was_typed_otherwise_every_time_is_not_typed_unattended() -> None:
    known = [
        each
        for number, name in enumerate(("Aurora", "Borealis", "Cirrus", "Dawn", "Eos", "Flora"))
        for each in taught(A, fill("#q", name), click(f"#open{number}"), times=1)
    ]
    made = predict(*known, sailing(), plan(A, driver="prediction"), judged())
    assert not [each for each in acts_on(made) if isinstance(each.action.value, Text)]


def test_where_a_parameter_is_not_bound_what_another_session_typed_is_not_typed_instead() -> None:
    named = fill("#q", Parameter("customer"))
    known = [*taught(A, fill("#q", "Aurora"), C, times=1), *taught(A, named, B, times=6)]
    made = predict(*known, sailing(), plan(A, driver="prediction"), judged())
    assert not [each for each in acts_on(made) if each.action.value == Text("Aurora")]


def test_what_was_done_on_one_site_is_not_done_unattended_on_another() -> None:
    known = taught(button("Next"), button("Save"), place="https://bank.example/pay", times=8)
    next_done = plan(button("Next"), driver="model"), judged()
    elsewhere = page_with("Save", "Close", path="/other")
    made = predict(*known, sailing(), *next_done, seen=elsewhere)
    assert acts_on(made) == []


# -- what is kept ----------------------------------------------------------------------------------


def test_runs_that_all_showed_the_same_are_held_once() -> None:
    effects = Effects()
    for number in range(100):
        shown = tuple(Notices(at, (AlertSaid(f"Saved {at}", whole=True),)) for at in range(3))
        effects.learn(f"run-{number}", EffectsLearned("order", 1, shown))
    held = {id(shown) for runs in effects._runs.values() for shown in runs.values()}
    assert len(held) < 10


def test_a_place_holds_no_value_of_a_parameter_as_addresses_write_it() -> None:
    _, decided = told(
        recording_of(predictor="foresight", values={"customer": "Aurora Shipping"}),
        saw(page("/customers/aurora-shipping")),
        plan(A, driver="script"),
        judged(),
    )
    [first] = of_kind(decided, TransitionLearned)
    assert "aurora" not in first.place


def test_a_place_is_no_document() -> None:
    """The address of some pages is all that they say."""
    note = "data:text/html,<p>Dear Ann</p>" + "it goes on and on " * 1000
    _, decided = told(
        recording_of(predictor="foresight"), saw(Page(url=note)), plan(A, driver="script"), judged()
    )
    [first] = of_kind(decided, TransitionLearned)
    assert "Ann" not in first.place
    assert len(first.place) < 200


# -- what counts -----------------------------------------------------------------------------------


def test_what_follows_a_step_that_an_earlier_session_did_does_not_follow_the_one_before_it() -> (
    None
):
    sailed = run_of(workflow(step(A), step(B), step(C)), predictor="foresight")
    _, decided = told(
        msgspec.structs.replace(sailed, done_before=2),
        saw(page("/")),
        plan(A, driver="workflow", index=0),
        judged(),
        StepSettled(1, done=True, reason="it is there"),
        plan(C, driver="workflow", number=2, index=2),
        judged(number=2),
    )
    *_, last = of_kind(decided, TransitionLearned)
    assert last.token == token(C)
    assert last.after != (token(A),)


def test_going_back_from_what_was_sent_takes_nothing_back() -> None:
    order = element(name="Place order", kind="submit", form_action="https://shop.example/orders")
    sent = PersonActed(1, button("Place order"), order), saw(page("/thanks")), judged(number=1)
    again = PersonActed(2, go_to("/")), saw(page("/")), judged(number=2)
    _, decided = told(by_hand(), saw(page("/")), *sent, *again)
    assert is_irreversible(PolicyCase(DEFAULT_POLICY, sent[0].action, "person", order))
    assert of_kind(decided, TransitionUndone) == []


def test_a_question_shows_when_there_is_more_to_what_would_be_typed() -> None:
    action = fill(
        "#note", "Please deliver it to the usual address, and thank you very much. Refund 1"
    )
    suggested = plan(action, driver="prediction", probability=600_000)
    short = fill("#note", action.value.text[:60])  # type: ignore[union-attr]
    asked = why_suggested(suggested, RunSettings(threshold=THRESHOLD))
    other = why_suggested(
        plan(short, driver="prediction", probability=600_000), RunSettings(threshold=THRESHOLD)
    )
    assert asked != other
