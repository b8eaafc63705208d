"""A pause stops every decider of a session from beginning anything new (spec J).

`SessionResumed` alone does not end that: what a person did in the window meanwhile is only known
when the page was looked at anew, so it is held until the very look that the Planner asked for then.
A look that was under way before says nothing about it.
"""

import msgspec

from rutter.events.envelope import Envelope
from rutter.events.observer import PageObserved
from rutter.events.planner import ObservationRequested
from rutter.events.runtime import SessionPaused, SessionResumed, SessionStarted

RULE = "paused"  # of a step that was let go: it was proposed, and had not begun
HAD_THE_WHEEL = "a person had the wheel"


class Pause(msgspec.Struct, frozen=True):
    """A pause holds until the look behind it; `look` is the number of what asked for that."""

    holds: bool = False
    by: str = ""
    resumed: bool = False
    look: int = 0


NONE = Pause()


def evolve_pause(pause: Pause, envelope: Envelope) -> Pause:
    """The very same where the event is about something else."""
    match envelope.event:
        case SessionPaused(by=by):
            return Pause(holds=True, by=by)
        case SessionResumed() if pause.holds:
            return msgspec.structs.replace(pause, resumed=True)
        case ObservationRequested(why="resumed") if pause.resumed:
            return msgspec.structs.replace(pause, look=envelope.n)
        case PageObserved() if pause.look and envelope.cause == pause.look:
            return NONE
        case _:
            return pause


def hands_over(before: Pause, after: Pause, started: SessionStarted) -> bool:
    """Whether a person may have had the wheel until now: without a window nobody has."""
    return before.holds and not after.holds and started.headed
