"""Server exchanges say what was sent and how it was answered, in the same form in every run."""

from collections.abc import Iterable, Mapping

from rutter.actors.rules.pages.address import are_parts, fits_path, origin_of
from rutter.events.checks import ServerAnswered
from rutter.events.page import Exchange
from rutter.events.workflow import Place

EITHER = " | "
MOST = 4  # kinds of requests that one step is known by
GOOD = range(200, 400)
# Said by whoever stands between, or of a request that the browser then sends again by itself: the
# server may have taken it all the same.
UNSURE = frozenset({408, 421, 502, 504})


def taken(exchange: Exchange) -> bool:
    """Whether the server took it: by its answer."""
    return exchange.status in GOOD and not exchange.failed


def is_open(exchange: Exchange) -> bool:
    return not exchange.status and not exchange.failed and not exchange.socket


def refused(exchange: Exchange) -> bool:
    return exchange.status >= 400


def unanswered(exchange: Exchange) -> bool:
    """Whether it is over, and nobody knows what the server made of it."""
    return exchange.failed or exchange.status in UNSURE


def is_own(exchange: Exchange, url: str) -> bool:
    """Whether it went to the site of the page, and somebody waits for its answer: the rest counts
    visitors or reports errors."""
    unasked = exchange.beacon or exchange.socket
    return not unasked and origin_of(exchange.to.partition(" ")[2]) == origin_of(url)


def folded(
    known: Iterable[Exchange], told: Iterable[Exchange], most: int = 50
) -> tuple[Exchange, ...]:
    """What is known of each by now, in the order in which they began."""
    found = {each.number: each for each in known}
    for each in told:
        found[each.number] = each
    return tuple(found.values())[-most:]


def learned_answer(
    exchanges: Iterable[Exchange], page: Place, values: Mapping[str, str]
) -> ServerAnswered | None:
    """What the page sent to its own site and had answered well: one of that must come again. What
    it sent to its own address goes to whichever it has then."""
    own = [each for each in exchanges if is_own(each, page.origin) and taken(each)]
    sent = list(dict.fromkeys(_steady(each.to, values) for each in own))
    kinds = dict.fromkeys(kind for each in sent for kind in (each, *_elsewhere(each, page)))
    return ServerAnswered(EITHER.join(list(kinds)[:MOST])) if kinds else None


def _elsewhere(kind: str, page: Place) -> tuple[str, ...]:
    """The same request to the other addresses of the page, if it went to one of them."""
    method, _, address = kind.partition(" ")
    path = address.removeprefix(page.origin)
    if not page.also or not any(fits_path(known, path) for known in page.paths):
        return ()
    others = (known for known in page.paths if known != path)
    return tuple(f"{method} {page.origin}{known}" for known in others)


def matching(check: ServerAnswered, exchanges: Iterable[Exchange]) -> tuple[Exchange, ...]:
    return tuple(each for each in exchanges if is_one_of(check.value, each.to))


def is_one_of(kinds: str, to: str) -> bool:
    """Whether a request is of one of these kinds, with `*` for a part of the path that varies."""
    found = to.split("/")
    return any(are_parts(kind.split("/"), found) for kind in kinds.split(EITHER))


def _steady(to: str, values: Mapping[str, str]) -> str:
    """Without what was typed: it may be a part of the path."""
    telling = [value.strip().casefold() for value in values.values() if len(value.strip()) > 2]
    as_written = {written for value in telling for written in (value, "-".join(value.split()))}
    method_and_site, parts = to.split("/")[:3], to.split("/")[3:]
    varying = [
        "*" if any(each in part.casefold() for each in as_written) else part for part in parts
    ]
    return "/".join([*method_and_site, *varying])


def worst(exchanges: Iterable[Exchange]) -> Exchange | None:
    """One that the server refused, if there is any."""
    sure = (each for each in exchanges if refused(each) and not unanswered(each))
    return next(sure, None)
