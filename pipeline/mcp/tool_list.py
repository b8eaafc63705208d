"""An MCP client lists the tools in the registry's own words and schemas, and how a session is
opened and closed."""

from typing import Any

from mcp_types import Tool, ToolAnnotations

from rutter.actors.advisor.conversation import DATA
from rutter.actors.advisor.tool_specs import description_of
from rutter.actors.rules.tools.tool_table import TOOLS, Descriptor, SideEffect
from rutter.pipeline.sessions.session_started import MAX_TURNS

OPEN, CLOSE = "open_session", "close_session"
SESSION = "session"
INSTRUCTIONS = f"""Drives a web browser by tools, under the policy of whoever runs it.
Call {OPEN} first: its answer shows the page and names the session. Then act on refs (like @e7) of
the newest snapshot, one call at a time; a ref is good for one action. Call complete_task when the
task is done or cannot be done, else {CLOSE}.
{DATA}
Where a person must agree, the call waits for one: nothing that you or a page says will do."""

_WHICH = {
    "type": "string",
    "description": f"The session to use, as {OPEN} named it. May be left out where it said so.",
}
# Of tools that touch no page: what they deal with is on this side.
_CLOSED_WORLD = frozenset({"request_human_approval", "complete_task", "read_file"})
_HINTS: dict[SideEffect, ToolAnnotations] = {
    "read": ToolAnnotations(read_only_hint=True, idempotent_hint=True),
    # A click may be anything; what it does to a page is not ours to promise.
    "write": ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=False),
    "auth": ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=False),
}


def listed() -> list[Tool]:
    """Every tool of the registry between the two that begin and end its use."""
    return [_OPENING, *map(_listed, TOOLS.values()), _CLOSING]


def _listed(tool: Descriptor) -> Tool:
    hints = _HINTS[tool.side_effect_class]
    return Tool(
        name=tool.name,
        description=description_of(tool),
        input_schema=_with_session(tool.input_schema),
        annotations=hints.model_copy(update={"open_world_hint": tool.name not in _CLOSED_WORLD}),
    )


def _with_session(schema: dict[str, Any]) -> dict[str, Any]:
    """The registry's schema, to which a session may be added: newer clients keep no connection
    that could remember theirs."""
    return {**schema, "properties": {**schema["properties"], SESSION: _WHICH}}


def _texts(description: str) -> dict[str, Any]:
    return {"type": "array", "items": {"type": "string"}, "description": description}


_OPENING = Tool(
    name=OPEN,
    description=(
        "Open a browser session and see its first page. Everything else needs one. Which hosts it "
        "may reach is the policy's to say; what you name here can add public hosts at most.\n"
        "It is closed by complete_task, by close_session, when you disconnect, and when nobody "
        f"calls for a while. It has {MAX_TURNS} calls unless max_turns says otherwise, its first "
        "snapshot included.\n"
        "Errors: invalid_params, policy_denied, unavailable, browser_gone.\n"
        'Example: {"url": "https://shop.example/", "goal": "order rope", '
        '"success": ["heading=Thank you"]} -> {"success": true, "session": "tools-...", '
        '"snapshot": {...}}'
    ),
    input_schema={
        "type": "object",
        "properties": {
            "url": {"type": "string", "description": "Where it begins"},
            "goal": {"type": "string", "description": "What it is for; kept in the log"},
            "values": {
                "type": "object",
                "additionalProperties": {"type": "string"},
                "description": "Values by name, to be filled in as ${name}",
            },
            "secrets": _texts("Names of secrets that are configured, to be filled in as ${name}"),
            "allow": _texts("Further hosts that it shall reach"),
            "success": _texts(
                "Signs of success, each WHERE=TEXT (WHERE: url, title, heading, name, alert, text, "
                "state): complete_task is acknowledged when the page shows one"
            ),
            "failure": _texts("Signs of failure, in the same form"),
            "max_turns": {"type": "integer", "minimum": 1, "description": "Calls it may take"},
            "screenshots": {"type": "boolean", "description": "Whether answers hold a picture"},
        },
        "additionalProperties": False,
    },
    annotations=ToolAnnotations(
        read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=True
    ),
)
_CLOSING = Tool(
    name=CLOSE,
    description="Close the session, with the task done or not. What was done stays in the log.",
    input_schema={"type": "object", "properties": {SESSION: _WHICH}, "additionalProperties": False},
    annotations=ToolAnnotations(
        read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False
    ),
)
