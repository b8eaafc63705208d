"""A scripted world: pages that exist only here, read and acted on with no browser.

Its effectors keep the convention of the real ones (`actors.effector.Effector`) and report the same
facts. Nothing here depends on time or chance: the same session twice gives the same log.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import ClassVar, Literal

import anyio
import msgspec

from actors.bindings import Bindings
from actors.effector import Effector
from actors.files import look_at_files
from actors.person import Answers, Nobody, Person
from actors.place import place_of
from events.action import (
    Action,
    ByCss,
    ByRole,
    ByText,
    Parameter,
    Strategy,
    Target,
    Text,
    Untrusted,
)
from events.critic import FilesRequested
from events.envelope import Actor, Envelope
from events.errors import BrowserGone
from events.executor import (
    ActionDone,
    ActionFailed,
    ErrorCode,
    QueryAnswered,
    QueryFailed,
    TargetChanged,
    TargetMissing,
    TargetResolved,
)
from events.observer import BrowserLost, PageObserved, Shown
from events.page import Page, Resolved, Try
from events.planner import ObservationRequested, RunStopped
from events.runtime import ActorFailed, SessionStarted
from events.validator import ActionStarted, PlanAdmitted, QueryStarted
from events.vocabulary import AnyEvent
from events.workflow import Step

ORIGIN = "https://shop.example"


class Thing(msgspec.Struct, frozen=True):
    """An element: acting on it leads somewhere, or else changes its page.

    `says` is a notice that the page shows then; `stores` is what another page shows from then on.
    """

    tag: str = "button"
    role: str = "button"
    name: str = ""
    leads_to: str = ""
    inert: bool = False
    submits: bool = False
    method: str = ""
    secret: bool = False
    says: str = ""
    stores: tuple[str, str] = ("", "")
    waits: bool = False


class Sheet(msgspec.Struct, frozen=True):
    """A page: its heading, its elements by selector, and other texts that it shows."""

    heading: str
    things: Mapping[str, Thing] = {}
    shows: tuple[str, ...] = ()


class Fails(msgspec.Struct, frozen=True):
    """The action fails so."""

    code: ErrorCode
    dispatched: bool = False


class Raises(msgspec.Struct, frozen=True):
    """The effector breaks."""

    error: Exception


class Waits(msgspec.Struct, frozen=True):
    """The page does not answer until the test says so."""

    answer: anyio.Event
    reached: anyio.Event


class Becomes(msgspec.Struct, frozen=True):
    """The element is another one when it is about to be acted on."""

    thing: Thing


Trouble = Fails | Raises | Waits | Becomes


class World:
    """One page at a time, as a tab is. `done` is what really reached it."""

    def __init__(self, sheets: Mapping[str, Sheet]) -> None:
        self._sheets = {path: dict(sheet.things) for path, sheet in sheets.items()}
        self._headings = {path: sheet.heading for path, sheet in sheets.items()}
        self._shows = {path: list(sheet.shows) for path, sheet in sheets.items()}
        self._back: list[str] = []
        self._says: list[str] = []
        self.pending = 0
        self._troubles: dict[str, list[Trouble]] = {}
        self._changes = 0
        self.url = "about:blank"
        self.fields: dict[str, str] = {}
        self.focused = ""
        self.done: list[Action] = []
        self.looks = 0
        self.closed = False

    def becomes(self, path: str, sheet: Sheet) -> None:
        """From now on this page is another one."""
        self._sheets[path] = dict(sheet.things)
        self._headings[path] = sheet.heading
        self._shows[path] = list(sheet.shows)

    def trouble(self, where: str, *troubles: Trouble) -> "World":
        """At this selector or URL, or at `look`, one of these each time, then none."""
        self._troubles.setdefault(where, []).extend(troubles)
        return self

    async def meet(self, where: str) -> Trouble | None:
        waiting = self._troubles.get(where)
        trouble = waiting.pop(0) if waiting else None
        if isinstance(trouble, Raises):
            raise trouble.error
        if isinstance(trouble, Waits):
            trouble.reached.set()
            await trouble.answer.wait()
        return trouble

    # -- reading -------------------------------------------------------------------------------

    @property
    def path(self) -> str:
        return self.url.removeprefix(ORIGIN)

    def look(self) -> Page:
        self.looks += 1
        heading = self._headings.get(self.path, "")
        return Page(
            url=self.url,
            title=Untrusted(heading),
            headings=(Untrusted(heading),) if heading else (),
            alerts=tuple(map(Untrusted, self._says)),
            focused=self.resolved(self.focused).digest if self.focused in self._here() else "",
            digest=f"{self.url} {sorted(self.fields.items())} {self._changes}",
        )

    def shown(self, texts: Sequence[str]) -> tuple[Shown, ...]:
        """Which of these texts the page shows, and where."""
        said = [self._headings.get(self.path, ""), *self._shows.get(self.path, ()), *self._says]
        whole = " ".join([*said, *(thing.name for thing in self._here().values())])
        found = [text.casefold() in whole.casefold() for text in texts]
        return tuple(
            Shown(text, Untrusted(whole[:200]) if there else None)
            for text, there in zip(texts, found, strict=True)
        )

    def come_back(self) -> None:
        """From a page that was opened aside."""
        if self._back:
            self.url = self._back.pop(0)
            self._back.clear()

    def find(self, strategies: Sequence[Strategy]) -> tuple[str, tuple[Try, ...]]:
        """The selector of the first that matches exactly one element."""
        tries: list[Try] = []
        for place, strategy in enumerate(strategies):
            matching = [each for each in self._here() if self._matches(strategy, each)]
            result = "taken" if len(matching) == 1 else "ambiguous" if matching else "none"
            tries.append(Try(place, len(matching), result))  # type: ignore[arg-type]
            if len(matching) == 1:
                return matching[0], tuple(tries)
        return "", tuple(tries)

    def resolved(self, selector: str) -> Resolved:
        thing = self._here()[selector]
        ways: tuple[Strategy, ...] = (ByCss(selector),)
        if thing.name:
            ways = (*ways, ByRole(thing.role, thing.name))
        return Resolved(
            tag=thing.tag,
            digest=f"{place_of(self.url).path} {selector} {thing.name} {thing.method}",
            role=thing.role,
            name=Untrusted(thing.name),
            form_method=thing.method,
            submits=thing.submits,
            secret=thing.secret,
            origin=place_of(self.url).origin,
            ways=ways,
        )

    def _here(self) -> dict[str, Thing]:
        return self._sheets.get(self.path, {})

    def _matches(self, strategy: Strategy, selector: str) -> bool:
        thing = self._here()[selector]
        match strategy:
            case ByCss(wanted):
                return selector == wanted
            case ByRole(role, name):
                return (thing.role, thing.name) == (role, name)
            case ByText(text):
                return text.casefold() in thing.name.casefold()
            case _:
                return False

    # -- acting --------------------------------------------------------------------------------

    def replace(self, selector: str, thing: Thing) -> None:
        self._here()[selector] = thing

    def replace_at(self, path: str, selector: str, thing: Thing) -> None:
        self._sheets[path][selector] = thing

    def act(self, action: Action, selector: str, typed: str) -> bool:
        """Whether it navigated."""
        self.done.append(action)
        if action.type == "navigate":
            if action.aside:
                self._back.append(self.url)
            else:
                self._says.clear()
            self.url = action.url or ""
            return True
        if action.type in ("type", "select"):
            self.fields[selector] = typed
            return False
        if action.type not in ("click", "press"):
            return False
        thing = self._here()[selector]
        self.focused = selector
        self.pending = int(thing.waits)
        path, text = thing.stores
        if text:
            self._shows.setdefault(path, []).append(text)
        self._says = [thing.says] if thing.says else []
        if thing.leads_to:
            self.url = ORIGIN + thing.leads_to
        elif not thing.inert:
            self._changes += 1
        return bool(thing.leads_to)


class ScriptedObserver:
    name: ClassVar[Actor] = "observer"

    def __init__(self, world: World) -> None:
        self._world = world
        self._folders: tuple[str, ...] = ()

    async def handle(self, envelope: Envelope) -> AsyncIterator[AnyEvent]:
        match envelope.event:
            case SessionStarted(policy=policy):
                self._folders = policy.folders
                await self._world.meet("look")
                yield PageObserved(self._world.look(), "start")
            case FilesRequested() as request:
                yield await look_at_files(request, self._folders)
            case ActionDone() | ActionFailed() | QueryAnswered() | QueryFailed():
                await self._world.meet("look")
                yield self._seen("after_action")
            case ObservationRequested(why=why, texts=texts):
                await self._world.meet("look")
                if why == "aside_over":
                    self._world.come_back()
                yield self._seen("requested", texts)
            case RunStopped() | ActorFailed():
                self._world.closed = True
                await self._world.meet("close")
            case _:
                return

    def _seen(
        self, why: Literal["after_action", "requested"], texts: tuple[str, ...] = ()
    ) -> PageObserved:
        world = self._world
        return PageObserved(world.look(), why, shown=world.shown(texts), pending=world.pending)

    def failed(self, envelope: Envelope, error: Exception) -> AnyEvent | None:
        return BrowserLost(str(error)) if isinstance(error, BrowserGone) else None


class ScriptedExecutor:
    name: ClassVar[Actor] = "executor"

    def __init__(self, world: World, bindings: Bindings) -> None:
        self._world = world
        self._bindings = bindings
        self._found = ""

    async def handle(self, envelope: Envelope) -> AsyncIterator[AnyEvent]:
        match envelope.event:
            case PlanAdmitted() as admitted:
                yield self._resolve(admitted)
            case ActionStarted() as started:
                yield await self._perform(started)
            case QueryStarted() as started:
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
        target = admitted.action.target
        wanted = target.strategies if target else (ByCss(self._world.focused),)
        ways = [self._bindings.strategy(way) for way in wanted]
        self._found, tries = self._world.find(ways)
        if not self._found:
            return TargetMissing(admitted.step, admitted.attempt, "element_not_found", tries)
        element = self._world.resolved(self._found)
        return TargetResolved(admitted.step, admitted.attempt, element, tries)

    async def _answer(self, started: QueryStarted) -> AnyEvent:
        action, step, attempt = started.action, started.step, started.attempt
        if action.type == "wait_for":
            wanted = action.target.strategies if action.target else ()
            self._found, _ = self._world.find([self._bindings.strategy(way) for way in wanted])
        match await self._world.meet(self._found):
            case Fails(code):
                return QueryFailed(step, attempt, code)
            case _ if action.type == "wait_for" and not self._found:
                return QueryFailed(step, attempt, "element_not_found")
            case _ if action.type == "extract":
                name = self._world.resolved(self._found).name
                return QueryAnswered(step, attempt, 1, name)
            case _:
                return QueryAnswered(step, attempt, 1)

    async def _perform(self, started: ActionStarted) -> AnyEvent:
        action, step, attempt = started.action, started.step, started.attempt
        match await self._world.meet(action.url or self._found):
            case Fails(code, dispatched):
                return ActionFailed(step, attempt, code, dispatched)
            case Becomes(thing):
                self._world.replace(self._found, thing)
                return TargetChanged(step, attempt, self._world.resolved(self._found))
            case _:
                pass
        typed = self._bindings.value(action.value) if action.value is not None else ""
        navigated = self._world.act(action, self._found, typed)
        value_set = True if action.type in ("type", "select") else None
        return ActionDone(step, attempt, 1, navigated, value_set)


def effectors(
    world: World,
    started: SessionStarted,
    *,
    answers: Answers | None = None,
    secrets: Mapping[str, str] | None = None,
) -> list[Effector]:
    """The effectors of one session in this world. No clock: tests that need one add it."""
    return [
        ScriptedObserver(world),
        ScriptedExecutor(world, Bindings(started.values, secrets or {})),
        Person(answers or Nobody()),
    ]


# -- a shop to sail in -----------------------------------------------------------------------------

SHOP: Mapping[str, Sheet] = {
    "/": Sheet(
        "Shop",
        {
            "#q": Thing("input", "textbox", "Search"),
            "#find": Thing(name="Find", leads_to="/results"),
            "#decoration": Thing(name="Decoration", inert=True),
        },
    ),
    "/results": Sheet(
        "Results",
        {
            "li:nth-child(1) a": Thing("a", "link", "Aurora Shipping", leads_to="/customers/1"),
            "li:nth-child(2) a": Thing("a", "link", "Fairlead Offshore", leads_to="/customers/2"),
        },
    ),
    **{
        f"/customers/{number}": Sheet(
            name,
            {
                "#qty": Thing("input", "spinbutton", "Quantity"),
                "#place": Thing(
                    name="Place order",
                    leads_to=f"/orders/{1000 + number}",
                    submits=True,
                    method="post",
                ),
            },
        )
        for number, name in ((1, "Aurora Shipping"), (2, "Fairlead Offshore"))
    },
    "/orders/1001": Sheet("Order 1001 for Aurora Shipping"),
    "/orders/1002": Sheet("Order 1002 for Fairlead Offshore"),
}


def shop() -> World:
    return World(SHOP)


def by_css(selector: str) -> Target:
    return Target((ByCss(selector),))


ORDER: tuple[Step, ...] = tuple(
    Step(action=action)
    for action in (
        Action("navigate", url=ORIGIN + "/"),
        Action("type", target=by_css("#q"), value=Parameter("customer")),
        Action("click", target=by_css("#find")),
        Action("click", target=Target((ByRole("link", "Aurora Shipping"),))),
        Action("type", target=by_css("#qty"), value=Text("3")),
        Action("click", target=by_css("#place")),
    )
)
AURORA = {"customer": "Aurora Shipping"}
FAIRLEAD = {"customer": "Fairlead Offshore"}
