"""Risky words are how a control says that it does what should not be done unasked (E1).

They are data, in `risky_words.toml` beside this. `DENYLIST` is S0's list, `denied_by` reads it in
eighteen languages. `final_words` are the wording of what cannot be taken back, `icon_words` how
pictures, classes and file names say the same. They are told by `actors/rules/text/phrases.py`.
Wording is one sign among several: a page may call its button whatever it likes.
"""

import re
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache

import msgspec

from rutter.actors.rules.text.phrase_file import check_names, load_phrases
from rutter.actors.rules.text.phrases import STEM, Lexicon, folded, lexicon, said_by
from rutter.events.errors import BadInput

__all__ = ["DENYLIST", "denied_by", "final_words", "icon_words", "said_by"]

FILE = "risky_words.toml"
# S0's list, word for word.
DENYLIST = (
    "logout",
    "log-out",
    "log out",
    "sign-out",
    "signout",
    "sign out",
    "delete",
    "remove",
    "submit",
    "purchase",
    "buy",
    "payment",
    "checkout",
    "account",
    "settings",
    "preferences",
)
# Which row of the file a word of that list stands for.
_MEANS = {word: "sign out" if word.endswith("out") else word for word in DENYLIST}
_MEANS["checkout"] = "checkout"
# Of these a word does something: it is final as well.
_DOES = frozenset({"delete", "remove", "submit", "purchase", "buy"})
# Up to so many letters a word may be a name in another language.
SHORT = 5
_STEM = re.compile(r"([^\W_]*)\*")


class Icons(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    risky: tuple[str, ...]
    harmless: tuple[str, ...]
    glue: tuple[str, ...]


class RiskyHead(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The head of the file has what is of no language."""

    icons: Icons


class RiskyLists(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A language has these lists; the file says what each is for."""

    denied: dict[str, tuple[str, ...]]
    not_denied: tuple[str, ...]
    final: tuple[str, ...]
    not_final: tuple[str, ...]
    cookies: tuple[str, ...]
    openers: tuple[str, ...]
    joints: tuple[str, ...]
    beside: tuple[str, ...]
    one_meaning: tuple[str, ...]
    two_meanings: tuple[str, ...]


Languages = dict[str, RiskyLists]


@cache
def risky_words() -> tuple[Icons, Languages]:
    head, languages = load_phrases(__package__, FILE, RiskyHead, RiskyLists)
    return checked(head, languages)


def checked(
    head: RiskyHead, languages: dict[str, RiskyLists]
) -> tuple[Icons, dict[str, RiskyLists]]:
    """Rows and marks as `denied_by` and the lexicons need them."""
    _check_marks((*head.icons.risky, *head.icons.harmless), f"{FILE} [icons]")
    for code, lists in languages.items():
        where = f"{FILE} [languages.{code}]"
        check_names(lists.denied, frozenset(_MEANS.values()), f"{where} denied")
        _check_marks(lists.final + lists.not_final + lists.cookies + lists.not_denied, where)
        for row in lists.denied.values():
            _check_marks(row, f"{where} denied")
    return head.icons, languages


@cache  # when the first control is judged, not with every command
def final_words() -> Lexicon:
    _, languages = risky_words()
    return lexicon(
        _final(),
        [each for lists in languages.values() for each in lists.not_final + lists.cookies],
        openers=[each for lists in languages.values() for each in lists.openers],
        joints=[each for lists in languages.values() for each in lists.joints],
    )


@cache
def icon_words() -> Lexicon:
    icons, _ = risky_words()
    return lexicon(icons.risky, icons.harmless)


def denied_by(text: str, configured: tuple[str, ...]) -> str:
    """The first risky word that the text says, of a policy's denylist; empty when it says none."""
    told, others = _configured(configured)
    said = said_by(text, told)
    if said or not others:
        return said
    raw, plain = text.casefold(), folded(text)
    for word in others:
        if word and (word.casefold() in raw or folded(word) in plain):
            return word
    return ""


@lru_cache(maxsize=32)
def _configured(words: tuple[str, ...]) -> tuple[Lexicon, tuple[str, ...]]:
    """What is told by its meaning, and what a person added, which counts wherever it stands."""
    meanings = frozenset(_MEANS[word] for word in words if word in _MEANS)
    others = tuple(word for word in words if word not in _MEANS)
    _, languages = risky_words()
    harmless = [each for lists in languages.values() for each in lists.not_denied]
    return lexicon(_denied(meanings), harmless), others


def _denied(meanings: frozenset[str]) -> Iterator[str]:
    icons, languages = risky_words()
    for code, lists in languages.items():
        for meaning in sorted(meanings):
            phrases = lists.denied[meaning]
            yield from _guarded(phrases, lists)
            if code == "en":
                yield from _glued(phrases, icons.glue)


def _final() -> Iterator[str]:
    _, languages = risky_words()
    for lists in languages.values():
        yield from _guarded(lists.final, lists)
    yield from _denied(_DOES)


def _guarded(phrases: Iterable[str], lists: RiskyLists) -> Iterator[str]:
    """The phrases of a language, those that other languages use otherwise held to its own."""
    doubtful = dict.fromkeys(map(folded, lists.two_meanings), True)
    doubtful |= dict.fromkeys(map(folded, lists.one_meaning), False)
    for phrase in phrases:
        plain = folded(phrase)
        short = plain.isalpha() and doubtful.get(plain, len(plain) <= SHORT)
        if not lists.beside or not short:
            yield phrase
        else:
            yield f"={phrase}"
            for beside in lists.beside:
                yield f"{phrase} {beside}"
                yield f"{beside} {phrase}"


def _glued(words: Iterable[str], glue: Iterable[str]) -> Iterator[str]:
    """The words as they stand in an identifier that nothing parts."""
    for word in words:
        if " " in word or "-" in word:
            continue
        for each in glue:
            yield f"{word}{each}"
            yield f"{each}{word}"


def _check_marks(phrases: Iterable[str], where: str) -> None:
    for phrase in phrases:
        bare = phrase.removeprefix(phrase[0]) if phrase[0] in "^=!" else phrase
        if not bare.strip(" _#0*"):
            raise BadInput(f"{where}: the phrase {phrase!r} has marks and no word")
        if any(len(stem) < STEM for stem in _STEM.findall(bare)):
            fix = f"write {STEM} letters before the *, or it stands for too many words"
            raise BadInput(f"{where}: the stem in {phrase!r} is too short", fix)
