"""Suggested names are plain ASCII words out of what a page says, each given once."""

import re
import unicodedata
from collections.abc import Iterable

WORDS = 5
LENGTH = 40
# What stands on half of all buttons says nothing about what they are for.
_SAYS_LITTLE = re.compile(
    r"accept|add|and|apply|back|cancel|close|confirm|continue|done|edit|enter|go|link|menu|more"
    r"|new|next|no|ok|okay|open|save|search|select|send|show|start|submit|update|view|yes|.?"
)


def kebab(text: str) -> str:
    """`Place order` as `place-order`; empty when there is nothing to make a name of."""
    return "-".join(_words(text))


def snake(text: str) -> str:
    """`Delivery date` as `delivery_date`; it never begins with a digit."""
    name = "_".join(_words(text))
    return f"value_{name}" if name[:1].isdigit() else name


def says_much(text: str) -> bool:
    """Whether a label tells what was done."""
    return not all(_SAYS_LITTLE.fullmatch(word) for word in _words(text))


def unique(name: str, taken: Iterable[str], between: str) -> str:
    """The name, with a number behind it where it is taken: `order-2`."""
    held = set(taken)
    number, found = 1, name
    while found in held:
        number += 1
        found = f"{name}{between}{number}"
    return found


def _words(text: str) -> list[str]:
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode("ascii")
    words = re.findall(r"[a-z0-9]+", plain.casefold())[:WORDS]
    while len(words) > 1 and len("-".join(words)) > LENGTH:
        words.pop()
    return [word[:LENGTH] for word in words]
