"""A moving line on the terminal shows how far a long command is, once it takes longer than a
second."""

import time

from rich.progress import Progress, TaskID, TextColumn

from rutter.pipeline.cli.terminal import Terminal

PATIENCE_S = 1.0


class Gauge:
    """A gauge draws nothing where nobody looks, or for what is done at once."""

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

    def __enter__(self) -> "Gauge":
        return self

    def __exit__(self, *_: object) -> None:
        if self._task is not None:
            self._line.stop()
