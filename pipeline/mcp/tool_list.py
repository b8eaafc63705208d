"""An MCP client lists the tools in the registry's own words and schemas, and how a session is
opened and closed."""

import json
from importlib.resources import files

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

# The two that begin and end the use of the others, as MCP tells tools.
_OWN = files(__package__).joinpath("own_tools.json").read_text("utf-8")
_OPENING, _CLOSING = map(Tool.model_validate, json.loads(_OWN.replace("MAX_TURNS", str(MAX_TURNS))))
_WHICH = _CLOSING.input_schema["properties"][SESSION]
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
    """In the registry's words, with the session added: newer clients keep no connection that could
    remember theirs."""
    hints, schema = _HINTS[tool.side_effect_class], tool.input_schema
    return Tool(
        name=tool.name,
        description=description_of(tool),
        input_schema={**schema, "properties": {**schema["properties"], SESSION: _WHICH}},
        annotations=hints.model_copy(update={"open_world_hint": tool.name not in _CLOSED_WORLD}),
    )
