"""This script makes the snapshot fixtures of `pipeline/rehearsal` anew, from the bundled pages.

    python -m tests.support.snapshot_capture [DIR]

Each page is read by the product's own script. Addresses, times and names are made the same each
time, so that what differs afterwards is what the pages or the script changed.
"""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import msgspec

from rutter.actors.rules.text.untrusted import quarantined
from rutter.actors.world.browser.chromium import Chromium
from rutter.actors.world.browser.window import Window
from rutter.actors.world.egress.gate import Gate
from rutter.events.page import Page
from rutter.pipeline.config.chromium_install import find_chromium
from rutter.pipeline.demo_sites.chandlery.server import Site
from rutter.pipeline.demo_sites.chandlery.switches import Switches as ShopSwitches
from rutter.pipeline.demo_sites.gaffsail.server import StreamingSite
from rutter.pipeline.demo_sites.gaffsail.switches import Switches
from rutter.pipeline.demo_sites.loopback import Loopback
from rutter.pipeline.demo_sites.sign_ins import USER
from rutter.pipeline.rehearsal import fixtures
from rutter.pipeline.tools.snapshot import Snapshot, snapshot_of
from tests.support.policies import HERE

SHOP = "https://chandlery.example"
STREAMING = "https://gaffsail.example"
AT_NS = 1_767_225_600_000_000_000
WORDS = 4_000
WITHIN_MS = 10_000


class Camera:
    """A camera is a window on one site, with what was taken of it."""

    def __init__(self, window: Window, site: Loopback, origin: str) -> None:
        self.site = site
        self.taken: dict[str, Snapshot] = {}
        self.words: dict[str, str] = {}
        self._window = window
        self._origin = origin

    async def go(self, path: str) -> None:
        await self._window.tab.navigate(self.site.base_url + path, within_ms=WITHIN_MS)

    async def look(self) -> Page:
        how = {"viewportOnly": True, "marks": True}
        raw = await self._window.tab.call("observe", how, within_ms=WITHIN_MS)
        return quarantined(msgspec.convert(raw, Page))[0]

    async def take(self, name: str, path: str = "") -> None:
        """The page at this path, or the one that is open."""
        if path:
            await self.go(path)
        page = await self.look()
        assert page.url.endswith(path), f"{name} is at {page.url}"
        page = msgspec.structs.replace(page, url=page.url.replace(self.site.base_url, self._origin))
        self.taken[name] = snapshot_of(page, session=f"rehearsal-{name}", n=1, at_ns=AT_NS)
        said = await self._window.tab.call("wordsInView", WORDS, within_ms=WITHIN_MS)
        self.words[name] = " ".join(str(said).split())

    async def click(self, role: str, name: str) -> None:
        page = await self.look()
        box = next(e.box for e in page.elements if (e.role, e.name.text) == (role, name))
        tab = self._window.tab
        await tab.click(box.x + box.width // 2, box.y + box.height // 2, within_ms=WITHIN_MS)
        await self._window.settle(tab, within_ms=WITHIN_MS)

    async def fill(self, name: str, text: str) -> None:
        await self.click("textbox", name)
        await self._window.tab.insert(text, within_ms=WITHIN_MS)


async def shop(camera: Camera) -> None:
    assert isinstance(camera.site, Site)
    await camera.take("login", "/login")
    await camera.fill("User name", USER)
    await camera.fill("Password", camera.site.password)
    await camera.click("button", "Sign in")
    await camera.take("list", "/customers")
    await camera.take("search_results", "/customers?q=ing")
    await camera.take("form", "/orders/new?customer=202")
    await camera.take("error", "/nowhere")


async def streaming(camera: Camera) -> None:
    site = camera.site
    assert isinstance(site, StreamingSite)
    await camera.take("cancel_login", "/login")
    await camera.fill("Email", site.email)
    await camera.fill("Password", site.password)
    await camera.click("button", "Sign in")
    site.switches = Switches(overlay=True)
    await camera.take("dialog", "/account")
    for name, switches in (
        ("third_party", Switches(third_party_billing=True)),
        ("already_cancelled", Switches(already_cancelled=True)),
        ("account", Switches()),
    ):
        site.switches = switches
        await camera.take(f"cancel_{name}", "/account")
    for name in ("offer", "survey", "confirm"):
        await camera.take(f"cancel_{name}", f"/cancel/{name}")
    site.switches = Switches(failing=True)
    await camera.take("cancel_failed", "/cancel/error")
    site.switches = Switches()
    await camera.go("/cancel/confirm")
    await camera.click("button", "Finish cancellation")
    await camera.take("cancel_done")


Sites = tuple[tuple[Loopback, str, Callable[[Camera], Awaitable[None]]], ...]


async def capture() -> tuple[dict[str, Snapshot], dict[str, str]]:
    """All of them by name, and the words in view of each."""
    executable = find_chromium()
    assert executable is not None, "no Chromium: run `make setup`"
    sites: Sites = (
        (Site(switches=ShopSwitches()), SHOP, shop),
        (StreamingSite(), STREAMING, streaming),
    )
    taken: dict[str, Snapshot] = {}
    words: dict[str, str] = {}
    async with Chromium(executable, Gate()) as chromium:
        for site, origin, visit in sites:
            window = await chromium.open_window(HERE)
            with site:
                camera = Camera(window, site, origin)
                await visit(camera)
            await window.close()
            taken |= camera.taken
            words |= camera.words
    return taken, words


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else fixtures.FOLDER
    taken, words = asyncio.run(capture())
    (folder / "snapshots").mkdir(parents=True, exist_ok=True)
    for name, snapshot in taken.items():
        (folder / "snapshots" / f"{name}.json").write_bytes(fixtures.written(snapshot))
    (folder / "words.json").write_bytes(fixtures.written(dict(sorted(words.items()))))
    (folder / "snapshot.schema.json").write_bytes(fixtures.written(fixtures.snapshot_schema()))
    print(f"{len(taken)} snapshots in {folder}")


if __name__ == "__main__":
    main()
