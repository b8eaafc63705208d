"""A barred run meets a page that keeps it out or shows nothing: this is told in what it decides."""

import msgspec

from rutter.actors.planner.run import Run
from rutter.events.tools import ToolAnswered
from rutter.events.vocabulary import AnyEvent


def with_barrier(run: Run, decided: AnyEvent) -> AnyEvent:
    """A caller of tools is told what the page in front is, whatever its call came to."""
    if run.barrier is None or not isinstance(decided, ToolAnswered):
        return decided
    return msgspec.structs.replace(decided, barrier=run.barrier)
