"""`rutter log`, `log tidy`, `log erase --text` and `export --all` as people type them."""

import csv
import io
import json
import sqlite3
import zipfile
from pathlib import Path

import pytest

from rutter.events.sqlite_reader import SqliteReader
from rutter.pipeline.config.data_directory import DataDirectory
from tests.support.case_table import for_each
from tests.support.command_shell import Rutter, check_logs
from tests.support.data_directories import holding
from tests.support.small_disk import small_disk_of

DONE, BAD_INPUT, ENVIRONMENT = 0, 2, 8
NAME = "Fairlead Offshore"


@pytest.fixture
def rutter(directory: DataDirectory) -> Rutter:
    return Rutter(directory.root)


def artifacts(directory: DataDirectory) -> list[Path]:
    return [path for path in directory.artifacts.root.rglob("*") if path.is_file()]


def table(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


class TestTidy:
    def test_a_dry_run_says_what_would_go_and_nothing_does(
        self, rutter: Rutter, directory: DataDirectory
    ) -> None:
        ended = rutter("log", "tidy", "--dry-run")
        assert ended.code == DONE
        assert ended.out.splitlines() == [
            "[OK] 3 artifacts would go, 7600 B",
            "     keep.screenshots_days = 30: 3 artifacts, 7600 B",
            f"     do it: rutter --data {directory.root} log tidy",
            "     kept, for a workflow that is known or a session that runs: 5 artifacts, 8800 B",
        ]
        assert len(artifacts(directory)) == 8

    def test_it_goes_and_everything_works_on(
        self, rutter: Rutter, directory: DataDirectory, tmp_path: Path
    ) -> None:
        whole = rutter.json("show", "run-1")
        assert rutter("log", "tidy").out.startswith("[OK] 3 artifacts went, 7600 B")
        verified = rutter("log", "verify")
        assert verified.code == DONE
        assert "3 artifacts expired by rule" in verified.out
        assert rutter("replay").code == DONE
        shown = rutter.json("show", "run-1")
        assert len(shown.pop("expired")) == 2
        assert shown == whole
        page = tmp_path / "page.html"
        assert rutter("report", "run-1", "--out", page).code == DONE
        assert "the picture has expired" in page.read_text()
        assert rutter("trace", "--file", tmp_path / "trace.json").code == DONE
        assert "3 artifacts expired" in rutter("log").out
        check_logs(directory.root)

    def test_where_nothing_has_expired_nothing_is_said(
        self, rutter: Rutter, directory: DataDirectory
    ) -> None:
        rutter("log", "tidy")
        with SqliteReader(directory.log) as reader:
            before = reader.last_seq()
            assert rutter("log", "tidy").out.startswith("[OK] nothing has expired")
            assert reader.last_seq() == before

    def test_one_that_was_lost_is_another_matter(
        self, rutter: Rutter, directory: DataDirectory
    ) -> None:
        rutter("log", "tidy")
        artifacts(directory)[0].unlink()
        assert rutter("log", "verify").code == ENVIRONMENT

    def test_a_backup_and_an_export_say_what_had_expired(
        self, rutter: Rutter, tmp_path: Path
    ) -> None:
        rutter("log", "tidy")
        for ended in (
            rutter("log", "backup", tmp_path / "copy"),
            rutter("log", "export", tmp_path / "all.rutter"),
            Rutter(tmp_path / "new")("log", "import", tmp_path / "all.rutter"),
        ):
            assert ended.code == DONE
            assert "had expired before: 3 artifacts" in ended.out
            assert "missing or changed" not in ended.out
        assert Rutter(tmp_path / "copy")("log", "verify").code == DONE

    def test_the_rules_are_the_configurations(
        self, rutter: Rutter, directory: DataDirectory
    ) -> None:
        (directory.root / "config.toml").write_text("[keep]\nscreenshots_days = 0\n")
        (directory.root / "config.toml").chmod(0o600)
        assert rutter("log", "tidy").out.startswith("[OK] nothing has expired")

    def test_with_no_log_there_is_nothing_to_tidy(self, tmp_path: Path) -> None:
        empty = Rutter(tmp_path / "none")
        assert empty("log", "tidy").code == BAD_INPUT
        assert not (tmp_path / "none").exists()


class TestUse:
    def test_it_says_what_could_be_freed_and_how(
        self, rutter: Rutter, directory: DataDirectory
    ) -> None:
        out = rutter("log").out
        tidy = f"rutter --data {directory.root} log tidy"
        assert f"could be freed: 3 artifacts that have expired, 7600 B: {tidy}" in out
        assert all(word in out for word in ("screenshots", "largest session", "older"))

    def test_json(self, rutter: Rutter) -> None:
        said = rutter.json("log")
        assert {part["what"] for part in said["parts"]} >= {"log", "tables", "screenshots"}
        assert said["by_session"][0]["bytes"] >= said["by_session"][1]["bytes"]
        assert said["freeable"][0]["command"] == "log tidy"


class TestEraseText:
    def test_a_dry_run_counts_per_session_and_changes_nothing(
        self, rutter: Rutter, directory: DataDirectory
    ) -> None:
        ended = rutter("log", "erase", "--text", NAME, "--dry-run")
        assert ended.code == DONE
        assert ended.out.startswith("[OK] would erase 86 payloads of 1 session")
        assert "run-1: 20 events hold it; all 86 of it go" in ended.out
        assert "log.db" in holding(directory.root, NAME)

    def test_no_byte_is_left_and_what_remains_is_told(
        self, rutter: Rutter, directory: DataDirectory
    ) -> None:
        ended = rutter("log", "erase", "--text", NAME, "--why", "asked to")
        assert ended.code == DONE
        assert "[OK] erased 86 payloads of 1 session, 2 artifacts" in ended.out
        assert "not reached: backups, exports" in ended.out
        assert holding(directory.root, NAME) == []
        assert rutter("log", "verify").code == DONE
        assert rutter("replay").code == DONE

    def test_it_can_come_from_stdin_so_that_no_history_has_it(
        self, rutter: Rutter, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("sys.stdin", io.StringIO(f"{NAME}\n"))
        assert rutter.json("log", "erase", "--text", "-", "--dry-run")["payloads"] == 86

    @for_each(
        "arguments, said",
        [
            ((), "it erases one session, or what holds a text"),
            (("run-1", "--text", NAME), "it erases one session, or what holds a text"),
            (("--text", NAME), "the log keeps why something was erased"),
            (("--text", NAME, "--event", "3", "--why", "x"), "--event is of one session"),
            (("--text", "abc", "--why", "x"), "3 letters are in every other word"),
            (("--text", "Nobody At All", "--why", "x"), "nothing in the log or its artifacts"),
            (("--text", NAME, "--why", f"for {NAME}"), "the reason is kept in the log"),
            (("run-1", "--dry-run", "--why", "x"), "--dry-run is of --text"),
        ],
    )
    def test_what_cannot_be_done_is_bad_input(
        self, rutter: Rutter, directory: DataDirectory, arguments: tuple[str, ...], said: str
    ) -> None:
        ended = rutter("log", "erase", *arguments)
        assert ended.code == BAD_INPUT
        assert said in ended.complaint
        with SqliteReader(directory.log) as reader:
            assert not any("Erased" in row[6] for row in reader.rows())


class TestExportAll:
    def test_a_folder_with_everything_in_open_formats(self, rutter: Rutter, tmp_path: Path) -> None:
        place = tmp_path / "all"
        ended = rutter("export", "--all", place)
        assert ended.code == DONE
        assert ended.out.startswith(f"[OK] {place}: 1 workflow, 3 sessions, 8 artifacts in ")
        readme = (place / "README.txt").read_text()
        for path in place.rglob("*"):
            top = path.relative_to(place).parts[0]
            assert top in readme or top == "README.txt"
        assert json.loads((place / "workflows/order/recorder.json").read_text())["steps"]
        compile((place / "workflows/order/playwright.py").read_text(), "order.py", "exec")
        lines = (place / "sessions/sessions.jsonl").read_text().splitlines()
        assert [json.loads(line)["session"] for line in lines] == ["record", "run-1", "run-2"]
        steps = table(place / "sessions/steps.csv")
        assert {step["session"] for step in steps} == {"record", "run-1", "run-2"}
        assert json.loads((place / "metrics.json").read_text())
        assert Rutter(tmp_path / "again")("log", "import", place / "log.rutter").code == DONE

    def test_every_artifact_is_where_the_list_says(self, rutter: Rutter, tmp_path: Path) -> None:
        rutter("log", "tidy")
        place = tmp_path / "all"
        assert "expired or missing: 3 artifacts" in rutter("export", "--all", place).out
        rows = table(place / "artifacts/index.csv")
        expired = [row for row in rows if row["file"].startswith("expired (keep.screenshots_days")]
        there = [row for row in rows if row not in expired]
        assert len({row["sha256"] for row in expired}) == 3
        assert all((place / row["file"]).stat().st_size == int(row["bytes"]) for row in there)

    def test_one_file(self, rutter: Rutter, tmp_path: Path) -> None:
        place = tmp_path / "all.zip"
        assert rutter.json("export", "--all", place)["files"] > 10
        with zipfile.ZipFile(place) as packed:
            assert packed.testzip() is None
            assert "README.txt" in packed.namelist()
        assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []

    def test_tokens_logins_and_addresses_that_open_something_are_not_in_it(
        self, rutter: Rutter, directory: DataDirectory, tmp_path: Path
    ) -> None:
        (directory.root / "person.token").write_text("token-of-the-person")
        (directory.root / "logins").mkdir()
        (directory.root / "logins" / "shop").write_text("a-kept-login")
        config = directory.root / "config.toml"
        config.write_text(
            '[notify]\nurls = ["https://hooks.example/T0/secret-path"]\n'
            '[secrets.password]\nsource = "env:SHOP_PASSWORD"\n'
        )
        config.chmod(0o600)
        place = tmp_path / "all"
        assert rutter("export", "--all", place).code == DONE
        for word in ("token-of-the-person", "a-kept-login", "secret-path"):
            assert holding(place, word) == []
        said = (place / "configuration.json").read_text()
        assert "https://hooks.example/..." in said
        assert "env:SHOP_PASSWORD" in said

    def test_nothing_is_written_over(self, rutter: Rutter, tmp_path: Path) -> None:
        place = tmp_path / "all"
        place.mkdir()
        ended = rutter("export", "--all", place)
        assert (ended.code, list(place.iterdir())) == (BAD_INPUT, [])
        assert "is there already" in ended.complaint

    def test_it_is_read_beside_a_writer(self, rutter: Rutter, tmp_path: Path) -> None:
        directory = DataDirectory(rutter.data)
        directory.lock()
        try:
            assert rutter("export", "--all", tmp_path / "all").code == DONE
        finally:
            directory.unlock()

    def test_on_a_full_disk_nothing_is_left_of_it(self, rutter: Rutter, tmp_path: Path) -> None:
        with small_disk_of("64k", tmp_path) as small:
            ended = rutter("export", "--all", small / "all")
            assert (ended.code, list(small.iterdir())) == (ENVIRONMENT, [])
            assert "no space left" in ended.complaint

    @pytest.mark.parametrize("arguments", [("order",), ("--format", "recorder"), ()])
    def test_what_to_export_must_be_said(self, rutter: Rutter, arguments: tuple[str, ...]) -> None:
        ended = rutter("export", *arguments)
        assert ended.code == BAD_INPUT
        assert "it is not said what to export" in ended.complaint

    def test_all_is_not_one_workflow(self, rutter: Rutter, tmp_path: Path) -> None:
        ended = rutter("export", "order", "--all", tmp_path / "all")
        assert (ended.code, (tmp_path / "all").exists()) == (BAD_INPUT, False)

    def test_a_workflow_that_others_have_no_words_for_says_why(
        self, rutter: Rutter, directory: DataDirectory, tmp_path: Path
    ) -> None:
        rutter("sessions")
        with sqlite3.connect(directory.projections) as tables:
            [(body,)] = tables.execute("SELECT workflow FROM workflows").fetchall()
            odd = body.replace('"type":"navigate"', '"type":"wait"', 1)
            tables.execute("UPDATE workflows SET workflow = ?", (odd,))
        tables.close()
        assert rutter("export", "--all", tmp_path / "all").code == DONE
        written = {path.name for path in (tmp_path / "all/workflows/order").iterdir()}
        assert {"version-1.json", "recorder.json.txt"} <= written
