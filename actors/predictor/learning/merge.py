"""A merge makes one version of a workflow of which both its recordings are runs (decision 019).

What one of them lacks is optional from then on; where each has something else between two steps
that both have, these are two branches of a fork. Recordings that differ in more than that are two
workflows, and are not merged. Merging one with itself, or twice, changes nothing.

Where both would do, a run does what was recorded last: who records again to correct something has
shown what is wanted now.
"""

from collections.abc import Iterator, Sequence

import msgspec

from rutter.actors.predictor.learning.repair import matters
from rutter.actors.predictor.learning.step_merge import joined, joined_after, types_otherwise
from rutter.actors.rules.workflows.alignment import MOST, Pair, align, has_element, is_same, meets
from rutter.actors.rules.workflows.templates import hosts_of, names_used
from rutter.events.action import kind_of
from rutter.events.predictor import Comparison
from rutter.events.workflow import Fork, Step, Workflow

SHORT = 4  # steps of one branch between two that both have: a longer one is none


class RecordingsDiffer(Exception):
    """Recordings differ too much to be merged, and this is why."""


class Merged(msgspec.Struct, frozen=True):
    workflow: Workflow
    compared: Comparison


def compare(known: Workflow, new: Workflow, *, newest_first: bool = True) -> Merged:
    """What the new recording makes of the known one: its next version, under the new number.
    Without `newest_first` what was known comes first, as it did in older logs."""
    compared = Comparison(known.version, (known.session, new.session))
    try:
        return _merged(known, new, compared, newest_first)
    except RecordingsDiffer as apart:
        return Merged(new, msgspec.structs.replace(compared, why=str(apart)))


def _merged(known: Workflow, new: Workflow, compared: Comparison, newest_first: bool) -> Merged:
    _check_ends(known, new)
    pairs = align(known.steps, new.steps)
    _check_common(known.steps, new.steps, pairs)
    made = _Made(known.steps, new.steps, newest_first)
    for gap, common in _gaps(pairs):
        made.take(gap, common)
        if common is not None:
            made.join(common)
    steps = made.all()
    parameters, secrets = names_used(steps, {*known.parameters, *new.parameters})
    hosts = dict.fromkeys((*known.hosts, *new.hosts, *hosts_of(steps)))
    resources = dict.fromkeys((*known.resources, *new.resources))
    workflow = msgspec.structs.replace(
        known,
        version=new.version,
        session=new.session,
        steps=steps,
        end=joined_after(known.end, new.end),
        parameters=parameters,
        secrets=secrets,
        hosts=tuple(hosts),
        resources=tuple(each for each in resources if each not in hosts),
        service=known.service or new.service,
    )
    told = msgspec.structs.replace(
        compared,
        optional=tuple(made.optional),
        added=tuple(made.added),
        varied=tuple(made.varied),
    )
    return Merged(workflow, told)


def _check_ends(known: Workflow, new: Workflow) -> None:
    if max(len(known.steps), len(new.steps)) > MOST:
        raise RecordingsDiffer(f"more than {MOST} steps are not compared")
    ends = known.end.place, new.end.place
    if ends[0] is not None and ends[1] is not None and not meets(ends[0], ends[1]):
        raise RecordingsDiffer(
            f"it ends at {ends[1].path}, and version {known.version} at {ends[0].path}"
        )


def _check_common(known: Sequence[Step], new: Sequence[Step], pairs: Sequence[Pair]) -> None:
    """At least half of what must be there, or was done now."""
    common = sum(pair.known is not None and pair.new is not None for pair in pairs)
    whole = max(sum(not step.optional for step in known), len(new))
    if common * 2 < whole:
        raise RecordingsDiffer(f"{common} of {whole} steps are the same")


def _gaps(pairs: Sequence[Pair]) -> Iterator[tuple[list[Pair], Pair | None]]:
    """What lies before each step that both have, and behind the last."""
    gap: list[Pair] = []
    for pair in pairs:
        if pair.known is None or pair.new is None:
            gap.append(pair)
        else:
            yield gap, pair
            gap = []
    yield gap, None


class _Made:
    """A merge in the making has steps. Numbers in what is told are those that people see."""

    def __init__(self, known: Sequence[Step], new: Sequence[Step], newest_first: bool) -> None:
        self._known = known
        self._new = new
        self._newest_first = newest_first
        self._steps: list[Step] = []
        self._last: int | None = None  # of the known ones, that both have
        self._gone: dict[int, set[int]] = {}  # which branches of a fork the new recording took
        self.optional: list[int] = []
        self.added: list[int] = []
        self.varied: list[int] = []

    def join(self, pair: Pair) -> None:
        assert pair.known is not None
        assert pair.new is not None
        known, new = self._known[pair.known], self._new[pair.new]
        if types_otherwise(known, new):
            self.varied.append(len(self._steps))
        self._last = pair.known
        if known.fork is not None:
            self._gone.setdefault(known.fork.number, set()).add(known.fork.way)
        self._steps.append(joined(known, new, newest_first=self._newest_first))

    def take(self, gap: Sequence[Pair], common: Pair | None) -> None:
        """Both recordings' own steps between two that they share: the known ones first, but of a
        fork the new branch. What is known and stands before the fork stays before it."""
        ours = [self._known[pair.known] for pair in gap if pair.known is not None]
        theirs = [self._new[pair.new] for pair in gap if pair.new is not None]
        lacked = [step for step in ours if not step.optional and _acts(step)]
        _check_stretch(ours, lacked, "now lacks")
        done = [step for step in theirs if _acts(step)]
        _check_stretch(theirs, done, "now has")
        branches = self._branches(ours, lacked, done)
        if self._newest_first:
            self._go_branches(theirs, common)
        before = len(ours)
        if self._newest_first and branches[1] is not None:
            other = [step in lacked or _is_branch_of(step, branches[1]) for step in ours]
            before = other.index(True)
        for step in ours[:before]:
            self._keep(step, step in lacked, branches[0])
        for step in theirs:
            self._add(step, branches[1])
        for step in ours[before:]:
            self._keep(step, step in lacked, branches[0])

    def _go_branches(self, theirs: Sequence[Step], common: Pair | None) -> None:
        """A second branch that is taken right before or behind the first means both, in whatever
        order they stand."""
        next_ = common.known if common is not None else None
        beside = [self._known[at] for at in (self._last, next_) if at is not None]
        near = {step.fork.number for step in beside if step.fork is not None}
        for known in self._known:
            if known.fork is None or known.fork.number not in near:
                continue
            if any(is_same(known, step) for step in theirs):
                self._gone.setdefault(known.fork.number, set()).add(known.fork.way)

    def _branches(
        self, ours: Sequence[Step], lacked: Sequence[Step], done: Sequence[Step]
    ) -> tuple[Fork | None, Fork | None]:
        """The two branches of a fork, or the next one of a fork that is there, or none."""
        if not done:
            return None, None
        if lacked:
            if max(len(lacked), len(done)) > SHORT:
                raise RecordingsDiffer(f"{max(len(lacked), len(done))} steps in a row are others")
            number = 1 + max((each.number for each in self._forks()), default=0)
            return Fork(number, 1), Fork(number, 2)
        there = [step.fork for step in ours if step.fork is not None]
        numbers = {fork.number for fork in there}
        if len(numbers) != 1 or len(there) != len(self._forks(*numbers)):
            return None, None  # of no fork, or of one that the new recording went through
        return None, Fork(there[0].number, 1 + max(fork.way for fork in there))

    def _forks(self, *numbers: int) -> list[Fork]:
        every = [step.fork for step in (*self._known, *self._steps) if step.fork is not None]
        if not numbers:
            return every
        return [
            step.fork
            for step in self._known
            if step.fork is not None and step.fork.number in numbers
        ]

    def _keep(self, step: Step, lacked: bool, fork: Fork | None) -> None:
        if lacked:
            self.optional.append(len(self._steps))
            step = msgspec.structs.replace(step, optional=True, fork=fork)
        self._steps.append(step)

    def _add(self, step: Step, fork: Fork | None) -> None:
        self.added.append(len(self._steps))
        looks = kind_of(step.action) == "verification"  # that it is so was stated for every run
        self._steps.append(
            msgspec.structs.replace(step, optional=not looks, fork=None if looks else fork)
        )

    def all(self) -> tuple[Step, ...]:
        """A fork of which one recording took two branches is none: both may come in one run."""
        none = {number for number, branches in self._gone.items() if len(branches) > 1}
        return tuple(
            msgspec.structs.replace(step, fork=None)
            if step.fork is not None and step.fork.number in none
            else step
            for step in self._steps
        )


def _check_stretch(stretch: Sequence[Step], leaving: Sequence[Step], now: str) -> None:
    """Whether these steps may be missing in a run: nothing that matters, and each can be seen to be
    missing, by its element or by that of the one before it."""
    seen = False
    for place, step in enumerate(stretch):
        if step not in leaving:
            seen = seen and not _acts(step)
            continue
        behind = stretch[place + 1 : place + 2]
        if matters(step) or any(kind_of(each.action) == "verification" for each in behind):
            raise RecordingsDiffer(f"it {now} {_called(step)}, which a run is for")
        if not has_element(step.action) and not seen:
            raise RecordingsDiffer(
                f"it {now} {_called(step)}, and no element shows when that is needed"
            )
        seen = True


def _is_branch_of(step: Step, fork: Fork) -> bool:
    return step.fork is not None and step.fork.number == fork.number


def _acts(step: Step) -> bool:
    return kind_of(step.action) == "action"


def _called(step: Step) -> str:
    action = step.action
    known_by = action.target.fingerprint if action.target is not None else None
    name = known_by.name.text or known_by.text.text if known_by is not None else ""
    what = name or action.url or action.key or ""
    return f"{action.type} {what[:60]!r}" if what else action.type
