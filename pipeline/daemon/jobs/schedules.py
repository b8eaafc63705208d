"""A schedule runs something by the clock.

What there is, and which tick of it was run, is the fold of the log, so a tick is run once, also
across a restart and whatever the system's clock does. When that jumps, or the machine sleeps, what
came due meanwhile was missed: at most the last of it is run, never all of it.
"""

import re
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path

import anyio
import msgspec

from rutter.actors.rules.text.secret_words import asks_for_a_secret
from rutter.events.envelope import Envelope, kind
from rutter.events.errors import BadInput
from rutter.events.jobs import JobQueued, Overlap, Run, RunWorkflow
from rutter.events.triggers import Missed, ScheduleDropped, ScheduleSet
from rutter.events.vocabulary import AnyEvent
from rutter.pipeline.clock import Clock
from rutter.pipeline.daemon.jobs.cron import SECOND_NS, Ran, Ticks
from rutter.pipeline.daemon.jobs.jobs import Conflict, Jobs
from rutter.pipeline.daemon.jobs.known_triggers import KnownTriggers
from rutter.pipeline.runtime.cut_short import cut_short_by

KINDS = (kind(ScheduleSet), kind(ScheduleDropped), kind(JobQueued))
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
LOOK_S = 30  # at least so often: a clock that is set, or a machine that slept, wakes nobody
RunRows = Callable[[ScheduleSet, str], Awaitable[None]]  # the key of the tick
LATE_S = 60  # a busy machine; what is found later than this was missed


class NoSuchSchedule(BadInput):
    """No schedule has that name."""

    code = "no_such_schedule"

    def __init__(self, name: str) -> None:
        super().__init__(f"there is no schedule {name!r}", "see: rutter schedule list")


class Schedule(msgspec.Struct, frozen=True):
    """A schedule runs something; `problem` is why it is never due on this machine."""

    told: ScheduleSet
    ticks: Ticks | None
    problem: str = ""

    @property
    def name(self) -> str:
        return self.told.name

    def next_ns(self, now_ns: int) -> int | None:
        return self.ticks.after(now_ns) if self.ticks is not None else None


class ScheduleWish(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A request wants this schedule. `rows` is the whole path of a file on the daemon's machine."""

    cron: str
    run: Run
    zone: str = "UTC"
    overlap: Overlap = "skip"
    missed: Missed = "skip"
    rows: str = ""
    afresh: bool = False


class ScheduleTold(msgspec.Struct, frozen=True):
    """A schedule is told to others like this; `next` is in UTC, and empty when it is never due."""

    name: str
    cron: str
    zone: str
    run: Run
    overlap: Overlap
    missed: Missed
    rows: str
    afresh: bool
    by: str
    next: str
    problem: str


def told(schedule: Schedule, now_ns: int) -> ScheduleTold:
    due = schedule.next_ns(now_ns)
    return ScheduleTold(
        **msgspec.structs.asdict(schedule.told),
        next=_written(due) if due is not None else "",
        problem=schedule.problem,
    )


class Timetable(KnownTriggers[Schedule]):
    """The timetable has every schedule, and which of its ticks were run: the fold of the log."""

    no_such = NoSuchSchedule

    def __init__(self) -> None:
        super().__init__()
        self._ran: dict[str, Ran] = {}  # also of what was dropped: it may be set again

    def hear(self, envelope: Envelope) -> None:
        match envelope.event:
            case ScheduleSet() as told:
                self.put(told.name, _schedule(told))
            case ScheduleDropped(name=name):
                self.put(name, None)
            case JobQueued(trigger="schedule", key=key):
                name, _, tick = key.partition("#")[0].rpartition("@")
                self.note_run(name, _ns_of(tick))
            case _:
                return

    def note_run(self, name: str, tick: int) -> None:
        self._ran.setdefault(name, Ran()).add(tick)

    def was_run(self, name: str, tick: int) -> bool:
        return name in self._ran and self._ran[name].has(tick)


def schedule_of(name: str, wish: ScheduleWish, now_ns: int, *, by: str) -> Schedule:
    """Raises `BadInput` for what could never be run."""
    check_name(name)
    check_values(wish.run)
    if wish.rows and not (isinstance(wish.run, RunWorkflow) and Path(wish.rows).is_absolute()):
        raise BadInput("rows are a workflow's, in a file with its whole path", "name both")
    asked = msgspec.structs.asdict(wish) | {"cron": " ".join(wish.cron.split())}
    ticks = Ticks(wish.cron, wish.zone)
    if ticks.after(now_ns) is None:
        raise BadInput(f"{wish.cron!r} never comes", "name a day that there is")
    return Schedule(ScheduleSet(name, by=by, **asked), ticks)


class Schedules(Timetable):
    """Schedules are made before the first event is heard; `run` submits what comes due."""

    def __init__(
        self,
        say: Callable[[AnyEvent], Awaitable[None]],
        jobs: Jobs,
        clock: Clock,
        run_rows: RunRows,
    ) -> None:
        super().__init__()
        self._say = say
        self._jobs = jobs
        self._clock = clock
        self._run_rows = run_rows
        self._since: dict[str, int] = {}  # up to where each was looked at

    def hear(self, envelope: Envelope) -> None:
        super().hear(envelope)
        if isinstance(envelope.event, ScheduleSet):
            self._since[envelope.event.name] = envelope.at_ns

    # -- for callers ---------------------------------------------------------------------------

    async def set(self, name: str, wish: ScheduleWish, *, by: str) -> Schedule:
        """On disk when this returns."""
        made = schedule_of(name, wish, self._clock.now_ns(), by=by)
        found = await self.until_heard(name, self._say(made.told))
        return found or made  # dropped again by somebody else

    async def drop(self, name: str, by: str) -> Schedule:
        dropped = self.find(name)
        await self.until_heard(name, self._say(ScheduleDropped(name, by)))
        return dropped

    # -- running them --------------------------------------------------------------------------

    async def run(self) -> None:
        """Submits what comes due, until cancelled."""
        now = self._clock.now_ns()
        for schedule in self.all():
            if schedule.told.missed == "skip":
                self._since[schedule.name] = now
        async with anyio.create_task_group() as group:
            while True:
                changed = self.changed
                now = self._clock.now_ns()
                for schedule in self.all():
                    tick = self._due(schedule, now)
                    if tick is not None:
                        self.note_run(schedule.name, tick)
                        group.start_soon(self._submit, schedule.told, tick)
                await self._rest(now, changed)

    def _due(self, schedule: Schedule, now: int) -> int | None:
        """The last tick since the last look, if it was not run and is not too late."""
        name = schedule.name
        # A clock that was set back shows some of it again, from the next look on.
        since, self._since[name] = self._since[name], now
        tick = schedule.ticks.last(since, now) if schedule.ticks is not None else None
        if tick is None or self.was_run(name, tick):
            return None
        late = now - tick > LATE_S * SECOND_NS
        return None if late and schedule.told.missed == "skip" else tick

    async def _submit(self, told: ScheduleSet, tick: int) -> None:
        key = f"{told.name}@{_written(tick)}"
        if told.rows:
            await self._run_rows(told, key)
            return
        try:
            await self._jobs.submit(
                told.run, by=by(told), trigger="schedule", key=key, overlap=told.overlap
            )
        except Conflict:
            return  # this tick was run, as something else that had this name

    async def _rest(self, now: int, changed: anyio.Event) -> None:
        """Until something is due, or a schedule is another one, or it is time to look at the
        clock."""
        following = [schedule.next_ns(now) for schedule in self.all()]
        until = min([each for each in following if each is not None], default=now)
        wait_ns = until - self._clock.now_ns() if until > now else LOOK_S * SECOND_NS
        wait_ms = max(1, min(LOOK_S * 1_000, -(-wait_ns // 1_000_000)))
        async with cut_short_by(changed.wait):
            await self._clock.sleep_ms(wait_ms)


def by(told: ScheduleSet) -> str:
    return f"schedule {told.name}"


# -- what is said of a trigger ---------------------------------------------------------------------


def check_name(name: str) -> None:
    if not NAME.fullmatch(name):
        raise BadInput(
            f"{name[:64]!r} is no name for it",
            "write letters, digits, dots, dashes; it begins with a letter or a digit",
        )


def is_text(value: object) -> bool:
    """Half of a pair of surrogates is none: the log could not hold it."""
    return isinstance(value, str) and not any("\ud800" <= each <= "\udfff" for each in value)


def check_values(run: Run, parameters: tuple[str, ...] = ()) -> None:
    """What is bound here is written into the log, so it cannot be a secret."""
    if not all(map(is_text, run.values.values())):
        raise BadInput("one of the values is not a text", "send Unicode")
    for name in (*run.values, *parameters):
        if not name.isidentifier():
            raise BadInput(f"{name[:64]!r} is no parameter", "name it as the workflow does")
        if asks_for_a_secret(name):
            raise BadInput(
                f"{name!r} sounds like a secret, and a parameter is written into the log",
                f"say where it comes from in the configuration: [secrets.{name}]",
            )


def _schedule(told: ScheduleSet) -> Schedule:
    """A zone that is known where it was set may not be here: the others are run all the same."""
    try:
        return Schedule(told, Ticks(told.cron, told.zone))
    except BadInput as error:
        return Schedule(told, None, str(error))


def _written(tick: int) -> str:
    return datetime.fromtimestamp(tick // SECOND_NS, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _ns_of(written: str) -> int:
    try:
        return round(datetime.fromisoformat(written).timestamp()) * SECOND_NS
    except ValueError:
        return 0  # not a key of ours
