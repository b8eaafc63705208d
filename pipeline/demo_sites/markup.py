"""Markup is given other names and another order here: what a redesign does to a demo site."""

import re
from collections.abc import Iterable
from zlib import crc32

from markupsafe import Markup

# Between the pieces of a page that `arrange` puts in order.
NEXT = "<!-- next -->"

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


def arrange(html: str, *, moved: bool) -> Markup:
    """The pieces that are there in their order; when moved, in the other order and wrapped."""
    pieces = [piece.strip() for piece in html.split(NEXT) if piece.strip()]
    if moved:
        pieces = [f'<div class="slot"><div>{piece}</div></div>' for piece in reversed(pieces)]
    return Markup("\n".join(pieces))


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
