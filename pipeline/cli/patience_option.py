"""`--patience` sets how long this run waits for an element, and for a page that is known to
come."""

import argparse
import re

from rutter.events.errors import BadInput

SHORTEST_MS, LONGEST_MS = 100, 60_000  # as in the configuration
UNITS = {"": 1_000, "s": 1_000, "ms": 1}


def add_option(it: argparse.ArgumentParser) -> None:
    it.add_argument(
        "--patience",
        metavar="TIME",
        help="how long an element is waited for until it can be used, such as 10s (default 3s); "
        "longer while the page itself waits for its server",
    )


def read_patience(options: argparse.Namespace) -> int:
    """In milliseconds; 0, where nothing is said."""
    said: str | None = options.patience
    if said is None:
        return 0
    found = re.fullmatch(r"(\d{1,6}(?:\.\d{1,3})?) ?(s|ms|)", said.strip())
    ms = round(float(found[1]) * UNITS[found[2]]) if found else 0
    if not SHORTEST_MS <= ms <= LONGEST_MS:
        raise BadInput(f"--patience {said!r} is no time from 0.1s to 60s", "give --patience 10s")
    return ms
