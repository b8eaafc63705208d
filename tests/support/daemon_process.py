"""A daemon runs as people run it: a process with all that it starts, which can be killed."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from time import monotonic, sleep
from typing import Any, Self, TypeVar

import psutil

from rutter.events.envelope import Envelope
from rutter.events.jobs import JobEnded, JobQueued, JobStarted
from rutter.events.runtime import SessionEnded, SessionStarted
from rutter.events.sqlite_reader import SqliteReader
from rutter.pipeline.cli.demo import ALONE
from rutter.pipeline.daemon.http.tokens import Scope
from tests.crash.sailor import MARK
from tests.support.command_shell import COMMAND, ROOT
from tests.support.daemon_on_site import Reply, ask

PATIENCE_S = 120.0  # on a busy machine; nothing that is well takes so long
LOOK_S = 0.02

T = TypeVar("T")


def until(so: Callable[[], T], what: str = "", within_s: float = PATIENCE_S) -> T:
    """What another process is on its way to: looked for again and again, and not for ever."""
    deadline = monotonic() + within_s
    while not (found := so()):
        assert monotonic() < deadline, f"still not so after {within_s:g} s: {what}"
        sleep(LOOK_S)
    return found


class Afloat:
    """`rutter --data DIR --json serve --port 0` runs. Whatever it started is found by a mark in its
    environment, or was seen below it while it lived: what is left of it when it is gone can be
    counted."""

    def __init__(self, data: Path, *, mark: str = "", command: tuple[str, ...] = COMMAND) -> None:
        self.data = data
        self.mark = mark or f"afloat-{os.getpid()}-{data}"
        # A short one: Chromium makes a socket there, whose address has room for a hundred letters.
        self.temporary = Path(tempfile.mkdtemp(prefix="afloat-"))
        self.command = command
        self._seen: dict[int, psutil.Process] = {}

    def start(self, *more: str) -> Self:
        """Ready when this returns."""
        self.launch(*more)
        line = self._stdout.readline()
        assert line, f"it did not come up:\n{self.said()}"
        assert "url" in line, line
        self.url = str(json.loads(line)["url"])
        return self

    def launch(self, *more: str) -> None:
        """On its way."""
        self._errors = (self.data.parent / f"{self.data.name}.err").open("ab")
        self.process = subprocess.Popen(
            [*self.command, "--data", str(self.data), "--json", "serve", "--port", "0", *more],
            cwd=ROOT,
            env={**os.environ, MARK: self.mark, "TMPDIR": str(self.temporary)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
            start_new_session=True,
        )
        assert self.process.stdout is not None
        self._stdout = self.process.stdout

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing of it outlives the test, however that ended."""
        self.family()
        self.process.kill()
        self.gone()
        for each in self.family():
            _kill(each)
        shutil.rmtree(self.temporary, ignore_errors=True)

    # -- asking it -----------------------------------------------------------------------------

    def ask(self, method: str, path: str, body: object = None, scope: Scope = "person") -> Reply:
        token = (self.data / f"{scope}.token").read_text().strip()
        return ask(self.url, method, path, body, token=token, within_s=PATIENCE_S)

    def run(self, note: str = "", values: Mapping[str, str] = ALONE) -> str:
        """The workflow handed in as a job, which is known by its note on the site; its name."""
        given = {**values, "note": note or values["note"]}
        body = {"kind": "workflow", "workflow": "order", "values": given}
        reply = self.ask("POST", "/jobs", body)
        assert reply.status == 202, reply
        return str(reply.json["job_id"])

    def ended(self, job: str) -> dict[str, Any]:
        def told() -> dict[str, Any] | None:
            found: dict[str, Any] = self.ask("GET", f"/jobs/{job}").json
            return found if found["status"] == "ended" else None

        return until(told, f"{job} ends") or {}

    # -- its processes -------------------------------------------------------------------------

    @property
    def itself(self) -> psutil.Process:
        return psutil.Process(self.process.pid)

    def family(self) -> list[psutil.Process]:
        """All that it started and that runs, itself not."""
        found = dict(self._seen)
        for each in psutil.process_iter():
            if _is_marked(each, self.mark):
                found[each.pid] = each
        with contextlib.suppress(psutil.NoSuchProcess):
            found |= {each.pid: each for each in self.itself.children(recursive=True)}
        found.pop(self.process.pid, None)
        self._seen = {pid: each for pid, each in found.items() if _runs(each)}
        return list(self._seen.values())

    def browsers(self) -> list[psutil.Process]:
        """The browsers' own processes."""
        return [each for each in self.family() if _is_browser(each)]

    def zombies(self) -> list[psutil.Process]:
        return [
            each
            for each in self.itself.children(recursive=True)
            if _status(each) == psutil.STATUS_ZOMBIE
        ]

    # -- ending it -----------------------------------------------------------------------------

    def kill(self) -> None:
        self.family()
        self.process.kill()
        self.gone()

    def tell(self, number: signal.Signals = signal.SIGTERM, *, group: bool = False) -> int:
        """Its code, once it has ended."""
        self.family()
        (os.killpg if group else os.kill)(self.process.pid, number)
        return self.gone()

    def gone(self) -> int:
        code = self.process.wait(PATIENCE_S)
        self._stdout.close()
        self._errors.close()
        return code

    def left_behind(self, within_s: float = 20.0) -> list[str]:
        """What still runs of a daemon that has ended, when it had time to end as well."""
        _, left = psutil.wait_procs(self.family(), timeout=within_s)
        return [_described(each) for each in left if _runs(each)]

    def said(self) -> str:
        return (self.data.parent / f"{self.data.name}.err").read_text()

    def complaints(self) -> list[dict[str, Any]]:
        """What it said that was not in the ordinary run of things."""
        lines = [json.loads(line) for line in self.said().splitlines()]
        return [each for each in lines if each["level"] != "info"]


def _is_marked(process: psutil.Process, mark: str) -> bool:
    try:
        return process.environ().get(MARK) == mark
    except psutil.Error:
        return False


def _is_browser(process: psutil.Process) -> bool:
    try:
        return process.name().startswith("chrom") and not any(
            each.startswith("--type=") or "crashpad" in each for each in process.cmdline()[:40]
        )
    except psutil.Error:
        return False


def _status(process: psutil.Process) -> str:
    try:
        return str(process.status())
    except psutil.Error:
        return "gone"


def _runs(process: psutil.Process) -> bool:
    return process.is_running() and _status(process) not in ("gone", psutil.STATUS_ZOMBIE)


def _kill(process: psutil.Process) -> None:
    with contextlib.suppress(psutil.Error):
        process.kill()


def _described(process: psutil.Process) -> str:
    try:
        return f"{process.pid} {' '.join(process.cmdline())[:160]}"
    except psutil.Error:
        return f"{process.pid} gone"


# -- what the log says -----------------------------------------------------------------------------


class Logged:
    """A data directory's log is read as anybody can, beside its writer."""

    def __init__(self, data: Path) -> None:
        with SqliteReader(data / "log.db") as reader:
            self.events: list[Envelope] = list(reader.read())

    def session(self, name: str) -> list[Envelope]:
        return [each for each in self.events if each.session == name]

    def all(self, kind: type) -> list[Any]:
        return [each.event for each in self.events if isinstance(each.event, kind)]

    def sessions(self) -> list[str]:
        return [each.session for each in self.events if isinstance(each.event, SessionStarted)]

    def ends(self) -> dict[str, SessionEnded]:
        return {
            each.session: each.event for each in self.events if isinstance(each.event, SessionEnded)
        }

    def open(self) -> list[str]:
        """Sessions without an end."""
        ends = self.ends()
        return [each for each in self.sessions() if each not in ends]

    def jobs(self) -> dict[str, tuple[JobQueued, list[JobStarted], list[JobEnded]]]:
        found: dict[str, tuple[JobQueued, list[JobStarted], list[JobEnded]]] = {}
        for queued in self.all(JobQueued):
            found[queued.job] = queued, [], []
        for started in self.all(JobStarted):
            found[started.job][1].append(started)
        for ended in self.all(JobEnded):
            found[ended.job][2].append(ended)
        return found
