"""The models bench says what language models cost and how often they are right. One finds a
workflow once, its runs cost nothing, and a change of the site costs what it breaks."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.tables import print_table
from rutter.actors.world.browser.chromium import Chromium
from rutter.actors.world.egress.gate import Gate
from rutter.pipeline.config.chromium_install import Installer
from tests.support.model_scores import (
    FIRST_TRY,
    KNOWN,
    PUT_RIGHT,
    Accuracy,
    Run,
    accurate,
    total,
    twice,
)


def _dollars(microdollars: int) -> str:
    return f"${microdollars / 1_000_000:.4f}"


def print_runs(runs: Sequence[Run]) -> None:
    columns = ("run", "end", "person asked", "model calls", "money", "learned")
    rows = [
        (
            each.what,
            f"{each.voyage.ended.reason}, {each.cancelled} cancelled",
            len(each.voyage.asked),
            each.voyage.calls,
            _dollars(each.voyage.cost),
            f"v{each.version}" if each.version else "",
        )
        for each in runs
    ]
    print_table("The same goal, again and again", columns, rows)


def print_accuracy(title: str, rows: Sequence[Accuracy]) -> None:
    columns = ("site", "ended so", "first try", "put right", "states", "calls", "money")
    table = [
        (
            each.variant,
            "yes" if each.ended else "NO",
            str(each.found),
            str(each.corrected),
            str(each.states),
            each.calls,
            _dollars(each.cost),
        )
        for each in rows
    ]
    print_table(title, columns, table)


async def measure_all() -> None:
    async with Chromium(Installer(print).ensure(), Gate()) as browser:
        with TemporaryDirectory() as root:
            print_runs(await twice(browser, Path(root)))
            plain, deceived = await accurate(browser, Path(root))
    print_accuracy("A model on altered sites: it leads, or mends what was learned", plain)
    print_accuracy("The same, where it takes a look-alike first", deceived)
    found, corrected, states = total([*plain, *deceived])
    rows = [
        ("element found at the first try", str(found), found.percent, FIRST_TRY),
        ("put right within three tries", str(corrected), corrected.percent, PUT_RIGHT),
        ("states of pages", str(states), states.percent, KNOWN),
    ]
    print_table("Shares", ("", "", "percent", "at least"), rows)


def main() -> None:
    asyncio.run(measure_all())
