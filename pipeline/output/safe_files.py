"""A safe file is handed out whole or not at all, never over another one, under a name that is safe
anywhere. A name that a page gave is text, not a path."""

import errno
import os
import re
import unicodedata
from pathlib import Path, PurePath

from rutter.actors.rules.text.untrusted import on_one_line
from rutter.events.durable import disk_told, drafted
from rutter.events.errors import BadInput

LONGEST = 120  # characters of a name: with a number behind it, and in UTF-8, any disk takes it
MOST = 10_000  # of one name in one folder
DEVICES = (Path("/dev"), Path("/dev/fd"), Path("/proc/self/fd"))
OPEN = 0o666  # less what the umask of who asked for the file takes away
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
        if not _is_there(place) and _written(place, body):
            return place
    raise BadInput(f"{folder} holds {MOST} files called {name}", "name another folder")


def write_named(place: Path, text: str, option: str) -> None:
    """A file where a person said with `option`: a pipe of theirs too. A link is not followed: who
    may write into the folder could have put it there, and what it leads to would be lost."""
    links = 0 if place.parent in DEVICES else os.O_NOFOLLOW  # /dev/stdout is one
    try:
        handle = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | links, OPEN)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        if error.errno == errno.ELOOP:
            what = f"{place} is a link, which is not followed"
            raise BadInput(what, f"name the file itself with {option}") from error
        what = f"{place} cannot be written ({error.strerror})"
        raise BadInput(what, f"check {option}") from error


def replace_whole(place: Path, body: bytes) -> None:
    """The file anew: whoever reads it sees the old one or the new one, and nothing between."""
    with disk_told(place), drafted(place, mode=OPEN) as draft:
        draft.write_bytes(body)


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


def _written(place: Path, body: bytes) -> bool:
    """Whether it has the name: somebody else may have taken it meanwhile."""
    with disk_told(place):
        try:
            with drafted(place, mode=OPEN, name=_link) as draft:
                draft.write_bytes(body)
        except FileExistsError:
            return False
    return True


def _link(draft: Path, place: Path) -> None:
    """Under a name that nobody has: a link is made or refused in one step."""
    try:
        place.hardlink_to(draft)
    except FileExistsError:
        raise
    except OSError:  # a disk that knows no links: the name is taken first, then filled
        place.open("xb").close()
        draft.replace(place)
