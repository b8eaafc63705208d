"""The Executor finds and pins an element, and acts on it once it is told to. No choices."""

import asyncio
from collections.abc import AsyncIterator
from time import perf_counter_ns
from typing import ClassVar

import anyio

from rutter.actors.executor.element_finder import ElementFinder
from rutter.actors.executor.held_element import ANSWER_MS, INPUT_MS, HeldElement
from rutter.actors.executor.outcome import ActionOutcome, refused_by, table_of
from rutter.actors.executor.page_input import NAVIGATE_MS, PageInput
from rutter.actors.executor.patience import PASSING
from rutter.actors.rules.text.untrusted import on_one_line, plain
from rutter.actors.world.browser.page_addresses import leads_on
from rutter.actors.world.browser.page_reading import OBSERVE_MS
from rutter.actors.world.browser.page_session import (
    KeyUnknown,
    NavigationFailed,
    PageClosed,
    PageTimeout,
)
from rutter.actors.world.browser.screen import Screen
from rutter.actors.world.browser.step_pictures import StepPictures
from rutter.actors.world.secrets.bindings import Bindings
from rutter.events.action import ONE_OR_MORE, Action, Untrusted
from rutter.events.artifacts import ArtifactStore
from rutter.events.envelope import Actor, Envelope
from rutter.events.errors import BadInput, BrowserGone
from rutter.events.executor import (
    ActionDone,
    ActionFailed,
    QueryAnswered,
    QueryFailed,
    StepPictured,
    TargetChanged,
)
from rutter.events.observer import BrowserLost
from rutter.events.page import Artifact, Rest
from rutter.events.planner import LookalikesRequested
from rutter.events.run_settings import RunSettings
from rutter.events.validator import ActionStarted, PlanAdmitted, QueryStarted
from rutter.events.vocabulary import AnyEvent

KEEP_S = 5.0  # a disk that takes longer has more to do than to keep pictures
UPLOAD_MB = 50  # what a policy says that says nothing of it


class Executor:
    name: ClassVar[Actor] = "executor"

    def __init__(
        self,
        screen: Screen,
        bindings: Bindings,
        settings: RunSettings,
        *,
        upload_mb: int = UPLOAD_MB,
        artifacts: ArtifactStore | None = None,
    ) -> None:
        self._held = HeldElement(screen, bindings)
        self._finder = ElementFinder(self._held)
        self._input = PageInput(self._held, upload_mb)
        self._delay_ms = settings.execution_delay_ms
        self._close_ups = StepPictures(artifacts, taking=settings.pictures)

    async def handle(self, envelope: Envelope) -> AsyncIterator[AnyEvent]:
        match envelope.event:
            case PlanAdmitted() as admitted:
                yield await self._finder.resolve(admitted)
            case LookalikesRequested() as request:
                yield await self._finder.lookalikes(request)
            case ActionStarted() as started:
                async for fact in self._perform_pictured(started):
                    yield fact
            case QueryStarted(render_mode="dom") as query:
                yield await self._answer(query)
            case _:
                return

    def failed(self, envelope: Envelope, error: Exception) -> AnyEvent | None:
        """A browser that died is the session's end; what was in flight is never tried again."""
        if isinstance(error, BrowserGone):
            return BrowserLost(why=str(error)[:200])
        said = f"{type(error).__name__}: {error}"[:200]
        match envelope.event:
            case ActionStarted(step=step, attempt=attempt):
                return ActionFailed(step, attempt, "action_failed", self._held.dispatched, said)
            case QueryStarted(step=step, attempt=attempt):
                return QueryFailed(step, attempt, "action_failed", said)
            case _:
                return None

    # -- reading -------------------------------------------------------------------------------

    async def _answer(self, query: QueryStarted) -> QueryAnswered | QueryFailed:
        """An observation: nothing is dispatched, whatever comes of it."""
        began = perf_counter_ns()
        step, attempt = query.step, query.attempt
        rest: Rest | None = None
        try:
            rest = await self._finder.rest(query.action, query.rest)
            found = await self._read(query.action, query.digest)
        except PageTimeout as error:
            found = ActionOutcome("timeout", str(error))
        except PageClosed as closed:
            if not await self._held.leaves_others(closed):
                raise
            found = ActionOutcome("ref_invalid", "the page was closed")
        except BadInput as error:
            found = ActionOutcome("value_unbound", str(error))
        took_us = (perf_counter_ns() - began) // 1_000
        if found.changed is not None:
            found = ActionOutcome("ref_invalid", "it is another element by now")
        if found.code is not None:
            return QueryFailed(step, attempt, found.code, on_one_line(found.message)[:200], took_us)
        text = plain(Untrusted(found.extracted)) if found.extracted is not None else None
        read = (text, found.table, found.pages, found.unread)
        return QueryAnswered(step, attempt, took_us, *read, rest=rest)

    async def _read(self, action: Action, digest: str) -> ActionOutcome:
        if action.type == "wait":
            await anyio.sleep((action.ms or 0) / 1000)
            return ActionOutcome()
        if not await self._held.come_to_front(action):
            return ActionOutcome("ref_invalid", "the page was closed")
        if action.type == "wait_for":
            return await self._wait_for(action)
        if action.type == "read_page":
            return await self._read_page(action, digest)
        if action.type != "extract":
            return ActionOutcome("action_failed", f"{action.type} is no observation")
        ways = self._held.locators(action)  # beside which words it stands, where it was found so
        checked = await self._held.tab.call("read", digest, ways, within_ms=INPUT_MS)
        if refused := refused_by(checked):
            return refused
        return ActionOutcome(extracted=str(checked["text"]), table=table_of(checked["table"]))

    async def _read_page(self, action: Action, digest: str) -> ActionOutcome:
        """In one round trip, as a look at the page is."""
        part = digest if action.target is not None else ""
        told = await self._held.tab.call("readPage", part, action.page, within_ms=OBSERVE_MS)
        if refused := refused_by(told):
            return refused
        pages, unread = int(told["pages"]), bool(told["unread"])
        return ActionOutcome(extracted=str(told["text"]), pages=pages, unread=unread)

    async def _wait_for(self, action: Action) -> ActionOutcome:
        assert action.target is not None
        within_ms = action.ms or NAVIGATE_MS
        wanted = action.wanted or ONE_OR_MORE
        asked = (self._held.locators(action), within_ms, wanted.operator, wanted.number)
        raw = await self._held.tab.call("counted", *asked, within_ms=within_ms + ANSWER_MS)
        if raw["held"]:
            return ActionOutcome()
        there = "not there" if action.wanted is None else f"{raw['seen']} of them were there"
        return ActionOutcome("element_not_found", f"{there} after {within_ms} ms", dispatched=False)

    # -- acting --------------------------------------------------------------------------------

    async def _perform_pictured(self, started: ActionStarted) -> AsyncIterator[AnyEvent]:
        picture = await self._pictured(started)
        try:
            outcome = await self._perform(started)
            kept = await _in_time(picture) if picture is not None else None
        finally:
            if picture is not None:
                picture.cancel()  # where it is not over: nobody waits for it any more
        if kept is not None:
            yield StepPictured(started.step, kept)
        yield outcome

    async def _pictured(self, started: ActionStarted) -> asyncio.Task[Artifact | None] | None:
        """What a recorded step is about to be done to, kept while it is done. It is another matter
        whether it is."""
        if started.action.target is None or started.attempt > 1 or self._held.pinned is None:
            return None
        taken = await self._close_ups.take(self._held.pinned)
        return asyncio.create_task(self._close_ups.keep(taken)) if taken is not None else None

    async def _perform(self, started: ActionStarted) -> AnyEvent:
        began = perf_counter_ns()
        self._held.dispatched = False
        step, attempt = started.step, started.attempt
        rest: Rest | None = None
        if self._held.patience is not None and self._held.patience.of != (step, attempt):
            self._held.patience = None
        try:
            rest = await self._finder.rest(started.action, started.rest)
            self._held.screen.window.step = step  # what pages send from now on came of it
            if started.irreversible:
                await self._held.screen.end_kept()
            outcome = await self._act(started.action, started.digest)
        except PageTimeout as error:
            outcome = ActionOutcome("timeout", str(error), self._held.dispatched)
        except PageClosed as closed:
            if not await self._held.leaves_others(closed):
                raise
            outcome = self._held.outcome_of_close()
        except NavigationFailed as error:
            outcome = ActionOutcome("navigation_failed", str(error), self._held.dispatched)
        except BadInput as error:
            outcome = ActionOutcome("value_unbound", str(error), dispatched=False)
        except KeyUnknown as error:
            outcome = ActionOutcome("action_failed", str(error), dispatched=False)
        took_us = (perf_counter_ns() - began) // 1_000
        if outcome.changed is not None:
            return TargetChanged(step, attempt, outcome.changed)
        if outcome.code is not None:
            said, waited_ms = on_one_line(outcome.message)[:200], self._waited_ms(outcome)
            failed = (outcome.code, outcome.dispatched, said, took_us, waited_ms)
            dialog, offers = on_one_line(outcome.dialog)[:60], on_one_line(outcome.offers)[:200]
            return ActionFailed(step, attempt, *failed, dialog=dialog, offers=offers)
        navigated, held, typed = outcome.navigated, outcome.value_set, outcome.typed
        at = self._held.pinned.addresses.at_input if self._held.pinned is not None else ""
        return ActionDone(
            step,
            attempt,
            took_us,
            navigated,
            held,
            None,
            typed,
            rest,
            at,
            outcome.file,
            outcome.hung,
        )

    def _waited_ms(self, outcome: ActionOutcome) -> int:
        passing = outcome.code in PASSING and not outcome.dispatched
        return self._held.patience.waited_ms if passing and self._held.patience is not None else 0

    async def _act(self, action: Action, digest: str) -> ActionOutcome:
        if self._delay_ms:
            await anyio.sleep(self._delay_ms / 1000)
        window = self._held.screen.window
        window.misplaced = self._held.bindings.misplaced
        window.answer_with([self._held.bindings.answer(answer) for answer in action.dialogs])
        try:
            if not await self._held.come_to_front(action):
                return self._held.outcome_of_close()
            self._held.tab.addresses.arm(leads=leads_on(action.type, _role(action)))
            return await self._input.give(action, digest)
        finally:
            window.answer_with(())


async def _in_time(picture: "asyncio.Task[Artifact | None]") -> Artifact | None:
    """What was done is told, whatever becomes of its picture."""
    await asyncio.wait({picture}, timeout=KEEP_S)
    over = picture.done() and not picture.cancelled() and picture.exception() is None
    return picture.result() if over else None


def _role(action: Action) -> str:
    recorded = action.target.fingerprint if action.target is not None else None
    return recorded.role if recorded is not None else ""
