"""One crossing of the hostile site: every channel tried in a real browser, and what came of it."""

import contextlib
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import anyio
from playwright.async_api import BrowserContext, Page
from playwright.async_api import Error as PlaywrightError

from rutter.actors.rules.policy.hosts import plain_host
from rutter.actors.world.browser.chromium import Chromium
from rutter.actors.world.egress.gate import Gate, NoGate, Passage
from rutter.events.policy import Policy
from tests.hostile.canaries import Address, Canaries
from tests.hostile.channels import CHANNELS, Channel
from tests.hostile.netlog import read_net_log
from tests.hostile.rebinding_proxy import Plan
from tests.hostile.site import Site
from tests.support.tls_authority import Authority

PUBLIC = "93.184.215.14"  # stands for the site: nothing leaves this machine
HOMES = ("google.com", "googleapis.com", "gstatic.com")  # what a browser asks by itself
STEP_S = 8.0  # for one channel to show itself; those that never do wait as long
END_S = 20.0


class Outcome(NamedTuple):
    """`hits`: channels whose canary heard something; `blocked`: those that the proxy refused;
    `lookups`: those whose address the browser's own resolver was to find, and `jobs` the names for
    which that asked somebody; `done`: those that said that
    they have nothing more to try."""

    hits: set[str]
    blocked: set[str]
    lookups: set[str]
    jobs: set[str]
    done: set[str]
    said: list[str]


class Crossing:
    def __init__(
        self,
        site: Site,
        shows: Callable[[], set[str]],
        channels: Sequence[Channel] = CHANNELS,
    ) -> None:
        self._site = site
        self._shows = shows
        self._channels = channels

    async def together(self, context: BrowserContext, awaited: Collection[str]) -> None:
        """The channels that need no page of their own. `awaited` are those known to show
        themselves."""
        for address, names in self._site.pages:
            page = await context.new_page()
            await page.goto(address, wait_until="domcontentloaded")
            await self.shown(names & set(awaited), STEP_S)
        await self._apart(context.pages[0])

    async def alone(self, context: BrowserContext, awaited: Collection[str]) -> None:
        """The others, one after the other in the same page."""
        for channel in self._channels:
            if channel.own is not None:
                await self._alone(context.pages[0], channel)
                await self.shown({channel.name} & set(awaited), STEP_S)

    async def _apart(self, page: Page) -> None:
        await page.goto(self._site.url + "/away")
        session = await page.context.new_cdp_session(page)
        frame = (await session.send("Page.getFrameTree"))["frameTree"]["frame"]["id"]
        world = await session.send("Page.createIsolatedWorld", {"frameId": frame})
        for script in self._site.apart:
            where = {"contextId": world["executionContextId"], "expression": script}
            await session.send("Runtime.evaluate", where)

    async def _alone(self, page: Page, channel: Channel) -> None:
        path = f"/c/{channel.name}"
        while path not in self._site.asked:  # the channel before may still be on its way
            with contextlib.suppress(PlaywrightError):  # it may lead to where nobody gets
                await page.goto(self._site.url + path, wait_until="commit")
        if channel.clicks:
            with contextlib.suppress(PlaywrightError):
                await page.click("#go", no_wait_after=True, timeout=STEP_S * 1000)

    async def shown(self, channels: Collection[str], seconds: float) -> None:
        with anyio.move_on_after(seconds):
            while not set(channels) <= self._shows():
                await anyio.sleep(0.02)


async def cross(
    executable: Path,
    folder: Path,
    *,
    guarded: bool,
    awaited: Collection[str],
    trusted: Authority | None = None,
) -> Outcome:
    """The whole site, with the proxy or without, and by TLS where an authority is trusted."""
    with (
        Canaries((channel.name, channel.listen) for channel in CHANNELS) as canaries,
        Site(CHANNELS, canaries.addresses, trusted) as site,
    ):
        plan = plan_for(folder, site, canaries.addresses)
        blocked: set[str] = set()
        known = _by_address(canaries)
        started = _executable(executable, folder, None if guarded else canaries, trusted)
        async with Chromium(started, Gate(plan.command()) if guarded else NoGate()) as browser:
            policy = Policy("1", hosts=(site.host,))
            windows = [await browser.open_window(policy) for _ in range(2)]

            def shows() -> set[str]:
                for window in windows:
                    blocked.update(known[at] for at in _taken(window.passage) if at in known)
                return (blocked if guarded else canaries.channels()) | site.done

            crossing = Crossing(site, shows)
            await crossing.together(windows[0]._context, awaited)
            await crossing.alone(windows[1]._context, awaited)
            await crossing.shown(awaited, END_S)
            for window in windows:
                await window.close()
        log = read_net_log(folder / "net.json")
        lookups = {
            name for name, at in canaries.addresses.items() if f"{at.host}:{at.port}" in log.wanted
        }
        lookups |= {name for (host, port), name in known.items() if f"{host}:{port}" in log.wanted}
        said = [f"{hit.channel} ({hit.how}: {hit.said})" for hit in canaries.hits]
        return Outcome(canaries.channels(), blocked, lookups, log.jobs, site.done, said)


def _named(
    addresses: Mapping[str, Address], channels: Sequence[Channel] = CHANNELS
) -> list[tuple[str, str]]:
    """The names that a resolver knows, with the private address behind each."""
    named = []
    for number, channel in enumerate(channels):
        host, port = addresses[channel.name]
        name = channel.spelled(host, number, port).rpartition(":")[0]
        if name.endswith(".canary.test"):
            named.append((name, host))
    return named


def plan_for(
    folder: Path,
    site: Site,
    addresses: Mapping[str, Address],
    channels: Sequence[Channel] = CHANNELS,
) -> Plan:
    """One of the names is public when it is first looked at."""
    plan = Plan(str(folder), {PUBLIC: int(site.host.rpartition(":")[2])})
    for name, address in _named(addresses, channels):
        plan.answer(name, *([[PUBLIC]] if name.startswith("r") else []), [address])
    return plan


def _by_address(canaries: Canaries) -> dict[tuple[str, int], str]:
    known = {}
    for number, channel in enumerate(CHANNELS):
        host, port = canaries.addresses[channel.name]
        authority = channel.spelled(host, number, port).rpartition("@")[2]
        known[plain_host(authority.rpartition(":")[0]), port] = channel.name
    return known


def _taken(passage: Passage) -> list[tuple[str, int]]:
    taken = [(each.host, each.port) for each in passage.blocked]
    passage.blocked.clear()
    return taken


def _executable(
    executable: Path, folder: Path, unguarded: Canaries | None, trusted: Authority | None
) -> Path:
    """A browser that keeps a log of the network, and sends its reports at once. Without the gate
    it knows the canaries by their names: there is nobody else to ask."""
    flags = [f"--log-net-log={folder / 'net.json'}", "--short-reporting-delay"]
    if trusted is not None:
        flags.append(trusted.trusted)
    if unguarded is not None:
        named = _named(unguarded.addresses)
        named += [(f"*.{home}", "~NOTFOUND") for home in HOMES]
        flags.append("--host-resolver-rules=" + ", ".join(f"MAP {n} {a}" for n, a in named))
    script = folder / "chromium"
    quoted = " ".join(f"'{flag}'" for flag in flags)
    script.write_text(f'#!/bin/sh\nexec {executable} {quoted} "$@"\n')
    script.chmod(0o700)
    return script
