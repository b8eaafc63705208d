"""A fork runs the first steps of an old session again, live, then goes on (G4); a run that
continues one begins anew and does nothing twice (E7).

What the old session did and cannot be undone is looked for or asked about again: neither is a
licence to do it twice. The Planner and the Validator see to that by `done_before`.
"""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from rutter.actors.logic_version import LOGIC
from rutter.actors.rules.policy.policy import DEFAULT_POLICY
from rutter.actors.rules.steps.already_done import left_off
from rutter.actors.rules.workflows.templates import told
from rutter.events.action import Action
from rutter.events.critic import ActionJudged, OutcomeUnknown
from rutter.events.envelope import Envelope
from rutter.events.errors import BadInput
from rutter.events.executor import ActionDone, ActionFailed, QueryAnswered
from rutter.events.planner import PlanProposed, RunStopped
from rutter.events.policy import Policy
from rutter.events.run_settings import Limits
from rutter.events.runtime import SessionEnded, SessionStarted
from rutter.events.signature import signature
from rutter.events.validator import ActionRejected, ActionStarted
from rutter.events.workflow import Step, Workflow
from rutter.pipeline.sessions.session_policy import fork_policy
from rutter.pipeline.sessions.session_started import check_bound


def fork_of(
    events: Sequence[Envelope],
    at: int,
    *,
    values: Mapping[str, str],
    secrets: Iterable[str],
    allow: Iterable[str] = (),
    free: bool = False,
    policy: Policy = DEFAULT_POLICY,
) -> SessionStarted:
    """A run goes on along its workflow; anything else, or `free`, wherever the model is sure."""
    old = _start_of(events)
    done = confirmed(events)
    if not 1 <= at <= len(done):
        raise BadInput(f"it has {len(done)} confirmed steps", "give --at from 1 to that")
    bound = set(secrets)
    new = msgspec.structs.replace(
        old,
        logic=LOGIC,
        policy=fork_policy(policy, old, allow, free=free or old.workflow is None),
        settings=msgspec.structs.replace(old.settings, dry_run=False),
        values={**old.values, **values},
        secrets=tuple(sorted(bound)),
        continues="",
        left_off="",
        same_values=False,
        row=None,
        forked_from=events[0].session,
        forked_at=at,
        done_before=started_before(events),
    )
    if new.workflow is None or free:
        return _freely(new, done[:at])
    check_bound(new.workflow, new.values, bound)
    return new


def _freely(started: SessionStarted, first: Sequence[Action]) -> SessionStarted:
    limits = Limits(max_steps=len(first) + Limits().max_steps)
    return msgspec.structs.replace(
        started,
        purpose="free",
        driver="prediction",
        workflow=None,
        script=tuple(Step(action=action) for action in first),
        settings=msgspec.structs.replace(started.settings, limits=limits),
    )


def continuing(started: SessionStarted, events: Sequence[Envelope]) -> SessionStarted:
    """The run as one that continues the session of these events. What that one may have done is
    looked for where it was given the same values: elsewhere it did something else. With the same
    ones it is for the same row, where that one was for any."""
    old = _start_of(events)
    assert started.workflow is not None
    return msgspec.structs.replace(
        started,
        continues=events[0].session,
        done_before=done_before(started.workflow, events),
        left_off=left_off((envelope.event for envelope in events), started.workflow),
        same_values=old.values == started.values,
        row=old.row if old.values == started.values else None,
    )


def check_continued(
    events: Sequence[Envelope], names: Iterable[str], workflow: Workflow
) -> SessionStarted:
    """The start of a session that a run of this workflow can continue."""
    old, session = _start_of(events), events[0].session
    if old.purpose != "run" or old.name not in set(names):
        what = f"{old.purpose} {old.name}".strip()
        raise BadInput(f"{session} is no run of {workflow.name!r} ({what})", "see: rutter sessions")
    ends = [each.event for each in events if isinstance(each.event, RunStopped | SessionEnded)]
    if ends and ends[0].reason == "completed":
        raise BadInput(f"{session} was completed", "it was completed; run it without --from")
    return old


def _start_of(events: Sequence[Envelope]) -> SessionStarted:
    start = events[0].event if events else None
    if not isinstance(start, SessionStarted):
        raise BadInput("that session has no start in the log", "see: rutter sessions")
    return start


def done_before(workflow: Workflow, events: Sequence[Envelope]) -> int:
    """How far along this version of the workflow the session may have done something. Where its
    steps are not the first ones of this version any more, that is anywhere."""
    reached = started_before(events)
    old = _start_of(events).workflow
    known = [signature(step.action) for step in old.steps[:reached]] if old is not None else []
    now = [signature(step.action) for step in workflow.steps[:reached]]
    return reached if known == now or not reached else len(workflow.steps)


def started_before(events: Iterable[Envelope]) -> int:
    """How far along its workflow the session began to act, or the one that it continues did: all
    of that may have happened."""
    reached, index = 0, -1
    for envelope in events:
        match envelope.event:
            case SessionStarted(done_before=before):
                reached = before
            case PlanProposed():
                index = envelope.event.index
            case ActionStarted():
                reached = max(reached, index + 1)
            case _:
                pass
    return reached


def left_open(events: Iterable[Envelope]) -> bool:
    """Whether something was started of which nobody knows how it ended: by what was recorded, or
    because the process died before anything could be. What cannot be undone and was sent may have
    happened, whatever the page showed, there or where its result was looked for."""
    running: dict[int, bool] = {}
    for envelope in events:
        match envelope.event:
            case OutcomeUnknown():
                return True
            case ActionStarted(step=step, irreversible=irreversible, action=action):
                if not action.aside:  # a look leaves nothing behind
                    running[step] = irreversible
            case ActionFailed(step=step, dispatched=False) if step in running:
                running[step] = False
            case ActionJudged(step=step, verdict=verdict):
                if running.pop(step, False) and verdict != "confirmed":
                    return True
            case ActionRejected(step=step):
                running.pop(step, None)
            case _:
                pass
    return bool(running)


def sent_something(events: Iterable[Envelope]) -> bool:
    """Whether it did something that cannot be undone, or may have."""
    sent: set[int] = set()
    for envelope in events:
        match envelope.event:
            case ActionStarted(step=step, irreversible=True):
                sent.add(step)
            case ActionFailed(step=step, dispatched=False):
                sent.discard(step)
            case _:
                pass
    return bool(sent)


def confirmed(events: Iterable[Envelope]) -> list[Action]:
    """What the session did and the Critic confirmed, and what it read, in order. A look at the
    result of a step is no step to be repeated."""
    done: list[Action] = []
    plan: PlanProposed | None = None
    for envelope in events:
        match envelope.event:
            case PlanProposed(read_back_of=0, settles=-1) as plan:
                pass
            case ActionDone(typed=typed):
                plan = told(plan, typed)
            case ActionJudged(step=step, verdict="confirmed") | QueryAnswered(step=step):
                done += [plan.action] if plan is not None and plan.step == step else []
            case _:
                pass
    return done
