"""A fork runs the first steps of an old session again, live, then goes on (G4); a run that
continues one begins anew and does nothing twice (E7).

What the old session did and cannot be undone is looked for or asked about again: neither is a
licence to do it twice. The Planner and the Validator see to that by `done_before`.
"""

from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from rutter.actors.logic_version import LOGIC
from rutter.actors.rules.policy.policy import DEFAULT_POLICY
from rutter.actors.rules.steps.already_done import left_off
from rutter.events.action import Action, Text
from rutter.events.envelope import Envelope
from rutter.events.errors import BadInput
from rutter.events.planner import RunStopped
from rutter.events.policy import Policy
from rutter.events.run_settings import Limits
from rutter.events.runtime import SessionEnded, SessionStarted
from rutter.events.signature import signature
from rutter.events.workflow import Step, Workflow
from rutter.pipeline.sessions.session_policy import fork_policy
from rutter.pipeline.sessions.session_started import check_bound
from rutter.replay.steps import SessionSteps, steps_in


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
    session = steps_in(events)
    done = confirmed(session)
    if not 1 <= at <= len(done):
        raise BadInput(f"it has {len(done)} confirmed steps", "give --at from 1 to that")
    bound = set(secrets)
    new = replace(
        old,
        logic=LOGIC,
        policy=fork_policy(policy, old, allow, free=free or old.workflow is None),
        settings=replace(old.settings, dry_run=False),
        values={**old.values, **values},
        secrets=tuple(sorted(bound)),
        continues="",
        left_off="",
        same_values=False,
        row=None,
        forked_from=events[0].session,
        forked_at=at,
        done_before=started_before(session),
    )
    if new.workflow is None or free:
        return _freely(new, done[:at])
    check_bound(new.workflow, new.values, bound)
    return new


def _freely(started: SessionStarted, first: Sequence[Action]) -> SessionStarted:
    limits = Limits(max_steps=len(first) + Limits().max_steps)
    return replace(
        started,
        purpose="free",
        driver="prediction",
        workflow=None,
        script=tuple(Step(action=action) for action in first),
        settings=replace(started.settings, limits=limits),
    )


def continuing(started: SessionStarted, events: Sequence[Envelope]) -> SessionStarted:
    """The run as one that continues the session of these events. What that one may have done is
    looked for where it was given the same values: elsewhere it did something else. With the same
    ones it is for the same row, where that one was for any."""
    old = _start_of(events)
    assert started.workflow is not None
    return replace(
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
    reached = started_before(steps_in(events))
    old = _start_of(events).workflow
    known = [signature(step.action) for step in old.steps[:reached]] if old is not None else []
    now = [signature(step.action) for step in workflow.steps[:reached]]
    return reached if known == now or not reached else len(workflow.steps)


def started_before(session: SessionSteps) -> int:
    """How far along its workflow the session began to act, or the one that it continues did: all
    of that may have happened."""
    reached = session.started.done_before if session.started is not None else 0
    index = -1
    for step in session.steps.values():
        index = index if step.erased else step.index  # at least as far as the one before it
        reached = max(reached, index + 1 if step.started_ns else 0)
    return reached


def confirmed(session: SessionSteps) -> list[Action]:
    """What the session did and the Critic confirmed, and what it read, in order. A look at the
    result of a step is no step to be repeated."""
    return [
        step.action if step.typed is None else replace(step.action, value=Text(step.typed))
        for step in session.steps.values()
        if step.done and step.driver != "person" and not step.read_back_of and step.settles < 0
    ]
