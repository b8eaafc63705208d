"""Free runs that are nearly sure: what a person says to a suggestion, and what comes of it.

Two ways lead on from the first page; the model, whichever it is, holds one for likelier.
"""

from typing import Literal

import pytest

from rutter.actors.answers import Answers, PersonAnswer, ScriptedPerson
from rutter.events.action import Action, Text
from rutter.events.log import EventLog
from rutter.events.planner import PlanProposed, PlanWithheld
from rutter.events.predictor import TransitionUndone
from rutter.events.run_settings import MILLION
from rutter.events.runtime import SessionEnded, SessionStarted
from rutter.events.validator import ActionStarted, ApprovalRequested
from rutter.pipeline.config.exit_codes import Exit, of_session
from rutter.pipeline.sessions import session_started
from rutter.replay.whatif import ChangedSettings, ask
from tests.support.log_checks import Replayed
from tests.support.scripted_shop import ORIGIN, World, by_css, shop
from tests.support.shop_sessions import open_app, recording, sail, with_settings

pytestmark = pytest.mark.anyio

HOME = Action("navigate", url=ORIGIN + "/")
FIND = Action("click", target=by_css("#find"))
FILL = Action("type", target=by_css("#q"), value=Text("rope"))
LIKELIER = ((HOME, FIND), (HOME, FILL), (HOME, FIND))
MODELS = pytest.mark.parametrize("model", ["foresight", "markov2"])
Model = Literal["foresight", "markov2"]


def free(model: Model, **more: object) -> SessionStarted:
    # Without a limit to the steps it goes on to whatever comes after a search.
    started = session_started.free_run(ORIGIN + "/", {}, ())
    return with_settings(
        started, **{"predictor": model, "threshold": 700_000, "max_steps": 2, **more}
    )


async def sailed(
    log: EventLog,
    started: SessionStarted,
    answers: Answers | None = None,
    world: World | None = None,
) -> SessionEnded:
    """A free run after three recordings that do not agree."""
    model = started.settings.predictor
    async with open_app(log) as app:
        for number, actions in enumerate(LIKELIER):
            await sail(app, recording(*actions, predictor=model), name=f"record-{number}")
        return await sail(app, started, world, answers=answers, name="free")


async def told(log: EventLog) -> list[object]:
    return [envelope.event async for envelope in log.read(session="free")]


@MODELS
async def test_what_is_nearly_sure_is_done_when_a_person_says_yes(
    replayed: Replayed, model: Model
) -> None:
    log, world, person = replayed.memory(), shop(), ScriptedPerson([PersonAnswer(True)])
    ended = await sailed(log, free(model), person, world)

    assert [action.type for action in world.done] == ["navigate", "click"]
    assert ended.reason == "max_steps"
    [asked] = person.asked
    assert asked.rule == "suggested"
    assert "sure that this comes next, less than the 0.70" in asked.question
    suggested = [each for each in await told(log) if isinstance(each, PlanProposed)][-1]
    assert suggested.reason.startswith("confidence_to_suggest_0.")
    assert suggested.probability is not None
    assert 500_000 <= suggested.probability < 700_000


@MODELS
async def test_a_no_ends_the_run_and_nothing_is_touched(replayed: Replayed, model: Model) -> None:
    log, world = replayed.memory(), shop()
    person = ScriptedPerson([PersonAnswer(False, "the other one")])
    ended = await sailed(log, free(model, max_steps=9), person, world)

    assert [action.type for action in world.done] == ["navigate"]
    assert (ended.reason, ended.failure) == ("policy_denied", "policy_denied")
    assert ended.detail == "a person said no: the other one"
    assert of_session(ended.reason, ended.failure) == Exit.DENIED
    assert len(person.asked) == 1


async def test_what_a_person_refused_is_less_probable_the_next_time(replayed: Replayed) -> None:
    log = replayed.memory()
    await sailed(log, free("foresight"), ScriptedPerson([PersonAnswer(False)]))
    undone = [each for each in await told(log) if isinstance(each, TransitionUndone)]
    assert [each.why for each in undone] == ["refused"]


@MODELS
async def test_with_nobody_to_ask_it_says_that_a_person_is_needed(
    replayed: Replayed, model: Model
) -> None:
    log, world = replayed.memory(), shop()
    ended = await sailed(log, free(model, max_steps=9), world=world)

    assert [action.type for action in world.done] == ["navigate"]
    assert (ended.reason, ended.failure) == ("policy_denied", "needs_person")
    assert ended.detail.startswith('no person is here to answer: Click the button "Find"? It is 0.')
    assert of_session(ended.reason, ended.failure) == Exit.NEEDS_PERSON


@MODELS
async def test_who_wants_no_suggestions_is_told_that_it_was_not_sure(
    replayed: Replayed, model: Model
) -> None:
    log, person = replayed.memory(), ScriptedPerson([PersonAnswer(True)])
    ended = await sailed(log, free(model, suggest=MILLION), person)

    assert (ended.reason, ended.failure, person.asked) == ("failed", "lost", [])
    [withheld] = [each for each in await told(log) if isinstance(each, PlanWithheld)]
    assert withheld.reason.startswith("confidence_too_low_0.")


@MODELS
async def test_at_a_lower_threshold_it_would_have_acted_alone(
    replayed: Replayed, model: Model
) -> None:
    """What was suggested and refused is an execution gained; nothing past it is simulated."""
    log = replayed.memory()
    await sailed(log, free(model), ScriptedPerson([PersonAnswer(False)]))
    history = [envelope async for envelope in log.read()]
    answer = ask(history, ChangedSettings(threshold=0.5))
    assert (answer.count("gained"), answer.count("lost")) == (1, 0)
    assert {each.session for each in answer.differences} == {"free"}
    assert ask(history, ChangedSettings()).differences == ()


@MODELS
async def test_at_a_higher_threshold_what_it_did_alone_would_have_been_suggested(
    replayed: Replayed, model: Model
) -> None:
    log = replayed.memory()
    await sailed(log, free(model, threshold=500_000))
    started = [each for each in await told(log) if isinstance(each, ActionStarted)]
    assert [each.action.type for each in started] == ["navigate", "click"]
    answer = ask([each async for each in log.read()], ChangedSettings(threshold=0.7))
    assert (answer.count("gained"), answer.count("lost")) == (0, 1)
    assert any("sure that this comes next" in each.instead for each in answer.differences)


async def test_the_other_model_is_asked_over_what_happened(replayed: Replayed) -> None:
    log = replayed.memory()
    await sailed(log, free("foresight", threshold=500_000))
    history = [each async for each in log.read()]
    answer = ask(history, ChangedSettings(predictor="markov2"))
    # It too would have found the likelier way; what it cannot do is say anything at the start.
    assert (answer.count("gained"), answer.count("lost")) == (0, 0)
    assert {each.actor for each in answer.differences} == {"predictor"}
    assert {each.instead for each in answer.differences} == {"none"}
    assert len(answer.predictions) < len(ask(history, ChangedSettings()).predictions)


async def test_a_question_about_a_suggestion_is_void_when_the_run_is_over(
    replayed: Replayed,
) -> None:
    log, person = replayed.memory(), ScriptedPerson([PersonAnswer(True)] * 5)
    await sailed(log, free("foresight", max_steps=9), person)
    events = await told(log)
    asked = [each.approval for each in events if isinstance(each, ApprovalRequested)]
    assert len(asked) == len(set(asked)) == len(person.asked)
