"""The command runs as people type it: in this process, or in one of its own that can be killed."""

import os
import subprocess
import sys
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, quote_plus

import msgspec

from rutter.pipeline.cli.main import main
from tests.support.log_checks import check_log, records_of

ROOT = Path(__file__).parents[2]
COMMAND = (
    sys.executable,
    "-c",
    "import sys; from rutter.pipeline.cli.main import main; sys.exit(main())",
)


class Ended(NamedTuple):
    """A command ended like this and said this."""

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


def refused(ended: Ended, what: str) -> None:
    assert (ended.code, ended.out) == (2, ""), ended
    assert what in ended.complaint


class Rutter:
    """`rutter --data DIR ...` runs in this process; nobody sits at the terminal."""

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
        return subprocess.Popen(
            [*COMMAND, "--data", str(self.data), *map(str, arguments)],
            cwd=ROOT,
            env={**os.environ, **(env or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )


def wait_for_line(stream: Iterable[str] | None, wanted: str) -> list[str]:
    """Reads on until a line holds `wanted`; what was read, that line last."""
    seen: list[str] = []
    for line in stream or ():
        seen.append(line.rstrip("\n"))
        if wanted in line:
            return seen
    raise AssertionError(f"{wanted!r} was never said: {seen}")


def check_logs(data: Path) -> int:
    """Every chain holds and every decision is derived again from the facts; how many events."""
    events = 0
    for log in data.rglob("log.db"):
        records = records_of(log)
        check_log(records)
        events += len(records)
    return events


def places_of(secret: str, data: Path) -> list[str]:
    """Every file below `data` that holds the secret, in the clear or thinly dressed."""
    dressed = tuple(_dressed(secret))
    return [
        str(path.relative_to(data))
        for path in sorted(data.rglob("*"))
        if path.is_file() and any(form in path.read_bytes() for form in dressed)
    ]


def _dressed(secret: str) -> Iterator[bytes]:
    plain = secret.encode()
    yield plain
    yield from (secret.encode(encoding) for encoding in ("utf-16-le", "utf-16-be"))
    yield from (form.encode() for form in (quote(secret), quote_plus(secret), quote(secret, "")))
    yield msgspec.json.encode(secret)[1:-1]
    yield plain.hex().encode()
    for shift in range(3):  # where a group of three bytes begins is not ours to choose
        whole = b64encode(b"x" * shift + plain)
        yield whole[4 if shift else 0 : -4]
