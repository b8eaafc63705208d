"""A locator is written as in a script: CSS, `aria/NAME[role="ROLE"]`, `text/TEXT`, `pierce/CSS`."""

import re

import msgspec

from rutter.events.action import ByBeside, ByCss, ByRole, ByText, Strategy

_TEXT = re.compile(r'^[\w-]+::-p-text\((?P<text>".*")\)$', re.DOTALL)
_ARIA = re.compile(r'^(?P<name>.*?)(?:\[role="(?P<role>[^"]+)"\])?$', re.DOTALL)


def beside_of(label: str, near: str) -> ByBeside | None:
    """Beside which words that stands which is read."""
    if label.strip():
        return ByBeside(label.strip())
    return ByBeside(near.strip(), "near") if near.strip() else None


def read_locator(selector: str) -> Strategy | None:
    kind, _, rest = selector.partition("/")
    match kind:
        case "aria":
            parts = _ARIA.match(rest)
            assert parts is not None
            return ByRole(parts["role"] or "", parts["name"])
        case "text":
            return ByText(rest)
        case "pierce" | "css":
            return ByCss(rest)
        case "xpath":
            return None
        case _ if (texted := _TEXT.match(selector)) is not None:
            return _text_of(texted["text"])
        case _:
            return ByCss(selector)


def _text_of(quoted: str) -> ByText | None:
    try:
        return ByText(msgspec.json.decode(quoted, type=str))
    except (msgspec.DecodeError, msgspec.ValidationError):
        return None
