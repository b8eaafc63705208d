"""A fault names a refusal or failure, with all that is said of it anywhere (E5).

One table, `faults.toml`: the answers of tools and of the daemon, exit codes, what people are told
and what they can type next are taken from it. It is read at its first use: a command that went
well tells none.
"""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files

import msgspec

from rutter.events.tools import ErrorType, ToolAnswered, ToolError


class Fault(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A row of the table, whose head says what each field is for."""

    error_code: ErrorType = ""
    retriable: bool = False
    hint: str = ""
    words: str = ""
    stayed: str = ""
    tool: ToolError = "action_failed"
    exit: int = 6
    status: int = 500
    command: str = ""
    next: str = ""
    next_suggested: str = ""
    next_free: str = ""
    next_goal: str = ""


class FaultTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The table has `codes` of steps and ends of sessions, `requests` to the daemon and errors of
    ours. In what `models` answer the same word may mean another thing."""

    codes: Mapping[str, Fault]
    requests: Mapping[str, Fault]
    models: Mapping[str, Fault]


NONE = Fault()
LOOK_FIRST = "look at the site whether it was done before it is run again"


@cache
def faults() -> FaultTable:
    text = (files(__package__) / "faults.toml").read_bytes()
    return msgspec.toml.decode(text, type=FaultTable)


def fault_of(code: str) -> Fault:
    """Of what a step met or a session ended by; none of nothing, and of a later version's code."""
    return faults().codes.get(code, NONE)


def fault_of_end(reason: str, failure: str = "", *, sent: bool = False) -> Fault:
    """Of a session's end. Where something irreversible was done, or may have been, nothing is
    worth a second run before somebody has looked (E7)."""
    fault = fault_of(failure or reason)
    if sent and fault.error_code:
        return msgspec.structs.replace(fault, retriable=False, hint=LOOK_FIRST)
    return fault


def failed_call(
    call: str, error: ToolError, message: str, *, retriable: bool | None = None
) -> ToolAnswered:
    """The answer to a call that came to nothing; worth a second try as the table says, unless it is
    known better."""
    fault = fault_of(error)
    again = fault.retriable if retriable is None else retriable
    return ToolAnswered(call, False, error, fault.error_code, again, message)
