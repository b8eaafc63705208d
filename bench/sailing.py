"""The free-run bench says what foresight is worth on real pages. It records five workflows of the
bundled sites interleaved, and then runs them freely at the default threshold.

Every prediction of a recording is held against what was done next. A step of a free run is right
when a workflow goes on with it that fits what was done so far; it must never do a wrong one alone.
"""

import asyncio
import random
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from bench.logbook import (
    Foretold,
    Recognised,
    Run,
    Ways,
    actions_of,
    by_seeds,
    foretold,
    parted,
    recognised,
    run_of,
)
from bench.tables import Cell, middle, print_table
from bench.voyages import SEED, Course, Harbour, Mate, Trip
from rutter.actors.world.browser.chromium import Chromium
from rutter.actors.world.browser.screen import OpensWindows
from rutter.actors.world.egress.gate import Gate
from rutter.events.action import Action
from rutter.events.signature import doing
from rutter.events.sqlite_log import SqliteLog
from rutter.events.sqlite_reader import SqliteReader
from rutter.pipeline.app import App
from rutter.pipeline.config.chromium_install import Installer
from rutter.pipeline.demo_sites.chandlery import Site
from rutter.pipeline.demo_sites.gaffsail import StreamingSite
from rutter.pipeline.sessions.session_started import NEW
from rutter.replay.verify import Verification, verify

ROUNDS = 6
THRESHOLDS = (0.5, 0.7, 0.9)
SAID = 60  # characters of why a run stopped

# Who is asked, and from where on it goes freely: from where the workflow begins; from where it is
# no other any more; and the same with a detour on the way there.
Kind = Literal["nobody to ask", "a mate to ask", "begun", "begun with a detour"]
KINDS: tuple[Kind, ...] = ("nobody to ask", "a mate to ask", "begun", "begun with a detour")
Learned = Mapping[str, tuple[Action, ...]]  # the steps of each workflow


class Measured(NamedTuple):
    trips: tuple[Trip, ...]
    ours: list[Foretold]
    seeds: list[Foretold]
    recognised: list[Recognised]
    runs: dict[Kind, list[Run]]
    report: Verification

    @property
    def wrong(self) -> list[str]:
        """What free runs did that no workflow would have, with nobody's yes."""
        return [
            f"{kind}, {run.workflow}: {step.what} at {step.probability}"
            for kind, runs in self.runs.items()
            for run in runs
            for step in run.steps
            if not (step.fits or step.asked)
        ]


async def record_all(harbour: Harbour, trips: Sequence[Trip]) -> Learned:
    """Each workflow, which is learned as the same steps in every session, whatever its values."""
    learned: dict[str, tuple[Action, ...]] = {}
    for trip in trips:
        ended = await harbour.record(trip)
        if ended.reason != "completed":
            raise RuntimeError(f"{trip.session}: {ended.reason} {ended.failure} {ended.detail}")
        actions = actions_of(trip, harbour.of(trip.session))
        before = learned.get(trip.course.name, actions)
        if [*map(doing, actions)] != [*map(doing, before)]:
            raise RuntimeError(f"{trip.session} was learned otherwise than before")
        learned[trip.course.name] = actions
    return learned


async def sail_all(
    harbour: Harbour, learned: Learned, ways: Ways, kinds: Sequence[Kind], dice: random.Random
) -> dict[Kind, list[Run]]:
    async def one(course: Course, kind: Kind) -> Run:
        name = course.name
        session = f"free {name}, {kind}"
        begun, extra = _begun(course, kind, learned[name], parted(ways, name), dice)
        way = (*map(doing, begun), *ways[name][len(begun) - len(extra) :])
        mate = None if kind == "nobody to ask" else Mate(harbour, session, way)
        await harbour.sail(course, session, dice, begun=begun, answers=mate)
        return run_of(name, harbour.of(session), ways, extra)

    return {kind: [await one(course, kind) for course in harbour.courses] for kind in kinds}


def _begun(
    course: Course, kind: Kind, steps: Sequence[Action], size: int, dice: random.Random
) -> tuple[Sequence[Action], range]:
    """The steps that a free run is begun with, and the places of those that were not needed."""
    if kind in ("nobody to ask", "a mate to ask"):
        return (), range(0)
    if kind == "begun":
        return steps[:size], range(0)
    at, detour = dice.choice([each for each in course.detours if len(each.actions) > 1])
    return (*steps[:at], *detour, *steps[at : max(at, size)]), range(at, at + len(detour))


async def measure(
    browser: OpensWindows,
    directory: Path,
    rounds: int = ROUNDS,
    seed: int = SEED,
    kinds: Sequence[Kind] = KINDS,
) -> Measured:
    """All of it in one data directory, and its log decided again in the end."""
    path = directory / "log.db"
    log = await SqliteLog.open(path)
    with Site() as shop, StreamingSite() as streaming:
        async with App.open(log) as app:
            harbour = Harbour(app, browser, shop, streaming)
            trips = harbour.trips(rounds, seed)
            learned = await record_all(harbour, trips)
            ways = {name: tuple(map(doing, actions)) for name, actions in learned.items()}
            runs = await sail_all(harbour, learned, ways, kinds, random.Random(seed))
    recorded = [(trip, harbour.of(trip.session)) for trip in trips]
    ours = [each for trip, events in recorded for each in foretold(trip, events, ways)]
    seeds = by_seeds([events for _, events in recorded], ours)
    known = [recognised(trip, events, ways) for trip, events in recorded if trip.round > 1]
    with SqliteReader(path) as reader:
        return Measured(trips, ours, seeds, known, runs, verify(reader.read()))


# -- in tables -------------------------------------------------------------------------------------


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f}" if whole else "-"


def _accuracy(told: Sequence[Foretold], most: int) -> str:
    return _percent(sum(each.right(most) for each in told), len(told))


def print_accuracy(measured: Measured) -> None:
    rows: list[list[Cell]] = []
    both = list(zip(measured.ours, measured.seeds, strict=True))
    groups = {
        f"round {number}": [pair for pair in both if pair[0].round == number]
        for number in sorted({each.round for each in measured.ours})
    }
    groups["all"] = both
    later = groups["later rounds"] = [pair for pair in both if pair[0].round > 1]
    groups["  where one step fits"] = [pair for pair in later if _is_plain(pair[0])]
    groups["  where several fit"] = [
        pair for pair in later if not pair[0].extra and not _is_plain(pair[0])
    ]
    groups["  not needed"] = [pair for pair in later if pair[0].extra]
    for name, pairs in groups.items():
        ours, seeds = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
        row: list[Cell] = [name, len(pairs)]
        rows.append([*row, *(_accuracy(of, most) for of in (ours, seeds) for most in (1, 3))])
    columns = ("steps", "", "top-1", "top-3", "markov2 top-1", "top-3")
    print_table("the next step of a recording, percent right", columns, rows)


def _is_plain(each: Foretold) -> bool:
    return not each.extra and len(each.fitting) == 1


def print_thresholds(measured: Measured) -> None:
    rows: list[list[Cell]] = []
    for name, told in (("ours", measured.ours), ("markov2", measured.seeds)):
        for threshold in THRESHOLDS:
            sure = [each for each in told if each.is_sure(threshold)]
            right = sum(each.right() for each in sure)
            astray = [each for each in sure if each.astray]
            first = sum(each.round == 1 for each in astray)
            row: list[Cell] = [f"{name} {threshold}", len(sure), _percent(len(sure), len(told))]
            row += [_percent(right, len(sure)), len(sure) - right - len(astray)]
            rows.append([*row, first, len(astray) - first])
    columns = (
        "at least",
        "said",
        "of all %",
        "right %",
        "another fits",
        "astray, round 1",
        "later",
    )
    print_table("how often it was so sure, and what it was worth", columns, rows)
    print("  another fits: it is what a workflow would have gone on with; astray: none would")


def print_recognised(measured: Measured) -> None:
    rows: list[list[Cell]] = []
    for name in dict.fromkeys(trip.course.name for trip in measured.trips):
        found = [each for each in measured.recognised if each.workflow == name]
        after = [each.after for each in found if each.after is not None]
        never, ended = len(found) - len(after), sum(each.ended for each in found)
        row: list[Cell] = [name, len(found), found[0].parted if found else 0]
        row += [f"{middle(after):.1f}", max(after, default=0), never]
        rows.append([*row, f"{ended} of {len(found)}"])
    columns = (
        "workflow",
        "sessions",
        "is no other",
        "known after",
        "worst",
        "never",
        "end noticed",
    )
    print_table("after how many of its steps a workflow is known for good", columns, rows)


def print_runs(measured: Measured) -> None:
    rows: list[list[Cell]] = []
    for kind, runs in measured.runs.items():
        for run in runs:
            row: list[Cell] = [f"{run.workflow}, {kind}", run.alone(fits=True, meant=True)]
            row += [run.alone(fits=True, meant=False), run.alone(fits=False, meant=False)]
            row += [sum(step.asked for step in run.steps), run.left, run.stopped[:SAID]]
            rows.append(row)
    columns = ("free run", "alone, right", "of another", "WRONG", "with a yes", "left", "stopped")
    print_table(f"free runs at the default threshold of {NEW.threshold / 1e6}", columns, rows)
    print("  of another: what another workflow goes on with here; nobody told it which is meant")


def print_all(measured: Measured) -> None:
    noisy = sum(bool(trip.extra) for trip in measured.trips)
    print(f"  {len(measured.trips)} recordings of five workflows, {noisy} of them with extra steps")
    print_accuracy(measured)
    print_thresholds(measured)
    print_recognised(measured)
    print_runs(measured)
    wrong, report = measured.wrong, measured.report
    print(f"\n  wrong steps done alone: {len(wrong)}; must be 0")
    for each in wrong:
        print(f"    {each}")
    said = "as recorded" if report.ok else f"DIFFERENT: {report.divergence}"
    print(f"  {report.decisions:,} decisions of {report.events:,} events, decided again: {said}")


async def _measured() -> Measured:
    with tempfile.TemporaryDirectory(prefix="rutter-bench-") as name:
        async with Chromium(Installer(print).ensure(), Gate()) as browser:
            return await measure(browser, Path(name))


def main() -> None:
    print_all(asyncio.run(_measured()))
