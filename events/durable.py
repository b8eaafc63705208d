"""What makes a file outlive a power cut, and how a full disk is told from a broken one."""

import errno
import os
from pathlib import Path


def sync_directory(directory: Path) -> None:
    """Makes the names in it durable: a file that was synced is still lost without its name."""
    handle = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def is_full(error: OSError) -> bool:
    return error.errno in (errno.ENOSPC, errno.EDQUOT)
