"""The spans of a run say where its time went, from its log alone: nothing is instrumented."""

from collections.abc import Iterable
from typing import NamedTuple

from rutter.events.critic import PageAssessed, ReadBackDue
from rutter.events.envelope import Envelope
from rutter.events.executor import ActionDone, TargetResolved
from rutter.events.observer import PageObserved
from rutter.events.planner import ObservationRequested, PlanProposed
from rutter.events.predictor import PredictionMade, StepDue
from rutter.events.runtime import SessionStarted
from rutter.events.validator import ActionStarted, PlanAdmitted

# In the order in which they happen in a step.
PHASES = ("open", "decide", "resolve", "judge", "make durable", "act", "observe")


class Span(NamedTuple):
    """A span is a phase of a step, `what`; `action` is the type of its action, if it is an act."""

    what: str
    action: str
    ms: float


def spans_of(events: Iterable[Envelope]) -> list[Span]:
    """Every phase of every step of one session, in order; together they are its time."""
    found: list[Span] = []
    action = "start"
    last_ns = observed_ns = assessed_ns = 0
    for envelope in events:
        now_ns, event = envelope.at_ns, envelope.event
        match event:
            case SessionStarted():
                last_ns = now_ns
                continue
            case PageAssessed():
                assessed_ns = now_ns
                continue
            case StepDue() | PredictionMade():
                found.append(Span("prediction", action, ms(now_ns - assessed_ns)))
                continue
            case PlanProposed():
                action = event.action.type
                found.append(Span("decision", action, ms(now_ns - observed_ns)))
                continue
            case PageObserved(why=why):
                observed_ns = now_ns
                # The first look waits for the context and its page to open.
                phase = "open" if why == "start" else "observe"
                found.append(Span(phase, action, ms(now_ns - last_ns)))
            case PlanAdmitted():
                found.append(Span("decide", action, ms(now_ns - last_ns)))
            case TargetResolved():
                found.append(Span("resolve", action, ms(now_ns - last_ns)))
            case ActionStarted():
                # What needs no element is judged in the turn that decided it.
                unresolved = last_ns == observed_ns
                found.append(
                    Span("decide" if unresolved else "judge", action, ms(now_ns - last_ns))
                )
            case ActionDone(took_us=took_us):
                # The Executor's own time is in its report: what came before it was the disk.
                act_ns = took_us * 1_000
                found.append(Span("make durable", action, ms(now_ns - act_ns - last_ns)))
                found.append(Span("act", action, ms(act_ns)))
            case _:
                continue
        last_ns = now_ns
    return found


def read_backs_ms(events: Iterable[Envelope]) -> float:
    """What a session spent on looking where a result must show: from the moment that it is due
    until the page that it was left for has been seen again."""
    total_ns = began_ns = 0
    over = False
    for envelope in events:
        match envelope.event:
            case ReadBackDue():
                began_ns = envelope.at_ns
            case ObservationRequested(why="aside_over"):
                over = True
            case PageObserved() if over:
                total_ns += envelope.at_ns - began_ns
                over = False
    return ms(total_ns)


def ms(ns: float) -> float:
    return ns / 1e6
