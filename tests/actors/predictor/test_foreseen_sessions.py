"""Given a session that foresees: what is predicted, and what counts as evidence."""

from typing import Any

from rutter.actors.predictor import Predictor
from rutter.events.action import Action, ByRole, Parameter, Target, Untrusted
from rutter.events.critic import PageAssessed, Verdict
from rutter.events.executor import PersonActed
from rutter.events.page import Page, PageElement
from rutter.events.planner import RunStopped
from rutter.events.predictor import (
    EndLearned,
    PredictionMade,
    SessionForgotten,
    TransitionLearned,
    TransitionUndone,
    WorkflowLearned,
)
from rutter.events.run_settings import MILLION
from rutter.events.runtime import SessionStarted, StopReason
from rutter.events.signature import signature, token
from rutter.events.validator import ActionRejected
from rutter.events.vocabulary import AnyEvent
from rutter.events.workflow import Step, Workflow
from tests.support.given_when_then import Story, Told, of, only
from tests.support.shop_facts import (
    ORIGIN,
    click,
    fill,
    free_run,
    go_to,
    judged,
    page,
    plan,
    recording_of,
    saw,
)

ASSESSED = PageAssessed()
A, B, C = click("#a"), click("#b"), click("#c")


def button(name: str) -> Action:
    return Action("click", target=Target((ByRole("button", name),)))


def page_with(*names: str, path: str = "/") -> Page:
    return page(path, elements=tuple(PageElement("button", Untrusted(name)) for name in names))


def sailing(**more: Any) -> SessionStarted:
    return free_run(predictor="foresight", **more)


def by_hand() -> SessionStarted:
    return recording_of(predictor="foresight")


def told(*story: AnyEvent | Told) -> tuple[Story, list[AnyEvent]]:
    """The story, and everything that was decided in it."""
    heard = Story(Predictor())
    decided = [each for event in story for each in heard.tell(event)]
    return heard, decided


def of_kind(decided: list[AnyEvent], kind: type[Any]) -> list[Any]:
    return [each for each in decided if isinstance(each, kind)]


def taught(*actions: Action, times: int = 4, place: str = "") -> list[Told]:
    """Sessions of a person who did this."""
    facts = []
    for number in range(times):
        for at, action in enumerate(actions):
            after = tuple(token(each) for each in actions[max(0, at - 2) : at])
            learned = TransitionLearned(
                token(action), signature(action), action, after, "person", place
            )
            facts.append(of(f"teacher-{token(actions[-1])}-{number}", learned))
    return facts


def predict(*story: AnyEvent | Told, seen: Page | None = None) -> PredictionMade:
    heard, _ = told(*story, saw(seen or page("/")))
    made: PredictionMade = only(heard.tell(ASSESSED), PredictionMade)
    return made


def acted(
    number: int, action: Action, verdict: Verdict = "confirmed", to: str = "/"
) -> tuple[AnyEvent, ...]:
    return PersonActed(number, action), saw(page(to)), judged(verdict, number)


# -- predicting ------------------------------------------------------------------------------------


def test_what_was_done_four_times_is_nearly_sure_and_never_quite() -> None:
    made = predict(*taught(A, B, C), sailing(), plan(A, driver="prediction"), judged())
    top = made.candidates[0]
    assert (made.model, top.action, top.source) == ("foresight", B, "blend")
    assert 800_000 < top.probability < MILLION


def test_a_prediction_of_what_is_not_on_the_page_is_none() -> None:
    known = taught(button("Next"), button("Save"))
    next_done: tuple[AnyEvent, ...] = plan(button("Next"), driver="prediction"), judged()
    began: tuple[AnyEvent | Told, ...] = (*known, sailing(), *next_done)
    there = predict(*began, seen=page_with("Save", "Close"))
    assert there.candidates[0].action == button("Save")
    assert there.candidates[0].probability > 700_000
    gone = predict(*began, seen=page_with("Close"))
    assert gone.candidates == ()
    assert gone.absent > 0


def test_values_do_not_split_what_was_done() -> None:
    known = [each for n in range(4) for each in taught(fill("#q", f"text {n}"), B, times=1)]
    named = fill("#q", Parameter("customer"))
    top = predict(*known, sailing(), plan(named, driver="prediction"), judged()).candidates[0]
    assert top.action == B
    assert top.probability > 700_000


def test_what_follows_an_unconfirmed_step_does_not_follow_what_was_before_it() -> None:
    known = taught(A, B, C)
    broken = plan(A, driver="prediction"), judged("no_effect")
    sure = predict(*known, sailing(), plan(A, driver="prediction"), judged())
    unsure = predict(*known, sailing(), plan(C, driver="prediction"), judged(), *broken)
    best = max((each.probability for each in unsure.candidates), default=0)
    assert sure.candidates[0].probability > 2 * best


def test_it_says_which_workflow_this_is() -> None:
    flow = Workflow("order", 3, tuple(Step(action=each) for each in (A, B, C)))
    began = of("teacher", WorkflowLearned(flow)), sailing()
    steps = [event for each in (A, B) for event in (plan(each, driver="prediction"), judged())]
    [within] = predict(*began, *steps).within
    assert (within.workflow, within.version, within.step, within.of) == ("order", 3, 2, 3)


def test_the_seeds_model_says_nothing_of_workflows_and_looks_at_no_page() -> None:
    flow = Workflow("order", 1, (Step(action=A), Step(action=B)))
    known = taught(button("Next"), button("Save"))
    learned = of("teacher", WorkflowLearned(flow))
    began: tuple[AnyEvent | Told, ...] = (*known, learned, free_run())
    made = predict(
        *began, plan(button("Next"), driver="prediction"), judged(), seen=page_with("Close")
    )
    assert made.candidates[0].action == button("Save")
    assert (made.model, made.within, made.absent) == ("markov2", (), 0)


def test_after_a_session_was_forgotten_predictions_are_of_a_new_generation() -> None:
    known = taught(A, B, times=1)
    session = known[0].session
    after_a = plan(A, driver="prediction"), judged()
    assert predict(*known, sailing(), *after_a).generation == 0
    made = predict(*known, of("p", SessionForgotten(session)), sailing(), *after_a)
    assert (made.generation, made.candidates) == (1, ())


# -- evidence --------------------------------------------------------------------------------------


def test_where_it_was_done_is_learned_without_what_varies() -> None:
    _, decided = told(
        recording_of(predictor="foresight", values={"customer": "aurora"}),
        saw(page("/customers/aurora/orders/4711?q=1")),
        plan(A, driver="script"),
        judged(),
    )
    [learned] = of_kind(decided, TransitionLearned)
    assert learned.place == ORIGIN + "/customers/*/orders/*"


def test_what_a_person_did_counts_whatever_came_of_it() -> None:
    story = by_hand(), saw(page("/")), *acted(1, A, "no_effect"), *acted(2, B, "unknown")
    _, decided = told(*story)
    first, second = of_kind(decided, TransitionLearned)
    assert (first.token, second.token) == (token(A), token(B))
    assert second.after == (token(A),)


def test_what_anybody_else_did_counts_when_it_was_confirmed() -> None:
    _, decided = told(sailing(), plan(A, driver="agent"), judged("no_effect"))
    assert not of_kind(decided, TransitionLearned)
    _, decided = told(sailing(), plan(A, driver="agent"), judged())
    assert of_kind(decided, TransitionLearned)


def free_story(reason: StopReason) -> list[AnyEvent]:
    heard, decided = told(sailing(), saw(page("/")))
    for number, action in enumerate((A, B), 1):
        decided += heard.tell(plan(action, driver="prediction", number=number))
        decided += heard.tell(judged(number=number))
    assert not of_kind(decided, TransitionLearned)
    return list(heard.tell(RunStopped(reason)))


def test_what_was_predicted_freely_is_learned_when_the_end_was_verified() -> None:
    first, second = of_kind(free_story("completed"), TransitionLearned)
    assert (first.driver, first.token, first.after) == ("prediction", token(A), ())
    assert (second.token, second.after) == (token(B), (token(A),))


def test_otherwise_it_is_never_learned() -> None:
    for reason in ("completed_unverified", "failed", "cancelled", "max_steps"):
        assert not of_kind(free_story(reason), TransitionLearned)


def test_what_a_person_takes_back_counts_against_it() -> None:
    story = by_hand(), saw(page("/")), *acted(1, A), *acted(2, B, to="/b")
    heard, _ = told(*story)
    [back] = [
        each for event in acted(3, go_to("/")) for each in of_kind(list(heard.tell(event)), object)
    ]
    assert back == TransitionUndone(token(B), "went_back", (token(A),), ORIGIN + "/")


def test_what_was_taken_back_is_no_part_of_the_history() -> None:
    story = by_hand(), saw(page("/")), *acted(1, A), *acted(2, B, to="/b"), *acted(3, go_to("/"))
    _, decided = told(*story, *acted(4, C))
    *_, last = of_kind(decided, TransitionLearned)
    assert (last.token, last.after) == (token(C), (token(A),))


def test_what_was_taken_back_is_less_probable() -> None:
    known = taught(A, B, times=3)
    before = predict(*known, sailing(), plan(A, driver="prediction"), judged())
    wrong = TransitionUndone(token(B), "went_back", (token(A),))
    after = predict(
        *known, of("teacher-x", wrong), sailing(), plan(A, driver="prediction"), judged()
    )
    assert after.candidates[0].probability < before.candidates[0].probability


def test_a_predicted_step_that_a_person_refused_counts_against_it() -> None:
    no = ActionRejected(1, "suggested", "a person said no", "p", "policy_denied", "human_rejected")
    heard, _ = told(sailing(), saw(page("/")), plan(A, driver="prediction"))
    assert heard.tell(no) == (TransitionUndone(token(A), "refused", (), ORIGIN + "/"),)
    nobody = ActionRejected(1, "suggested", "nobody", "p", "policy_denied", "needs_person")
    heard, _ = told(sailing(), saw(page("/")), plan(A, driver="prediction"))
    assert heard.tell(nobody) == ()


# -- the end ---------------------------------------------------------------------------------------


def ended(*actions: Action, number: int) -> list[Told]:
    """A session of a person who did this and was done."""
    session = f"ended-{number}"
    facts = [of(session, each.event) for each in taught(*actions, times=1)]
    after = tuple(token(each) for each in actions[-2:])
    return [*facts, of(session, EndLearned(after, "person"))]


def test_where_sessions_ended_it_is_probable_that_nothing_more_comes() -> None:
    known = [each for number in range(5) for each in ended(A, B, number=number)]
    both = [event for each in (A, B) for event in (plan(each, driver="prediction"), judged())]
    made = predict(*known, sailing(), *both)
    assert made.ends > 700_000
    assert all(each.probability < 300_000 for each in made.candidates)
    assert predict(*known, sailing(), *both[:2]).ends < 200_000


def test_of_what_nothing_ever_followed_nothing_is_predicted() -> None:
    known = [each for number in range(5) for each in taught(A, times=1)]
    made = predict(*known, sailing(), plan(A, driver="prediction"), judged())
    assert (made.candidates, made.ends) == ((), 0)


def test_the_end_of_a_session_is_learned_when_it_was_done() -> None:
    story = by_hand(), saw(page("/")), *acted(1, A), *acted(2, B, to="/done")
    _, decided = told(*story, RunStopped("completed"))
    assert of_kind(decided, EndLearned) == [
        EndLearned((token(A), token(B)), "script", ORIGIN + "/done")
    ]
    _, decided = told(*story, RunStopped("cancelled"))
    assert not of_kind(decided, EndLearned)
