"""Files that are handed out: whole or not there, never over another one, under names that are safe
anywhere. A name that a page gave is text, not a path."""

import os
import re
import unicodedata
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path, PurePath

from rutter.actors.rules.text.untrusted import on_one_line
from rutter.events.durable import is_full, sync_directory
from rutter.events.errors import BadInput, WorldBroken

LONGEST = 120  # characters of a name: with a number behind it, and in UTF-8, any disk takes it
MOST = 10_000  # of one name in one folder
_UNFIT = re.compile(r'[\x00-\x1f\x7f<>:"|?*\\/]')
# What some systems take for a device, with whatever ending.
_DEVICES = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?=\.|$)", re.IGNORECASE)


def safe_name(said: str, otherwise: str) -> str:
    """The last part of it, as any disk takes it: neither hidden nor a device, and of a length."""
    text = re.split(r"[\\/]", on_one_line(unicodedata.normalize("NFC", said)))[-1]
    text = _UNFIT.sub("_", text).strip(" .")
    if not text:
        return otherwise
    if _DEVICES.match(text):
        text = f"_{text}"
    path = PurePath(text)
    ending = path.suffix if len(path.suffix) <= 12 else ""
    stem = text.removesuffix(ending)
    while stem and len((stem + ending).encode()) > LONGEST:
        stem = stem[:-1]
    return (stem.rstrip(" .") or otherwise) + ending


def folder_for(path: Path) -> Path:
    """Where files are put; made where it is missing."""
    try:
        path.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise BadInput(
            f"{path} cannot be written to ({error.strerror})", "name another folder"
        ) from error
    return path


def put_beside(folder: Path, name: str, body: bytes) -> Path:
    """A new file of this name. Where there is one with the same content it is that one; where
    there is another, a number is put behind the name."""
    stem, ending = PurePath(name).stem, PurePath(name).suffix
    for number in range(1, MOST):
        place = folder / (name if number == 1 else f"{stem}-{number}{ending}")
        if _holds(place, body):
            return place
        if not _is_there(place) and _write(place, body, _link):
            return place
    raise BadInput(f"{folder} holds {MOST} files called {name}", "name another folder")


def replace_whole(place: Path, body: bytes) -> None:
    """The file anew: whoever reads it sees the old one or the new one, and nothing between."""
    _write(place, body, _rename)


def _is_there(place: Path) -> bool:
    """Any of that name, in whatever case: some disks do not tell them apart."""
    wanted = place.name.casefold()
    return any(each.name.casefold() == wanted for each in place.parent.iterdir())


def _holds(place: Path, body: bytes) -> bool:
    try:
        if place.is_symlink() or not place.is_file() or place.stat().st_size != len(body):
            return False
        return place.read_bytes() == body
    except OSError:
        return False


def _write(place: Path, body: bytes, finish: Callable[[Path, Path], bool]) -> bool:
    """Written beside its place and synced first; `finish` gives it its name, or not."""
    temporary = place.with_name(f".{place.name}.{os.getpid()}.part")
    try:
        with temporary.open("wb") as file:
            file.write(body)
            file.flush()
            os.fsync(file.fileno())
        named = finish(temporary, place)
        sync_directory(place.parent)
    except OSError as error:
        if is_full(error):
            raise WorldBroken(
                f"no space left to write {place}", "free some disk space and run again"
            ) from error
        raise WorldBroken(
            f"writing {place} failed ({error.strerror})", "check the folder and run again"
        ) from error
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
    return named


def _link(temporary: Path, place: Path) -> bool:
    """Under a name that nobody has: a link is made or refused in one step."""
    try:
        place.hardlink_to(temporary)
    except FileExistsError:
        return False
    except OSError:  # a disk that knows no links: the name is taken first, then filled
        try:
            place.open("xb").close()
        except FileExistsError:
            return False
        temporary.replace(place)
    return True


def _rename(temporary: Path, place: Path) -> bool:
    temporary.replace(place)
    return True
