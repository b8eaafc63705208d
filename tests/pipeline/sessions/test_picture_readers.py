"""The configuration says who reads pictures, for whoever asks and for what a run begins alone."""

import asyncio
import json
import stat
from pathlib import Path

import msgspec
import pytest

from rutter.actors.rules.tools.tool_table import SEVEN
from rutter.actors.world.models.prices import PricedModel
from rutter.actors.world.models.tesseract import ReaderLacks
from rutter.events.jobs import Run, RunFree, RunGoal, RunWorkflow
from rutter.events.rows import BatchRow
from rutter.events.run_settings import GhostUse, PictureReader
from rutter.pipeline.config.reader import Config, read_config
from rutter.pipeline.config.settings import Settings
from rutter.pipeline.queries.workflows_and_sessions import Tables
from rutter.pipeline.rehearsal.scripted_model import ScriptedModel
from rutter.pipeline.sessions import picture_readers, session_started
from rutter.pipeline.sessions.attendant import BoundSecrets
from rutter.pipeline.sessions.models import closing
from rutter.pipeline.sessions.picture_readers import ghost_of, ghost_of_fork, open_readers
from rutter.pipeline.sessions.request import RunRequest, request_of, run_of_request
from rutter.pipeline.sessions.start import check_session, start_tools
from rutter.pipeline.tools.tool_sessions import ToolWish
from tests.support.case_table import for_each
from tests.support.scripted_logs import keep

ON = "[agent.ghost]\nenabled = true\n"
TOOLS = json.dumps([each.name for each in SEVEN])
MODE_B = f"[agent.internal]\nenabled = true\nallowed_tools = {TOOLS}\n"
NAMED = f"{ON}vision_provider = 'openai'\n"
BLIND = "[models.anthropic]\npictures = false\n"
TESSERACT = PictureReader("tesseract", "eng")


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-canary-1")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-2")
    monkeypatch.setattr(picture_readers, "lacking", lambda language: ReaderLacks())


def config(tmp_path: Path, text: str) -> Config:
    file = tmp_path / "config.toml"
    file.write_text(text)
    file.chmod(stat.S_IRUSR | stat.S_IWUSR)
    return read_config(None, tmp_path, {"XDG_CONFIG_HOME": "/nowhere/at/all"})


@for_each(
    "text, asked, alone",
    [
        (ON, "tesseract", "tesseract"),
        (NAMED, "openai", "tesseract"),
        (ON + MODE_B, "anthropic", "anthropic"),
        (NAMED + MODE_B, "openai", "openai"),
        (ON + MODE_B + BLIND, "tesseract", "tesseract"),
        (f"{ON}vision_provider = 'tesseract'\n{MODE_B}", "tesseract", "tesseract"),
    ],
)
def test_a_model_is_asked_by_itself_only_where_mode_b_is_on(
    tmp_path: Path, text: str, asked: str, alone: str
) -> None:
    said = config(tmp_path, text)
    use = ghost_of(said, allowed=True)
    assert (use.enabled, use.allowed, use.auto, use.max_width) == (True, True, True, 1280)
    assert (use.asked.provider, use.alone.provider) == (asked, alone)
    assert not use.asked.lacks
    if "vision_provider" not in text:
        assert ghost_of(said, allowed=True, models=False).asked == TESSERACT


@for_each("models", [True, False])
def test_a_fork_of_a_run_without_models_shows_none_a_picture_by_itself(
    tmp_path: Path, models: bool
) -> None:
    said = config(tmp_path, ON + MODE_B)
    was = ghost_of(said, allowed=True, models=models)
    assert ghost_of_fork(said, was) == was


def test_nobody_is_looked_for_where_no_picture_would_be_taken(tmp_path: Path) -> None:
    assert ghost_of(config(tmp_path, ""), allowed=True) == GhostUse(allowed=True)
    assert ghost_of(config(tmp_path, ""), allowed=False) == GhostUse()
    assert ghost_of(config(tmp_path, ON), allowed=False) == GhostUse(enabled=True, auto=True)
    by_hand = config(tmp_path, f"{ON}auto_trigger = false\nmax_image_width = 640\n")
    use = ghost_of(by_hand, allowed=True)
    assert (use.auto, use.max_width) == (False, 640)


def test_what_is_lacking_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    no = ReaderLacks("the program tesseract is not installed", "apt-get install tesseract-ocr")
    monkeypatch.setattr(picture_readers, "lacking", lambda language: no)
    use = ghost_of(config(tmp_path, NAMED), allowed=True)
    assert use.asked == PictureReader(
        lacks="no key for openai -> set OPENAI_API_KEY, or models.openai.key"
    )
    assert use.alone == PictureReader(lacks=f"{no.what} -> {no.fix}")


@for_each(
    "run",
    [
        RunWorkflow("order", allow_ghost=True),
        RunFree("https://shop.example/", allow_ghost=True),
        RunGoal("order rope", allow_ghost=True),
    ],
)
def test_what_a_job_says_of_pictures_is_what_its_request_says(run: Run) -> None:
    assert request_of(run).allow_ghost
    assert run_of_request(request_of(run)) == run


@for_each("allowed", [True, False])
def test_a_session_is_allowed_what_its_request_is(tmp_path: Path, allowed: bool) -> None:
    settings = Settings(tmp_path, config=config(tmp_path, ON))
    keep(tmp_path / "log.db")
    of_row = BatchRow("batch", 1, "digest", 1)
    with Tables(settings) as tables:
        requests = (
            RunRequest("order", values={"customer": "Ann"}, allow_ghost=allowed),
            RunRequest("order", values={"customer": "Ann"}, allow_ghost=allowed, row=of_row),
            RunRequest(url="https://shop.example/", free=True, allow_ghost=allowed),
        )
        for request in requests:
            ghost = check_session(request, tables).settings.ghost
            assert (ghost.enabled, ghost.allowed) == (True, allowed)
        wish = ToolWish(allow_ghost=allowed)
        called = start_tools(RunRequest(**msgspec.structs.asdict(wish)), tables, BoundSecrets({}))
    assert called.started.settings.ghost.allowed is allowed
    assert list(called.readers) == ["tesseract"] * allowed


def test_readers_are_those_that_a_session_is_pinned_to(tmp_path: Path) -> None:
    said = config(tmp_path, NAMED)
    started = session_started.tool_session()
    settings = msgspec.structs.replace(started.settings, ghost=ghost_of(said, allowed=True))
    started = msgspec.structs.replace(started, settings=settings)
    readers = open_readers(said, started)
    assert {name: each.client.model for name, each in readers.items()} == {
        "openai": settings.ghost.asked.model,
        "tesseract": "eng",
    }
    assert readers["openai"].price is not None
    led = PricedModel(ScriptedModel(provider="openai"))
    assert open_readers(said, started, {"openai": led})["openai"].client is led.client
    assert open_readers(said, session_started.tool_session()) == {}

    async def close() -> None:
        async with closing(readers):
            pass

    asyncio.run(close())
