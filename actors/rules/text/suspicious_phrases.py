"""Suspicious phrases address a model and not a reader; `suspicious_phrases.toml` holds them.

A rule's parts follow each other, in this order, within a number of words; each is a list of words
as they are written small. In writing without spaces every sign is a word.
"""

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import msgspec

from rutter.actors.rules.text.phrase_file import load_phrases
from rutter.events.errors import BadInput

FILE = "suspicious_phrases.toml"


class Rule(NamedTuple):
    name: str
    within: int
    parts: tuple[frozenset[str], ...]


class Suspicious(NamedTuple):
    """The file's rules, and by name what looks like the frame of a conversation, are casefolded."""

    rules: tuple[Rule, ...]
    frames: dict[str, tuple[str, ...]]


class Written(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An entry of the file is parts of words, or texts of which every sign is a part."""

    within: int
    parts: tuple[tuple[str, ...], ...] = ()
    signs: tuple[str, ...] = ()


class SuspiciousLists(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A language has a list of each kind."""

    override: tuple[Written, ...]
    prompt: tuple[Written, ...]
    role: tuple[Written, ...]
    addressed: tuple[Written, ...]
    secrecy: tuple[Written, ...]
    exfiltration: tuple[Written, ...]
    urged: tuple[Written, ...]


class SuspiciousHead(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The head of the file has what is of no language."""

    frames: dict[str, tuple[str, ...]]


@cache  # at the first text that is looked at
def suspicious() -> Suspicious:
    head, languages = load_phrases(__package__, FILE, SuspiciousHead, SuspiciousLists)
    return suspicious_of(head, languages)


def suspicious_of(head: SuspiciousHead, languages: dict[str, SuspiciousLists]) -> Suspicious:
    rules = [
        rule
        for kind in SuspiciousLists.__struct_fields__
        for code, lists in languages.items()
        for written in getattr(lists, kind)
        for rule in _rules(kind, written, f"{FILE} [languages.{code}] {kind}")
    ]
    return Suspicious(tuple(rules), head.frames)


def _rules(kind: str, written: Written, where: str) -> Iterator[Rule]:
    if bool(written.parts) == bool(written.signs) or not all(written.parts):
        raise BadInput(f"{where}: an entry has either parts, each of some words, or signs")
    if written.parts:
        yield Rule(kind, written.within, tuple(map(frozenset, written.parts)))
    for text in written.signs:
        yield Rule(kind, written.within, tuple(map(frozenset, text)))
