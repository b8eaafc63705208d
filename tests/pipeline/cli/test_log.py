"""`rutter log` as people type it: what it says, what it returns, what it leaves alone."""

import sqlite3
import subprocess
import sys
from contextlib import closing
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from rutter.events.sqlite_reader import SqliteReader
from rutter.pipeline.cli import terminal as gauge
from rutter.pipeline.cli.terminal import Gauge, Terminal
from rutter.pipeline.config.data_directory import DataDirectory
from tests.support.case_table import for_each
from tests.support.command_shell import ROOT, Ended, Rutter
from tests.support.data_directories import NEEDLES, holding, tamper

DONE, BAD_INPUT, ENVIRONMENT = 0, 2, 8


@pytest.fixture
def rutter(directory: DataDirectory) -> Rutter:
    """On a directory with a recording and two runs. Tests damage it: it is not derived again."""
    return Rutter(directory.root)


def events(rutter: Rutter) -> int:
    with SqliteReader(rutter.data / "log.db") as reader:
        return reader.last_seq()


def failed(ended: Ended) -> list[str]:
    """The faults that were named."""
    assert ended.code == ENVIRONMENT, ended
    return [line for line in ended.out.splitlines() if line.startswith("[FAIL]")]


class TestUse:
    def test_counts_and_sizes(self, rutter: Rutter) -> None:
        ended = rutter("log")
        assert ended.code == DONE
        first, *rest = ended.out.splitlines()
        assert first.startswith(f"{events(rutter)} events of 4 sessions, 2023-11-14 22:13:20 to")
        said = "\n".join(rest)
        assert all(word in said for word in ("artifacts", "projections", "PageObserved"))

    def test_json(self, rutter: Rutter, directory: DataDirectory) -> None:
        said = rutter.json("log")
        files = [path for path in (directory.root / "artifacts").rglob("*") if path.is_file()]
        assert (said["events"], said["sessions"], said["erased"]) == (events(rutter), 4, 0)
        assert said["artifacts"] == len(files)
        assert said["artifact_bytes"] == sum(file.stat().st_size for file in files)
        assert said["log_bytes"] >= directory.log.stat().st_size
        assert sum(kind["events"] for kind in said["kinds"]) == events(rutter)

    def test_what_was_erased_is_counted(self, rutter: Rutter) -> None:
        assert rutter("log", "erase", "run-1", "--event", "3", "--why", "x").code == DONE
        assert rutter.json("log")["erased"] == 1
        assert "1 payload erased" in rutter("log").out


class TestVerify:
    def test_a_whole_log(self, rutter: Rutter) -> None:
        ended = rutter("log", "verify")
        assert (ended.code, ended.err) == (DONE, "")
        said = "events of 4 sessions, each as it was written; 1 seal, 8 artifacts"
        assert ended.out.splitlines() == [f"[OK] {events(rutter)} {said}"]

    def test_json_of_a_whole_log(self, rutter: Rutter) -> None:
        said = rutter.json("log", "verify")
        assert said["ok"] is True
        assert said["found"]["faults"] == []

    @pytest.mark.parametrize(
        ("sql", "said"),
        [
            (
                "UPDATE events SET payload = CAST(payload || x'00' AS BLOB) WHERE seq = 50",
                "[FAIL] position 50, event 49 of record: it is not what was written: its hash does "
                "not follow",
            ),
            (
                "UPDATE events SET hash = zeroblob(32) WHERE seq = 50",
                "[FAIL] position 50, event 49 of record: it is not what was written: its hash does "
                "not follow",
            ),
            (
                "UPDATE events SET actor = 'person' WHERE seq = 50",
                "[FAIL] position 50, event 49 of record: it is not what was written: its hash does "
                "not follow",
            ),
            (
                "DELETE FROM events WHERE seq = 50",
                "[FAIL] position 50, event 49 of record: it is missing",
            ),
            (
                "DELETE FROM events WHERE session = 'run-1' AND kind = 'SessionEnded'",
                "the end of the session is missing: event",
            ),
            (
                "DELETE FROM events WHERE session = 'run-1'",
                "event 1 of run-1: the whole session is missing:",
            ),
        ],
    )
    def test_damage_is_named_by_its_place(
        self, rutter: Rutter, directory: DataDirectory, sql: str, said: str
    ) -> None:
        tamper(directory.log, sql)
        [line] = failed(rutter("log", "verify"))
        assert said in line

    def test_the_last_event_of_the_log_is_missed(
        self, rutter: Rutter, directory: DataDirectory
    ) -> None:
        tamper(directory.log, "DELETE FROM events WHERE seq = (SELECT max(seq) FROM events)")
        lines = failed(rutter("log", "verify"))
        assert any("the seal that it writes last is missing" in line for line in lines)
        assert any("the end of the log was cut off" in line for line in lines)

    def test_two_events_that_changed_places_are_named(
        self, rutter: Rutter, directory: DataDirectory
    ) -> None:
        for sql in (
            "UPDATE events SET seq = -1 WHERE seq = 50",
            "UPDATE events SET seq = 50 WHERE seq = 51",
            "UPDATE events SET seq = 51 WHERE seq = -1",
        ):
            tamper(directory.log, sql)
        assert failed(rutter("log", "verify")) == [
            "[FAIL] position 51, event 49 of record: it stands behind event 50 of its session"
        ]

    def test_a_missing_artifact_is_named(self, rutter: Rutter, directory: DataDirectory) -> None:
        next((directory.root / "artifacts").glob("*/*")).unlink()
        [line] = failed(rutter("log", "verify"))
        assert "artifact" in line
        assert "is missing at" in line

    def test_json_names_the_place(self, rutter: Rutter, directory: DataDirectory) -> None:
        tamper(directory.log, "DELETE FROM events WHERE seq = 50")
        ended = rutter("--json", "log", "verify")
        assert ended.code == ENVIRONMENT
        [fault] = ended.json["found"]["faults"]
        assert {key: fault[key] for key in ("kind", "seq", "session", "n")} == {
            "kind": "missing",
            "seq": 50,
            "session": "record",
            "n": 49,
        }

    def test_a_log_that_is_nothing_but_damage_fits_a_screen(
        self, rutter: Rutter, directory: DataDirectory
    ) -> None:
        tamper(directory.log, "UPDATE events SET payload = x'00'")
        ended = rutter("log", "verify")
        assert len(failed(ended)) == 20
        assert f"{events(rutter)} faults in {events(rutter)} events" in ended.out

    def test_it_works_beside_a_process_that_writes(
        self, rutter: Rutter, directory: DataDirectory
    ) -> None:
        directory.lock()
        try:
            assert rutter("log", "verify").code == DONE
        finally:
            directory.unlock()


class TestErase:
    def test_it_goes_and_is_told(self, rutter: Rutter) -> None:
        ended = rutter("log", "erase", "run-1", "--why", "asked to by the customer")
        assert ended.code == DONE
        first, *rest = ended.out.splitlines()
        assert first.startswith("[OK] erased ")
        assert first.endswith("payloads of run-1, 2 artifacts")
        assert any("can no longer be derived again" in line for line in rest)
        assert holding(rutter.data, NEEDLES["run-1"]) == []
        assert rutter("log", "verify").code == DONE

    def test_a_lost_workflow_is_told(self, rutter: Rutter) -> None:
        ended = rutter("log", "erase", "record", "--why", "x")
        assert "no longer known: workflow order version 1" in ended.out
        assert rutter.json("workflows") == []

    def test_the_other_commands_say_so_and_do_not_fail(self, rutter: Rutter) -> None:
        rutter("log", "erase", "run-1", "--why", "x")
        shown = rutter("show", "run-1")
        assert shown.code == DONE
        assert "payloads were erased: it can no longer be derived again" in shown.out
        replayed = rutter("replay")
        assert replayed.code == DONE
        assert "1 sessions can no longer be derived again" in replayed.out
        assert rutter("replay", "run-1").code == DONE
        listed = {row["session"]: row["reason"] for row in rutter.json("sessions")}
        assert listed == {"record": "completed", "run-1": "erased", "run-2": "completed"}
        for command in (["metrics"], ["transitions"], ["log", "rebuild"], ["show", "run-2"]):
            assert rutter(*command).code == DONE, command

    def test_json(self, rutter: Rutter) -> None:
        said = rutter.json("log", "erase", "run-1", "--event", "2", "--why", "x")
        assert said == {"session": "run-1", "payloads": 1, "artifacts": 0, "workflows": []}

    @for_each(
        "arguments, complaint",
        [
            (["nobody", "--why", "x"], "there is no session 'nobody'"),
            (["run", "--why", "x"], "there is no session 'run'"),
            (
                ["process-0001", "--why", "x"],
                "of a process only a workflow that was changed",
            ),
            (["run-1", "--event", "0", "--why", "x"], "run-1 has events 1 to"),
            (["run-1", "--event", "9999", "--why", "x"], "run-1 has events 1 to"),
            (["run-1", "--why", "  "], "the log keeps why"),
        ],
    )
    def test_bad_input_changes_nothing(
        self, rutter: Rutter, arguments: list[str], complaint: str
    ) -> None:
        before = events(rutter)
        ended = rutter("log", "erase", *arguments)
        assert ended.code == BAD_INPUT
        assert complaint in ended.complaint
        assert events(rutter) == before
        assert rutter("log", "verify").code == DONE

    def test_it_wants_to_know_why(self, rutter: Rutter) -> None:
        ended = rutter("log", "erase", "run-1")
        assert ended.code == BAD_INPUT
        assert "--why" in ended.err

    def test_what_is_erased_already_is_bad_input(self, rutter: Rutter) -> None:
        rutter("log", "erase", "run-1", "--why", "x")
        ended = rutter("log", "erase", "run-1", "--why", "x")
        assert ended.code == BAD_INPUT
        assert "erased already" in ended.complaint

    def test_a_directory_that_is_written_is_left_alone(
        self, rutter: Rutter, directory: DataDirectory
    ) -> None:
        directory.lock()
        try:
            ended = rutter("log", "erase", "run-1", "--why", "x")
        finally:
            directory.unlock()
        assert ended.code == ENVIRONMENT
        assert "is in use by process" in ended.complaint

    @pytest.mark.slow
    def test_one_that_was_cut_short_is_told_and_finished(self, rutter: Rutter) -> None:
        point = "sql:1:VACUUM"
        victim = [
            sys.executable,
            "-m",
            "tests.support.killed_eraser",
            str(rutter.data),
            "run-1",
            point,
        ]
        assert subprocess.run(victim, cwd=ROOT, capture_output=True).returncode == -9
        assert any("was cut short" in line for line in failed(rutter("log", "verify")))
        ended = rutter("log", "erase", "run-1", "--why", "again")
        assert ended.out.startswith("[OK] finished erasing run-1")
        assert rutter("log", "verify").code == DONE


class TestCarrying:
    def test_a_backup_is_used_as_it_is(self, rutter: Rutter, tmp_path: Path) -> None:
        ended = rutter("log", "backup", tmp_path / "monday")
        assert ended.code == DONE
        assert f"use it with: rutter --data {tmp_path / 'monday'}" in ended.out
        copy = Rutter(tmp_path / "monday")
        assert copy("log", "verify").code == DONE
        assert copy.json("sessions") == rutter.json("sessions")

    def test_an_export_is_imported_and_exported_again(self, rutter: Rutter, tmp_path: Path) -> None:
        one, other = tmp_path / "one.rutter", tmp_path / "other.rutter"
        assert rutter("log", "export", one).code == DONE
        elsewhere = Rutter(tmp_path / "elsewhere")
        assert elsewhere("log", "import", one).code == DONE
        assert elsewhere("log", "export", other).code == DONE
        assert one.read_bytes() == other.read_bytes()
        assert elsewhere("replay").code == DONE
        assert elsewhere.json("sessions") == rutter.json("sessions")

    def test_json(self, rutter: Rutter, tmp_path: Path) -> None:
        said = rutter.json("log", "export", tmp_path / "all.rutter")
        assert said == {
            "place": str(tmp_path / "all.rutter"),
            "events": events(rutter),
            "sessions": 4,
            "artifacts": 8,
            "missing_artifacts": 0,
            "bytes": (tmp_path / "all.rutter").stat().st_size,
            "expired_artifacts": 0,
        }

    def test_a_missing_artifact_is_told(
        self, rutter: Rutter, directory: DataDirectory, tmp_path: Path
    ) -> None:
        next((directory.root / "artifacts").glob("*/*")).unlink()
        ended = rutter("log", "backup", tmp_path / "monday")
        assert ended.code == DONE
        assert "left out, missing or changed: 1 artifact (rutter log verify names" in ended.out

    @pytest.mark.parametrize("command", ["backup", "export"])
    def test_nothing_is_overwritten(self, rutter: Rutter, tmp_path: Path, command: str) -> None:
        (tmp_path / "precious").write_text("keep")
        ended = rutter("log", command, tmp_path / "precious")
        assert ended.code == BAD_INPUT
        assert "is there already" in ended.complaint
        assert (tmp_path / "precious").read_text() == "keep"

    def test_an_import_into_a_directory_with_a_log_is_bad_input(
        self, rutter: Rutter, tmp_path: Path
    ) -> None:
        rutter("log", "export", tmp_path / "all.rutter")
        ended = rutter("log", "import", tmp_path / "all.rutter")
        assert ended.code == BAD_INPUT
        assert "has a log already" in ended.complaint

    @pytest.mark.parametrize("body", [b"", b"hello", b"PK\x03\x04 and no more"])
    def test_an_import_of_something_else_is_told(
        self, rutter: Rutter, tmp_path: Path, body: bytes
    ) -> None:
        (tmp_path / "odd").write_bytes(body)
        ended = Rutter(tmp_path / "elsewhere")("log", "import", tmp_path / "odd")
        assert ended.code == ENVIRONMENT
        assert str(tmp_path / "odd") in ended.complaint
        assert not (tmp_path / "elsewhere").exists()


class TestRebuild:
    def test_the_tables_are_the_same_again(self, rutter: Rutter, directory: DataDirectory) -> None:
        before = rutter.json("sessions")
        with closing(sqlite3.connect(directory.projections, isolation_level=None)) as db:
            db.execute("UPDATE sessions SET name = 'of another log'")
        ended = rutter("log", "rebuild")
        assert ended.code == DONE
        assert ended.out.endswith(f"tables folded anew from {events(rutter)} events\n")
        assert rutter.json("sessions") == before

    def test_json(self, rutter: Rutter) -> None:
        said = rutter.json("log", "rebuild")
        assert said["events"] == events(rutter)
        assert said["tables"] > 5

    def test_a_file_that_is_no_database_is_in_nobodys_way(
        self, rutter: Rutter, directory: DataDirectory
    ) -> None:
        for suffix in ("-wal", "-shm"):
            Path(f"{directory.projections}{suffix}").unlink(missing_ok=True)
        directory.projections.write_bytes(b"not a database at all" * 100)
        assert rutter("log", "rebuild").code == DONE
        assert len(rutter.json("sessions")) == 3


COMMANDS = [
    ["log"],
    ["log", "verify"],
    ["log", "erase", "run-1", "--why", "x"],
    ["log", "backup", "PLACE"],
    ["log", "export", "PLACE"],
    ["log", "rebuild"],
]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: " ".join(command[:2]))
class TestNoLog:
    def run(self, data: Path, command: list[str]) -> Ended:
        return Rutter(data)(*(word.replace("PLACE", str(data / "place")) for word in command))

    def test_none_is_bad_input(self, tmp_path: Path, command: list[str]) -> None:
        ended = self.run(tmp_path, command)
        assert ended.code == BAD_INPUT
        assert "there is no log at" in ended.complaint
        assert not (tmp_path / "log.db").exists()

    @for_each("body", [b"hello" * 1_000, b"SQLite format 3\0" + bytes(4_000)])
    def test_a_foreign_one_is_told_and_left_alone(
        self, tmp_path: Path, command: list[str], body: bytes
    ) -> None:
        (tmp_path / "log.db").write_bytes(body)
        ended = self.run(tmp_path, command)
        assert ended.code == ENVIRONMENT
        assert str(tmp_path / "log.db") in ended.complaint
        assert (tmp_path / "log.db").read_bytes() == body

    @pytest.mark.parametrize("share", [0.1, 0.6])
    def test_a_truncated_one_is_told_with_what_to_do(
        self, directory: DataDirectory, command: list[str], share: float
    ) -> None:
        for suffix in ("-wal", "-shm"):
            Path(f"{directory.log}{suffix}").unlink(missing_ok=True)
        directory.projections.unlink()
        body = directory.log.read_bytes()[: int(directory.log.stat().st_size * share)]
        directory.log.write_bytes(body)
        ended = self.run(directory.root, command)
        assert ended.code == ENVIRONMENT
        assert "backup" in ended.out + ended.err or "verify" in ended.err
        assert directory.log.read_bytes() == body
        assert not (directory.root / "place").exists()


class TestGauge:
    """What is drawn where somebody looks."""

    def gauge(self, monkeypatch: pytest.MonkeyPatch, now: list[float]) -> tuple[Gauge, StringIO]:
        said = StringIO()
        terminal = Terminal()
        monkeypatch.setattr(terminal, "err", Console(file=said, force_terminal=True, width=100))
        monkeypatch.setattr("rutter.pipeline.cli.terminal.time.monotonic", lambda: now[0])
        return Gauge(terminal), said

    def test_what_is_done_at_once_draws_nothing(self, monkeypatch: pytest.MonkeyPatch) -> None:
        drawn, said = self.gauge(monkeypatch, now := [0.0])
        with drawn:
            drawn("reading", 1, 10)
            now[0] = 0.9
            drawn("reading", 10, 10)
        assert said.getvalue() == ""

    def test_what_takes_longer_shows_how_far_it_is(self, monkeypatch: pytest.MonkeyPatch) -> None:
        drawn, said = self.gauge(monkeypatch, now := [0.0])
        with drawn:
            drawn("reading", 1, 10)
            now[0] = 1.5
            drawn("following the chains", 4, 10)
            drawn("copying", 0, 0)
        assert "following the chains  4/10  40%" in said.getvalue()
        assert said.getvalue().isascii()

    def test_a_pipe_is_told_nothing(self, rutter: Rutter, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(gauge, "PATIENCE_S", -1.0)
        assert rutter("log", "verify").err == ""
