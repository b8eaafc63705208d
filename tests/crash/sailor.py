"""The child of the at-most-once tests: the command itself, killed at one point of its run.

Run as `python -m tests.crash.sailor`. It has everything imported and forks for every order that it
reads: a start of Python for each would double the time of a long run.
"""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, Self

import msgspec
import psutil

from rutter.actors.world.browser import chromium
from rutter.actors.world.browser.tab import Tab
from rutter.events.envelope import Envelope, Record
from rutter.events.planner import PlanProposed
from rutter.events.validator import ActionStarted
from rutter.pipeline.app import App
from rutter.pipeline.cli.main import main as rutter
from rutter.pipeline.runtime.sequencer import Sequencer
from tests.crash.appender import ROOT

MARK = "RUTTER_TEST_MARK"  # in the environment of all that one order starts
Where = Literal["numbered", "handed_over", "durable", "click", "later", "post"]
Who = Literal["us", "browser", "both"]


class Point(msgspec.Struct, frozen=True):
    """Where it dies. All of it is counted from the step that must not happen twice.

    numbered     at the turn of this number, before it goes to the log
    handed_over  the same, right after it went to the log, on disk or not
    durable      at the event of this number that is on disk, before anybody hears of it
    click        around the input: before it, between its parts, behind it
    later        so many microseconds after the intent was on disk
    post         when the server gets it: the test sees to that, not we
    """

    where: Where
    at: int = 0
    who: Who = "us"


class Order(msgspec.Struct, frozen=True):
    mark: str
    arguments: list[str]
    index: int
    point: Point | None = None


class Done(msgspec.Struct, frozen=True):
    pid: int
    code: int = 0
    over: bool = False


# -- the side of the test --------------------------------------------------------------------------


class Sailor:
    """Sails orders one after the other, each in a process of its own that may die. `switches` are
    for their browsers."""

    def __init__(self, errors: Path, *switches: str) -> None:
        self._errors = errors.open("ab")
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.crash.sailor", *switches],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
        )

    def sail(self, order: Order, started: Callable[[int], None] | None = None) -> int:
        """The code it ended with, negative for the signal that killed it. `started` is told the
        number of its process."""
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(msgspec.json.encode(order) + b"\n")
        process.stdin.flush()
        for line in process.stdout:
            done = msgspec.json.decode(line, type=Done)
            if done.over:
                return done.code
            if started is not None:
                started(done.pid)
        raise AssertionError(f"the sailor is gone: {self._errors.name}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with self._process as process:
            assert process.stdin is not None
            process.stdin.close()
        self._errors.close()


def bury(mark: str, within_s: float = 5.0) -> int:
    """Waits for all that an order started to be gone; how many had to be ended by hand."""
    family = [each for each in psutil.process_iter() if _is_marked(each, mark)]
    _, left = psutil.wait_procs(family, timeout=within_s)
    for orphan in left:
        orphan.kill()
    psutil.wait_procs(left, timeout=within_s)
    return len(left)


def _is_marked(process: psutil.Process, mark: str) -> bool:
    try:
        return process.environ().get(MARK) == mark
    except psutil.Error:
        return False


# -- the side of the one who dies ------------------------------------------------------------------


class Killer:
    """Counts from the step that matters, and strikes."""

    def __init__(self, point: Point, index: int) -> None:
        self._point = point
        self._index = index
        self._turns: int | None = None
        self._events: int | None = None
        self._intent = False
        self._parts = 0

    def install(self) -> None:
        hand_over, durable, send = Sequencer._hand_over, App._durable, Tab._send
        killer = self

        def on_turn(sequencer: Sequencer, turn: list[Record]) -> None:
            killer.turn(turn)
            killer.strike_at("numbered", killer._turns)
            hand_over(sequencer, turn)
            killer.strike_at("handed_over", killer._turns)

        def on_disk(app: App, envelope: Envelope) -> None:
            killer.event(envelope)
            killer.strike_at("durable", killer._events)
            durable(app, envelope)

        async def on_send(tab: Tab, method: str, parameters: dict[str, object]) -> dict[str, Any]:
            if not killer._intent or method != "Input.dispatchMouseEvent":
                return await send(tab, method, parameters)
            killer.strike_at("click", killer._parts)  # 0, 1, 2: before each of its parts
            killer._parts += 1
            answer = await send(tab, method, parameters)
            if parameters["type"] == "mouseReleased":
                killer.strike_at("click", 3)
            return answer

        hooks = ((Sequencer, hand_over, on_turn), (App, durable, on_disk), (Tab, send, on_send))
        for owner, real, ours in hooks:
            setattr(owner, real.__name__, ours)

    def turn(self, turn: list[Record]) -> None:
        if self._turns is not None:
            self._turns += 1
        for record in turn:
            event = record.envelope.event
            if isinstance(event, PlanProposed) and event.index == self._index:
                self._turns = self._turns or 0
                self._events = self._events or 0

    def event(self, envelope: Envelope) -> None:
        if self._events is not None:
            self._events += 1
        event = envelope.event
        if isinstance(event, ActionStarted) and event.irreversible and not self._intent:
            self._intent = True
            if self._point.where == "later":
                threading.Timer(self._point.at / 1e6, self.strike).start()

    def strike_at(self, where: Where, count: int | None) -> None:
        if self._point.where == where and count == self._point.at:
            self.strike()

    def strike(self) -> None:
        if self._point.who in ("browser", "both"):
            kill_browser(os.getpid())
        if self._point.who in ("us", "both"):
            os.kill(os.getpid(), signal.SIGKILL)


def kill_browser(of: int) -> None:
    """The browser's own process, among those that this one started."""
    for child in psutil.Process(of).children(recursive=True):
        try:
            if "chrom" in child.name() and "--type=" not in " ".join(child.cmdline()):
                child.kill()
        except psutil.Error:
            continue


def sail(order: Order) -> int:
    os.environ[MARK] = order.mark
    if order.point is not None:
        Killer(order.point, order.index).install()
    return int(rutter(order.arguments))


def main() -> None:
    chromium.QUIET = (*chromium.QUIET, *sys.argv[1:])
    say = os.dup(1)
    os.dup2(2, 1)  # what the command says is for whoever looks into a failure
    for line in sys.stdin.buffer:
        order = msgspec.json.decode(line, type=Order)
        child = os.fork()
        if child == 0:
            os.close(say)
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            os._exit(sail(order))
        os.write(say, msgspec.json.encode(Done(child)) + b"\n")
        _, status = os.waitpid(child, 0)
        code = os.waitstatus_to_exitcode(status)
        os.write(say, msgspec.json.encode(Done(child, code, over=True)) + b"\n")


if __name__ == "__main__":
    main()
