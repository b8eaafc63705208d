"""The daemon is killed at seeded moments while orders come over HTTP, by MCP and from a schedule:
each is posted once at most, none is lost, and each end is true.

One order of each kind in every round, known by its customer at a server that counts. The clock of
the schedules runs quicker than ours: a minute of it is two seconds.
"""

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, Literal

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.crash.counting import CLICK, CountingShop, When, record_order
from tests.support.command_shell import check_logs
from tests.support.daemon_process import Afloat, Logged, until
from tests.support.struck_daemon import SaysYes, find_lies, find_problems, irreversible

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.soak, pytest.mark.timeout(7_200)]

SEED = 24
RUN = {"kind": "workflow", "workflow": "order"}
QUICK = 30  # times as fast is the clock of the schedules
CONFIG = '[policy]\nallowed_domains = ["{host}"]\n[jobs]\nrunning = 3\nper_workflow = 3\n'
LONGEST_S = 4.0  # so long all three take, on a machine that has more to do


def quick_ns(since_ns: int) -> int:
    return since_ns + (time.time_ns() - since_ns) * QUICK


def quickly(since_ns: int) -> str:
    """What the daemon is told before it starts, so that its schedules have such a clock."""
    return (
        "import time, anyio; from rutter.pipeline.clock import Clock; "
        "from rutter.pipeline.daemon.jobs.schedules import Schedules; "
        f"now = lambda it: {since_ns} + (time.time_ns() - {since_ns}) * {QUICK}; "
        f"rest = lambda it, ms: anyio.sleep(ms / 1000 / {QUICK}); "
        "Quick = type('Quick', (Clock,), {'now_ns': now, 'sleep_ms': rest}); "
        "init = Schedules.__init__; "
        "Schedules.__init__ = lambda it, say, jobs, _, rows: init(it, say, jobs, Quick(), rows); "
    )


class Round:
    """Three orders at once; `jobs` and `sessions` are known by their customer."""

    def __init__(self, daemon: Afloat, shop: CountingShop, number: int, since_ns: int) -> None:
        self._daemon = daemon
        self._shop = shop
        self._number = number
        self._since_ns = since_ns
        self.jobs: dict[str, str] = {}
        self.session = ""
        self.trouble: Exception | None = None
        self._agent = threading.Thread(target=anyio.run, args=(self._by_mcp,))

    def customer(self, kind: str) -> str:
        return f"{kind}-{self._number:03}"

    @property
    def schedule(self) -> str:
        return self.customer("tick")

    def begin(self) -> None:
        self._set_schedule()
        taken = self._daemon.ask("POST", "/jobs", self._wish("http"))
        assert taken.status == 202, taken
        self.jobs[taken.json["job_id"]] = self.customer("http")
        self._agent.start()

    def _wish(self, kind: str) -> dict[str, object]:
        values = {"customer": self.customer(kind)}
        return {**RUN, "values": values}

    def _set_schedule(self) -> None:
        """Due once: a minute of its clock from now."""
        due = datetime.fromtimestamp(quick_ns(self._since_ns) // 10**9 + 60, UTC)
        cron = f"{due.minute} {due.hour} {due.day} {due.month} *"
        wish = {"cron": cron, "run": self._wish("tick"), "overlap": "allow", "missed": "once"}
        made = self._daemon.ask("PUT", f"/schedules/{self.schedule}", wish)
        assert made.status == 200, made

    async def _by_mcp(self) -> None:
        token = (self._daemon.data / "agent.token").read_text().strip()
        headers = {"Authorization": f"Bearer {token}"}
        try:
            async with (
                httpx2.AsyncClient(headers=headers, timeout=60, trust_env=False) as http,
                Client(
                    streamable_http_client(f"{self._daemon.url}/mcp", http_client=http),
                    mode="legacy",
                ) as client,
            ):
                await self._order(client)
        except Exception as error:  # noqa: BLE001 - the daemon is killed under it, wherever it is
            self.trouble = error

    async def _order(self, client: Client) -> None:
        opened = await self._called(client, "open_session", url=f"{self._shop.url}/new")
        self.session = opened["session"]
        refs = {each["name"]: each["ref"] for each in opened["snapshot"]["elements"]}
        typed = {"ref": refs["Customer"], "value": self.customer("mcp")}
        after = await self._called(client, "browser_fill", **typed)
        refs = {each["name"]: each["ref"] for each in after["snapshot"]["elements"]}
        await self._called(client, "browser_click", ref=refs["Place order"])
        await self._called(client, "close_session")

    async def _called(self, client: Client, tool: str, **arguments: str) -> dict[str, Any]:
        answer = await client.call_tool(tool, arguments)
        found: dict[str, Any] = answer.structured_content or {}
        return found

    def over(self) -> None:
        """When its daemon is dead, nobody waits for an answer any more."""
        self._agent.join()

    def ended(self) -> None:
        """By the next daemon, every job that the dead one had taken on, and the tick that came."""

        def ticked() -> dict[str, str]:
            queued = Logged(self._daemon.data).jobs()
            key = f"{self.schedule}@"
            return {
                job: self.customer("tick")
                for job, (each, _, _) in queued.items()
                if each.key.startswith(key)
            }

        self.jobs |= until(ticked, f"{self.schedule} is due")
        for job in self.jobs:
            self._daemon.ended(job)
        assert self._daemon.ask("DELETE", f"/schedules/{self.schedule}").status == 200


def strike(daemon: Afloat, shop: CountingShop, rng: Random) -> str:
    """At a random moment, or a little after one of the posts came in or was counted."""
    kind: When | Literal["any"] = rng.choice(("any", "asked", "counted"))
    struck = threading.Event()
    after_s = rng.uniform(0, LONGEST_S if kind == "any" else 0.05)

    def now() -> None:
        daemon.process.kill()
        struck.set()

    if kind == "any":
        threading.Timer(after_s, now).start()
    else:
        _at_post(shop, kind, rng.randrange(3), threading.Timer(after_s, now).start)
    if not struck.wait(LONGEST_S * 3):
        now()
    shop.on_post("asked", None)
    return kind


def _at_post(shop: CountingShop, when: When, left: int, do: Callable[[], None]) -> None:
    """At the one that comes behind so many."""
    shop.on_post(when, partial(_at_post, shop, when, left - 1, do) if left else do)


@pytest.fixture
def shop() -> Iterator[CountingShop]:
    with CountingShop() as shop:
        yield shop


@pytest.fixture
def data(shop: CountingShop, tmp_path: Path) -> Path:
    """With the order recorded."""
    data = tmp_path / "data"
    record_order(shop, data, tmp_path)
    (data / "config.toml").write_text(CONFIG.format(host=shop.host))
    return data


def afloat(data: Path, changed: str) -> Afloat:
    daemon = Afloat(data)
    daemon.command = (*daemon.command[:2], changed + daemon.command[2])
    return daemon


def lies_of(data: Path, session: str, posts: int) -> list[str]:
    """What is wrong with a session that an agent led."""
    events = Logged(data).session(session)
    return [f"{session} {each}" for each in find_lies(events, irreversible(events), posts)]


def test_killed_at_any_moment_it_posts_nothing_twice_and_loses_nothing(
    shop: CountingShop, data: Path, count: Callable[[int, int], int]
) -> None:
    rng, since_ns, seen = Random(SEED), time.time_ns(), Counter[str]()
    kills = count(1, 100)
    with afloat(data, quickly(since_ns)).start() as daemon, SaysYes(daemon) as person:
        for number in range(kills):
            this = Round(daemon, shop, number, since_ns)
            this.begin()
            seen[f"struck: {strike(daemon, shop, rng)}"] += 1
            daemon.kill()
            this.over()
            assert daemon.left_behind() == []
            before = {kind: shop.posts(this.customer(kind)) for kind in ("http", "mcp", "tick")}
            daemon.start()
            this.ended()
            assert find_problems(data, shop.posts, this.jobs, CLICK) == [], number
            posts = shop.posts(this.customer("mcp"))
            assert posts == before["mcp"] <= 1
            if this.session:
                assert lies_of(data, this.session, posts) == [], number
            for kind, had in before.items():
                after = shop.posts(this.customer(kind))
                seen[f"{kind}: {had} posts when it was killed, {after} at the end"] += 1
        assert daemon.tell() == 0
    print(f"{kills} kills, a person was asked {person.answered} times:")
    for what, times in sorted(seen.items()):
        print(f"  {times:4}  {what}")
    check_logs(data)


# A next daemon that takes what was running for what waits, and runs it again.
FORGETS = (
    "from rutter.pipeline.daemon.jobs.jobs import Jobs; hear = Jobs.hear; "
    "Jobs.hear = lambda it, told: "
    "None if type(told.event).__name__ == 'JobStarted' else hear(it, told); "
)


@pytest.mark.extended
def test_the_control_that_runs_again_what_was_running_posts_twice(
    shop: CountingShop, data: Path
) -> None:
    with afloat(data, FORGETS).start() as daemon, SaysYes(daemon):
        shop.on_post("counted", daemon.process.kill)
        values = {"customer": "Control"}
        taken = daemon.ask("POST", "/jobs", {**RUN, "values": values})
        daemon.gone()
        assert daemon.left_behind() == []
        daemon.start()
        job = taken.json["job_id"]
        daemon.ended(job)
        problems = find_problems(data, shop.posts, {job: "Control"}, CLICK)
    assert any("ordered 2 times" in each or "begun 2 times" in each for each in problems), problems
    assert shop.posts("Control") == 2
