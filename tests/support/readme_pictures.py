"""The pictures of README.md are drawn anew by `python -m tests.support.readme_pictures`.

The tutorial is worked through at a terminal; what two of its commands show is drawn as they stood
there, and the page of the workflow's steps is photographed.
"""

import asyncio
import io
import re
import tempfile
from pathlib import Path

from playwright.async_api import async_playwright
from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

from rutter.pipeline.config.chromium_install import require_chromium
from tests.support.tutorial_terminal import ROOT, TUTORIAL, Shell, Typed, environment, typed

PICTURES = ROOT / "docs" / "pictures"
WIDTH = 104  # columns
DRAWN = {"rutter record": "record.svg", "rutter run order --rows": "rows.svg"}
THEME = TerminalTheme((22, 27, 34), (201, 209, 217), [(110, 118, 129)] * 8, [(201, 209, 217)] * 8)
NAMED = re.compile(r"-\d{8}-\d{6}-")  # a session, by when it was
MARKS = {"[OK]": "#3fb950", "[FAIL]": "#f85149", "$ ": "#58a6ff"}
# No font from elsewhere: whoever looks at it has one of their own.
FRAME = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}">
<style>{styles} .{unique_id}-matrix {{ font-family: ui-monospace, Menlo, Consolas, monospace;
font-size: {char_height}px; line-height: {line_height}px; }}</style>
<defs><clipPath id="{unique_id}-clip-terminal"><rect x="0" y="0" width="{terminal_width}"
height="{terminal_height}"/></clipPath>{lines}</defs>
<rect width="{width}" height="{height}" rx="8" fill="#161b22"/>
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}<g class="{unique_id}-matrix">{matrix}</g></g></svg>
"""


def main() -> None:
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as home:
        work = Path(home) / "work"
        work.mkdir()
        with Shell(work, environment(Path(home))) as shell:
            for step in typed(TUTORIAL.read_text(encoding="utf-8")):
                print(step.command.splitlines()[0], flush=True)
                _, seen = shell.enter(step)
                _draw(step, seen)
                if step.command.endswith("order.html"):
                    asyncio.run(_photograph(work / "order.html", PICTURES / "workflow.png"))


def _draw(step: Typed, seen: str) -> None:
    for begins, name in list(DRAWN.items()):
        if step.command.startswith(begins):
            del DRAWN[begins]  # the first of its kind
            (PICTURES / name).write_text(_svg(step.command, seen), encoding="utf-8")


def _svg(command: str, seen: str) -> str:
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True)
    shown = NAMED.sub("-20260316-101502-", seen)
    for line in (f"$ {command}", *shown.strip().splitlines()):
        text = Text(line)
        for mark, colour in MARKS.items():
            if line.startswith(mark):
                text.stylize(colour, 0, len(mark))
        console.print(text)
    return console.export_svg(theme=THEME, code_format=FRAME, unique_id="rutter", title="")


async def _photograph(page: Path, picture: Path) -> None:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=require_chromium(None), args=["--no-sandbox"]
        )
        tab = await browser.new_page(viewport={"width": 900, "height": 700})
        await tab.goto(page.as_uri())
        await tab.screenshot(path=picture)
        await browser.close()


if __name__ == "__main__":
    main()
