"""The pictures of docs/web-pages.md are taken anew by `python -m tests.support.web_pictures`.

A workflow is recorded and run on the bundled site: one run is done, one fails, one waits for an
answer; each page is photographed as it then is, light and dark.
"""

import asyncio
import io
import tempfile
from pathlib import Path
from typing import NamedTuple

from PIL import Image

from rutter.events.validator import ApprovalRequested
from rutter.pipeline.cli.demo import ALONE
from rutter.pipeline.demo_sites.chandlery.switches import Switches
from tests.support.command_shell import ROOT
from tests.support.daemon_on_site import Anchored, anchored, record_order
from tests.support.recorded_site import Harbour, WatchedSite
from tests.support.web_visitor import one_browser, visiting

PICTURES = ROOT / "docs" / "pictures" / "web"
WIDE, HIGH, PHONE = 1120, 900, 400
SHRUNK = 0.7
COLOURS = 256
LOADED = """Promise.all([...document.images].map((each) => {
  each.loading = 'eager'; return each.decode(); }))"""
MORE = "[run]\nscreenshots = true\n[jobs]\nper_workflow = 2\n"
CLOCK = {"cron": "0 7 * * 1-5", "zone": "Europe/Amsterdam"}


class Runs(NamedTuple):
    done: str
    failed: str


def main() -> None:
    PICTURES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as home, WatchedSite() as site:
        harbour, recorded = Harbour(Path(home), site), Path(home) / "recorded"
        record_order(harbour, recorded)
        asyncio.run(_photograph(harbour, recorded, Path(home) / "data"))


async def _photograph(harbour: Harbour, recorded: Path, data: Path) -> None:
    async with anchored(harbour, data, recorded=recorded, more=MORE) as ship:
        runs = await _sail(ship)
        pages = {
            "now": "/web/now",
            "runs": "/web/runs",
            "run": f"/web/runs/{runs.done}#step-17",
            "failed-run": f"/web/runs/{runs.failed}",
            "workflows": "/web/workflows",
            "workflow": "/web/workflows/one?name=order",
            "approvals": "/web/approvals",
            "learned": "/web/learned",
            "models": "/web/models",
            "log": "/web/log",
        }
        for scheme in ("light", "dark"):
            await _take(ship, pages, scheme, WIDE)
        await _take(ship, {"phone": pages["failed-run"]}, "light", PHONE)
        for session in ship.daemon.app.running():
            await ship.ask("POST", f"/sessions/{session}/stop")


async def _sail(ship: Anchored) -> Runs:
    run = {"kind": "workflow", "workflow": "order", "values": dict(ALONE)}
    await ship.ask("PUT", "/schedules/every-morning", {**CLOCK, "run": run})
    done = await ship.ended((await ship.run())["job_id"])
    lost = await ship.run({**ALONE, "customer": "Meridian Lines", "quantity": "4"})
    failed = await ship.ended(lost["job_id"])
    ship.site.switches = Switches(relabelled=True)
    asks = await ship.run({**ALONE, "customer": "Aurora Shipping", "quantity": "6"})
    waiting = (await ship.daemon.jobs.begun(asks["job_id"])).session
    async for envelope in ship.daemon.feed.follow(waiting):
        if envelope is not None and isinstance(envelope.event, ApprovalRequested):
            break
    return Runs(done["session"], failed["session"])


async def _take(ship: Anchored, pages: dict[str, str], scheme: str, width: int) -> None:
    async with (
        one_browser() as browser,
        visiting(
            browser, ship, viewport={"width": width, "height": HIGH}, color_scheme=scheme
        ) as visitor,
    ):
        await visitor.open()
        for name, path in pages.items():
            await visitor.go(path)
            await visitor.page.wait_for_load_state("load")
            if name == "run":
                await visitor.page.locator("#step-17 summary").first.click()
            await visitor.page.evaluate(LOADED)
            taken = await visitor.page.screenshot()
            place = PICTURES / (f"{name}.png" if scheme == "light" else f"{name}-dark.png")
            place.write_bytes(_small(taken))
            print(place.relative_to(ROOT), place.stat().st_size, flush=True)


def _small(taken: bytes) -> bytes:
    out = io.BytesIO()
    with Image.open(io.BytesIO(taken)) as picture:
        size = round(picture.width * SHRUNK), round(picture.height * SHRUNK)
        shrunk = picture.convert("RGB").resize(size, Image.Resampling.LANCZOS)
        # Some rounds more: a badge is small, and its colour counts.
        shrunk.quantize(COLOURS, kmeans=4, dither=Image.Dither.NONE).save(out, "PNG", optimize=True)
    return out.getvalue()


if __name__ == "__main__":
    main()
