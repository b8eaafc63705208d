"""A page that tells programs nothing is read from a picture of it, by whoever may be asked to."""

import shutil
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from rutter.actors.rules.steps.ghost import SHUT
from rutter.actors.rules.tools.picture_prompts import ALL_TEXT
from rutter.actors.rules.tools.tool_table import TOOLS
from rutter.actors.world.browser.chromium import Chromium
from rutter.actors.world.models.messages import ModelClient, Prompt, Reply
from rutter.actors.world.models.prices import PricedReader
from rutter.actors.world.models.tesseract import TesseractReader
from rutter.events.action import Action
from rutter.events.artifacts import ArtifactStore
from rutter.events.page import Artifact
from rutter.events.planner import AdviceRequested
from rutter.events.run_settings import GhostUse, PictureReader
from rutter.events.runtime import SessionStarted
from rutter.events.sqlite_log import SqliteLog
from rutter.events.sqlite_reader import SqliteReader
from rutter.events.workflow import Expectation, Place, Step, Workflow
from rutter.pipeline.app import App
from rutter.pipeline.sessions import session_started
from rutter.pipeline.sessions.models import FREE
from rutter.pipeline.tools.dispatcher import ToolResponse, Tools, open_tools
from rutter.replay.projections.store import ProjectionStore
from rutter.replay.steps import steps_in
from rutter.replay.story.session_story import tell
from rutter.replay.story.step_details import details
from rutter.replay.verify import verify
from rutter.replay.whatif import ChangedSettings, ask
from tests.support.barrier_site import PAGES, BarrierSite
from tests.support.log_checks import Replayed, envelopes_of, events_of
from tests.support.page_server import PageServer
from tests.support.tesseract import needed

pytestmark = [pytest.mark.browser, pytest.mark.anyio, needed()]

PATIENT = dict.fromkeys(TOOLS, 60_000)  # a busy machine is no reason to fail
HERE = PictureReader("tesseract", "eng")
USE = GhostUse(True, True, True, HERE, HERE)
DRAWN = """<body style="margin:0"><canvas id=c width=1000 height=500></canvas><script>
const pen = c.getContext("2d"); pen.font = "28px sans-serif";
["Order No. 4711 is packed", "Total 12.50 EUR"].forEach(
    (line, at) => pen.fillText(line, 40, 90 + 70 * at));</script>"""
# A call's row is the step that it led to; a look that goes on with a picture is two.
TRACE = [
    ("navigate", "dom", "ok"),
    ("get_snapshot", "ghost", "ok"),
    ("ghost_extract", "ghost", "ok"),
    ("read_page", "ghost", "ok"),
    ("navigate", "dom", "ok"),
    ("ghost_extract", "ghost", "ok"),
    ("ghost_extract", "ghost", "ok"),
    ("ghost_extract", "dom", "failed"),
]
TEXT = "Order No. 4711 is packed\nTotal 12.50 EUR"


class Sighted(ModelClient):
    """A model that sees keeps what it was shown."""

    provider = "anthropic"
    model = "m"

    def __init__(self) -> None:
        self.shown: list[bytes] = []

    async def complete(self, prompt: Prompt, *, within_ms: int) -> Reply:
        self.shown += [each for turn in prompt.turns for each in getattr(turn, "pictures", ())]
        return Reply("m", "said", text="seen")

    async def aclose(self) -> None:
        """It holds nothing."""


class Ghosts:
    """Sessions run in one pipeline, with a log of their own."""

    def __init__(self, app: App, log: SqliteLog, chromium: Chromium, place: Path) -> None:
        self.app, self.log, self.chromium, self.place = app, log, chromium, place
        self.artifacts = ArtifactStore(place / "artifacts")
        self.readers = {"tesseract": PricedReader(TesseractReader("eng"), FREE)}

    def tools(
        self,
        url: str,
        use: GhostUse,
        readers: Mapping[str, PricedReader] | None = None,
        terms: Mapping[str, Any] | None = None,
        **more: Any,
    ) -> AbstractAsyncContextManager[Tools]:
        terms = {"screenshots": False, **(terms or {})}
        started = with_ghost(session_started.tool_session(url, **terms), use)
        readers = readers or self.readers
        given = {"timeouts_ms": PATIENT, "readers": readers, **more}
        return open_tools(self.app, self.chromium, started, **given)


def with_ghost(started: SessionStarted, use: GhostUse) -> SessionStarted:
    settings = msgspec.structs.replace(started.settings, ghost=use)
    return msgspec.structs.replace(started, settings=settings)


@pytest.fixture
async def ghosts(replayed: Replayed, chromium: Chromium, tmp_path: Path) -> AsyncIterator[Ghosts]:
    log = await replayed.sqlite(tmp_path / "log.db")
    async with App.open(log, artifacts=ArtifactStore(tmp_path / "artifacts")) as app:
        yield Ghosts(app, log, chromium, tmp_path)


def read(answer: ToolResponse) -> tuple[str, str | None, int]:
    assert answer.success, answer
    return answer.render_mode, answer.result, len(answer.artifacts)


async def test_what_is_drawn_is_read_when_asked_for_and_when_the_page_says_nothing_else(
    ghosts: Ghosts, server: PageServer
) -> None:
    drawn, plain = server.show(DRAWN), server.show("<h1>Plain</h1><p>Words.</p>")
    async with ghosts.tools(drawn, USE) as tools:
        for tool in ("get_snapshot", "ghost_extract", "read_page"):
            assert read(await tools.call(tool)) == ("ghost", TEXT, 1), tool
        assert read(await tools.call("navigate", {"url": plain})) == ("dom", None, 0)
        answer = await tools.call("ghost_extract", {"url": drawn, "viewport_only": True})
        assert read(answer) == ("ghost", TEXT, 1)
        nothing = await tools.call("ghost_extract", {"prompt": "Extract pricing table"})
        assert (nothing.error, nothing.error_code) == ("nothing_read", "execution_error")
    with ProjectionStore(ghosts.place / "tables.db") as store:
        with SqliteReader(ghosts.place / "log.db") as reader:
            store.catch_up(reader)
        rows = store.rows("SELECT tool_name, render_mode, status FROM step_trace ORDER BY n")
        [calls] = store.rows("SELECT model_calls FROM sessions")
        [priced] = store.rows("SELECT count(*) AS n FROM model_calls WHERE cost_microdollars = 0")
    assert [tuple(row.values()) for row in rows] == TRACE
    assert (calls["model_calls"], priced["n"]) == (0, 5), "tesseract is no model"
    story = tell(await envelopes_of(ghosts.log, tools.session))
    told = [line for step in story.steps for line in details(step)]
    assert sum("read from a picture of the page (ghost)" in line for line in told) == 4
    assert sum("ghost (Extract all visible text), tesseract eng" in line for line in told) == 4


SIGN_UP = """<h1>Sign up</h1><p style="font-size: 30px">harbour-9 is your name.</p>
<p><input name=password autocomplete=current-password value=hunter-2 style="font-size: 30px"></p>
<p style="font-size: 30px">It was sent as lantern-55 by mail.</p>"""


@pytest.mark.parametrize("viewport_only", [False, True])
async def test_secrets_are_covered_in_every_picture_that_is_read_sent_or_kept(
    ghosts: Ghosts, server: PageServer, viewport_only: bool
) -> None:
    sighted = Sighted()
    use = msgspec.structs.replace(USE, asked=PictureReader("anthropic", "m"))
    readers = {"anthropic": PricedReader(sighted)}
    page, secrets = server.show(SIGN_UP), {"pin": "lantern-55"}
    async with ghosts.tools(page, use, readers, secrets=secrets) as tools:
        answer = await tools.call("ghost_extract", {"viewport_only": viewport_only})
    assert read(answer) == ("ghost", "seen", 1)
    kept = [ghosts.artifacts.get(Artifact(each, 0)) for each in answer.artifacts]
    assert kept == sighted.shown
    seen = (await TesseractReader("eng").vision(kept, ALL_TEXT, within_ms=60_000)).text
    assert "harbour-9 is your name" in seen
    assert "hunter" not in seen
    assert "lantern" not in seen


@pytest.mark.parametrize(
    ("use", "error"),
    [
        (GhostUse(), "ghost_refused"),
        (GhostUse(allowed=True), "ghost_refused"),
        (GhostUse(enabled=True, auto=True), "ghost_refused"),
        (GhostUse(True, True, True), "no_reader"),
    ],
)
async def test_where_it_may_not_be_no_picture_is_taken_and_nothing_sent(
    ghosts: Ghosts, server: PageServer, use: GhostUse, error: str
) -> None:
    async with ghosts.tools(server.show(DRAWN), use) as tools:
        asked = await tools.call("ghost_extract", {"url": f"{server.url}/another"})
        looked = await tools.call("read_page")
        assert not any(each.is_file() for each in (ghosts.place / "artifacts").rglob("*"))
    assert asked.error == error
    assert looked.error == (error if use.auto else "")
    assert "/another" not in server.asked
    said = await events_of(ghosts.log, tools.session)
    assert not any(isinstance(each, AdviceRequested) for each in said)


async def test_every_page_that_is_shut_is_read_or_says_why_not_and_no_other_is(
    ghosts: Ghosts,
) -> None:
    wrong = {}
    with BarrierSite() as site:
        use, terms = USE, {"allow": [site.host], "max_turns": 2 * len(PAGES)}
        async with ghosts.tools(f"{site.url}/blank", use, terms=terms) as tools:
            for page in PAGES:
                answer = await tools.call("navigate", {"url": f"{site.url}/{page.name}"})
                barrier = answer.barrier
                shut = barrier is not None and barrier.kind in SHUT and not barrier.beside
                said = answer.result or answer.message
                print(f"{page.name:22} {answer.render_mode:5} {said!r:.80}")
                read = answer.render_mode == "ghost" or said.startswith("nothing_read")
                if read != shut:
                    wrong[page.name] = answer
    assert not wrong


async def test_a_recorded_reading_reads_the_picture_and_its_run_is_derived_again_without(
    ghosts: Ghosts, server: PageServer
) -> None:
    url = server.show(DRAWN)
    there = Place(server.url, url.removeprefix(server.url))
    steps = (
        Step(Action("navigate", url=url), after=Expectation(place=there)),
        Step(Action("read_page", name="order"), before=there),
    )
    flow = Workflow("orders", 1, steps, hosts=(server.host,))
    started = with_ghost(session_started.run_of(flow, {}, (), allow=[server.host]), USE)
    ended = await ghosts.app.run_in_browser(
        started, ghosts.chromium, name="run-1", readers=ghosts.readers
    )
    assert ended.reason == "completed", ended
    events = await envelopes_of(ghosts.log, "run-1")
    assert steps_in(events).results.texts == {"order": TEXT}
    shutil.rmtree(ghosts.place / "artifacts")
    assert verify(events).ok
    assert ask(events, ChangedSettings(models=False)).differences == ()
    assert ask(events, ChangedSettings(max_steps=1)).differences
