"""The live bench counts pictures a second of a page that moves, what each part of one takes, and
what watching costs the page itself."""

import asyncio
from time import perf_counter

from bench.flow import shared_browser
from bench.tables import Cell, print_table
from rutter.actors.world.browser.screencast import Screencast
from rutter.actors.world.browser.tab import Tab
from rutter.actors.world.browser.window import Window
from rutter.pipeline.demo_sites.chandlery import Site

WATCHED_S = 5.0
AIM = 5  # a second
SECRET = "a canary that is nowhere"
WITHIN_MS = 10_000
MOVING = """(elements) => {
  const all = document.createElement("div");
  all.innerHTML = "<p class=line>words <b>and</b> words</p>".repeat(elements / 2);
  const box = document.createElement("div");
  box.style.cssText = "position:fixed;top:200px;width:90px;height:90px;background:#07a";
  document.body.append(all, box);
  window.frames_drawn = 0;
  const move = () => {
    box.style.left = (frames_drawn += 1) * 4 % 900 + "px";
    requestAnimationFrame(move);
  };
  move();
}"""


async def drawn(tab: Tab) -> int:
    return int(await tab.page.evaluate("frames_drawn"))


async def watched(window: Window, *, quality: int, max_width: int) -> list[Cell]:
    """Pictures and withheld ones a second, their size, and how often the page drew meanwhile."""
    pictures: list[int] = []
    cast = Screencast(
        window, lambda made: pictures.append(len(made)), quality=quality, max_width=max_width
    )
    task = asyncio.ensure_future(cast.run())
    await asyncio.sleep(1)  # it has begun by then; what is measured is how it goes on
    pictures.clear()
    withheld, frames, began = cast.withheld, await drawn(window.tab), perf_counter()
    await asyncio.sleep(WATCHED_S)
    took = perf_counter() - began
    figures: list[Cell] = [
        len(pictures) / took,
        (cast.withheld - withheld) / took,
        sum(pictures) / max(1, len(pictures)) / 1024,
        (await drawn(window.tab) - frames) / took,
    ]
    task.cancel()
    await asyncio.wait({task})
    return figures


async def unwatched(window: Window) -> float:
    frames, began = await drawn(window.tab), perf_counter()
    await asyncio.sleep(WATCHED_S / 2)
    return (await drawn(window.tab) - frames) / (perf_counter() - began)


async def measure() -> list[list[Cell]]:
    rows: list[list[Cell]] = []
    with Site() as site:
        async with shared_browser() as browser:
            for elements in (100, 5_000):
                for secrets in ((), (SECRET,)):
                    window = await browser.open_window()
                    window.secrets = secrets
                    await window.tab.navigate(f"{site.base_url}/login", within_ms=WITHIN_MS)
                    await window.tab.page.evaluate(MOVING, elements)
                    alone = await unwatched(window)
                    figures = await watched(window, quality=25, max_width=854)
                    what = f"{elements} elements, {len(secrets)} secrets"
                    rows.append([what, *figures, alone])
                    await window.close()
    return rows


def main() -> None:
    print_table(
        f"a page that moves, watched for {WATCHED_S:.0f} s at 854 pixels and quality 25 "
        f"(aim {AIM} pictures a second)",
        ["page", "pictures/s", "withheld/s", "KB each", "page's frames/s", "unwatched"],
        asyncio.run(measure()),
    )


if __name__ == "__main__":
    main()
