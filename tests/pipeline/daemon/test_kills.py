"""Chromium and the daemon itself are killed at random moments of many runs: every one of them ends
in a true state, nothing is lost or done twice, and nothing is left running."""

import os
import shutil
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import psutil
import pytest

from tests.support import example_counts
from tests.support.command_shell import check_logs
from tests.support.daemon_on_site import configure
from tests.support.daemon_process import Afloat, Logged, until
from tests.support.recorded_site import Harbour, once
from tests.support.struck_daemon import SaysYes, Striker, find_problems

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.soak,
    pytest.mark.timeout(3_600),
]

POOL = 2
BESIDE = 2  # runs at once
CONFIG = f"""[browser]
pool_size = {POOL}
check_s = 1.0

[jobs]
running = {BESIDE}
per_workflow = {BESIDE}
"""
SEED = 9
SLACK = 12  # handles: a connection of ours that is closing, a browser that is being replaced


def count(few: int, all_of_them: int) -> int:
    return all_of_them if example_counts.SOAK else few


@pytest.fixture
def sail(harbour: Harbour, recorded: Path, tmp_path: Path) -> Iterator[Callable[..., Afloat]]:
    """A daemon on a copy of the recorded workflow; `changed` is done to it before it starts."""
    afloat: list[Afloat] = []

    def start(name: str = "data", changed: str = "") -> Afloat:
        harbour.site.reset()
        data = tmp_path / name
        shutil.copytree(recorded, data)
        configure(data, harbour, CONFIG)
        daemon = Afloat(data)
        daemon.command = (*daemon.command[:2], changed + daemon.command[2])
        afloat.append(daemon)
        return daemon.start()

    yield start
    for each in afloat:
        each.__exit__()


# -- the browser -----------------------------------------------------------------------------------


def kill_chromium(daemon: Afloat, rng: Random) -> str:
    """One browser, with all its pages; or the process of one page."""
    browsers = daemon.browsers()
    if not browsers:
        return "nothing"
    browser = rng.choice(sorted(browsers, key=lambda each: each.pid))
    pages = [] if rng.random() < 0.7 else renderers(browser)
    victim = rng.choice(pages) if pages else browser
    try:
        victim.kill()
    except psutil.NoSuchProcess:
        return "nothing"
    return "a page" if pages else "a browser"


def renderers(browser: psutil.Process) -> list[psutil.Process]:
    found = []
    for each in browser.children(recursive=True):
        try:
            if "--type=renderer" in each.cmdline():
                found.append(each)
        except psutil.Error:
            continue
    return found


def runs_under_fire(
    daemon: Afloat, harbour: Harbour, rng: Random, lots: range
) -> tuple[dict[str, str], Counter[str]]:
    """Runs, some at once, with a Chromium killed in each lot of them."""
    jobs: dict[str, str] = {}
    seen: Counter[str] = Counter()
    for lot in lots:
        striker = Striker(
            harbour.site, rng, lambda: seen.update([f"killed: {kill_chromium(daemon, rng)}"])
        )
        names = [f"lot {lot} run {turn}" for turn in range(BESIDE)]
        lot_of = {daemon.run(name): name for name in names}
        jobs |= lot_of
        for job in lot_of:
            ended = daemon.ended(job)
            seen[f"ended: {ended['reason']} {ended.get('failure', '')}".rstrip()] += 1
        striker.now_at_the_latest()
    return jobs, seen


def test_chromium_is_killed_and_every_run_ends_in_a_true_state(
    sail: Callable[..., Afloat], harbour: Harbour
) -> None:
    daemon, rng = sail(), Random(SEED)
    lots = count(2, 25)
    with SaysYes(daemon) as person:
        first, seen = runs_under_fire(daemon, harbour, rng, range(1))
        until(lambda: len(daemon.browsers()) == POOL, "all browsers are back")
        handles = daemon.itself.num_fds()
        jobs, more = runs_under_fire(daemon, harbour, rng, range(1, lots))
    jobs |= first
    until(lambda: len(daemon.browsers()) == POOL, "all browsers are back")
    until(lambda: daemon.itself.num_fds() <= handles + SLACK, "no handles are left open")
    print(f"{lots} kills in {len(jobs)} runs, a person was asked {person.answered} times:")
    for what, times in sorted((seen + more).items()):
        print(f"  {times:4}  {what}")
    print(f"  handles: {handles} after the first, {daemon.itself.num_fds()} after the last")
    assert find_problems(daemon.data, harbour.site.placed_as, jobs) == []
    until(lambda: not daemon.zombies(), "no zombie stays")  # Chromium has some for a moment
    assert daemon.ended(daemon.run("afterwards"))["reason"] == "completed"
    assert daemon.tell() == 0
    assert daemon.left_behind(0) == []
    assert not list(daemon.temporary.glob("playwright_*")), "profiles of dead browsers"
    check_logs(daemon.data)


def test_the_control_that_looks_after_no_browser_is_caught(sail: Callable[..., Afloat]) -> None:
    """The same kills, and a fleet that never finds out."""
    blind = (
        "import asyncio; from rutter.pipeline.daemon.browsers.fleet import Fleet; "
        "Fleet._attend = lambda *_: asyncio.Event().wait(); "
        "Fleet._sound = lambda *_: asyncio.sleep(0, True); "
        "Fleet._look_at_wear = lambda *_: None; "
        "from rutter.pipeline.daemon.browsers.supervised import SupervisedBrowser as Kept; "
        "Kept.takes = property(lambda kept: kept.state == 'ready'); "
    )
    daemon = sail(changed=blind)
    until(lambda: len(daemon.browsers()) == POOL, "all are up")
    for browser in daemon.browsers():
        browser.kill()
    daemon.ended(daemon.run("control"))
    assert daemon.ended(daemon.run("afterwards"))["reason"] != "completed"
    assert daemon.browsers() == []


# -- the daemon ------------------------------------------------------------------------------------


def test_the_daemon_is_killed_and_the_next_one_makes_it_good(
    sail: Callable[..., Afloat], harbour: Harbour
) -> None:
    daemon, rng = sail(), Random(SEED + 1)
    kills = count(2, 20)
    jobs: dict[str, str] = {}
    seen: Counter[str] = Counter()
    with SaysYes(daemon) as person:
        for kill in range(kills):
            lot = {daemon.run(name): name for name in lot_of(kill)}
            jobs |= lot
            striker = Striker(harbour.site, rng, daemon.process.kill)
            if not striker.struck.wait(rng.uniform(5, 60)):
                striker.now_at_the_latest()
            daemon.kill()
            assert daemon.left_behind() == []
            before = Logged(daemon.data)
            harbour.site.when = None
            daemon.start()
            for job in lot:
                daemon.ended(job)
            assert find_problems(daemon.data, harbour.site.placed_as, jobs) == []
            seen += what_became(before, Logged(daemon.data), lot)
            until(lambda: len(daemon.browsers()) == POOL, "all browsers are up")
    print(f"{kills} kills, {len(jobs)} jobs, a person was asked {person.answered} times:")
    for what, times in sorted(seen.items()):
        print(f"  {times:4}  {what}")
    until(lambda: not daemon.zombies(), "no zombie stays")
    print(f"  {len(list(daemon.temporary.glob('*')))} folders of {POOL} browsers")
    assert daemon.tell() == 0
    assert daemon.left_behind(0) == []
    check_logs(daemon.data)


def lot_of(kill: int) -> list[str]:
    """One more than run at once."""
    return [f"kill {kill} run {turn}" for turn in range(BESIDE + 1)]


def what_became(before: Logged, after: Logged, lot: dict[str, str]) -> Counter[str]:
    """What ran when it died was interrupted and is not run again; what waited was run once."""
    seen: Counter[str] = Counter()
    for job in lot:
        _, started, ended = before.jobs()[job]
        _, begun, [end] = after.jobs()[job]
        if ended:
            seen["had ended"] += 1
        elif started:
            assert begun == started, "what was running was begun again"
            # One whose session had ended, and who could not say so any more, says it now.
            sessions = before.ends()
            known = sessions.get(started[0].session)
            assert end.reason == (known.reason if known is not None else "interrupted"), end
            seen[f"was running: {end.reason}"] += 1
        else:
            assert len(begun) == 1
            assert end.reason == "completed", end
            seen["was waiting: run by the next"] += 1
    return seen


@pytest.mark.parametrize(
    ("changed", "noticed"),
    [
        (
            "import asyncio; from rutter.pipeline import app; "
            "app.close_interrupted = lambda *_: asyncio.sleep(0, []); ",
            "has no end",
        ),
        (
            "import asyncio; from rutter.pipeline.daemon import daemon; "
            "daemon.ends_of_the_interrupted = lambda *_: asyncio.sleep(0, []); ",
            "ended 0 times",
        ),
    ],
    ids=["sessions", "jobs"],
)
def test_the_control_that_makes_nothing_good_is_caught(
    sail: Callable[..., Afloat], harbour: Harbour, changed: str, noticed: str
) -> None:
    """The same kill, and a next daemon that skips what it finds."""
    daemon = sail(changed=changed)
    harbour.site.when = once("/drafts/", daemon.process.kill, "POST")
    job = daemon.run("control")
    daemon.gone()
    assert daemon.left_behind() == []
    daemon.start()
    problems = find_problems(daemon.data, harbour.site.placed_as, {job: "control"})
    assert any(noticed in each for each in problems), problems


@pytest.mark.extended
def test_the_control_that_leaves_its_browser_running_is_caught(
    sail: Callable[..., Afloat],
) -> None:
    """A driver that is stopped does not hear that its daemon is gone: that must be seen."""
    daemon = sail()
    until(lambda: len(daemon.browsers()) == POOL, "all are up")
    [driver, *_] = [each for each in daemon.family() if "node" in each.name()]
    os.kill(driver.pid, signal.SIGSTOP)
    daemon.kill()
    assert daemon.left_behind(2) != []
    os.kill(driver.pid, signal.SIGCONT)
    assert daemon.left_behind() == []


def test_a_run_beside_one_that_is_about_to_order_is_not_asked_about_it(
    sail: Callable[..., Afloat], harbour: Harbour
) -> None:
    """What runs has left nothing open: it is about to say what it did."""
    daemon = sail()
    second: list[str] = []

    def begin_another() -> None:
        second.append(daemon.run("second"))
        until(lambda: len(Logged(daemon.data).sessions()) == 3, "both run")  # one was recorded

    harbour.site.when = once("/drafts/", begin_another, "POST")
    first = daemon.run("first")
    assert daemon.ended(first)["reason"] == "completed"
    [job] = until(lambda: second, "the other was taken on")
    assert daemon.ended(job)["reason"] == "completed"
    assert sorted(order.note for order in harbour.site.placed) == ["first", "second"]
    assert daemon.tell() == 0
    check_logs(daemon.data)
