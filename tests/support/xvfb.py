"""`python -m tests.support.xvfb` gets a screen without a monitor, for tests that need a real
window.

Xvfb draws it, xdotool moves its mouse and presses its keys. Both come from the system's packages;
where they cannot be had, the tests that need them say so and are skipped.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

NEEDED = {"Xvfb": "xvfb", "xdotool": "xdotool"}


def missing() -> list[str]:
    return [package for program, package in NEEDED.items() if not shutil.which(program)]


@contextmanager
def screen() -> Iterator[str]:
    """The name of a display that is up; X itself picks the number and says it when it listens."""
    read, write = os.pipe()
    command = ["Xvfb", "-displayfd", str(write), "-screen", "0", "1400x1000x24", "-nolisten", "tcp"]
    server = subprocess.Popen(command, pass_fds=[write], stderr=subprocess.DEVNULL)
    os.close(write)
    try:
        with os.fdopen(read) as said:
            number = said.readline().strip()
        assert number, "Xvfb did not start"
        yield f":{number}"
    finally:
        server.terminate()
        server.wait(10)


def xdotool(display: str, *arguments: str) -> None:
    env = {**os.environ, "DISPLAY": display}
    subprocess.run(["xdotool", *arguments], env=env, check=True, timeout=30)


def main() -> int:
    """Installs what is missing where that can be done; never fails a setup because of it."""
    packages = missing()
    if not packages:
        return 0
    install = ["apt-get", "install", "-y", "-q", "--no-install-recommends", *packages]
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        print(f"tests in a real window will be skipped; for them type: sudo {' '.join(install)}")
        return 0
    print(f"a screen for the tests that need a window: {' '.join(install)}")
    env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (["apt-get", "update", "-q"], install):
        said = subprocess.run(command, env=env, capture_output=True, text=True, timeout=300)
        if said.returncode != 0:
            print(f"that did not work: {said.stderr.strip().splitlines()[-1:]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
