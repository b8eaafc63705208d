"""Scores say how well a model did, by its sessions' events. Elements are found at the first try,
wrong steps put right, pages known for what they are (S1 NFR-002, 3.2)."""

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from rutter.actors.world.browser.chromium import Chromium
from rutter.events.checks import PageState
from rutter.events.critic import ActionJudged, PageAssessed, StateDiffered
from rutter.events.executor import ActionDone
from rutter.events.observer import PageObserved
from rutter.events.planner import PlanProposed
from rutter.events.run_settings import Limits
from rutter.events.sqlite_log import SqliteLog
from rutter.events.workflow import Workflow
from rutter.pipeline.demo_sites.gaffsail import Switches
from rutter.pipeline.demo_sites.gaffsail.wording import page_at
from tests.support.log_checks import check_log, records_of
from tests.support.model_brain import Quirks, Reader
from tests.support.model_cancellation import Careful, Harbour, Voyage, harbour
from tests.support.provider_server import Answer, Heard
from tests.support.service_variants import VARIANTS, Variant

CORRECTIONS = 3  # C5
FIRST_TRY, PUT_RIGHT, KNOWN = 90, 80, 95  # percent at least (S1 NFR-002, 3.2)
STATES: dict[str, PageState] = {
    "login": "LOGIN_REQUIRED",
    "leaving": "RETENTION_OFFER",
    "offer": "RETENTION_OFFER",
    "survey": "EXIT_SURVEY",
    "confirm": "FINAL_CONFIRMATION",
    "done": "COMPLETE",
    "failed": "FAILED",
}
ACCOUNTS: dict[str, PageState] = {
    "cancelled": "ACCOUNT_ACTIVE",
    "failed": "ACCOUNT_ACTIVE",
    "third_party_billing": "THIRD_PARTY_BILLING",
    "already_cancelled": "ACCOUNT_CANCELLED",
}
# What is refused counts as a step too: where most of a way is mended, twice its length is too few.
MENDING = Limits(max_steps=30, max_wall_ms=60_000)
# How slowly a page comes is no part of what it says.
ALTERED = (
    *(each for each in VARIANTS if not each.switches.slow_ms),
    Variant("cancel recast", Switches(relabelled="cancel", recast=True)),
    Variant("decline recast", Switches(relabelled="decline", recast=True)),
    Variant("finish recast", Switches(relabelled="finish", recast=True)),
)
# Where something sounds like what is wanted, so that it can be taken for it.
DECEIVING = tuple(
    Variant(each.name, replace(each.switches, look_alikes=True))
    for each in ALTERED
    if each.ends == "cancelled" and not each.switches.look_alikes
)


CHANGES = (
    ("one label", Switches(relabelled="cancel")),
    ("one label and its element", Switches(relabelled="cancel", recast=True)),
    ("the last label and its element", Switches(relabelled="finish", recast=True)),
    ("a dialog in front", Switches(overlay=True)),
    ("all ids and markup", Switches(moved=True)),
    ("redesigned", Switches(redesigned=True)),
)


class Share(NamedTuple):
    """A share is so many of so many."""

    hits: int = 0
    out_of: int = 0

    def with_all(self, other: "Share") -> "Share":
        return Share(self.hits + other.hits, self.out_of + other.out_of)

    @property
    def percent(self) -> int:
        return 100 * self.hits // self.out_of if self.out_of else 100

    def __str__(self) -> str:
        return f"{self.hits} of {self.out_of}"


class Accuracy(NamedTuple):
    """The sessions of one variant came to this."""

    variant: str
    ended: bool  # as it should
    found: Share
    corrected: Share
    states: Share
    calls: int
    cost: int


class Player:
    """A player is whoever plays the model now: a brain that can be changed between two sessions."""

    def __init__(self, reader: Reader | None = None) -> None:
        self.reader = reader or Reader()

    def __call__(self, heard: Heard) -> Answer:
        return self.reader(heard)


def accuracy(name: str, variant: Variant, voyage: Voyage, port: Harbour) -> Accuracy:
    wanted = 1 if variant.ends == "cancelled" else 0
    reason = "completed" if wanted else "failed"
    return Accuracy(
        name,
        (voyage.ended.reason, port.site.cancelled) == (reason, wanted),
        found_at_once(voyage),
        put_right(voyage),
        known_states(voyage, variant),
        voyage.calls,
        voyage.cost,
    )


async def measure(
    port: Harbour, player: Player, workflow: Workflow, variants: Sequence[Variant], quirks: Quirks
) -> list[Accuracy]:
    """Each variant twice: a model leads, and a model mends what was learned elsewhere."""
    rows = []
    port.person = Careful
    for variant in variants:
        for how in ("led", "mended"):
            port.site.reset()
            port.site.switches = variant.switches
            player.reader = Reader(quirks)
            led = how == "led"
            voyage = await (port.find() if led else port.run(workflow, limits=MENDING))
            rows.append(accuracy(f"{variant.name}, {how}", variant, voyage, port))
    return rows


def total(rows: Sequence[Accuracy]) -> tuple[Share, Share, Share]:
    """Of all of them: found, put right, known."""
    found = corrected = states = Share()
    for row in rows:
        found = found.with_all(row.found)
        corrected = corrected.with_all(row.corrected)
        states = states.with_all(row.states)
    return found, corrected, states


def found_at_once(voyage: Voyage) -> Share:
    """Of the steps on an element that a model wanted: how many were done at the first try."""
    done = {(each.step, each.attempt) for each in voyage.told(ActionDone)}
    first = [each for each in _proposed(voyage) if each.action.target is not None]
    return Share(sum((each.step, 1) in done for each in first), len(first))


def put_right(voyage: Voyage) -> Share:
    """Of the times that a model was wrong: how often a step of its next three was right."""
    right = {each.step for each in voyage.told(ActionJudged) if each.verdict == "confirmed"}
    right -= {each.step for each in voyage.told(StateDiffered)}
    course = [each.step in right for each in _proposed(voyage)]
    hits = times = at = 0
    while at < len(course):
        if not course[at]:
            then = course[at + 1 : at + 1 + CORRECTIONS]
            times += 1
            hits += any(then)
            at += then.index(True) + 1 if any(then) else len(then)
        at += 1
    return Share(hits, times)


def known_states(voyage: Voyage, variant: Variant) -> Share:
    """Of the looks at pages whose state is known here: how many were taken for it."""
    looks = list(_looks(voyage.events, variant))
    return Share(sum(said == so for said, so in looks), len(looks))


def _proposed(voyage: Voyage) -> list[PlanProposed]:
    plans = voyage.told(PlanProposed)
    return [each for each in plans if each.driver == "model" and each.attempt == 1]


def _looks(events: Sequence[Any], variant: Variant) -> Iterator[tuple[str, PageState]]:
    url = ""
    for event in events:
        if isinstance(event, PageObserved):
            url = event.page.url
        elif isinstance(event, PageAssessed) and (so := _state_at(url, variant)) is not None:
            yield event.state, so


def _state_at(url: str, variant: Variant) -> PageState | None:
    if not url.startswith("http"):
        return "START"
    page = page_at(urlsplit(url).path, variant.switches) or ""
    return ACCOUNTS[variant.ends] if page == "account" else STATES.get(page)


# -- the sessions themselves ---------------------------------------------------------------------


class Run(NamedTuple):
    what: str
    voyage: Voyage
    cancelled: int

    @property
    def version(self) -> int:
        """Of what was learned from it; 0, where nothing was."""
        learned = self.voyage.learned
        return learned.version if learned is not None else 0


class Ship:
    """A ship is a harbour with a model in it that is as new for every session."""

    def __init__(self, port: Harbour, player: Player) -> None:
        self.port, self.player = port, player

    async def find(self) -> Run:
        return await self._sail("first run: a model looks for the way", None, Switches())

    async def run(self, what: str, workflow: Workflow, switches: Switches) -> Run:
        return await self._sail(what, workflow, switches)

    async def _sail(self, what: str, workflow: Workflow | None, switches: Switches) -> Run:
        self.port.site.reset()
        self.port.site.switches = switches
        self.player.reader = Reader()
        sailed = self.port.find() if workflow is None else self.port.run(workflow)
        return Run(what, await sailed, self.port.site.cancelled)


@asynccontextmanager
async def launched(browser: Chromium, path: Path) -> AsyncIterator[Ship]:
    """On a log of its own: what is learned there is the newest. It is replayed at the end."""
    player = Player()
    log = await SqliteLog.open(path)
    try:
        async with harbour(log, browser, player) as port:
            yield Ship(port, player)
    finally:
        await log.close()
    check_log(records_of(path))


async def twice(browser: Chromium, root: Path) -> list[Run]:
    """The same goal twice, and again after each change of the site."""
    runs: list[Run] = []
    for number, (change, switches) in enumerate(CHANGES):
        async with launched(browser, root / f"{number}.db") as ship:
            first = await ship.find()
            workflow = first.voyage.learned
            assert workflow is not None
            if not runs:
                runs += [first, await ship.run("second run", workflow, Switches())]
            changed = await ship.run(f"changed: {change}", workflow, switches)
            newest = changed.voyage.learned or workflow
            runs += [changed, await ship.run("  and the run after it", newest, switches)]
    return runs


async def accurate(browser: Chromium, root: Path) -> tuple[list[Accuracy], list[Accuracy]]:
    """On every altered site: as it is, and by a model that is deceived first."""
    async with launched(browser, root / "accuracy.db") as ship:
        workflow = (await ship.find()).voyage.learned
        assert workflow is not None
        args = (ship.port, ship.player, workflow)
        plain = await measure(*args, ALTERED, Quirks())
        return plain, await measure(*args, DECEIVING, Quirks(wrong_first=True))
