"""`python -m tests.support.xvfb` gets a screen without a monitor, for tests that need a real
window.

Xvfb draws it, xdotool moves its mouse and presses its keys. Both come from the system's packages;
where they cannot be had, the tests that need them say so and are skipped.
"""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

from tests.support.debian_packages import install

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


def focused(display: str) -> str:
    """What the window is called that has the keyboard; nothing where none has."""
    asked = ["xdotool", "getwindowfocus", "getwindowname"]
    env = {**os.environ, "DISPLAY": display}
    return subprocess.run(asked, env=env, capture_output=True, text=True, timeout=30).stdout


def main() -> None:
    """Installs what is missing where that can be done."""
    install(missing(), "a screen for the tests that need a window", "tests in a real window")


if __name__ == "__main__":
    main()
