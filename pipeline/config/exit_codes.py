"""Exit codes tell scripts how a command ended. One table, also in docs/exit-codes.md."""

from enum import IntEnum

from rutter.events.errors import BadInput, PolicyDenied, RutterError
from rutter.events.runtime import Failure, StopReason


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
    if isinstance(error, PolicyDenied):
        return Exit.DENIED
    return Exit.BAD_INPUT if isinstance(error, BadInput) else Exit.ENVIRONMENT


def of_session(reason: str, failure: str, *, dry_run: bool = False) -> Exit:
    """The code of a session's end, by its reason and what kind of failure it was."""
    if reason == "completed" or (dry_run and reason == "completed_unverified"):
        return Exit.DONE
    return BY_FAILURE.get(failure) or BY_REASON.get(reason, Exit.NOT_VERIFIED)


BY_FAILURE: dict[Failure | str, Exit] = {
    "lost": Exit.LOST,
    "needs_person": Exit.NEEDS_PERSON,
    "policy_denied": Exit.DENIED,
    "verification_failed": Exit.NOT_VERIFIED,
    "retry_exhausted": Exit.NOT_VERIFIED,
    "browser_lost": Exit.INTERRUPTED,
    "unreachable": Exit.ENVIRONMENT,
    "actor_failed": Exit.ENVIRONMENT,
    "model_unavailable": Exit.ENVIRONMENT,
}
BY_REASON: dict[StopReason | str, Exit] = {
    "completed_unverified": Exit.NOT_VERIFIED,
    "max_steps": Exit.LOST,
    "max_wall_time": Exit.INTERRUPTED,
    "max_failures": Exit.NOT_VERIFIED,
    "max_turns_exceeded": Exit.LOST,
    "no_op_loop": Exit.LOST,
    "policy_denied": Exit.DENIED,
    "cancelled": Exit.INTERRUPTED,
    "interrupted": Exit.INTERRUPTED,
    "running": Exit.INTERRUPTED,
}
