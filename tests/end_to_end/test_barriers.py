"""A caller of tools is told what keeps a page from being read or used, and of no honest page."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from rutter.actors.rules.tools.tool_table import TOOLS
from rutter.actors.world.browser.chromium import Chromium
from rutter.events.artifacts import ArtifactStore
from rutter.pipeline.app import App
from rutter.pipeline.sessions import session_started
from rutter.pipeline.tools.dispatcher import open_tools
from tests.support.barrier_site import PAGES, BarrierPage, BarrierSite
from tests.support.log_checks import Replayed

pytestmark = [pytest.mark.browser, pytest.mark.anyio]

PATIENT = dict.fromkeys(TOOLS, 60_000)  # a busy machine is no reason to fail
MOST_WRONG = 2


@pytest.fixture
async def app(replayed: Replayed, tmp_path: Path) -> AsyncIterator[App]:
    log = await replayed.sqlite(tmp_path / "log.db")
    async with App.open(log, artifacts=ArtifactStore(tmp_path / "artifacts")) as running:
        yield running


async def test_what_keeps_somebody_out_is_told_and_honest_pages_are_left_alone(
    app: App, chromium: Chromium
) -> None:
    told: dict[BarrierPage, tuple[str, str, bool] | None] = {}
    with BarrierSite() as site:
        started = session_started.tool_session(
            f"{site.url}/blank", allow=[site.host], max_turns=2 * len(PAGES)
        )
        async with open_tools(app, chromium, started, timeouts_ms=PATIENT) as tools:
            for page in PAGES:
                answer = await tools.call("navigate", {"url": f"{site.url}/{page.name}"})
                found = answer.barrier
                told[page] = (found.kind, found.service, found.beside) if found else None
                print(f"{page.name:22} {told[page] or '-'} {found.detail if found else ''}")
    assert len(PAGES) == 30
    assert not {page.name: told[page] for page in PAGES if told[page] and not page.barrier}
    wrong = {page.name: told[page] for page in PAGES if told[page] != page.barrier}
    print(f"{len(PAGES) - len(wrong)} of {len(PAGES)}")
    assert len(wrong) <= MOST_WRONG, wrong
