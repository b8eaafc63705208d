"""Whoever writes to a log opens it here: the lock of its directory, what was left unfinished, the
app, its traces; and hears the signals that end it."""

import asyncio
import signal
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager

from rutter.pipeline.app import App, open_app
from rutter.pipeline.config.data_directory import DataDirectory
from rutter.pipeline.config.settings import Settings
from rutter.pipeline.traces.live import live_export
from rutter.pipeline.upkeep.erase import finish_erasing
from rutter.pipeline.upkeep.inspection import InspectionWatch, unwatched

Note = Callable[[str], None]


@contextmanager
def held(directory: DataDirectory, watch: InspectionWatch = unwatched) -> Iterator[bool]:
    """This process is the one writer. Yields whether an erasing that was cut short was finished."""
    directory.lock()
    try:
        yield finish_erasing(directory, watch)
    finally:
        directory.unlock()


@asynccontextmanager
async def open_own_app(settings: Settings, note: Note) -> AsyncIterator[App]:
    """Takes the data directory, folds the log and closes what a dead process left open; lets go of
    all of it."""
    directory = settings.directory
    with held(directory) as finished:
        if directory.tightened:
            note(f"made private, others could read it: {directory.root}")
        if finished:
            note("finished an erasing that was cut short")
        async with open_app(directory) as app:
            traces = live_export(settings, note)
            if traces is not None:
                app.follow(traces)
            if app.interrupted:
                note(f"closed as interrupted: {', '.join(app.interrupted)}")
            yield app


@contextmanager
def on_signal(do: Callable[[], object]) -> Iterator[None]:
    """Calls it for Ctrl-C and SIGTERM, which end nothing by themselves meanwhile."""
    loop, numbers = asyncio.get_running_loop(), (signal.SIGINT, signal.SIGTERM)
    for number in numbers:
        loop.add_signal_handler(number, do)
    try:
        yield
    finally:
        for number in numbers:
            loop.remove_signal_handler(number)
