"""A public suffix is a name below which anybody may have one: to allow all is to allow strangers.

They are data, in `public_suffixes.toml` beside this, kept by hand: nothing is asked for anywhere.
"""

import tomllib
from functools import cache
from importlib.resources import files

from rutter.actors.rules.policy.hosts import LOCAL_NAMES, read_pattern

FILE = "public_suffixes.toml"


def names_strangers(pattern: str) -> bool:
    """Whether `*.` stands before a public suffix."""
    read = read_pattern(pattern)
    return read is not None and read.below and is_public_suffix(read.host)


def is_public_suffix(name: str) -> bool:
    if f".{name}".endswith(LOCAL_NAMES):
        return False
    first, dot, country = name.partition(".")
    if not dot:
        return True
    kinds, shared = _kept()
    return name in shared or (len(country) == 2 and first in kinds)


@cache
def _kept() -> tuple[frozenset[str], frozenset[str]]:
    kept = tomllib.loads(files(__package__).joinpath(FILE).read_text("utf-8"))
    return frozenset(kept["kinds"]), frozenset(kept["shared"])
