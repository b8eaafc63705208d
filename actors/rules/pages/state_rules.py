"""State rules tell the pages of any service apart (F6); they are read from `states.toml`.

Seven is enough. What decides alone weighs that or more; what needs another sign beside it less;
what is also found on other pages (a link to sign in, a plan's name) two or three. UNKNOWN has rules
as well: articles, shops and the like talk about all of this without being any of it. Visible text
includes headings and buttons, so what a heading says is counted there too, where both ask for it.
"""

from collections.abc import Iterable, Iterator
from functools import cache
from typing import NamedTuple

import msgspec

from rutter.actors.rules.text.phrase_file import check_names, load_phrases
from rutter.events.checks import PageState
from rutter.events.errors import BadInput
from rutter.events.service_pack import Sign, StateRule, Where

FILE = "states.toml"
# Between phrases of one sign of which any will do: no page or service writes it.
OR = " \N{DOUBLE VERTICAL LINE} "
# Lists of single words that `page_state.py` looks for in the name of an element.
WORDS = frozenset({"word_saves", "word_searches", "word_reads"})

Phrases = dict[str, tuple[str, ...]]


class WrittenSign(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A sign in the file names phrases of some lists, or, for `same`, the phrase of its rule."""

    where: Where
    says: tuple[str, ...] = ()
    same: bool = False


class WrittenRule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A line of the file is a rule for each phrase of its lists."""

    state: PageState
    weight: int
    where: Where
    says: tuple[str, ...]
    also: tuple[WrittenSign, ...] = ()
    unless: tuple[WrittenSign, ...] = ()


class StatesHead(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The head of the file has the rules, in which phrases stand by the names of their lists."""

    rules: tuple[WrittenRule, ...]


class StateRules(NamedTuple):
    """The file holds the rules, in order, and the single words by the name of their list."""

    generic: tuple[StateRule, ...]
    words: dict[str, frozenset[str]]


@cache  # when the first page is looked at, not with every command: there are thousands
def state_rules() -> StateRules:
    head, languages = load_phrases(__package__, FILE, StatesHead, Phrases)
    return rules_of(head, languages)


def rules_of(head: StatesHead, languages: dict[str, Phrases]) -> StateRules:
    used = WORDS | {name for _, names in _places(head) for name in names}
    for code, lists in languages.items():
        check_names(lists, used, f"{FILE} [languages.{code}]")
        _check_text(head, lists, f"{FILE} [languages.{code}]")
    merged = {
        name: tuple(dict.fromkeys(each for lists in languages.values() for each in lists[name]))
        for name in used
    }
    generic = tuple(rule for written in head.rules for rule in _rules(written, merged))
    return StateRules(generic, {name: frozenset(merged[name]) for name in WORDS})


def _rules(written: WrittenRule, merged: Phrases) -> Iterator[StateRule]:
    """A rule for each of the phrases."""
    unless = tuple(
        Sign(sign.where, each) for sign in written.unless for each in _said(sign.says, merged)
    )
    for phrase in _said(written.says, merged):
        also = tuple(
            Sign(sign.where, phrase if sign.same else OR.join(_said(sign.says, merged)))
            for sign in written.also
        )
        yield StateRule(written.state, (Sign(written.where, phrase), *also), written.weight, unless)


def _said(names: Iterable[str], merged: Phrases) -> list[str]:
    return [phrase for name in names for phrase in merged[name]]


def _places(head: StatesHead) -> Iterator[tuple[Where, tuple[str, ...]]]:
    for rule in head.rules:
        yield rule.where, rule.says
        for sign in (*rule.also, *rule.unless):
            yield sign.where, sign.says


def _check_text(head: StatesHead, lists: Phrases, where: str) -> None:
    """A page is searched for text as it stands, and lowers letters without folding them."""
    for name in {name for place, names in _places(head) if place == "text" for name in names}:
        for phrase in lists[name]:
            if phrase != phrase.casefold() or "#" in phrase:
                fix = "what is looked for in text is in lower case and has no #"
                raise BadInput(f"{where} {name}: no text says {phrase!r} as it stands", fix)
