"""A page's text is data: made plain to read, wrapped for a model, looked at for orders (E4).

Nothing here decides anything. A text that looks like an order is marked, never held back: whoever
proposes a step is judged by policy, whatever any pattern says.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

import msgspec

from rutter.actors.rules.text.suspicious_phrases import Rule, suspicious
from rutter.events.action import Untrusted
from rutter.events.page import Page

# Line ends of any kind are one.
_LINES = re.compile("\r\n?|[\x0b\x0c\x85\u2028\u2029]")
# What nobody sees, or what turns the writing around. A table of our own: what Unicode calls a
# format character differs between Python versions. Blanks that are letters to Unicode (Hangul
# fillers) are in it; joiners are too, though some writing looks better with them.
UNSEEN = (
    "\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f"
    "\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\uffff"
    "\ud800-\udfff\ue000-\uf8ff\ufdd0-\ufdef"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U0010ffff"
)
_UNSEEN = re.compile(f"[{UNSEEN}]+")
# Of these a page has no honest use in the middle of its words.
_SMUGGLED = re.compile("[\u202a-\u202e\u2066-\u2069\ufff9-\ufffb\U000e0000-\U000e007f]")
# An emoji of a flag is written with up to seven of them.
MAX_SMUGGLED = 7
_NONCE = re.compile(r"[0-9A-Za-z]{16,64}")
# One class, repeated: neither ever looks at a character twice.
_WORDS = re.compile(r"[^\W_]+")
_RUNS = re.compile(r"[A-Za-z0-9+/=_-]+")
# Written without spaces: every sign is a word of its own.
_SIGNS = re.compile("[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
# Longer than any hash in hexadecimal; a text of that many letters without a space is no word.
BLOB = 160
# Between two texts: no rule reaches so far.
FAR = 100


def normalised(text: str) -> str:
    """A text as a person sees it: composed, its line ends alike, nothing in it that is not seen.

    NFC and not NFKC: a name stays the one that is on the screen, `½` and `①` and wide letters too.
    """
    if text.isascii() and text.isprintable():
        return text
    plain = _UNSEEN.sub("", _LINES.sub("\n", text))
    return plain if plain.isascii() else unicodedata.normalize("NFC", plain)


def on_one_line(text: str) -> str:
    """Normalised, and what would begin a line of its own does not."""
    return normalised(text).replace("\n", " ").replace("\t", " ")


def wrapped(text: str, nonce: str) -> str:
    """A text between two marks that it cannot write itself: the nonce is in neither its words nor
    known to whoever wrote them. The caller draws one for each prompt."""
    if not _NONCE.fullmatch(nonce):
        raise ValueError("a nonce is 16 to 64 letters and digits")
    inside = re.sub(re.escape(nonce), "[cut]", normalised(text), flags=re.IGNORECASE)
    return f"<untrusted-{nonce}>\n{inside}\n</untrusted-{nonce}>"


def suspicions(*texts: str) -> tuple[str, ...]:
    """What in these texts looks like an order to a model, by the names of the patterns. More
    evidence for whoever reads it, and no verdict: articles about such orders look alike."""
    return scan(*texts).found


class Scan(NamedTuple):
    """A scan says what was found, and how many things it looked at: at most so many a character."""

    found: tuple[str, ...]
    steps: int


def scan(*texts: str) -> Scan:
    """In time that grows with the texts and no faster, whatever they hold."""
    raw = "\n".join(texts)
    folded = [_folded(text) for text in texts]
    whole = "\n".join(folded)
    frames = suspicious().frames
    found = {name for name, signs in frames.items() if any(sign in whole for sign in signs)}
    ordered, steps = _ordered(folded)
    found |= ordered
    if any(len(run) >= BLOB for run in _RUNS.findall(whole)):
        found.add("encoded")
    if not raw.isascii() and len(_SMUGGLED.findall(raw)) > MAX_SMUGGLED:
        found.add("invisible")
    looked = len(raw) + len(whole) * (1 + sum(map(len, frames.values())))
    return Scan(tuple(sorted(found)), looked + steps)


def _folded(text: str) -> str:
    plain = normalised(text)
    return plain.lower() if plain.isascii() else unicodedata.normalize("NFKC", plain).casefold()


def _words_of(folded: str) -> Iterator[str]:
    for word in _WORDS.findall(folded):
        if word.isascii() or not _SIGNS.search(word):
            yield word
        else:
            yield from word


def _stages(rules: Sequence[Rule]) -> Mapping[str, tuple[tuple[int, int], ...]]:
    """By word: of which rules it is a part, and which. Later parts first, so that one word does
    not stand for two."""
    known: dict[str, list[tuple[int, int]]] = {}
    for number, rule in enumerate(rules):
        for stage, words in enumerate(rule.parts):
            for word in words:
                known.setdefault(word, []).append((number, stage))
    return {word: tuple(sorted(places, reverse=True)) for word, places in known.items()}


@cache
def _known() -> Mapping[str, tuple[tuple[int, int], ...]]:
    return _stages(suspicious().rules)


def _ordered(texts: Iterable[str]) -> tuple[set[str], int]:
    """The rules whose parts follow each other closely enough in one text, and how many places were
    looked at. Of each part only the latest way to it is kept: it fits if any does."""
    rules, stages = suspicious().rules, _known()
    begun = [[-FAR] * len(rule.parts) for rule in rules]
    found: set[str] = set()
    at = steps = 0
    for text in texts:
        at += FAR
        for word in _words_of(text):
            at += 1
            known = stages.get(word, ())
            steps += 1 + len(known)
            for number, stage in known:
                rule, ways = rules[number], begun[number]
                start = at if stage == 0 else ways[stage - 1]
                if at - start > rule.within:
                    continue
                ways[stage] = start
                if stage == len(rule.parts) - 1:
                    found.add(rule.name)
    return found, steps


# -- an observation ------------------------------------------------------------------------------


def quarantined(page: Page) -> tuple[Page, tuple[str, ...]]:
    """A page with everything it says normalised, and what looks like an order in it."""
    found = suspicions(*_said(page))
    elements = tuple(
        msgspec.structs.replace(
            element,
            role=normalised(element.role),
            name=plain(element.name),
            value=plain(element.value) if element.value is not None else None,
        )
        for element in page.elements
    )
    page = msgspec.structs.replace(
        page,
        url=normalised(page.url),
        title=plain(page.title),
        headings=tuple(map(plain, page.headings)),
        alerts=tuple(map(plain, page.alerts)),
        elements=elements,
    )
    return page, found


def plain(said: Untrusted) -> Untrusted:
    text = normalised(said.text)
    return said if text == said.text else Untrusted(text)


def _said(page: Page) -> Iterator[str]:
    yield page.title.text
    yield from (text.text for text in (*page.headings, *page.alerts))
    for element in page.elements:
        yield element.name.text
        if element.value is not None:
            yield element.value.text
    yield page.url
