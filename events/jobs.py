"""A job says what to run and what became of it: a daemon takes it on, one session each."""

from typing import Literal

import msgspec

from rutter.events.causes import Cause
from rutter.events.event import Event
from rutter.events.rows import BatchRow
from rutter.events.runtime import Failure, StopReason

# `skipped`: another one of its kind was running. `refused`: it could not even begin.
JobEnd = StopReason | Literal["skipped", "refused"]
Trigger = Literal["api", "schedule", "hook", "mcp"]
# While one of its kind waits or runs, another is not run, waits for its turn, or runs beside it.
Overlap = Literal["skip", "queue", "allow"]


class RunWorkflow(
    msgspec.Struct, frozen=True, omit_defaults=True, tag_field="kind", tag="workflow"
):
    """This run follows a recorded workflow: its newest version, unless one is named. `row` is the
    one of a file that it is for, where it is one run of many."""

    workflow: str
    version: int = 0
    values: dict[str, str] = msgspec.field(default_factory=dict)
    dry_run: bool = False
    row: BatchRow | None = None
    allow_ghost: bool = False


class RunFree(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="kind", tag="free"):
    """This run starts at an address and acts wherever what was learned is sure."""

    url: str
    values: dict[str, str] = msgspec.field(default_factory=dict)
    success: tuple[str, ...] = ()
    dry_run: bool = False
    allow_ghost: bool = False


class RunGoal(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="kind", tag="agent_run"):
    """A language model leads this run to a goal; its steps are then known as `name`."""

    goal: str
    url: str = ""
    name: str = ""
    service: str = ""
    success: tuple[str, ...] = ()
    values: dict[str, str] = msgspec.field(default_factory=dict)
    dry_run: bool = False
    allow_ghost: bool = False


Run = RunWorkflow | RunFree | RunGoal


class JobQueued(Event, frozen=True, tag="JobQueued"):
    """The daemon took a job on: it is run, or ended, whatever becomes of the process. `key` is the
    caller's name for it: once more is the same job. `skipped` says why it is not run at all."""

    job: str
    run: Run
    by: str
    trigger: Trigger = "api"
    key: str = ""
    overlap: Overlap = "queue"
    skipped: str = ""


class JobStarted(Event, frozen=True, tag="JobStarted"):
    job: str
    session: str


class JobEnded(Event, frozen=True, tag="JobEnded"):
    job: str
    reason: JobEnd
    failure: Failure = ""
    detail: str = ""
    session: str = ""
    cause: Cause | None = None
