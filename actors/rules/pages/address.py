"""An address says where a page is the same in every run: ids and parameters become `*`.

Pages are compared by origin and path. The query is left out: it holds what was searched for, not
where one is. What a page rewrites of its own address is no other place.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from urllib.parse import unquote

import ada_url
import msgspec

from rutter.events.page import Page
from rutter.events.workflow import Place

_DIGITS = re.compile(r"\d+")
_APART = re.compile(r"[\W_]+")
# What nobody reads was made up: letters of a hexadecimal number, both cases in disorder, no vowels.
_MADE_UP = re.compile(
    r"[a-f]{8,}"
    r"|(?=[a-zA-Z]{8,}$)(?=.*[a-z])(?=.*[A-Z])(?![A-Z]?[a-z]{2,}(?:[A-Z][a-z]{2,})*$).*"
    r"|[b-df-hj-np-tv-xz]{8,}"
)


def place_of(url: str, values: Iterable[str] = ()) -> Place:
    """The place that `url` names, with every path segment that varies as `*`."""
    try:
        parsed = ada_url.URL(url)
    except ValueError:
        return Place()
    folded = {form for value in values for form in _written(value) if len(form) > 2}
    segments = [_template(segment, folded) for segment in parsed.pathname.split("/")]
    origin = parsed.origin if parsed.origin != "null" else parsed.protocol
    return Place(origin=origin, path="/".join(segments))


def place_of_page(page: Page, values: Iterable[str] = ()) -> Place:
    """Where a page is, by whichever address it gave itself there."""
    values = tuple(values)
    return with_addresses(place_of(page.url, values), page.been, values)


def with_addresses(place: Place, urls: Iterable[str], values: Iterable[str] = ()) -> Place:
    """The place by these addresses too. Another origin is another place."""
    values = tuple(values)
    others = [place_of(url, values) for url in urls]
    return with_paths(place, (each.path for each in others if each.origin == place.origin))


def with_paths(place: Place, paths: Iterable[str]) -> Place:
    """The place with these paths too, as far as it does not have them."""
    known = place.paths
    new = [path for path in dict.fromkeys(paths) if not any(fits_path(p, path) for p in known)]
    return msgspec.structs.replace(place, also=(*place.also, *new)) if new else place


def mapped_paths(place: Place, change: Callable[[str], str]) -> Place:
    """The place with each of its paths changed alike."""
    path, *also = map(change, place.paths)
    return msgspec.structs.replace(place, path=path, also=tuple(also))


def is_at(place: Place, url: str) -> bool:
    """Whether `url` is at a recorded place."""
    here = place_of(url)
    if here.origin != place.origin:
        return False
    written = path_of(url)
    return any(fits_path(path, here.path) or fits_path(path, written) for path in place.paths)


def stands_at(place: Place, page: Page) -> bool:
    """Whether a page is at a recorded place: by its address, or because it only named itself more
    exactly since, as `/x` that becomes `/x/y`. A page that went up or aside by itself was most
    likely sent there."""
    if is_at(place, page.url):
        return True
    now = segments_of(path_of(page.url))
    return any(
        is_at(place, url) and origin_of(url) == origin_of(page.url) and _leads_to(url, now)
        for url in page.been
    )


def segments_of(path: str) -> list[str]:
    """The parts of a path; a slash behind the last says nothing."""
    return path.removesuffix("/").split("/")


def same_document(url: str, other: str) -> bool:
    """Equal but for the fragment."""
    return url.partition("#")[0] == other.partition("#")[0]


def same_address(url: str, other: str) -> bool:
    """Equal but for the fragment, an empty query, and a slash at the end of the path."""
    return _bare(url) == _bare(other)


def _bare(url: str) -> tuple[str, str]:
    path, _, query = url.partition("#")[0].partition("?")
    return path.removesuffix("/"), query


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
    """Whether the text is the pattern, with at least one character for each `*`. Piece by piece:
    what a page says must not decide how long it takes."""
    return stands_in(pattern.split("*"), text)


def stands_in(pieces: Sequence[str], text: str) -> bool:
    """Whether the text is these pieces, in order, with at least one character in each gap."""
    first, *others = pieces
    if not others:
        return text == first
    *middle, last = others
    if not text.startswith(first) or not text.endswith(last):
        return False
    at = len(first)
    for piece in middle:
        found = text.find(piece, at + 1)
        if found < 0:
            return False
        at = found + len(piece)
    return at < len(text) - len(last)


def fits_path(path: str, other: str) -> bool:
    """Whether a path is a recorded one, in which what varies is `*`."""
    return are_parts(segments_of(path), segments_of(other))


def are_parts(wanted: Sequence[str], found: Sequence[str]) -> bool:
    """Whether each part is the one that is wanted, where that is not `*`."""
    if len(wanted) != len(found):
        return False
    return all(want in ("*", part) for want, part in zip(wanted, found, strict=True))


def _leads_to(url: str, now: Sequence[str]) -> bool:
    """Whether the path of `url` is the beginning of that one. Everything is below the root."""
    above = segments_of(path_of(url))
    return 1 < len(above) < len(now) and list(now[: len(above)]) == above


def _written(value: str) -> tuple[str, str]:
    """A value as it may stand in a path: as it is, or with what is no letter as one mark."""
    folded = value.casefold()
    return folded, _APART.sub("-", folded).strip("-")


def _template(segment: str, values: Iterable[str]) -> str:
    decoded = ada_url_decode(segment)
    if any(char.isdigit() for char in decoded) or _MADE_UP.fullmatch(decoded):
        return "*"
    forms = _written(decoded)
    return "*" if any(value in form for value in values for form in forms) else segment


def ada_url_decode(segment: str) -> str:
    """Percent-decoding of a path segment; what is not UTF-8 stays as it was."""
    return unquote(segment, errors="replace")
