"""A person works through docs/tutorial.md: every command at a real terminal, in order.

In its blocks a line that begins with `$` is typed; the lines below it are looked for in
what the terminal then shows, in their order. `...` stands for anything. A question is answered
with what stands behind it.
"""

import contextlib
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
from collections.abc import Iterator
from pathlib import Path
from time import monotonic
from types import TracebackType
from typing import NamedTuple, Self

import psutil

ROOT = Path(__file__).parents[2]
TUTORIAL = ROOT / "docs" / "tutorial.md"
QUESTION = re.compile(r" \[(?:yes / no|type ')[^]]*\] ")
WITHIN_S = 240
END = re.compile(r"<end (\d+)>\r?\n")
ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Typed(NamedTuple):
    """A command of the tutorial is typed, and this comes of it."""

    line: int
    command: str
    shown: tuple[str, ...]

    @property
    def answers(self) -> list[str]:
        """What is typed at its questions."""
        return [QUESTION.split(text)[1] for text in self.shown if QUESTION.search(text)]


class Shell:
    """A bash has a terminal of its own, as wide as no line is long."""

    def __init__(self, where: Path, env: dict[str, str]) -> None:
        self._fd, inner = pty.openpty()
        fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", 60, 400, 0, 0))
        settings = termios.tcgetattr(inner)
        settings[3] &= ~termios.ECHO  # what we type is in the tutorial already
        termios.tcsetattr(inner, termios.TCSANOW, settings)
        self._bash = subprocess.Popen(
            ["bash", "--norc", "--noprofile"],
            cwd=where,
            env={**env, "TERM": "dumb", "PS1": "", "PS2": "", "NO_COLOR": "1"},
            stdin=inner,
            stdout=inner,
            stderr=inner,
            start_new_session=True,
        )
        os.close(inner)

    def enter(self, step: Typed) -> tuple[int, str]:
        """Its exit code, and what the terminal showed. What goes on in the background is waited for
        until it has said what it is to say."""
        command, behind = step.command, step.command.endswith("&")
        # In one piece: a line behind it would be taken for the answer to a question.
        self._send(f'{{ {command}\n}}; echo "<end $?>"')
        seen, waiting, until = "", step.answers, monotonic() + WITHIN_S
        while monotonic() < until:
            if not select.select([self._fd], [], [], 1)[0]:
                continue
            seen = ANSI.sub("", seen + os.read(self._fd, 1 << 16).decode(errors="replace"))
            ended = END.search(seen)
            if ended is not None and (not behind or not missing(step.shown, END.sub("", seen))):
                return int(ended[1]), END.sub("", seen).replace("\r", "")
            if QUESTION.fullmatch(seen, _last(QUESTION, seen)):
                answer = waiting.pop(0) if waiting else "the tutorial says nothing of this question"
                self._send(answer)
                seen += f"{answer}\n"
        raise TimeoutError(f"{command!r} did not end; the terminal shows:\n{seen[-2000:]}")

    def _send(self, text: str) -> None:
        os.write(self._fd, f"{text}\n".encode())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """What it left running in the background goes with it: each is a job with a group of its
        own, which a signal to the shell does not reach."""
        os.close(self._fd)
        for process in psutil.process_iter():
            with contextlib.suppress(OSError, psutil.Error):
                if os.getsid(process.pid) == self._bash.pid:
                    process.send_signal(signal.SIGHUP)
                    if process.pid != self._bash.pid:  # under nohup a hang-up ends nothing
                        process.send_signal(signal.SIGTERM)
        try:
            self._bash.wait(30)
        except subprocess.TimeoutExpired:
            self._bash.kill()
            self._bash.wait()


def _last(what: re.Pattern[str], text: str) -> int:
    """Where the last one begins; the end when there is none."""
    return max((found.start() for found in what.finditer(text)), default=len(text))


def typed(text: str) -> Iterator[Typed]:
    """The commands of every block that is a console's, in their order."""
    inside, line, command, shown = False, 0, "", list[str]()
    for number, each in enumerate(text.splitlines(), 1):
        begins, ends = each == "```console", each == "```"
        if command and (ends or each.startswith("$ ")):
            yield Typed(line, command, tuple(shown))
            command, shown = "", []
        if begins or ends:
            inside = begins
        elif inside and each.startswith("$ "):
            line, command = number, each[2:]
        elif inside and each.startswith("> "):
            command += f"\n{each[2:]}"
        elif inside and each.strip():
            shown.append(each)


def missing(shown: tuple[str, ...], seen: str) -> str:
    """The first line that is promised and does not come; "" when all do, in their order."""
    there = iter(" ".join(line.split()) for line in seen.splitlines())
    for wanted in shown:
        parts = (re.escape(" ".join(part.split())) for part in wanted.split("..."))
        pattern = re.compile(r"\s?.*\s?".join(parts))
        if wanted.strip() != "..." and not any(pattern.fullmatch(line) for line in there):
            return wanted
    return ""


def environment(home: Path) -> dict[str, str]:
    """A newcomer's: nothing of ours set, `rutter` and `python` those of this project."""
    program = home / "bin" / "rutter"
    program.parent.mkdir(parents=True, exist_ok=True)
    program.write_text(
        f"#!{sys.executable}\nimport sys\nfrom rutter.pipeline.cli.main import main\n"
        f"sys.exit(main())\n"
    )
    program.chmod(0o755)
    python = program.with_name("python")
    python.unlink(missing_ok=True)
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    ours = ("RUTTER_", "XDG_")
    kept = {name: text for name, text in os.environ.items() if not name.startswith(ours)}
    browser = {name: os.environ[name] for name in ("RUTTER_CHROMIUM",) if name in os.environ}
    path = f"{program.parent}:{os.environ['PATH']}"
    return {**kept, **browser, "HOME": str(home), "PATH": path, "PYTHONPATH": str(ROOT)}
