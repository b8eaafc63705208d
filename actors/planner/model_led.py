"""A conversation that a language model leads by calling tools (C4, S3 1.4): what is asked when.

The Planner's part beside `tool_led`, which does what is called. A page where somebody signs in is
never shown to the model; what is known of the service goes on there, and wherever there is none.
"""

import re
from collections.abc import Iterable

import msgspec

from rutter.actors.planner.expired_login import LoginsInUse, evolve_aboard, signed_out
from rutter.actors.planner.provider_choice import (
    NEVER_SHOWN,
    ProviderChoice,
    evolve_asking,
    open_asking,
    request,
)
from rutter.actors.rules.steps.service_script import (
    ScriptProgress,
    evolve_going,
    gone,
    next_of_way,
    way_here,
)
from rutter.events.advisor import AdviceFailed, AdviceLost, AdviceReceived, WantedCall
from rutter.events.critic import ActionJudged, CompletionChecked, PageAssessed
from rutter.events.observer import PageObserved
from rutter.events.planner import AdviceRequested, CheckpointReached, PlanProposed, RunStopped
from rutter.events.runtime import SessionResumed, SessionStarted
from rutter.events.tools import CompletionClaimed, ToolAnswered, ToolCalled
from rutter.events.validator import CheckpointPassed
from rutter.events.vocabulary import AnyEvent

TO_COMPLETE = (
    "You called no tool. Call complete_task if the goal is achieved or cannot be achieved, "
    "or the next tool if it can."
)
NO_MORE = "No step is left. Call complete_task: say whether the goal is achieved."
MOST_SILENT = 2  # answers without a call, in a row
# Calls that are steps on the page; all others look, ask or end.
STEPS = frozenset({"browser_click", "browser_fill", "browser_select", "navigate", "press"})
OPENING = "opening"  # the reason of the step that a session begins with


class ModelLead(msgspec.Struct, frozen=True):
    """Where such a session is. `failures` are answers in a row that told of one; `turning`: what
    its call came to was just said, and the next question follows from that alone."""

    started: SessionStarted
    asking: ProviderChoice | None = None
    going: ScriptProgress = ScriptProgress()
    turns: int = 0
    silent: int = 0
    failures: int = 0
    recent: tuple[tuple[str, str, str], ...] = ()
    by_hand: bool = False
    hands: int = 0
    claimed: bool = False
    asks_page: bool = False
    turning: bool = False
    closing: bool = False
    aboard: LoginsInUse = LoginsInUse()

    @property
    def waits(self) -> bool:
        """Whether it is somebody else's turn: the model's, a person's in the window, the page's."""
        asked = self.asking is not None and self.asking.waiting
        return asked or self.by_hand or self.asks_page or self.closing


def open_lead(started: SessionStarted) -> ModelLead | None:
    return ModelLead(started, open_asking(started)) if started.driver == "model" else None


def evolve_lead(lead: ModelLead, event: AnyEvent) -> ModelLead:
    change = msgspec.structs.replace
    if lead.asking is not None and isinstance(
        event, AdviceRequested | AdviceReceived | AdviceFailed | AdviceLost
    ):
        lead = change(lead, asking=evolve_asking(lead.asking, event))
    if (aboard := evolve_aboard(lead.aboard, event)) is not lead.aboard:
        lead = change(lead, aboard=aboard)
    if isinstance(event, AdviceRequested | PlanProposed | CompletionClaimed | CheckpointReached):
        lead = change(lead, turning=False)
    match event:
        case AdviceReceived(ending=ending, calls=calls):
            silent = 0 if calls or ending == "refused" else lead.silent + 1
            return change(lead, turns=lead.turns + 1, silent=silent)
        case PageObserved() | PageAssessed() | PlanProposed():
            return change(lead, going=evolve_going(lead.going, event, lead.started))
        case ToolCalled(tool=tool, arguments=arguments):
            made = (tool, _plain(arguments), lead.going.page.digest)
            recent = (*lead.recent, made)[-lead.started.settings.limits.max_same :]
            return change(lead, claimed=tool == "complete_task", recent=recent)
        case CompletionClaimed(call=call):
            return change(lead, claimed=True, asks_page=not call)
        case ToolAnswered(success=success):
            failures = 0 if success else lead.failures + 1
            return change(lead, failures=failures, closing=success and lead.claimed)
        case CheckpointReached():
            return change(lead, by_hand=True, hands=lead.hands + 1, failures=0)
        case CheckpointPassed():
            return change(lead, by_hand=False)
        case SessionResumed():
            return change(lead, turning=False)  # the next look leads on, whatever was said before
        case _:
            return lead


def went(lead: ModelLead, judged: ActionJudged) -> ModelLead:
    """One action of the service's way is over."""
    return msgspec.structs.replace(lead, going=gone(lead.going, judged))


def lead_on(lead: ModelLead, step: int) -> Iterable[AnyEvent]:
    """What comes next, now that nothing is under way."""
    if (over := _over(lead, step)) is not None:
        yield over
    elif lead.going.state in NEVER_SHOWN:
        yield _alone(lead, step) or _sign_in(lead, step)
    else:
        yield _asked(lead, step) or _alone(lead, step) or _at_its_end(lead) or _nobody(lead, step)


def _at_its_end(lead: ModelLead) -> CompletionClaimed | None:
    """Where nobody can say that it is done, the page is asked (D5), once."""
    if lead.claimed:
        return None
    return CompletionClaimed("", "success", f"the page is {lead.going.state}")


def ended(lead: ModelLead, checked: CompletionChecked, step: int) -> RunStopped:
    """What the page says where nobody else does."""
    if checked.verified:
        return RunStopped("completed", "", checked.reason, step)
    return _nobody(lead, step)


def heard(lead: ModelLead, advice: AdviceReceived, step: int) -> Iterable[AnyEvent]:
    """What follows from an answer: its first call and no other (S3 1.4.3)."""
    if advice.ending == "refused":
        yield from lead_on(lead, step)
    elif advice.calls and _loops(lead, advice.calls[0]):
        said = f"the same call on the same page: {advice.calls[0].tool}"
        yield RunStopped("no_op_loop", "", said, step)
    elif advice.calls and not _is_left(lead, advice.calls[0], step):
        yield RunStopped("max_steps", "", f"{step} steps were taken", step)
    elif advice.calls:
        first = advice.calls[0]
        yield ToolCalled(first.call, first.tool, first.arguments, "model", invalid=first.invalid)
    elif lead.silent >= MOST_SILENT:
        yield RunStopped("no_op_loop", "", f"{lead.silent} answers without a call", step)
    else:
        yield from lead_on(lead, step)


def _is_left(lead: ModelLead, call: WantedCall, step: int) -> bool:
    """Whether the limit of steps leaves room for this: what is no step always has it (E6)."""
    return step < lead.started.settings.limits.max_steps or call.tool not in STEPS


def _loops(lead: ModelLead, call: WantedCall) -> bool:
    """E6: what was called as often as it may be, and the page is still what it was."""
    latest = (call.tool, _plain(call.arguments), lead.going.page.digest)
    enough = len(lead.recent) >= lead.started.settings.limits.max_same
    return enough and all(made == latest for made in lead.recent)


def _plain(arguments: str) -> str:
    """Without the numbers of what is typed: each is another, and the text may be the same."""
    return re.sub(r'"typed":\d+', '"typed":0', arguments)


def _over(lead: ModelLead, step: int) -> RunStopped | CheckpointReached | None:
    """E6, each turn: steps, turns, and failures, after which a person is asked who has a window."""
    limits = lead.started.settings.limits
    if step > limits.max_steps:
        return RunStopped("max_steps", "", f"{step} steps were taken", step)
    if lead.turns >= limits.max_turns:
        said = f"max_turns_exceeded: {lead.turns} answers of a model"
        return RunStopped("max_turns_exceeded", "", said, step)
    if lead.failures < limits.max_failures:
        return None
    why = f"{lead.failures} calls failed, one after the other"
    if lead.started.headed and not lead.hands:
        return CheckpointReached("unknown", step + 1, why)
    return RunStopped("max_failures", "", why, step)


def _asked(lead: ModelLead, step: int) -> AdviceRequested | None:
    note = TO_COMPLETE if lead.silent else ""
    if step >= lead.started.settings.limits.max_steps:
        note = NO_MORE
    return request(lead.asking, AdviceRequested("", "act", "", note=note))


def _alone(lead: ModelLead, step: int) -> PlanProposed | RunStopped | None:
    """The next action of the service's own way here; nothing, where it knows none."""
    way = way_here(lead.going, lead.started)
    if way is not None and not way.actions:
        return RunStopped("failed", "", way.why, step)
    return next_of_way(lead.going, lead.started, step + 1)


def _sign_in(lead: ModelLead, step: int) -> CheckpointReached | RunStopped:
    why = (
        signed_out(lead.aboard, lead.started.url)
        if lead.going.state == "LOGIN_REQUIRED"
        else "there is no page yet"
    )
    if lead.started.headed and not lead.hands:
        return CheckpointReached("login", step + 1, why)
    return RunStopped("policy_denied", "needs_person", why, step)


def _nobody(lead: ModelLead, step: int) -> RunStopped:
    if lead.asking is None:
        why = f"no model may be asked, and nothing is known of a page that is {lead.going.state}"
        return RunStopped("failed", "lost", why, step)
    return RunStopped("failed", "model_unavailable", lead.asking.failed, step)
