"""TAB: a shell asks, and is answered with commands, flags and the names in the log."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from rutter.pipeline.cli.completion import SHELLS
from tests.support import scripted_logs
from tests.support.command_shell import COMMAND, ROOT, Rutter


def offered(line: str, tmp_path: Path) -> list[str]:
    """What the shell is told when TAB is pressed at the end of `line`."""
    told = tmp_path / "told"
    env = {
        **os.environ,
        "_ARGCOMPLETE": "1",
        "COMP_LINE": line,
        "COMP_POINT": str(len(line)),
        "_ARGCOMPLETE_STDOUT_FILENAME": str(told),
    }
    ended = subprocess.run(COMMAND, cwd=ROOT, env=env, capture_output=True, timeout=60)
    assert (ended.stdout, ended.stderr) == (b"", b"")
    return [each.strip() for each in told.read_text().split("\x0b") if each.strip()]


@pytest.fixture
def rutter(rutter: Rutter) -> Rutter:
    scripted_logs.keep(rutter.data / "log.db")
    return rutter


def test_commands_flags_workflows_and_sessions_are_offered(rutter: Rutter, tmp_path: Path) -> None:
    at = f"rutter --data {rutter.data}"
    assert offered("rutter work", tmp_path) == ["workflows"]
    assert "--dry-run" in offered("rutter run --d", tmp_path)
    assert offered(f"{at} run o", tmp_path) == ["order"]
    assert offered(f"{at} workflows show h", tmp_path) == ["half"]
    named = [row["session"] for row in rutter.json("sessions")]
    assert offered(f"{at} show ", tmp_path)[-5:] == ["last", *named][-5:]


def test_a_name_that_is_new_is_nobodys_to_offer(rutter: Rutter, tmp_path: Path) -> None:
    assert offered(f"rutter --data {rutter.data} record o", tmp_path) == []


def test_a_directory_that_cannot_be_read_offers_nothing_and_complains_of_nothing(
    tmp_path: Path,
) -> None:
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "log.db").write_bytes(b"this is no log" * 1000)
    assert offered(f"rutter --data {tmp_path / 'broken'} run o", tmp_path) == []
    assert offered(f"rutter --data {tmp_path / 'nowhere'} run o", tmp_path) == []
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize("shell", SHELLS)
def test_what_a_shell_is_told_is_what_it_can_read(rutter: Rutter, shell: str) -> None:
    said = rutter("completion", shell)
    assert (said.code, said.err) == (0, "")
    assert "rutter" in said.out
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=said.out, text=True, check=True, timeout=60)


def test_a_shell_that_it_does_not_know_is_refused(rutter: Rutter) -> None:
    refused = rutter("completion", "cmd.exe")
    assert refused.code == 2
    assert "bash" in refused.err


@pytest.mark.skipif(not shutil.which("bash"), reason="there is no bash")
def test_a_real_bash_completes(rutter: Rutter, tmp_path: Path) -> None:
    """The function that bash registers, asked as bash asks it."""
    bin_ = tmp_path / "bin"
    bin_.mkdir()
    program = bin_ / "rutter"
    program.write_text(
        f"#!{sys.executable}\nimport sys\nsys.path.insert(0, {str(ROOT)!r})\n"
        "from rutter.pipeline.cli.main import main\nsys.exit(main())\n"
    )
    program.chmod(0o755)
    script = """
    eval "$(rutter completion bash)"
    handler=$(complete -p rutter | sed 's/.*-F \\([^ ]*\\).*/\\1/')
    COMP_LINE="rutter --data $DATA run o"; COMP_POINT=${#COMP_LINE}; COMP_TYPE=9
    COMP_WORDS=(rutter --data "$DATA" run o); COMP_CWORD=4
    $handler rutter o run
    printf '%s\\n' "${COMPREPLY[@]}"
    """
    env = {**os.environ, "PATH": f"{bin_}:{os.environ['PATH']}", "DATA": str(rutter.data)}
    ended = subprocess.run(
        ["bash", "-c", script], env=env, capture_output=True, text=True, timeout=60
    )
    assert ended.stdout.split() == ["order"], ended
