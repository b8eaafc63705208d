"""Sessions in which a model was asked, decided again: by their facts, and otherwise. No model."""

import msgspec

from rutter.events.action import Action
from rutter.events.advisor import (
    AdviceFailed,
    AdviceLost,
    AdvicePrepared,
    AdviceReceived,
    Proposal,
    TokenUsage,
)
from rutter.events.event import Event
from rutter.events.planner import AdviceRequested, PlanProposed, RunStopped
from rutter.events.predictor import TransitionLearned
from rutter.events.run_settings import LanguageModel, ModelUse
from rutter.events.runtime import SessionEnded, SessionInterrupted, StopRequested
from rutter.events.signature import signature, token
from rutter.replay.story.session_story import tell
from rutter.replay.traces import spans_of
from rutter.replay.verify import verify
from rutter.replay.whatif import ChangedSettings, WhatIf, ask
from tests.support import shop_facts
from tests.support.case_table import for_each
from tests.support.derived_log import Derived
from tests.support.step_kinds import PROMPT
from tests.support.trails import check_tree

GO, LEFT, RIGHT = shop_facts.go_to("/"), shop_facts.click("#left"), shop_facts.click("#right")
MODELS = ModelUse((LanguageModel("anthropic", "m"), LanguageModel("openai", "gpt")), ("click",))
SESSION = "run-1"


def learned(action: Action, *after: Action) -> TransitionLearned:
    return TransitionLearned(
        token(action), signature(action), action, tuple(token(each) for each in after)
    )


def at_the_fork(threshold: int, models: ModelUse | None = MODELS) -> Derived:
    """Left and right were gone as often: the model that was learned is half sure of each."""
    told = Derived()
    before = msgspec.structs.replace(shop_facts.recording_of(GO), logic="another")
    told.start("record-1", before, judged=False)
    for way in (LEFT, RIGHT):
        told.tell("record-1", "predictor", learned(GO))
        told.tell("record-1", "predictor", learned(way, GO))
    told.tell("record-1", "runtime", SessionEnded("completed"))
    free = msgspec.structs.replace(shop_facts.free_run(GO, threshold=threshold), models=models)
    told.start(SESSION, free)
    told.tell(SESSION, "observer", shop_facts.saw(shop_facts.page("/nowhere")))
    told.tell(SESSION, "executor", shop_facts.done(navigated=True))
    told.tell(SESSION, "observer", shop_facts.saw(shop_facts.page("/")))
    return told


def advised(certainty: int = 800_000) -> Derived:
    told = at_the_fork(600_000)
    told.tell(SESSION, "advisor", AdvicePrepared("a1", PROMPT, 700))
    answer = AdviceReceived(
        "a1",
        "anthropic",
        "m",
        proposal=Proposal(RIGHT, certainty),
        usage=TokenUsage(800, 40),
        cost_microdollars=3_000,
        took_ms=20,
    )
    told.tell(SESSION, "advisor", answer)
    return told


def kinds_of(told: Derived, kind: type[Event]) -> list[Event]:
    own = (envelope.event for envelope in told.log if envelope.session == SESSION)
    return [event for event in own if isinstance(event, kind)]


def asked(told: Derived, change: ChangedSettings) -> WhatIf:
    return ask(told.log, change, SESSION)


def test_what_a_model_said_is_decided_again_without_one() -> None:
    told = advised()
    assert isinstance(kinds_of(told, PlanProposed)[-1], PlanProposed)
    report = verify(told.log)

    assert report.divergence is None
    assert report.decisions > 0


def test_another_answer_would_have_led_to_another_step() -> None:
    told = advised()
    at, answer = next(
        (at, each) for at, each in enumerate(told.log) if isinstance(each.event, AdviceReceived)
    )
    assert isinstance(answer.event, AdviceReceived)
    other = msgspec.structs.replace(answer.event, proposal=Proposal(LEFT, 800_000))
    log = [*told.log[:at], msgspec.structs.replace(answer, event=other), *told.log[at + 1 :]]
    found = verify(log).divergence

    assert found is not None
    assert (found.actor, found.n) == ("planner", answer.n + 1)


def test_such_a_session_is_a_story_and_a_trace_too() -> None:
    made = advised()
    made.tell(SESSION, "runtime", StopRequested("person", "enough"))
    made.tell(SESSION, "runtime", SessionEnded("cancelled"))
    log = [envelope for envelope in made.log if envelope.session == SESSION]
    told, spans = tell(log), list(spans_of(log))

    assert [call.advised for call in told.steps[-1].advice] == ["click #right"]
    assert (told.steps[-1].driver, told.model_calls) == ("model", 1)
    assert [span.name for span in spans].count("chat m") == 1
    check_tree(spans)


def test_a_question_that_was_open_when_the_process_died_is_lost() -> None:
    told = at_the_fork(600_000)
    told.tell(SESSION, "advisor", AdvicePrepared("a1", PROMPT, 700))
    decided = told.tell(SESSION, "runtime", SessionInterrupted("the process that ran it died"))
    told.tell(SESSION, "runtime", SessionEnded("interrupted"))

    assert AdviceLost("a1") in decided
    assert verify(told.log).divergence is None
    story = tell(envelope for envelope in told.log if envelope.session == SESSION)
    assert ([call.ended for call in story.advice], story.unpriced) == (["lost"], 1)


def test_a_lower_threshold_would_not_have_asked() -> None:
    answer = asked(advised(), ChangedSettings(threshold=0.4))

    assert answer.calls() == (0, 1)
    [not_asked] = [found for found in answer.differences if found.calls]
    assert not_asked.effect == "gained"
    assert not_asked.instead.startswith("click #left (confidence_above_threshold_0.50")


def test_a_higher_threshold_would_have_asked() -> None:
    told = at_the_fork(400_000)
    assert kinds_of(told, AdviceRequested) == []
    answer = asked(told, ChangedSettings(threshold=0.6))

    assert answer.calls() == (1, 0)
    [would_ask] = [found for found in answer.differences if found.calls]
    assert (would_ask.effect, would_ask.recorded[:11]) == ("lost", "click #left")


def test_without_models_nothing_that_they_proposed_would_have_been_done() -> None:
    answer = asked(advised(), ChangedSettings(models=False))

    assert answer.calls() == (0, 1)
    assert answer.count("lost") == 1
    assert [found.recorded for found in answer.differences] == [
        "asked anthropic m (plan)",
        "click #right (advice_plan_a1)",
    ]
    assert answer.differences[0].instead == "stopped: lost: confidence_too_low_0.50"


def test_a_model_that_must_be_surer_would_have_been_asked_again() -> None:
    told = advised(800_000)
    assert asked(told, ChangedSettings(certainty=0.8)).differences == ()
    answer = asked(told, ChangedSettings(certainty=0.9))

    assert answer.calls() == (1, 0)
    assert [found.instead for found in answer.differences] == ["asked anthropic m (plan)"]


@for_each(
    "change",
    [ChangedSettings(threshold=0.4), ChangedSettings(models=False), ChangedSettings(order=0)],
)
def test_a_log_of_failed_calls_is_asked_about_too(change: ChangedSettings) -> None:
    told = at_the_fork(600_000)
    for request, provider in (("a1", "anthropic"), ("a2", "anthropic"), ("a3", "openai")):
        told.tell(SESSION, "advisor", AdvicePrepared(request, PROMPT, 700))
        failed = AdviceFailed(request, provider, "overloaded", provider == "anthropic")
        told.tell(SESSION, "advisor", failed)

    assert isinstance(kinds_of(told, RunStopped)[-1], RunStopped)
    assert verify(told.log).divergence is None
    assert asked(told, change).turns > 0


def test_a_session_without_models_is_not_given_one() -> None:
    told = at_the_fork(600_000, models=None)

    assert asked(told, ChangedSettings(certainty=0.9)).differences == ()
