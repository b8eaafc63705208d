"""A person answers. A scripted person is recorded as one."""

from typing import Literal

from rutter.events.event import Event


class ApprovalAnswered(Event, frozen=True, tag="ApprovalAnswered"):
    """A person answered a question, and typed out `phrase` where that was asked for."""

    approval: str
    approved: bool
    by: Literal["terminal", "scripted", "daemon", "nobody"]
    message: str = ""
    phrase: str = ""
