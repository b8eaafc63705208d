"""An answer tells the caller of a tool what came of it: by a verdict, a refusal or a person."""

from rutter.actors.planner.run import Flight
from rutter.actors.planner.tool_desk import (
    Desk,
    arguments_of,
    gives_up,
    is_harmless,
    may_repeat,
)
from rutter.actors.rules.tools.tool_table import place_of_ref
from rutter.events.action import Untrusted
from rutter.events.critic import CompletionChecked
from rutter.events.faults import failed_call, fault_of
from rutter.events.person import ApprovalAnswered
from rutter.events.tools import FileRead, ToolAnswered, ToolError
from rutter.events.validator import ActionRejected, ActionWithheld


def good_answer(
    desk: Desk, message: str = "", result: Untrusted | None = None
) -> ToolAnswered | None:
    if desk.call is None:
        return None
    return ToolAnswered(desk.call.call, True, message=message, result=result)


def bad_answer(
    desk: Desk, error: ToolError, message: str, *, retriable: bool | None = None
) -> ToolAnswered:
    call = desk.call.call if desk.call is not None else ""
    return failed_call(call, error, message, retriable=retriable)


def stale_ref_answer(desk: Desk) -> ToolAnswered | None:
    """The answer to a ref that is of no snapshot that the caller has now."""
    if desk.call is None or desk.call.invalid:
        return None
    ref = arguments_of(desk.call).ref
    if ref is None or (desk.given and 0 <= place_of_ref(ref) < desk.refs):
        return None
    why = "is not in the last snapshot" if desk.given else "is of a snapshot that is no longer true"
    return bad_answer(desk, "ref_invalid", f"{ref} {why}")


def verdict_answer(desk: Desk, flight: Flight) -> ToolAnswered | None:
    """The verdict as an answer. A click that changed nothing was done all the same, and so was a
    navigation that the site led on from: the message says it, the snapshot shows it."""
    judged, missed = flight.judged, flight.missed
    if missed is not None:
        said = f"{missed.code}: {missed.message}" if missed.message else missed.code
        return bad_answer(desk, fault_of(missed.code).tool, said)
    if judged is None or judged.verdict == "confirmed":
        return good_answer(desk, result=flight.extracted)
    failure = flight.failure
    slow = judged.verdict == "unknown" and failure is None and not flight.irreversible
    if judged.verdict in ("no_effect", "wrong_target") or slow:
        return good_answer(desk, judged.reason)
    code = failure.code if failure is not None else judged.reason
    error = fault_of(failure.code).tool if failure is not None else "action_failed"
    message = f"{code}: {failure.message}" if failure is not None and failure.message else code
    untouched = failure is not None and not failure.dispatched
    again = (fault_of(error).retriable or fault_of(code).retriable) and (
        is_harmless(flight) or untouched
    )
    if judged.verdict == "unknown":
        return bad_answer(desk, error, f"{message}; its outcome is unknown", retriable=False)  # E7
    return bad_answer(desk, error, message, retriable=again)


def refusal_error(desk: Desk, refused: ActionRejected | ActionWithheld) -> ToolError:
    if isinstance(refused, ActionWithheld):
        return "policy_denied"
    match refused.error:
        case "human_rejected":
            return "human_rejected"
        case "invalid_params":
            return "invalid_params"
        case _ if refused.code == "policy_denied":
            return "policy_denied"
        case _:
            by_ref = desk.call is not None and arguments_of(desk.call).ref is not None
            error = fault_of(refused.error).tool
            return "action_failed" if error == "ref_invalid" and not by_ref else error


def refusal_words(desk: Desk, error: ToolError, reason: str) -> str:
    """S3 1.6.3: what the person said goes back to the caller in these words."""
    return f"User feedback: {desk.said}" if error == "human_rejected" and desk.said else reason


def approval_answer(desk: Desk, word: ApprovalAnswered) -> ToolAnswered | None:
    if word.approved:
        return good_answer(desk, word.message)
    error: ToolError = "policy_denied" if word.by == "nobody" else "human_rejected"
    return bad_answer(desk, error, word.message)


def file_answer(desk: Desk, read: FileRead) -> ToolAnswered | None:
    return bad_answer(desk, read.error, read.message) if read.error else good_answer(desk)


def late_answer(desk: Desk, why: str) -> ToolAnswered:
    """There is no look at the page: what is known without it is kept, giving up needs none."""
    if desk.answer is not None and desk.answer.error:
        return desk.answer
    late = bad_answer(desk, "timeout", why, retriable=may_repeat(desk))
    return (good_answer(desk, why) or late) if gives_up(desk) else late


def claim_answer(desk: Desk, checked: CompletionChecked) -> ToolAnswered | None:
    """An unverified success is not acknowledged; giving up always is (D5)."""
    assert desk.call is not None
    if gives_up(desk) or checked.verified:
        return good_answer(desk, checked.reason if gives_up(desk) and checked.verified else "")
    return ToolAnswered(desk.call.call, False, message=checked.reason)
