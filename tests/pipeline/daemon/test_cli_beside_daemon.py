"""The command line beside a daemon: what acts goes through it, what reads reads beside it."""

import csv
from collections.abc import AsyncIterator
from pathlib import Path
from signal import SIGKILL

import anyio
import anyio.to_thread
import pytest

from rutter.pipeline.cli.demo import ALONE
from tests.support.command_shell import Ended, Rutter
from tests.support.daemon_on_site import Anchored, anchored
from tests.support.recorded_site import AtTerminal, Harbour, is_wanted, once

pytestmark = [pytest.mark.browser, pytest.mark.anyio]
SETS = [part for key, value in ALONE.items() for part in ("--set", f"{key}={value}")]


@pytest.fixture
async def ship(harbour: Harbour, recorded: Path, tmp_path: Path) -> AsyncIterator[Anchored]:
    async with anchored(harbour, tmp_path / "data", recorded=recorded) as served:
        yield served


async def rutter(ship: Anchored, *words: str) -> Ended:
    return await anyio.to_thread.run_sync(lambda: Rutter(ship.data)(*words))


async def test_a_run_is_handed_in_watched_and_told_as_any_other(ship: Anchored) -> None:
    ended = await rutter(ship, "run", "order", *SETS)

    assert (ended.code, ended.err) == (0, ""), ended
    assert ended.out.startswith("[OK] order: done, 19 steps, ")
    [order] = ship.site.placed
    assert is_wanted(order)
    [job] = (await ship.ask("GET", "/jobs")).json
    assert (job["by"], job["reason"]) == ("person", "completed")
    beside = await rutter(ship, "--json", "sessions")
    assert beside.json[0]["session"] == job["session"]
    replayed = await rutter(ship, "replay", job["session"])
    assert replayed.code == 0


async def test_what_cannot_be_said_to_a_daemon_is_refused_and_nothing_runs(ship: Anchored) -> None:
    for flags in (("--headed",), ("--allow", "x.example"), ("--secret", "password=env:X")):
        if flags == ("--headed",):
            continue  # it wants a screen first, which is not what this is about
        ended = await rutter(ship, "run", "order", *SETS, *flags)
        assert ended.code == 2
        assert f"{flags[0]} cannot be said to a daemon" in ended.err
    unbound = await rutter(ship, "run", "order")
    assert (unbound.code, "needs customer" in unbound.err) == (2, True)
    assert (await ship.ask("GET", "/jobs")).json == []


async def test_what_is_known_is_changed_through_it_and_counts_at_once(ship: Anchored) -> None:
    renamed = await rutter(ship, "workflows", "rename", "order", "buy")
    assert renamed.code == 0, renamed
    assert [each["name"] for each in (await ship.ask("GET", "/workflows")).json] == ["buy"]
    edited = await rutter(ship, "workflows", "edit", "buy", "--optional", "3")
    assert edited.code == 0, edited
    assert (await ship.ask("GET", "/workflows/buy")).json["version"] == 2
    [session] = (await ship.ask("GET", "/sessions")).json
    forgotten = await rutter(ship, "forget", session["session"])
    assert forgotten.code == 0, forgotten
    assert (await ship.ask("GET", "/transitions/top")).json == []


async def test_a_session_is_stopped_by_its_name(ship: Anchored) -> None:
    opened = await ship.ask("POST", "/sessions", {"url": f"{ship.site.base_url}/login"})
    session = opened.json["session"]
    stopped = await rutter(ship, "stop", session)
    assert stopped.code == 0, stopped
    assert stopped.out.startswith(f"[OK] {session}: cancelled")
    again = await rutter(ship, "stop", session)
    assert (again.code, "is running" in again.err) == (2, True)


async def test_without_a_daemon_it_says_how_to_start_one(tmp_path: Path) -> None:
    ended = await anyio.to_thread.run_sync(lambda: Rutter(tmp_path)("approvals"))
    assert ended.code == 2
    assert "no daemon runs" in ended.complaint
    assert "serve" in ended.complaint


async def test_a_question_is_answered_at_the_terminal_of_whoever_handed_it_in(
    harbour: Harbour, recorded: Path, tmp_path: Path
) -> None:
    asks = '[[policy.rules]]\nname = "by hand"\neffect = "ask"\nactions = ["navigate"]\n'
    async with anchored(harbour, tmp_path / "data", recorded=recorded, more=asks) as ship:

        def at_terminal() -> tuple[int, str]:
            with AtTerminal(Rutter(ship.data), "run", "order", *SETS) as terminal:
                terminal.read_until("[yes / no, or why not]")
                terminal.type("not on a Sunday\r")
                return terminal.end()

        code, out = await anyio.to_thread.run_sync(at_terminal)
        assert code == 4, out
        assert "not on a Sunday" in out
        assert ship.site.placed == ()


async def test_rows_are_jobs_and_none_is_done_twice_whoever_is_killed(
    ship: Anchored, tmp_path: Path
) -> None:
    """The command dies with an order on its way; the daemon does not, and the row is its job."""
    file = tmp_path / "orders.csv"
    rows = [{**ALONE, "note": f"row {at}"} for at in (1, 2)]
    with file.open("w", newline="") as written:
        writer = csv.DictWriter(written, [*ALONE])
        writer.writeheader()
        writer.writerows(rows)
    words = ("run", "order", "--rows", str(file))
    process = Rutter(ship.data).spawn(*words)
    ship.site.when = once("/drafts/", process.kill, "POST")
    with process:
        await anyio.to_thread.run_sync(process.communicate)
    assert process.returncode == -SIGKILL

    with Rutter(ship.data).spawn(*words) as again:
        out, err = await anyio.to_thread.run_sync(again.communicate)
    assert again.returncode == 0, (out, err)
    assert sorted(order.note for order in ship.site.placed) == ["row 1", "row 2"]
    jobs = (await ship.ask("GET", "/jobs")).json
    assert [each["reason"] for each in jobs] == ["completed"] * 2
    told = (await ship.ask("GET", f"/jobs/{jobs[0]['job_id']}")).json
    assert told["results"]["values"] == {"order_number": str(ship.site.placed[-1].number)}
    forged = {"kind": "workflow", "workflow": "order", "values": ALONE, "row": told["run"]["row"]}
    refused = await ship.ask("POST", "/jobs", forged, scope="agent")
    assert refused.status == 403
