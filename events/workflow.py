"""A workflow holds the steps of one recording: what is done, where, and what it must lead to."""

from typing import Literal

import msgspec

from rutter.events.action import Action
from rutter.events.checks import Check, PageState, ReadBack
from rutter.events.page import Artifact
from rutter.events.service_pack import Service

Driver = Literal["person", "script", "workflow", "prediction", "model", "agent"]


class Place(msgspec.Struct, frozen=True, omit_defaults=True):
    """A step happens at an origin and path, with the parts that vary as `*`. `also` are paths that
    the page there gives itself, without any input."""

    origin: str = ""
    path: str = ""
    also: tuple[str, ...] = ()

    @property
    def paths(self) -> tuple[str, ...]:
        return (self.path, *self.also)


class Expectation(msgspec.Struct, frozen=True, omit_defaults=True):
    """An expectation is what a step changed when recorded, and must change again.

    `state` is what the page was afterwards, by the rules of F6, if they were asked; `learned` is
    what it said and how it stood then; `checks` and `read_back` were stated.
    """

    effect: bool = True
    moved: bool = False
    place: Place | None = None
    headings: tuple[str, ...] = ()
    learned: tuple[Check, ...] = ()
    checks: tuple[Check, ...] = ()
    read_back: ReadBack | None = None
    state: PageState | None = None

    @property
    def without_place(self) -> "Expectation":
        """Where it led, the step that is due next looks for itself; what was stated holds."""
        return Expectation(effect=self.effect, checks=self.checks, read_back=self.read_back)


class StandingApproval(msgspec.Struct, frozen=True, omit_defaults=True):
    """A recording approves its own steps, on this origin and this very element (design 8).
    `identity` knows it again when the address of its form changed in its ids or its stage alone,
    and `home` when it sends to the page that it is on, by whichever of its addresses."""

    origin: str
    digest: str
    identity: str = ""
    home: str = ""


class Fork(msgspec.Struct, frozen=True, array_like=True):
    """A fork has branches between two steps that all recordings have: a run takes one at most."""

    number: int
    way: int


class Step(msgspec.Struct, frozen=True, omit_defaults=True):
    """A step says what to do, where it is due, and what it must lead to.

    `state` is what the page was when it was due, where the rules of F6 know it. `irreversible` is
    what policy said then: whatever its element has become, it is not done twice. `optional`: not
    every run meets it. `picture` is its element in its surroundings, when it was recorded.
    """

    action: Action
    before: Place = Place()
    after: Expectation = Expectation()
    standing_approval: StandingApproval | None = msgspec.field(default=None, name="standing")
    optional: bool = False
    state: PageState | None = None
    irreversible: bool = False
    fork: Fork | None = None
    picture: Artifact | None = None


class Indicator(msgspec.Struct, frozen=True):
    """An indicator is words, in any case, that the page says in this place, or the state it is in.
    `where` is its address, its title, a heading, any element's name, an alert, or all its text."""

    where: Literal["url", "title", "heading", "name", "alert", "text", "state"]
    says: str


class Criteria(msgspec.Struct, frozen=True, omit_defaults=True):
    """Criteria say by what a page shows that a task was done, or failed: one of them is enough."""

    success: tuple[Indicator, ...] = ()
    failure: tuple[Indicator, ...] = ()


class Workflow(msgspec.Struct, frozen=True, omit_defaults=True):
    """A workflow is one version of recorded steps, never changed, only followed by newer ones.

    `service` is what was known of the site when it was recorded: what was learned rests on it.
    `hosts` may be gone to in a run of it, `resources` only be loaded from. `goal` is what it was to
    come to, where a model led the run, and `criteria` by what a page shows that it did.
    """

    name: str
    version: int
    steps: tuple[Step, ...]
    end: Expectation = Expectation()
    parameters: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    complete: bool = True
    session: str = ""
    service: Service | None = None
    resources: tuple[str, ...] = ()
    goal: str = ""
    criteria: Criteria | None = None
