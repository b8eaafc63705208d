"""Where the daemon of a data directory is: a file beside the log, there as long as it listens."""

import os
from pathlib import Path

import msgspec

from pipeline.directory import FILE, DataDirectory

NAME = "daemon.json"


class Whereabouts(msgspec.Struct, frozen=True):
    pid: int
    url: str


def write_whereabouts(directory: DataDirectory, url: str) -> None:
    """Whole or not at all: whoever looks reads either nothing or where it is."""
    place = directory.root / NAME
    draft = place.with_suffix(".new")
    draft.unlink(missing_ok=True)
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, FILE)
    with os.fdopen(handle, "wb") as file:
        file.write(msgspec.json.encode(Whereabouts(os.getpid(), url)))
    draft.rename(place)


def drop_whereabouts(directory: DataDirectory) -> None:
    (directory.root / NAME).unlink(missing_ok=True)


def find_daemon(directory: DataDirectory) -> Whereabouts | None:
    """Where it is said to be. One that was killed leaves the file: its process is gone then."""
    place: Path = directory.root / NAME
    try:
        found = msgspec.json.decode(place.read_bytes(), type=Whereabouts)
    except (OSError, msgspec.MsgspecError):
        return None
    try:
        os.kill(found.pid, 0)
    except ProcessLookupError:
        return None
    except PermissionError:
        pass
    return found
