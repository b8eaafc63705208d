"""The suite runs all tests for `make test`: the fast ones, so that a broken decider shows before
any browser starts, then those with a browser or a crash. Both parts always run.

What failed beside others runs once more, alone: a deadline that is ample on a machine that does
nothing else can pass on one with more to do than it has cores, and says nothing of the product.
What fails again has failed. What then passes is named, so that somebody gives it more time.
What a test leaves running or lying about is a failure too.
"""

import json
import subprocess
import sys
from pathlib import Path

from tests.support import leftovers

FAST = "not browser and not slow"
REST = "(browser or slow) and not extended"
FAILED, NOTHING_SELECTED = 1, 5  # pytest's
FEW = 6  # more than these are no accident
CACHE = Path(".pytest_cache")


def main(arguments: list[str]) -> int:
    code, left = leftovers.looked_for(lambda: _both(arguments), Path())
    if left:
        print("tests left behind:", *left, sep="\n  ", flush=True)
        return FAILED
    return code


def _both(arguments: list[str]) -> int:
    codes = [
        _part("fast tests", FAST, arguments),
        _part("browser and crash tests", REST, arguments),
    ]
    if all(code == NOTHING_SELECTED for code in codes):
        return NOTHING_SELECTED
    return next((code for code in codes if code not in (0, NOTHING_SELECTED)), 0)


def _part(name: str, marks: str, arguments: list[str]) -> int:
    print(name, flush=True)
    own = CACHE / name.split()[0]
    # `worksteal` keeps the tests of a file together, with what they share, until a worker has
    # nothing left to do.
    beside = ["-n", "auto", "--dist", "worksteal", "--cache-clear"]
    code = _pytest(own, marks, beside, arguments)
    if code != FAILED:
        return code
    failed = list(json.loads((own / "v/cache/lastfailed").read_bytes()))
    if len(failed) > FEW:
        return code
    print(f"{len(failed)} failed beside others; once more, alone", flush=True)
    code = _pytest(own, marks, ["-n", "0", "--last-failed"], arguments)
    if code == 0:
        print("failed beside others, passed alone:", *failed, sep="\n  ", flush=True)
    return code


def _pytest(cache: Path, marks: str, how: list[str], arguments: list[str]) -> int:
    command = [sys.executable, "-m", "pytest", "-o", f"cache_dir={cache}", *how, "-m", marks]
    return subprocess.run([*command, *arguments]).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
