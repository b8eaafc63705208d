"""The desk of a session driven by calls holds the call that is open, beside any run's state.

What can be said of it without looking further is asked here: whether its step is tried again,
whether it may be, and what the caller is told by a verdict, a refusal or a person.
"""

from typing import Literal

import msgspec

from rutter.actors.planner.run import Flight, Run
from rutter.actors.rules.policy.policy import READING
from rutter.actors.rules.steps.ghost import RULE as GHOST
from rutter.actors.rules.steps.retry import REPEATABLE, TRANSIENT
from rutter.actors.rules.tools.tool_table import TOOLS, Logged, place_of_ref
from rutter.events.action import Target
from rutter.events.critic import CompletionChecked
from rutter.events.faults import failed_call, fault_of
from rutter.events.person import ApprovalAnswered
from rutter.events.planner import PlanProposed, RunStopped
from rutter.events.runtime import DeadlinePassed
from rutter.events.tools import ToolAnswered, ToolCalled, ToolError
from rutter.events.validator import ActionRejected, ActionWithheld

# Held behind a step that is not over; due now; its step under way; its page being read; somebody's
# word awaited; and what it came to ready to be said.
Stage = Literal["idle", "held", "due", "acting", "looking", "waiting", "answering"]


class Desk(Run, frozen=True):
    """A desk is a run that calls drive, an agent's from outside or a language model's (`led`).
    `busy` says that the last step is under way, `whose` call it was. `refs` are the elements of the
    last look, number `look`; `given`: the caller has that very look, any later one makes its refs
    stale (D2). `pictured` is the page whose picture was read last. `turns` are the calls of an
    agent, or the answers of a model.

    Where a model leads, `silent` are its answers in a row without a call, `failures` those of the
    calls that told of one; `in_window` a person goes on, `asks_page` nobody else says whether it is
    done, `closing` the last call said so; `ends` is what the verdict on the last step means for the
    run, said when the page was assessed.
    """

    stage: Stage = "idle"
    call: ToolCalled | None = None
    answer: ToolAnswered | None = None
    busy: bool = False
    whose: str = ""
    turns: int = 0
    looked: bool = False
    opened: bool = False
    seen: str = ""
    refs: int = 0
    look: int = 0
    given: bool = False
    pictured: tuple[str, str] = ("", "")
    said: str = ""
    silent: int = 0
    in_window: bool = False
    claimed: bool = False
    asks_page: bool = False
    closing: bool = False
    ends: RunStopped | None = None

    @property
    def led(self) -> bool:
        return self.started.driver == "model"

    @property
    def waits(self) -> bool:
        """Whether it is somebody else's turn: the model's, a person's in the window, the page's."""
        asked = self.asking is not None and self.asking.waiting
        return asked or self.in_window or self.asks_page or self.closing


def is_its_time(desk: Desk, passed: DeadlinePassed) -> bool:
    """Whether it is the open call whose time is up: one that comes late may be about another."""
    return desk.call is not None and passed.call in ("", desk.call.call)


def second_try(desk: Desk) -> PlanProposed | None:
    """The second try of a step that failed, where its tool has one. A ref is good for one action:
    the second try looks for the element that it was."""
    flight = desk.flight if desk.busy else None
    if flight is None or flight.judged is None or flight.judged.verdict != "failed":
        return None
    opening = flight.plan.driver == "script"
    if flight.plan.attempt > 1 or not (opening or _has_second_try(desk)):
        return None
    failure, action = flight.failure, flight.plan.action
    if failure is not None and failure.code not in TRANSIENT:
        return None
    if not is_harmless(flight) and (failure is None or failure.dispatched):
        return None
    if action.target is not None and flight.element is not None:
        action = msgspec.structs.replace(action, target=Target(flight.element.ways))
    return msgspec.structs.replace(flight.plan, attempt=2, action=action)


def _has_second_try(desk: Desk) -> bool:
    """Whether the step under way is the open call's, and its tool is one that is tried twice."""
    tool = TOOLS.get(desk.call.tool) if desk.call is not None else None
    return desk.stage == "acting" and tool is not None and tool.retry_profile == "once"


def may_repeat(desk: Desk) -> bool:
    """Whether the open call may be made again although nobody knows what it came to."""
    flight = desk.flight if desk.busy else None
    if flight is None or desk.call is None or desk.whose != desk.call.call:
        return True
    untouched = flight.failure is not None and not flight.failure.dispatched
    return not flight.begun or untouched or is_harmless(flight)


def is_harmless(flight: Flight) -> bool:
    """Whether doing it twice is doing it once."""
    action = flight.plan.action
    repeatable = action.type in REPEATABLE or action.type in READING
    return repeatable and not flight.irreversible and not action.append


def claims(desk: Desk) -> bool:
    return desk.stage == "waiting" and desk.call is not None and desk.call.tool == "complete_task"


def gives_up(desk: Desk) -> bool:
    return claims(desk) and desk.call is not None and arguments_of(desk.call).status == "failed"


def arguments_of(call: ToolCalled) -> Logged:
    return msgspec.json.decode(call.arguments, type=Logged)


# -- what the caller is told -----------------------------------------------------------------------


def good_answer(desk: Desk, message: str = "") -> ToolAnswered | None:
    if desk.call is None:
        return None
    return ToolAnswered(desk.call.call, True, message=message)


def read_answer(desk: Desk, flight: Flight) -> ToolAnswered | None:
    """What was read. Of a text in pages it is said which one, and how many there are."""
    good, answer = good_answer(desk), flight.answered
    if good is None or answer is None:
        return good and msgspec.structs.replace(good, result=flight.extracted)
    said = []
    if flight.plan.action.type == "read_page" and answer.render_mode == "dom":
        which = f"page {flight.plan.action.page} of {answer.pages}"
        said = [which if answer.pages else "it says nothing"]
    said += ["not all of it could be read"] if answer.unread else []
    return ToolAnswered(
        good.call,
        True,
        message="; ".join(said),
        result=flight.extracted,
        pages=answer.pages,
        render_mode=answer.render_mode,
        pictures=answer.pictures,
    )


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
        said = missed.message if flight.plan.render_mode == "ghost" else said
        return bad_answer(desk, fault_of(missed.code).tool, said)
    if judged is None or judged.verdict == "confirmed":
        return read_answer(desk, flight)
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


def refusal_answer(desk: Desk, refused: ActionRejected | ActionWithheld) -> ToolAnswered:
    error = _refusal_error(desk, refused)
    # S3 1.6.3: what the person said goes back to the caller in these words.
    fed_back = error == "human_rejected" and desk.said
    return bad_answer(desk, error, f"User feedback: {desk.said}" if fed_back else refused.reason)


def _refusal_error(desk: Desk, refused: ActionRejected | ActionWithheld) -> ToolError:
    if isinstance(refused, ActionWithheld):
        return "policy_denied"
    if refused.rule == GHOST:
        return fault_of(refused.error).tool
    if refused.error == "human_rejected":
        return "human_rejected"
    if refused.error == "invalid_params":
        return "invalid_params"
    if refused.code == "policy_denied":
        return "policy_denied"
    by_ref = desk.call is not None and arguments_of(desk.call).ref is not None
    error = fault_of(refused.error).tool
    return "action_failed" if error == "ref_invalid" and not by_ref else error


def approval_answer(desk: Desk, word: ApprovalAnswered) -> ToolAnswered | None:
    if word.approved:
        return good_answer(desk, word.message)
    error: ToolError = "policy_denied" if word.by == "nobody" else "human_rejected"
    return bad_answer(desk, error, word.message)


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
