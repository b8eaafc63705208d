"""Tells what is printed of the runs that failed: `docs/failures.md` is made of their logs.

    python -m tests.failures.told [docs/failures.md]

Beside what is printed now stands what was printed at the first of these pages, which no code here
can print any more (`before.json`).
"""

import gzip
import json
import sys
import tempfile
from collections.abc import Iterable
from contextlib import redirect_stdout
from functools import cache
from io import StringIO
from pathlib import Path
from typing import NamedTuple

import msgspec

from rutter.events.sqlite_schema import Row
from rutter.pipeline.cli.session_end import report
from rutter.pipeline.cli.terminal import Terminal
from rutter.pipeline.config.settings import Settings
from rutter.pipeline.queries.look_back import story_of
from rutter.replay.story.told_session import Story
from tests.support.golden_logs import row_of, text_of, to_database

FOLDER = Path(__file__).parent
LOGS = FOLDER / "logs"
PAGE = FOLDER.parents[1] / "docs" / "failures.md"
HOME = "/home/ann/.local/share/rutter"
HEAD = """# What is printed of runs that fail

Made by `python -m tests.failures.told` of the logs of real runs (`python -m tests.failures.make`)
on a small site of invoices: search a number, open the invoice, type an amount, choose a status,
press Save. A test holds it to what the program says. *Before* is what was printed until this page
was begun.
"""


class FailedRun(NamedTuple):
    """A run failed like this. `command` is what was typed."""

    name: str
    command: str
    rows: tuple[Row, ...]

    def told(self, *, verbose: bool = False) -> str:
        """What is printed at its end."""
        with tempfile.TemporaryDirectory() as folder:
            settings = Settings(Path(folder))
            to_database(settings.directory.log, self.rows)
            story = story_of(settings, self.rows[0][1])
            out = StringIO()
            with redirect_stdout(out):
                report(story, settings, Terminal(verbose=verbose), done="")
            return out.getvalue().replace(folder, HOME).rstrip()

    def story(self) -> Story:
        with tempfile.TemporaryDirectory() as folder:
            settings = Settings(Path(folder))
            to_database(settings.directory.log, self.rows)
            return story_of(settings, self.rows[0][1])


def write_run(name: str, command: str, rows: Iterable[Row]) -> None:
    LOGS.mkdir(exist_ok=True)
    lines = [json.dumps({"command": command}), *map(text_of, rows)]
    (LOGS / f"{name}.gz").write_bytes(gzip.compress("\n".join(lines).encode(), mtime=0))


@cache
def runs() -> tuple[FailedRun, ...]:
    return tuple(_read(place) for place in sorted(LOGS.glob("*.gz")))


def _read(place: Path) -> FailedRun:
    head, *rows = gzip.decompress(place.read_bytes()).decode().splitlines()
    return FailedRun(place.stem, json.loads(head)["command"], tuple(map(row_of, rows)))


def page(*, before: bool = True) -> str:
    """All of them, numbered."""
    was = msgspec.json.decode((FOLDER / "before.json").read_bytes(), type=dict[str, str])
    parts = [HEAD] if before else []
    for number, run in enumerate(runs(), 1):
        parts.append(f"## {number}. `{run.command}`\n")
        if before:
            parts += ["Before:\n", _block(was.get(run.name, "")), "Now:\n"]
        parts.append(_block(run.told()))
    return "\n".join(parts)


def _block(text: str) -> str:
    return "".join(f"    {line}\n" for line in text.splitlines())


if __name__ == "__main__":
    Path(sys.argv[1] if len(sys.argv) > 1 else PAGE).write_text(page())
