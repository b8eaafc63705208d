"""A page in the daemon's own browser tries everything at the daemon: nothing comes as far as its
socket. Where nothing keeps it from there most of it does come, and the guard refuses all of it."""

from pathlib import Path

import pytest

from pipeline.daemon.refusals import Refusal
from tests.cli.harbour import Harbour
from tests.daemon.onslaught import EVERY, onslaught
from tests.hostile.test_channels import KEPT_BACK, NOT_EXERCISED, SAYS_DONE

pytestmark = [pytest.mark.browser, pytest.mark.anyio, pytest.mark.timeout(600)]

ALL = {channel.name for channel in EVERY}
SHOWN = ALL - set(NOT_EXERCISED) - set(KEPT_BACK)


async def test_nothing_that_a_page_tries_comes_as_far_as_the_daemons_socket(
    harbour: Harbour, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with onslaught(harbour, tmp_path, monkeypatch) as page:
        outcome = await page.cross(SHOWN | SAYS_DONE)
        assert page.aboard.came == []
        assert page.aboard.judged == []
        assert [each.kind for each in outcome.left] == ["tool"]  # nobody has answered it
        print("SHOWN-REFUSED", SHOWN - outcome.refused)
        print("REFUSED-SHOWN", outcome.refused - SHOWN)


async def test_where_nothing_keeps_it_away_it_comes_and_the_guard_lets_none_of_it_in(
    harbour: Harbour, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with onslaught(harbour, tmp_path, monkeypatch, barred=False) as page:
        outcome = await page.cross(SHOWN | SAYS_DONE)
        print("NOT CAME", SHOWN - outcome.came)
        print("PASSED", page.aboard.passed)
        statuses = {j.status if isinstance(j, Refusal) else 200 for _, j in page.aboard.judged}
        print(statuses, len(page.aboard.judged), len(page.aboard.came), outcome.left)
