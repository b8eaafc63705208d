"""Every web page of a daemon where something failed and something waits: for whoever cannot see
well, has no mouse or a small screen; and for whoever wants a site's words to be script there."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from playwright.async_api import Browser

from rutter.pipeline.cli.demo import ALONE
from rutter.pipeline.demo_sites.chandlery.switches import Switches
from tests.support.daemon_on_site import Anchored, anchored
from tests.support.recorded_site import Harbour
from tests.support.web_visitor import visiting

pytestmark = [pytest.mark.browser, pytest.mark.anyio, pytest.mark.timeout(300)]

EVIL = "</script><script>pwned=1</script><img src=x onerror=pwned=1>\"'><svg onload=pwned=1>{{7*7}}"
# Chromium's words for what a person can do something with.
CONTROLS = (
    "button", "link", "textbox", "searchbox", "combobox", "checkbox", "slider", "spinbutton",
    "progressbar", "meter", "Date", "img", "image", "listbox", "DisclosureTriangle",
)  # fmt: skip
PALE = """() => {
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const rgba = (colour) => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1); return [...canvas.getImageData(0, 0, 1, 1).data]; };
  const light = ([r, g, b]) => { const [x, y, z] = [r, g, b].map((part) => { part /= 255;
    return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4; });
    return 0.2126 * x + 0.7152 * y + 0.0722 * z; };
  const ground = (element) => { for (let each = element; each; each = each.parentElement) {
      const colour = rgba(getComputedStyle(each).backgroundColor);
      if (colour[3] > 250) return colour; } return [255, 255, 255, 255]; };
  const pale = []; let seen = 0;
  for (const element of document.body.querySelectorAll('*')) {
    const own = [...element.childNodes].some((each) => each.nodeType === 3 && each.data.trim());
    if (!(own || element.matches('input, select')) || !element.checkVisibility() ||
        element.closest('.unseen, .skip, [aria-hidden]')) continue;
    const [one, two] = [rgba(getComputedStyle(element).color), ground(element)].map(light);
    const ratio = (Math.max(one, two) + 0.05) / (Math.min(one, two) + 0.05);
    seen += 1;
    if (ratio < 4.5) pale.push(`${element.tagName}.${element.className} ${ratio.toFixed(2)} ` +
                               element.textContent.trim().slice(0, 30));
  }
  return [seen, pale]; }"""
REACHABLE = "main a[href], main button, main input, main select, main summary, nav a[href]"
FOCUSED = """() => { const all = [...document.querySelectorAll(%r)].filter(
  (each) => each.checkVisibility()); return [all.indexOf(document.activeElement), all.length]; }"""


class Scene:
    """A scene has a run that failed and one that waits for an answer; `paths` is every page."""

    def __init__(self, ship: Anchored, failed: str, waiting: str) -> None:
        self.ship = ship
        runs = [f"/web/runs/{failed}", f"/web/runs/{waiting}", f"/web/runs/{failed}?at=20"]
        self.paths = [
            "/web/now", "/web/runs", *runs, f"{runs[0]}/again", f"{runs[0]}/what-if",
            "/web/approvals", "/web/workflows", "/web/workflows/one?name=order",
            "/web/workflows/compare?name=order&old=1&new=1", "/web/learned", "/web/learned/habits",
            "/web/models", "/web/log", "/web/log/verify",
        ]  # fmt: skip


@pytest.fixture(scope="module")
async def scene(
    harbour: Harbour, recorded: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Scene]:
    data = tmp_path_factory.mktemp("scene") / "data"
    more = "[jobs]\nper_workflow = 2\n"
    async with anchored(harbour, data, recorded=recorded, more=more) as ship:
        job = await ship.run({**ALONE, "customer": EVIL})
        failed = (await ship.ended(job["job_id"]))["session"]
        ship.site.switches = Switches(relabelled=True)
        waiting = (await ship.daemon.jobs.begun((await ship.run())["job_id"])).session
        with anyio.fail_after(90):
            async for envelope in ship.daemon.feed.follow(waiting):
                if envelope and type(envelope.event).__name__ == "ApprovalRequested":
                    break
        yield Scene(ship, failed, waiting)
        await ship.ask("POST", f"/sessions/{waiting}/stop")


async def test_every_page_opens_and_nothing_of_a_value_runs(browser: Browser, scene: Scene) -> None:
    wide: list[str] = []
    async with visiting(browser, scene.ship, viewport={"width": 390, "height": 800}) as visitor:
        await visitor.open()
        seen = ""
        for path in scene.paths:
            assert (await visitor.go(path)).status == 200, path
            seen += await visitor.text()
            assert await visitor.page.evaluate("'pwned' in window") is False, path
            if await visitor.page.evaluate("document.documentElement.scrollWidth > innerWidth"):
                wide.append(path)
        assert seen.count("<script>pwned=1</script>") > 3  # as it stands, where values are shown
        assert "{{7*7}}" in seen
        missing = await visitor.go("/web/runs/none")
        assert (missing.status, "It is not here" in await visitor.text()) == (404, True)
    assert wide == []


async def test_a_name_full_of_markup_is_a_name(browser: Browser, scene: Scene) -> None:
    known = (await scene.ship.ask("GET", "/workflows/order")).json
    learned = {"event": "WorkflowLearned", "workflow": {**known, "name": EVIL, "goal": EVIL}}
    said = await scene.ship.ask("POST", "/changes", learned)
    assert said.status == 204, said
    async with visiting(browser, scene.ship) as visitor:
        await visitor.open("/web/workflows")
        await visitor.page.get_by_role("link", name=EVIL).click()
        assert EVIL in await visitor.text("h1")
        assert await visitor.page.title() == f"{EVIL} - Rutter"
        await visitor.go("/web/runs")
        assert await visitor.page.evaluate("'pwned' in window") is False
    dropped = {"event": "WorkflowDeleted", "name": EVIL}
    assert (await scene.ship.ask("POST", "/changes", dropped)).status == 204


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_every_word_is_seen_and_every_control_has_a_name(
    browser: Browser, scene: Scene, scheme: str
) -> None:
    async with visiting(browser, scene.ship, color_scheme=scheme) as visitor:
        await visitor.open()
        talks = await visitor.page.context.new_cdp_session(visitor.page)
        for path in scene.paths:
            await visitor.go(path)
            await visitor.page.evaluate(
                "document.querySelectorAll('details').forEach(each => each.open = true)"
            )
            seen, pale = await visitor.page.evaluate(PALE)
            assert (seen > 10, pale) == (True, []), path
            if scheme == "light":
                tree = (await talks.send("Accessibility.getFullAXTree"))["nodes"]
                assert nameless(tree) == [], path


def nameless(tree: list[dict[str, Any]]) -> list[str]:
    """Controls and pictures that a reader of the screen can say nothing of."""
    shown = [node for node in tree if not node.get("ignored")]
    assert len(shown) > 20
    return [
        f"{node['role']['value']} {node.get('properties')}"
        for node in shown
        if node["role"]["value"] in CONTROLS and not node.get("name", {}).get("value", "").strip()
    ]


async def test_everything_is_reached_by_keyboard_in_the_order_it_is_seen(
    browser: Browser, scene: Scene
) -> None:
    async with visiting(browser, scene.ship) as visitor:
        await visitor.open()
        for path in ("/web/now", "/web/runs", "/web/approvals", scene.paths[2]):
            await visitor.go(path)
            met: list[int] = []
            of = 0
            for _ in range(400):
                await visitor.page.keyboard.press("Tab")
                at, of = await visitor.page.evaluate(FOCUSED % REACHABLE)
                if at >= 0 and at not in met:
                    met.append(at)
                if len(met) == of:
                    break
            assert (met, path) == (list(range(of)), path)
