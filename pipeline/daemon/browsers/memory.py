"""The system tells how much memory processes take together."""

import os
from collections.abc import Iterable
from pathlib import Path

PROC = Path("/proc")


def resident_mb(processes: Iterable[int]) -> int | None:
    """Megabytes in memory; `None` where the system tells nothing, as one without /proc.

    The processes of a browser share most of their pages: a plain sum counts a program of 200 MB
    once for each of thirty processes. Here what each has for itself is added up, and of what is
    shared the largest part counts, once.
    """
    own, shared, known = 0, 0, False
    for process in processes:
        try:
            told = (PROC / str(process) / "statm").read_text().split()
        except OSError:
            continue  # it ended meanwhile
        resident, common = int(told[1]), int(told[2])
        own += resident - common
        shared = max(shared, common)
        known = True
    return (own + shared) * os.sysconf("SC_PAGE_SIZE") >> 20 if known else None
