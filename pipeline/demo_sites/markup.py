"""Markup makes the pieces of HTML that pages are made of; what comes in as text is escaped here or
by the page."""

import re
from collections.abc import Iterable, Mapping
from html import escape
from zlib import crc32

from rutter.pipeline.demo_sites.stylesheet import STYLESHEET

_NAMING_ATTRIBUTE = re.compile(
    r' (id|for|class|aria-describedby|aria-labelledby|data-testid)="([^"]*)"'
)
_CLASS_SELECTOR = re.compile(r"\.([a-z][a-z-]*)(?=[^{}]*\{)")

# What stands on the same page and takes the same kind of input, so that nothing but a close look
# tells that an id is on the wrong one.
SWAPPED = (
    ("nav-customers", "nav-orders"),
    ("nav-desk", "nav-logout"),
    ("customer-search", "customer-search-submit"),
    ("new-order", "recent-orders"),
    ("order-quantity", "order-delivery"),
    ("order-berth", "order-note"),
    ("priority-routine", "priority-urgent"),
    ("review-order", "review-later"),
    ("place-order", "place-hold"),
    ("order-number", "order-status"),
)
_OTHER = {name: other for pair in SWAPPED for name, other in (pair, pair[::-1])}


def mark(name: str) -> str:
    """The id and the test id of a control that scripts look for."""
    return f'id="{name}" data-testid="{name}"'


def html_page(title: str, body: str) -> str:
    """A whole document; the title is text, the body HTML."""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>\n{STYLESHEET}\n</style>\n"
        f"</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def link(href: str, text: str, attributes: str = "") -> str:
    return f'<a href="{escape(href)}" {attributes}>{escape(text)}</a>'


def tag(text: str) -> str:
    """A coloured word, such as the status of an order."""
    return f'<span class="tag {text.lower().replace(" ", "-")}">{escape(text)}</span>'


def money(cents: int) -> str:
    return f"{cents // 100:,}.{cents % 100:02d} EUR"


def text_input(name: str, label: str, kind: str, value: str = "", attributes: str = "") -> str:
    """An input outside the order form; `name` is its id, its field name is given in attributes."""
    return (
        f'<div class="field"><label for="{name}">{escape(label)}</label>'
        f'<input {mark(name)} type="{kind}" value="{escape(value)}" {attributes}></div>'
    )


def select_options(choices: Mapping[str, str], chosen: str) -> str:
    return "".join(
        f'<option value="{escape(value)}"{" selected" if value == chosen else ""}>'
        f"{escape(text)}</option>"
        for value, text in choices.items()
    )


def swap_marks(document: str) -> str:
    """Ids and test ids of each pair on the other one of it; labels go on naming what they name."""
    head, body, rest = document.partition("<body>")
    return head + body + _NAMING_ATTRIBUTE.sub(_swap_attribute, rest)


def _swap_attribute(found: re.Match[str]) -> str:
    if found[1] == "class":
        return found[0]
    return f' {found[1]}="{" ".join(_OTHER.get(name, name) for name in found[2].split())}"'


def rename_marks(document: str) -> str:
    """Every id, class and test id under another name, the style sheet included.

    Safe as a text replacement because no escaped text can hold a bare quotation mark.
    """
    head, style_end, rest = document.partition("</style>")
    style = _CLASS_SELECTOR.sub(lambda found: f".{_renamed('class', found[1])}", head)
    return style + style_end + _NAMING_ATTRIBUTE.sub(_rename_attribute, rest)


def _rename_attribute(found: re.Match[str]) -> str:
    attribute = found[1]
    kind = {"class": "class", "data-testid": "test"}.get(attribute, "id")
    return f' {attribute}="{_rename_all(kind, found[2].split())}"'


def _rename_all(kind: str, names: Iterable[str]) -> str:
    return " ".join(_renamed(kind, name) for name in names)


def _renamed(kind: str, name: str) -> str:
    return f"{kind[0]}{crc32(f'{kind}:{name}'.encode()):08x}"
