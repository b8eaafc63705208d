"""A session is paused, somebody takes the wheel, and it goes on from where the page is then."""

from collections.abc import AsyncIterator, Callable, Iterable
from functools import partial
from typing import Any, ClassVar

import anyio
import msgspec
import pytest

from rutter.actors.advisor.actor import Advisor
from rutter.actors.answers import Answers, Nobody, PersonAnswer, ScriptedPerson
from rutter.actors.effector import Effector
from rutter.actors.person.actor import Person
from rutter.actors.timer.actor import Timer
from rutter.actors.world.models.prices import PricedModel
from rutter.events.action import Action
from rutter.events.envelope import Actor, Envelope
from rutter.events.errors import BadInput
from rutter.events.executor import ActionDone
from rutter.events.log import EventLog
from rutter.events.planner import ObservationRequested, PlanProposed
from rutter.events.predictor import EffectsLearned
from rutter.events.runtime import SessionEnded, SessionPaused, SessionResumed, SessionStarted
from rutter.events.upcast import with_causes
from rutter.events.validator import (
    ActionRejected,
    ActionStarted,
    ApprovalRequested,
    ApprovalVoided,
    QueryStarted,
)
from rutter.events.vocabulary import AnyEvent
from rutter.pipeline.app import App
from rutter.pipeline.rehearsal import fixtures
from rutter.pipeline.rehearsal.scripted_model import ScriptedModel
from rutter.pipeline.rehearsal.scripted_screen import ScriptedScreen
from rutter.pipeline.rehearsal.stage import with_models
from rutter.pipeline.sessions import session_started
from tests.pipeline.rehearsal.test_stage import goal, leads
from tests.pipeline.test_verification import office, read_back, record
from tests.support.example_counts import moments
from tests.support.log_checks import Replayed, TurnsLog, events_of
from tests.support.person_at_wheel import WHO, Moment, Wheel, nth
from tests.support.scripted_shop import ORIGIN, Waits, World, effectors, shop
from tests.support.shop_sessions import (
    YES,
    NextClock,
    Thinks,
    open_app,
    record_order,
    recording,
    run_for_fairlead,
    with_settings,
)
from tests.support.until_true import until

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(120)]

BEGUN = (ActionStarted, QueryStarted)


def in_a_window(started: SessionStarted) -> SessionStarted:
    return msgspec.structs.replace(started, headed=True)


def asked(number: int = 1) -> Callable[[AnyEvent], bool]:
    return lambda event: isinstance(event, PlanProposed) and event.index + 1 == number


def confirmed(step: int) -> Moment:
    """The step of this place was done; its page was not looked at yet."""
    return lambda event: isinstance(event, ActionDone) and event.step == step


def unhurried(effector: Effector) -> Effector:
    """An effector whose work takes a moment, so that something can come in between."""

    class Unhurried:
        name: ClassVar[Actor] = effector.name

        async def handle(self, envelope: Envelope) -> AsyncIterator[AnyEvent]:
            for _ in range(20):
                await anyio.sleep(0)
            async for fact in effector.handle(envelope):
                yield fact

        def failed(self, envelope: Envelope, error: Exception) -> AnyEvent | None:
            return effector.failed(envelope, error)

    return Unhurried()


class Voyage:
    """One session, and whoever takes its wheel."""

    def __init__(self, app: App, started: SessionStarted, answers: Answers | None = None) -> None:
        self.world = shop()
        self.ended: SessionEnded | None = None
        self._app = app
        self._started = started
        self._answers = answers

    def wheel(self, moment: Moment) -> Wheel:
        return Wheel(self._app, "s", moment)

    async def sail(self) -> None:
        observer, executor, _ = effectors(self.world, self._started)
        person = Person(self._answers or Nobody())
        made: list[Effector] = [unhurried(observer), unhurried(executor), person, Timer()]
        self.ended = await self._app.run_session(self._started, made, name="s")

    @property
    def done(self) -> list[Action]:
        """What was done to it; the looks in a page aside change nothing."""
        return [action for action in self.world.done if not action.aside]


def held(events: Iterable[Any]) -> list[AnyEvent]:
    """What was begun between a pause and the look that ended it. The read-back of a step that had
    begun is the end of it."""
    begun: list[AnyEvent] = []
    paused = False
    for event in events:
        if isinstance(event, SessionPaused):
            paused = True
        elif isinstance(event, ObservationRequested) and event.why == "resumed":
            paused = False
        elif paused and isinstance(event, (*BEGUN, PlanProposed)) and not event.action.aside:
            begun.append(event)
    return begun


async def sailed(
    log: EventLog, moment: Moment, *, meanwhile: Callable[[World], object] | None = None
) -> tuple[Voyage, list[Any]]:
    """The order for another customer, paused at this moment."""
    async with open_app(log) as app:
        workflow = await record_order(app, log, "recorded")
        started = run_for_fairlead(workflow)
        voyage = Voyage(app, in_a_window(started) if meanwhile else started, SCRIPTED())
        wheel = voyage.wheel(moment)
        async with anyio.create_task_group() as group:
            group.start_soon(voyage.sail)
            with anyio.fail_after(60):
                await wheel.briefly(partial(meanwhile or no_hand, voyage.world))
    return voyage, await events_of(log, "s")


SCRIPTED = partial(ScriptedPerson, otherwise=YES)


def no_hand(world: World) -> None:
    """Whoever pauses it only looks."""


# -- held, and on again ----------------------------------------------------------------------------


async def length(replayed: Replayed) -> tuple[int, list[Action]]:
    """How many events a run has that nobody pauses, and what it does."""
    log = replayed.memory()
    async with open_app(log) as app:
        voyage = Voyage(app, run_for_fairlead(await record_order(app, log, "recorded")))
        await voyage.sail()
    return len(await events_of(log, "s")), voyage.done


@pytest.mark.parametrize("at_once", [False, True], ids=["a while", "at once"])
async def test_a_pause_anywhere_changes_neither_the_steps_nor_the_end(
    replayed: Replayed, at_once: bool
) -> None:
    """At every moment of the run, and handed back when all is quiet or at the same moment."""
    events, steps = await length(replayed)
    for number in moments(events, at_most=8):
        log = replayed.memory()
        async with open_app(log) as app:
            started = run_for_fairlead(await record_order(app, log, "recorded"))
            voyage = Voyage(app, started)
            wheel = voyage.wheel(nth(number))
            async with anyio.create_task_group() as group:
                group.start_soon(voyage.sail)
                with anyio.fail_after(60):
                    await wheel.take()
                    told = await events_of(log, "s")  # who is told that it is paused can read it
                    assert wheel.refused or SessionPaused(WHO) in told, number
                    if not at_once:
                        await wheel.quiet()
                    await wheel.hand_back()
        said = await events_of(log, "s")
        assert voyage.ended == with_causes(
            SessionEnded("completed", "", "the recorded end is reached")
        ), number
        assert voyage.done == steps, number
        assert held(said) == [], number
        began = [(e.step, e.attempt) for e in said if isinstance(e, BEGUN) and not e.action.aside]
        assert len(set(began)) == len(began) == len(steps), number


async def test_a_pause_anywhere_changes_no_recording_either(replayed: Replayed) -> None:
    started = recording()
    log = replayed.memory()
    async with open_app(log) as app:
        alone = Voyage(app, started, SCRIPTED())
        await alone.sail()
    for number in moments(len(await events_of(log, "s")), at_most=8):
        log = replayed.memory()
        async with open_app(log) as app:
            voyage = Voyage(app, started, SCRIPTED())
            async with anyio.create_task_group() as group:
                group.start_soon(voyage.sail)
                with anyio.fail_after(60):
                    await voyage.wheel(nth(number)).briefly()
        assert voyage.ended == alone.ended, number
        assert voyage.done == alone.done, number
        assert held(await events_of(log, "s")) == [], number


async def test_what_had_begun_comes_to_its_end_and_nothing_else_begins(
    replayed: Replayed,
) -> None:
    log = replayed.memory()
    voyage, events = await sailed(log, lambda event: isinstance(event, ActionStarted))
    assert voyage.ended is not None
    assert voyage.ended.reason == "completed"
    at = events.index(SessionPaused(WHO))
    behind = [type(event).__name__ for event in events[at:]]
    assert behind[: behind.index("SessionResumed")].count("ActionJudged") == 1
    assert held(events) == []


async def test_what_was_only_proposed_is_let_go_and_proposed_anew(replayed: Replayed) -> None:
    log = replayed.memory()
    moment = lambda event: isinstance(event, PlanProposed) and event.index == 2  # noqa: E731
    voyage, events = await sailed(log, moment)
    assert voyage.ended is not None
    assert voyage.ended.reason == "completed"
    let_go = [event for event in events if isinstance(event, ActionRejected)]
    assert [(each.rule, each.reason) for each in let_go] == [
        ("paused", f"paused by {WHO} before it began")
    ]
    again = [event.step for event in events if isinstance(event, PlanProposed) and event.index == 2]
    assert len(again) == 2
    assert again[1] > again[0]


async def test_a_paused_session_stays_paused(replayed: Replayed) -> None:
    log = replayed.memory()
    async with open_app(log) as app:
        voyage = Voyage(app, recording(), SCRIPTED())
        wheel = voyage.wheel(confirmed(2))
        async with anyio.create_task_group() as group:
            group.start_soon(voyage.sail)
            await wheel.take()
            await wheel.quiet()
            assert app.paused() == ("s",)
            assert app.running() == ("s",)
            events = await events_of(log, "s")
            assert [event.step for event in events if isinstance(event, BEGUN)] == [1, 2]
            await wheel.hand_back()
            assert app.paused() == ()
    assert voyage.ended is not None
    assert voyage.ended.reason == "completed"


async def test_it_can_be_paused_again_and_again(replayed: Replayed) -> None:
    log = replayed.memory()
    async with open_app(log) as app:
        started = run_for_fairlead(await record_order(app, log, "recorded"), max_steps=6)
        voyage = Voyage(app, started)
        proposed = [voyage.wheel(asked(number)) for number in range(1, 7)]
        async with anyio.create_task_group() as group:
            group.start_soon(voyage.sail)
            for wheel in proposed:
                with anyio.fail_after(60):
                    await wheel.briefly()
    assert voyage.ended is not None
    assert voyage.ended.reason == "completed", "a step that a pause came before is none of six"
    assert len(voyage.done) == 6


# -- a person at the wheel -------------------------------------------------------------------------


def goes(path: str) -> Callable[[World], object]:
    """What a person does in the window led here."""

    def by_hand(world: World) -> None:
        world.url = ORIGIN + path

    return by_hand


def did(events: Iterable[Any]) -> list[int]:
    """The places in the workflow of the steps that the run did."""
    planned = {event.step: event.index for event in events if isinstance(event, PlanProposed)}
    begun = [event for event in events if isinstance(event, ActionStarted)]
    return [planned[event.step] for event in begun if not event.action.aside]


async def test_a_step_that_a_person_did_is_not_done_again(replayed: Replayed) -> None:
    """Searched by hand: the run goes on with what was found."""
    log = replayed.memory()
    voyage, events = await sailed(log, confirmed(2), meanwhile=goes("/results"))
    assert voyage.ended == with_causes(SessionEnded("completed", "", "the recorded end is reached"))
    assert did(events) == [0, 1, 3, 4, 5]


async def test_several_steps_that_a_person_did_are_not_done_again(replayed: Replayed) -> None:
    log = replayed.memory()
    voyage, events = await sailed(log, confirmed(1), meanwhile=goes("/customers/2"))
    assert voyage.ended == with_causes(SessionEnded("completed", "", "the recorded end is reached"))
    assert did(events) == [0, 4, 5]


async def test_what_cannot_be_undone_and_was_done_by_hand_is_not_done_twice(
    replayed: Replayed,
) -> None:
    """The page is where it leads. That this very order was placed, who had the wheel knows."""
    log = replayed.memory()
    voyage, events = await sailed(log, confirmed(5), meanwhile=goes("/orders/1002"))
    assert voyage.ended == with_causes(SessionEnded("completed", "", "the recorded end is reached"))
    assert did(events) == [0, 1, 2, 3, 4]
    [question] = [event for event in events if isinstance(event, ApprovalRequested)]
    assert question.question.startswith("a person had the wheel; step 6 of 6: ")
    assert question.question.endswith("who had the wheel knows if step 6 is done. Is it done?")


async def test_what_they_say_they_did_not_do_is_neither_done_nor_taken_for_done(
    replayed: Replayed,
) -> None:
    log = replayed.memory()
    async with open_app(log) as app:
        workflow = await record_order(app, log, "recorded")
        no = ScriptedPerson(otherwise=PersonAnswer(False, "I only looked"))
        voyage = Voyage(app, in_a_window(run_for_fairlead(workflow)), no)
        wheel = voyage.wheel(confirmed(5))
        async with anyio.create_task_group() as group:
            group.start_soon(voyage.sail)
            await wheel.briefly(partial(goes("/orders/1002"), voyage.world))
    assert voyage.ended == with_causes(
        SessionEnded("failed", "lost", "a person had the wheel; I only looked")
    )
    assert did(await events_of(log, "s")) == [0, 1, 2, 3, 4]


async def test_a_run_that_a_person_helped_is_no_sign_of_what_its_steps_show(
    replayed: Replayed,
) -> None:
    log = replayed.memory()
    _, events = await sailed(log, confirmed(5), meanwhile=goes("/orders/1002"))
    assert not any(isinstance(event, EffectsLearned) for event in events)
    log = replayed.memory()
    _, events = await sailed(log, confirmed(5), meanwhile=no_hand)
    assert any(isinstance(event, EffectsLearned) for event in events)


async def test_what_may_have_been_done_by_hand_is_asked_about_once(replayed: Replayed) -> None:
    """The page is what it was: whether they placed the order and came back, only they know."""
    log = replayed.memory()
    voyage, events = await sailed(log, confirmed(5), meanwhile=no_hand)
    assert voyage.ended is not None
    assert voyage.ended.reason == "completed"
    [question] = [event for event in events if isinstance(event, ApprovalRequested)]
    assert (question.rule, question.kind) == ("had_the_wheel", "policy")
    assert "a person had the wheel, and may have done it already" in question.question
    assert did(events) == [0, 1, 2, 3, 4, 5]


async def test_where_nobody_has_a_window_nobody_did_anything(replayed: Replayed) -> None:
    log = replayed.memory()
    voyage, events = await sailed(log, confirmed(5))
    assert voyage.ended is not None
    assert voyage.ended.reason == "completed"
    assert not any(isinstance(event, ApprovalRequested) for event in events)


async def test_a_page_that_nothing_is_known_of_is_lost_and_says_who_had_the_wheel(
    replayed: Replayed,
) -> None:
    log = replayed.memory()
    async with open_app(log) as app:
        workflow = await record_order(app, log, "recorded")
        no = ScriptedPerson(otherwise=PersonAnswer(False))
        voyage = Voyage(app, in_a_window(run_for_fairlead(workflow)), no)
        wheel = voyage.wheel(confirmed(2))
        async with anyio.create_task_group() as group:
            group.start_soon(voyage.sail)
            await wheel.briefly(partial(goes("/elsewhere"), voyage.world))
    ended = voyage.ended
    assert ended is not None
    assert (ended.reason, ended.failure) == ("failed", "lost")
    assert ended.detail.startswith("a person had the wheel; ")
    assert no.asked[0].question.startswith("a person had the wheel; step 3 of 6: recorded at ")
    assert did(await events_of(log, "s")) == [0, 1]


async def test_a_person_who_brings_it_back_when_asked_lets_it_go_on(replayed: Replayed) -> None:
    """The checkpoint of every run that is lost, with nothing of its own."""
    log = replayed.memory()
    async with open_app(log) as app:
        workflow = await record_order(app, log, "recorded")

        class Returns(ScriptedPerson):
            async def ask(self, question: ApprovalRequested) -> PersonAnswer:
                if question.kind == "unknown":
                    voyage.world.url = ORIGIN + "/"
                return await super().ask(question)

        voyage = Voyage(app, in_a_window(run_for_fairlead(workflow)), Returns(otherwise=YES))
        wheel = voyage.wheel(confirmed(2))
        async with anyio.create_task_group() as group:
            group.start_soon(voyage.sail)
            await wheel.briefly(partial(goes("/elsewhere"), voyage.world))
    assert voyage.ended == with_causes(SessionEnded("completed", "", "the recorded end is reached"))


# -- questions that are open -----------------------------------------------------------------------


async def until_asked(person: Thinks) -> None:
    with anyio.fail_after(60):
        await person.asked.wait()


async def test_a_question_stays_open_and_its_answer_is_good_when_it_went_on(
    replayed: Replayed,
) -> None:
    log = replayed.memory()
    async with open_app(log) as app:
        voyage = Voyage(app, recording(), person := Thinks())
        wheel = voyage.wheel(lambda event: isinstance(event, ApprovalRequested))
        async with anyio.create_task_group() as group:
            group.start_soon(voyage.sail)
            await until_asked(person)
            await wheel.briefly()
            await wheel.quiet()
            person.answer.set()
    events = await events_of(log, "s")
    assert voyage.ended is not None
    assert voyage.ended.reason == "completed"
    assert [event.why for event in events if isinstance(event, ApprovalVoided)] == ["used"]


async def test_a_yes_while_it_is_paused_begins_nothing_and_is_asked_again(
    replayed: Replayed,
) -> None:
    log = replayed.memory()
    async with open_app(log) as app:
        voyage = Voyage(app, recording(), person := Thinks())
        wheel = voyage.wheel(lambda event: isinstance(event, ApprovalRequested))
        async with anyio.create_task_group() as group:
            group.start_soon(voyage.sail)
            await until_asked(person)
            await wheel.take()
            person.answer.set()
            await wheel.quiet()
            assert len(voyage.done) == 5, "the order is not placed"
            await wheel.hand_back()
    events = await events_of(log, "s")
    assert voyage.ended is not None
    assert voyage.ended.reason == "completed"
    assert len(voyage.done) == 6
    voided = [event.why for event in events if isinstance(event, ApprovalVoided)]
    assert voided == ["the session is paused", "used"]
    assert held(events) == []


async def test_a_no_while_it_is_paused_ends_it(replayed: Replayed) -> None:
    class Refuses(Thinks):
        async def ask(self, question: ApprovalRequested) -> PersonAnswer:
            await super().ask(question)
            return PersonAnswer(False, "not today")

    log = replayed.memory()
    async with open_app(log) as app:
        voyage = Voyage(app, recording(), person := Refuses())
        wheel = voyage.wheel(lambda event: isinstance(event, ApprovalRequested))
        async with anyio.create_task_group() as group:
            group.start_soon(voyage.sail)
            await until_asked(person)
            await wheel.take()
            person.answer.set()
    assert voyage.ended is not None
    assert (voyage.ended.reason, voyage.ended.failure) == ("policy_denied", "policy_denied")


async def test_a_question_about_a_page_that_a_person_left_is_not_waited_for(
    replayed: Replayed,
) -> None:
    """It is void, whoever was asked is asked no longer, and what is due is asked about instead."""
    log = replayed.memory()

    class Twice(Thinks):
        questions = 0
        dropped = False

        async def ask(self, question: ApprovalRequested) -> PersonAnswer:
            self.questions += 1
            if self.questions > 1:
                return YES
            try:
                return await super().ask(question)
            except anyio.get_cancelled_exc_class():
                self.dropped = True
                raise

    async with open_app(log) as app:
        voyage = Voyage(app, recording(), person := Twice())
        wheel = voyage.wheel(lambda event: isinstance(event, ApprovalRequested))
        async with anyio.create_task_group() as group:
            group.start_soon(voyage.sail)
            await until_asked(person)
            with anyio.fail_after(60):
                await wheel.briefly(lambda: voyage.world.fields.update({"#qty": "4"}))
                await until(lambda: voyage.ended)
    assert (person.questions, person.dropped) == (2, True)
    voided = [e.why for e in await events_of(log, "s") if isinstance(e, ApprovalVoided)]
    assert voided == ["another step was proposed", "used"]
    assert len(voyage.done) == 6


# -- how it ends -----------------------------------------------------------------------------------


async def test_a_paused_session_can_be_stopped(replayed: Replayed) -> None:
    log = replayed.memory()
    async with open_app(log) as app:
        voyage = Voyage(app, recording(), SCRIPTED())
        wheel = voyage.wheel(confirmed(2))
        async with anyio.create_task_group() as group:
            group.start_soon(voyage.sail)
            await wheel.take()
            await wheel.quiet()
            await app.stop("s", "ann", "enough")
    assert voyage.ended == with_causes(SessionEnded("cancelled", "", "stopped by ann: enough"))


async def test_a_paused_session_ends_with_its_process(replayed: Replayed) -> None:
    log = replayed.memory()
    async with anyio.create_task_group() as group:
        async with open_app(log) as app:
            voyage = Voyage(app, recording(), SCRIPTED())
            wheel = voyage.wheel(confirmed(2))
            group.start_soon(voyage.sail)
            await wheel.take()
            await wheel.quiet()
        assert all(report.in_time for report in app.shutdown)
    assert voyage.ended == with_causes(SessionEnded("cancelled", "", "stopped by shutdown"))


async def test_a_process_that_dies_while_it_is_paused_leaves_it_interrupted(
    replayed: Replayed,
) -> None:
    log = TurnsLog(replayed.memory())
    async with open_app(log) as app:
        voyage = Voyage(app, recording(), SCRIPTED())
        wheel = voyage.wheel(confirmed(2))
        async with anyio.create_task_group() as group:
            group.start_soon(voyage.sail)
            await wheel.take()
            await wheel.quiet()
            left = tuple(log.turns)
            await app.stop("s", "ann")
    dead = replayed.memory(*left)
    async with open_app(dead, clock=NextClock()) as app:
        assert app.interrupted == ["s"]
        assert app.paused() == ()
    ended = (await events_of(dead, "s"))[-1]
    assert (ended.reason, ended.detail) == ("interrupted", "the process that ran it died")


# -- what cannot be paused -------------------------------------------------------------------------


async def test_what_is_not_running_cannot_be_paused_nor_resumed(replayed: Replayed) -> None:
    async with open_app(replayed.memory()) as app:
        voyage = Voyage(app, recording(), SCRIPTED())
        await voyage.sail()
        for name in ("s", "never"):
            with pytest.raises(BadInput, match=f"no session '{name}' is running"):
                await app.pause(name, WHO)
            with pytest.raises(BadInput, match=f"no session '{name}' is running"):
                await app.resume(name, WHO)


async def test_pausing_twice_and_resuming_what_runs_are_refused(replayed: Replayed) -> None:
    log = replayed.memory()
    async with open_app(log) as app:
        world = shop().trouble("#find", waits := Waits(anyio.Event(), anyio.Event()))
        voyage = Voyage(app, recording(), SCRIPTED())
        voyage.world = world
        async with anyio.create_task_group() as group:
            group.start_soon(voyage.sail)
            await waits.reached.wait()
            with pytest.raises(BadInput, match="'s' is not paused"):
                await app.resume("s", WHO)
            await app.pause("s", WHO)
            with pytest.raises(BadInput, match="'s' is paused; resume it: rutter resume s"):
                await app.pause("s", "bob")
            await app.resume("s", WHO)
            waits.answer.set()
    assert voyage.ended is not None
    assert voyage.ended.reason == "completed"
    said = [e for e in await events_of(log, "s") if isinstance(e, SessionPaused | SessionResumed)]
    assert said == [SessionPaused(WHO), SessionResumed(WHO)]


async def test_two_who_pause_at_the_same_moment_pause_it_once(replayed: Replayed) -> None:
    log = replayed.memory()
    refused: list[BadInput] = []
    async with open_app(log) as app:
        world = shop().trouble("#find", waits := Waits(anyio.Event(), anyio.Event()))
        voyage = Voyage(app, recording(), SCRIPTED())
        voyage.world = world

        async def pause(by: str) -> None:
            try:
                await app.pause("s", by)
            except BadInput as error:
                refused.append(error)

        async with anyio.create_task_group() as group:
            group.start_soon(voyage.sail)
            await waits.reached.wait()
            async with anyio.create_task_group() as both:
                both.start_soon(pause, "ann")
                both.start_soon(pause, "bob")
            await app.resume("s", "ann")
            waits.answer.set()
    assert len(refused) == 1
    paused = [event for event in await events_of(log, "s") if isinstance(event, SessionPaused)]
    assert len(paused) == 1


async def test_a_person_who_is_recorded_is_not_paused(replayed: Replayed) -> None:
    async with open_app(replayed.memory()) as app:
        started = msgspec.structs.replace(recording(), driver="person")
        voyage = Voyage(app, started, SCRIPTED())
        voyage.world = shop().trouble("#find", waits := Waits(anyio.Event(), anyio.Event()))
        async with anyio.create_task_group() as group:
            group.start_soon(voyage.sail)
            await waits.reached.wait()
            with pytest.raises(BadInput, match="is a recording of what a person does"):
                await app.pause("s", WHO)
            await app.stop("s", WHO)


# -- other ways to be under way --------------------------------------------------------------------


async def test_a_result_that_must_show_elsewhere_is_looked_for_whenever_it_is_paused(
    replayed: Replayed,
) -> None:
    """A step is not over before its read-back is: it is not done twice, and no other begins."""

    async def saved(number: int) -> tuple[SessionEnded, list[str], int]:
        log, world = replayed.memory(), office()
        async with open_app(log) as app:
            workflow = read_back(await record(app, log))
            started = with_settings(session_started.run_of(workflow, {}, ()))
            voyage = Voyage(app, started)
            voyage.world = world
            wheel = voyage.wheel(nth(number))
            async with anyio.create_task_group() as group:
                group.start_soon(wheel.briefly)
                await voyage.sail()
                group.cancel_scope.cancel()
            assert voyage.ended is not None
        events = await events_of(log, "s")
        return voyage.ended, [action.type for action in world.done], len(events)

    ended, did, events = await saved(0)
    assert ended.reason == "completed"
    for number in moments(events, at_most=8):
        assert (await saved(number))[:2] == (ended, did), number


async def test_a_model_that_leads_is_asked_anew_and_does_the_same(replayed: Replayed) -> None:
    async def led(number: int) -> tuple[SessionEnded, list[str], int]:
        log, world, model = replayed.memory(), fixtures.cancellation(), ScriptedModel(leads)
        started = with_models(goal(), model)
        async with open_app(log) as app:
            advisor = Advisor(
                ScriptedScreen(world, started.policy), None, {model.provider: PricedModel(model)}
            )
            observer, executor, person = effectors(world, started, answers=SCRIPTED())
            wheel = Wheel(app, "s", nth(number))
            at_work = [unhurried(each) for each in (observer, executor, advisor)]
            made: list[Effector] = [*at_work, person, Timer()]
            async with anyio.create_task_group() as group:
                group.start_soon(wheel.briefly)
                with anyio.fail_after(60):
                    ended = await app.run_session(started, made, name="s")
                group.cancel_scope.cancel()
        events = await events_of(log, "s")
        assert held(events) == [], number
        return ended, [action.type for action in world.done], len(events)

    ended, did, events = await led(0)
    assert ended.reason == "completed", ended
    for number in moments(events, at_most=8):
        assert (await led(number))[:2] == (ended, did), number
