"""The address file says where the daemon of a data directory is: it lies beside the log as long as
the daemon listens.

Whoever reads it sends the person's token there. So it is believed only where nobody else can have
written it, for an address of this machine, and while the process that it names has the directory:
a port that a killed daemon left may be anybody's by now.
"""

import os
import re
import socket
import stat
from ipaddress import ip_address
from pathlib import Path

import msgspec

from rutter.events.durable import write_whole
from rutter.events.errors import WorldBroken
from rutter.pipeline.config.data_directory import DataDirectory

NAME = "daemon.json"
URL = re.compile(r"http://(?:\[([0-9a-f:]+)\]|([0-9.]+|localhost)):([0-9]{1,5})")
MAX_BYTES = 4096


class AddressFileUnsafe(WorldBroken):
    """The file was not written by its owner alone, or leads elsewhere."""


class DaemonAddress(msgspec.Struct, frozen=True):
    pid: int
    url: str


def write_whereabouts(directory: DataDirectory, url: str) -> None:
    """Whole or not at all: whoever looks reads either nothing or where it is."""
    write_whole(directory.root / NAME, msgspec.json.encode(DaemonAddress(os.getpid(), url)))


def drop_whereabouts(directory: DataDirectory) -> None:
    (directory.root / NAME).unlink(missing_ok=True)


def find_daemon(directory: DataDirectory) -> DaemonAddress | None:
    """Where it is. One that was killed leaves the file: the directory is not its any more."""
    place: Path = directory.root / NAME
    try:
        found = msgspec.json.decode(_read(place), type=DaemonAddress)
    except (FileNotFoundError, NotADirectoryError, msgspec.MsgspecError):
        return None
    if directory.writer() != found.pid:
        return None
    if not _is_here(found.url):
        raise _unsafe(place, f"names {found.url!r}, which is no address of this machine")
    return found


def _read(place: Path) -> bytes:
    try:
        handle = os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except (FileNotFoundError, NotADirectoryError):
        raise
    except OSError as error:
        raise _unsafe(place, f"cannot be read, or is a link ({error.strerror})") from error
    try:
        held = os.fstat(handle)
        if not stat.S_ISREG(held.st_mode):
            raise _unsafe(place, "is not a plain file")
        if held.st_uid != os.geteuid() or stat.S_IMODE(held.st_mode) & 0o022:
            raise _unsafe(place, "may have been written by somebody else")
        return os.read(handle, MAX_BYTES)
    finally:
        os.close(handle)


def _unsafe(place: Path, what: str) -> AddressFileUnsafe:
    return AddressFileUnsafe(f"{place} {what}", "delete it, and start the daemon again")


def _is_here(url: str) -> bool:
    """Whether nobody but this machine is asked: by a number that is its own, or as localhost."""
    found = URL.fullmatch(url)
    if found is None or not 0 < int(found[3]) <= 65_535:
        return False
    if found[2] == "localhost":
        return True
    try:
        address = ip_address(found[1] or found[2])
    except ValueError:
        return False
    return address.is_loopback or _can_be_bound(str(address))


def _can_be_bound(address: str) -> bool:
    """As only those can that are this machine's."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as probe:
        try:
            probe.bind((address, 0))
        except OSError:
            return False
    return not ip_address(address).is_unspecified
