"""The Planner has a page read from a picture of it: which step does, and who is asked (S4 W8)."""

from collections.abc import Iterable

import msgspec

from rutter.actors.planner.run import AnyRun, Run
from rutter.actors.rules.steps.ghost import is_asked_again, is_of_ghost, question_of, reader_for
from rutter.actors.rules.tools.picture_prompts import ALL_TEXT
from rutter.events.advisor import AdviceFailed, AdviceLost, AdviceReceived
from rutter.events.planner import AdviceRequested, PlanProposed, RunStopped
from rutter.events.validator import QueryStarted
from rutter.events.vocabulary import AnyEvent

GhostAdvice = AdviceRequested | AdviceReceived | AdviceFailed | AdviceLost


def about_ghost(event: AnyEvent) -> GhostAdvice | None:
    """What is asked and answered about a picture. It is no advice on what to do: of the questions
    that a run puts to its models, none is this."""
    return event if isinstance(event, GhostAdvice) and is_of_ghost(event.request) else None


def evolve_ghost(run: AnyRun, advice: GhostAdvice) -> AnyRun:
    reading = advice.request if isinstance(advice, AdviceRequested) else ""
    return msgspec.structs.replace(run, reading=reading)


def read_from_picture(run: Run, event: AnyEvent) -> Iterable[AdviceRequested]:
    """The question, and the same once more where that may help."""
    plan = run.plan
    if plan is None:
        return
    match event:
        case QueryStarted(render_mode="ghost", step=plan.step):
            yield _question(run, plan, 1)
        case AdviceFailed(transient=transient, request=request):
            if request == question_of(plan.step) and is_asked_again(1, transient=transient):
                yield _question(run, plan, 2)
        case _:
            return


def _question(run: Run, plan: PlanProposed, attempt: int) -> AdviceRequested:
    reader = reader_for(run.started.settings.ghost, plan.driver, plan.action)
    return AdviceRequested(
        question_of(plan.step, attempt),
        "ghost",
        reader.provider,
        reader.model,
        attempt,
        plan.step,
        note=plan.action.prompt or ALL_TEXT,
    )


def left_unread(run: Run, decided: AnyEvent) -> AdviceLost | None:
    """The question that a run leaves open when it stops."""
    stops = isinstance(decided, RunStopped) and run.reading
    return AdviceLost(run.reading) if stops else None
