"""The tools that are compared: each does a flow once with given values and says how it ended."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rutter.pipeline.config.chromium_install import require_chromium
from tests.apps.app import App, Place, Values
from tests.apps.installing import npm

ROOT = Path(__file__).parents[2]
REPLAYER = npm("@puppeteer/replay@3.1.3", "puppeteer-core@24.43.1")
LIMIT_S = 300
SECRET = "password"
CANNOT = 2  # also rutter's own code of a script that it does not take


@dataclass(frozen=True)
class Ended:
    code: int
    said: str
    seconds: float
    out: str = ""


@dataclass(frozen=True)
class Exported:
    """`not_done` are the steps that the file leaves to Rutter, `left_out` those and all else."""

    at: Path
    ended: Ended
    not_done: tuple[str, ...]
    left_out: tuple[str, ...]


class Rutter:
    """`rutter` with a data directory of its own."""

    def __init__(self, app: App, place: Place, data: Path) -> None:
        self._app, self._place, self.data = app, place, data
        self._env = {"APP_SECRET": app.secret}
        self._secrets = [SECRET] if app.secret else []

    @property
    def secret_flags(self) -> list[str]:
        """However a recording calls it: no application has more than one."""
        return [f"--secret={name}=env:APP_SECRET" for name in self._secrets]

    def secrets_of_the_recording(self) -> None:
        """A hand names no secret: the page's own names are in the workflow."""
        shown = self("--json", "workflows", "show", self._app.name)
        if shown.code == 0:
            self._secrets = list(json.loads(shown.out).get("secrets", ()))

    def record(self, values: Values) -> Ended:
        script = self.data.with_suffix(".json")
        script.write_text(json.dumps(self._app.script(self._place, values)))
        answers = self.data.with_suffix(".answers.json")
        answers.write_text(json.dumps([{"approved": True, "phrase": "confirm"}] * 30))
        flags = ["--script", str(script), "--answers", str(answers)]
        return self("record", *self.recording(values), *flags)

    def recording(self, values: Values, *, secrets: bool = True) -> list[str]:
        """Its name and what it may use, however it is recorded."""
        bound = [f"--param={name}={value}" for name, value in values.items()]
        named = self.secret_flags if secrets else []
        return [self._app.name, *bound, "--allow", self._place.host, *named]

    def start(self, *arguments: str, **env: str) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            self.command(*arguments),
            cwd=ROOT,
            env={**os.environ, **env},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def run(self, values: Values) -> Ended:
        return self(*self.running(values))

    def running(self, values: Values) -> list[str]:
        bound = [f"--set={name}={value}" for name, value in values.items()]
        return ["run", self._app.name, *bound, *self.secret_flags]

    def export(self, format: str, values: Values, at: Path) -> "Exported":
        """The workflow as a file for others, and what it says that the file does not do."""
        bound = [f"--set={name}={value}" for name, value in values.items()]
        wanted = ["export", self._app.name, "--format", format, "--out", str(at), *bound]
        ended = self("--json", *wanted)
        told = json.loads(ended.out) if ended.code == 0 else {}
        return Exported(at, ended, tuple(told.get("not_done", ())), tuple(told.get("left_out", ())))

    def reads_back(self) -> bool:
        """Whether one of its steps does."""
        shown = self("--json", "workflows", "show", self._app.name)
        steps = json.loads(shown.out).get("steps", ()) if shown.code == 0 else ()
        return any(step["after"].get("read_back") for step in steps)

    def replay(self) -> Ended:
        return self("replay", "last")

    def command(self, *arguments: str) -> list[str]:
        main = "import sys; from rutter.pipeline.cli.main import main; sys.exit(main())"
        return [sys.executable, "-c", main, "--data", str(self.data), *arguments]

    def __call__(self, *arguments: str) -> Ended:
        return timed(self.command(*arguments), cwd=ROOT, env=self._env)


def with_puppeteer(app: App, place: Place, values: Values, at: Path) -> Ended:
    """Chrome's own replayer."""
    folder = REPLAYER.install("puppeteer").parents[1]
    replayer = Path(__file__).with_name("puppeteer_replay.mjs")
    script = written(app.script(place, values), at)
    return timed(["node", str(replayer), str(script), chromium()], cwd=folder)


def exported_to_puppeteer(app: App, file: Path) -> Ended:
    """The Recorder's file, with the secret filled in as its title asks."""
    folder = REPLAYER.install("puppeteer").parents[1]
    replayer = Path(__file__).with_name("puppeteer_replay.mjs")
    file.write_text(file.read_text().replace("${" + SECRET + "}", app.secret))
    return timed(["node", str(replayer), str(file), chromium()], cwd=folder)


def exported_to_playwright(app: App, file: Path) -> Ended:
    """By itself, beside nothing of ours."""
    given = {"CHROMIUM": chromium(), f"SECRET_{SECRET.upper()}": app.secret, "PYTHONPATH": ""}
    return timed([sys.executable, str(file)], cwd=file.parent, env=given)


def with_playwright(app: App, place: Place, values: Values, at: Path) -> Ended:
    script = written(app.script(place, values), at)
    module = "tests.apps.plain_playwright"
    return timed([sys.executable, "-m", module, str(script), chromium()], cwd=ROOT)


def written(script: Mapping[str, Any], at: Path) -> Path:
    at.write_text(json.dumps(script))
    return at


def chromium() -> str:
    return str(require_chromium(None))


def timed(command: list[str], *, cwd: Path, env: Mapping[str, str] | None = None) -> Ended:
    began = time.monotonic()
    try:
        done = subprocess.run(
            command,
            cwd=cwd,
            env={**os.environ, **(env or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
        )
    except subprocess.TimeoutExpired:
        return Ended(124, f"not done within {LIMIT_S} s", time.monotonic() - began)
    seconds = time.monotonic() - began
    return Ended(done.returncode, done.stdout + done.stderr, seconds, done.stdout)
