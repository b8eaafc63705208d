"""Given a file of phrases: what is read of it, and what is said of one with a slip in it."""

import re

import pytest
from msgspec import Struct

from rutter.actors.rules.text.phrase_file import LANGUAGES, check_names, read_phrases
from rutter.events.errors import BadInput
from tests.support.case_table import for_each


class Head(Struct, forbid_unknown_fields=True):
    version: int


class Lists(Struct, forbid_unknown_fields=True):
    greetings: tuple[str, ...]
    rows: dict[str, tuple[tuple[str, ...], ...]]


SOUND = """version = 1
[languages.de]
greetings = ["ahoi", "guten tag"]
rows.parts = [["moin", "tag"], ["tag"]]
[languages.fr]
greetings = []
rows = {}
"""
FRENCH = SOUND[SOUND.index("[languages.fr]") :]


def test_what_a_language_has_is_read_in_the_order_of_the_file() -> None:
    head, languages = read_phrases(SOUND, "x.toml", Head, Lists)
    assert head.version == 1
    assert list(languages) == ["de", "fr"]
    assert languages["de"].greetings == ("ahoi", "guten tag")
    assert languages["fr"].greetings == ()


@for_each(
    "sound, wrong, message",
    [
        ("[languages.de]", "[languages.de", "x.toml is not TOML: Expected ']'"),
        ('["ahoi"', '["ahoi', "x.toml is not TOML: "),
        ("version = 1", "version = 1\nversion = 2", "x.toml is not TOML: Cannot overwrite"),
        ("[languages.fr]", "[languages.de]", "x.toml is not TOML: Cannot declare"),
        (SOUND, "version = 1", "x.toml has no languages; begin each with a line as [languages"),
        (SOUND, "version = 1\nlanguages = 3", "x.toml has no languages"),
        ("languages.de", "languages.ger", "x.toml: no language has the code 'ger'; use the two"),
        ("languages.de", "languages.cz", "x.toml: no language has the code 'cz'"),
        ("languages.de", "languages.DE", "x.toml: no language has the code 'DE'"),
        ("version = 1", "", "x.toml: Object missing required field `version`"),
        ("version = 1", "version = 1\nmore = 2", "x.toml: Object contains unknown field `more`"),
        ('= ["ahoi",', '= ["", "ahoi",', "x.toml [languages.de] greetings: the phrase '' is empty"),
        ('"ahoi"', '" ahoi"', "greetings: the phrase ' ahoi' is empty or spaced; write its words"),
        ('"guten tag"', '"guten  tag"', "the phrase 'guten  tag' is empty or spaced"),
        ('"guten tag"', '"ahoi"', "x.toml [languages.de] greetings: the phrase 'ahoi' is there tw"),
        ('"moin"', '"tag"', "x.toml [languages.de] rows.parts: the phrase 'tag' is there twice"),
        ('"guten tag"', "7", "x.toml [languages.de]: Expected `str`, got `int` - at `$.greetings"),
        ("greetings = []", "", "x.toml [languages.fr]: Object missing required field `greetings`"),
        ("greetings = []", "greeting = []", "x.toml [languages.fr]: Object contains unknown fi"),
        (FRENCH, "[languages]\nfr = 3", "[languages.fr]: Expected `object`, got `int`"),
    ],
)
def test_a_slip_is_told_with_file_language_and_entry(sound: str, wrong: str, message: str) -> None:
    assert sound in SOUND
    with pytest.raises(BadInput, match=re.escape(message)):
        read_phrases(SOUND.replace(sound, wrong, 1), "x.toml", Head, Lists)


def test_one_phrase_may_be_in_two_lists_and_in_two_languages() -> None:
    read_phrases(SOUND.replace("greetings = []", 'greetings = ["ahoi"]'), "x.toml", Head, Lists)


def test_lists_go_by_their_names() -> None:
    check_names({"a": 1}, {"a"}, "x.toml")
    with pytest.raises(BadInput, match=re.escape("x.toml has no list 'b'; write b = []")):
        check_names({"a": 1}, {"a", "b"}, "x.toml")
    with pytest.raises(BadInput, match="has a list 'a' that nothing uses"):
        check_names({"a": 1}, set(), "x.toml")


def test_a_country_is_no_language() -> None:
    assert not {"cz", "dk", "jp", "ua", "gr", "us"} & LANGUAGES
    assert {"cs", "da", "ja", "uk", "el", "en"} <= LANGUAGES
