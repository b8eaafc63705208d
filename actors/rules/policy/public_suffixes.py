"""A public suffix is a name below which anybody may have one: to allow all is to allow strangers.

They are data, in `public_suffixes.toml` beside this, kept by hand: nothing is asked for anywhere.
"""

from functools import cache

import msgspec

from rutter.actors.rules.policy.hosts import LOCAL_NAMES, read_pattern
from rutter.actors.rules.text.phrase_file import load_table

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
    kept = _kept()
    return name in kept.shared or (len(country) == 2 and first in kept.kinds)


class _Suffixes(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    kinds: frozenset[str]
    shared: frozenset[str]


@cache
def _kept() -> _Suffixes:
    return load_table(__package__, FILE, _Suffixes)
