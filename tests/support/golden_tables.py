"""A golden log's tables are folded once for all the tests that only read them."""

import atexit
import shutil
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

from rutter.events.sqlite_reader import SqliteReader
from rutter.replay.projections import ProjectionStore
from tests.support.golden_logs import rows, to_database


def projected(name: str) -> ProjectionStore:
    """Whoever asks for it closes it, and changes nothing in it."""
    return ProjectionStore(_folded(name))


@cache
def _folded(name: str) -> Path:
    folder = Path(mkdtemp(prefix="rutter-projected-"))
    atexit.register(shutil.rmtree, folder)
    to_database(folder / "log.db", rows(name))
    store = ProjectionStore(folder / "projections.db")
    with store, SqliteReader(folder / "log.db") as reader:
        store.rebuild(reader)
    return folder / "projections.db"
