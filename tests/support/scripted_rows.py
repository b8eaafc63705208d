"""A scripted shop takes the place of a browser for `rutter run --rows` as people type it.

Everything else is real: the command line, the file, the log on disk, every decider. The shop keeps
its orders in a file, so that it outlives whoever is killed. Run as a program, it is that command in
a process of its own; `SHOP_THAT_COUNTS_KILL=before:3` kills it when the third order is about to be
taken, `after:3` when it just was; `ctrl-c:3` is then pressed; `lost:3` closes the page then.
"""

import os
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from signal import SIGINT, SIGKILL, Signals
from typing import Any, cast

import pytest

from rutter.actors.answers import Answers, ScriptedPerson
from rutter.events.action import Action, ByRole, Parameter, Target
from rutter.events.runtime import SessionEnded, SessionStarted
from rutter.events.sqlite_log import SqliteLog
from rutter.events.workflow import Step
from rutter.pipeline.app import App, Listener
from rutter.pipeline.cli import row_runs
from rutter.pipeline.cli.main import main
from rutter.pipeline.cli.session_run import CommandPipeline
from rutter.pipeline.cli.terminal import Terminal
from rutter.pipeline.clock import Clock
from rutter.pipeline.config.settings import Settings
from rutter.pipeline.open_app import held
from rutter.pipeline.sessions import session_started
from tests.support.scripted_shop import (
    ORIGIN,
    ScriptedElement,
    ScriptedPage,
    World,
    by_css,
    effectors,
)
from tests.support.shop_sessions import YES

CUSTOMERS = ("Aurora Shipping", "Fairlead Offshore", "Juniper Tankers")
ORDERS = "SHOP_THAT_COUNTS_ORDERS"
KILL = "SHOP_THAT_COUNTS_KILL"
ORDER = tuple(
    Step(action=action)
    for action in (
        Action("navigate", url=ORIGIN + "/"),
        Action("type", target=by_css("#q"), value=Parameter("customer")),
        Action("click", target=by_css("#find")),
        Action("click", target=Target((ByRole("link", CUSTOMERS[0]),))),
        Action("type", target=by_css("#qty"), value=Parameter("quantity")),
        Action("click", target=by_css("#place")),
        Action("extract", target=by_css("#number"), name="order_number"),
    )
)
WATCHED = {"customer": CUSTOMERS[0], "quantity": "1"}


def _sheets() -> Mapping[str, ScriptedPage]:
    search = {
        "#q": ScriptedElement("input", "textbox", "Search"),
        "#find": ScriptedElement(name="Find", leads_to="/results"),
    }
    found = {
        f"li:nth-child({at}) a": ScriptedElement("a", "link", name, leads_to=f"/customers/{at}")
        for at, name in enumerate(CUSTOMERS, 1)
    }
    form = {
        "#qty": ScriptedElement("input", "spinbutton", "Quantity"),
        "#place": ScriptedElement(
            name="Place order", leads_to="/placed", submits=True, method="post"
        ),
    }
    pages = {f"/customers/{at}": ScriptedPage(name, form) for at, name in enumerate(CUSTOMERS, 1)}
    placed = ScriptedPage(
        "Placed", {"#number": ScriptedElement("output", "status", "", value="none")}
    )
    return {
        "/": ScriptedPage("Shop", search),
        "/results": ScriptedPage("Results", found),
        **pages,
        "/placed": placed,
    }


class CountingShop(World):
    """A shop's every order is a line in a file: customer, quantity."""

    def __init__(self, orders: Path) -> None:
        super().__init__(_sheets())
        self._orders = orders

    def act(self, action: Action, selector: str, typed: str) -> bool:
        if selector == "#place":
            _strike("before", SIGKILL, len(orders_in(self._orders)) + 1)
            with self._orders.open("a") as file:
                file.write(f"{self.fields['#q']},{self.fields['#qty']}\n")
            number = str(1000 + len(orders_in(self._orders)))
            _strike("after", SIGKILL, len(orders_in(self._orders)))
            _strike("ctrl-c", SIGINT, len(orders_in(self._orders)))
            if os.environ.get(KILL) == f"lost:{len(orders_in(self._orders))}":
                raise OSError("the page is gone")
            self.replace_at(
                "/placed", "#number", ScriptedElement("output", "status", "", value=number)
            )
        return super().act(action, selector, typed)


def orders_in(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


def _strike(when: str, signal: Signals, order: int) -> None:
    if os.environ.get(KILL) == f"{when}:{order}":
        os.kill(os.getpid(), signal)


class HurriedClock(Clock):
    """Nobody waits for a page that never changes: the hands are moved, and go on from there."""

    def __init__(self) -> None:
        self._ahead_ns = 0

    def now_ns(self) -> int:
        return super().now_ns() + self._ahead_ns

    def going_on(self) -> Callable[[], int]:
        return self.now_ns

    async def sleep_ms(self, ms: int) -> None:
        self._ahead_ns += ms * 1_000_000


class _Rehearsed:
    """An `App` has its sessions played in the shop."""

    def __init__(self, app: App, orders: Path) -> None:
        self._app = app
        self._orders = orders
        self.clock = app.clock

    def running(self) -> tuple[str, ...]:
        return self._app.running()

    async def stop(self, session: str, by: str) -> None:
        await self._app.stop(session, by)

    def listen(self, listener: Listener) -> None:
        self._app.listen(listener)

    async def run_in_browser(
        self,
        started: SessionStarted,
        browser: None,
        *,
        name: str,
        answers: Answers | None = None,
        secrets: Mapping[str, str] | None = None,
        **_: Any,
    ) -> SessionEnded:
        shop = CountingShop(self._orders)
        made = effectors(shop, started, answers=answers, secrets=secrets, clock=self.clock)
        return await self._app.run_session(started, made, name=name)


@asynccontextmanager
async def open_rehearsed(settings: Settings, terminal: Terminal) -> AsyncIterator[CommandPipeline]:
    """In place of `open_pipeline`."""
    with held(settings.directory):
        log, kept = await SqliteLog.open(settings.directory.log), settings.directory.artifacts
        async with App.open(log, artifacts=kept, clock=HurriedClock()) as app:
            rehearsed: Any = _Rehearsed(app, Path(os.environ[ORDERS]))
            yield CommandPipeline(rehearsed, cast("Any", None), settings, terminal)


async def record(data: Path) -> None:
    """The order, watched once; nothing of it is in the file of orders."""
    data.mkdir(parents=True)
    log = await SqliteLog.open(data / "log.db")
    started = session_started.recording("order", ORDER, WATCHED, ())
    async with App.open(log) as app:
        person = ScriptedPerson(otherwise=YES)
        made = effectors(CountingShop(data / "watched"), started, answers=person)
        ended = await app.run_session(started, made)
        assert ended.reason == "completed", ended
    assert (data / "watched").exists()
    (data / "watched").unlink()


def command(arguments: Sequence[str]) -> int:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(row_runs, "open_pipeline", open_rehearsed)
        return main(arguments)


if __name__ == "__main__":
    sys.exit(command(sys.argv[1:]))
