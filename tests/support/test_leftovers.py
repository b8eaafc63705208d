"""The look for leftovers finds what is left behind, and nothing where nothing is."""

import subprocess
import sys
from pathlib import Path

import pytest

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
with leftovers.looked_for(Path()) as left:
    subprocess.run([sys.executable, "-c", sys.argv[1]], check=True)
for line in left: print(line)
"""


@pytest.mark.parametrize("what", LEAVING)
def test_what_a_run_leaves_behind_is_named(what: str) -> None:
    looking = [sys.executable, "-c", LOOKING, LEAVING[what]]
    told = subprocess.run(looking, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert [line.split()[0] for line in told.splitlines()] == [what] * (what != "nothing")
