"""What was learned by every session: the fold of learned facts, and of nothing else.

A prediction names the position P of the fold it was made from. What a turn teaches counts from
the next turn on, so P is the last position before the turn, whoever appended what since.
"""

from actors.predictor.markov2 import Markov2
from events.action import Action
from events.envelope import Envelope
from events.event import Event
from events.predictor import TransitionLearned, WorkflowDeleted, WorkflowLearned, WorkflowRenamed

LEARNED: frozenset[type[Event]] = frozenset(
    {TransitionLearned, WorkflowLearned, WorkflowDeleted, WorkflowRenamed}
)


class Knowledge:
    """Shared by all sessions; changed in log order only."""

    def __init__(self) -> None:
        self.model = Markov2()
        self.actions: dict[str, Action] = {}
        self.versions: dict[str, int] = {}  # the highest number that a name was ever given
        self.newest: dict[str, int] = {}  # what a run of that name would sail
        self.position = 0
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
            case WorkflowLearned(workflow=workflow):
                self.versions[workflow.name] = workflow.version
                self.newest[workflow.name] = workflow.version
            case WorkflowDeleted(name=name):
                # A deleted workflow keeps its number: the next recording is a new version.
                self.newest.pop(name, None)
            case WorkflowRenamed(name=name, to=to):
                # Onto a name that was deleted, its own number may be below those given before.
                if name in self.newest:
                    self.newest[to] = self.newest.pop(name)
                self.versions[to] = max(self.versions.get(to, 0), self.versions.get(name, 0))
            case _:
                pass

    def is_newest(self, name: str, version: int) -> bool:
        """Whether this version is still what a run of that name would sail."""
        return self.newest.get(name) == version

    def next_version(self, name: str) -> int:
        return self.versions.get(name, 0) + 1
