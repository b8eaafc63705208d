"""Given the file of the wording of states: the rules that it makes, and what is said of a slip."""

import re

import pytest

from rutter.actors.observer.actor import MAX_PHRASES
from rutter.actors.rules.pages.page_state import phrases_for
from rutter.actors.rules.pages.state_rules import (
    FILE,
    OR,
    Phrases,
    StateRules,
    StatesHead,
    rules_of,
)
from rutter.actors.rules.text.phrase_file import read_phrases
from rutter.events.errors import BadInput
from rutter.events.run_settings import RunSettings
from rutter.events.service_pack import Sign, StateRule
from tests.support.case_table import for_each

SOUND = """rules = [
    {state = "COMPLETE", weight = 5, where = "heading", says = ["done", "sent"]},
    {state = "FAILED", weight = 4, where = "text", says = ["text_error"], also = [
        {where = "button", says = ["done", "sent"]}, {where = "title", same = true},
    ], unless = [{where = "heading", says = ["sent"]}]},
]
[languages.en]
word_saves = ["save"]
word_searches = []
word_reads = []
done = ["done", "ok"]
sent = ["sent"]
text_error = ["an error"]
[languages.fi]
word_saves = ["tallenna"]
word_searches = []
word_reads = []
done = ["valmis", "ok"]
sent = []
text_error = []
"""


def read(text: str) -> StateRules:
    return rules_of(*read_phrases(text, FILE, StatesHead, Phrases))


def test_a_line_is_a_rule_for_each_phrase_of_its_lists_in_every_language() -> None:
    generic, words = read(SOUND)
    assert generic[:4] == tuple(
        StateRule("COMPLETE", (Sign("heading", says),), 5)
        for says in ("done", "ok", "valmis", "sent")
    )
    any_of = OR.join(("done", "ok", "valmis", "sent"))
    signs = (Sign("text", "an error"), Sign("button", any_of), Sign("title", "an error"))
    assert generic[4:] == (StateRule("FAILED", signs, 4, (Sign("heading", "sent"),)),)
    assert words["word_saves"] == {"save", "tallenna"}


@for_each(
    "sound, wrong, message",
    [
        ('"COMPLETE"', '"DONE"', "states.toml: Invalid enum value 'DONE' - at `$.rules[0].state`"),
        ('"heading"', '"headline"', "Invalid enum value 'headline' - at `$.rules[0].where`"),
        ("weight = 5", 'weight = "5"', "Expected `int`, got `str` - at `$.rules[0].weight`"),
        ("weight = 5", "wight = 5", "states.toml: Object contains unknown field `wight`"),
        (
            '"sent"]},',
            '"snet"]},',
            "states.toml [languages.en] has no list 'snet'; write snet = []",
        ),
        ('done = ["v', 'dnoe = ["v', "states.toml [languages.fi] has no list 'done'"),
        ("[languages.fi]", "[languages.fi]\nthanks = []", "has a list 'thanks' that nothing uses"),
        ('"an error"', '"An error"', "[languages.en] text_error: no text says 'An error' as it st"),
        ('"an error"', '"error #"', "text_error: no text says 'error #' as it stands"),
        ('["valmis"', '"valmis"#', "[languages.fi]: Expected `array`, got `str` - at `$[...]`"),
    ],
)
def test_what_is_wrong_in_the_file_is_named(sound: str, wrong: str, message: str) -> None:
    assert sound in SOUND
    with pytest.raises(BadInput, match=re.escape(message)):
        read(SOUND.replace(sound, wrong, 1))


def test_the_languages_leave_room_for_the_text_that_a_service_looks_for() -> None:
    assert len(phrases_for(RunSettings())) <= MAX_PHRASES - 200
