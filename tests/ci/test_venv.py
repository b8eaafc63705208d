"""`.ci/venv` builds the environment of the project; Python and apt are stand-ins here."""

import os
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# Answers as a Python of that version; `-m venv` makes one more of itself, pip notes its call.
PYTHON = """#!/bin/sh
case "$*" in
    *"%d.%d.%d"*) echo {version} ;;
    *version_info*) exit {old} ;;
    "-m venv .venv") [ -z "{lame}" ] || [ -e {tools}/mended ] || exit 1
        mkdir -p .venv/bin && cp "$0" .venv/bin/python && echo built >>"{tools}/said" ;;
    "-c import ensurepip") [ -z "{lame}" ] ;;
    "-m pip"*) echo pip >>"{tools}/said"; exit {pip} ;;
esac
"""


class Machine:
    """A checkout and a PATH with nothing on it but what a case puts there."""

    def __init__(self, root: Path) -> None:
        self.project, self.tools = root / "project", root / "tools"
        (self.project / ".ci").mkdir(parents=True)
        self.tools.mkdir()
        shutil.copy(ROOT / ".ci" / "venv", self.project / ".ci" / "venv")
        for name in ("pyproject.toml", "constraints.txt"):
            (self.project / name).write_text("as it was")
        for name in ("sh", "cat", "cksum", "dirname", "head", "cut", "mkdir", "cp", "rm"):
            (self.tools / name).symlink_to(str(shutil.which(name)))

    def put(self, name: str, text: str) -> None:
        tool = self.tools / name
        tool.write_text(text)
        tool.chmod(tool.stat().st_mode | stat.S_IXUSR)

    def python(self, name: str, version: str, *, lame: bool = False, pip: int = 0) -> None:
        old = int(version < "3.11")
        lameness = "yes" if lame else ""
        given = {"version": version, "old": old, "lame": lameness, "pip": pip}
        self.put(name, PYTHON.format(tools=self.tools, **given))

    def root(self, *, yes: bool) -> None:
        self.put("id", f"#!/bin/sh\necho {0 if yes else 1000}\n")

    def apt(self) -> None:
        self.put(
            "apt-get", f'#!/bin/sh\necho "apt $*" >>{self.tools}/said\n: >{self.tools}/mended\n'
        )

    def make_venv(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [str(self.project / ".ci" / "venv"), *arguments]
        return subprocess.run(
            command, env={"PATH": str(self.tools)}, capture_output=True, text=True, check=False
        )

    @property
    def said(self) -> list[str]:
        kept = self.tools / "said"
        lines = kept.read_text().splitlines() if kept.exists() else []
        kept.unlink(missing_ok=True)
        return lines


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_the_newest_python_that_answers_is_used_and_nothing_is_done_twice(machine: Machine) -> None:
    machine.put("python3.13", "#!/bin/sh\nexit 127\n")  # a shim of a version that is not there
    machine.python("python3.12", "3.12.4")
    machine.python("python3", "3.9.2")
    first = machine.make_venv()
    assert first.returncode == 0, first.stderr
    assert "Python 3.12.4" in first.stdout
    assert machine.said == ["built", "pip"]
    again = machine.make_venv()
    assert (again.returncode, again.stdout, machine.said) == (0, "", [])


def test_what_is_installed_follows_the_files_that_name_it(machine: Machine) -> None:
    machine.python("python3", "3.11.2")
    machine.make_venv()
    (machine.project / "constraints.txt").write_text("another version")
    assert machine.said == ["built", "pip"]
    assert "up to date" in machine.make_venv().stdout
    assert machine.said == ["pip"]


def test_a_checkout_that_was_moved_gets_an_environment_of_its_own(machine: Machine) -> None:
    machine.python("python3", "3.11.2")
    machine.make_venv()
    machine.project = machine.project.rename(machine.project.with_name("elsewhere"))
    assert machine.said == ["built", "pip"]
    machine.make_venv()
    assert machine.said == ["built", "pip"]


def test_a_python_that_is_asked_for_replaces_another(machine: Machine) -> None:
    machine.python("python3", "3.11.2")
    machine.python("python3.12", "3.12.4")
    machine.make_venv("python3")
    assert "3.12.4" in machine.make_venv("python3.12").stdout
    assert machine.make_venv("python3.12").stdout == ""


@pytest.mark.parametrize("arguments", [(), ("python3",)])
def test_without_a_python_that_is_new_enough_the_fix_is_said(
    machine: Machine, arguments: tuple[str, ...]
) -> None:
    machine.python("python3", "3.10.1")
    refused = machine.make_venv(*arguments)
    assert refused.returncode == 1
    assert "make setup PYTHON=" in refused.stderr
    assert not (machine.project / ".venv").exists()


def test_root_is_told_what_is_installed_on_the_system_before_it_is(machine: Machine) -> None:
    machine.python("python3", "3.11.2", lame=True)
    machine.root(yes=True)
    machine.apt()
    made = machine.make_venv()
    assert made.returncode == 0, made.stderr
    assert "installing it on this system: apt-get install python3.11-venv" in made.stdout
    assert machine.said[-3:] == [
        "apt install -y -q --no-install-recommends python3.11-venv", "built", "pip",
    ]  # fmt: skip


def test_anybody_else_is_told_what_to_type_and_nothing_is_installed(machine: Machine) -> None:
    machine.python("python3", "3.11.2", lame=True)
    machine.root(yes=False)
    machine.apt()
    refused = machine.make_venv()
    assert refused.returncode == 1
    assert "sudo apt-get install python3.11-venv" in refused.stderr
    assert machine.said == []


def test_an_install_that_fails_is_tried_again_the_next_time(machine: Machine) -> None:
    machine.python("python3", "3.11.2", pip=1)
    refused = machine.make_venv()
    assert refused.returncode == 1
    assert "make setup" in refused.stderr
    assert not (machine.project / ".venv" / "stamp").exists()
    assert os.listdir(machine.project / ".venv")  # noqa: PTH208
