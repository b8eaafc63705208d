"""A snapshot is what tools answer with, in the words and with the fields of S3 1.3.1."""

import base64
import hashlib
from datetime import UTC, datetime
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from rutter.events import page as seen

# S3 1.3.4 lists them apart: these say something about operating the element.
UNOPERATED = frozenset({"heading", "region", "dialog", "alert", "alertdialog"})


class BoundingBox(msgspec.Struct, frozen=True):
    """A box is pixels from the top left corner of the viewport."""

    x: int
    y: int
    width: int
    height: int


class Element(msgspec.Struct, frozen=True):
    ref: str
    role: str
    name: str
    state: tuple[str, ...]
    bbox: BoundingBox
    value: str | UnsetType = UNSET
    level: int | UnsetType = UNSET
    children: tuple[str, ...] | UnsetType = UNSET


class PageInfo(msgspec.Struct, frozen=True):
    url: str
    title: str


class ViewportInfo(msgspec.Struct, frozen=True):
    width: int
    height: int
    scroll_x: int
    scroll_y: int


class Snapshot(msgspec.Struct, frozen=True):
    """A snapshot is what was on the page. `dropped` and `truncated` say what is not in it (D1)."""

    snapshot_id: str
    timestamp: str
    elements: tuple[Element, ...]
    focused: str | None
    page: PageInfo
    screenshot: str
    viewport: ViewportInfo
    dropped: int = 0
    truncated: bool = False


def snapshot_of(
    page: seen.Page, *, session: str, n: int, at_ns: int, screenshot: bytes = b""
) -> Snapshot:
    """The snapshot of an observation: the `n`th event of its session, at that time."""
    focused = [ref for ref, element in enumerate(page.elements) if "focused" in element.state]
    return Snapshot(
        snapshot_id=snapshot_id(session, n),
        timestamp=_timestamp(at_ns),
        elements=tuple(_element(ref, element) for ref, element in enumerate(page.elements)),
        focused=ref_of(focused[0]) if focused else None,
        page=PageInfo(url=page.url, title=page.title.text),
        screenshot=base64.b64encode(screenshot).decode(),
        viewport=ViewportInfo(*page.viewport, *page.scroll),
        dropped=page.dropped,
        truncated=page.truncated,
    )


def snapshot_id(session: str, n: int) -> str:
    """A UUID that is the same whenever the same observation is told: a name, hashed (RFC 9562)."""
    digest = bytearray(hashlib.sha256(f"rutter.snapshot\0{session}\0{n}".encode()).digest()[:16])
    digest[6] = digest[6] & 0x0F | 0x80
    digest[8] = digest[8] & 0x3F | 0x80
    text = digest.hex()
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))


def ref_of(number: int) -> str:
    return f"@e{number}"


def snapshot_schema() -> dict[str, Any]:
    """JSON schema of a snapshot, for whoever validates one (S3 2.3.3)."""
    return msgspec.json.schema(Snapshot)


def states_of(element: seen.PageElement) -> tuple[str, ...]:
    """All states that apply; an observation leaves out what goes without saying."""
    given = element.state
    where = next((state for state in ("hidden", "offscreen") if state in given), "visible")
    can = "disabled" if "disabled" in given else "enabled"
    named = {where, "disabled"}
    first = (where,) if element.role in UNOPERATED and can == "enabled" else (where, can)
    return (*first, *(state for state in given if state not in named))


def _element(ref: int, element: seen.PageElement) -> Element:
    box = element.box
    return Element(
        ref=ref_of(ref),
        role=element.role,
        name=element.name.text,
        state=states_of(element),
        bbox=BoundingBox(box.x, box.y, box.width, box.height),
        value=UNSET if element.value is None else element.value.text,
        level=UNSET if element.level is None else element.level,
        children=tuple(map(ref_of, element.children)) or UNSET,
    )


def _timestamp(at_ns: int) -> str:
    whole = datetime.fromtimestamp(at_ns // 1_000_000_000, UTC)
    return f"{whole:%Y-%m-%dT%H:%M:%S}.{at_ns // 1_000_000 % 1_000:03}Z"
