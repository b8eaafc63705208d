"""Versions of workflows are counted, with what runs with a verified end showed of each."""

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from rutter.actors.rules.pages.address import with_paths
from rutter.events.checks import AlertSaid, ServerAnswered
from rutter.events.predictor import EffectsLearned, Notices, Rewritten
from rutter.events.workflow import Step, Workflow

TWICE = 2  # a notice that one run showed and no recording did may be chance

Version = tuple[str, int]


class ShownInRun(NamedTuple):
    """A run showed these notices, and addresses that its pages gave themselves."""

    notices: tuple[Notices, ...]
    rewritten: tuple[Rewritten, ...]


class Effects:
    """The page said these notices in every verified run of a version, by step."""

    def __init__(self) -> None:
        self._runs: dict[Version, dict[str, ShownInRun]] = {}  # by session
        self._known: dict[ShownInRun, ShownInRun] = {}  # most runs show the same

    def learn(self, session: str, learned: EffectsLearned) -> None:
        runs = self._runs.setdefault((learned.workflow, learned.version), {})
        shown = ShownInRun(learned.notices, learned.rewritten)
        runs[session] = self._known.setdefault(shown, shown)

    def delete(self, name: str) -> None:
        """What runs of a workflow showed goes with it: another may get its name."""
        self._runs = {run: shown for run, shown in self._runs.items() if run[0] != name}

    def rename(self, name: str, to: str) -> None:
        self.delete(to)
        self._runs = {
            (to if run[0] == name else run[0], run[1]): shown for run, shown in self._runs.items()
        }

    def forget(self, session: str) -> None:
        for runs in self._runs.values():
            runs.pop(session, None)

    def expected(self, workflow: Workflow) -> Workflow:
        """The workflow with what every verified run of it showed: what one of them lacked is no
        longer awaited, what two and all of them said is."""
        runs = self._runs.get((workflow.name, workflow.version))
        if not runs:
            return workflow
        counts = _counted(runs)
        steps = []
        for index, step in enumerate(workflow.steps):
            seen = counts.get(index, {})
            always = [said for said in seen if seen[said] == len(runs)]
            kept = [
                each
                for each in step.after.learned
                if each in always or not isinstance(each, AlertSaid | ServerAnswered)
            ]
            new = [said for said in always if said not in kept and len(runs) >= TWICE]
            after = msgspec.structs.replace(step.after, learned=(*kept, *new))
            steps.append(msgspec.structs.replace(step, after=after))
        told = [each for run in runs.values() for each in run.rewritten]
        return with_rewritten(msgspec.structs.replace(workflow, steps=tuple(steps)), told)


def _counted(runs: dict[str, ShownInRun]) -> dict[int, dict[AlertSaid | ServerAnswered, int]]:
    """In how many runs a step led the page to say or send a thing."""
    counts: dict[int, dict[AlertSaid | ServerAnswered, int]] = {}
    for shown, times in Counter(runs.values()).items():
        for notices in shown.notices:
            of_step = counts.setdefault(notices.index, {})
            for said in notices.says:
                of_step[said] = of_step.get(said, 0) + times
    return counts


class Versions:
    """Versions are kept of every workflow, with the highest number that a name was given: a number
    is never given twice."""

    def __init__(self) -> None:
        self.highest: dict[str, int] = {}
        self._held: dict[str, dict[int, tuple[str, Workflow]]] = {}  # and the session it is from

    def learn(self, session: str, workflow: Workflow) -> None:
        self.highest[workflow.name] = workflow.version
        self._held.setdefault(workflow.name, {})[workflow.version] = (session, workflow)

    def delete(self, name: str) -> None:
        self._held.pop(name, None)

    def rename(self, name: str, to: str) -> None:
        # Onto a name that was deleted, its own number may be below those given before.
        held = self._held.pop(name, None)
        if held is not None:
            self._held[to] = {
                number: (session, msgspec.structs.replace(workflow, name=to))
                for number, (session, workflow) in held.items()
            }
        self.highest[to] = max(self.highest.get(to, 0), self.highest.get(name, 0))

    def forget(self, session: str) -> tuple[str, ...]:
        """The names whose newest version is another one now, or none."""
        changed = []
        for name, held in list(self._held.items()):
            left = {number: each for number, each in held.items() if each[0] != session}
            if len(left) < len(held):
                changed.append(name)
                self._held[name] = left
            if not left:
                del self._held[name]
        return tuple(changed)

    def newest(self, name: str) -> Workflow | None:
        """What a run of that name follows: what was learned last."""
        held = self._held.get(name)
        return held[next(reversed(held))][1] if held else None

    def complete(self, name: str) -> Workflow | None:
        """The newest that was recorded to its end: what a new recording is compared with."""
        held = self._held.get(name, {})
        newest_first = (held[number][1] for number in reversed(held))
        return next((workflow for workflow in newest_first if workflow.complete), None)

    def next(self, name: str) -> int:
        return self.highest.get(name, 0) + 1


def with_rewritten(workflow: Workflow, told: Iterable[Rewritten]) -> Workflow:
    """The workflow with what pages of its verified runs called themselves."""
    steps = list(workflow.steps)
    for each in told:
        if 0 < each.index <= len(steps):
            steps[each.index - 1] = _leading(steps[each.index - 1], each.path)
        if 0 <= each.index < len(steps) and steps[each.index].before.origin:
            due = with_paths(steps[each.index].before, (each.path,))
            steps[each.index] = msgspec.structs.replace(steps[each.index], before=due)
    return msgspec.structs.replace(workflow, steps=tuple(steps))


def _leading(step: Step, path: str) -> Step:
    if step.after.place is None:
        return step
    after = msgspec.structs.replace(step.after, place=with_paths(step.after.place, (path,)))
    return msgspec.structs.replace(step, after=after)
