"""A person answers. A scripted person is recorded as one."""

from typing import Literal

from rutter.events.event import Event
from rutter.events.page import Artifact


class ApprovalAnswered(Event, frozen=True, tag="ApprovalAnswered"):
    """A person answered a question, typed out `phrase` where that was asked for, and made their
    `choice` where there was one, by its number; 0 is none. `myself`: they do it in the window."""

    approval: str
    approved: bool
    by: Literal["terminal", "scripted", "daemon", "nobody"]
    message: str = ""
    phrase: str = ""
    choice: int = 0
    myself: bool = False


class QuestionPictured(Event, frozen=True, tag="QuestionPictured"):
    """A picture shows whoever is asked what it is about: the element, or the choices by their
    numbers. Without one, none could be had."""

    approval: str
    artifact: Artifact | None = None
