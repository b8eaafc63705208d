"""One run for each row of a file, on the bundled site: what counts is what the site has stored.

The rest of what is said of rows is shown without a browser, in `tests/pipeline/batches/`.
"""

import csv
import os
import shutil
import signal
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import psutil
import pytest

from rutter.pipeline.cli.demo import ALONE
from rutter.pipeline.demo_sites.request import SiteRequest
from tests.support.command_shell import Ended, Rutter, check_logs, places_of
from tests.support.recorded_site import PASSWORD, Harbour, Ship

pytestmark = pytest.mark.browser

CUSTOMERS = ("Aurora Shipping", "Juniper Tankers")
NOBODY = "Nobody & Sons"


@pytest.fixture(scope="module")
def recorded(harbour: Harbour, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The order, which also reads the list of orders that it ends with."""
    rutter = Rutter(tmp_path_factory.mktemp("recorded") / "data")
    ended = rutter(*harbour.record(), "--answers", harbour.yes)
    assert ended.code == 0, ended
    ended = rutter("workflows", "edit", "order", "--extract", "19=orders main table")
    assert ended.code == 0, ended
    return rutter.data


class Rows:
    """A file of rows beside a ship; each row is known by its note."""

    def __init__(self, ship: Ship, folder: Path) -> None:
        self.ship = ship
        self.file = folder / "orders.csv"

    def write(self, count: int, bad: Sequence[int] = ()) -> None:
        with self.file.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, [*ALONE, "reference"])
            writer.writeheader()
            for at in range(1, count + 1):
                customer = NOBODY if at in bad else CUSTOMERS[at % len(CUSTOMERS)]
                writer.writerow(
                    {**ALONE, "customer": customer, "note": f"row {at}", "reference": f"R-{at}"}
                )

    @property
    def arguments(self) -> tuple[str, ...]:
        return ("run", "order", "--rows", str(self.file), *self.ship.harbour.secret)

    def run(self, *more: str) -> Ended:
        return self.ship.rutter(*self.arguments, *more)

    def table(self) -> list[dict[str, str]]:
        with self.file.with_name("orders.results.csv").open(newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def placed(self) -> Counter[str]:
        """How often each row was ordered."""
        return Counter(order.note for order in self.ship.site.placed)

    def killed(self, when: Callable[[int], bool]) -> None:
        """The command in a process of its own, killed with an order on its way."""
        process = self.ship.rutter.spawn(*self.arguments)
        posts = 0

        def kill(request: SiteRequest) -> None:
            nonlocal posts
            if request.method == "POST" and request.path.startswith("/drafts/"):
                posts += 1
                if when(posts):
                    _kill(process)

        with process:
            self.ship.site.when = kill
            process.communicate()
        self.ship.site.when = None
        assert process.returncode == -signal.SIGKILL


def _kill(process: "subprocess.Popen[str]") -> None:
    """The command, and what it leaves behind."""
    family = psutil.Process(process.pid).children(recursive=True)
    os.kill(process.pid, signal.SIGKILL)
    for orphan in psutil.wait_procs(family, timeout=10)[1]:
        orphan.kill()


@pytest.fixture
def rows(harbour: Harbour, recorded: Path, tmp_path: Path) -> Iterator[Rows]:
    ship = Ship.launch(harbour, recorded, tmp_path / "data")
    yield Rows(ship, tmp_path)
    check_logs(ship.rutter.data)
    assert places_of(PASSWORD, ship.rutter.data) == []


def test_rows_are_ordered_and_what_each_read_is_handed_out(rows: Rows, tmp_path: Path) -> None:
    rows.write(2, bad=(2,))
    ended = rows.run()
    assert ended.code == 3, ended
    assert rows.placed() == {"row 1": 1}
    [order] = rows.ship.site.placed
    first, second = rows.table()
    assert (first["outcome"], first["order_number"]) == ("done", str(order.number)), first
    assert (second["outcome"], second["reference"], second["session"] != "") == (
        "failed",
        "R-2",
        True,
    )
    assert second["reason"].startswith("lost: ")
    assert "at step 8 (click" in second["reason"]

    out = tmp_path / "out"
    rutter = rows.ship.rutter
    assert rutter("results", first["session"], "--out", out).code == 0
    read = [*csv.DictReader((out / "orders.csv").read_text().splitlines())]
    assert str(order.number) in read[0].values()
    assert order.customer in read[0].values()
    assert set(read[0]) == set(
        rutter.json("results", first["session"])["tables"]["orders"]["columns"]
    )


@pytest.mark.timeout(3_600)
def test_fifty_rows_of_which_three_are_bad_come_to_fifty_orders(rows: Rows) -> None:
    """47 results, 3 reasons; the same command again runs only the three."""
    bad = (7, 23, 41)
    rows.write(50, bad)
    ended = rows.run()
    assert ended.code == 3, ended
    assert rows.placed() == {f"row {at}": 1 for at in range(1, 51) if at not in bad}
    outcomes = Counter(row["outcome"] for row in rows.table())
    assert outcomes == {"done": 47, "failed": 3}
    assert sum(bool(row["reason"]) for row in rows.table()) == 3
    assert sum(bool(row["order_number"]) for row in rows.table()) == 47

    before = len(rows.ship.site.requests)
    again = rows.run()
    assert again.out.count("[FAIL] row") == 3
    assert "47 done before, 3 to run" in again.err
    signed_in = [each for each in rows.ship.site.requests[before:] if each == ("POST", "/login")]
    assert len(signed_in) == 3
    assert sum(rows.placed().values()) == 47

    rows.write(50)
    mended = rows.run()
    assert mended.code == 0, mended
    assert rows.placed() == {f"row {at}": 1 for at in range(1, 51)}


@pytest.mark.timeout(3_600)
def test_killed_in_the_middle_of_fifty_rows_no_row_is_done_twice(rows: Rows) -> None:
    """Twice, each time with an order on its way."""
    rows.write(50)
    rows.killed(lambda posts: posts == 12)
    rows.killed(lambda posts: posts == 15)
    ended = rows.run()
    assert ended.code == 7, ended
    assert max(rows.placed().values()) == 1
    told = {f"row {at}": row["outcome"] for at, row in enumerate(rows.table(), 1)}
    assert Counter(told.values()) == {"done": 48, "unknown": 2}
    assert {name for name, outcome in told.items() if outcome == "done"} <= set(rows.placed())
    assert ended.out.count("run order --from run-") == 2


@pytest.mark.timeout(3_600)
def test_the_control_that_begins_anew_after_the_kill_orders_twice(rows: Rows) -> None:
    rows.write(3)
    rows.killed(lambda posts: posts == 2)
    assert rows.run("--afresh").code == 0
    assert max(rows.placed().values()) == 2


def test_one_run_puts_its_results_into_a_folder(rows: Rows, tmp_path: Path) -> None:
    out = tmp_path / "out"
    ended = rows.ship.run("--results", out, "--json")
    assert ended.code == 0, ended
    assert sorted(each.name for each in out.iterdir()) == [
        "orders.csv",
        "results.csv",
        "results.json",
    ]
    assert ended.json["results"]["order_number"] in (out / "results.csv").read_text()
    assert ended.json["tables"]["orders"]["rows"]
    shutil.rmtree(out)
