"""A browser rewrites a value where it puts it: in a host, in one line, in a Unicode form.

What comes of that is looked for as the value itself is, each in every encoding.
"""

import html
import re
import unicodedata
from urllib.parse import unquote

import ada_url

MOST = 12  # forms of one value: each makes the search longer
UNICODE = ("NFC", "NFD", "NFKC", "NFKD")
BROKEN = re.compile(r"[\t\r\n]+")  # a field of one line and an address leave these out


def rewritten(value: str, loose: bool) -> tuple[str, ...]:
    """The value, and what else of it may come back. `loose`: long enough to be looked for in any
    case; a shorter one is another word in small letters."""
    found = {value: None, BROKEN.sub("", value): None}
    found |= {html.unescape(value): None, unquote(value, errors="replace"): None}
    for form in UNICODE:
        found[unicodedata.normalize(form, value)] = None  # type: ignore[arg-type]
    if loose:
        for each in tuple(found):
            found |= {each.upper(): None, each.lower(): None, each.casefold(): None}
    return tuple(_but_for_case(found, value, loose=loose))[:MOST]


def as_host(value: str) -> str:
    """What a browser makes of it as a part of a host; nothing where it cannot be one."""
    try:
        host = ada_url.URL(f"https://{value}.example/").hostname
    except ValueError:
        return ""
    label = host.removesuffix(".example")
    return label if host.endswith(".example") and label != value else ""


def _but_for_case(found: dict[str, None], value: str, *, loose: bool) -> list[str]:
    """Each that is not found by looking for another in any case."""
    known: set[str] = set()
    kept = []
    for each in found:
        key = "".join(map(_one_case, each)) if loose else each
        if key not in known and len(each.strip()) >= min(len(value), 4):
            known.add(key)
            kept.append(each)
    return kept


def _one_case(char: str) -> str:
    """As a search in any case sees it: character by character."""
    return char.lower() if len(char.lower()) == 1 else char
