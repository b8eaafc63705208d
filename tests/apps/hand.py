"""The same steps by a hand: a real window under Xvfb, mouse and keys of X, a person's pace."""

import json
import signal
import subprocess
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from tests.apps.app import App, Place, Values, free_port
from tests.apps.tools import REPLAYER, Ended, Rutter, chromium
from tests.support import xvfb

FIRST_LOOK_S = 4  # at a page that has just been opened
PAUSE_S = 0.5  # between one thing and the next
LAST_LOOK_S = 3  # at what came of it, before the window is closed
KEY_MS = "50"
KEYS = {"Enter": "Return", "Control": "ctrl", "Shift": "shift", "Alt": "alt", "Escape": "Escape"}


class Lost(Exception):
    """The hand does not find what the step is about."""


def record(app: App, place: Place, rutter: Rutter, values: Values) -> Ended:
    """`rutter record --url`, with somebody who does what the script says."""
    steps = app.script(place, values)["steps"]
    [start, *others] = [step for step in steps if step["type"] != "setViewport"]
    began = time.monotonic()
    with xvfb.screen() as display, window(rutter, start["url"], values, display) as recording:
        process, port = recording
        lost = ""
        try:
            time.sleep(FIRST_LOOK_S)
            with Eyes(port) as eyes:
                Hand(display, eyes).do_all(others)
        except (Lost, OSError, subprocess.SubprocessError) as error:
            lost = f"the hand was lost: {error}\n"
        time.sleep(LAST_LOOK_S)
        process.send_signal(signal.SIGINT)
        try:
            out, _ = process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            return Ended(124, f"{lost}the recording did not end", time.monotonic() - began)
    code = process.returncode if not lost else 3
    rutter.secrets_of_the_recording()
    return Ended(code, lost + out, time.monotonic() - began)


@contextmanager
def window(
    rutter: Rutter, url: str, values: Values, display: str
) -> Iterator[tuple["subprocess.Popen[str]", int]]:
    """A recording that is on, in a browser that can be looked into."""
    port = free_port()
    browser = rutter.data.with_name("browser.sh")
    browser.write_text(f'#!/bin/sh\nexec {chromium()} --remote-debugging-port={port} "$@"\n')
    browser.chmod(0o700)
    env = {"DISPLAY": display, "RUTTER_CHROMIUM": str(browser), "PYTHONUNBUFFERED": "1"}
    process = rutter.start("record", *rutter.recording(values, secrets=False), "--url", url, **env)
    try:
        wait_for(process, "work in the window")
        yield process, port
    finally:
        with suppress(subprocess.TimeoutExpired):
            process.wait(0)
        if process.returncode is None:
            process.kill()
            process.wait()


def wait_for(process: "subprocess.Popen[str]", words: str) -> None:
    said = []
    for line in process.stdout or ():
        said.append(line)
        if words in line:
            return
    raise AssertionError(f"it did not begin: {''.join(said)[-500:]}")


class Eyes:
    """Where on the page something is."""

    def __init__(self, port: int) -> None:
        folder = REPLAYER.install("puppeteer").parents[1]
        program = Path(__file__).with_name("eyes.mjs")
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/json/version", timeout=10):
            pass
        self._process = subprocess.Popen(
            ["node", str(program), str(port)],
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> "Eyes":
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()

    def ask(self, what: str, **more: Any) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"ask": what, **more}) + "\n")
        self._process.stdin.flush()
        answer: dict[str, Any] = json.loads(self._process.stdout.readline() or '{"error": "blind"}')
        if "error" in answer:
            raise Lost(f"{more.get('selectors', what)}: {answer['error']}")
        return answer


class Hand:
    """Moves the mouse and presses the keys of one display."""

    def __init__(self, display: str, eyes: Eyes) -> None:
        self._display, self._eyes = display, eyes
        self._offset = self._calibrated()

    def do_all(self, steps: list[dict[str, Any]]) -> None:
        for number, step in enumerate(steps, 2):
            try:
                self._do(step)
            except Lost as error:
                raise Lost(f"step {number} ({step['type']}): {error}") from error
            if step["type"] != "keyDown":  # a key that is held long comes again and again
                time.sleep(PAUSE_S)

    def _do(self, step: Mapping[str, Any]) -> None:
        match step["type"]:
            case "click":
                self._click(self._place(step))
            case "doubleClick":
                self._click(self._place(step), times=2)
            case "hover":
                self._move(*self._middle(self._place(step)))
            case "change":
                self._change(step)
            case "keyDown" | "keyUp":
                key = KEYS.get(step["key"], step["key"])
                self._x(step["type"].lower(), key)
            case "waitForElement":
                self._place(step)
            case "customStep" if step["name"] == "rutter.drag":
                self._drag(step["parameters"])
            case other:
                raise Lost(f"no hand does {other}")

    def _change(self, step: Mapping[str, Any]) -> None:
        found = self._place(step)
        self._click(found)
        if found["tag"] == "SELECT":  # its list is open now: the first letters find the entry
            self._x("type", "--delay", KEY_MS, found["label"])
            self._x("key", "Return")
            return
        self._x("key", "ctrl+a")
        self._x("type", "--delay", KEY_MS, step["value"])

    def _drag(self, wanted: Mapping[str, Any]) -> None:
        self._move(*self._middle(self._eyes.ask("place", selectors=wanted["selectors"])))
        self._x("mousedown", "1")
        there = self._eyes.ask("place", selectors=wanted["to"])
        x, y = self._middle(there)
        if at := wanted.get("position"):
            x, y = there["x"] + at["x"], there["y"] + at["y"]
        for part in range(1, 11):
            self._move(x - 60 + 6 * part, y - 30 + 3 * part)
        time.sleep(PAUSE_S / 2)
        self._x("mouseup", "1")

    def _place(self, step: Mapping[str, Any]) -> dict[str, Any]:
        wanted = {name: step[name] for name in ("selectors", "frame", "value") if name in step}
        return self._eyes.ask("place", **wanted)

    def _click(self, found: Mapping[str, Any], times: int = 1) -> None:
        self._move(*self._middle(found))
        time.sleep(0.15)
        self._x("click", "--repeat", str(times), "--delay", "90", "1")
        time.sleep(0.15)

    def _middle(self, found: Mapping[str, Any]) -> tuple[float, float]:
        return found["x"] + found["width"] / 2, found["y"] + found["height"] / 2

    def _move(self, x: float, y: float) -> None:
        left, top = self._offset
        self._x("mousemove", str(round(left + x)), str(round(top + y)))

    def _calibrated(self) -> tuple[float, float]:
        """Where the page begins on the screen, by what it says of a mouse that is somewhere."""
        self._eyes.ask("listen")
        for x, y in ((500, 500), (503, 507), (500, 520)) * 10:
            self._x("mousemove", str(x), str(y))
            time.sleep(0.2)
            if at := self._eyes.ask("pointer")["at"]:
                return x - at[0], y - at[1]
        raise Lost("the mouse does not reach the page")

    def _x(self, *arguments: str) -> None:
        xvfb.xdotool(self._display, *arguments)
