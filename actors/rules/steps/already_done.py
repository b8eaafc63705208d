"""Before repeating an irreversible step, check whether an earlier session already did it (E7).

Pure: a look is proposed where a step says how its result shows, and what it found is put in words.
Nothing here repeats anything; what no look can tell is left to a person.
"""

from collections.abc import Iterable

import msgspec

from rutter.actors.rules.pages.expected_changes import at_end
from rutter.actors.rules.steps.check_results import bound_back
from rutter.events.action import Action, ByRole, kind_of
from rutter.events.checks import HERE, ReadBack
from rutter.events.critic import ActionJudged, OutcomeUnknown
from rutter.events.executor import TargetChanged
from rutter.events.observer import PageObserved
from rutter.events.page import Page
from rutter.events.planner import PlanProposed, StepSettled
from rutter.events.predictor import StepDue
from rutter.events.runtime import SessionStarted
from rutter.events.validator import ActionRejected, ActionStarted
from rutter.events.vocabulary import AnyEvent
from rutter.events.workflow import Step, Workflow

# These leave nothing behind, wherever they lead.
LEAVES_NOTHING = frozenset({"navigate", "scroll", "hover", "wheel"})


class EarlierRunLooks(msgspec.Struct, frozen=True):
    """A session has looks: the one under way, and what came of those before it."""

    plan: PlanProposed | None = None
    settled: tuple[StepSettled, ...] = ()

    def is_of(self, step: int) -> bool:
        """Whether this is the number of the look under way."""
        return self.plan is not None and self.plan.step == step

    def of(self, index: int) -> StepSettled | None:
        return next((each for each in self.settled if each.index == index), None)


def evolve_settling(settling: EarlierRunLooks, event: AnyEvent) -> EarlierRunLooks:
    """The very same where the event is about something else."""
    match event:
        case PlanProposed(settles=index) if index >= 0:
            return msgspec.structs.replace(settling, plan=event)
        case StepSettled():
            return EarlierRunLooks(settled=(*settling.settled, event))
        case _:
            return settling


def look_for(
    started: SessionStarted,
    due: StepDue,
    settling: EarlierRunLooks,
    step: int,
    *,
    by_hand: bool = False,
) -> PlanProposed | None:
    """The look whether the session that this one continues did the step that is due, or one behind
    it; none where nothing says how it shows, or where that session was given other values. Or
    whether a person did, who had the wheel and may have done any of them."""
    continues = due.step.irreversible and bool(started.continues) and started.same_values
    taken_over = by_hand and (due.step.irreversible or bool(due.unmet))
    if not continues and not taken_over:
        return None
    index = _to_look_for(started, due, settling, all_of_it=taken_over)
    back = started.steps[index].after.read_back if index >= 0 else None
    if back is None:
        return None
    bound = bound_back(back, started.values)
    action = Action("navigate", url=bound.url, verify=bound.checks, aside=True)
    return PlanProposed(
        step=step,
        attempt=1,
        driver="workflow",
        action=action,
        reason=f"whether_step_{index + 1}_was_done_by_{started.continues or 'a_person'}",
        kind=kind_of(action),
        settles=index,
        source="earlier_run",
    )


def _to_look_for(
    started: SessionStarted, due: StepDue, settling: EarlierRunLooks, *, all_of_it: bool
) -> int:
    """The last step that may have been done and says how it shows: all before it was done with
    it. -1 where there is none that was not looked for yet."""
    steps = started.steps if all_of_it else started.steps[: started.done_before]
    return max(
        (
            place
            for place, each in enumerate(steps)
            if place >= due.index
            and each.irreversible
            and _is_somewhere(each.after.read_back)
            and settling.of(place) is None
        ),
        default=-1,
    )


def _is_somewhere(back: ReadBack | None) -> bool:
    """Whether it has an address of its own: wherever the step led then is not known now."""
    return back is not None and back.url != HERE


def settled_by(plan: PlanProposed, judged: ActionJudged) -> StepSettled:
    """What the look came to. Where nobody could look, nothing was seen either."""
    where = plan.action.url or "the page"
    if judged.verdict == "confirmed":
        return StepSettled(plan.settles, True, f"{where} shows it")
    if judged.verdict == "failed":
        return StepSettled(plan.settles, False, f"{where} does not show it ({judged.reason})")
    return StepSettled(plan.settles, False, f"{where} cannot tell ({judged.reason})")


def is_over(steps: tuple[Step, ...], index: int) -> bool:
    """Whether nothing is left behind this step that does or reads anything."""
    return all(step.action.type in LEAVES_NOTHING for step in steps[index + 1 :])


def done_by(started: SessionStarted, settling: EarlierRunLooks, index: int) -> str:
    """Why the run may end before the step of this place: all that matters was done by the session
    that it continues, and whatever is left only looks. Empty where it may not."""
    steps = started.steps
    final = [place for place, step in enumerate(steps[:index]) if step.irreversible]
    last = settling.of(final[-1]) if final else None
    if last is None or not last.done or not all(_only_looks(step) for step in steps[index:]):
        return ""
    left = f"; not repeated: steps {index + 1} to {len(steps)}" if index < len(steps) else ""
    return f"{in_words(started, last)}{left}"


def in_words(started: SessionStarted, settled: StepSettled) -> str:
    who = started.continues or "a person"
    return f"step {settled.index + 1} of {len(started.steps)} was done by {who}: {settled.reason}"


def _only_looks(step: Step) -> bool:
    """Reading, going and following links. Anything else may change something on the other side."""
    action = step.action
    if step.irreversible or action.dialogs:
        return False
    if kind_of(action) == "observation" or action.type in (*LEAVES_NOTHING, "check"):
        return True
    return action.type == "click" and _is_link(action)


def _is_link(action: Action) -> bool:
    target = action.target
    if target is None:
        return False
    known_by = target.fingerprint
    if known_by is not None and known_by.tag:
        return known_by.tag == "a" and known_by.role in ("", "link")
    return any(isinstance(each, ByRole) and each.role == "link" for each in target.strategies)


def doubt(started: SessionStarted, settled: StepSettled | None) -> str:
    """Why a person is asked about a step that an earlier session may have done."""
    who = started.continues or started.forked_from or "an earlier session"
    parts = [f"{who} may have done it already"]
    if started.left_off:
        parts.append(started.left_off)
    if settled is not None:
        parts.append(settled.reason)
    return "; ".join(parts)


# -- what an earlier session left ------------------------------------------------------------------


def under_way(open_now: tuple[ActionStarted, ...], event: AnyEvent) -> tuple[ActionStarted, ...]:
    """The actions that were started and of which no outcome is known, after this event."""
    match event:
        case ActionStarted():
            return (*_without(open_now, event.step), event)
        case ActionJudged() | OutcomeUnknown() | TargetChanged() | ActionRejected():
            return _without(open_now, event.step)
        case _:
            return open_now


def unknown_outcomes(open_now: tuple[ActionStarted, ...], why: str) -> list[OutcomeUnknown]:
    """What must be said of them where no decider can say it any more. A look leaves nothing."""
    return [
        OutcomeUnknown(each.step, each.attempt, f"{why} before its outcome was judged")
        for each in open_now
        if not each.action.aside
    ]


def _without(open_now: tuple[ActionStarted, ...], step: int) -> tuple[ActionStarted, ...]:
    return tuple(each for each in open_now if each.step != step)


def left_off(events: Iterable[AnyEvent], workflow: Workflow) -> str:
    """How the session was left, as far as it bears on what it may have done: what became of the
    last step that cannot be undone, and whether its last page was where the workflow ends."""
    page, final, verdict = Page(url="about:blank"), 0, ""
    values: dict[str, str] = {}
    places: dict[int, int] = {}
    aside = False
    for event in events:
        match event:
            case SessionStarted():
                values = event.values
            case PageObserved() if not aside:
                page = event.page
            case PlanProposed(step=step, index=index):
                places[step] = index + 1
            case ActionStarted(action=action, step=step, irreversible=irreversible):
                aside = action.aside
                final, verdict = (step, "") if irreversible else (final, verdict)
            case ActionJudged(step=step):
                aside = False
                verdict = event.verdict if step == final else verdict
            case _:
                pass
    which = f"step {places.get(final, 0) or final}"
    known = (
        f"its {which} was judged {verdict}" if verdict else f"the outcome of its {which} is unknown"
    )
    said = [known] if final else []
    if workflow.end.place is not None and not at_end(workflow.end, page, values):
        said.append("its last page was where the workflow ends")
    return ", ".join(said)
