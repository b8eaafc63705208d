"""An MCP client gets an answer as the JSON of the contract, and as the text that models are told,
in which whatever a page says stands between marks (E4)."""

import os
from typing import Any

import msgspec
from mcp_types import CallToolResult, ContentBlock, ImageContent, TextContent

from rutter.actors.advisor.conversation import RESULT, NewestPage, page_told
from rutter.actors.advisor.token_budget import clipped
from rutter.actors.rules.text.untrusted import wrapped
from rutter.events.errors import BrowserGone, RutterError
from rutter.events.faults import fault_of, faults
from rutter.events.tools import ToolError
from rutter.pipeline.rehearsal.sheets import page_of
from rutter.pipeline.tools.dispatcher import ToolResponse

# What is told apart: the page and what was read stand between marks, not in the line of JSON.
_APART = ("snapshot", "result")


def told(answer: ToolResponse, *, session: str = "", note: str = "") -> CallToolResult:
    """`session` and `note` are of the answer that opens one."""
    body = answer.body(screenshots=False)
    if session:
        body = {"session": session, **body}
    content: list[ContentBlock] = [
        TextContent(type="text", text=_text(answer, body, note, os.urandom(16).hex()))
    ]
    if answer.snapshot is not None and answer.snapshot.screenshot:
        picture = answer.snapshot.screenshot
        content.append(ImageContent(type="image", data=picture, mime_type="image/png"))
    return CallToolResult(content=content, structured_content=body, is_error=not answer.success)


def _text(answer: ToolResponse, body: dict[str, Any], note: str, nonce: str) -> str:
    plain = {name: said for name, said in body.items() if name not in _APART and said is not None}
    parts = [msgspec.json.encode(plain).decode()]
    if note:
        parts.append(note)
    if answer.result is not None:
        parts.append(f"result:\n{wrapped(clipped(answer.result, RESULT), nonce)}")
    if answer.snapshot is not None:
        parts.append(page_told(NewestPage(page_of(answer.snapshot), answer.suspicious), nonce))
    return "\n".join(parts)


def refused(tool: str, error: RutterError) -> ToolResponse:
    """What was wrong before there was a session to answer, in the words of the contract."""
    gone = isinstance(error, BrowserGone)
    return failed(tool, "browser_gone" if gone else faults().requests[error.code].tool, str(error))


def failed(tool: str, error: ToolError, message: str, *, retriable: bool = False) -> ToolResponse:
    return ToolResponse(
        tool, "", False, error, fault_of(error).error_code, retriable=retriable, message=message
    )
