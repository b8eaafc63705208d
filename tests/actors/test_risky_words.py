"""Which labels, identifiers and icons are told as risky, in eighteen languages."""

import re

import pytest

from actors.risky_words import (
    DENIED,
    DENYLIST,
    FINAL,
    FINAL_WORDS,
    ICON_WORDS,
    ICONS,
    denied_by,
    said_by,
)
from actors.saying import STEM
from tests.labels import HARMLESS, HARMLESS_ICONS, RISKY, RISKY_ICONS, labels

LANGUAGES = [
    *("en", "de", "fr", "es", "it", "pt", "nl", "pl", "sv"),
    *("da", "tr", "cs", "ru", "uk", "ja", "zh", "ko", "ar"),
]
OF_S0 = ("sign out", "delete", "remove", "submit", "purchase", "buy", "payment", "checkout")


def risky(label: str) -> str:
    return denied_by(label, DENYLIST) or said_by(label, FINAL)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_risky_label_is_told(language: str) -> None:
    assert [label for label in labels(RISKY[language]) if not risky(label)] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_harmless_label_is_told(language: str) -> None:
    assert [(label, risky(label)) for label in labels(HARMLESS[language]) if risky(label)] == []


def test_the_labels_are_many() -> None:
    assert sum(len(labels(data)) for data in RISKY.values()) >= 150
    assert sum(len(labels(data)) for data in HARMLESS.values()) >= 150


def test_risky_icons_are_told_and_harmless_ones_are_not() -> None:
    assert [icon for icon in labels(RISKY_ICONS) if not said_by(icon, ICONS)] == []
    assert [icon for icon in labels(HARMLESS_ICONS) if said_by(icon, ICONS)] == []


def test_every_language_has_every_row_and_final_words_of_its_own() -> None:
    assert list(DENIED) == LANGUAGES
    assert list(FINAL_WORDS) == LANGUAGES
    for rows in DENIED.values():
        assert set(rows) == {*OF_S0, "account", "settings", "preferences"}


@pytest.mark.parametrize("word", DENYLIST)
def test_a_word_of_the_list_is_denied_as_it_stands(word: str) -> None:
    assert denied_by(f"please {word} now", DENYLIST)
    assert denied_by(word.upper(), (word,))


def test_only_what_is_configured_is_denied_in_every_language() -> None:
    assert denied_by("Konto löschen", ("delete",)) == "löschen"
    assert denied_by("Konto löschen", ("buy",)) == ""
    assert denied_by("Delete", ()) == ""


def test_a_word_that_a_person_added_counts_wherever_it_stands() -> None:
    assert denied_by("Unharboured goods", ("delete", "Harbour")) == "Harbour"
    assert denied_by("Ünhärböured", ("harbour",)) == "harbour"
    assert denied_by("Summit", ("delete", "")) == ""


def test_a_stem_is_long_enough_to_mean_something() -> None:
    rows = [row for each in DENIED.values() for row in each.values()]
    data = [*FINAL_WORDS.values(), ICON_WORDS, *rows]
    stems = re.findall(r"(\w+)\*", " ".join(data))
    assert stems
    assert min(map(len, stems)) >= STEM
