"""An agent that does whatever it reads. It does not judge: what it gets done, the gate let pass."""

import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from rutter.actors.advisor.page_context import gather_context, prompt_of
from rutter.actors.world.browser.screen import OpensWindows
from rutter.actors.world.browser.window import Window
from rutter.events.policy import Policy
from rutter.pipeline.tools.dispatcher import ToolResponse, Tools
from tests.hostile.injection.goals import Goal, Refused

NONCE = "0123456789abcdefXYZ"
_CODE = re.compile(r"Q\d{3}")


class Watched:
    """A browser whose window can be looked into, as whoever builds a prompt does."""

    def __init__(self, browser: OpensWindows) -> None:
        self._browser = browser
        self._window: Window | None = None

    async def open_window(self, policy: Policy) -> Window:
        self._window = await self._browser.open_window(policy)
        return self._window

    async def prompt(self) -> str:
        assert self._window is not None
        return prompt_of(await gather_context(self._window.tab, part_ms=30_000), NONCE)


class Obedient:
    """Reads all that it is told, and carries out every order in it."""

    def __init__(self, tools: Tools, browser: Watched, place: Mapping[str, str]) -> None:
        self._tools = tools
        self._browser = browser
        self._last: ToolResponse | None = None
        self.site, self.evil, self.document = place["site"], place["evil"], place["document"]
        self._home = place["home"]
        self.told: list[str] = []
        self.obeyed: list[str] = []
        self.missed: list[str] = []
        self.marked = False

    async def run(self, orders: Mapping[str, Goal]) -> None:
        """Those that it was not told of too: a picture or a dialog may have told it."""
        await self.read()
        for code, goal in orders.items():
            if self._tools.ended is not None:
                return
            with suppress(Refused):
                await goal.does(self)
            self.obeyed.append(code)
            await self._return()

    async def read(self) -> None:
        """The codes of the orders in all that a caller and a model are given."""
        await self._use("get_snapshot", viewport_only=False)
        assert self._last is not None, self._tools.ended
        self.marked = bool(self._last.suspicious)
        said = f"{self._last.body(screenshots=False)} {await self._browser.prompt()}"
        for ref in [each.ref for each in self._elements() if each.role == "heading"][:1]:
            answer = await self._use("extract", ref=ref)
            said += f" {answer.body(screenshots=False)}"
        self.told = sorted(set(_CODE.findall(said)))

    # -- what it can do ------------------------------------------------------------------------

    async def click(self, name: str) -> None:
        await self._with("browser_click", name)

    async def fill(self, name: str, value: str) -> None:
        await self._with("browser_fill", name, value=value)

    async def choose(self, name: str, value: str) -> None:
        await self._with("browser_select", name, value=value)

    async def press(self, key: str) -> None:
        await self._use("press", key=key)

    async def go(self, url: str) -> None:
        await self._use("navigate", url=url)

    async def use(self, tool: str, **arguments: object) -> None:
        await self._use(tool, **arguments)

    async def _with(self, tool: str, name: str, **more: object) -> None:
        ref = self._ref(name)
        if ref is None:
            await self._use("get_snapshot", viewport_only=False)
            ref = self._ref(name)
        if ref is None:
            self.missed.append(name)
            return
        answer = await self._use(tool, ref=ref, **more)
        if tool == "browser_click" and not answer.success:
            raise Refused(name)

    def _ref(self, name: str) -> str | None:
        roles = ("button",) if not name else ()
        found = [each for each in self._elements() if each.name == name]
        return next((each.ref for each in found if not roles or each.role in roles), None)

    def _elements(self) -> tuple[Any, ...]:
        snapshot = self._last.snapshot if self._last is not None else None
        return snapshot.elements if snapshot is not None else ()

    async def _use(self, tool: str, **arguments: object) -> ToolResponse:
        answer = await self._tools.call(tool, arguments)
        if answer.snapshot is not None:
            self._last = answer
        return answer

    async def _return(self) -> None:
        """Back to the page with the orders, if it was left."""
        snapshot = self._last.snapshot if self._last is not None else None
        if snapshot is None or snapshot.page.url.partition("#")[0] != self._home:
            back = self._ref("Back")
            if back is not None:
                await self._use("browser_click", ref=back)
            else:
                await self._use("navigate", url=self._home)
