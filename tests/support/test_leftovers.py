"""The look for leftovers finds what is left behind, and nothing where nothing is."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[2]
LEAVING = {
    "nothing": "pass",
    "process": "import subprocess; subprocess.Popen(['sleep', '60'], start_new_session=True)",
    "file": "import tempfile; tempfile.mkdtemp()",
}
LOOKING = """
import subprocess, sys
from pathlib import Path
from tests.support import leftovers
leftovers.ENDING_S = 0.5
run = lambda: subprocess.run([sys.executable, "-c", sys.argv[1]]).returncode
code, left = leftovers.looked_for(run, Path())
print(code)
for line in left: print(line)
"""
# An orphan ends while the run goes on: whoever waits for it must not see a dead one lie there.
ORPHAN = """
import psutil, subprocess, sys
started = [sys.executable, "-c", "import subprocess; print(subprocess.Popen(['true']).pid)"]
pid = int(subprocess.run(started, capture_output=True, text=True).stdout)
try:
    psutil.Process(pid).wait(timeout=20)
except psutil.NoSuchProcess:
    pass
"""


def looked_for(program: str) -> list[str]:
    looking = [sys.executable, "-c", LOOKING, program]
    told = subprocess.run(looking, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [line.split()[0] for line in told.splitlines()]


@pytest.mark.parametrize("what", LEAVING)
def test_what_a_run_leaves_behind_is_named(what: str) -> None:
    assert looked_for(LEAVING[what]) == ["0", *[what] * (what != "nothing")]


def test_the_runs_own_exit_code_is_told() -> None:
    assert looked_for("raise SystemExit(3)") == ["3"]


def test_an_orphan_that_has_ended_is_not_there_any_more() -> None:
    assert looked_for(ORPHAN) == ["0"]
