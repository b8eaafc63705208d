"""A lexicon finds which of many phrases a text says, in scripts with and without spaces.

Pure and linear: a text is folded and split once, and every word is looked up in an index by the
first word of each phrase. How a phrase is written in the data:

- `delet*` stands for every word that begins so (three letters at least);
- `cancel _` wants any word after it: "Cancel" alone closes a dialog, "Cancel plan" does not;
- `^book` counts where the text begins ("Book a table", not "My book");
- `=order` counts when it is all that is said;
- `!pay now` counts in the middle of a sentence too;
- `order #` wants a number sign after it, `book 0` a number;
- what is written in a script without spaces counts wherever it stands, unless it has a `=`.

A lexicon for controls knows a sentence from what a control says of itself: a headline says "sell",
a button begins with it.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

STEM = 3
# Up to so many words a line is a label, in which a phrase counts wherever it stands.
LABEL = 3
# Up to so many it may be one whose verb comes last, as in German; any more is a sentence.
LONG_LABEL = 6
# One pass over an identifier: btnDeleteAccount, HTTPServer.
_HUMPS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_WORD = re.compile(r"[^\W_]+|\n|#")
# What is not seen and splits or turns a word: soft hyphens, joiners, marks of direction, selectors.
_UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\U000e0000-\U000e0fff]"
)
# Arabic, kana, han, hangul, and the symbols among which emoji are.
_UNSPACED = re.compile(
    "[\u0600-\u06ff\u0750-\u077f\u2190-\u27bf\u2900-\u2bff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
    "\U0001f000-\U0001faff]"
)
# Letters that no decomposition takes apart.
_LETTERS = str.maketrans(
    {"ı": "i", "ø": "o", "æ": "ae", "œ": "oe", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "’": "'"}
)
# Letters of one script that pass for those of another, inside a word that is of both.
_ALIKE = str.maketrans("авеіјкмнорсԁтухѕԛԝ", "abeijkmhopcdtyxsqw")
_MIXED = re.compile("[a-z][\u0400-\u052f]|[\u0400-\u052f][a-z]")
# A mark above a kana makes it another letter; every other mark is an accent.
_KEPT_MARKS = "\u3099\u309a"


class Phrase(NamedTuple):
    """A phrase of the index has a name and what follows its first word."""

    rest: tuple[str, ...]
    called: str
    place: str = ""
    harmless: bool = False


class PhraseStart(NamedTuple):
    """A first word begins phrases: by the word after it, and where that is not one word, or none.

    Longest first, so that the first that is there is the one that counts.
    """

    then: dict[str, tuple[Phrase, ...]]
    others: tuple[Phrase, ...]


class Lexicon(NamedTuple):
    """A lexicon holds phrases, by their first word and by how it begins."""

    words: dict[str, PhraseStart]
    stems: dict[str, tuple[tuple[str, Phrase], ...]]
    unspaced: re.Pattern[str] | None
    # How a line begins that says what a control does, however long; empty: every line does.
    openers: frozenset[str] = frozenset()
    joints: frozenset[str] = frozenset()


class TextLine(NamedTuple):
    """A line of the text ends somewhere, and its words have first and last places and a number."""

    stop: int
    first: int
    last: int
    words: int


NO_LINE = TextLine(0, 0, 0, 0)


def folded(text: str) -> str:
    """Without case, accents, unseen characters and full-width forms; words of identifiers apart."""
    text = _HUMPS.sub(" ", text)
    if text.isascii():
        return text.casefold()
    apart = unicodedata.normalize("NFKD", _UNSEEN.sub("", text))
    bare = "".join(
        mark for mark in apart if mark in _KEPT_MARKS or unicodedata.combining(mark) == 0
    )
    plain = unicodedata.normalize("NFC", bare).casefold().translate(_LETTERS)
    if _MIXED.search(plain):
        return " ".join(_one_script(word) for word in plain.split(" "))
    return plain


def lexicon(
    risky: Iterable[str],
    harmless: Iterable[str] = (),
    *,
    openers: Iterable[str] = (),
    joints: Iterable[str] = (),
) -> Lexicon:
    """The index of these phrases. A harmless one that is longer hides the risky one in it.

    With `openers` a phrase in a sentence counts only at its beginning, after a joint ("and"), or
    where the sentence begins with an opener ("please").
    """
    words: dict[str, list[Phrase]] = {}
    stems: dict[str, list[tuple[str, Phrase]]] = {}
    unspaced: dict[bool, list[str]] = {True: [], False: []}
    named = [*((each, False) for each in risky), *((each, True) for each in harmless)]
    for written, is_harmless in named:
        place = written[0] if written[0] in "^=!" else ""
        bare = written.removeprefix(place).strip()
        if place != "=" and _UNSPACED.search(bare):
            unspaced[is_harmless].append(folded(bare))
            continue
        first, *rest = _split(bare)
        phrase = Phrase(tuple(rest), bare.replace("*", "").rstrip(" _#0"), place, is_harmless)
        if first.endswith("*"):
            stems.setdefault(first[:STEM], []).append((first[:-1], phrase))
        else:
            words.setdefault(first, []).append(phrase)
    return Lexicon(
        {word: _begun(phrases) for word, phrases in words.items()},
        {stem: tuple(phrases) for stem, phrases in stems.items()},
        _anywhere(unspaced[False], unspaced[True]),
        frozenset(map(folded, openers)),
        frozenset(map(folded, joints)),
    )


def said_by(text: str, words: Lexicon) -> str:
    """The first of the phrases that the text says; empty when it says none.

    A line of the text, and what bars part in it, stands for itself: a phrase does not go over its
    end, and `^` begins there.
    """
    plain, tokens, unspaced = _read(text)
    line = NO_LINE
    for at, phrase in _risky(tokens, words):
        if not words.openers or phrase.place == "!":
            return phrase.called
        if at >= line.stop:
            line = _line_of(tokens, at)
        if _counts(tokens, at, phrase, line, words):
            return phrase.called
    if not unspaced or words.unspaced is None:
        return ""
    return next((hit[0] for hit in words.unspaced.finditer(plain) if hit["risky"]), "")


def _risky(tokens: list[str], words: Lexicon) -> Iterator[tuple[int, Phrase]]:
    exact, stems = words.words, words.stems
    after = 0
    for at, token in enumerate(tokens):
        # Most words begin no phrase: nothing is called for them.
        if at < after or (token not in exact and token[:STEM] not in stems):
            continue
        found = _longest(tokens, at, words)
        if found is None:
            continue
        if not found.harmless:
            yield at, found
        else:
            after = at + 1 + len(found.rest)


@lru_cache(maxsize=512)
def _read(text: str) -> tuple[str, list[str], bool]:
    plain = folded(text).replace("|", "\n").replace("&", " and ")
    unspaced = not plain.isascii() and _UNSPACED.search(plain) is not None
    return plain, _WORD.findall(plain), unspaced


def _longest(tokens: list[str], at: int, words: Lexicon) -> Phrase | None:
    """Of the phrases that begin here the longest; the harmless one where two are as long."""
    token = tokens[at]
    begins = at == 0 or tokens[at - 1] == "\n"
    best: Phrase | None = None
    begun = words.words.get(token)
    if begun is not None:
        if at + 1 < len(tokens):
            best = _first(begun.then.get(tokens[at + 1], ()), tokens, at, begins)
        other = _first(begun.others, tokens, at, begins)
        if other is not None and _better(other, best):
            best = other
    for stem, phrase in words.stems.get(token[:STEM], ()):
        if not token.startswith(stem):
            continue
        if _better(phrase, best) and _follows(tokens, at, phrase, begins):
            best = phrase
    return best


def _first(phrases: tuple[Phrase, ...], tokens: list[str], at: int, begins: bool) -> Phrase | None:
    for phrase in phrases:
        if _follows(tokens, at, phrase, begins):
            return phrase
    return None


def _begun(phrases: list[Phrase]) -> PhraseStart:
    then: dict[str, list[Phrase]] = {}
    others: list[Phrase] = []
    for phrase in sorted(phrases, key=lambda each: (-len(each.rest), not each.harmless)):
        second = phrase.rest[0] if phrase.rest else "_"
        if second in ("_", "0") or second.endswith("*"):
            others.append(phrase)
        else:
            then.setdefault(second, []).append(phrase)
    return PhraseStart({word: tuple(each) for word, each in then.items()}, tuple(others))


def _counts(tokens: list[str], at: int, found: Phrase, line: TextLine, words: Lexicon) -> bool:
    """Whether it stands where a control says what it does, and not somewhere in a sentence."""
    if line.words <= LABEL or at <= line.first:
        return True
    if tokens[line.first] in words.openers or tokens[at - 1] in words.joints:
        return True
    return line.words <= LONG_LABEL and at + len(found.rest) >= line.last


def _line_of(tokens: list[str], at: int) -> TextLine:
    begin = stop = at
    while begin and tokens[begin - 1] != "\n":
        begin -= 1
    while stop < len(tokens) and tokens[stop] != "\n":
        stop += 1
    # Numbers and prices are no words of a sentence.
    spoken = [place for place in range(begin, stop) if tokens[place].isalpha()] or [at]
    return TextLine(stop, spoken[0], spoken[-1], len(spoken))


def _better(phrase: Phrase, best: Phrase | None) -> bool:
    if best is None:
        return True
    return (len(phrase.rest), phrase.harmless) > (len(best.rest), best.harmless)


def _follows(tokens: list[str], at: int, phrase: Phrase, begins: bool) -> bool:
    """Whether the rest of the phrase stands after its first word, and it stands where it must."""
    if phrase.place in ("^", "=") and not begins:
        return False
    end = at + 1 + len(phrase.rest)
    if end > len(tokens):
        return False
    if phrase.place == "=" and end < len(tokens) and tokens[end] != "\n":
        return False
    for wanted, token in zip(phrase.rest, tokens[at + 1 : end], strict=True):
        if token == "\n":
            return False
        if wanted == token or wanted == "_" or (wanted == "0" and token[0].isdigit()):
            continue
        if not (wanted[-1] == "*" and token.startswith(wanted[:-1])):
            return False
    return True


def _anywhere(risky: list[str], harmless: list[str]) -> re.Pattern[str] | None:
    """The harmless ones are tried first: each is there for a risky one that it begins with."""
    if not risky:
        return None
    spared = f"(?P<harmless>{_one_of(harmless)})|" if harmless else ""
    return re.compile(f"{spared}(?P<risky>{_one_of(risky)})")


def _one_of(phrases: list[str]) -> str:
    longest = sorted(set(phrases), key=lambda each: (-len(each), each))
    return "|".join(map(re.escape, longest))


def _split(bare: str) -> list[str]:
    """The words of a phrase as a text's are split, with the marks that only data has."""
    return re.findall(r"[^\W_]+\*?|[_#]", folded(bare))


def _one_script(word: str) -> str:
    return word.translate(_ALIKE) if _MIXED.search(word) else word
