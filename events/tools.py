"""Calls of tools by whoever drives from outside, and what they were answered."""

from typing import Literal

from events.action import Untrusted
from events.event import Event

# S3 1.1.2, and the two that the spec adds to them.
ToolError = Literal[
    "",
    "ref_invalid",
    "element_disabled",
    "element_obscured",
    "element_not_visible",
    "action_failed",
    "timeout",
    "human_rejected",
    "invalid_params",
    "policy_denied",
    "browser_gone",
]
# S4 W2: what any caller can count on, whatever the tool.
ErrorType = Literal[
    "",
    "validation_error",
    "policy_denied",
    "tool_timeout",
    "tool_unavailable",
    "execution_error",
]


class ToolCalled(Event, frozen=True, tag="ToolCalled"):
    """A tool is to be used. `arguments` is JSON; what it types is `{"typed": n}` until the field
    that it goes into is known to be no secret one."""

    call: str
    tool: str
    arguments: str = "{}"
    by: Literal["agent", "model", "terminal"] = "agent"
    attempt: int = 1


class ToolAnswered(Event, frozen=True, tag="ToolAnswered"):
    """What the call came to. The snapshot that goes with it is the last observation."""

    call: str
    success: bool
    error: ToolError = ""
    error_code: ErrorType = ""
    retriable: bool = False
    message: str = ""
    result: Untrusted | None = None
