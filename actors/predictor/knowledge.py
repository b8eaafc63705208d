"""What was learned by every session: the fold of learned facts, and of nothing else.

A prediction names the position P of the fold it was made from. What a turn teaches counts from
the next turn on, so P is the last position before the turn, whoever appended what since.
"""

import msgspec

from actors.predictor.markov2 import Markov2
from events.action import Action
from events.checks import Check, Said
from events.envelope import Envelope
from events.event import Event
from events.predictor import (
    EffectsLearned,
    TransitionLearned,
    WorkflowDeleted,
    WorkflowLearned,
    WorkflowRenamed,
)
from events.workflow import Workflow

LEARNED: frozenset[type[Event]] = frozenset(
    {TransitionLearned, EffectsLearned, WorkflowLearned, WorkflowDeleted, WorkflowRenamed}
)


TWICE = 2  # a notice that one run showed and no recording did may be chance


class Knowledge:
    """Shared by all sessions; changed in log order only."""

    def __init__(self) -> None:
        self.model = Markov2()
        self.actions: dict[str, Action] = {}
        self.versions: dict[str, int] = {}  # the highest number that a name was ever given
        self.newest: dict[str, int] = {}  # what a run of that name would sail
        self.position = 0
        self.verified: dict[tuple[str, int], int] = {}  # runs of a version whose end was reached
        self.notices: dict[tuple[str, int, int], dict[Said, int]] = {}  # in how many, by step
        self._turn: list[TransitionLearned] = []

    def open_turn(self, seq: int) -> None:
        """A new turn begins at `seq`: what earlier ones taught counts now."""
        self.position = seq - 1
        for learned in self._turn:
            self.model.observe(learned.after, learned.token)
            self.actions[learned.token] = learned.action
        self._turn.clear()

    def take_in(self, envelope: Envelope) -> None:
        match envelope.event:
            case TransitionLearned() as learned:
                self._turn.append(learned)
            case EffectsLearned() as learned:
                self._notice(learned)
            case WorkflowLearned(workflow=workflow):
                self.versions[workflow.name] = workflow.version
                self.newest[workflow.name] = workflow.version
            case WorkflowDeleted(name=name):
                # A deleted workflow keeps its number: the next recording is a new version.
                self.newest.pop(name, None)
                self._unlearn(name)
            case WorkflowRenamed(name=name, to=to):
                # Onto a name that was deleted, its own number may be below those given before.
                if name in self.newest:
                    self.newest[to] = self.newest.pop(name)
                self._rename(name, to)
                self.versions[to] = max(self.versions.get(to, 0), self.versions.get(name, 0))
            case _:
                pass

    def _notice(self, learned: EffectsLearned) -> None:
        run = (learned.workflow, learned.version)
        self.verified[run] = self.verified.get(run, 0) + 1
        for notices in learned.notices:
            counts = self.notices.setdefault((*run, notices.index), {})
            for said in notices.says:
                counts[said] = counts.get(said, 0) + 1

    def _unlearn(self, name: str) -> None:
        """What runs of a workflow showed goes with it: another may get its name."""
        for run in [run for run in self.verified if run[0] == name]:
            del self.verified[run]
        for step in [step for step in self.notices if step[0] == name]:
            del self.notices[step]

    def _rename(self, name: str, to: str) -> None:
        self._unlearn(to)
        for run in [run for run in self.verified if run[0] == name]:
            self.verified[to, run[1]] = self.verified.pop(run)
        for step in [step for step in self.notices if step[0] == name]:
            self.notices[to, *step[1:]] = self.notices.pop(step)

    def expected(self, workflow: Workflow) -> Workflow:
        """The workflow with what every verified run of it showed: what one of them lacked is no
        longer awaited, what two and all of them said is."""
        runs = self.verified.get((workflow.name, workflow.version), 0)
        if not runs:
            return workflow
        steps = []
        for index, step in enumerate(workflow.steps):
            counts = self.notices.get((workflow.name, workflow.version, index), {})
            always = [said for said in counts if counts[said] == runs]
            kept = [each for each in step.after.learned if each in always or not _is_said(each)]
            new = [said for said in always if said not in kept and runs >= TWICE]
            after = msgspec.structs.replace(step.after, learned=(*kept, *new))
            steps.append(msgspec.structs.replace(step, after=after))
        return msgspec.structs.replace(workflow, steps=tuple(steps))

    def is_newest(self, name: str, version: int) -> bool:
        """Whether this version is still what a run of that name would sail."""
        return self.newest.get(name) == version

    def next_version(self, name: str) -> int:
        return self.versions.get(name, 0) + 1


def _is_said(check: Check) -> bool:
    return isinstance(check, Said)
