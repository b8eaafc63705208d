"""Exit codes tell scripts how a command ended: which one, events/faults.toml says."""

from enum import IntEnum

from rutter.events.errors import RutterError
from rutter.events.faults import fault_of, faults


class Exit(IntEnum):
    DONE = 0
    DIVERGED = 1
    BAD_INPUT = 2
    LOST = 3
    DENIED = 4
    NEEDS_PERSON = 5
    NOT_VERIFIED = 6
    INTERRUPTED = 7
    ENVIRONMENT = 8


def of_error(error: RutterError) -> Exit:
    return Exit(faults().requests[error.code].exit)


def of_session(reason: str, failure: str, *, dry_run: bool = False) -> Exit:
    """The code of a session's end, by its reason and what kind of failure it was."""
    if reason == "completed" or (dry_run and reason == "completed_unverified"):
        return Exit.DONE
    return Exit(fault_of(failure if failure in faults().codes else reason).exit)
