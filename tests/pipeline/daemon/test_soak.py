"""A daemon that works on and on keeps no more than it had: memory, handles, threads, processes.

An hour in `make soak`, or as many seconds as SOAK_S says; some rounds otherwise, which show
that the measure works.
"""

import os
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import monotonic
from typing import NamedTuple

import psutil
import pytest

from rutter.pipeline.daemon.browsers.memory import resident_mb
from tests.support import example_counts
from tests.support.command_shell import check_logs
from tests.support.daemon_on_site import configure
from tests.support.daemon_process import Afloat, Logged, until
from tests.support.recorded_site import Harbour

SECONDS = float(os.environ.get("SOAK_S", "3600" if example_counts.SOAK else "0"))
pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.soak,
    pytest.mark.timeout(SECONDS + 1_800),
]

POOL = 2
BESIDE = 3
LEAST = 3  # rounds, however little time there is
CONFIG = f"""[browser]
pool_size = {POOL}
recycle_after = 100000

[jobs]
running = {BESIDE}
per_workflow = {BESIDE}
"""
# What late may have more than early. The log grows, and with it what is learned from it: some KB a
# run, 5 MB an hour at most; the rest is room for what Python keeps of a busy moment.
SLACK_MB = 40
SLACK_BROWSERS_MB = 200
SLACK = 6


class Measure(NamedTuple):
    mb: int
    browsers_mb: int
    handles: int
    threads: int
    processes: int


@pytest.fixture
def daemon(harbour: Harbour, recorded: Path, tmp_path: Path) -> Iterator[Afloat]:
    harbour.site.reset()
    data = tmp_path / "data"
    shutil.copytree(recorded, data)
    configure(data, harbour, CONFIG)
    with Afloat(data) as afloat:
        yield afloat.start()


def measure(daemon: Afloat) -> Measure:
    """At rest: when every window is closed, and its processes are gone."""
    process = daemon.itself
    until(lambda: at_rest(daemon), "every page is gone")
    chromium = [each.pid for each in process.children(recursive=True) if "chrom" in name_of(each)]
    return Measure(
        resident_mb([process.pid]) or 0,
        resident_mb(chromium) or 0,
        process.num_fds(),
        process.num_threads(),
        len(process.children(recursive=True)),
    )


def at_rest(daemon: Afloat) -> bool:
    """Each browser keeps a page or two of its own in store."""
    pages = [each for each in daemon.itself.children(recursive=True) if is_page(each)]
    windows = daemon.ask("GET", "/statistics").json["browsers"]["windows"]
    return windows == 0 and len(pages) <= 3 * POOL


def name_of(process: psutil.Process) -> str:
    try:
        return str(process.name())
    except psutil.Error:
        return ""


def is_page(process: psutil.Process) -> bool:
    try:
        return "--type=renderer" in process.cmdline()
    except psutil.Error:
        return False


def work(daemon: Afloat, harbour: Harbour, turn: int) -> None:
    """Runs side by side, one alone, and a session that is driven by calls beside them."""
    jobs = [daemon.run(f"round {turn} run {beside}") for beside in range(BESIDE)]
    drive(daemon, harbour)
    for job in jobs:
        assert daemon.ended(job)["reason"] == "completed"
    assert daemon.ended(daemon.run(f"round {turn} alone"))["reason"] == "completed"
    assert daemon.ask("GET", "/metrics").status == 200


def drive(daemon: Afloat, harbour: Harbour) -> None:
    opened = daemon.ask("POST", "/sessions", {"url": f"{harbour.site.base_url}/login"})
    assert opened.status == 201, opened
    session = opened.json["session"]
    calls = f"/sessions/{session}/tools"
    assert daemon.ask("POST", f"{calls}/get_snapshot", {}).json["success"]
    assert daemon.ask("POST", f"{calls}/browser_click", {"ref": "@e999"}).json["error"]
    assert daemon.ask("DELETE", f"/sessions/{session}").status == 200


def found_growing(early: Measure, late: Measure) -> list[str]:
    room = Measure(SLACK_MB, SLACK_BROWSERS_MB, SLACK, SLACK, SLACK)
    return [
        name
        for name, before, after, more in zip(Measure._fields, early, late, room, strict=True)
        if after > before + more
    ]


def test_a_daemon_that_works_on_and_on_keeps_no_more_than_it_had(
    daemon: Afloat, harbour: Harbour
) -> None:
    began, measures = monotonic(), list[Measure]()
    while len(measures) < LEAST or monotonic() < began + SECONDS:
        work(daemon, harbour, len(measures))
        measures.append(measure(daemon))
        print(len(measures), measures[-1], flush=True)
        harbour.site.when = None
    # Not from the first: until then the pools of threads and of connections fill up.
    quarter = max(1, len(measures) // 4)
    early = Measure(*map(max, zip(*measures[1 : 1 + quarter], strict=True)))
    late = Measure(*map(min, zip(*measures[-quarter:], strict=True)))
    print(f"{len(measures)} rounds in {monotonic() - began:.0f} s")
    for name, each in (("first", measures[0]), ("early", early), ("late", late)):
        print(f"  {name:6} {each}")
    assert found_growing(early, late) == []
    until(lambda: not daemon.zombies(), "no zombie stays")
    assert len(harbour.site.placed) == len(measures) * (BESIDE + 1)
    assert daemon.tell() == 0
    assert daemon.left_behind(0) == []
    assert daemon.complaints() == []
    assert Logged(daemon.data).open() == []
    check_logs(daemon.data)


def test_the_control_that_leaks_is_caught(daemon: Afloat, harbour: Harbour) -> None:
    """Sessions that nobody closes: each has a window."""
    drive(daemon, harbour)
    early = measure(daemon)
    with ThreadPoolExecutor(8) as pool:
        wish = {"url": f"{harbour.site.base_url}/login"}
        opened = list(pool.map(lambda _: daemon.ask("POST", "/sessions", wish), range(8)))
    assert {each.status for each in opened} == {201}

    def late() -> Measure:
        return early._replace(processes=len(daemon.itself.children(recursive=True)))

    until(lambda: found_growing(early, late()) == ["processes"], "the windows are seen")
