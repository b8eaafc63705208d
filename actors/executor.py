"""The Executor: finds and pins an element, and acts on it once it is told to. No choices.

Acting is checked in one script right before input: if the element is not the one that was judged,
nothing is done. Input goes through the browser as a person's does; the page has settled when no
navigation was asked for, or the new document is there.
"""

from collections.abc import AsyncIterator
from contextlib import suppress
from time import perf_counter_ns
from typing import Any, ClassVar, NamedTuple

import anyio
import msgspec

from actors.bindings import Bindings
from actors.browser.tab import DocumentGone, NavigationFailed, PageTimeout
from actors.effector import Screen
from events.action import Action, Secret, Typed, Untrusted
from events.envelope import Actor, Envelope
from events.errors import BadInput, BrowserGone
from events.executor import (
    ActionDone,
    ActionFailed,
    ErrorCode,
    TargetChanged,
    TargetMissing,
    TargetResolved,
)
from events.observer import BrowserLost
from events.page import Resolved, Try
from events.validator import ActionStarted, PlanAdmitted
from events.vocabulary import AnyEvent
from events.workflow import RunSettings

INPUT_MS = 2_000  # S3 2.2.1: the most that a click, fill or select may take
NAVIGATE_MS = 10_000  # S0: the seeds' limit for a navigation
ANSWER_MS = 1_000  # what a script in the page has on top of the time it was given


class Outcome(NamedTuple):
    """What acting came to. `changed` means that nothing was done."""

    code: ErrorCode | None = None
    message: str = ""
    dispatched: bool = True
    navigated: bool = False
    value_set: bool | None = None
    extracted: str | None = None
    typed: str | None = None
    changed: Resolved | None = None


class Executor:
    name: ClassVar[Actor] = "executor"

    def __init__(self, screen: Screen, bindings: Bindings, settings: RunSettings) -> None:
        self._screen = screen
        self._bindings = bindings
        self._delay_ms = settings.execution_delay_ms
        self._dispatched = False

    async def handle(self, envelope: Envelope) -> AsyncIterator[AnyEvent]:
        match envelope.event:
            case PlanAdmitted() as admitted:
                yield await self._resolve(admitted)
            case ActionStarted() as started:
                yield await self._perform(started)
            case _:
                return

    def failed(self, envelope: Envelope, error: Exception) -> AnyEvent | None:
        """A browser that died is the session's end; what was in flight is never tried again."""
        if isinstance(error, BrowserGone):
            return BrowserLost(why=str(error)[:200])
        if isinstance(envelope.event, ActionStarted):
            said = f"{type(error).__name__}: {error}"[:200]
            step, attempt = envelope.event.step, envelope.event.attempt
            return ActionFailed(step, attempt, "action_failed", self._dispatched, said)
        return None

    # -- finding -------------------------------------------------------------------------------

    async def _resolve(self, admitted: PlanAdmitted) -> AnyEvent:
        began = perf_counter_ns()
        action = admitted.action
        try:
            raw = await self._look(action, admitted.within_ms)
        except PageTimeout:
            return TargetMissing(admitted.step, admitted.attempt, "timeout")
        took_us = (perf_counter_ns() - began) // 1_000
        tries = msgspec.convert(raw["tries"], tuple[Try, ...])
        if raw["element"] is None:
            return TargetMissing(admitted.step, admitted.attempt, _missing(tries), tries, took_us)
        element = msgspec.convert(raw["element"], Resolved)
        return TargetResolved(admitted.step, admitted.attempt, element, tries, took_us)

    async def _look(self, action: Action, within_ms: int) -> Any:
        tab = self._screen.tab
        if action.target is None:
            return await tab.call("resolveFocused", action.key, within_ms=INPUT_MS)
        ways = [self._bindings.strategy(strategy) for strategy in action.target.strategies]
        return await tab.call("resolve", ways, within_ms, within_ms=within_ms + ANSWER_MS)

    # -- acting --------------------------------------------------------------------------------

    async def _perform(self, started: ActionStarted) -> AnyEvent:
        began = perf_counter_ns()
        self._dispatched = False
        step, attempt = started.step, started.attempt
        try:
            outcome = await self._act(started.action, started.digest)
        except PageTimeout as error:
            outcome = Outcome("timeout", str(error), self._dispatched)
        except NavigationFailed as error:
            outcome = Outcome("navigation_failed", str(error))
        except BadInput as error:
            outcome = Outcome("value_unbound", str(error), dispatched=False)
        took_us = (perf_counter_ns() - began) // 1_000
        if outcome.changed is not None:
            return TargetChanged(step, attempt, outcome.changed)
        if outcome.code is not None:
            said = outcome.message[:200]
            return ActionFailed(step, attempt, outcome.code, outcome.dispatched, said, took_us)
        extracted = Untrusted(outcome.extracted) if outcome.extracted is not None else None
        return ActionDone(
            step,
            attempt,
            took_us,
            outcome.navigated,
            outcome.value_set,
            extracted,
            outcome.typed,
        )

    async def _act(self, action: Action, digest: str) -> Outcome:
        if self._delay_ms:
            await anyio.sleep(self._delay_ms / 1000)
        match action.type:
            case "navigate":
                self._dispatched = True
                await self._screen.tab.navigate(action.url or "", within_ms=NAVIGATE_MS)
                return Outcome(navigated=True)
            case "click":
                return await self._click(digest)
            case "type":
                return await self._type(action, digest)
            case "select":
                return await self._select(action, digest)
            case "press":
                return await self._press(action, digest)
            case "scroll":
                return await self._scroll(action, digest)
            case "extract":
                return await self._extract(digest)
            case "wait_for":
                return await self._wait_for(action)
            case "wait":
                await anyio.sleep((action.ms or 0) / 1000)
                return Outcome()

    async def _click(self, digest: str) -> Outcome:
        tab = self._screen.tab
        checked = await tab.call("check", digest, True, within_ms=INPUT_MS)
        if refused := _refused(checked):
            return refused
        self._dispatched = True
        await tab.click(checked["x"], checked["y"], within_ms=INPUT_MS)
        return Outcome(navigated=await tab.settle(within_ms=NAVIGATE_MS))

    async def _type(self, action: Action, digest: str) -> Outcome:
        assert action.value is not None
        value = self._bindings.value(action.value)
        tab = self._screen.tab
        checked = await tab.call("ready", digest, within_ms=INPUT_MS)
        if refused := _refused(checked):
            return refused
        self._dispatched = True
        held: bool | None = None
        with suppress(DocumentGone):
            if checked["typed"]:
                await tab.insert(value, within_ms=INPUT_MS)
                held = await tab.ask("holds", value, within_ms=INPUT_MS)
            else:
                held = await tab.act("setValue", value, within_ms=INPUT_MS)
        if isinstance(action.value, Secret) and not held:
            held = None  # a field that masks what it holds cannot be read back
        navigated = await tab.settle(within_ms=NAVIGATE_MS)
        return Outcome(navigated=navigated, value_set=held, typed=_plain(action, value))

    async def _select(self, action: Action, digest: str) -> Outcome:
        assert action.value is not None
        tab = self._screen.tab
        value = self._bindings.value(action.value)
        self._dispatched = True
        try:
            checked = await tab.act("choose", digest, value, within_ms=INPUT_MS)
        except DocumentGone:
            checked = {"set": True}  # nothing but the choice can have led away
        if refused := _refused(checked):
            if refused.code == "option_not_found" and not isinstance(action.value, Secret):
                return refused._replace(message=f"{value!r} is not among: {refused.message}")
            return refused
        navigated = await tab.settle(within_ms=NAVIGATE_MS)
        typed = _plain(action, value)
        return Outcome(navigated=navigated, value_set=bool(checked["set"]), typed=typed)

    async def _press(self, action: Action, digest: str) -> Outcome:
        tab = self._screen.tab
        checked = await tab.call("focusOn", digest, within_ms=INPUT_MS)
        if refused := _refused(checked):
            return refused
        self._dispatched = True
        await tab.press(action.key or "", within_ms=INPUT_MS)
        return Outcome(navigated=await tab.settle(within_ms=NAVIGATE_MS))

    async def _scroll(self, action: Action, digest: str) -> Outcome:
        tab = self._screen.tab
        if action.target is not None:
            checked = await tab.call("bringIntoView", digest, within_ms=INPUT_MS)
            return _refused(checked) or Outcome()
        amount = action.amount or 300  # S3 1.1.3: the default of browser_scroll
        await tab.call("scroll", action.direction, amount, within_ms=INPUT_MS)
        return Outcome()

    async def _extract(self, digest: str) -> Outcome:
        checked = await self._screen.tab.call("read", digest, within_ms=INPUT_MS)
        return _refused(checked) or Outcome(extracted=str(checked["text"]))

    async def _wait_for(self, action: Action) -> Outcome:
        assert action.target is not None
        within_ms = action.ms or NAVIGATE_MS
        ways = [self._bindings.strategy(strategy) for strategy in action.target.strategies]
        tab = self._screen.tab
        raw = await tab.call("resolve", ways, within_ms, within_ms=within_ms + ANSWER_MS)
        if raw["element"] is None:
            return Outcome("element_not_found", f"not there after {within_ms} ms", dispatched=False)
        return Outcome()


def _plain(action: Action, value: str) -> str | None:
    """A script's literal may be told now: the Validator lets none into a secret field."""
    return value if isinstance(action.value, Typed) else None


def _refused(checked: dict[str, Any]) -> Outcome | None:
    """The pre-check's no, as an outcome: nothing was dispatched."""
    if checked.get("changed"):
        return Outcome(changed=msgspec.convert(checked["changed"], Resolved), dispatched=False)
    if checked.get("code"):
        return Outcome(checked["code"], str(checked.get("message", "")), dispatched=False)
    return None


def _missing(tries: tuple[Try, ...]) -> ErrorCode:
    results = {entry.result for entry in tries}
    if "ambiguous" in results:
        return "element_ambiguous"
    return "element_not_visible" if "not_visible" in results else "element_not_found"
