"""Given one session and its effectors: who hears what, who is started again, how it is closed."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import ClassVar

import anyio
import pytest

from rutter.actors.effector import Effector
from rutter.actors.timer.actor import Timer
from rutter.events.causes import OTHER
from rutter.events.envelope import Actor, Envelope, kind
from rutter.events.errors import BrowserGone
from rutter.events.executor import ActionDone
from rutter.events.observer import BrowserLost, PopupOpened
from rutter.events.planner import ObservationRequested, RunStopped
from rutter.events.runtime import ActorFailed, DeadlinePassed, SessionEnded, SessionStarted
from rutter.events.validator import ActionStarted, PlanAdmitted
from rutter.events.vocabulary import AnyEvent
from rutter.pipeline.runtime import session as module
from rutter.pipeline.runtime.session import Session
from tests.support.case_table import for_each
from tests.support.shop_facts import click, run_of
from tests.support.until_true import until

pytestmark = pytest.mark.anyio

START = run_of(None)
ADMITTED = PlanAdmitted(1, 1, click(), 3_000)
INTENT = ActionStarted(1, 1, click())


class Hears:
    """An effector that does what a function says with each event it hears."""

    name: ClassVar[Actor]

    def __init__(
        self, name: Actor, do: Callable[[AnyEvent], AsyncIterator[AnyEvent]] | None = None
    ) -> None:
        self.name = name  # type: ignore[misc]
        self._do = do
        self.heard: list[AnyEvent] = []

    async def handle(self, envelope: Envelope) -> AsyncIterator[AnyEvent]:
        self.heard.append(envelope.event)
        if self._do is not None:
            async for fact in self._do(envelope.event):
                yield fact

    def failed(self, envelope: Envelope, error: Exception) -> AnyEvent | None:
        return BrowserLost(str(error)) if isinstance(error, BrowserGone) else None


class Desk:
    """Stands in for the sequencer: numbers what it is given and answers as a disk at once would."""

    def __init__(self, *effectors: Effector) -> None:
        self.facts: list[tuple[Actor, AnyEvent, int]] = []
        self.session = Session("s", effectors, self.submit)
        self.ended: SessionEnded | None = None

    async def submit(self, session: str, actor: Actor, event: AnyEvent, cause: int = 0) -> Envelope:
        assert session == "s"
        self.facts.append((actor, event, cause))
        envelope = self.say(event)
        if isinstance(event, ActorFailed | SessionEnded):
            self.session.hear(envelope)
        return envelope

    def say(self, event: AnyEvent) -> Envelope:
        n = len(self.facts)
        return Envelope(n, "s", n, n, "planner", 0, event, b"")

    def at_once(self, *events: AnyEvent) -> None:
        for event in events:
            self.session.hear_at_once(self.say(event))

    def durable(self, *events: AnyEvent) -> None:
        for event in events:
            self.session.hear(self.say(event))

    def told(self, kind: type[AnyEvent]) -> list[AnyEvent]:
        return [event for _, event, _ in self.facts if isinstance(event, kind)]

    async def run(self) -> None:
        self.ended = await self.session.run(START)


@asynccontextmanager
async def running(*effectors: Effector) -> AsyncIterator[Desk]:
    """A session under way; the test says when it stops."""
    desk = Desk(*effectors)
    async with anyio.create_task_group() as group:
        group.start_soon(desk.run)
        await until(lambda: desk.facts)
        yield desk


STOP = RunStopped("completed", detail="done")


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BACKOFF_S", 0.001)


# -- who hears what ------------------------------------------------------------------------------


async def test_an_effector_hears_what_the_table_says_and_nothing_else() -> None:
    observer, executor = Hears("observer"), Hears("executor")
    async with running(observer, executor) as desk:
        desk.durable(START, INTENT)
        desk.at_once(START, INTENT, ADMITTED, ObservationRequested("effect_awaited", 1))
        await until(lambda: len(executor.heard) == 2 and len(observer.heard) == 2)
        desk.durable(STOP)
    assert [kind(event) for event in observer.heard] == [
        "SessionStarted",
        "ObservationRequested",
        "RunStopped",
    ]
    assert executor.heard == [INTENT, ADMITTED]


async def test_an_intent_is_not_heard_before_it_is_durable() -> None:
    executor = Hears("executor")
    async with running(executor) as desk:
        desk.at_once(INTENT)
        for _ in range(20):
            await anyio.sleep(0)
        assert executor.heard == []
        desk.durable(INTENT)
        await until(lambda: executor.heard)
        desk.durable(STOP)


async def test_what_an_effector_did_is_submitted_with_its_cause() -> None:
    async def do(event: AnyEvent) -> AsyncIterator[AnyEvent]:
        yield PopupOpened("one")
        yield ActionDone(1, 1, 5)

    async with running(Hears("executor", do)) as desk:
        desk.durable(INTENT)
        await until(lambda: desk.told(ActionDone))
        desk.durable(STOP)
    assert desk.facts[1:3] == [
        ("executor", PopupOpened("one"), 1),
        ("executor", ActionDone(1, 1, 5), 1),
    ]


async def test_effectors_do_not_wait_for_each_other() -> None:
    stuck = anyio.Event()

    async def hang(event: AnyEvent) -> AsyncIterator[AnyEvent]:
        await stuck.wait()
        yield PopupOpened("never")

    executor = Hears("executor")
    async with running(Hears("observer", hang), executor) as desk:
        desk.durable(START, INTENT)
        await until(lambda: executor.heard)
        desk.durable(STOP)
        stuck.set()


async def test_every_inbox_counts() -> None:
    async with running(Hears("observer"), Hears("executor")) as desk:
        desk.at_once(ADMITTED)
        desk.durable(STOP)
    counted = {box.name: box.total for box in desk.session.statistics()}
    assert counted == {"s/observer": 0, "s/executor": 1}


# -- supervision ---------------------------------------------------------------------------------


def breaks(times: int, error: Exception) -> Callable[[AnyEvent], AsyncIterator[AnyEvent]]:
    """Breaks so often, then works."""
    left = [error] * times

    async def do(event: AnyEvent) -> AsyncIterator[AnyEvent]:
        if left and not isinstance(event, RunStopped | ActorFailed):
            raise left.pop()
        yield PopupOpened("worked")

    return do


@for_each("times", [1, 2, 3])
async def test_an_effector_that_breaks_is_started_again(times: int) -> None:
    observer = Hears("observer", breaks(times, ValueError("odd")))
    async with running(observer) as desk:
        desk.durable(START)
        await until(lambda: desk.told(PopupOpened))
        desk.durable(STOP)
    assert observer.heard[: times + 1] == [START] * (times + 1)
    assert desk.told(ActorFailed) == []


async def test_an_effector_that_keeps_breaking_is_given_up() -> None:
    observer = Hears("observer", breaks(99, ValueError("odd " + "x" * 300)))
    async with running(observer) as desk:
        desk.durable(START)
    assert observer.heard[:-1] == [START] * (module.RESTARTS + 1)
    [failed] = desk.told(ActorFailed)
    assert failed == ActorFailed("observer", "ValueError", ("odd " + "x" * 300)[:200])
    assert desk.ended is not None
    assert (desk.ended.reason, desk.ended.failure) == ("failed", "actor_failed")


async def test_the_pause_before_a_restart_doubles(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []

    async def note(seconds: float) -> None:
        pauses.append(seconds)

    async with running(Hears("observer", breaks(99, ValueError()))) as desk:
        with monkeypatch.context() as patch:
            patch.setattr("rutter.pipeline.runtime.session.anyio.sleep", note)
            desk.durable(START)
            await desk.session._stopped.wait()
    assert pauses == [0.001, 0.002, 0.004]


async def test_what_an_effector_can_explain_is_a_fact_and_no_restart() -> None:
    observer = Hears("observer", breaks(1, BrowserGone("it crashed")))
    async with running(observer) as desk:
        desk.durable(START)
        await until(lambda: desk.told(BrowserLost))
        desk.durable(STOP)
    assert observer.heard == [START, STOP]
    assert ("observer", BrowserLost("it crashed"), 1) in desk.facts


async def test_an_effector_goes_on_after_what_broke_it() -> None:
    observer = Hears("observer", breaks(1, BrowserGone("once")))
    async with running(observer) as desk:
        desk.durable(START)
        desk.at_once(ObservationRequested("effect_awaited", 1))
        await until(lambda: desk.told(PopupOpened))
        desk.durable(STOP)


# -- the clock -----------------------------------------------------------------------------------


async def test_a_timer_is_watched_beside_its_events() -> None:
    async with running(Timer()) as desk:
        desk.durable(run_of(None, max_wall_ms=1))
        await until(lambda: desk.told(DeadlinePassed), turns=1_000_000)
        desk.durable(STOP)
    assert ("clock", DeadlinePassed("wall_time", 1), 0) in desk.facts


# -- the end -------------------------------------------------------------------------------------


@for_each(
    "stop, end",
    [
        (STOP, SessionEnded("completed", "", "done")),
        (
            RunStopped("failed", "lost", "no such page"),
            SessionEnded("failed", "lost", "no such page"),
        ),
        (
            ActorFailed("critic", "KeyError", "'x'"),
            SessionEnded("failed", "actor_failed", "critic: KeyError: 'x'", OTHER),
        ),
    ],
)
async def test_a_session_ends_as_it_was_stopped(stop: AnyEvent, end: SessionEnded) -> None:
    async with running(Hears("observer")) as desk:
        desk.durable(stop)
    assert desk.ended == end
    assert desk.facts[-1][:2] == ("runtime", end)


async def test_the_end_names_the_stop_as_its_cause() -> None:
    async with running(Hears("observer")) as desk:
        desk.facts += [("observer", PopupOpened("x"), 1)] * 4
        desk.durable(STOP)
    assert desk.facts[-1][2] == 5


async def test_who_closes_the_page_hears_of_the_stop_after_all_else_is_over() -> None:
    order: list[str] = []

    async def hang(event: AnyEvent) -> AsyncIterator[AnyEvent]:
        try:
            await anyio.sleep_forever()
        finally:
            order.append("executor let go")
        yield PopupOpened("never")

    async def close(event: AnyEvent) -> AsyncIterator[AnyEvent]:
        order.append(f"observer hears {kind(event)}")
        yield PopupOpened("a last picture")

    executor = Hears("executor", hang)
    async with running(Hears("observer", close), executor) as desk:
        desk.durable(INTENT)
        await until(lambda: executor.heard)
        desk.durable(STOP)
    assert order == ["executor let go", "observer hears RunStopped"]
    assert desk.facts[-2][1] == PopupOpened("a last picture")


async def test_a_page_that_does_not_close_is_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CLOSING_S", 0.01)

    async def hang(event: AnyEvent) -> AsyncIterator[AnyEvent]:
        await anyio.sleep_forever()
        yield PopupOpened("never")

    async with running(Hears("observer", hang)) as desk:
        desk.durable(STOP)
    assert desk.ended == SessionEnded("completed", "", "done")


async def test_of_two_stops_the_first_counts() -> None:
    async with running(Hears("observer")) as desk:
        desk.durable(RunStopped("cancelled"), ActorFailed("observer", "ValueError"))
    assert desk.ended is not None
    assert desk.ended.reason == "cancelled"


async def test_a_page_that_breaks_while_closing_does_not_change_the_end() -> None:
    async def fail(event: AnyEvent) -> AsyncIterator[AnyEvent]:
        if isinstance(event, RunStopped):
            raise ValueError("already closed")
        yield PopupOpened("never")

    async with running(Hears("observer", fail)) as desk:
        desk.durable(STOP)
    assert desk.told(ActorFailed) == [ActorFailed("observer", "ValueError", "already closed")]
    assert desk.ended == SessionEnded("completed", "", "done")


async def test_it_begins_with_everything_that_it_depends_on() -> None:
    async with running(Hears("observer")) as desk:
        desk.durable(STOP)
    assert desk.facts[0] == ("runtime", START, 0)
    assert isinstance(START, SessionStarted)
