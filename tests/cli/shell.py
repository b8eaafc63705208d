"""The command as people type it: in this process, or in one of its own that can be killed."""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from events.log import check_link
from events.sqlite_reader import SqliteReader
from events.sqlite_schema import to_envelope
from pipeline.cli.main import main
from replay.verify import verify

ROOT = Path(__file__).parents[2]
COMMAND = (sys.executable, "-c", "import sys; from pipeline.cli.main import main; sys.exit(main())")


class Ended(NamedTuple):
    """How a command ended and what it said."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return msgspec.json.decode(self.out)

    @property
    def complaint(self) -> str:
        """The one line on stderr."""
        [line] = self.err.splitlines()
        return line


class Rutter:
    """`rutter --data DIR ...` in this process; nobody sits at the terminal."""

    def __init__(self, data: Path) -> None:
        self.data = data

    def __call__(self, *arguments: str | Path) -> Ended:
        out, err = StringIO(), StringIO()
        with redirect_stdout(out), redirect_stderr(err):
            try:
                code = main(["--data", str(self.data), *map(str, arguments)])
            except SystemExit as left:  # argparse
                code = left.code if isinstance(left.code, int) else 1
        return Ended(int(code), out.getvalue(), err.getvalue())

    def json(self, *arguments: str | Path) -> Any:
        """What the command reports with `--json`; it must have gone well."""
        ended = self("--json", *arguments)
        assert ended.code == 0, ended
        return ended.json

    def spawn(
        self, *arguments: str | Path, env: Mapping[str, str] | None = None
    ) -> "subprocess.Popen[str]":
        """A process and a process group of its own, as a terminal starts it."""
        return start(["--data", str(self.data), *map(str, arguments)], env or {})


def start(arguments: Sequence[str], env: Mapping[str, str]) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [*COMMAND, *arguments],
        cwd=ROOT,
        env={**os.environ, **env},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def wait_for_line(stream: Any, wanted: str) -> list[str]:
    """Reads on until a line holds `wanted`; what was read, that line last."""
    seen: list[str] = []
    for line in stream:
        seen.append(line.rstrip("\n"))
        if wanted in line:
            return seen
    raise AssertionError(f"{wanted!r} was never said: {seen}")


def check_log(path: Path) -> int:
    """Every chain holds and every decision is derived again from the facts; how many events."""
    heads: dict[str, tuple[int, bytes]] = {}
    with SqliteReader(path) as reader:
        for row in reader.rows():
            envelope, payload = to_envelope(row), row[7]
            n, previous = heads.get(envelope.session, (0, None))
            assert envelope.n == n + 1
            check_link(previous, envelope, payload)
            heads[envelope.session] = envelope.n, envelope.hash
        report = verify(reader.read())
    assert report.divergence is None
    return report.events
