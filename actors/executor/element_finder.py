"""An element finder looks for what a step is about, on a page that has come to rest."""

from contextlib import suppress
from time import perf_counter_ns
from typing import Any

import msgspec

from rutter.actors.executor.held_element import ANSWER_MS, INPUT_MS, HeldElement
from rutter.actors.executor.outcome import missing_by
from rutter.actors.executor.patience import StepPatience
from rutter.actors.rules.text.untrusted import on_one_line
from rutter.actors.world.browser.page_session import PageClosed, PageTimeout
from rutter.events.action import Action, Secret, Untrusted
from rutter.events.errors import BadInput
from rutter.events.executor import LookalikesFound, TargetMissing, TargetResolved
from rutter.events.page import Lookalike, Resolved, Rest, Resting, Try
from rutter.events.planner import LookalikesRequested
from rutter.events.validator import PlanAdmitted
from rutter.events.vocabulary import AnyEvent

LONGEST = 80  # characters of what a page says of there being nothing
NONE = Untrusted()
LOOKALIKES_MS = 3_000  # a page with thousands of candidates; a step that waits longer is lost


class ElementFinder:
    def __init__(self, held: HeldElement) -> None:
        self._held = held

    async def resolve(self, admitted: PlanAdmitted) -> AnyEvent:
        action = admitted.action
        patience = self._held.patience = StepPatience(admitted)
        rest: Rest | None = None
        try:
            rest, raw = await self._find_at_rest(admitted)
            began = perf_counter_ns()
            if raw is None:
                raw = await self._look(patience, admitted)
        except PageTimeout:
            return TargetMissing(admitted.step, admitted.attempt, "timeout")
        except PageClosed as closed:
            if not await self._held.leaves_others(closed):
                raise
            return TargetMissing(admitted.step, admitted.attempt, "ref_invalid")
        took_us = (perf_counter_ns() - began) // 1_000
        tries = msgspec.convert(raw["tries"], tuple[Try, ...])
        if raw["element"] is None:
            code, instead = missing_by(action, tries), int(raw.get("instead", -1))
            waited_ms = patience.waited_ms if instead < 0 else 0
            says = (
                Untrusted(on_one_line(str(raw.get("says", ""))[:LONGEST])) if instead < 0 else NONE
            )
            of = patience.of
            return TargetMissing(*of, code, tries, took_us, instead, rest, waited_ms, says)
        try:
            element = msgspec.convert(raw["element"], Resolved)
        except msgspec.ValidationError:
            return TargetMissing(admitted.step, admitted.attempt, "action_failed", tries, took_us)
        hindered = (raw.get("hindered") or {}).get("code", "")
        return TargetResolved(*patience.of, element, tries, took_us, rest, hindered)

    async def rest(self, action: Action, wanted: Resting | None) -> Rest | None:
        """The page comes to rest before anything else is done to it."""
        if wanted is None:
            return None
        if action.tab is not None:
            await self._held.screen.show(action.tab, within_ms=wanted.within_ms)
        return await self._held.screen.tab.rest(wanted)

    async def _find_at_rest(self, admitted: PlanAdmitted) -> tuple[Rest | None, Any]:
        """Of a page that is at rest an element is found in the same call; nothing where it is not
        there yet, or not of use: that is to be waited for."""
        wanted, action = admitted.rest, admitted.action
        if wanted is None or action.target is None:
            return await self.rest(action, wanted), None
        if action.tab is not None:
            await self._held.screen.show(action.tab, within_ms=wanted.within_ms)
        tab = self._held.pinned = self._held.screen.tab
        rest, found = await tab.rest_and_find(wanted, self._sought(admitted, 0))
        there = found is not None and found["element"] is not None and not found["wanting"]
        return rest, found if there and tab is self._held.screen.tab else None

    async def _look(self, patience: StepPatience, admitted: PlanAdmitted) -> Any:
        action = admitted.action
        if action.tab is not None:
            await self._held.screen.show(action.tab, within_ms=admitted.within_ms)
        tab = self._held.pinned = self._held.screen.tab
        if action.target is None:
            return await tab.call("resolveFocused", action.key, within_ms=INPUT_MS)

        async def look(ms: int) -> Any:
            asked = self._sought(admitted, ms)
            return await tab.call("resolve", *asked, within_ms=ms + ANSWER_MS)

        return await patience.spend(tab, look)

    def _sought(self, admitted: PlanAdmitted, within_ms: int) -> tuple[object, ...]:
        """What `resolve` is asked for in the page."""
        action = admitted.action
        key = action.key if action.type == "press" else None
        others = [self._held.locators(other) for other in admitted.unless]
        chosen = self._chosen(action)
        locators, cover_ms = self._held.locators(action), admitted.cover_ms
        return locators, within_ms, key, chosen, others, action.type, cover_ms

    def _chosen(self, action: Action) -> str | None:
        """What would be chosen of a list: what an option says is judged, not what it is called by
        whoever wants it."""
        if action.type != "select" or action.value is None or isinstance(action.value, Secret):
            return None
        with suppress(BadInput):  # said when it is done
            return self._held.bindings.value(action.value)
        return None

    async def lookalikes(self, request: LookalikesRequested) -> AnyEvent:
        began = perf_counter_ns()
        step, attempt = request.step, request.attempt
        try:
            raw = await self._held.screen.tab.call(
                "lookalikes", request.fingerprint, request.wide, within_ms=LOOKALIKES_MS
            )
            found = msgspec.convert(raw["elements"], tuple[Resolved, ...])
            others = msgspec.convert(raw["others"], tuple[Lookalike, ...])
        except (PageTimeout, msgspec.ValidationError):
            return LookalikesFound(step, attempt)
        except PageClosed as closed:
            if not await self._held.leaves_others(closed):
                raise
            return LookalikesFound(step, attempt)
        took_us = (perf_counter_ns() - began) // 1_000
        return LookalikesFound(step, attempt, found, took_us, others)
