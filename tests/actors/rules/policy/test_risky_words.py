"""Which labels, identifiers and icons are told as risky, in eighteen languages."""

import re
import tomllib
from pathlib import Path

import pytest

from rutter.actors.rules.policy.risky_words import (
    DENYLIST,
    FILE,
    RiskyHead,
    RiskyLists,
    checked,
    denied_by,
    final_words,
    icon_words,
    risky_words,
    said_by,
)
from rutter.actors.rules.text.phrase_file import read_phrases
from rutter.events.errors import BadInput
from tests.support.case_table import for_each

LANGUAGES = [
    *("en", "de", "fr", "es", "it", "pt", "nl", "pl", "sv"),
    *("da", "tr", "cs", "ru", "uk", "ja", "zh", "ko", "ar"),
]
OF_S0 = ("sign out", "delete", "remove", "submit", "purchase", "buy", "payment", "checkout")
LABELS = tomllib.loads((Path(__file__).parent / "control_labels.toml").read_text("utf-8"))


def labels(data: str) -> list[str]:
    return [" ".join(each.split()) for each in data.split("|")]


def risky(label: str) -> str:
    return denied_by(label, DENYLIST) or said_by(label, final_words())


@for_each("language", LANGUAGES)
def test_every_risky_label_is_told(language: str) -> None:
    assert [label for label in labels(LABELS["RISKY"][language]) if not risky(label)] == []


@for_each("language", LANGUAGES)
def test_no_harmless_label_is_told(language: str) -> None:
    assert [
        (label, risky(label)) for label in labels(LABELS["HARMLESS"][language]) if risky(label)
    ] == []


def test_the_labels_are_many() -> None:
    assert sum(len(labels(data)) for data in LABELS["RISKY"].values()) >= 150
    assert sum(len(labels(data)) for data in LABELS["HARMLESS"].values()) >= 150


@for_each("of", LABELS["NAMES"])
def test_names_days_places_and_things_are_not_words_of_another_language(of: str) -> None:
    assert [(label, risky(label)) for label in labels(LABELS["NAMES"][of]) if risky(label)] == []


def test_the_names_are_many() -> None:
    assert sum(len(labels(data)) for data in LABELS["NAMES"].values()) >= 200


def test_a_banner_about_cookies_is_not_final() -> None:
    assert [(label, risky(label)) for label in labels(LABELS["COOKIES"]) if risky(label)] == []


@for_each(
    "label", ["Accept", "Accept all offers", "Reject all 12 applicants", "Agree", "Tout supprimer"]
)
def test_what_is_not_about_cookies_stays_final(label: str) -> None:
    assert said_by(label, final_words())


def test_yes_and_finish_are_final_as_all_that_is_said() -> None:
    assert [label for label in labels(LABELS["YES"]) if not said_by(label, final_words())] == []
    for label in ("Finish line", "Complete guide", "Proceed with care", "Done", "OK", "Continue"):
        assert said_by(label, final_words()) == ""


@for_each(
    "label, said",
    [
        ("Order #1234", ""),
        ("Order 1234", ""),
        ("Order #A-12", ""),
        ("Order", "order"),
        ("Order pizza", "order"),
        ("Order now", "order now"),
        ("Transfer #9", ""),
        ("Transfer 500 EUR", "transfer"),
        ("Payer 20 €", "payer"),
        ("Tom Baker", ""),
        ("Töm papperskorgen", "töm papperskorg"),
        ("Jane Doe", ""),
        ("Doe", "doe"),
        ("Doe agora", "doe agora"),
    ],
)
def test_a_short_word_counts_alone_or_beside_words_of_its_language(label: str, said: str) -> None:
    assert said_by(label, final_words()) == said


def test_a_long_label_begins_with_what_it_does() -> None:
    assert [
        label for label in labels(LABELS["LONG_RISKY"]) if not said_by(label, final_words())
    ] == []


def test_of_sixty_headlines_and_mails_two_are_taken_for_controls() -> None:
    assert len(labels(LABELS["HEADLINES"])) == 60
    assert [label for label in labels(LABELS["HEADLINES"]) if said_by(label, final_words())] == [
        "Storm forces ferries to cancel crossings",
        "Bob Stone Fwd: can you sign the lease and send it back",
    ]


def test_a_control_below_a_long_line_stands_for_itself() -> None:
    story = "Minister to publish a report on the sale of rail stock"
    assert said_by(story, final_words()) == ""
    assert said_by(f"{story}\nPublish", final_words()) == "publish"
    assert said_by(f"{story} | Publish", final_words()) == "publish"


def test_the_denylist_counts_wherever_it_stands() -> None:
    assert denied_by("Why so many people want to delete their photos", DENYLIST) == "delete"


def test_risky_icons_are_told_and_harmless_ones_are_not() -> None:
    assert [icon for icon in labels(LABELS["RISKY_ICONS"]) if not said_by(icon, icon_words())] == []
    assert [icon for icon in labels(LABELS["HARMLESS_ICONS"]) if said_by(icon, icon_words())] == []


def test_every_language_has_every_row_and_final_words_of_its_own() -> None:
    _, languages = risky_words()
    assert list(languages) == LANGUAGES
    for lists in languages.values():
        assert set(lists.denied) == {*OF_S0, "account", "settings", "preferences"}
        assert all((*lists.denied.values(), lists.final))


@for_each("word", DENYLIST)
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


ROWS = "\n".join(f'"{row}" = []' for row in (*OF_S0, "account", "settings", "preferences"))
LACKING = "\n".join(f"{name} = []" for name in RiskyLists.__struct_fields__[1:])
SOUND = f"""[icons]
risky = []
harmless = []
glue = []
[languages.fi]
{LACKING}
[languages.fi.denied]
{ROWS}
"""


def read(text: str) -> None:
    checked(*read_phrases(text, FILE, RiskyHead, RiskyLists))


def test_a_language_may_lack_every_word() -> None:
    read(SOUND)


@for_each(
    "sound, wrong, message",
    [
        ('"buy" = []', "", "[languages.fi] denied has no list 'buy'; write buy = []"),
        ('"buy"', '"bye"', "[languages.fi] denied has no list 'buy'"),
        ('"buy"', 'bye = []\n"buy"', "[languages.fi] denied has a list 'bye' that nothing uses"),
        ("final = []", "finals = []", "[languages.fi]: Object contains unknown field `finals`"),
        ("cookies = []", "", "[languages.fi]: Object missing required field `cookies`"),
        ("cookies = []", 'cookies = "yes"', "[languages.fi]: Expected `array`, got `str`"),
        ("final = []", "final = [1]", "Expected `str`, got `int` - at `$.final[0]`"),
        ("risky = []", "", "risky_words.toml: Object missing required field `risky`"),
        ('"buy" = []', '"buy" = ["^"]', "denied: the phrase '^' has marks and no word"),
        ("final = []", 'final = ["os*"]', "the stem in 'os*' is too short; write 3 letters"),
        ("risky = []", 'risky = ["pay b*"]', "[icons]: the stem in 'pay b*' is too short"),
    ],
)
def test_what_is_wrong_in_the_file_is_named(sound: str, wrong: str, message: str) -> None:
    with pytest.raises(BadInput, match=re.escape(message)) as told:
        read(SOUND.replace(sound, wrong, 1))
    assert str(told.value).startswith(FILE)
