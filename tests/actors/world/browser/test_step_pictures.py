"""Recorded steps keep a small picture of their element, marked, with nothing secret on it."""

from io import BytesIO
from pathlib import Path

import msgspec
import pytest
from PIL import Image

from rutter.actors.world.browser import step_pictures
from rutter.actors.world.browser.chromium import Chromium
from rutter.actors.world.browser.step_pictures import HIGH, IN_VAIN, MARK, WIDE, StepPictures
from rutter.actors.world.browser.tab import Tab
from rutter.events.action import Box
from rutter.events.artifacts import ArtifactStore
from rutter.events.executor import StepPictured
from rutter.events.log import EventLog
from rutter.events.page import Artifact, Page
from rutter.events.predictor import WorkflowLearned
from rutter.pipeline.app import App
from rutter.pipeline.sessions import session_started
from tests.support.human_hand import recorded
from tests.support.log_checks import Replayed
from tests.support.page_server import PageServer

pytestmark = [pytest.mark.anyio, pytest.mark.browser]

SECOND = 1_000
PAGE = """<style>body { margin: 0; background: #fff; height: 3000px }
 * { border: 0; outline: 0 } #go { position: absolute; left: 600px; top: 500px; width: 100px;
 height: 40px; background: #0f0; color: #0f0 } #low { position: absolute; left: 10px; top: 2500px;
 width: 80px; height: 20px; background: #00f } #pin { position: absolute; left: 600px; top: 560px;
 width: 100px; height: 30px; background: #f00; color: #f00 }</style>
<button id=go>Go</button><input id=pin type=password value="0000"><button id=low>Low</button>"""


@pytest.fixture
def store(tmp_path: Path) -> ArtifactStore:
    return ArtifactStore(tmp_path / "artifacts")


async def pin(tab: Tab, selector: str) -> None:
    await tab.call("resolve", [{"by": "css", "selector": selector}], SECOND, within_ms=2 * SECOND)


def colours(store: ArtifactStore, artifact: Artifact) -> dict[tuple[int, ...], int]:
    with Image.open(BytesIO(store.get(artifact))) as picture:
        assert picture.size == (WIDE // 2, HIGH // 2)
        counted = picture.convert("RGB").getcolors(1 << 20) or []
    return {colour: count for count, colour in counted if isinstance(colour, tuple)}


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine may take longer for a picture than a recording waits for one."""
    monkeypatch.setattr(step_pictures, "TAKE_MS", 20 * SECOND)


async def of_pinned(tab: Tab, close_ups: StepPictures) -> Artifact:
    taken = await close_ups.take(tab)
    assert taken is not None
    kept = await close_ups.keep(taken)
    assert kept is not None
    return kept


async def test_the_element_is_marked_in_its_surroundings_and_secrets_are_covered(
    server: PageServer, tab: Tab, store: ArtifactStore
) -> None:
    await tab.navigate(server.show(PAGE), within_ms=20 * SECOND)
    await pin(tab, "#go")
    taken = await of_pinned(tab, StepPictures(store, taking=True))

    found = colours(store, taken)
    assert found[MARK] > 250
    assert found[0, 255, 0] > 900  # the button itself
    assert (255, 0, 0) not in found
    assert found[0, 0, 0] >= 50 * 15  # what was typed as a secret
    assert taken.size < 10_000


async def test_what_is_below_is_brought_into_view(
    server: PageServer, tab: Tab, store: ArtifactStore
) -> None:
    await tab.navigate(server.show(PAGE), within_ms=20 * SECOND)
    await pin(tab, "#low")
    taken = await of_pinned(tab, StepPictures(store, taking=True))

    assert colours(store, taken)[0, 0, 255] > 300


async def test_what_a_person_acted_on_is_cut_out_of_what_they_saw(
    server: PageServer, tab: Tab, store: ArtifactStore
) -> None:
    await tab.navigate(server.show(PAGE), within_ms=20 * SECOND)
    raw = await tab.call("observe", {}, within_ms=20 * SECOND)
    page = msgspec.convert({name: raw[name] for name in ("url", "viewport", "scroll")}, Page)
    box = Box(600, 500, 100, 40)

    close_ups = StepPictures(store, taking=True)
    await close_ups.remember(tab, page)
    kept = await close_ups.of_box(page, box)
    assert kept is not None
    found = colours(store, kept)
    assert found[0, 255, 0] > 900
    assert (255, 0, 0) not in found
    elsewhere = msgspec.structs.replace(page, url="https://shop.example/")
    assert await close_ups.of_box(elsewhere, box) is None
    assert await close_ups.of_box(page, Box(0, 9_000, 10, 10)) is None


async def test_where_none_can_be_had_nothing_waits_for_it(tab: Tab, store: ArtifactStore) -> None:
    """The page is gone for good: so often, and then it is not even tried."""
    close_ups = StepPictures(store, taking=True)
    await tab.page.close()

    for _ in range(IN_VAIN):
        assert close_ups.taking
        assert await close_ups.take(tab) is None
    assert not close_ups.taking
    assert await close_ups.take(tab) is None


async def test_a_recording_by_hand_has_them_where_the_person_takes_their_time(
    chromium: Chromium, server: PageServer, replayed: Replayed, tmp_path: Path
) -> None:
    log: EventLog = await replayed.sqlite(tmp_path / "log.db")
    store = ArtifactStore(tmp_path / "artifacts")
    url = server.show("<h1>Count</h1><button id=more onclick='this.append(1)'>More</button>")
    async with App.open(log, artifacts=store) as app:
        started = session_started.watching("count", url, {})
        own = msgspec.structs.replace(started.settings, pictures=True)
        started = msgspec.structs.replace(started, settings=own)
        async with recorded(app, chromium, started) as (hand, ended):
            steps = 0
            while not hand.heard.count(StepPictured) and steps < 20:
                steps += 1
                await hand.click("#more")
                await hand.looks(steps)
        assert ended["it"].reason == "completed"
        [learned] = [each.event async for each in log.read(kinds=["WorkflowLearned"])]
    assert isinstance(learned, WorkflowLearned)
    pictures = [step.picture for step in learned.workflow.steps if step.picture is not None]
    assert pictures
    assert store.get(pictures[0]).startswith(b"\x89PNG")
