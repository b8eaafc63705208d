"""What a run is given: workflows, policy and settings, pinned in full when it starts (design 3)."""

from typing import Literal

import msgspec

from events.action import Action
from events.checks import Check, PageState, ReadBack
from events.page import Artifact
from events.service import Service

Driver = Literal["person", "script", "workflow", "prediction", "model", "agent"]
PredictorName = Literal["markov2", "foresight"]

MILLION = 1_000_000


class Place(msgspec.Struct, frozen=True, omit_defaults=True):
    """Where a step happens: origin and path, with the parts that vary as `*`. `also` are paths that
    the page there gives itself, without any input."""

    origin: str = ""
    path: str = ""
    also: tuple[str, ...] = ()

    @property
    def paths(self) -> tuple[str, ...]:
        return (self.path, *self.also)


class Expectation(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a step changed when it was recorded, and so what it is expected to change again.

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


class Standing(msgspec.Struct, frozen=True, omit_defaults=True):
    """A recording approves its own steps, on this origin and this very element (design 8), which
    `identity` knows again when the address of its form changed in its ids or its stage alone, and
    `home` when it sends to the page that it is on, by whichever of its addresses."""

    origin: str
    digest: str
    identity: str = ""
    home: str = ""


class Fork(msgspec.Struct, frozen=True, array_like=True):
    """One of several ways between two steps that all recordings have: a run goes one at most."""

    number: int
    way: int


class Step(msgspec.Struct, frozen=True, omit_defaults=True):
    """One recorded step: what to do, where it is due, what it must lead to.

    `state` is what the page was when it was due, where the rules of F6 know it. `irreversible` is
    what policy said then: whatever its element has become, it is not done twice. `optional`: not
    every run meets it. `picture` is its element in its surroundings, when it was recorded.
    """

    action: Action
    before: Place = Place()
    after: Expectation = Expectation()
    standing: Standing | None = None
    optional: bool = False
    state: PageState | None = None
    irreversible: bool = False
    fork: Fork | None = None
    picture: Artifact | None = None


class Indicator(msgspec.Struct, frozen=True):
    """Words, in any case, that the page says in this place: its address, its title, a heading, the
    name of any element, an alert or status, or anywhere in its text; or the state that it is in."""

    where: Literal["url", "title", "heading", "name", "alert", "text", "state"]
    says: str


class Criteria(msgspec.Struct, frozen=True, omit_defaults=True):
    """By what a page shows that a task was done, or that it failed: one of them is enough."""

    success: tuple[Indicator, ...] = ()
    failure: tuple[Indicator, ...] = ()


class Workflow(msgspec.Struct, frozen=True, omit_defaults=True):
    """One version of a recorded way. Versions are never changed, only followed by newer ones.

    `service` is what was known of the site when it was recorded: what was learned rests on it.
    `hosts` may be gone to in a run of it, `resources` only be loaded from. `goal` is what it was
    to come to, where a model found the way, and `criteria` by what a page shows that it did.
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


Effect = Literal["allow", "ask", "deny"]
SideEffect = Literal["read", "write", "auth"]


class PolicyRule(msgspec.Struct, frozen=True, omit_defaults=True):
    """One row of the table that a person wrote. A column that is empty holds for everything;
    several entries of one column mean any of them."""

    name: str
    effect: Effect
    actions: tuple[str, ...] = ()
    says: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    drivers: tuple[Driver, ...] = ()
    tools: tuple[str, ...] = ()
    side_effects: tuple[SideEffect, ...] = ()
    reason: str = ""


class Policy(msgspec.Struct, frozen=True, omit_defaults=True):
    """What may be done.

    `hosts` may be gone to, `resources` only be loaded from: `host`, `host:port`, `*.host` for what
    is below it, or a network (`10.0.0.0/8`). Private ones only when named; public ones all, where
    `public_hosts` or `public_resources` says so. Files are read in `folders` and below alone; a
    path that is not absolute is in the first of them. `rules` stand beside those that are built
    in. A secret is typed on its own `secret_origins` alone, where it has any. A question that
    nobody answers within `approval_ms` is answered with no; 0 waits for ever.
    """

    version: str
    denylist: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    public_hosts: bool = True
    folders: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()
    public_resources: bool = True
    rules: tuple[PolicyRule, ...] = ()
    secret_origins: tuple[tuple[str, str], ...] = ()
    approval_ms: int = 0
    upload_mb: int = 50
    download_mb: int = 50
    detect_secrets: bool = True


class Limits(msgspec.Struct, frozen=True, omit_defaults=True):
    """When a run ends whatever else happens (E6)."""

    max_steps: int = 12
    max_wall_ms: int = 90_000
    max_failures: int = 3
    max_same: int = 3
    max_turns: int = 20


class Mind(msgspec.Struct, frozen=True, omit_defaults=True):
    """A language model that may be asked; `pictures`: it can look at them."""

    provider: str
    model: str
    pictures: bool = True


class Minds(msgspec.Struct, frozen=True, omit_defaults=True):
    """Mode B: who is asked, in this order, and what they may do (H3). None of it, and no language
    model is ever asked. An answer that is less certain than this is asked for again, `asks` times
    in all; what went wrong is corrected so many times before a person is needed (C5)."""

    minds: tuple[Mind, ...] = ()
    tools: tuple[str, ...] = ()
    certainty: int = 600_000
    asks: int = 2
    corrections: int = 3


class RunSettings(msgspec.Struct, frozen=True, omit_defaults=True):
    """Every knob that a decision depends on.

    Outside a workflow, what is at least as probable as `threshold` is done, and what is at least as
    probable as `suggest` is done when a person says so.
    An effect is waited for `settle_ms` where nothing more is known of it, `place_ms` where it is
    known what must come, `answer_ms` as long as the page itself waits for its server.
    `looks_back`: an optional step is not waited for where what comes behind it is there, and is
    due again where that is in the way. `compares`: a recording under a known name is merged with
    what is known, and with `newest_first` its choice comes before the one that was known.
    `pictures`: each recorded step keeps a small one. A run is done when what it sent is proven as
    far as `proof` says; with `seeks_proof` it looks for where the result of a step shows,
    and with `proposes` leaves it to a person whether runs of what is recorded look there too.
    """

    predictor: PredictorName = "markov2"
    order: int = 2
    top_k: int = 3
    threshold: int = 500_000
    suggest: int = MILLION
    limits: Limits = Limits()
    resolve_ms: int = 3_000
    settle_ms: int = 1_000
    place_ms: int = 3_000
    answer_ms: int = 10_000
    execution_delay_ms: int = 0
    screenshots: bool = False
    dry_run: bool = False
    criteria: Criteria | None = None
    service: Service | None = None
    vision: bool = False
    looks_back: bool = False
    compares: bool = False
    pictures: bool = False
    newest_first: bool = False
    proof: Literal["acknowledged", "stored"] = "acknowledged"
    seeks_proof: bool = False
    proposes: bool = False
