"""The table of faults says what each code of a refusal or failure means to whoever gets it (E5).

The type is one of five that any caller can count on, `retriable` says whether the same may be asked
for again as it is, and the hint says what to do, in one line.
"""

from typing import NamedTuple, get_args

from rutter.events.tools import ErrorType, ToolError

__all__ = ["FAULTS", "NONE", "RETRIABLE", "SAID_AS", "TYPE_OF", "Fault", "fault_of"]


class Fault(NamedTuple):
    error_code: ErrorType
    retriable: bool
    hint: str


NONE = Fault("", False, "")
LOOK_AGAIN = "take a fresh snapshot and use a ref of it"
LOOK_FIRST = "look at the site whether it was done before it is run again"
CLOSED = "start another session"

FAULTS: dict[str, Fault] = {
    # what a caller asked for
    "": NONE,
    "invalid_params": Fault("validation_error", False, "correct the arguments by the schema"),
    "validation_error": Fault("validation_error", False, "correct the step by what is said"),
    "value_unbound": Fault("validation_error", False, "bind it with --set or --secret"),
    "ref_invalid": Fault("validation_error", True, LOOK_AGAIN),
    # what an element was like
    "element_not_found": Fault("execution_error", True, LOOK_AGAIN),
    "element_ambiguous": Fault("execution_error", False, "name it by a way that only it has"),
    "element_disabled": Fault("execution_error", False, "do first what the page wants before it"),
    "element_obscured": Fault("execution_error", True, "close what lies over it, then try again"),
    "element_not_visible": Fault("execution_error", True, "scroll to it or open what it is in"),
    "element_moving": Fault("execution_error", True, "wait until it is at rest, then try again"),
    "option_not_found": Fault("execution_error", False, "take one of the options that are named"),
    "value_not_set": Fault("execution_error", True, "read the field, then type again"),
    # what acting came to
    "action_failed": Fault("execution_error", False, "look at the page before anything else"),
    "execution_error": Fault("execution_error", False, "look at the page before anything else"),
    "navigation_failed": Fault("execution_error", True, "check the address, then try again"),
    "timeout": Fault("tool_timeout", True, "give the page more time, then try again"),
    "page_crashed": Fault("tool_unavailable", False, CLOSED),
    "browser_gone": Fault("tool_unavailable", False, CLOSED),
    "unavailable": Fault("tool_unavailable", False, "use another tool, or another session"),
    # what was not allowed
    "policy_denied": Fault("policy_denied", False, "change the policy or the step if it is meant"),
    "human_rejected": Fault("policy_denied", False, "do as the person says, not this again"),
    "needs_person": Fault("policy_denied", False, "run it at a terminal, or give --answers"),
    # how a session ended
    "completed": NONE,
    "completed_unverified": Fault("execution_error", False, LOOK_FIRST),
    "max_steps": Fault("execution_error", False, "see where it strayed: rutter show last"),
    "max_wall_time": Fault("tool_timeout", True, "run it again, with more time if it is slow"),
    "max_failures": Fault("execution_error", False, "see what failed: rutter show last"),
    "max_turns_exceeded": Fault("tool_unavailable", False, CLOSED),
    "no_op_loop": Fault("execution_error", False, "see what it repeated: rutter show last"),
    "failed": Fault("execution_error", False, "see what failed: rutter show last"),
    "cancelled": Fault("tool_unavailable", True, "run it again when it is meant"),
    "interrupted": Fault("tool_unavailable", True, "run it again; --from goes on where it was"),
    "lost": Fault("execution_error", False, "look at the screenshot, record the step again"),
    "verification_failed": Fault("execution_error", False, LOOK_FIRST),
    "retry_exhausted": Fault("execution_error", False, "see what failed: rutter show last"),
    "unreachable": Fault("tool_unavailable", True, "check that the site answers, then run again"),
    "actor_failed": Fault("execution_error", False, "report it with the log"),
    "browser_lost": Fault("tool_unavailable", True, "run it again; --from goes on where it was"),
    "model_unavailable": Fault("tool_unavailable", True, "check keys and models: rutter doctor"),
}
# What the Executor found, in the words of S3.
SAID_AS: dict[str, ToolError] = {
    "ref_invalid": "ref_invalid",
    "element_not_found": "ref_invalid",
    "element_ambiguous": "action_failed",
    "element_disabled": "element_disabled",
    "element_obscured": "element_obscured",
    "element_not_visible": "element_not_visible",
    "element_moving": "element_not_visible",
    "option_not_found": "action_failed",
    "value_unbound": "invalid_params",
    "navigation_failed": "action_failed",
    "action_failed": "action_failed",
    "timeout": "timeout",
    "page_crashed": "browser_gone",
}
TYPE_OF: dict[ToolError, ErrorType] = {
    error: FAULTS[error].error_code for error in get_args(ToolError)
}
RETRIABLE: frozenset[str] = frozenset(code for code, fault in FAULTS.items() if fault.retriable)


def fault_of(reason: str, failure: str = "", *, sent: bool = False) -> Fault:
    """Of a session's end. Where something irreversible was done, or may have been, nothing is
    worth a second run before somebody has looked (E7)."""
    fault = FAULTS.get(failure or reason, NONE)
    if sent and fault != NONE:
        return Fault(fault.error_code, False, LOOK_FIRST)
    return fault
