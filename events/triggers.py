"""Triggers start runs by themselves: schedules, and hooks that other programs call."""

from typing import Literal

from rutter.events.event import Event
from rutter.events.jobs import Overlap, Run

# What came due while no process was there to run it: nothing, or the last of it once.
Missed = Literal["skip", "once"]


class ScheduleSet(Event, frozen=True, tag="ScheduleSet"):
    """A schedule runs this whenever the clock of `zone` is at `cron`. The same name again replaces
    what it was. `rows` is a file: then it is run for each row that is not done yet, or for each
    row `afresh`."""

    name: str
    cron: str
    run: Run
    by: str
    zone: str = "UTC"
    overlap: Overlap = "skip"
    missed: Missed = "skip"
    rows: str = ""
    afresh: bool = False


class ScheduleDropped(Event, frozen=True, tag="ScheduleDropped"):
    name: str
    by: str


class HookSet(Event, frozen=True, tag="HookSet"):
    """A hook lets whoever shows the token of this digest have this run, with values for
    `parameters` and for nothing else. The token itself is in no event."""

    name: str
    run: Run
    by: str
    sha256: str
    parameters: tuple[str, ...] = ()
    overlap: Overlap = "queue"


class HookDropped(Event, frozen=True, tag="HookDropped"):
    name: str
    by: str
