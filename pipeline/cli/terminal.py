"""The terminal shows what people see: rich on a terminal, plain ASCII lines elsewhere, JSON for
machines."""

import argparse
import getpass
import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from operator import attrgetter
from typing import Any, Self, TypeVar

import msgspec
from rich.console import Console
from rich.progress import Progress, TaskID, TextColumn
from rich.status import Status
from rich.table import Table
from rich.text import Text

from rutter.events.envelope import Envelope
from rutter.events.errors import BadInput, RutterError
from rutter.events.executor import PersonActed, StepMarked
from rutter.events.observer import BarDisturbed
from rutter.events.planner import AdviceRequested, PlanProposed
from rutter.events.predictor import PredictionMade
from rutter.pipeline.output.answer_outcome import AnswerOutcome
from rutter.pipeline.output.verbose import Narrator, likely_within
from rutter.replay.story.wording import ascii_only, bar_in_words, in_words, mark_in_words, printable

PIPED_WIDTH = 400
PATIENCE_S = 1.0  # of whoever waits, before they are shown how far it is
Row = TypeVar("Row")
Options = argparse.Namespace  # what was typed: the flags of a command


class Terminal:
    """Results go to stdout; progress, questions and errors to stderr."""

    def __init__(self, *, as_json: bool = False, verbose: bool = False) -> None:
        self.as_json = as_json
        self.verbose = verbose
        # Piped output is for grep and files: nothing is folded to a width that nobody looks at.
        width = None if sys.stdout.isatty() else PIPED_WIDTH
        # No emoji: a page that says ":warning:" has said nothing that is not ASCII.
        self.out = TerminalConsole(highlight=False, soft_wrap=True, width=width, emoji=False)
        self.err = TerminalConsole(stderr=True, highlight=False, soft_wrap=True, emoji=False)

    @property
    def interactive(self) -> bool:
        return sys.stdin.isatty() and sys.stderr.isatty()

    def say(self, *lines: str) -> None:
        """Lines for people; with `--json` there are none."""
        if not self.as_json:
            for part in "\n".join(lines).split("\n") if lines else ():
                self.out.print(marked(self.out.shown(part)))

    def say_below(self, *lines: str) -> None:
        """What belongs to the line above them."""
        self.say(*(f"     {line}" for line in lines))

    def note(self, line: str) -> None:
        self.err.print(marked(self.err.shown(line)))

    def answer(self, value: object) -> None:
        """What a command came to, for machines alone: what is said beside it is for people."""
        if self.as_json:
            self.json(value)

    def json(self, value: object) -> None:
        """One line of ASCII, so that no terminal or pipe can fail to take it."""
        line = json.dumps(msgspec.to_builtins(value), separators=(",", ":"))
        self.out.print(line, markup=False, soft_wrap=True)

    def error(self, error: RutterError) -> None:
        if self.as_json:
            self.json({"error": type(error).__name__, "what": error.what, "fix": error.fix})
        self.note(f"rutter: {error.what}" + (f" -> {error.fix}" if error.fix else ""))

    def show_rows(
        self,
        rows: Iterable[Row],
        columns: Mapping[str, str | Callable[[Row], object]],
        none: str = "",
    ) -> None:
        """A line for each row. What stands in a column is of that name, or made of the row."""
        cells = [attrgetter(each) if isinstance(each, str) else each for each in columns.values()]
        self.table(tuple(columns), ([cell(row) for cell in cells] for row in rows), none)

    def table(
        self, columns: Sequence[str], rows: Iterable[Sequence[object]], none: str = ""
    ) -> None:
        """Aligned columns for people; numbers to the right. `none`: what is said of no rows."""
        shown = [[self.out.shown(str(cell)) for cell in row] for row in rows]
        if self.as_json or (none and not shown):
            self.say(none)
            return
        table = Table(box=None, pad_edge=False, header_style="bold")
        for index, column in enumerate(columns):
            numeric = bool(shown) and all(row[index].replace(".", "").isdigit() for row in shown)
            table.add_column(column, justify="right" if numeric else "left", overflow="fold")
        for row in shown:
            table.add_row(*map(Text, row))
        if self.out.is_terminal:
            self.out.print(table)
            return
        with self.out.capture() as captured:
            self.out.print(table)
        for line in captured.get().splitlines():  # which are filled up with blanks
            self.out.print(line.rstrip(), markup=False)

    def ask(self, question: str) -> str:
        self.err.print(self.err.shown(question), end="", markup=False)
        return _typed_line(sys.stdin.fileno())

    def ask_secret(self, question: str) -> str:
        if not self.interactive:
            raise BadInput(
                "there is no terminal to ask for a secret", "give it as env:VARIABLE or file:PATH"
            )
        return getpass.getpass(self.err.shown(question))


def _typed_line(keyboard: int) -> str:
    """Read past Python's own buffer: a thread that is left waiting in `input` when the session is
    stopped holds that buffer's lock, and the interpreter aborts on its way out."""
    typed = b""
    while not typed.endswith(b"\n"):
        part = os.read(keyboard, 4096)
        if not part and not typed:
            raise EOFError
        if not part:
            break
        typed += part
    return typed.decode("utf-8", "replace").rstrip("\r\n")


def marked(line: str) -> Text:
    """What went well or ill is seen before it is read, where there are colours."""
    text = Text(line)
    text.highlight_regex(r"^\[OK\]", "green")
    text.highlight_regex(r"^\[FAIL\]", "bold red")
    return text


class TerminalConsole(Console):
    moving: "MovingLine | None" = None  # on the other stream of the same terminal

    def print(self, *objects: Any, **how: Any) -> None:
        """The line that moves is gone while another is written, and none is written behind it."""
        if self.moving is None or not self.is_terminal:
            super().print(*objects, **how)
            return
        with self.moving.still():
            super().print(*objects, **how)

    def shown(self, text: str) -> str:
        """The text as it can be shown here: ASCII in files and pipes, and where the terminal's
        encoding has no more (H7)."""
        return printable(text, self.encoding) if self.is_terminal else ascii_only(text)

    def on_broken_pipe(self) -> None:
        """Whoever read this has gone: nobody is left to tell, and what runs goes on to its end.

        Rich would leave with code 1, in the middle of a session.
        """
        self.quiet = True
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self.file.fileno())  # for what is still in the stream's own buffer
        os.close(nowhere)


class MovingLine:
    """One line changes on a terminal that somebody looks at; nothing elsewhere."""

    def __init__(self, terminal: Terminal, what: str) -> None:
        self._terminal = terminal
        self._status: Status | None = None
        if terminal.err.is_terminal and not terminal.verbose:
            self._status = terminal.err.status(Text(what), spinner="line")  # an ASCII one

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        if self._status is not None:
            self._terminal.out.moving = self
            self._status.start()

    def stop(self) -> None:
        self._terminal.out.moving = None
        if self._status is not None:
            self._status.stop()

    @contextmanager
    def still(self) -> Iterator[None]:
        """While something else is written, or somebody is asked."""
        self.stop()
        try:
            yield
        finally:
            self.start()

    def move(self, said: str) -> None:
        if self._status is not None:
            self._status.update(Text(self._terminal.err.shown(said)))


class RunProgress(MovingLine):
    """Progress shows what a run is at: a moving line on a terminal, S2's lines with `--verbose`."""

    def __init__(self, terminal: Terminal, *, what: str) -> None:
        super().__init__(terminal, what)
        self._what = what
        self._narrator = Narrator()
        self._within = ""
        self._outcome = AnswerOutcome()

    def hear(self, envelope: Envelope) -> None:
        if said := self._outcome.of(envelope):
            self._terminal.note(said)
        if self._terminal.verbose:
            for line in self._narrator.lines(envelope):
                self._terminal.note(line)
            return
        self._narrator.take(envelope)
        event, step = envelope.event, self._narrator.planned
        if isinstance(event, PredictionMade):
            within = likely_within(event)
            self._within = f"  (as in {within.workflow})" if within is not None else ""
        elif isinstance(event, PlanProposed) and self._status is not None and step is not None:
            # By its place in the script: a look elsewhere has a number too, and no place.
            of = self._narrator.of
            where = f"{step.number}/{of}" if of > 1 and not step.read_back_of else str(step.number)
            seems = self._within if event.driver == "prediction" else ""
            self.move(f"{self._what}  {where}  {step.proposed}{seems}")
        elif isinstance(event, AdviceRequested):
            self.move(f"{self._what}  asking {event.provider} {event.model}")


class LiveSteps:
    """The terminal shows each step of a recording by hand as it happens."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal

    def invite(self) -> None:
        """Once they are heard, and not when they are awaited: what they do before is lost."""
        done = "Done in the bar beside it (F8), close it, or press Ctrl-C here"
        self._terminal.say(f"work in the window; when done: {done}")

    def hear(self, envelope: Envelope) -> None:
        match envelope.event:
            case PersonActed(step=step, action=action, element=element):
                name = element.name.text if element is not None else ""
                self._terminal.say(f"{step:>4}  {in_words(action, name)}")
            case StepMarked(step=step) as marked:
                self._terminal.say(f"{step:>4}  {mark_in_words(marked)}")
            case BarDisturbed() as disturbed:
                self._terminal.note(bar_in_words(disturbed))
            case _:
                pass


class Gauge:
    """A gauge shows how far a long command is: nothing where nobody looks, or for what is done at
    once."""

    def __init__(self, terminal: Terminal) -> None:
        # Words and numbers: rich's own bar is not ASCII (H7).
        line = "{task.description}  {task.completed:.0f}/{task.total:.0f}  {task.percentage:.0f}%"
        column = TextColumn(line, markup=False)
        self._line = Progress(column, console=terminal.err, transient=True)
        self._shown = terminal.err.is_terminal
        self._began = time.monotonic()
        self._task: TaskID | None = None

    def __call__(self, what: str, done: int, of: int) -> None:
        if not self._shown or time.monotonic() - self._began < PATIENCE_S:
            return
        if self._task is None:
            self._line.start()
            self._task = self._line.add_task(what, completed=done, total=max(of, 1))
        self._line.update(self._task, description=what, completed=done, total=max(of, 1))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._task is not None:
            self._line.stop()


# -- words -----------------------------------------------------------------------------------------


def when(ns: int) -> str:
    return datetime.fromtimestamp(ns / 1e9, UTC).strftime("%Y-%m-%d %H:%M:%S")


def count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def size(number: int) -> str:
    for unit in ("B", "KB", "MB"):
        if number < 10_000:
            return f"{number} {unit}"
        number //= 1_000
    return f"{number} GB"
