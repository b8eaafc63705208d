"""The wording holds the words and the addresses of the streaming service, as built and as
redesigned."""

from rutter.pipeline.demo_sites.gaffsail.switches import Switches
from rutter.pipeline.demo_sites.wording import read_words

_WORDS = read_words(__package__)
RELABELLED = _WORDS["relabelled"]
RECAST = _WORDS["recast"]
REASONS = _WORDS["reasons"]
PATHS = _WORDS["paths"]
# Which page comes after which on the way out.
WAY_OUT = ("account", "offer", "survey", "confirm")
REDESIGNED_WAY_OUT = ("account", "leaving", "offer", "confirm")


def word(key: str, switches: Switches) -> str:
    if switches.relabelled == key:
        return RELABELLED[key]
    changed = _WORDS["redesigned"] if switches.redesigned else {}
    return changed.get(key) or _WORDS["as_built"][key]


def paths(switches: Switches) -> dict[str, str]:
    return _WORDS["redesigned_paths"] if switches.redesigned else PATHS


def path_to(key: str, switches: Switches) -> str:
    return paths(switches)[key]


def page_at(path: str, switches: Switches) -> str | None:
    """What is at this address, if anything."""
    return next((key for key, each in paths(switches).items() if each == path), None)


def page_after(key: str, switches: Switches) -> str:
    """The next page on the way out."""
    way = REDESIGNED_WAY_OUT if switches.redesigned else WAY_OUT
    return way[way.index(key) + 1]
