"""`rutter serve --install` writes a unit that systemd accepts, and says what it could not do."""

import shutil
import subprocess
from pathlib import Path

import pytest

from rutter.pipeline.config.settings import Settings
from rutter.pipeline.daemon import user_unit
from tests.support.command_shell import Rutter, refused

ORDERS = ["systemctl --user daemon-reload", "systemctl --user enable rutter.service"]
ORDERS += ["systemctl --user restart rutter.service"]
# A manager writes down what it is told, and fails at what it is to fail at.
MANAGER = '#!/bin/sh\necho "$*" >> "{said}"\ncase "$2" in {fails}) exit 1;; esac\n'


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    (tmp_path / "bin").mkdir()
    return tmp_path / "config" / "systemd" / "user" / "rutter.service"


def manager(tmp_path: Path, fails: str = "nothing") -> Path:
    said, program = tmp_path / "said", tmp_path / "bin" / "systemctl"
    program.write_text(MANAGER.format(said=said, fails=fails))
    program.chmod(0o700)
    return said


def test_it_is_written_taken_into_use_written_anew_and_removed(
    rutter: Rutter, tmp_path: Path, place: Path
) -> None:
    said = manager(tmp_path)
    ended = rutter("serve", "--install", "--port", "8124")
    assert ended.out.startswith(f"[OK] wrote {place}; the daemon runs\n"), ended
    assert said.read_text().splitlines() == [each.removeprefix("systemctl ") for each in ORDERS]
    written = place.read_text()
    assert f'"--data" "{rutter.data}" "serve" "--port" "8124"\n' in written

    assert rutter.json("serve", "--install", "--bind", "::1") == {"unit": str(place), "left": []}
    assert '"serve" "--bind" "::1"\n' in place.read_text()

    assert "removed" in rutter("serve", "--uninstall").out
    assert not place.exists()
    assert said.read_text().splitlines()[-2:] == [
        "--user disable --now rutter.service",
        "--user daemon-reload",
    ]
    refused(rutter("serve", "--uninstall"), "is not there")


@pytest.mark.parametrize(("fails", "left"), [("", ORDERS), ("enable", ORDERS[1:])])
def test_where_no_manager_answers_it_says_what_to_type(
    rutter: Rutter, tmp_path: Path, place: Path, fails: str, left: list[str]
) -> None:
    if fails:
        manager(tmp_path, fails)
    ended = rutter("serve", "--install")
    assert ended.code == 0
    assert place.is_file()
    said = [line.strip() for line in ended.out.splitlines()]
    assert said[1] == "no systemd of this user answered; type, where one does:"
    assert said[2:-1] == left


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not here")
def test_systemd_accepts_it_whatever_it_is_named(tmp_path: Path) -> None:
    data = tmp_path / 'a "b" %h $HOME \\ é'
    unit = tmp_path / user_unit.NAME
    unit.write_text(user_unit.unit_text(Settings(data), ["--port", "8124"]))
    verified = subprocess.run(
        ["systemd-analyze", "--user", "verify", str(unit)],
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "XDG_RUNTIME_DIR": str(tmp_path)},
    )
    # Units of other programs are read as well, and some do not like where this is.
    said = [line for line in verified.stderr.splitlines() if user_unit.NAME in line]
    assert (verified.returncode, said) == (0, [])
