"""A page reading turns what the page's script returned into what a decider may use."""

from typing import Any, NamedTuple

import msgspec

from rutter.actors.rules.text.untrusted import plain, quarantined
from rutter.actors.world.browser.tab import Tab
from rutter.events.action import Untrusted
from rutter.events.observer import Shown
from rutter.events.page import Exchange, Makeup, Page

OBSERVE_MS = 3_000  # S3 2.2.1: the most that a snapshot may take


class PageReading(NamedTuple):
    """A reading is what one look says."""

    page: Page
    shown: tuple[Shown, ...] = ()
    phrases: tuple[str, ...] = ()
    pending: int = 0
    sent: int = 0
    status: int = 0
    unread: bool = False
    suspicious: tuple[str, ...] = ()
    exchanges: tuple[Exchange, ...] = ()
    made: Makeup | None = None


def seen_of(
    raw: dict[str, Any],
    tab: Tab,
    index: int,
    tabs: int,
    exchanges: tuple[Exchange, ...] = (),
) -> PageReading:
    """What the page told of itself, as it may be used."""
    found = msgspec.convert(raw.pop("shown", []), list[tuple[str, Untrusted | None]])
    phrases = msgspec.convert(raw.pop("phrases", []), tuple[str, ...])
    raw_kept = raw.pop("kept", [])
    status = msgspec.convert(raw.pop("status", 0), int)
    unread = msgspec.convert(raw.pop("unread", False), bool)
    made = msgspec.convert(raw.pop("made", None), Makeup | None)
    page, suspicious = quarantined(msgspec.convert(raw, Page))
    page = msgspec.structs.replace(page, tab=index, tabs=tabs, been=tab.addresses.been)
    kept = frozenset(msgspec.convert(raw_kept, tuple[str, ...]))
    shown = tuple(
        Shown(text, plain(around) if around else None, text in kept) for text, around in found
    )
    traffic = tab.traffic
    if made is not None and traffic.busy:
        made = msgspec.structs.replace(made, busy=True)
    return PageReading(
        page,
        shown,
        phrases,
        traffic.pending,
        traffic.sent,
        status,
        unread,
        suspicious,
        exchanges,
        made,
    )
