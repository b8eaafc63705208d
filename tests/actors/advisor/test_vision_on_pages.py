"""Vision and files through the real effectors, on real pages."""

import struct
from pathlib import Path
from typing import Any

import msgspec
import pytest

from rutter.actors.advisor.picture_advice import MAX_WIDTH, VisionAdvisor
from rutter.actors.effector import Effector
from rutter.actors.observer.actor import Observer
from rutter.actors.vision import ScriptedVision, VisionSaid
from rutter.actors.world.browser.chromium import Chromium
from rutter.actors.world.browser.screen import Screen
from rutter.actors.world.browser.window import Window
from rutter.events.action import Action
from rutter.events.advisor import VisionGiven
from rutter.events.artifacts import ArtifactStore
from rutter.events.chain import GENESIS
from rutter.events.checks import FileContains, FileExists, UrlHas
from rutter.events.critic import ActionJudged, FilesRequested, VisionSought
from rutter.events.envelope import Envelope
from rutter.events.observer import FileSeen, FilesSeen
from rutter.events.vocabulary import AnyEvent
from rutter.events.workflow import Step
from rutter.pipeline.app import App
from rutter.pipeline.sessions import session_started
from rutter.pipeline.sessions.session_started import Given
from tests.support.browser_fixtures import OneWindow
from tests.support.log_checks import Replayed, events_of
from tests.support.page_server import PageServer
from tests.support.policies import HERE

pytestmark = [pytest.mark.browser, pytest.mark.anyio]


async def tell(effector: Effector, event: AnyEvent) -> Any:
    envelope = Envelope(1, "run", 1, 0, "critic", 0, event, GENESIS)
    (said,) = [fact async for fact in effector.handle(envelope)]
    return said


async def test_a_page_is_looked_at_and_a_closed_one_is_unknown(
    window: Window, tmp_path: Path
) -> None:
    await window.tab.page.set_viewport_size({"width": 2_000, "height": 900})
    await window.tab.page.set_content("<h1>Order saved</h1><p style='height:5000px'>")
    screen, store = Screen(OneWindow(window), HERE), ArtifactStore(tmp_path)
    await screen.open()
    vision = ScriptedVision(VisionSaid("VERIFIED", "eyes-1"), VisionSaid("VERIFIED"))
    advisor = VisionAdvisor(screen, store, vision)
    given = await tell(advisor, VisionSought(2, 1, "Order saved"))
    assert isinstance(given, VisionGiven)
    assert (given.said, given.provider, given.screenshot is None) == ("VERIFIED", "eyes-1", False)
    [(picture, checked)] = vision.asked
    assert (checked, store.get(given.screenshot)) == ("Order saved", picture)  # type: ignore[arg-type]
    assert picture.startswith(b"\x89PNG")
    width, height = struct.unpack(">II", picture[16:24])
    assert width == MAX_WIDTH
    assert height < width  # what is in view, and no more

    await window.close()
    gone = await tell(advisor, VisionSought(3, 1, "Order saved"))
    assert (gone.said, gone.screenshot, len(vision.asked)) == ("UNKNOWN", None, 1)
    assert gone.message


async def test_the_observer_looks_at_files_of_the_folders_of_its_policy(
    window: Window, tmp_path: Path
) -> None:
    (tmp_path / "a.txt").write_text("Aurora")
    observer = Observer(Screen(OneWindow(window), HERE), None)
    await tell(observer, session_started.tool_session(given=Given(folders=(str(tmp_path),))))
    checks = (FileContains("Aurora", path="a.txt"), FileExists("../a.txt"))
    seen = await tell(observer, FilesRequested(2, checks, 0))
    assert isinstance(seen, FilesSeen)
    assert seen.files[0] == FileSeen("a.txt", True, 6, holds=True)
    assert seen.files[1].error == "policy_denied"
    (tmp_path / "a.txt").write_text("Boreas and Aurora")
    changed = await tell(observer, FilesRequested(2, checks, 60_000))  # told before: at once
    assert changed.files[0].size == 17


@pytest.mark.parametrize("given", [VisionSaid("VERIFIED", "eyes-1"), None])
async def test_a_run_asks_whoever_it_was_given_and_fails_all_the_same(
    chromium: Chromium,
    server: PageServer,
    replayed: Replayed,
    tmp_path: Path,
    given: VisionSaid | None,
) -> None:
    (tmp_path / "report.txt").write_text("Aurora: 3 ropes")
    script = (
        Step(Action("navigate", url=server.show("<h1>Order saved</h1>"))),
        Step(Action("check", verify=(FileContains("3 ropes", path="report.txt"),))),
        Step(Action("check", verify=(UrlHas("/orders/"),))),
    )
    allow, folders = (
        [server.url.removeprefix("http://")],
        session_started.Given(folders=(str(tmp_path),)),
    )
    started = session_started.recording("look", script, {}, (), allow=allow, given=folders)
    settings = msgspec.structs.replace(started.settings, vision=True)
    started = msgspec.structs.replace(started, settings=settings)
    log, vision = replayed.memory(), ScriptedVision(given) if given is not None else None
    async with App.open(log, artifacts=ArtifactStore(tmp_path / "artifacts")) as app:
        ended = await app.run_in_browser(started, chromium, name="look-1", vision=vision)
    events = await events_of(log, "look-1")
    [said] = [each for each in events if isinstance(each, VisionGiven)]
    judged = [each for each in events if isinstance(each, ActionJudged)]
    assert [each.verdict == "confirmed" for each in judged] == [True, True, False]
    assert {each.source for each in judged[1].evidence} >= {"FILE"}
    assert (ended.reason, ended.failure) == ("failed", "verification_failed")
    if given is None:
        assert (said.said, said.message) == ("UNKNOWN", "no vision is configured")
        assert judged[2].confidence == 400_000
    else:
        assert (said.said, said.provider, said.screenshot is None) == ("VERIFIED", "eyes-1", False)
        assert judged[2].confidence == 650_000
