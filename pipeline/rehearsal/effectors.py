"""Scripted effectors act on a scripted world. They keep the convention of the real ones and report
the same facts."""

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import ClassVar, Literal

from rutter.actors.answers import Answers, Nobody
from rutter.actors.effector import Effector
from rutter.actors.person.actor import Person
from rutter.actors.rules.pages.page_state import phrases_for
from rutter.actors.world.allowed_files import look_at_files
from rutter.actors.world.secrets.bindings import Bindings
from rutter.events.action import ONE_OR_MORE, Action, ByCss, ByRef, Strategy, Typed, Untrusted
from rutter.events.critic import FilesRequested
from rutter.events.envelope import Actor, Envelope
from rutter.events.errors import BadInput, BrowserGone
from rutter.events.executor import (
    ActionDone,
    ActionFailed,
    ErrorCode,
    LookalikesFound,
    QueryAnswered,
    QueryFailed,
    TargetChanged,
    TargetMissing,
    TargetResolved,
)
from rutter.events.observer import BrowserLost, PageObserved
from rutter.events.page import Resolved, Rest, Try
from rutter.events.planner import LookalikesRequested, ObservationRequested, RunStopped
from rutter.events.runtime import ActorFailed, SessionStarted
from rutter.events.validator import ActionStarted, PlanAdmitted, QueryStarted
from rutter.events.vocabulary import AnyEvent
from rutter.pipeline.clock import Clock
from rutter.pipeline.rehearsal.troubles import Becomes, Fails
from rutter.pipeline.rehearsal.world import ScriptedWorld


class ScriptedObserver:
    name: ClassVar[Actor] = "observer"

    def __init__(self, world: ScriptedWorld, clock: Clock | None = None) -> None:
        self._world = world
        self._clock = clock or Clock()
        self._folders: tuple[str, ...] = ()
        self._phrases: tuple[str, ...] = ()

    async def handle(self, envelope: Envelope) -> AsyncIterator[AnyEvent]:
        self._world.calls.append(envelope.event)
        match envelope.event:
            case SessionStarted(policy=policy, settings=settings):
                self._folders = policy.folders
                self._phrases = phrases_for(settings)
                await self._world.meet("look")
                yield self._seen("start")
            case FilesRequested() as request:
                yield await look_at_files(request, self._folders)
            case ActionDone() | ActionFailed() | QueryAnswered() | QueryFailed():
                await self._world.meet("look")
                yield self._seen("after_action")
            case ObservationRequested(why=why, texts=texts, within_ms=within_ms):
                await self._world.meet("look")
                if why == "aside_over":
                    self._world.come_back()
                elif why != "rest_awaited" or self._world.pending:
                    # Nothing changes by itself here. Looking again at once would be a loop of
                    # looks, thousands of them until the Critic's patience is over.
                    await self._clock.sleep_ms(within_ms)
                rest = self._world.rest() if why == "rest_awaited" else None
                yield self._seen("requested", texts, rest)
            case RunStopped() | ActorFailed():
                self._world.closed = True
                await self._world.meet("close")
            case _:
                return

    def _seen(
        self,
        why: Literal["start", "after_action", "requested"],
        texts: tuple[str, ...] = (),
        rest: Rest | None = None,
    ) -> PageObserved:
        world = self._world
        page = world.look()
        return PageObserved(
            page,
            why,
            look=world.looks,
            shown=world.shown(texts),
            phrases=world.phrases(self._phrases),
            pending=world.pending,
            exchanges=world.tell(),
            rest=rest,
        )

    def failed(self, envelope: Envelope, error: Exception) -> AnyEvent | None:
        return BrowserLost(str(error)) if isinstance(error, BrowserGone) else None


class ScriptedExecutor:
    name: ClassVar[Actor] = "executor"

    def __init__(self, world: ScriptedWorld, bindings: Bindings) -> None:
        self._world = world
        self._bindings = bindings
        self._found = ""
        self._waited_ms = 0

    async def handle(self, envelope: Envelope) -> AsyncIterator[AnyEvent]:
        self._world.calls.append(envelope.event)
        match envelope.event:
            case PlanAdmitted() as admitted:
                yield self._resolve(admitted)
            case LookalikesRequested(step=step, attempt=attempt, fingerprint=wanted):
                yield LookalikesFound(step, attempt, self._world.lookalikes(wanted))
            case ActionStarted() as started:
                yield await self._perform(started)
            case QueryStarted(render_mode="dom") as started:
                yield await self._answer(started)
            case _:
                return

    def failed(self, envelope: Envelope, error: Exception) -> AnyEvent | None:
        if isinstance(error, BrowserGone):
            return BrowserLost(str(error))
        if isinstance(envelope.event, ActionStarted):
            begun = envelope.event
            return ActionFailed(begun.step, begun.attempt, "action_failed", True, str(error))
        return None

    def _resolve(self, admitted: PlanAdmitted) -> AnyEvent:
        target, self._waited_ms = admitted.action.target, admitted.within_ms
        wanted = target.strategies if target else (ByCss(self._world.focused),)
        locators = [self._bindings.strategy(locator) for locator in wanted]
        self._found, tries = self._world.find(locators)
        step, attempt = admitted.step, admitted.attempt
        rest = self._world.rest() if admitted.rest is not None else None
        if not self._found:
            code, instead = _missing(locators, tries), self._instead(admitted.unless)
            waited_ms = admitted.within_ms if instead < 0 else 0
            return TargetMissing(
                step, attempt, code, tries, instead=instead, rest=rest, waited_ms=waited_ms
            )
        element = self._world.resolved(self._found)
        return TargetResolved(step, attempt, element, tries, rest=rest)

    def _instead(self, others: Sequence[Action]) -> int:
        """Which of these is there in its place; none of them is -1."""
        targets = [other.target.strategies if other.target is not None else () for other in others]
        there = [
            bool(self._world.find([*map(self._bindings.strategy, locators)])[0])
            for locators in targets
        ]
        return there.index(True) if True in there else -1

    async def _answer(self, started: QueryStarted) -> AnyEvent:
        action, step, attempt = started.action, started.step, started.attempt
        seen, enough = 0, action.wanted or ONE_OR_MORE
        if action.type == "wait_for":
            wanted = action.target.strategies if action.target else ()
            locators = [self._bindings.strategy(locator) for locator in wanted]
            self._found, tries = self._world.find(locators)
            seen = next((each.matches for each in tries if each.matches), 0)
        match await self._world.meet(self._found):
            case Fails(code):
                return QueryFailed(step, attempt, code)
            case _ if action.type == "wait_for" and not enough.holds(seen):
                return QueryFailed(step, attempt, "element_not_found")
            case _ if action.type == "extract":
                return QueryAnswered(step, attempt, 1, Untrusted(self._world.read(self._found)))
            case _ if action.type == "read_page":
                rest = self._world.rest() if started.rest is not None else None
                whole = action.target is None
                said = self._world.words() if whole else self._world.read(self._found)
                return QueryAnswered(step, attempt, 1, Untrusted(said), pages=1, rest=rest)
            case _:
                return QueryAnswered(step, attempt, 1)

    async def _perform(self, started: ActionStarted) -> AnyEvent:
        action, step, attempt = started.action, started.step, started.attempt
        match await self._world.meet(action.url or self._found):
            case Fails(code, dispatched):
                return ActionFailed(step, attempt, code, dispatched)
            case Becomes(thing):
                self._world.replace(self._found, thing)
            case _:
                pass
        if changed := self._changed(started.digest):
            return TargetChanged(step, attempt, changed)
        try:
            typed = self._bindings.value(action.value) if action.value is not None else ""
        except BadInput as error:
            return ActionFailed(step, attempt, "value_unbound", False, str(error))
        if refused := self._world.refuses(self._found, action, typed):
            # Nothing here changes by itself: it was waited for in vain.
            return ActionFailed(step, attempt, refused, False, waited_ms=self._waited_ms)
        rest = self._world.rest() if started.rest is not None else None
        self._world.step = step
        navigated = self._world.act(action, self._found, typed)
        value_set = True if action.type in ("type", "select") else None
        told = typed if isinstance(action.value, Typed) else None
        return ActionDone(step, attempt, 1, navigated, value_set, typed=told, rest=rest)

    def _changed(self, judged: str) -> Resolved | None:
        """What the element is by now, if it is not the one that was judged."""
        if not judged or self._found not in self._world.things():
            return None
        element = self._world.resolved(self._found)
        return element if element.digest != judged else None


def effectors(
    world: ScriptedWorld,
    started: SessionStarted,
    *,
    answers: Answers | None = None,
    secrets: Mapping[str, str] | None = None,
    typed: Sequence[str] = (),
    clock: Clock | None = None,
) -> list[Effector]:
    """The effectors of one session in this world, without a Timer: tests that need one add it.
    Waiting for a change takes its time on the `clock`, if there is one."""
    bound = Bindings(started.values, secrets or {}, typed, started.policy.secret_origins)
    return [
        ScriptedObserver(world, clock),
        ScriptedExecutor(world, bound),
        Person(answers or Nobody()),
    ]


def _missing(locators: Sequence[Strategy], tries: Sequence[Try]) -> ErrorCode:
    if any(each.result == "ambiguous" for each in tries):
        return "element_ambiguous"
    return (
        "ref_invalid"
        if any(isinstance(locator, ByRef) for locator in locators)
        else "element_not_found"
    )
