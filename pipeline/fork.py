"""A new session that sails the first steps of an old one again, live, then goes on (G4).

What the old session did and cannot be undone is asked about again: a fork is not a licence to do it
twice (E7). The Validator sees to that by `done_before`.
"""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from actors.logic import LOGIC
from actors.policy import DEFAULT_POLICY
from actors.predictor.recording import told
from events.action import Action
from events.critic import ActionJudged, OutcomeUnknown
from events.envelope import Envelope
from events.errors import BadInput
from events.executor import ActionDone, ActionFailed, QueryAnswered
from events.planner import PlanProposed
from events.runtime import SessionStarted
from events.validator import ActionRejected, ActionStarted
from events.workflow import Limits, Policy, Step
from pipeline.launch import check_bound, with_hosts


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
    old = events[0].event if events else None
    if not isinstance(old, SessionStarted):
        raise BadInput("that session has no start in the log", "see: rutter sessions")
    done = confirmed(events)
    if not 1 <= at <= len(done):
        raise BadInput(f"it has {len(done)} confirmed steps", "give --at from 1 to that")
    bound = set(secrets)
    new = msgspec.structs.replace(
        old,
        logic=LOGIC,
        policy=msgspec.structs.replace(
            with_hosts(policy, (*old.policy.hosts, *allow)), folders=old.policy.folders
        ),
        settings=msgspec.structs.replace(old.settings, dry_run=False),
        values={**old.values, **values},
        secrets=tuple(sorted(bound)),
        continues="",
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


def started_before(events: Iterable[Envelope]) -> int:
    """How far along its workflow the session began to act: all of that may have happened."""
    reached, index = 0, -1
    for envelope in events:
        if isinstance(envelope.event, PlanProposed):
            index = envelope.event.index
        elif isinstance(envelope.event, ActionStarted):
            reached = max(reached, index + 1)
    return reached


def left_open(events: Iterable[Envelope]) -> bool:
    """Whether something was started of which nobody knows how it ended: by what was recorded, or
    because the process died before anything could be. What cannot be undone and was sent may have
    happened, whatever the page showed."""
    running, sent = False, False
    for envelope in events:
        match envelope.event:
            case OutcomeUnknown():
                return True
            case ActionStarted(irreversible=irreversible):
                running, sent = True, irreversible
            case ActionFailed(dispatched=False):
                sent = False
            case ActionJudged(verdict=verdict):
                if sent and verdict != "confirmed":
                    return True
                running = False
            case ActionRejected():
                running = False
            case _:
                pass
    return running


def confirmed(events: Iterable[Envelope]) -> list[Action]:
    """What the session did and the Critic confirmed, and what it read, in order. A look at the
    result of a step is no step to be repeated."""
    done: list[Action] = []
    plan: PlanProposed | None = None
    for envelope in events:
        match envelope.event:
            case PlanProposed(read_back_of=0) as plan:
                pass
            case ActionDone(typed=typed):
                plan = told(plan, typed)
            case ActionJudged(step=step, verdict="confirmed") | QueryAnswered(step=step):
                done += [plan.action] if plan is not None and plan.step == step else []
            case _:
                pass
    return done
