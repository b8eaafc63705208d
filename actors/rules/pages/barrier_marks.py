"""Barrier marks are what pages that keep somebody out have in them; they are read from
`barriers.toml`, and the page is asked which of them it has."""

from collections.abc import Mapping
from functools import cache
from typing import Literal, NamedTuple

import msgspec

from rutter.actors.rules.pages.page_state import words_of
from rutter.actors.rules.text.phrase_file import load_phrases

FILE = "barriers.toml"

Means = Literal["page", "captcha"]


class Found(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A service is found by these: patterns of addresses, parts of inline scripts, selectors."""

    scripts: tuple[str, ...] = ()
    frames: tuple[str, ...] = ()
    inline: tuple[str, ...] = ()
    elements: tuple[str, ...] = ()


class BarrierService(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    page: Found = Found()
    captcha: Found = Found()


class BarrierHead(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    services: tuple[BarrierService, ...]
    mounts: tuple[str, ...]
    answers: tuple[str, ...]


class BarrierPhrases(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Barrier phrases are what such pages say, in one language."""

    said_of_bots: tuple[str, ...]
    said_of_refusal: tuple[str, ...]
    text_of_bots: tuple[str, ...]
    text_alone: tuple[str, ...]
    text_of_refusal: tuple[str, ...]
    text_of_waiting: tuple[str, ...]


class BarrierMarks(NamedTuple):
    """The table is made ready: which service a mark is of and what it means, by what it is; words
    of titles and headings; texts by the list that they are in."""

    services: Mapping[tuple[str, str], tuple[tuple[str, Means], ...]]
    bots: tuple[str, ...]
    refusals: tuple[str, ...]
    texts: Mapping[str, str]
    mounts: tuple[str, ...]
    answers: tuple[str, ...]


@cache
def barrier_marks() -> BarrierMarks:
    head, languages = load_phrases(__package__, FILE, BarrierHead, BarrierPhrases)
    said = languages.values()
    lists = {
        "bots": [text for each in said for text in each.text_of_bots],
        "alone": [text for each in said for text in each.text_alone],
        "refusal": [text for each in said for text in each.text_of_refusal],
        "waiting": [text for each in said for text in each.text_of_waiting],
    }
    return BarrierMarks(
        services=_services(head),
        bots=tuple(words_of(text) for each in said for text in each.said_of_bots),
        refusals=tuple(words_of(text) for each in said for text in each.said_of_refusal),
        texts={text: name for name, texts in lists.items() for text in texts},
        mounts=head.mounts,
        answers=head.answers,
    )


def _services(head: BarrierHead) -> Mapping[tuple[str, str], tuple[tuple[str, Means], ...]]:
    """A mark may be of a page of its own and of a captcha, too."""
    known: dict[tuple[str, str], tuple[tuple[str, Means], ...]] = {}
    for service in head.services:
        kinds: tuple[tuple[Means, Found], ...] = (
            ("page", service.page),
            ("captcha", service.captcha),
        )
        for means, found in kinds:
            marks = [
                *(("script", each) for each in found.scripts),
                *(("frame", each) for each in found.frames),
                *(("inline", each) for each in found.inline),
                *(("element", each) for each in found.elements),
            ]
            for mark in marks:
                known[mark] = (*known.get(mark, ()), (service.name, means))
    return known


@cache
def asked_of_page() -> Mapping[str, tuple[str, ...]]:
    """What the page's script is to look for, by what it is."""
    marks = barrier_marks()
    of = {
        what: tuple(name for kind, name in marks.services if kind == what)
        for what in ("script", "frame", "inline", "element")
    }
    # A page writes the apostrophe in two ways.
    texts = [spelling for text in marks.texts for spelling in (text, text.replace("'", "\u2019"))]
    return {
        **of,
        "mount": marks.mounts,
        "answer": marks.answers,
        "text": tuple(dict.fromkeys(texts)),
    }
