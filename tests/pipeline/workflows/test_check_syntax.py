"""Given a check as a person writes it: the check, or what is wrong with it."""

from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as some

from rutter.actors.rules.workflows.literals import mapped
from rutter.events.checks import (
    AlertSaid,
    Check,
    Downloaded,
    ElementState,
    FileContains,
    FileExists,
    FileSize,
    PageState,
    ServerAnswered,
    StateIs,
    TextGone,
    TextVisible,
    UrlHas,
    ValueSet,
)
from rutter.events.errors import BadInput
from rutter.pipeline.export import script_runtime
from rutter.pipeline.workflows.check_syntax import (
    STATES,
    check_from,
    read_back_from,
    read_check,
    write_check,
)
from tests.support.case_table import for_each

WRITTEN = {
    "text_visible:Order sent: 1008": TextVisible("Order sent: 1008"),
    "text_gone:Loading": TextGone("Loading"),
    "url:/orders?number=1": UrlHas("/orders?number=1"),
    "alert:saved": AlertSaid("saved"),
    "value_set:Name=a=b": ValueSet("a=b", "Name"),
    'value_set:Name[role="textbox"]=Ann': ValueSet("Ann", "Name", "textbox"),
    "element_state:Send me news=checked": ElementState("checked", "Send me news"),
    "element_state:Send=not disabled": ElementState("not disabled", "Send"),
    "element_state:Spinner=gone": ElementState("gone", "Spinner"),
    'element_state:Tab[role="tab"]=selected': ElementState("selected", "Tab", "tab"),
    "page_state:COMPLETE": StateIs("COMPLETE"),
    "page_state:complete": StateIs("COMPLETE"),
    "download": Downloaded(),
    "download:invoice.pdf": Downloaded("invoice.pdf"),
    "file_exists:out/invoice.pdf": FileExists("out/invoice.pdf"),
    "file_contains:out/a.txt=total = 3": FileContains("total = 3", "out/a.txt"),
    "file_size:a.txt>=1000": FileSize("a.txt", 1000),
    "file_size:a=b.txt<=10": FileSize("a=b.txt", 0, 10),
    "file_size:a.txt=0": FileSize("a.txt", 0, 0),
    "file_size:a.txt=10..20": FileSize("a.txt", 10, 20),
}


@for_each("text, check", WRITTEN.items())
def test_a_check_is_read_as_it_is_written(text: str, check: Check) -> None:
    assert read_check(text) == check
    assert read_check(write_check(check)) == check


def test_every_type_of_check_can_be_written() -> None:
    assert {type(check) for check in WRITTEN.values()} == set(get_args(Check)) - {ServerAnswered}


@for_each(
    "text, wrong, instead",
    [
        ("text_seen:Order", "there is no check 'text_seen'", "text_visible:TEXT"),
        ("", "there is no check ''", "file_size:PATH>=BYTES"),
        ("Order sent", "there is no check 'Order sent'", "one of text_visible:TEXT"),
        ("text_visible", "'text_visible' has no value", "write text_visible:TEXT"),
        ("text_visible:", "'text_visible' has no value", "write text_visible:TEXT"),
        ("text_visible:  ", "nothing but blanks", "text_visible:TEXT"),
        ("value_set:Name", "'Name' is not what 'value_set' is written with", "NAME=VALUE"),
        ("value_set:Name=", "'Name=' is not what", "NAME=VALUE"),
        ("element_state:Send=chekked", "never 'chekked'", "checked"),
        ("element_state:Send=not", "never 'not'", "disabled"),
        ("page_state:DONE", "'DONE'", "COMPLETE"),
        ("file_contains:a.txt", "'a.txt' is not what", "PATH=TEXT"),
        ("file_size:a.txt", "'a.txt' is not what", "PATH>=BYTES"),
        ("file_size:a.txt>5", "'a.txt>5' is not what", "PATH>=BYTES"),
        ("file_size:a.txt>=5..6", "is not what", "PATH>=BYTES"),
        ("file_size:a.txt=9..5", "from 9 to 5 bytes", "PATH=1000..2000"),
        ("file_size:a.txt>=" + "9" * 5000, "is not what", "PATH>=BYTES"),
        ("file_size:a.txt>=9999999999999999", "no file has", "PATH=1000..2000"),
        ("file_exists:a\0b", "what no page shows", "characters at most"),
        ("text_visible:half \ud800", "what no page shows", "characters at most"),
        ("text_visible:" + "x" * 1001, "what no page shows", "1000 characters at most"),
    ],
)
def test_what_is_no_check_is_refused_with_what_there_is(
    text: str, wrong: str, instead: str
) -> None:
    with pytest.raises(BadInput) as caught:
        read_check(text)
    assert wrong in caught.value.what
    assert instead in caught.value.fix


@for_each(
    "given, wrong",
    [
        ({"type": "text_seen", "value": "x"}, "there is no check 'text_seen'"),
        ({"value": "x"}, "there is no check 'None'"),
        ({"type": ["url"], "value": "x"}, "there is no check"),
        ({"type": "text_visible"}, "missing required field `value`"),
        ({"type": "text_visible", "value": ""}, "an empty value"),
        ({"type": "text_visible", "value": 3}, "Expected `str`, got `int`"),
        ({"type": "text_visible", "value": "x", "valeu": "y"}, "has no 'valeu'"),
        ({"type": "value_set", "value": "x"}, "missing required field `name`"),
        ({"type": "value_set", "value": "x", "name": ""}, "an empty name"),
        ({"type": "element_state", "value": "shiny", "name": "Send"}, "never 'shiny'"),
        ({"type": "page_state", "value": "complete"}, "Invalid enum value 'complete'"),
        ({"type": "file_size", "value": "a", "at_least": -1}, "from -1 to"),
        ({"type": "file_size", "value": "a", "at_least": 1.5}, "got `float`"),
        ({"type": "file_contains", "value": "x", "path": ""}, "an empty path"),
    ],
)
def test_metadata_that_does_not_fit_is_refused(given: dict[str, Any], wrong: str) -> None:
    with pytest.raises(BadInput) as caught:
        check_from(given)
    assert wrong in caught.value.what


def test_metadata_is_read_as_it_is_written_elsewhere() -> None:
    assert check_from({"type": "text_visible", "value": "Order sent"}) == TextVisible("Order sent")
    assert check_from({"type": "download"}) == Downloaded()
    sized = {"type": "file_size", "value": "a.txt", "at_least": 3, "at_most": 9}
    assert check_from(sized) == FileSize("a.txt", 3, 9)


@given(text=some.text(max_size=40))
def test_whatever_is_written_is_a_check_or_bad_input(text: str) -> None:
    for kind in ("", "text_visible:", "value_set:", "element_state:", "file_size:"):
        try:
            check = read_check(kind + text)
        except BadInput:
            continue
        assert read_check(write_check(check)) == check


def test_a_text_of_a_check_is_changed_but_not_what_a_state_is_called() -> None:
    assert mapped(ElementState("checked", "a", "b"), str.upper) == ElementState("checked", "A", "b")
    assert mapped(StateIs("COMPLETE"), str.lower) == StateIs("COMPLETE")
    assert mapped(FileContains("x", "p"), str.upper) == FileContains("X", "P")


def test_every_state_of_an_element_may_be_stated() -> None:
    for state in STATES:
        assert read_check(f"element_state:Send=not {state}") == ElementState(f"not {state}", "Send")
    for name in get_args(PageState):
        assert read_check(f"page_state:{name}") == StateIs(name)


def test_a_read_back_needs_an_address_and_something_to_look_for() -> None:
    with pytest.raises(BadInput, match="checks nothing"):
        read_back_from("/orders", ())
    with pytest.raises(BadInput, match="no address"):
        read_back_from("/or ders", (TextVisible("x"),))


def test_an_exported_script_knows_every_state_of_an_element() -> None:
    assert set(script_runtime.STATES) == set(STATES)
