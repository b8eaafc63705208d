"""Actions in words, and any text made safe for an ASCII terminal (H7)."""

from typing import get_args

import msgspec
from hypothesis import example, given
from hypothesis import strategies as st

from rutter.events.action import (
    Action,
    ActionType,
    ByBeside,
    ByCss,
    ByPoint,
    ByRole,
    ByText,
    Parameter,
    Secret,
    Strategy,
    Target,
    Text,
)
from rutter.events.advisor import WantedCall
from rutter.events.checks import (
    AlertSaid,
    Check,
    Downloaded,
    ElementState,
    FileContains,
    FileExists,
    FileSize,
    ServerAnswered,
    StateIs,
    TextGone,
    TextVisible,
    UrlHas,
    ValueSet,
)
from rutter.events.observer import FileSeen
from rutter.events.tools import ToolCalled
from rutter.replay.story.wording import (
    ascii_only,
    asked_in_words,
    check_in_words,
    file_in_words,
    file_wanted,
    in_words,
    locator_in_words,
    printable,
)
from tests.support.case_table import for_each
from tests.support.shop_facts import any_action, css

KINDS: tuple[ActionType, ...] = (
    "navigate", "click", "type", "press", "select", "scroll", "wait_for", "wait", "extract",
    "read_page", "check",
)  # fmt: skip
HOSTILE = (
    "\x1b[2J\x1b]0;owned\x07",  # clears the screen, renames the window
    "\u202egnp.exe",  # right to left from here on
    "\u2066\u2069\u200b\ufeff",
    "line\nanother\r\nand\ttab\x0b\x0c\x85\u2028\u2029",
    "\x00\x7f\x9b31m",
    "\U0001f6a2 \ud83d",
    '\'; -- "quotes" \\ back',
)
texts = st.one_of(st.text(), st.sampled_from(HOSTILE), st.text(st.characters(codec="utf-8")))


def is_plain(text: str) -> bool:
    """One line of printable ASCII, and so of cp1252 too."""
    return text.isascii() and all(char.isprintable() for char in text)


@given(texts)
@example("\ud83d")
def test_any_text_becomes_one_line_of_printable_ascii(text: str) -> None:
    assert is_plain(ascii_only(text))


@given(st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E)))
def test_plain_text_stays_as_it_is(text: str) -> None:
    assert ascii_only(text) == text


@given(texts)
def test_nothing_is_dropped_and_doing_it_twice_changes_nothing(text: str) -> None:
    once = ascii_only(text)

    assert len(once) >= len(text)
    assert ascii_only(once) == once


@for_each(
    "text, shown",
    [
        ("caf\xe9", "caf\\xe9"),
        ("\u2713 \u2192", "\\u2713 \\u2192"),
        ("\U0001f6a2", "\\U0001f6a2"),
        ("a\nb\tc", "a\\nb\\tc"),
        ("\x1b[31m", "\\x1b[31m"),
        ("\x7f", "\\x7f"),
    ],
)
def test_what_is_not_plain_is_escaped(text: str, shown: str) -> None:
    assert ascii_only(text) == shown


@given(texts)
def test_what_an_encoding_has_is_shown_in_it_and_never_more_than_a_line(text: str) -> None:
    for encoding in ("utf-8", "cp1252", "ascii"):
        shown = printable(text, encoding)
        assert shown.isprintable()
        assert shown.encode(encoding).decode(encoding) == shown


@for_each(
    "encoding, shown",
    [
        ("utf-8", "caf\xe9 \u65e5\\x1b[31m\\u202e"),
        ("cp1252", "caf\xe9 \\u65e5\\x1b[31m\\u202e"),
        ("ascii", "caf\\xe9 \\u65e5\\x1b[31m\\u202e"),
    ],
)
def test_what_moves_the_cursor_or_turns_the_text_is_escaped_everywhere(
    encoding: str, shown: str
) -> None:
    assert printable("caf\xe9 \u65e5\x1b[31m\u202e", encoding) == shown


@given(
    st.sampled_from(KINDS),
    texts,
    st.sampled_from((ByCss, ByText)),
    st.sampled_from((Text, Parameter, Secret)),
)
def test_actions_on_hostile_pages_are_told_in_plain_words(
    kind: ActionType,
    text: str,
    way: type[ByCss | ByText],
    value: type[Text | Parameter | Secret],
) -> None:
    action = Action(
        kind, target=Target((way(text),)), url=text, key=text, value=value(text), name=text
    )

    assert in_words(action).isprintable()
    assert in_words(action, name=text).isprintable()


@for_each("kind", KINDS)
def test_every_kind_of_action_has_words(kind: ActionType) -> None:
    assert in_words(any_action(kind)).startswith(
        {
            "type": "type",
            "navigate": "go to",
            "extract": "read text",
            "read_page": "read the",
            "wait_for": "wait for",
        }.get(kind, kind)
    )


def test_a_value_is_told_by_its_name_and_a_secret_never() -> None:
    told = {
        in_words(Action("type", target=css("#f"), value=value))
        for value in (Text("Ann"), Parameter("customer"), Secret("password"))
    }

    assert told == {
        "type 'Ann' into #f",
        "type <customer> into #f",
        "type <secret password> into #f",
    }


@for_each(
    "action, words",
    [
        (Action("scroll", direction="down", amount=300), "scroll down"),
        (Action("scroll", target=css("#end")), "scroll to #end"),
        (Action("wait", ms=250), "wait 250 ms"),
        (Action("press", key="Control+Enter"), "press Control+Enter"),
        (Action("select", target=css("#p"), value=None), "select nothing in #p"),
        (Action("extract", target=css("#n"), name="order number"), "read order number from #n"),
        (
            Action("extract", target=Target((ByBeside("Number"),)), name="number"),
            "read number from what stands at 'Number'",
        ),
        (Action("read_page"), "read the whole page"),
        (
            Action("read_page", target=css("#n"), name="terms", page=2),
            "read all of #n, page 2 of it as terms",
        ),
        (Action("click"), "click the page"),
    ],
)
def test_the_words_of_an_action(action: Action, words: str) -> None:
    assert in_words(action) == words


def test_an_element_is_called_as_it_calls_itself() -> None:
    action = Action("click", target=Target((ByCss("#x"), ByRole("button", "Place order"))))

    assert in_words(action) == "click 'Place order'"
    assert in_words(action, "Order now") == "click 'Order now'"


@for_each(
    "way, words",
    [
        (ByCss("#x"), "#x"),
        (ByRole("button", "Buy"), "button 'Buy'"),
        (ByRole("", "Buy"), "element 'Buy'"),
        (ByRole("link", "${customer}"), "link <customer>"),
        (ByText("Buy"), "text 'Buy'"),
        (ByPoint(3, 4), "point 3,4"),
    ],
)
def test_a_locator_in_words(way: Strategy, words: str) -> None:
    assert locator_in_words(way) == words


# -- checks ----------------------------------------------------------------------------------------

CHECKS: tuple[tuple[Check, str], ...] = (
    (TextVisible("Order sent"), "the page shows 'Order sent'"),
    (TextVisible("${customer}"), "the page shows <customer>"),
    (TextGone("Loading"), "the page does not show 'Loading'"),
    (UrlHas("/orders"), "the address holds '/orders'"),
    (AlertSaid("Order # was sent"), "the page says 'Order # was sent'"),
    (ValueSet("3", "Quantity"), "'Quantity' holds '3'"),
    (ElementState("not checked", "Terms"), "'Terms' is not checked"),
    (StateIs("COMPLETE"), "the page is in state COMPLETE"),
    (Downloaded(), "a file was downloaded"),
    (Downloaded(".pdf"), "a file '.pdf' was downloaded"),
    (ServerAnswered("POST /save"), "the server took 'POST /save'"),
    (FileExists("a.csv"), "there is a file 'a.csv'"),
    (FileContains("7", "a.csv"), "the file 'a.csv' contains '7'"),
    (FileSize("a.csv"), "the file 'a.csv' has at least 1 bytes"),
    (FileSize("a.csv", 5, 9), "the file 'a.csv' has 5 to 9 bytes"),
)


@for_each("check, words", CHECKS)
def test_a_check_in_words(check: Check, words: str) -> None:
    assert check_in_words(check) == words


def test_every_type_of_check_has_words() -> None:
    assert {type(check) for check, _ in CHECKS} == set(get_args(Check))


@given(texts)
def test_a_check_of_hostile_text_is_told_in_plain_words(text: str) -> None:
    for check in (TextVisible(text), ValueSet(text, text), FileContains(text, text)):
        assert check_in_words(check).isprintable()
    assert file_in_words(FileSeen(text, error="unreadable", message=text)).isprintable()


SHOWN = (TextVisible("Order sent"), TextVisible("Order 7"))


@for_each(
    "action, words",
    [
        (Action("check", verify=SHOWN[:1]), "check that the page shows 'Order sent'"),
        (
            Action("click", target=css("#go"), verify=SHOWN[:1]),
            "click #go and check that the page shows 'Order sent'",
        ),
        (
            Action("navigate", url="/orders", verify=SHOWN, aside=True),
            "look at /orders for 'Order sent' and 'Order 7'",
        ),
        (
            Action("navigate", url="/orders", verify=(TextGone("Draft"),), aside=True),
            "look at /orders and check that the page does not show 'Draft'",
        ),
    ],
)
def test_a_verification_in_words(action: Action, words: str) -> None:
    assert in_words(action) == words


@for_each(
    "seen, words",
    [
        (FileSeen("a.csv"), "'a.csv': not there"),
        (FileSeen("a.csv", exists=True, size=12), "'a.csv': there, 12 bytes"),
        (FileSeen("a.csv", exists=True, size=1, holds=True), "'a.csv': there, 1 bytes, holds it"),
        (
            FileSeen("a.csv", exists=True, size=1, holds=False),
            "'a.csv': there, 1 bytes, does not hold it",
        ),
        (FileSeen("a.csv", error="too_large"), "'a.csv': not looked at (too_large)"),
    ],
)
def test_a_file_that_was_looked_at_in_words(seen: FileSeen, words: str) -> None:
    assert file_in_words(seen) == words


@for_each(
    "asked, words",
    [
        (WantedCall("c", "click", '{"ref":"@e5"}'), "click ref=@e5"),
        (
            WantedCall("c", "fill", '{"ref":"@e1","value":{"typed":0}}'),
            "fill ref=@e1 value=<typed 1>",
        ),
        (WantedCall("c", "fill", '{"value":{"secret":"pin"}}'), "fill value=<secret pin>"),
        (WantedCall("c", "select", '{"value":{"param":"size"}}'), "select value=<size>"),
        (WantedCall("c", "scroll", '{"amount":300,"far":true}'), "scroll amount=300 far=true"),
        (
            WantedCall("c", "complete_task", '{"reason":"it is done"}'),
            "complete_task reason='it is done'",
        ),
        (WantedCall("c", "get_snapshot"), "get_snapshot"),
        (WantedCall("c", "click", "no JSON"), "click"),
    ],
)
def test_a_call_of_a_model_in_words(asked: WantedCall, words: str) -> None:
    assert asked_in_words(asked) == words


@given(st.text(max_size=20), st.dictionaries(st.text(max_size=9), st.text(max_size=9), max_size=3))
def test_whatever_a_model_calls_is_one_line(tool: str, arguments: dict[str, str]) -> None:
    words = asked_in_words(WantedCall("c", tool, msgspec.json.encode(arguments).decode()))
    assert words.isprintable()


@for_each(
    "called, path",
    [
        (ToolCalled("c", "read_file", '{"path":"a.csv"}'), "a.csv"),
        (ToolCalled("c", "read_file", "{}"), ""),
        (ToolCalled("c", "read_file", '{"path":7}'), ""),
        (ToolCalled("c", "click", '{"path":"a.csv"}'), None),
    ],
)
def test_the_file_that_a_call_wants(called: ToolCalled, path: str | None) -> None:
    assert file_wanted(called) == path
