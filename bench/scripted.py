"""A scripted workflow runs on pages that exist only here, with effectors that answer at once.

What they report has the size that real pages have, so encoding, hashing and writing cost what they
cost in earnest; only the waiting for a browser is gone.
"""

from collections.abc import AsyncIterator
from typing import ClassVar

from rutter.actors.effector import Effector
from rutter.events.action import Action, Box, ByCss, ByRole, Fingerprint, Target, Text, Untrusted
from rutter.events.envelope import Actor, Envelope
from rutter.events.executor import ActionDone, TargetResolved
from rutter.events.observer import PageObserved
from rutter.events.page import Page, PageElement, Resolved, Try
from rutter.events.planner import ObservationRequested
from rutter.events.runtime import SessionStarted
from rutter.events.validator import ActionStarted, PlanAdmitted
from rutter.events.vocabulary import AnyEvent
from rutter.events.workflow import Expectation, Place, Step, Workflow
from rutter.pipeline.sessions import session_started

ORIGIN = "https://shop.example"
STEPS = 10
ELEMENTS = 25  # as on the pages of the bundled site


def workflow() -> Workflow:
    """A navigation, then fields and links in turn; every link leads one page on."""
    steps = [Step(Action("navigate", url=page_url(0)), after=leads_to(0))]
    for number in range(1, STEPS):
        at = Place(ORIGIN, page_path(number // 2))
        if number % 2:
            value = Text(f"value {number}")
            steps.append(Step(Action("type", target=target(number), value=value), before=at))
        else:
            before = Place(ORIGIN, page_path(number // 2 - 1))
            click = Action("click", target=target(number))
            steps.append(Step(click, before=before, after=leads_to(number // 2)))
    end = Expectation(place=Place(ORIGIN, page_path((STEPS - 1) // 2)))
    return Workflow("scripted", 1, tuple(steps), end=end, hosts=("shop.example",))


def started() -> SessionStarted:
    return session_started.run_of(workflow(), {}, ())


def effectors() -> list[Effector]:
    return [QuickObserver(tab := QuickTab()), QuickExecutor(tab)]


class QuickTab:
    """A quick tab knows where the session is, and how often something changed there."""

    def __init__(self) -> None:
        self.page = -1
        self.changes = 0


class QuickObserver:
    name: ClassVar[Actor] = "observer"

    def __init__(self, tab: QuickTab) -> None:
        self._tab = tab

    async def handle(self, envelope: Envelope) -> AsyncIterator[AnyEvent]:
        match envelope.event:
            case SessionStarted():
                yield PageObserved(observed(self._tab), "start")
            case ActionDone():
                yield PageObserved(observed(self._tab), "after_action")
            case ObservationRequested():
                yield PageObserved(observed(self._tab), "requested")
            case _:
                return

    def failed(self, envelope: Envelope, error: Exception) -> AnyEvent | None:
        return None


class QuickExecutor:
    name: ClassVar[Actor] = "executor"

    def __init__(self, tab: QuickTab) -> None:
        self._tab = tab

    async def handle(self, envelope: Envelope) -> AsyncIterator[AnyEvent]:
        match envelope.event:
            case PlanAdmitted(step=step, attempt=attempt, action=action):
                tries = (Try(0, 1, "taken"),)
                yield TargetResolved(step, attempt, resolved(step - 1, action.type), tries, 1_000)
            case ActionStarted(step=step, attempt=attempt, action=action):
                self._tab.changes += 1
                moves = action.type in ("navigate", "click")
                self._tab.page += moves
                yield ActionDone(step, attempt, 1_000, moves, None if moves else True)
            case _:
                return

    def failed(self, envelope: Envelope, error: Exception) -> AnyEvent | None:
        return None


def page_path(page: int) -> str:
    return f"/page/{'abcdefgh'[page]}"


def page_url(page: int) -> str:
    return ORIGIN + page_path(page) if page >= 0 else "about:blank"


def leads_to(page: int) -> Expectation:
    return Expectation(moved=True, place=Place(ORIGIN, page_path(page)))


def target(number: int) -> Target:
    name = f"Element {number}"
    ways = (ByCss(f'[data-testid="element-{number}"]'), ByCss(f"#element-{number}"))
    return Target((*ways, ByRole("link", name)), Fingerprint("a", "link", Untrusted(name)))


def resolved(number: int, kind: str) -> Resolved:
    typed = kind == "type"
    name = Untrusted(f"Element {number}")
    return Resolved(
        tag="input" if typed else "a",
        digest=f"{number:013x}",
        role="textbox" if typed else "link",
        name=name,
        text=name,
        kind="text" if typed else "",
        href="" if typed else f"{ORIGIN}/page/*",
        origin=ORIGIN,
        ways=target(number).strategies,
        fingerprint=Fingerprint("a", "link", name, name, (), (name, name), Box(8, 8, 120, 24)),
    )


def observed(tab: QuickTab) -> Page:
    elements = [
        PageElement(
            "link", Untrusted(f"Element {at} of the page"), "a", box=Box(8, 30 * at, 120, 24)
        )
        for at in range(ELEMENTS)
    ]
    return Page(
        url=page_url(tab.page),
        title=Untrusted("A page of the shop"),
        ready="complete",
        viewport=(1280, 800),
        headings=(Untrusted("A page of the shop"),),
        elements=tuple(elements),
        digest=f"{tab.changes:013x}",
    )
