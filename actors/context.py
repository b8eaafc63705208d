"""What a model is shown before it decides (C3): each part bounded, each with a deadline of its own.

A part that cannot be had is named with its reason; the others are still worth a decision.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple, TypeVar

import anyio
import msgspec

from actors.browser.tab import DocumentGone, PageTimeout, Tab
from actors.page_text import harmless, text_of
from events.errors import WorldBroken
from events.page import Page

# S1 FR-001. Together under 2 s: the parts are gathered at the same time.
PART_MS = 1_500
MAX_WIDTH = 1_280
MAX_TREE = 3 * 1_024
MAX_HTML = 5 * 1_024
MAX_WORDS = 2 * 1_024
MAX_RECORDS = 1_024
MAX_ACTIONS = 5

Part = TypeVar("Part")
Record = TypeVar("Record", "ActionRecord", "ErrorRecord")


class ActionRecord(msgspec.Struct, frozen=True):
    """An action that was executed before (S1 4.1)."""

    action_type: str
    target_description: str
    success: bool
    timestamp: str


class ErrorRecord(msgspec.Struct, frozen=True):
    """An error of this flow (S1 4.1)."""

    action_type: str
    error_type: str
    error_message: str
    strategy_attempted: str
    timestamp: str


class Missing(msgspec.Struct, frozen=True):
    """A part that could not be had, and why."""

    part: str
    why: str


class AgentContext(msgspec.Struct, frozen=True):
    """Everything a model decides on (S1 4.1). `missing` names what could not be had."""

    screenshot: bytes = b""
    accessibility_tree: str = ""
    html_snippet: str = ""
    url: str = ""
    visible_text: str = ""
    previous_actions: tuple[ActionRecord, ...] = ()
    error_history: tuple[ErrorRecord, ...] = ()
    viewport_size: tuple[int, int] = (0, 0)
    scroll_position: tuple[int, int] = (0, 0)
    missing: tuple[Missing, ...] = ()


class _Parts(NamedTuple):
    """What was gathered so far."""

    found: dict[str, object]
    missing: list[Missing]


async def gather_context(
    tab: Tab,
    *,
    page: Page | None = None,
    actions: Sequence[ActionRecord] = (),
    errors: Sequence[ErrorRecord] = (),
    part_ms: int = PART_MS,
) -> AgentContext:
    """All parts at once. An observation that is at hand is used; else the page is looked at."""
    parts = _Parts({}, [])

    async def observed() -> Page:
        return msgspec.convert(await tab.call("observe", within_ms=part_ms), Page)

    async def html() -> str:
        return str(await tab.call("controlsHtml", MAX_HTML, within_ms=part_ms))

    async def words() -> str:
        return str(await tab.call("wordsInView", MAX_WORDS, within_ms=part_ms))

    async def picture() -> bytes:
        return await tab.picture(max_width=MAX_WIDTH, within_ms=part_ms)

    async with anyio.create_task_group() as group:
        if page is None:
            group.start_soon(_gather, parts, "accessibility_tree", observed)
        group.start_soon(_gather, parts, "html_snippet", html)
        group.start_soon(_gather, parts, "visible_text", words)
        group.start_soon(_gather, parts, "screenshot", picture)
    return _context(page, parts, actions, errors)


async def _gather(parts: _Parts, name: str, part: Callable[[], Awaitable[object]]) -> None:
    try:
        parts.found[name] = await part()
    except (PageTimeout, DocumentGone, WorldBroken) as error:
        parts.missing.append(Missing(name, harmless(str(error))[:200]))


def _context(
    page: Page | None,
    parts: _Parts,
    actions: Sequence[ActionRecord],
    errors: Sequence[ErrorRecord],
) -> AgentContext:
    found = parts.found
    seen = page if page is not None else found.get("accessibility_tree", Page(url=""))
    picture = found.get("screenshot", b"")
    assert isinstance(seen, Page)
    assert isinstance(picture, bytes)
    return AgentContext(
        screenshot=picture,
        accessibility_tree=text_of(seen, max_bytes=MAX_TREE).text,
        html_snippet=str(found.get("html_snippet", "")),
        url=seen.url,
        visible_text=str(found.get("visible_text", "")),
        previous_actions=latest(actions[-MAX_ACTIONS:], MAX_RECORDS),
        error_history=latest(errors, MAX_RECORDS),
        viewport_size=seen.viewport,
        scroll_position=seen.scroll,
        missing=tuple(sorted(parts.missing, key=lambda missing: missing.part)),
    )


def latest(records: Sequence[Record], max_bytes: int) -> tuple[Record, ...]:
    """The newest records that fit, oldest first."""
    kept: list[Record] = []
    for record in reversed(records):
        max_bytes -= len(msgspec.json.encode(record))
        if max_bytes < 0:
            break
        kept.append(record)
    return tuple(reversed(kept))
