"""Example counts say how often something is tried: a fifth of its rounds, a tenth of a property's
examples, or all of them with RUTTER_SOAK=1."""

import os

from hypothesis import settings

SOAK = os.environ.get("RUTTER_SOAK") == "1"
USUAL = 100  # what hypothesis does by itself


def count(full: int, part: int = 5) -> int:
    """Fewer than five would hardly leave the simplest case behind."""
    return full if SOAK else max(5, full // part)


def examples(full: int) -> settings:
    """Decorates a property that needs another count than the usual."""
    return settings(max_examples=count(full, part=10))


def moments(events: int, *, at_most: int = 12) -> list[int]:
    """Where in a run of so many events something is tried: at each of them with RUTTER_SOAK=1, else
    at some, as far apart as they can be; the first and the last are always among them."""
    if SOAK or events <= at_most:
        return list(range(1, events + 1))
    return [1 + round(each * (events - 1) / (at_most - 1)) for each in range(at_most)]
