"""A step that found no element tells what it looked for and what was there instead: in words, from
the log alone. The likeness that decided is asked again; the page is the one that was seen last."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from rutter.actors.rules.pages.address import is_at
from rutter.actors.rules.policy.policy import READING
from rutter.actors.rules.steps.healing import recorded_target
from rutter.actors.rules.steps.likeness import (
    MARGIN,
    MINIMUM,
    SAME_WORDS,
    grounds,
    resemblance,
    score,
    weigh,
)
from rutter.events.action import ByBeside, ByRole, ByText, Strategy, Target
from rutter.events.executor import LookalikesFound, TargetMissing, TargetResolved
from rutter.events.observer import PageObserved
from rutter.events.page import Page, PageElement, Resolved
from rutter.events.planner import PlanProposed, TargetHealed
from rutter.events.predictor import StepDue
from rutter.events.run_settings import MILLION
from rutter.events.runtime import SessionStarted
from rutter.events.validator import ActionRejected
from rutter.events.vocabulary import AnyEvent
from rutter.replay.story.wording import kind_of, printable

MOST = 3  # candidates that are told
LONGEST = 60  # characters of a name
ALIKE = 350_000  # millionths by which two names are worth comparing by a person
NEAR = 2  # texts around it


class LookedFor(NamedTuple):
    """A session that came to nothing says where it was and where it should have been. For the step
    of this number: what stood near its element once, and what was there instead of it; `like` is
    what is most like it, by its name."""

    page: str = ""
    expected: str = ""
    start: str = ""
    step: int = 0
    near: tuple[str, ...] = ()
    instead: tuple[str, ...] = ()
    like: str = ""


class LookedForFold:
    """The fold hears a session and remembers what it looked for last."""

    def __init__(self) -> None:
        self._values: Mapping[str, str] = {}
        self._start = ""
        self._page: Page | None = None
        self._due: StepDue | None = None
        self._plan: PlanProposed | None = None
        self._missing = False
        self._alike: list[str] = []
        self._like = ""

    def hear(self, event: AnyEvent) -> None:
        match event:
            case SessionStarted(values=values, url=url):
                self._values, self._start = values, url
            case PageObserved(page=page):
                self._page = page
            case StepDue():
                self._due = event
            case PlanProposed():
                self._plan, self._missing, self._alike, self._like = event, False, [], ""
                self._due = None if event.driver == "workflow" else self._due
                if event.action.type == "navigate":
                    self._start = self._start or event.action.url or ""
            case TargetMissing():
                self._missing = True
            case ActionRejected(rule="likeness"):
                self._missing = True
            case LookalikesFound(elements=elements) if self._plan is not None:
                found = refused_among(self._plan, elements, self._values)
                self._alike = [why for why, _ in found]
                self._like = found[0][1] if found else ""
            case TargetResolved() | TargetHealed():
                self._missing = False
            case _:
                pass

    def sought(self) -> LookedFor:
        page, plan = self._page, self._plan
        here = place_in_words(page.url, page.title.text) if page is not None else ""
        told = LookedFor(here, self._expected(), self._start)
        if plan is None or not self._missing:
            return told
        target = plan.action.target
        instead = self._alike or nearest_on(page, target)
        return told._replace(
            step=plan.step, near=around(target), instead=tuple(instead), like=self._like
        )

    def _expected(self) -> str:
        """Where the step that was due is done, if the page is another one."""
        place = self._due.step.before if self._due is not None and self._due.unmet else None
        plan = None if self._missing else self._plan  # what was not begun led nowhere
        if place is None and plan is not None and plan.expects is not None:
            place = plan.expects.place
        if place is None or not place.origin or self._page is None:
            return ""
        return "" if is_at(place, self._page.url) else printable(f"{place.origin}{place.path}")


def around(target: Target | None) -> tuple[str, ...]:
    """What stood around the element when it was recorded: where a person would look for it."""
    near = target.fingerprint.near if target is not None and target.fingerprint is not None else ()
    beside = [_quoted(text.text) for text in near if text.text][:NEAR]
    return (printable(f"an element near {' and '.join(beside)}"),) if beside else ()


def refused_among(
    plan: PlanProposed, elements: Sequence[Resolved], values: Mapping[str, str]
) -> list[tuple[str, str]]:
    """The elements most like the recorded one, and why none of them was taken; with their names."""
    target = recorded_target(plan, values)
    if target is None:
        return []
    reading = plan.action.type in READING
    scored = [(score(target, each, reading=reading), each) for each in elements]
    ranked = sorted(scored, key=lambda pair: -pair[0])[:MOST]
    told = []
    for at, (points, element) in enumerate(ranked):
        others = [each for place, (each, _) in enumerate(ranked) if place != at]
        why = _why_refused(target, element, points, max(others, default=0), reading=reading)
        alike = f"{points * 100 // MILLION} % like it"
        said = " ".join((element.name.text or element.text.text).split())[:LONGEST]
        plain = f'the {kind_of(element.role)} "{said}"' if said else ""
        told.append((printable(f"{_named(element)} ({alike}: {why})"), printable(plain)))
    return told


def nearest_on(page: Page | None, target: Target | None) -> list[str]:
    """What on the page is called like what was looked for, where nothing was compared."""
    if page is None or target is None:
        return []
    role, name = _wanted(target.strategies)
    if not name and not role:
        return []
    ranked = sorted(
        ((_nearness(each, role, name), -at, each) for at, each in enumerate(page.elements)),
        reverse=True,
        key=lambda entry: entry[:2],
    )
    near = [each for points, _, each in ranked if points >= ALIKE][:MOST]
    called = [f"{each.role} {_quoted(each.name.text)}" for each in near]
    others = [_how_other(each, role, name) for each in near]
    return [printable(f"{who} ({how})") for who, how in zip(called, others, strict=True)]


def place_in_words(url: str, title: str) -> str:
    """`'New order' at https://shop.example/orders/new`."""
    named = f"{_quoted(title)} at " if title else ""
    return printable(f"{named}{url}")


# -- how -------------------------------------------------------------------------------------------


def _why_refused(
    target: Target, element: Resolved, points: int, other: int, *, reading: bool
) -> str:
    evidence = weigh(target, element, reading=reading)
    if evidence is None:
        return "it is of another kind"
    if grounds(target, element, reading=reading) == "none":
        if evidence.says is not None and evidence.says < SAME_WORDS:
            return "it says something else"
        return "it does something else" if evidence.does == 0 else "it stands somewhere else"
    if points < MINIMUM:
        return "too little speaks for it"
    if points - other < MARGIN:
        return "another is as like it"
    return "it is not to be typed into or clicked for this"


def _wanted(locators: Iterable[Strategy]) -> tuple[str, str]:
    """The role and the name that were looked for, as far as the locators say them."""
    role = name = ""
    for locator in locators:
        if isinstance(locator, ByRole):
            role, name = role or locator.role, name or locator.name
        elif isinstance(locator, ByText | ByBeside):
            name = name or locator.text
    return role, name


def _nearness(element: PageElement, role: str, name: str) -> int:
    said = element.name.text
    if not name:
        return MILLION if element.role == role and said else 0
    return resemblance(name, said) if said else 0


def _how_other(element: PageElement, role: str, name: str) -> str:
    if role and element.role != role:
        return f"{_a(element.role)}, not {_a(role)}"
    if "disabled" in element.state:
        return "it is disabled"
    same = " ".join(element.name.text.casefold().split()) == " ".join(name.casefold().split())
    return "called so, but not by the recorded ways" if same or not name else "called otherwise"


def _named(element: Resolved) -> str:
    role = element.role or element.tag
    said = element.name.text or element.text.text
    return f"{role} {_quoted(said)}" if said else f"{role} without a name"


def _quoted(text: str) -> str:
    plain = " ".join(text.split())
    return repr(plain if len(plain) <= LONGEST else plain[: LONGEST - 3] + "...")


def _a(role: str) -> str:
    return f"{'an' if role[:1] in 'aeiou' else 'a'} {role}"
