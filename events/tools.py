"""Whoever drives from outside calls tools, and gets answers to each call."""

from typing import Literal

from rutter.events.action import RenderMode, Untrusted
from rutter.events.critic import Barrier
from rutter.events.event import Event
from rutter.events.page import Artifact

# S3 1.1.2, and what the spec adds to them: what policy refused, a browser that is gone, a tool that
# cannot be used here or any more, and the four ways in which no picture is read.
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
    "unavailable",
    "ghost_refused",
    "no_reader",
    "reader_failed",
    "nothing_read",
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
    """A caller wants this tool used. `arguments` is JSON; what it types is `{"typed": n}` until the
    field that it goes into is known to be no secret one. `invalid` says what is wrong with them:
    then only those are kept that fit the tool's schema."""

    call: str
    tool: str
    arguments: str = "{}"
    by: Literal["agent", "model", "terminal"] = "agent"
    attempt: int = 1
    invalid: str = ""


def approval_of(call: str) -> str:
    """The name of the question that a call puts to a person."""
    return f"for-{call}"


class FileRead(Event, frozen=True, tag="FileRead"):
    """A call had this file read. That needs no page, and nothing was written."""

    call: str
    text: Untrusted | None = None
    error: ToolError = ""
    message: str = ""


class ApprovalSought(Event, frozen=True, tag="ApprovalSought"):
    """A caller wants a person's word before it goes on: the Validator puts the question."""

    call: str
    action: str
    reason: str


class CompletionClaimed(Event, frozen=True, tag="CompletionClaimed"):
    """A caller says that the task is over. The Critic looks whether the page says so too (D5)."""

    call: str
    status: Literal["success", "failed"]
    reason: str


class ToolAnswered(Event, frozen=True, tag="ToolAnswered"):
    """A call got this answer. The snapshot that goes with it is the last observation, `barrier`
    what keeps its page from being read or used. `pages` is how many pages the text has of which
    `result` is one; with the `render_mode` ghost it was read from these `pictures`."""

    call: str
    success: bool
    error: ToolError = ""
    error_code: ErrorType = ""
    retriable: bool = False
    message: str = ""
    result: Untrusted | None = None
    barrier: Barrier | None = None
    pages: int = 0
    render_mode: RenderMode = "dom"
    pictures: tuple[Artifact, ...] = ()
