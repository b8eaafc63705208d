"""TAB: a shell asks, and is answered with commands, flags and the names in the log."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from rutter.pipeline.cli.completion import SHELLS
from tests.support import command_fixtures
from tests.support.command_shell import ROOT, Rutter

rutter = command_fixtures.with_orders

# A process for each line, as a shell starts one; what it has to import is imported once for all.
ANSWERING = """
import json, os, sys
from rutter.pipeline.cli.main import main
for line, told in json.loads(sys.argv[1]):
    if os.fork() == 0:
        os.environ |= {"COMP_LINE": line, "COMP_POINT": str(len(line))}
        os.environ |= {"_ARGCOMPLETE": "1", "_ARGCOMPLETE_STDOUT_FILENAME": told}
        sys.exit(main())
    os.wait()
"""


def offered(tmp_path: Path, *lines: str) -> list[list[str]]:
    """What the shell is told when TAB is pressed at the end of each of them."""
    told = [tmp_path / f"told-{number}" for number in range(len(lines))]
    asked = json.dumps([*zip(lines, map(str, told), strict=True)])
    command = [sys.executable, "-c", ANSWERING, asked]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, timeout=60)
    assert (ended.stdout, ended.stderr) == (b"", b"")
    return [
        [word.strip() for word in each.read_text().split("\x0b") if word.strip()] for each in told
    ]


@pytest.mark.slow
def test_commands_flags_workflows_and_sessions_are_offered(rutter: Rutter, tmp_path: Path) -> None:
    """A name that is new is nobody's to offer. Where a directory cannot be read nothing is offered,
    and nothing complained of."""
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "log.db").write_bytes(b"this is no log" * 1000)
    at = f"rutter --data {rutter.data}"
    lines = {
        "rutter work": ["workflows"],
        f"{at} run o": ["order"],
        f"{at} workflows show h": ["half"],
        f"{at} run order --set c": ["customer="],
        f"{at} schedule set x --cron '0 7 * * *' --workflow order --set c": ["customer="],
        f"{at} run --set c": [],
        f"{at} record o": [],
        f"rutter --data {tmp_path / 'broken'} run o": [],
        f"rutter --data {tmp_path / 'nowhere'} run o": [],
    }
    *given, flags, sessions = offered(tmp_path, *lines, "rutter run --d", f"{at} show ")
    assert dict(zip(lines, given, strict=True)) == lines
    assert "--dry-run" in flags
    named = [row["session"] for row in rutter.json("sessions")]
    assert sessions[-5:] == ["last", *named][-5:]
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


@pytest.mark.slow
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
    script = r"""
    eval "$SHELL_CODE"
    handler=$(complete -p rutter | sed 's/.*-F \([^ ]*\).*/\1/')
    COMP_LINE="rutter --data $DATA run o"; COMP_POINT=${#COMP_LINE}; COMP_TYPE=9
    COMP_WORDS=(rutter --data "$DATA" run o); COMP_CWORD=4
    $handler rutter o run
    printf '%s\n' "${COMPREPLY[@]}"
    """
    env = {
        **os.environ,
        "PATH": f"{bin_}:{os.environ['PATH']}",
        "DATA": str(rutter.data),
        "SHELL_CODE": rutter("completion", "bash").out,
    }
    ended = subprocess.run(
        ["bash", "-c", script], env=env, capture_output=True, text=True, timeout=60
    )
    assert ended.stdout.split() == ["order"], ended
