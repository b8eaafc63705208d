"""Somebody does five workflows on the bundled sites day by day: interleaved, with other values each
time, and now and then with steps that were not needed.

Recorded, and run freely afterwards, through the whole pipeline and a real browser. What is made of
it is read from the log (`bench/sailing.py`).
"""

import random
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec

from rutter.actors.answers import Answers, Nobody, PersonAnswer, ScriptedPerson, Who
from rutter.actors.rules.policy.policy import DEFAULT_POLICY
from rutter.actors.world.browser.screen import OpensWindows
from rutter.events.action import Action, ByCss, ByRole, Parameter, Secret, Target, Typed
from rutter.events.envelope import Envelope
from rutter.events.planner import PlanProposed
from rutter.events.run_settings import Limits
from rutter.events.runtime import SessionEnded
from rutter.events.signature import doing
from rutter.events.validator import ApprovalRequested
from rutter.events.workflow import Step
from rutter.pipeline.app import App
from rutter.pipeline.demo_sites.chandlery import Site
from rutter.pipeline.demo_sites.chandlery.seed import CUSTOMERS, ORDERS, PRODUCTS
from rutter.pipeline.demo_sites.gaffsail import StreamingSite
from rutter.pipeline.demo_sites.sign_ins import USER
from rutter.pipeline.sessions import session_started

SEED = 8
NOISY = 3  # one session of so many has steps that were not needed
TWICE = 3  # of those, one of so many has them in two places
LONGEST = Limits(max_steps=40, max_wall_ms=90_000)
ASKING = msgspec.structs.replace(DEFAULT_POLICY, denylist=())
YES = PersonAnswer(True, phrase="confirm")

Values = Mapping[str, str]
Actions = tuple[Action, ...]


class Detour(NamedTuple):
    """A detour has steps before the step `at` that lead back to where they began."""

    at: int
    actions: Actions


class Course(NamedTuple):
    """A course is a workflow as it is done: the same steps each time, with other values."""

    name: str
    url: str
    steps: Actions
    detours: tuple[Detour, ...]
    values: tuple[str, ...]


class Trip(NamedTuple):
    """A recorded session has steps, some of which were not needed."""

    session: str
    course: Course
    round: int
    values: Values
    steps: Actions
    extra: frozenset[int]


# -- what is done ----------------------------------------------------------------------------------


def _at(mark: str) -> Target:
    return Target((ByCss(f'[data-testid="{mark}"]'),))


def _click(mark: str) -> Action:
    return Action("click", target=_at(mark))


def _link(name: str) -> Action:
    return Action("click", target=Target((ByRole("link", name),)))


def _type(mark: str, parameter: str) -> Action:
    return Action("type", target=_at(mark), value=Parameter(parameter))


def _select(mark: str, parameter: str) -> Action:
    return Action("select", target=_at(mark), value=Parameter(parameter))


def _mistype(mark: str) -> Action:
    return Action("type", target=_at(mark), value=Typed(0))


def _read(name: str, selector: str) -> Action:
    return Action("extract", target=Target((ByCss(selector),)), name=name)


def _sign_in(url: str, mark: str, parameter: str) -> Actions:
    password = Action("type", target=_at("login-password"), value=Secret("password"))
    return (
        Action("navigate", url=f"{url}/login"),
        _type(mark, parameter),
        password,
        _click("login-submit"),
    )


def _chandlery(url: str) -> tuple[Course, ...]:
    """Three of them begin alike, and two go on alike to the customer."""
    sign_in = _sign_in(url, "login-user", "user")
    customer = (
        _click("nav-customers"),
        _type("customer-search", "customer"),
        Action("press", key="Enter"),
        _link("${customer}"),
    )
    order = (
        _click("new-order"),
        _select("order-product", "product"),
        _type("order-quantity", "quantity"),
        _type("order-delivery", "delivery"),
        _type("order-berth", "berth"),
        _click("priority-urgent"),
        _type("order-note", "note"),
        _click("review-order"),
        _click("place-order"),
        _read("order_number", '[data-testid="order-number"]'),
        _click("nav-orders"),
    )
    find = (
        _click("nav-orders"),
        _type("order-filter", "number"),
        _click("order-filter-submit"),
        _link("${number}"),
        _read("order_status", '[data-testid="order-status"]'),
    )
    read = _read("vessel", "main .lead")
    at_desk = Detour(4, (_click("nav-orders"), _click("nav-desk")))
    at_customers = (
        Detour(5, (_click("nav-orders"), _click("nav-customers"))),
        Detour(5, (_link("Dunmore Ferries"), _click("nav-customers"))),
        Detour(5, (_mistype("customer-search"),)),
    )
    on_form = (Detour(13, (_click("priority-routine"),)), Detour(12, (_mistype("order-berth"),)))
    at_orders = (
        Detour(4, (_click("nav-customers"), _click("nav-desk"))),
        Detour(5, (_click("nav-desk"), _click("nav-orders"))),
        Detour(5, (_link("1002"), _click("nav-orders"))),
    )
    on_the_way = (at_desk, *at_customers)
    who = ("user", "customer")
    what = ("product", "quantity", "delivery", "berth", "note")
    return (
        Course("order", url, (*sign_in, *customer, *order), (*on_the_way, *on_form), (*who, *what)),
        Course("find order", url, (*sign_in, *find), at_orders, ("user", "number")),
        Course("customer", url, (*sign_in, *customer, read), on_the_way, who),
    )


def _gaffsail(url: str) -> tuple[Course, ...]:
    """They begin alike, and part at the offer."""
    begin = (*_sign_in(url, "login-email", "email"), _click("cancel-membership"))
    cancel = (
        _click("decline-offer"),
        _click("reason-price"),
        _click("survey-continue"),
        _click("finish-cancellation"),
    )
    pause = (_click("pause-instead"), _read("until", "main .lead"))
    detours = (
        Detour(4, (_click("nav-watch"), _click("nav-account"))),
        Detour(5, (_click("nav-account"), _click("cancel-membership"))),
    )
    other = Detour(6, (_click("reason-other"),))
    return (
        Course("cancel", url, (*begin, *cancel), (*detours, other), ("email",)),
        Course("pause", url, (*begin, *pause), detours, ("email",)),
    )


class Harbour:
    """A harbour has both sites, what can be done on them, and the pipeline that does it."""

    def __init__(
        self, app: App, browser: OpensWindows, shop: Site, streaming: StreamingSite
    ) -> None:
        self._app = app
        self._browser = browser
        self._streaming = streaming
        self._user = {"user": USER, "email": streaming.email}
        self._passwords = {shop.base_url: shop.password, streaming.base_url: streaming.password}
        self.courses = (*_chandlery(shop.base_url), *_gaffsail(streaming.base_url))
        self.events: list[Envelope] = []
        app.listen(self.events.append)

    def trips(self, rounds: int, seed: int = SEED) -> tuple[Trip, ...]:
        """Every workflow once a round, each round in another order."""
        dice = random.Random(seed)
        due = [
            (number, course)
            for number in range(1, rounds + 1)
            for course in dice.sample(self.courses, len(self.courses))
        ]
        noisy = frozenset(dice.sample(range(len(due)), len(due) // NOISY))
        return tuple(
            self._trip(place, number, course, dice, noisy=place in noisy)
            for place, (number, course) in enumerate(due)
        )

    def _trip(
        self, place: int, number: int, course: Course, dice: random.Random, *, noisy: bool
    ) -> Trip:
        detours: list[Detour] = []
        if noisy:
            wanted = 1 + (dice.randrange(TWICE) == 0)
            detours = dice.sample(course.detours, min(wanted, len(course.detours)))
        steps: list[Action] = []
        extra: set[int] = set()
        for at, step in enumerate(course.steps):
            for detour in detours:
                if detour.at == at:
                    extra |= set(range(len(steps), len(steps) + len(detour.actions)))
                    steps += detour.actions
            steps.append(step)
        drawn = self._drawn(dice)
        values = {name: drawn[name] for name in course.values}
        session = f"{place + 1:02} {course.name}"
        return Trip(session, course, number, values, tuple(steps), frozenset(extra))

    def _drawn(self, dice: random.Random) -> dict[str, str]:
        return {
            **self._user,
            "customer": dice.choice(CUSTOMERS).name,
            "product": dice.choice(PRODUCTS).sku,
            "quantity": str(dice.randrange(1, 99)),
            "delivery": f"2026-0{dice.randrange(4, 10)}-{dice.randrange(10, 29)}",
            "berth": f"Pier {dice.randrange(1, 40)}",
            "note": f"Call {dice.randrange(10, 99)} on arrival.",
            "number": str(dice.choice(ORDERS).number),
        }

    async def record(self, trip: Trip) -> SessionEnded:
        """From a script, which counts as a person's work; whoever wrote it approves its steps."""
        self._streaming.reset()
        course = trip.course
        secrets = {"password": self._passwords[course.url]}
        host = course.url.removeprefix("http://")
        script = tuple(Step(action=_bound(each, trip.values)) for each in trip.steps)
        started = session_started.recording(course.name, script, trip.values, secrets, allow=[host])
        return await self._app.run_in_browser(
            started,
            self._browser,
            answers=ScriptedPerson(otherwise=YES),
            secrets=secrets,
            typed=["Pier 0"],
            name=trip.session,
        )

    async def sail(
        self,
        course: Course,
        session: str,
        dice: random.Random,
        *,
        begun: Sequence[Action] = (),
        answers: Answers | None = None,
    ) -> SessionEnded:
        """With what any workflow needs and no word about which it is: from where it begins, or
        after the steps that were `begun`. Where somebody answers, no word is denied from the start:
        all that matters is asked about."""
        self._streaming.reset()
        secrets = {"password": self._passwords[course.url]}
        started = session_started.free_run(
            f"{course.url}/login",
            self._drawn(dice),
            secrets,
            policy=DEFAULT_POLICY if answers is None else ASKING,
            limits=LONGEST,
            origins=[("password", course.url)],
        )
        if begun:
            script = tuple(Step(action=action) for action in begun)
            started = msgspec.structs.replace(started, script=script)
        return await self._app.run_in_browser(
            started, self._browser, answers=answers or Nobody(), secrets=secrets, name=session
        )

    def of(self, session: str) -> list[Envelope]:
        return [envelope for envelope in self.events if envelope.session == session]


def _bound(action: Action, values: Values) -> Action:
    """A row is clicked by what it says."""
    way = action.target.primary if action.target else None
    if not isinstance(way, ByRole) or not way.name.startswith("${"):
        return action
    named = Target((ByRole(way.role, values[way.name[2:-1]]),))
    return msgspec.structs.replace(action, target=named)


class Mate:
    """A mate knows which workflow is wanted: says yes to its next step, and to nothing else."""

    who: Who = "scripted"

    def __init__(self, harbour: Harbour, session: str, way: tuple[str, ...]) -> None:
        self._harbour = harbour
        self._session = session
        self._way = way

    async def ask(self, question: ApprovalRequested) -> PersonAnswer:
        proposed = [
            envelope.event
            for envelope in self._harbour.of(self._session)
            if isinstance(envelope.event, PlanProposed)
        ]
        asked = next(plan for plan in reversed(proposed) if plan.step == question.step)
        meant = self._way[asked.step - 1 : asked.step] == (doing(asked.action),)
        return YES if meant else PersonAnswer(False, "that is not what comes next")
