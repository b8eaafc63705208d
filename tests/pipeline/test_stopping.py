"""Whatever hangs, turns in circles or is never answered: the time of the run is used up (E6)."""

import ast
from collections.abc import AsyncIterator, Callable, Iterable
from pathlib import Path
from typing import Any, ClassVar

import anyio
import pytest

from rutter.actors.answers import ScriptedPerson
from rutter.actors.critic.actor import Critic
from rutter.actors.critic.state import CriticState
from rutter.actors.decider import DecidingActor
from rutter.actors.timer.actor import Timer
from rutter.events.causes import OTHER
from rutter.events.critic import OutcomeUnknown
from rutter.events.envelope import Actor, Envelope
from rutter.events.observer import PageObserved
from rutter.events.planner import ObservationRequested
from rutter.events.runtime import SessionEnded, SessionStarted
from rutter.events.validator import ActionStarted, ApprovalRequested, ApprovalVoided
from rutter.events.vocabulary import AnyEvent
from rutter.pipeline.app import App
from rutter.pipeline.runtime import session as module
from rutter.replay.verify import fresh_deciders
from tests.support.log_checks import Replayed, events_of
from tests.support.scripted_shop import Becomes, ScriptedElement, Waits, World, effectors, shop
from tests.support.shop_sessions import YES, open_app, recording

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(60)]

LIMIT_MS = 50
OVER = SessionEnded("max_wall_time", "", f"{LIMIT_MS} ms have passed", OTHER)
Moment = Callable[[AnyEvent], bool]


class Hands:
    """The hands of the clock. They stand still until the moment that a test is about, however busy
    the machine is, and fly from then on."""

    def __init__(self) -> None:
        self._ms = 1_000
        self._fly = False

    def now_ns(self) -> int:
        self._ms += LIMIT_MS if self._fly else 0
        return self._ms * 1_000_000

    def move_at(self, moment: Moment) -> Callable[[Envelope], None]:
        def hear(envelope: Envelope) -> None:
            self._fly = self._fly or moment(envelope.event)

        return hear

    async def move_when(self, waits: Waits) -> None:
        await waits.reached.wait()
        self._fly = True


@pytest.fixture
def hands(monkeypatch: pytest.MonkeyPatch) -> Hands:
    moved = Hands()
    monkeypatch.setattr("rutter.actors.timer.actor.monotonic_ns", moved.now_ns)
    return moved


async def sail(
    app: App, world: World, answers: Any = None, started: SessionStarted | None = None
) -> SessionEnded:
    started = started or recording(max_wall_ms=LIMIT_MS)
    person = answers or ScriptedPerson(otherwise=YES)
    made = [*effectors(world, started, answers=person), Timer()]
    return await app.run_session(started, made, name="s")


def hangs() -> Waits:
    return Waits(anyio.Event(), anyio.Event())


@pytest.mark.parametrize(("where", "begun"), [("look", 0), ("#find", 3), ("#place", 6)])
async def test_a_page_that_never_answers_is_not_waited_for(
    replayed: Replayed, hands: Hands, where: str, begun: int
) -> None:
    """Reading it, acting on it, and what cannot be undone: of that nobody knows how it ended."""
    log = replayed.memory()
    async with open_app(log) as app:
        world = shop().trouble(where, waits := hangs())
        async with anyio.create_task_group() as group:
            group.start_soon(hands.move_when, waits)
            assert await sail(app, world) == OVER
    events = await events_of(log, "s")
    assert len([e for e in events if isinstance(e, ActionStarted)]) == begun
    unknown = [e.step for e in events if isinstance(e, OutcomeUnknown)]
    assert unknown == ([begun] if begun else []), "what was under way, and nothing else"


async def test_a_page_that_does_not_close_either_is_left_behind(
    replayed: Replayed, hands: Hands, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "CLOSING_S", 0.05)
    log = replayed.memory()
    async with open_app(log) as app:
        world = shop().trouble("#find", waits := hangs()).trouble("close", hangs())
        async with anyio.create_task_group() as group:
            group.start_soon(hands.move_when, waits)
            assert await sail(app, world) == OVER


class Insatiable(Critic):
    """A Critic that wants to look again whatever it sees."""

    def decide(self, state: CriticState, envelope: Envelope) -> Iterable[AnyEvent]:
        if isinstance(envelope.event, PageObserved):
            return [ObservationRequested("effect_awaited", 0)]
        return list(super().decide(state, envelope))


def insatiable() -> list[DecidingActor[Any]]:
    others = [actor for actor in fresh_deciders() if actor.name != "critic"]
    return [DecidingActor(Insatiable()), *others]


async def test_deciders_that_turn_in_circles_do_not_outlast_the_clock(
    replayed: Replayed, hands: Hands
) -> None:
    """Every turn ends and every look is answered at once: no deadline but this one ever passes."""
    log = replayed.memory(deciders=insatiable)
    async with open_app(log, insatiable()) as app:
        app.listen(hands.move_at(lambda event: isinstance(event, ObservationRequested)))
        assert await sail(app, shop()) == OVER
    looks = [e for e in await events_of(log, "s") if isinstance(e, ObservationRequested)]
    assert looks


class Voids:
    """A Validator's word that comes while the person thinks: the question does not stand."""

    name: ClassVar[Actor] = "person"

    async def handle(self, envelope: Envelope) -> AsyncIterator[AnyEvent]:
        if isinstance(envelope.event, ApprovalRequested):
            yield ApprovalVoided(envelope.event.approval, "the element changed")

    def failed(self, envelope: Envelope, error: Exception) -> AnyEvent | None:
        return None


async def test_a_question_that_does_not_stand_holds_no_clock(
    replayed: Replayed, hands: Hands
) -> None:
    """The run may go on without its answer: then its time goes on as well."""
    log = replayed.memory()
    started = recording(max_wall_ms=LIMIT_MS)
    async with open_app(log) as app:
        app.listen(hands.move_at(lambda event: isinstance(event, ApprovalVoided)))
        observer, executor, _ = effectors(shop(), started)
        made = [observer, executor, Voids(), Timer()]
        assert await app.run_session(started, made, name="s") == OVER


async def test_an_element_that_changes_for_ever_is_not_judged_for_ever(replayed: Replayed) -> None:
    log = replayed.memory()
    other = [Becomes(ScriptedElement(name=f"Find {n}", leads_to="/results")) for n in range(9_000)]
    async with open_app(log) as app:
        ample = recording(max_wall_ms=60_000)
        ended = await sail(app, shop().trouble("#find", *other), started=ample)
    assert (ended.reason, ended.failure) == ("failed", "lost")
    assert ended.detail == ("ref_invalid: the element changed 4 times before it could be acted on")


def test_no_thread_that_an_effector_waits_for_outlasts_its_session() -> None:
    """A session that stops waits for its tasks: one that waits for a hung disk would never end."""
    waits = 0
    for path in sorted((Path(__file__).parents[2] / "actors").rglob("*.py")):
        if "run_sync" not in (text := path.read_text()):
            continue
        for call in ast.walk(ast.parse(text)):
            if isinstance(call, ast.Call) and ast.unparse(call.func).endswith("to_thread.run_sync"):
                waits += 1
                given = {keyword.arg: ast.unparse(keyword.value) for keyword in call.keywords}
                assert given.get("abandon_on_cancel") == "True", f"{path.name}: {call.lineno}"
    assert waits
