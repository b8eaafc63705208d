"""A server that answers as ever and keeps nothing: rows and files are undone behind its back."""

import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

LOOK_S = 0.005


@contextmanager
def undone(database: Path, *triggers: str) -> Iterator[None]:
    """The database takes back what the application writes, in the same transaction."""
    with sqlite3.connect(database, timeout=30) as store:
        for number, trigger in enumerate(triggers):
            store.execute(f"CREATE TRIGGER forgets_{number} {trigger}")
    store.close()
    try:
        yield
    finally:
        with sqlite3.connect(database, timeout=30) as store:
            for number in range(len(triggers)):
                store.execute(f"DROP TRIGGER forgets_{number}")
        store.close()


@contextmanager
def taken_away(folder: Path, pattern: str) -> Iterator[None]:
    """Files that come are gone a moment later; those that change are as they were."""
    known = {path: path.read_bytes() for path in folder.glob(pattern)}

    def look() -> None:
        for path in folder.glob(pattern):
            if path not in known:
                path.unlink(missing_ok=True)
            elif path.read_bytes() != known[path]:
                path.write_bytes(known[path])

    with _over_and_over(look):
        yield


@contextmanager
def withdrawn(names: Callable[[], set[str]], remove: Callable[[str], object]) -> Iterator[None]:
    """What comes is removed a moment later as anybody could, by the application's own door: for a
    server that keeps everything in its memory."""
    known = names()

    def look() -> None:
        for name in names() - known:
            remove(name)

    with _over_and_over(look):
        yield


@contextmanager
def _over_and_over(look: Callable[[], None]) -> Iterator[None]:
    over = threading.Event()

    def watch() -> None:
        while not over.wait(LOOK_S):
            look()

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


@contextmanager
def flagged(flag: Path) -> Iterator[None]:
    """The application looks for this file itself."""
    flag.touch()
    try:
        yield
    finally:
        flag.unlink()
