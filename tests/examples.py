"""How often a property is tried: a fifth in every run, in full with RUTTER_SOAK=1."""

import os

from hypothesis import settings

SOAK = os.environ.get("RUTTER_SOAK") == "1"
USUAL = 100  # what hypothesis does by itself


def count(full: int) -> int:
    """Fewer than five would hardly leave the simplest case behind."""
    return full if SOAK else max(5, full // 5)


def examples(full: int) -> settings:
    """Decorates a property that needs another count than the usual."""
    return settings(max_examples=count(full))
