"""How far a long command is: a bar on a terminal once it takes longer than a second."""

import time
from types import TracebackType

from rich.progress import BarColumn, Progress, TaskID, TextColumn

from pipeline.cli.terminal import Terminal

PATIENCE_S = 1.0


class Gauge:
    """A `Watch`: nothing is drawn where nobody looks, or for what is done at once."""

    def __init__(self, terminal: Terminal) -> None:
        columns = (
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TextColumn("{task.completed:.0f}/{task.total:.0f}", markup=False),
        )
        self._bar = Progress(*columns, console=terminal.err, transient=True)
        self._shown = terminal.err.is_terminal
        self._began = time.monotonic()
        self._task: TaskID | None = None

    def __call__(self, what: str, done: int, of: int) -> None:
        if not self._shown or time.monotonic() - self._began < PATIENCE_S:
            return
        if self._task is None:
            self._bar.start()
            self._task = self._bar.add_task(what)
        self._bar.update(self._task, description=what, completed=done, total=max(of, 1))

    def __enter__(self) -> "Gauge":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._task is not None:
            self._bar.stop()
