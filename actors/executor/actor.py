"""The Executor: finds and pins an element, and acts on it once it is told to. No choices.

Acting is checked in one script right before input: if the element is not the one that was judged,
nothing is done. Input goes through the browser as a person's does; the page has settled when no
navigation was asked for, or the new document is there.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from time import perf_counter_ns
from typing import Any, ClassVar

import anyio
import msgspec

from rutter.actors.executor.outcome import ActionOutcome, missing_by, refused_by, table_of
from rutter.actors.executor.patience import PASSING, StepPatience
from rutter.actors.rules.text.untrusted import on_one_line, plain
from rutter.actors.world.browser.keyboard import TypedField
from rutter.actors.world.browser.mouse import LEFT, ClickKind
from rutter.actors.world.browser.page_addresses import leads_on
from rutter.actors.world.browser.page_session import (
    DocumentGone,
    KeyUnknown,
    NavigationFailed,
    PageClosed,
    PageTimeout,
)
from rutter.actors.world.browser.screen import Screen
from rutter.actors.world.browser.step_pictures import StepPictures
from rutter.actors.world.browser.tab import Tab
from rutter.actors.world.secrets.bindings import Bindings
from rutter.events.action import ONE_OR_MORE, Action, Secret, Strategy, Typed, Untrusted, Value
from rutter.events.artifacts import ArtifactStore
from rutter.events.envelope import Actor, Envelope
from rutter.events.errors import BadInput, BrowserGone
from rutter.events.executor import (
    ActionDone,
    ActionFailed,
    LookalikesFound,
    QueryAnswered,
    QueryFailed,
    StepPictured,
    TargetChanged,
    TargetMissing,
    TargetResolved,
)
from rutter.events.observer import BrowserLost
from rutter.events.page import Artifact, Resolved, Rest, Resting, Try
from rutter.events.planner import LookalikesRequested
from rutter.events.run_settings import RunSettings
from rutter.events.validator import ActionStarted, PlanAdmitted, QueryStarted
from rutter.events.vocabulary import AnyEvent

INPUT_MS = 2_000  # S3 2.2.1: the most that a click, fill or select may take
LOOKALIKES_MS = 3_000  # a page with thousands of candidates; a step that waits longer is lost
NAVIGATE_MS = 10_000  # S0: the seeds' limit for a navigation
KEEP_S = 5.0  # a disk that takes longer has more to do than to keep pictures
ANSWER_MS = 1_000  # what a script in the page has on top of the time it was given
UPLOAD_MB = 50  # what a policy says that says nothing of it
MEGABYTE = 1_000_000
SWITCHED = {
    **dict.fromkeys(("true", "on", "yes", "1", "checked"), True),
    **dict.fromkeys(("false", "off", "no", "0", "unchecked"), False),
}
# These act on the page as a whole, not on an element that was found on one.
WHOLE_PAGE = frozenset({"navigate", "wait", "wait_for", "check"})


Call = Callable[..., Awaitable[Any]]  # of a function in the page


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
        self._screen = screen
        self._bindings = bindings
        self._delay_ms = settings.execution_delay_ms
        self._upload_mb = upload_mb
        self._close_ups = StepPictures(artifacts, taking=settings.pictures)
        self._dispatched = False
        self._pinned: Tab | None = None  # the page that the element is on
        self._patience: StepPatience | None = None  # of the step whose element that is

    async def handle(self, envelope: Envelope) -> AsyncIterator[AnyEvent]:
        match envelope.event:
            case PlanAdmitted() as admitted:
                yield await self._resolve(admitted)
            case LookalikesRequested() as request:
                yield await self._lookalikes(request)
            case ActionStarted() as started:
                async for fact in self._perform_pictured(started):
                    yield fact
            case QueryStarted() as query:
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
                return ActionFailed(step, attempt, "action_failed", self._dispatched, said)
            case QueryStarted(step=step, attempt=attempt):
                return QueryFailed(step, attempt, "action_failed", said)
            case _:
                return None

    # -- finding -------------------------------------------------------------------------------

    async def _resolve(self, admitted: PlanAdmitted) -> AnyEvent:
        action = admitted.action
        patience = self._patience = StepPatience(admitted)
        rest: Rest | None = None
        try:
            rest, raw = await self._find_at_rest(admitted)
            began = perf_counter_ns()
            if raw is None:
                raw = await self._look(patience, admitted)
        except PageTimeout:
            return TargetMissing(admitted.step, admitted.attempt, "timeout")
        except PageClosed as closed:
            if not await self._others(closed):
                raise
            return TargetMissing(admitted.step, admitted.attempt, "ref_invalid")
        took_us = (perf_counter_ns() - began) // 1_000
        tries = msgspec.convert(raw["tries"], tuple[Try, ...])
        if raw["element"] is None:
            code, instead = missing_by(action, tries), int(raw.get("instead", -1))
            waited_ms = patience.waited_ms if instead < 0 else 0
            return TargetMissing(*patience.of, code, tries, took_us, instead, rest, waited_ms)
        try:
            element = msgspec.convert(raw["element"], Resolved)
        except msgspec.ValidationError:
            return TargetMissing(admitted.step, admitted.attempt, "action_failed", tries, took_us)
        hindered = (raw.get("hindered") or {}).get("code", "")
        return TargetResolved(*patience.of, element, tries, took_us, rest, hindered)

    async def _rest(self, action: Action, wanted: Resting | None) -> Rest | None:
        """The page comes to rest before anything else is done to it."""
        if wanted is None:
            return None
        if action.tab is not None:
            await self._screen.show(action.tab, within_ms=wanted.within_ms)
        return await self._screen.tab.rest(wanted)

    async def _find_at_rest(self, admitted: PlanAdmitted) -> tuple[Rest | None, Any]:
        """Of a page that is at rest an element is found in the same call; nothing where it is not
        there yet, or not of use: that is to be waited for."""
        wanted, action = admitted.rest, admitted.action
        if wanted is None or action.target is None:
            return await self._rest(action, wanted), None
        if action.tab is not None:
            await self._screen.show(action.tab, within_ms=wanted.within_ms)
        tab = self._pinned = self._screen.tab
        rest, found = await tab.rest_and_find(wanted, self._sought(admitted, 0))
        there = found is not None and found["element"] is not None and not found["wanting"]
        return rest, found if there and tab is self._screen.tab else None

    async def _look(self, patience: StepPatience, admitted: PlanAdmitted) -> Any:
        action = admitted.action
        if action.tab is not None:
            await self._screen.show(action.tab, within_ms=admitted.within_ms)
        tab = self._pinned = self._screen.tab
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
        others = [self._ways(other) for other in admitted.unless]
        chosen = self._chosen(action)
        ways, cover_ms = self._ways(action), admitted.cover_ms
        return ways, within_ms, key, chosen, others, action.type, cover_ms

    def _ways(self, action: Action) -> list[Strategy]:
        found = action.target.strategies if action.target is not None else ()
        return [self._bindings.strategy(strategy) for strategy in found]

    def _chosen(self, action: Action) -> str | None:
        """What would be chosen of a list: what an option says is judged, not what it is called by
        whoever wants it."""
        if action.type != "select" or action.value is None or isinstance(action.value, Secret):
            return None
        with suppress(BadInput):  # said when it is done
            return self._bindings.value(action.value)
        return None

    async def _lookalikes(self, request: LookalikesRequested) -> AnyEvent:
        began = perf_counter_ns()
        step, attempt = request.step, request.attempt
        try:
            raw = await self._screen.tab.call(
                "lookalikes", request.fingerprint, within_ms=LOOKALIKES_MS
            )
            found = msgspec.convert(raw, tuple[Resolved, ...])
        except (PageTimeout, msgspec.ValidationError):
            return LookalikesFound(step, attempt)
        except PageClosed as closed:
            if not await self._others(closed):
                raise
            return LookalikesFound(step, attempt)
        took_us = (perf_counter_ns() - began) // 1_000
        return LookalikesFound(step, attempt, found, took_us)

    # -- reading -------------------------------------------------------------------------------

    async def _answer(self, query: QueryStarted) -> QueryAnswered | QueryFailed:
        """An observation: nothing is dispatched, whatever comes of it."""
        began = perf_counter_ns()
        step, attempt = query.step, query.attempt
        try:
            found = await self._read(query.action, query.digest)
        except PageTimeout as error:
            found = ActionOutcome("timeout", str(error))
        except PageClosed as closed:
            if not await self._others(closed):
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
        return QueryAnswered(step, attempt, took_us, text, found.table)

    async def _read(self, action: Action, digest: str) -> ActionOutcome:
        if action.type == "wait":
            await anyio.sleep((action.ms or 0) / 1000)
            return ActionOutcome()
        if not await self._come_to_front(action):
            return ActionOutcome("ref_invalid", "the page was closed")
        if action.type == "wait_for":
            return await self._wait_for(action)
        if action.type != "extract":
            return ActionOutcome("action_failed", f"{action.type} is no observation")
        checked = await self._tab.call("read", digest, within_ms=INPUT_MS)
        if refused := refused_by(checked):
            return refused
        return ActionOutcome(extracted=str(checked["text"]), table=table_of(checked["table"]))

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
        if started.action.target is None or started.attempt > 1 or self._pinned is None:
            return None
        taken = await self._close_ups.take(self._pinned)
        return asyncio.create_task(self._close_ups.keep(taken)) if taken is not None else None

    async def _perform(self, started: ActionStarted) -> AnyEvent:
        began = perf_counter_ns()
        self._dispatched = False
        step, attempt = started.step, started.attempt
        rest: Rest | None = None
        if self._patience is not None and self._patience.of != (step, attempt):
            self._patience = None
        try:
            rest = await self._rest(started.action, started.rest)
            self._screen.window.step = step  # what pages send from now on came of it
            outcome = await self._act(started.action, started.digest)
        except PageTimeout as error:
            outcome = ActionOutcome("timeout", str(error), self._dispatched)
        except PageClosed as closed:
            if not await self._others(closed):
                raise
            outcome = self._closed()
        except NavigationFailed as error:
            outcome = ActionOutcome("navigation_failed", str(error), self._dispatched)
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
            return ActionFailed(step, attempt, *failed)
        navigated, held = outcome.navigated, outcome.value_set
        at = self._pinned.addresses.at_input if self._pinned is not None else ""
        return ActionDone(
            step, attempt, took_us, navigated, held, typed=outcome.typed, rest=rest, url=at
        )

    def _waited_ms(self, outcome: ActionOutcome) -> int:
        passing = outcome.code in PASSING and not outcome.dispatched
        return self._patience.waited_ms if passing and self._patience is not None else 0

    async def _others(self, closed: PageClosed) -> bool:
        """Whether the session has other pages, now that this one was closed."""
        return closed.tab is not None and await self._screen.window.survives(closed.tab)

    def _closed(self) -> ActionOutcome:
        """A page that closes itself under the input took it; before it, nothing was done."""
        if self._dispatched:
            return ActionOutcome(navigated=True)
        return ActionOutcome("ref_invalid", "the page was closed", dispatched=False)

    async def _act(self, action: Action, digest: str) -> ActionOutcome:
        if self._delay_ms:
            await anyio.sleep(self._delay_ms / 1000)
        window = self._screen.window
        window.misplaced = self._bindings.misplaced
        window.answer_with([self._bindings.answer(answer) for answer in action.dialogs])
        try:
            if not await self._come_to_front(action):
                return self._closed()
            self._tab.addresses.arm(leads=leads_on(action.type, _role(action)))
            return await self._do(action, digest)
        finally:
            window.answer_with(())

    async def _come_to_front(self, action: Action) -> bool:
        """To the page that the element was found on, whatever came to the front since.

        False if it is gone: what another page has in its place was not judged.
        """
        window = self._screen.window
        front = window.tab  # raises if no page is left
        if action.type in WHOLE_PAGE and action.tab is not None:
            await window.show(action.tab, within_ms=INPUT_MS)
            front = window.tab
        aimless = action.type == "scroll" and action.target is None
        if action.type in WHOLE_PAGE or (aimless and self._pinned not in window.tabs):
            self._pinned = front
        if self._pinned is None or self._pinned not in window.tabs:
            return False
        await window.bring(self._pinned, within_ms=INPUT_MS)
        return True

    @property
    def _tab(self) -> Tab:
        return self._pinned or self._screen.tab

    async def _do(self, action: Action, digest: str) -> ActionOutcome:
        match action.type:
            case "navigate" if action.aside:
                return await self._look_aside(action.url or "")
            case "navigate":
                self._dispatched = True
                await self._tab.navigate(action.url or "", within_ms=NAVIGATE_MS)
                return ActionOutcome(navigated=True)
            case "click":
                return await self._click(digest, _press_of(action))
            case "drag":
                return await self._drag(action, digest)
            case "hover" | "wheel":
                return await self._point(action, digest)
            case "type":
                return await self._type(action, digest)
            case "select":
                return await self._select(action, digest)
            case "press":
                return await self._press(action, digest)
            case "scroll":
                return await self._scroll(action, digest)
            case "extract" | "wait_for" | "wait":
                said = f"{action.type} is an observation"
                return ActionOutcome("action_failed", said, dispatched=False)
            case "check":
                return ActionOutcome()  # whether it is so is seen in the next look

    async def _look_aside(self, url: str) -> ActionOutcome:
        """In a page of its own, which is there until it was looked at; of one that fails nothing
        stays. What the step before left in front is untouched."""
        window = self._screen.window
        try:
            aside = await window.open_aside()
            self._dispatched = True
            await aside.navigate(url, within_ms=NAVIGATE_MS)
        except (PageTimeout, NavigationFailed):
            await window.close_asides()
            raise
        except BrowserGone as gone:  # that page alone, or all of them
            await window.close_asides()
            if not await window.browser_answers():
                raise
            return ActionOutcome("navigation_failed", str(gone))
        return ActionOutcome(navigated=True)

    async def _click(self, digest: str, press: ClickKind = LEFT) -> ActionOutcome:
        tab = self._tab
        checked = await self._checked("check", digest, True)
        if refused := refused_by(checked):
            return refused
        if refused := await self._press_button(tab, checked, press):
            return refused
        if checked["sends_file"]:
            await self._screen.window.download_begun(ANSWER_MS)
        return await self._settled()

    async def _checked(
        self, function: str, digest: str, *more: object, call: Call | None = None
    ) -> dict[str, Any]:
        """What the page says right before input. As long as what it minds may pass, and the step
        has patience, it is asked again; an element that took the place of the one that was judged
        is told from it by its digest."""
        tab, patience = self._tab, self._patience
        call = call or tab.call
        ways = self._ways(patience.action) if patience is not None else []
        use = patience.action.type if patience is not None else ""

        async def recover(ms: int) -> Any:
            return await tab.call("recover", ways, ms, use, within_ms=ms + ANSWER_MS)

        while True:
            asking = call(function, digest, *more, within_ms=INPUT_MS)
            checked: dict[str, Any] = await (patience.count(asking) if patience else asking)
            code = checked.get("code")
            if not code or patience is None or not patience.waits_for(code):
                return checked
            if not await patience.spend(tab, recover):
                return checked

    async def _press_button(
        self, tab: Tab, at: dict[str, Any], press: ClickKind
    ) -> ActionOutcome | None:
        self._dispatched = True
        try:
            if (end := at.get("end")) is not None:
                begin = (at["x"], at["y"])
                await tab.drag(begin, (end["x"], end["y"]), within_ms=2 * INPUT_MS)
            else:
                await tab.click(at["x"], at["y"], press, within_ms=INPUT_MS)
        except DocumentGone:
            self._dispatched = False
            return ActionOutcome(
                "ref_invalid", "the page was left before the click", dispatched=False
            )
        return None

    async def _drag(self, action: Action, digest: str) -> ActionOutcome:
        """What it is dragged to is found now: it may be there for what is dragged alone."""
        tab, to = self._tab, action.to
        ways = [self._bindings.strategy(way) for way in (to.strategies if to is not None else ())]
        checked = await self._checked("aimDrag", digest, ways, action.drop)
        refused = refused_by(checked) or await self._press_button(tab, checked, LEFT)
        return refused or await self._settled()

    async def _point(self, action: Action, digest: str) -> ActionOutcome:
        tab = self._tab
        checked = await self._checked("pointAt", digest)
        if refused := refused_by(checked):
            return refused
        self._dispatched = True
        if action.type == "wheel":
            by = action.by or (0, 0)
            await tab.wheel(checked["x"], checked["y"], by, within_ms=INPUT_MS)
            with suppress(DocumentGone):
                await tab.ask("atRest", within_ms=INPUT_MS)
        else:
            await tab.point(checked["x"], checked["y"], within_ms=INPUT_MS)
        return await self._settled()

    async def _settled(self) -> ActionOutcome:
        """Waits for what the input asked for. What was in its way has kept it from the page."""
        tab = self._tab
        navigated = await self._screen.window.settle(tab, within_ms=NAVIGATE_MS)
        if tab.missed:
            self._dispatched = False
            return ActionOutcome(
                "element_obscured", f"in its place: {tab.missed}", dispatched=False
            )
        return ActionOutcome(navigated=navigated)

    async def _type(self, action: Action, digest: str) -> ActionOutcome:
        assert action.value is not None
        value = await self._bound(action.value)
        checked = await self._checked("ready", digest, call=self._tab.call_to_type)
        if refused := refused_by(checked):
            return refused
        if checked["how"] == "file":
            return await self._give_files(action, value)
        if checked["how"] == "switch":
            return await self._switch(action, value, on=checked["on"], digest=digest)
        self._dispatched = True
        held: bool | None = None
        strayed = ""
        with suppress(DocumentGone):
            if checked["how"] == "typed":
                secret = isinstance(action.value, Secret)
                field = TypedField(checked["lines"], checked["editor"], composes=not secret)
                held, strayed = await self._enter(action, value, field)
            else:
                checked = await self._tab.act("setValue", digest, value, within_ms=INPUT_MS)
                if refused := refused_by(checked):
                    return refused
                held = checked["held"]
        if isinstance(action.value, Secret) and not held:
            held = None  # a field that masks what it holds cannot be read back
        settled = await self._settled()
        if strayed:
            said = f"the focus moved to {strayed}"
            return ActionOutcome("action_failed", said, dispatched=self._dispatched)
        return settled._replace(value_set=held, typed=_plain(action, value))

    async def _bound(self, value: Value) -> str:
        """What is to be typed. A secret that has origins is typed on one of them or nowhere,
        whatever was judged before."""
        if isinstance(value, Secret) and self._bindings.belongs(value.name):
            origin = await self._tab.call("pinnedOrigin", within_ms=INPUT_MS)
            if self._bindings.misplaced(value.name, origin):
                raise BadInput(f"the secret {value.name!r} does not belong to {origin}")
        return self._bindings.value(value)

    async def _enter(
        self, action: Action, value: str, field: TypedField
    ) -> tuple[bool | None, str]:
        """Whether the field holds it, and which other one would have got it: none does."""
        tab, append = self._tab, action.append
        if not action.pasted or not await self._pasted(value, field, append=append):
            whole = action.pasted
            await tab.insert(value, field, append=append, whole=whole, within_ms=INPUT_MS)
        answer = await tab.ask("entered", value, append, within_ms=INPUT_MS)
        self._dispatched = answer["heard"] or not answer["strayed"]
        return answer["held"], answer["strayed"]

    async def _pasted(self, value: str, field: TypedField, *, append: bool) -> bool:
        """Whether the page took it as pasted. The clipboard is left alone: it is the person's, and
        every session's. So the page hears of a paste from us, and gets the text by input if it
        does nothing of its own with it."""
        if field.editor and not append:
            await self._tab.select_all(within_ms=INPUT_MS)
        return bool(await self._tab.act("paste", value, append, within_ms=INPUT_MS))

    async def _give_files(self, action: Action, value: str) -> ActionOutcome:
        paths = [anyio.Path(line) for line in value.splitlines()]
        missing = [str(path) for path in paths if not await path.is_file()]
        if missing or not paths:
            said = "that it names" if isinstance(action.value, Secret) else repr(", ".join(missing))
            return ActionOutcome("action_failed", f"there is no file {said}", dispatched=False)
        if sum([(await path.stat()).st_size for path in paths]) > self._upload_mb * MEGABYTE:
            said = f"more than {self._upload_mb} MB would be sent: see upload_mb of the policy"
            return ActionOutcome("action_failed", said, dispatched=False)
        self._dispatched = True
        whole = [str(await path.absolute()) for path in paths]
        await self._tab.give_files(whole, within_ms=INPUT_MS)
        held: bool | None = None
        with suppress(DocumentGone):
            names = "\n".join(path.name for path in paths)
            held = await self._tab.ask("holds", names, within_ms=INPUT_MS)
        settled = await self._settled()
        return settled._replace(value_set=held, typed=_plain(action, value))

    async def _switch(self, action: Action, value: str, *, on: bool, digest: str) -> ActionOutcome:
        """A box that is ticked or not, by a click as a person's."""
        wanted = SWITCHED.get(value.strip().casefold())
        if wanted is None:
            return ActionOutcome(
                "action_failed", "a box is on or off: true, false", dispatched=False
            )
        settled, held = ActionOutcome(), True
        if wanted != on:
            settled = await self._click(digest)
            if settled.code is not None or settled.changed is not None:
                return settled
            held = settled.navigated or await self._tab.call("holds", wanted, within_ms=INPUT_MS)
        return settled._replace(value_set=bool(held), typed=_plain(action, value))

    async def _select(self, action: Action, digest: str) -> ActionOutcome:
        assert action.value is not None
        value = await self._bound(action.value)
        self._dispatched = True
        try:
            checked = await self._checked("choose", digest, value, call=self._tab.act)
        except DocumentGone:
            checked = {"set": True}  # nothing but the choice can have led away
        if refused := refused_by(checked):
            if refused.code == "option_not_found" and not isinstance(action.value, Secret):
                return refused._replace(message=f"{value!r} is not among: {refused.message}")
            return refused
        settled = await self._settled()
        return settled._replace(value_set=bool(checked["set"]), typed=_plain(action, value))

    async def _press(self, action: Action, digest: str) -> ActionOutcome:
        checked = await self._checked("focusOn", digest)
        if refused := refused_by(checked):
            return refused
        self._dispatched = True
        await self._tab.press(action.key or "", within_ms=INPUT_MS)
        if refused := await self._key_strayed():
            return refused
        return await self._settled()

    async def _key_strayed(self) -> ActionOutcome | None:
        """A key that came when something else had the focus was held back. Of several keys the
        first may have been heard: then it is not known that nothing was done."""
        with suppress(DocumentGone):
            answer = await self._tab.ask("pressed", within_ms=INPUT_MS)
            if refused := refused_by(answer):
                self._dispatched = bool(answer.get("heard"))
                return refused._replace(dispatched=self._dispatched)
        return None

    async def _scroll(self, action: Action, digest: str) -> ActionOutcome:
        tab = self._tab
        if action.target is not None:
            checked = await tab.call("bringIntoView", digest, within_ms=INPUT_MS)
            return refused_by(checked) or ActionOutcome()
        amount = action.amount or 300  # S3 1.1.3: the default of browser_scroll
        await tab.call("scroll", action.direction, amount, within_ms=INPUT_MS)
        return ActionOutcome()

    async def _wait_for(self, action: Action) -> ActionOutcome:
        assert action.target is not None
        within_ms = action.ms or NAVIGATE_MS
        wanted = action.wanted or ONE_OR_MORE
        asked = (self._ways(action), within_ms, wanted.operator, wanted.number)
        raw = await self._tab.call("counted", *asked, within_ms=within_ms + ANSWER_MS)
        if raw["held"]:
            return ActionOutcome()
        there = "not there" if action.wanted is None else f"{raw['seen']} of them were there"
        return ActionOutcome("element_not_found", f"{there} after {within_ms} ms", dispatched=False)


async def _in_time(picture: "asyncio.Task[Artifact | None]") -> Artifact | None:
    """What was done is told, whatever becomes of its picture."""
    await asyncio.wait({picture}, timeout=KEEP_S)
    over = picture.done() and not picture.cancelled() and picture.exception() is None
    return picture.result() if over else None


def _role(action: Action) -> str:
    recorded = action.target.fingerprint if action.target is not None else None
    return recorded.role if recorded is not None else ""


def _press_of(action: Action) -> ClickKind:
    return ClickKind(action.button or "left", action.count, action.modifiers, action.ms or 0)


def _plain(action: Action, value: str) -> str | None:
    """A script's literal may be told now: the Validator lets none into a secret field."""
    return value if isinstance(action.value, Typed) else None
