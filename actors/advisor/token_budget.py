"""A token budget cuts each text of a prompt to so many tokens, and to one line."""

from rutter.actors.rules.pages.text_form import estimate_tokens
from rutter.actors.rules.text.untrusted import on_one_line

CUT = " (cut)"


def clipped(text: str, max_tokens: int) -> str:
    """The beginning of a text, as much of it as is estimated to cost no more than this."""
    if estimate_tokens(text) <= max_tokens:
        return text
    kept, room = text, max_tokens - estimate_tokens(CUT) - 1
    while kept and (tokens := estimate_tokens(kept)) > room:
        kept = kept[: min(len(kept) - 1, len(kept) * max(0, room) // tokens)]
    return kept + CUT


def line(text: str, max_tokens: int) -> str:
    return clipped(on_one_line(text), max_tokens)
