"""What the same values left open elsewhere keeps a row from being run."""

import asyncio
import shutil
from pathlib import Path

import pytest

from rutter.actors.answers import ScriptedPerson
from rutter.pipeline.cli.terminal import Terminal
from rutter.pipeline.config.settings import load
from rutter.pipeline.queries.workflows_and_sessions import Tables
from rutter.pipeline.sessions.request import RunRequest
from rutter.pipeline.sessions.start import start_session
from tests.support.scripted_rows import KILL, ORDERS, open_rehearsed
from tests.support.shop_sessions import YES
from tests.support.shop_with_rows import Shop

AURORA = {"customer": "Aurora Shipping", "quantity": "5"}


def sail_alone(data: Path, request: RunRequest) -> str:
    """`rutter run order --set ...`, with a person who says yes; how it ended."""

    async def sail() -> str:
        settings = load(str(data))
        with Tables(settings) as tables:
            leaving = start_session(request, tables)
        async with open_rehearsed(settings, Terminal()) as opened:
            name = opened.app.clock.new_id("run")
            person = ScriptedPerson(otherwise=YES)
            ended = await leaving.run(opened.app, opened.browser, name, person)
        return str(ended.reason)

    return asyncio.run(sail())


@pytest.fixture(scope="module")
def left_open(recorded: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An order was sent by a run by itself, which never saw what became of it."""
    folder = tmp_path_factory.mktemp("left-open")
    shutil.copytree(recorded, folder / "data")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(ORDERS, str(folder / "taken"))
        patch.setenv(KILL, "lost:1")
        assert sail_alone(folder / "data", RunRequest("order", values=AURORA)) != "completed"
    return folder


@pytest.fixture
def lost(shop: Shop, left_open: Path) -> Shop:
    shutil.copytree(left_open, shop.file.parent, dirs_exist_ok=True)
    assert shop.orders == ["Aurora Shipping,5"]
    return shop


def test_what_a_run_by_itself_left_open_is_not_done_again_by_a_row(lost: Shop) -> None:
    lost.write("Fairlead Offshore,1", "Aurora Shipping,5", "Aurora Shipping,6")
    ended = lost.run()
    assert lost.outcomes() == ["done", "unknown", "done"], ended
    assert lost.orders == ["Aurora Shipping,5", "Fairlead Offshore,1", "Aurora Shipping,6"]
    in_doubt = lost.table()[1]
    assert "left it open" in in_doubt["reason"]
    assert f"run order --from {in_doubt['session']}" in ended.out


def test_once_it_was_settled_the_row_is_run(lost: Shop) -> None:
    lost.write("Aurora Shipping,5")
    lost.run()
    [row] = lost.table()
    assert row["outcome"] == "unknown"
    assert sail_alone(lost.rutter.data, RunRequest("order", after=row["session"])) == "completed"
    assert lost.run().code == 0
    assert lost.outcomes() == ["done"]


def test_a_row_in_doubt_is_in_doubt_in_a_copy_of_the_file(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop.write("Aurora Shipping,5")
    with monkeypatch.context() as patch:
        patch.setenv(KILL, "lost:1")
        shop.run()
    assert shop.outcomes() == ["unknown"]
    copy = shop.file.with_name("tuesday.csv")
    copy.write_bytes(shop.file.read_bytes())
    ended = shop.rutter("run", "order", "--rows", copy)
    assert ended.code != 0
    assert len(shop.orders) == 1
    assert "run order --from" in ended.out


def test_a_row_that_was_done_since_settles_it_for_the_next(lost: Shop) -> None:
    """Whoever says --afresh has said that it is to be done, whatever was left open."""
    lost.write("Aurora Shipping,5")
    assert lost.run("--afresh").code == 0
    lost.write("Aurora Shipping,5", "Aurora Shipping,5")
    assert lost.run().code == 0
    assert len(lost.orders) == 3
