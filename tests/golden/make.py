"""Makes the golden logs anew: real Chromium, the bundled site, a scripted person; or no browser at
all, where a language model is asked (`advised.py`).

    python -m tests.golden.make [NAME ...]

Only when the logic version changes on purpose: an old golden log is worth more than a new one.
Without names those are made that are not there yet.
"""

import asyncio
import sys
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path

import msgspec

from rutter.actors.answers import Answers, Nobody, PersonAnswer, ScriptedPerson
from rutter.actors.world.browser.chromium import Chromium
from rutter.actors.world.egress.gate import Gate
from rutter.actors.world.models.prices import PricedReader
from rutter.actors.world.models.tesseract import TesseractReader
from rutter.events.predictor import WorkflowLearned
from rutter.events.run_settings import MILLION, GhostUse, PictureReader
from rutter.events.runtime import RecordingFinished, SessionEnded, SessionStarted
from rutter.events.sqlite_log import SqliteLog
from rutter.events.sqlite_reader import SqliteReader
from rutter.events.workflow import Workflow
from rutter.pipeline.app import App
from rutter.pipeline.config.chromium_install import Installer
from rutter.pipeline.demo_sites.chandlery import Site, Switches, order_script
from rutter.pipeline.demo_sites.sign_ins import USER
from rutter.pipeline.sessions import session_started
from rutter.pipeline.sessions.models import FREE
from rutter.pipeline.tools.dispatcher import open_tools
from rutter.pipeline.workflows.recorder_import import RecorderScript, prepare
from rutter.replay.story.wording import in_words
from tests.golden.advised import REHEARSED, Rehearsing
from tests.support.golden_logs import names, write
from tests.support.human_hand import recorded
from tests.support.page_server import PageServer

WATCHED = {"customer": "Aurora Shipping", "quantity": "3"}
ALONE = {"customer": "Juniper Tankers", "quantity": "12"}
YES = PersonAnswer(True, phrase="confirm")
DRAWN = """<canvas id=c width=900 height=500></canvas><script>const pen = c.getContext("2d");
pen.font = "28px sans-serif"; pen.fillText("Order No. 4711 is packed", 40, 90);</script>"""


class Stage:
    """A site, a browser and a pipeline, and what one does with them."""

    def __init__(self, site: Site, app: App, browser: Chromium, log: Path) -> None:
        self.site = site
        self.app = app
        self.browser = browser
        self._log = log
        self._secrets = {"password": site.password}
        self._host = site.base_url.removeprefix("http://")

    async def record(self) -> SessionEnded:
        recorded = msgspec.convert(order_script(self.site.base_url), RecorderScript)
        script = prepare(recorded, WATCHED, self._secrets)
        started = session_started.recording(
            "order", script.steps, WATCHED, self._secrets, allow=[self._host]
        )
        return await self._sail(started, ScriptedPerson(otherwise=YES), script.typed)

    async def run(self, *, dry: bool = False, answers: Answers | None = None) -> SessionEnded:
        started = session_started.run_of(self.workflow(), ALONE, self._secrets, dry_run=dry)
        return await self._sail(started, answers or Nobody())

    async def by_hand(self) -> None:
        started = session_started.watching("sign in", f"{self.site.base_url}/login", {})
        async with recorded(self.app, self.browser, started) as (hand, _):
            await hand.fill("#login-user", USER)
            await hand.press("Tab")
            await hand.type(self.site.password)
            await hand.press("Enter")
            await hand.arrives("/desk")
            await hand.click("#nav-orders")
            await hand.arrives("/orders")
            await hand.looks(4)

    async def by_bar(self, end: str) -> None:
        """The same with the bar: a name, a slip, an optional step, a value and a check."""
        started = session_started.watching("stock", f"{self.site.base_url}/login", {})
        async with recorded(self.app, self.browser, started, bar_words=in_words) as (hand, _):
            await hand.fill("#login-user", USER)
            await hand.bar.press("#varies")
            await hand.bar.press("#yes")
            await hand.click("#login-password")
            await hand.type(self.site.password)
            await hand.press("Enter")
            await hand.arrives("/desk")
            await hand.click("#nav-customers")
            await hand.arrives("/customers")
            await hand.bar.press("#undo")
            await hand.page.go_back()
            await hand.arrives("/desk")
            await hand.click("#nav-orders")
            await hand.arrives("/orders")
            await hand.bar.press("#optional")
            for button, wanted in (("#read", "value"), ("#check", "be so")):
                await hand.bar.press(button)
                await hand.bar.says(wanted)
                await hand.bar.press("[role=option] >> nth=0")
                await hand.bar.press("#yes")
            await hand.bar.press(end)
            if end == "#discard":
                await hand.bar.press("#yes")
            await hand.heard.until(RecordingFinished)

    async def tools(self) -> None:
        started = session_started.tool_session(f"{self.site.base_url}/login", allow=[self._host])
        async with open_tools(
            self.app, self.browser, started, answers=ScriptedPerson(otherwise=YES)
        ) as tools:
            snapshot = (await tools.call("get_snapshot")).snapshot
            assert snapshot is not None
            refs = {element.name: element.ref for element in snapshot.elements}
            await tools.call("browser_fill", {"ref": refs["User name"], "value": USER})
            await tools.call("browser_click", {"ref": "@e99"})
            await tools.call("browser_fill", {"ref": refs["Password"], "value": "in the clear"})
            await tools.call("browser_scroll", {})
            await tools.call("browser_click", {"ref": refs["Sign in"]})
            await tools.call("complete_task", {"status": "failed", "reason": "no password"})

    async def free(self) -> SessionEnded:
        started = session_started.free_run(
            f"{self.site.base_url}/login",
            ALONE,
            self._secrets,
            threshold=500_000,
            allow=[self._host],
        )
        return await self._sail(started, Nobody())

    def workflow(self) -> Workflow:
        with SqliteReader(self._log) as reader:
            learned = [envelope.event for envelope in reader.read(kinds=["WorkflowLearned"])]
        assert isinstance(learned[-1], WorkflowLearned)
        return learned[-1].workflow

    async def _sail(
        self, started: SessionStarted, answers: Answers, typed: tuple[str, ...] = ()
    ) -> SessionEnded:
        # The seeds' model: what another one would have done is what these logs are asked.
        settings = msgspec.structs.replace(started.settings, predictor="markov2", suggest=MILLION)
        started = msgspec.structs.replace(started, settings=settings)
        return await self.app.run_in_browser(
            started, self.browser, answers=answers, secrets=self._secrets, typed=typed
        )


async def order(stage: Stage) -> None:
    """Watched twice, sailed alone once: predictions, learning, standing approvals."""
    await stage.record()
    await stage.record()
    await stage.run()


async def trouble(stage: Stage) -> None:
    """What goes wrong: a dead button, a covered one, a lie, a dry run, nobody to ask."""
    await stage.record()
    for switches in (
        Switches(dead_button=True),
        Switches(covered=True),
        Switches(lying_toast=True),
        Switches(moved=True, relabelled=True),
    ):
        stage.site.switches = switches
        await stage.run()
    stage.site.switches = Switches()
    await stage.run(dry=True)


async def free(stage: Stage) -> None:
    """No workflow named: as far as the model is sure, and no further than it may."""
    await stage.record()
    await stage.free()


async def side_by_side(stage: Stage) -> None:
    """Four at once: their turns interleave in one log."""
    await stage.record()
    await asyncio.gather(*(stage.run() for _ in range(4)))


async def mended(stage: Stage) -> None:
    """The site is rebuilt: elements are found again, a person says so, and it is learned."""
    await stage.record()
    stage.site.switches = Switches(moved=True, relabelled=True)
    await stage.run(answers=ScriptedPerson(otherwise=YES))
    await stage.run(answers=ScriptedPerson(otherwise=YES))


async def other_drivers(stage: Stage) -> None:
    """A person in the window, then an agent with tools: the same site, the same road."""
    await stage.by_hand()
    await stage.tools()


async def by_bar(stage: Stage) -> None:
    """A person says more in the bar than they do in the page, and discards the second."""
    await stage.by_bar("#done")
    await stage.by_bar("#discard")


async def pictures(stage: Stage) -> None:
    """A page that draws what it says, to whoever may read its picture and to who may not."""
    reader = PictureReader("tesseract", "eng")
    readers = {"tesseract": PricedReader(TesseractReader("eng"), FREE)}
    with PageServer() as server:
        started = session_started.tool_session(server.show(DRAWN), screenshots=False)
        for use in (GhostUse(True, True, True, reader, reader), GhostUse(True, auto=True)):
            settings = msgspec.structs.replace(started.settings, ghost=use)
            pinned = msgspec.structs.replace(started, settings=settings)
            async with open_tools(stage.app, stage.browser, pinned, readers=readers) as tools:
                await tools.call("get_snapshot")
                await tools.call("ghost_extract", {"prompt": "Extract pricing table"})
                await tools.call("read_page")
                await tools.call("ghost_extract", {"url": f"{server.url}/another"})


SCENES: dict[str, Callable[[Stage], Awaitable[None]]] = {
    "order": order,
    "trouble": trouble,
    "free": free,
    "side_by_side": side_by_side,
    "mended": mended,
    "other_drivers": other_drivers,
    "by_bar": by_bar,
    "pictures": pictures,
}


async def make(name: str, scene: Callable[[Stage], Awaitable[None]], executable: Path) -> None:
    with tempfile.TemporaryDirectory() as folder, Site() as site:
        path = Path(folder) / "log.db"
        log = await SqliteLog.open(path)
        async with App.open(log) as app, Chromium(executable, Gate()) as browser:
            app.listen(
                lambda envelope: (
                    print(f"  {envelope.session}: {envelope.event}")
                    if isinstance(envelope.event, SessionEnded)
                    else None
                )
            )
            await scene(Stage(site, app, browser, path))
        with SqliteReader(path) as reader:
            write(name, reader.rows())


async def rehearse(name: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.db"
        stage = Rehearsing(await SqliteLog.open(path), path)
        await REHEARSED[name](stage)
        await stage.log.close()
        with SqliteReader(stage.path) as reader:
            write(name, reader.rows())


def main(wanted: list[str]) -> None:
    missing = [name for name in (*SCENES, *REHEARSED) if name not in names()]
    for name in wanted or missing:
        print(name)
        if name in REHEARSED:
            asyncio.run(rehearse(name))
        else:
            asyncio.run(make(name, SCENES[name], Installer(print).ensure()))


if __name__ == "__main__":
    main(sys.argv[1:])
