"""`rutter replay`, `report` and `fork` as a person types them, on golden logs."""

import asyncio
import json
import re
import socket
import sqlite3
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from rutter.actors.logic_version import LOGIC
from rutter.events.codec import encode
from rutter.events.runtime import SessionStarted
from rutter.events.validator import ActionApproved
from rutter.pipeline.cli.main import main
from tests.support.golden_logs import envelopes, rows, to_database


@pytest.fixture
def data(tmp_path: Path) -> Path:
    to_database(tmp_path / "log.db", rows("order"))
    return tmp_path


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No network, no other process, no event loop: whoever tries is caught."""

    def refused(*_: object, **__: object) -> None:
        raise AssertionError("replay has no live path")

    with monkeypatch.context() as patch:
        patch.setattr(socket, "socket", refused)
        patch.setattr(socket, "create_connection", refused)
        patch.setattr(subprocess, "Popen", refused)
        patch.setattr(asyncio, "new_event_loop", refused)
        yield


@pytest.mark.usefixtures("alone")
def test_a_whole_log_is_decided_again_with_nothing_but_the_log(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--data", str(data), "replay"]) == 0
    assert "no divergence" in capsys.readouterr().out


@pytest.mark.usefixtures("alone")
def test_what_if_needs_no_more_than_the_log_either(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    change = data / "stricter.toml"
    change.write_text("max_steps = 18\n")
    picture = data / "curve.svg"
    asked = ["--data", str(data), "replay", "--what-if", str(change), "--curve", str(picture)]
    assert main(asked) == 0
    out = capsys.readouterr().out
    assert re.search(r"\d+ of \d+ turns would differ: 0 executions gained, 6 lost", out)
    assert picture.read_text().startswith("<svg")


def test_one_session_is_decided_again(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--data", str(data), "--json", "replay", "last"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["sessions"], report["divergence"]) == (1, None)


def test_a_divergence_is_told_with_its_place_and_exits_1(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = envelopes("order")
    place = next(e.seq for e in log if isinstance(e.event, ActionApproved))
    with sqlite3.connect(data / "log.db") as db:
        forged = ActionApproved(1, "because", "I say so", "1")
        db.execute("UPDATE events SET payload = ? WHERE seq = ?", (encode(forged), place))
    db.close()
    assert main(["--data", str(data), "replay"]) == 1
    out = capsys.readouterr().out
    assert f"validator differs at position {place}" in out
    assert "recorded: 'because'" in out
    assert "because of" in out


def test_a_missing_fact_is_an_error(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = next(e.seq for e in envelopes("order") if e.actor == "executor")
    with sqlite3.connect(data / "log.db") as db:
        db.execute("DELETE FROM events WHERE seq = ?", (place,))
    db.close()
    assert main(["--data", str(data), "replay"]) == 8
    assert re.search(r"event \d+ of session \S+ is missing", capsys.readouterr().err)


@pytest.mark.parametrize(
    ("text", "said"), [("thresold = 0.7", "thresold"), ("threshold = 7", "threshold")]
)
def test_a_misspelt_what_if_changes_nothing(
    data: Path, capsys: pytest.CaptureFixture[str], text: str, said: str
) -> None:
    change = data / "what-if.toml"
    change.write_text(text)
    assert main(["--data", str(data), "replay", "--what-if", str(change)]) == 2
    assert said in capsys.readouterr().err


def test_a_curve_that_cannot_be_written_is_bad_input(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--data", str(data), "replay", "--curve", str(data / "no" / "c.svg")]) == 2
    assert "cannot be written" in capsys.readouterr().err


def test_a_report_is_one_file(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = data / "run.html"
    assert main(["--data", str(data), "report", "last", "--out", str(place)]) == 0
    assert "Juniper Tankers" in place.read_text("utf-8")
    assert str(place) in capsys.readouterr().out


def test_a_fork_needs_steps_that_were_confirmed(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--data", str(data), "fork", "last", "--at", "99"]) == 2
    assert "19 confirmed steps" in capsys.readouterr().err


def test_other_logic_is_not_judged(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = next(e for e in envelopes("order") if isinstance(e.event, SessionStarted))
    written = b"\xa5logic\xa1" + LOGIC.encode()
    payload = encode(first.event).replace(written, b"\xa5logic\xa10")
    with sqlite3.connect(data / "log.db") as db:
        db.execute("UPDATE events SET payload = ? WHERE seq = ?", (payload, first.seq))
    db.close()
    assert main(["--data", str(data), "replay"]) == 0
    assert "1 sessions were made by another logic: not judged" in capsys.readouterr().out


# -- the flags of a what-if ------------------------------------------------------------------------


def test_flags_ask_what_if_without_a_file(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--data", str(data), "--json", "replay", "--predictor", "foresight"]) == 0
    answer = json.loads(capsys.readouterr().out)["answer"]
    assert {each["actor"] for each in answer["differences"]} == {"predictor"}


def test_flags_stand_above_the_file(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    change = data / "what-if.toml"
    change.write_text("max_steps = 18\nthreshold = 0.1\n")
    asked = ["--data", str(data), "replay", "--what-if", str(change), "--threshold", "0.5"]
    assert main(asked) == 0
    assert "0 executions gained, 6 lost" in capsys.readouterr().out
    assert main([*asked[:-1], "1.5"]) == 2
    assert "give --threshold from 0 to 1" in capsys.readouterr().err
