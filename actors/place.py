"""Where a page is, in a form that is the same in the next run: ids and parameters become `*`.

Pages are compared by origin and path. The query is left out: it holds what was searched for, not
where one is.
"""

import re
from collections.abc import Iterable

import ada_url

from events.workflow import Place

_DIGITS = re.compile(r"\d+")


def place_of(url: str, values: Iterable[str] = ()) -> Place:
    """The place that `url` names, with every path segment that varies as `*`."""
    try:
        parsed = ada_url.URL(url)
    except ValueError:
        return Place()
    folded = [value.casefold() for value in values if len(value) > 2]
    segments = [_template(segment, folded) for segment in parsed.pathname.split("/")]
    origin = parsed.origin if parsed.origin != "null" else parsed.protocol
    return Place(origin=origin, path="/".join(segments))


def is_at(place: Place, url: str) -> bool:
    """Whether `url` is at a recorded place."""
    here = place_of(url)
    if here.origin != place.origin:
        return False
    wanted, found = place.path.split("/"), here.path.split("/")
    return len(wanted) == len(found) and all(
        w in ("*", f) for w, f in zip(wanted, found, strict=True)
    )


def same_document(url: str, other: str) -> bool:
    """Equal but for the fragment."""
    return url.partition("#")[0] == other.partition("#")[0]


def origin_of(url: str) -> str:
    """The origin of a web address as browsers write it; empty for any other."""
    try:
        origin = str(ada_url.URL(url).origin)
    except ValueError:
        return ""
    return origin if origin.startswith(("http://", "https://")) else ""


def named_origin(text: str) -> str:
    """The origin that a text names, with nothing beside it; empty for anything else."""
    origin = origin_of(text)
    bare = bool(origin) and ada_url.URL(text).href == f"{origin}/"
    return origin if bare and "*" not in origin else ""


def host_of(url: str) -> tuple[str, str, str]:
    """Scheme, host and port of a URL by the browsers' own rules; empty when it has none."""
    try:
        parsed = ada_url.URL(url)
    except ValueError:
        return "", "", ""
    return parsed.protocol.rstrip(":"), parsed.hostname, parsed.port


def path_of(url: str) -> str:
    """The path of a URL by the browsers' own rules; empty when it is none."""
    try:
        return str(ada_url.URL(url).pathname)
    except ValueError:
        return ""


def blur(text: str, values: Iterable[str] = ()) -> str:
    """Page text without what varies: parameter values as `*`, numbers as `#`."""
    blurred = " ".join(text.casefold().split())
    for value in sorted(values, key=len, reverse=True):
        folded = " ".join(value.casefold().split())
        if len(folded) > 2:
            blurred = re.sub(rf"(?<!\w){re.escape(folded)}(?!\w)", "*", blurred)
    return _DIGITS.sub("#", blurred)


def reads_as(recorded: str, said: str) -> bool:
    """Whether page text says what a recorded one said. What varied is a wildcard, so that no value
    of this run can hide a text that is there."""
    return fits(recorded, blur(said))


def fits(pattern: str, text: str) -> bool:
    """Whether the text is the pattern, with at least one character for each `*`. Part by part:
    what a page says must not decide how long it takes."""
    first, *others = pattern.split("*")
    if not others:
        return text == first
    *middle, last = others
    if not text.startswith(first) or not text.endswith(last):
        return False
    at = len(first)
    for part in middle:
        found = text.find(part, at + 1)
        if found < 0:
            return False
        at = found + len(part)
    return at + 1 <= len(text) - len(last)


def _template(segment: str, values: list[str]) -> str:
    folded = ada_url_decode(segment).casefold()
    if any(char.isdigit() for char in folded):
        return "*"
    return "*" if any(value in folded for value in values) else segment


def ada_url_decode(segment: str) -> str:
    """Percent-decoding of a path segment; what is not UTF-8 stays as it was."""
    if "%" not in segment:
        return segment
    raw = re.sub(
        rb"%([0-9A-Fa-f]{2})", lambda m: bytes([int(m[1], 16)]), segment.encode("utf-8", "replace")
    )
    return raw.decode("utf-8", "replace")
