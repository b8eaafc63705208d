"""What a model was asked and answered, word for word: kept, carried, checked and erased."""

import asyncio
from pathlib import Path

import pytest

from rutter.events.advisor import AdvicePrepared, AdviceReceived, Proposal
from rutter.events.planner import AdviceRequested
from rutter.events.runtime import SessionEnded
from rutter.pipeline.config.data_directory import DataDirectory
from rutter.pipeline.upkeep.backup import back_up, export_log, import_log
from rutter.pipeline.upkeep.erase import erase
from rutter.pipeline.upkeep.inspection import inspect
from tests.support import shop_facts
from tests.support.timed_log import Ledger

ASKED, SAID = "what is on the page of Fairlead", "click the second button of Fairlead"


@pytest.fixture
def directory(tmp_path: Path) -> DataDirectory:
    """One session that asked a model."""
    root = tmp_path / "data"
    root.mkdir()
    directory = DataDirectory(root)
    prompt = directory.artifacts.put(ASKED.encode(), "application/json")
    body = directory.artifacts.put(SAID.encode(), "application/json")
    answer = AdviceReceived(
        "a1", "anthropic", "m", proposal=Proposal(shop_facts.click(), 900_000), body=body
    )
    with Ledger(directory.log) as ledger:
        ledger.write(
            shop_facts.free_run(),
            AdviceRequested("a1", "plan", "anthropic", "m"),
            AdvicePrepared("a1", prompt, 700),
            answer,
            SessionEnded("completed"),
        )
    return directory


def kept(directory: DataDirectory) -> set[bytes]:
    return {file.read_bytes() for file in (directory.root / "artifacts").glob("*/*")}


def test_they_go_wherever_the_log_goes(directory: DataDirectory, tmp_path: Path) -> None:
    both = {ASKED.encode(), SAID.encode()}
    out = export_log(directory, tmp_path / "all.rutter")
    back_up(directory, tmp_path / "monday")
    elsewhere = DataDirectory(tmp_path / "elsewhere")
    import_log(elsewhere, tmp_path / "all.rutter")

    assert out.artifacts == 2
    assert kept(elsewhere) == kept(DataDirectory(tmp_path / "monday")) == both


@pytest.mark.parametrize("text", [ASKED, SAID])
def test_one_that_is_gone_or_changed_is_a_fault(directory: DataDirectory, text: str) -> None:
    def faults() -> list[str]:
        return [fault.kind for fault in inspect(directory).faults if fault.kind == "artifact"]

    assert faults() == []
    files = (directory.root / "artifacts").glob("*/*")
    [place] = [file for file in files if file.read_text() == text]
    place.write_text("another text")
    assert faults() == ["artifact"]
    place.unlink()
    assert faults() == ["artifact"]


def test_they_are_erased_with_their_session(directory: DataDirectory) -> None:
    gone = asyncio.run(erase(directory, "run-1", None, "asked to"))

    assert gone.artifacts == 2
    assert kept(directory) == set()


def test_a_prompt_is_erased_alone_and_the_answer_stays(directory: DataDirectory) -> None:
    assert asyncio.run(erase(directory, "run-1", 3, "asked to")).artifacts == 1
    assert kept(directory) == {SAID.encode()}
