"""A page's text form tells models one line per element, within a number of tokens (D4).

What a page says is quoted and stays on its line, so that it cannot look like a line of ours.
"""

import re
from collections.abc import Collection, Sequence

import msgspec

from rutter.actors.rules.text.untrusted import on_one_line
from rutter.events.action import Box
from rutter.events.page import Page, PageElement

MAX_TOKENS = 2_000  # S3 2.1.1: the hard limit for the elements of one snapshot
# S3 1.3.3: the order in which elements are kept; roles that are not named come last.
PRIORITY = {
    "button": 0,
    "link": 0,
    "checkbox": 1,
    "radio": 1,
    "textbox": 1,
    "combobox": 2,
    "listbox": 2,
    "heading": 3,
    "region": 4,
    "dialog": 4,
}
OTHERS = 5
FULLY, PARTLY, OUTSIDE = 0, 1, 2
# What goes without saying: an element is visible, enabled and not checked unless it says so.
UNSAID = frozenset({"visible", "enabled", "unchecked"})
_PIECES = re.compile(r"[A-Za-z]+|[0-9]+|\n|[^\S\n]+|[\x21-\x7e]|[^\x00-\x7f]")


class PageText(msgspec.Struct, frozen=True):
    """A page's text has lines, an estimated cost, and a count of elements left out."""

    text: str
    tokens: int
    dropped: int


def text_of(page: Page, *, max_tokens: int = MAX_TOKENS, max_bytes: int | None = None) -> PageText:
    """The elements of a page, the lowest-ranked ones left out until the text is within limits."""
    lines = [line_of(ref, element) for ref, element in enumerate(page.elements)]
    kept = set(_affordable(page, lines, max_tokens, max_bytes))
    dropped = page.dropped + len(lines) - len(kept)
    said = [f"{'  ' * depth}{lines[ref]}" for ref, depth in _nested(page.elements, kept)]
    if dropped or page.truncated:
        said.append(_tail(dropped, truncated=page.truncated))
    text = "\n".join(said)
    return PageText(text, estimate_tokens(text), dropped)


def line_of(ref: int, element: PageElement) -> str:
    """`@e8 textbox "Name" = "Ann" readonly`"""
    role = f"heading {element.level}" if element.level is not None else element.role
    parts = [f"@e{ref}", on_one_line(role)]
    if element.name.text:
        parts.append(quoted(element.name.text))
    if element.value is not None and element.value.text:
        parts.append(f"= {quoted(element.value.text)}")
    parts += [state for state in element.state if state not in UNSAID]
    return " ".join(parts)


def quoted(text: str) -> str:
    escaped = on_one_line(text).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def estimate_tokens(text: str) -> int:
    """How many tokens a text costs, counted offline and rather too high.

    Tokenizers join a letter run of up to about six characters, and a space with the word behind
    it. Here every four letters, every two digits, every sign and every indentation counts one, a
    character beyond ASCII two; a tenth is added. Never less than a token for 3.5 characters of
    ASCII, which is dense for English text with markup.
    """
    pieces = sum(_cost(piece) for piece in _PIECES.findall(text))
    return max(pieces * 11 // 10, len(text) * 2 // 7)


def _cost(piece: str) -> int:
    first = piece[0]
    if first == "\n" or not first.isascii():
        return 1 if first == "\n" else 2
    if first.isspace():
        return 0 if piece == " " else 1
    if first.isalpha():
        return -(-len(piece) // 4)
    return -(-len(piece) // 2) if first.isdigit() else 1


def rank(ref: int, element: PageElement, viewport: tuple[int, int]) -> tuple[int, int, int]:
    """S3 1.3.3: what is in view first, then by role, then in the order of the page."""
    return (_seen(element, viewport), PRIORITY.get(element.role, OTHERS), ref)


def _seen(element: PageElement, viewport: tuple[int, int]) -> int:
    if "offscreen" in element.state or "hidden" in element.state:
        return OUTSIDE
    box: Box = element.box
    right, bottom = box.x + box.width, box.y + box.height
    inside = box.x >= 0 and box.y >= 0 and right <= viewport[0] and bottom <= viewport[1]
    return FULLY if inside else PARTLY


def _affordable(
    page: Page, lines: Sequence[str], max_tokens: int, max_bytes: int | None
) -> list[int]:
    """The refs that are kept: the best ones, for as long as there is room."""
    order = sorted(range(len(lines)), key=lambda ref: rank(ref, page.elements[ref], page.viewport))
    depths = dict(_nested(page.elements, range(len(lines))))
    tail = _tail(page.dropped + len(lines), truncated=True)
    tokens, room = estimate_tokens(tail) + 1, (max_bytes or len(tail) + 1) - len(tail) - 1
    for count, ref in enumerate(order):
        line = "  " * depths[ref] + lines[ref] + "\n"
        # The estimate of the whole is at most the sum of the lines' and what rounding takes off.
        tokens += estimate_tokens(line) + 1
        room -= len(line.encode())
        if tokens > max_tokens or (max_bytes is not None and room < 0):
            return order[:count]
    return order


def _nested(elements: Sequence[PageElement], kept: Collection[int]) -> list[tuple[int, int]]:
    """Kept refs in page order, each with its depth: a child of one left out moves up."""
    depths = [0] * len(elements)
    for ref, element in enumerate(elements):
        below = depths[ref] + (ref in kept)
        for child in element.children:
            if ref < child < len(elements):
                depths[child] = below
    return [(ref, depths[ref]) for ref in range(len(elements)) if ref in kept]


def _tail(dropped: int, *, truncated: bool) -> str:
    more = f"({dropped} more elements are not shown)" if dropped else ""
    cut = "(the page is too large to be read whole)" if truncated else ""
    return " ".join(part for part in (more, cut) if part)
