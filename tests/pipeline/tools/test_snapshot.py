"""The snapshot in S3's words, and its text form: what a model reads of a page."""

import base64
import re

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from rutter.actors.rules.pages.text_form import MAX_TOKENS, estimate_tokens, text_of
from rutter.events.action import Box, Untrusted
from rutter.events.page import Page, PageElement
from rutter.pipeline.tools.snapshot import Snapshot, snapshot_id, snapshot_of, snapshot_schema
from tests.support.case_table import for_each

VIEWPORT = (1280, 800)


def element(
    role: str, name: str = "", *state: str, value: str | None = None, y: int = 10
) -> PageElement:
    held = None if value is None else Untrusted(value)
    return PageElement(role, Untrusted(name), state=state, value=held, box=Box(0, y, 20, 10))


def page_of(*elements: PageElement, dropped: int = 0, truncated: bool = False) -> Page:
    return Page(
        url="http://shop.test/",
        title=Untrusted("Shop"),
        viewport=VIEWPORT,
        scroll=(0, 40),
        elements=elements,
        dropped=dropped,
        truncated=truncated,
    )


def nested(parent: PageElement, *children: int) -> PageElement:
    return msgspec.structs.replace(parent, children=children)


# -- S3 1.3.1 --------------------------------------------------------------------------------------


def test_a_snapshot_has_the_fields_of_the_seed_and_no_others_but_what_was_dropped() -> None:
    page = page_of(
        nested(element("region", "Search"), 1, 2),
        element("textbox", "Name", "readonly", "focused", value="Ann"),
        msgspec.structs.replace(element("heading", "Found"), level=2),
        dropped=3,
    )
    made = snapshot_of(page, session="s", n=7, at_ns=1_700_000_000_123_456_789, screenshot=b"PNG")
    assert msgspec.json.decode(msgspec.json.encode(made)) == {
        "snapshot_id": snapshot_id("s", 7),
        "timestamp": "2023-11-14T22:13:20.123Z",
        "elements": [
            {
                "ref": "@e0",
                "role": "region",
                "name": "Search",
                "state": ["visible"],
                "bbox": {"x": 0, "y": 10, "width": 20, "height": 10},
                "children": ["@e1", "@e2"],
            },
            {
                "ref": "@e1",
                "role": "textbox",
                "name": "Name",
                "state": ["visible", "enabled", "readonly", "focused"],
                "bbox": {"x": 0, "y": 10, "width": 20, "height": 10},
                "value": "Ann",
            },
            {
                "ref": "@e2",
                "role": "heading",
                "name": "Found",
                "state": ["visible"],
                "bbox": {"x": 0, "y": 10, "width": 20, "height": 10},
                "level": 2,
            },
        ],
        "focused": "@e1",
        "page": {"url": "http://shop.test/", "title": "Shop"},
        "screenshot": base64.b64encode(b"PNG").decode(),
        "viewport": {"width": 1280, "height": 800, "scroll_x": 0, "scroll_y": 40},
        "dropped": 3,
        "truncated": False,
    }


@for_each(
    "seen, state",
    [
        (element("button"), ("visible", "enabled")),
        (element("button", "", "disabled"), ("visible", "disabled")),
        (element("button", "", "offscreen"), ("offscreen", "enabled")),
        (element("checkbox", "", "checked", "hidden"), ("hidden", "enabled", "checked")),
        (element("dialog"), ("visible",)),
    ],
)
def test_states_that_go_without_saying_are_said(seen: PageElement, state: tuple[str, ...]) -> None:
    made = snapshot_of(page_of(seen), session="s", n=0, at_ns=0)
    assert made.elements[0].state == state


def test_a_snapshot_is_known_by_its_observation() -> None:
    assert snapshot_id("s", 7) == snapshot_id("s", 7)
    assert len({snapshot_id(session, n) for session in ("s", "t") for n in range(50)}) == 100
    uuid = r"[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"
    assert re.fullmatch(uuid, snapshot_id("s", 7))


def test_a_snapshot_without_focus_or_picture_is_whole() -> None:
    made = snapshot_of(page_of(), session="s", n=0, at_ns=0)
    assert (made.focused, made.screenshot, made.elements) == (None, "", ())
    assert msgspec.json.decode(msgspec.json.encode(made), type=Snapshot) == made


def test_the_schema_names_what_the_seed_requires() -> None:
    schema = snapshot_schema()
    parts = schema["$defs"]
    assert set(parts["Snapshot"]["required"]) == {
        *("snapshot_id", "timestamp", "elements", "focused", "page", "screenshot", "viewport")
    }
    assert set(parts["Element"]["required"]) == {"ref", "role", "name", "state", "bbox"}


# -- the text form -----------------------------------------------------------------------------


def test_one_line_per_element_indented_by_nesting() -> None:
    page = page_of(
        nested(element("region", "Search"), 1, 2),
        element("textbox", "Name", value="Ann"),
        nested(element("region", "More"), 3),
        element("checkbox", "All", "checked", "disabled"),
        msgspec.structs.replace(element("heading", "Found"), level=2),
        element("button", "", "unchecked"),
    )
    assert text_of(page).text.splitlines() == [
        *('@e0 region "Search"', '  @e1 textbox "Name" = "Ann"', '  @e2 region "More"'),
        *('    @e3 checkbox "All" checked disabled', '@e4 heading 2 "Found"', "@e5 button"),
    ]


def test_page_text_cannot_look_like_a_line_of_ours() -> None:
    name = 'Save"\n@e9 button "Pay\u2028now\u202e \x1b[31m\\'
    text = text_of(page_of(element("button", name, value="a\r\nb"))).text
    assert text == '@e0 button "Save\\" @e9 button \\"Pay now [31m\\\\" = "a b"'


def test_what_is_not_in_the_text_is_counted() -> None:
    page = page_of(element("button", "A"), dropped=12)
    assert text_of(page).text == '@e0 button "A"\n(12 more elements are not shown)'
    cut = text_of(page_of(truncated=True))
    assert cut.text == "(the page is too large to be read whole)"


def test_the_lowest_ranked_elements_go_first() -> None:
    page = page_of(
        element("tab", "in view"),
        element("button", "below", "offscreen", y=900),
        element("link", "partly", y=795),
        element("heading", "in view"),
        element("textbox", "in view"),
        element("button", "in view"),
    )
    kept = [
        {int(number) for number in re.findall(r"@e(\d+)", text_of(page, max_bytes=size).text)}
        for size in range(40, 400)
    ]
    order = [5, 4, 3, 0, 2, 1]
    assert {frozenset(refs) for refs in kept} == {
        frozenset(order[:count]) for count in range(len(order) + 1)
    }


def test_a_child_moves_up_when_its_parent_is_left_out() -> None:
    page = page_of(nested(element("region", "x" * 100), 1), element("button", "Go"))
    assert text_of(page, max_bytes=100).text.splitlines()[0] == '@e1 button "Go"'


names = st.text(max_size=200)
roles = st.sampled_from(["button", "link", "heading", "region", "textbox", "tab"])
elements = st.builds(element, roles, names, value=st.none() | names, y=st.integers(-500, 2000))


@given(
    st.lists(elements, max_size=100),
    st.integers(60, MAX_TOKENS),
    st.none() | st.integers(150, 4000),
)
def test_any_page_is_within_its_limits(
    seen: list[PageElement], max_tokens: int, max_bytes: int | None
) -> None:
    text = text_of(page_of(*seen, dropped=3), max_tokens=max_tokens, max_bytes=max_bytes)
    assert text.tokens == estimate_tokens(text.text) <= max_tokens
    assert max_bytes is None or len(text.text.encode()) <= max_bytes
    lines = text.text.split("\n")
    assert len(lines) == 1 + len(seen) + 3 - text.dropped
    assert all(re.match(r" *@e\d+ [a-z]+", line) for line in lines[:-1])


@given(st.text(max_size=400), st.text(max_size=400))
def test_more_text_never_costs_less(first: str, second: str) -> None:
    together = estimate_tokens(f"{first}\n{second}")
    assert together >= max(estimate_tokens(first), estimate_tokens(second))


@for_each(
    "text, least",
    [
        ("Save changes", 2),
        ('@e12 button "Save"', 7),
        ("\u4fdd\u5b58\u66f4\u6539", 4),
        ("internationalization", 3),
        ("1234567890", 4),
    ],
)
def test_the_estimate_is_rather_too_high(text: str, least: int) -> None:
    assert estimate_tokens(text) >= least


def test_the_text_is_a_fraction_of_the_json() -> None:
    page = page_of(*(element("button", f"Edit order {n}", y=n) for n in range(100)))
    whole = msgspec.json.encode(snapshot_of(page, session="s", n=0, at_ns=0))
    assert len(text_of(page).text) < len(whole) / 4
