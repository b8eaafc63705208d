"""An application that nobody here wrote: how it starts, its one flow, how its store is read."""

import json
import os
import signal
import socket
import sqlite3
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Any

from tests.apps.installing import Packages

HERE = Path(__file__).parent
Values = Mapping[str, str]


@dataclass(frozen=True)
class Place:
    """Where one application runs: its programs, a home of its own, its address."""

    programs: Path
    home: Path
    port: int

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def base(self) -> str:
        return f"http://{self.host}"

    @property
    def environment(self) -> dict[str, str]:
        """Nothing of it is kept in the home directory of whoever runs this."""
        kept = {name: value for name, value in os.environ.items() if name != "DISPLAY"}
        path = f"{self.programs}{os.pathsep}{os.environ['PATH']}"
        return {**kept, "PATH": path, "HOME": str(self.home), "PORT": str(self.port)}

    def run(self, *command: str, **more: str) -> str:
        done = subprocess.run(
            command,
            cwd=self.home,
            env={**self.environment, **more},
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == 0, f"{command}: {done.stderr[-2000:]}"
        return done.stdout

    def get(self, path: str, **headers: str) -> Any:
        """What the application's own interface answers, as JSON."""
        request = urllib.request.Request(self.base + path, headers=headers)
        with urllib.request.urlopen(request, timeout=10) as answer:
            return json.loads(answer.read())

    def post(self, path: str, body: object, **headers: str) -> Any:
        data = json.dumps(body).encode()
        headers = {"Content-Type": "application/json", **headers}
        request = urllib.request.Request(self.base + path, data, headers)
        with urllib.request.urlopen(request, timeout=10) as answer:
            return json.loads(answer.read() or b"null")


def nothing(place: Place) -> None:
    """The application is ready as it starts."""


@dataclass(frozen=True)
class App:
    """`judge` says what is wrong with the store, and nothing when exactly this is there once."""

    name: str
    title: str
    framework: str
    covers: tuple[str, ...]
    packages: Packages
    command: Callable[[Place], Sequence[str]]
    values: Callable[[int], Values]
    judge: Callable[[Place, Values], str]
    prepare: Callable[[Place], None] = nothing  # before it starts
    seed: Callable[[Place], None] = nothing  # when it answers
    secret: str = ""  # what `${password}` stands for in its script
    opens: str = "/"
    forgets: Callable[[Place], AbstractContextManager[None]] | None = None  # answers, keeps nothing
    shipped: bool = True  # as it is installed; else a page that a few lines of ours define

    def script(self, place: Place, values: Values) -> dict[str, Any]:
        """The flow as Chrome's Recorder writes it, with these values."""
        text = (HERE / "scripts" / f"{self.name}.json").read_text()
        bound = {"base": place.base, "password": self.secret, **values}
        quoted = {name: json.dumps(value)[1:-1] for name, value in bound.items()}
        script: dict[str, Any] = json.loads(Template(text).substitute(quoted))
        return script


@contextmanager
def running(app: App, programs: Path, home: Path) -> Iterator[Place]:
    """The application on a free port of this machine, with an empty store; nothing stays."""
    home.mkdir(parents=True)
    place = Place(programs, home, free_port())
    app.prepare(place)
    with (home / "server.log").open("wb") as log:
        server = subprocess.Popen(
            app.command(place),
            cwd=home,
            env=place.environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        wait_until_it_answers(place, app.opens, server)
        app.seed(place)
        yield place
    finally:
        end(server)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_until_it_answers(place: Place, path: str, server: "subprocess.Popen[bytes]") -> None:
    until = time.monotonic() + 120
    while time.monotonic() < until:
        if server.poll() is not None:
            break
        try:
            with urllib.request.urlopen(place.base + path, timeout=5):
                return
        except urllib.error.HTTPError as error:
            if error.code < 500:
                return
        except OSError:
            pass
        time.sleep(0.2)
    said = (place.home / "server.log").read_text(errors="replace")[-2000:]
    raise AssertionError(f"the application did not start: {said}")


def end(server: "subprocess.Popen[bytes]") -> None:
    """With all processes of its group."""
    for number, patience in ((signal.SIGTERM, 5), (signal.SIGKILL, 10)):
        with suppress(ProcessLookupError):
            os.killpg(server.pid, number)
        with suppress(subprocess.TimeoutExpired):
            server.wait(patience)
    with suppress(ProcessLookupError):
        os.killpg(server.pid, signal.SIGKILL)


def judged(app: App, place: Place, values: Values, patience: float = 3) -> str:
    """What the store lacks. The browser is gone by now: only the server may still be writing."""
    until = time.monotonic() + patience
    while True:
        try:
            wrong = app.judge(place, values)
        except (
            OSError,
            LookupError,
            ValueError,
            AssertionError,
            SyntaxError,
            sqlite3.Error,
        ) as error:
            wrong = f"{type(error).__name__}: {error}"
        if not wrong or time.monotonic() > until:
            return wrong
        time.sleep(0.2)


def once(found: int, what: str = "entry") -> str:
    """Exactly one of them is right."""
    return "" if found == 1 else f"{found} times such {what}"


def pick(run: int, *of: str) -> str:
    return of[run % len(of)]
