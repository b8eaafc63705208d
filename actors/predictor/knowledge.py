"""Knowledge is the fold of what every session taught, and of nothing else.

A prediction names the position P of the fold it was made from. What a turn teaches counts from
the next turn on, so P is the last position before the turn, whoever appended what since.

Models are folded from the journal when one is first asked for, and kept up to date from then on:
a run of a workflow needs none. What is forgotten is a new generation: they are folded anew.
"""

from collections.abc import Container, Sequence
from typing import Generic, NamedTuple, TypeVar

from rutter.actors.predictor.journal import DONE, OWN, Journal, PastActions, Taught
from rutter.actors.predictor.model.learners import NOTHING, OfForesight, OfSeeds
from rutter.actors.predictor.position.workflow_tracker import RecordedWorkflows
from rutter.actors.rules.workflows.versions import Effects, Versions
from rutter.events.action import Action
from rutter.events.envelope import Envelope
from rutter.events.predictor import (
    Candidate,
    EffectsLearned,
    EndLearned,
    SessionForgotten,
    TransitionLearned,
    TransitionUndone,
    Within,
    WorkflowDeleted,
    WorkflowLearned,
    WorkflowRenamed,
)
from rutter.events.run_settings import PredictorName
from rutter.events.signature import bare, token
from rutter.events.workflow import StandingApproval, Workflow

Learns = TypeVar("Learns", OfSeeds, OfForesight)


def _origin(place: str) -> str:
    """The origin that a place begins with; none of a place that is not known."""
    return "/".join(place.split("/", 3)[:3])


class Folding(Generic[Learns]):
    """A model goes through the journal. One that nobody ever asked stays at its beginning."""

    def __init__(self, journal: Journal, learner: Learns) -> None:
        self._journal = journal
        self._learner: Learns = learner
        self._at = 0

    def go_on(self, rows: int) -> bool:
        end = min(self._at + rows, len(self._journal))
        for row in self._journal.rows(self._at, end):
            self._learner.take(row)
        self._at = end
        return end == len(self._journal)

    def follow(self) -> None:
        """One row came: a model that is up to date stays so."""
        if self._at > 0 and self._at == len(self._journal) - 1:
            self.go_on(1)

    def whole(self) -> Learns:
        self.go_on(len(self._journal))
        return self._learner


class Foreseen(NamedTuple):
    """The model foresees these, most probable first, and how probable it is that nothing comes."""

    candidates: tuple[Candidate, ...]
    ends: int


class Knowledge:
    """All sessions share knowledge; it changes in log order only."""

    def __init__(self) -> None:
        self.journal = Journal()
        self.doings = PastActions()
        self.effects = Effects()
        self.versions = Versions()
        self.recorded = RecordedWorkflows()
        self.position = 0
        self.generation = 0
        self._approved: dict[str, dict[str, StandingApproval]] = {}  # by workflow and doing
        self._origins: dict[str, set[str]] = {}  # of everything that was done, where
        self._turn: list[tuple[str, Taught | SessionForgotten]] = []
        self._seeds = Folding(self.journal, OfSeeds())
        self._foresight = Folding(self.journal, OfForesight())

    # -- the fold ------------------------------------------------------------------------------

    def open_turn(self, seq: int) -> None:
        """A new turn begins at `seq`: what earlier ones taught counts now."""
        self.position = seq - 1
        for session, learned in self._turn:
            if isinstance(learned, SessionForgotten):
                self._forget(learned.session)
            else:
                self._learn(session, learned)
        self._turn.clear()

    def take_in(self, envelope: Envelope) -> None:
        match envelope.event:
            case TransitionLearned() | TransitionUndone() | EndLearned() as learned:
                self._turn.append((envelope.session, learned))
            case SessionForgotten(session=session) as forgotten:
                self._turn.append((envelope.session, forgotten))
                self.effects.forget(session)
                for name in self.versions.forget(session):
                    self._record(name)
            case EffectsLearned() as learned:
                self.effects.learn(envelope.session, learned)
            case WorkflowLearned(workflow=workflow):
                self.versions.learn(envelope.session, workflow)
                self._record(workflow.name)
            case WorkflowDeleted(name=name):
                self.versions.delete(name)
                self.effects.delete(name)
                self._record(name)
            case WorkflowRenamed(name=name, to=to):
                self.versions.rename(name, to)
                self.effects.rename(name, to)
                self._record(name)
                self._record(to)
            case _:
                pass

    def _learn(self, session: str, learned: Taught) -> None:
        row = self.journal.add(session, learned)
        if isinstance(learned, TransitionLearned):
            self.doings.add(row.session, learned.token, learned.action)
            self._origins.setdefault(bare(row.token), set()).add(_origin(row.place))
        for folding in (self._seeds, self._foresight):
            folding.follow()

    def _forget(self, session: str) -> None:
        number = self.journal.session(session)
        self.journal.forget(number)
        self.doings.forget(number)
        self._origins.clear()
        for row in self.journal.rows():
            if row.counts in (DONE, OWN):
                self._origins.setdefault(bare(row.token), set()).add(_origin(row.place))
        self.generation += 1
        self._seeds = Folding(self.journal, OfSeeds())
        self._foresight = Folding(self.journal, OfForesight())

    def _record(self, name: str) -> None:
        newest = self.versions.newest(name)
        self._approved.pop(name, None)
        if newest is None:
            self.recorded.forget(name)
            return
        self.recorded.learn(newest)
        steps = ((bare(token(each.action)), each.standing_approval) for each in newest.steps)
        self._approved[name] = {doing: given for doing, given in steps if given is not None}

    # -- what it says --------------------------------------------------------------------------

    def as_seeds(self, history: Sequence[str], most: int) -> tuple[Candidate, ...]:
        """What `markov2` says comes next."""
        found = self._seeds.whole().model.predict(history)
        if found is None:
            return ()
        source, ranked = found
        named = [(self.doings.exactly(name), name, share) for name, share in ranked]
        known = [(action, name, share) for action, name, share in named if action is not None]
        return tuple(
            Candidate(name, action, share, source, self._approval(action))
            for action, name, share in known[:most]
        )

    def foreseen(
        self, history: Sequence[str], place: str, most: int, bound: Container[str]
    ) -> Foreseen:
        """What `foresight` says comes next in a session with this history, at this place."""
        learner = self._foresight.whole()
        tokens = list(map(learner.bare, history))
        page = learner.places.pattern(place)
        if not learner.model.knows(tokens, place=page):
            return Foreseen((), 0)
        ranked = learner.model.predict(tokens, most, place=page)
        here = [(doing, share) for doing, share in ranked if self._is_of(doing, _origin(place))]
        found = [(self.doings.like(doing, bound), share) for doing, share in here]
        candidates = tuple(
            Candidate(token(action), action, share, "blend", self._approval(action))
            for action, share in found
            if action is not None
        )
        return Foreseen(candidates, dict(ranked).get(NOTHING, 0))

    def _approval(self, action: Action) -> StandingApproval | None:
        """What a recording that is known approved of this; the workflow that was known first."""
        doing = bare(token(action))
        found = (each.get(doing) for each in self._approved.values())
        return next((each for each in found if each is not None), None)

    def _is_of(self, doing: str, origin: str) -> bool:
        """Whether it was ever done on this site: what was learned on one is not for another. To
        come to an address one is somewhere else before."""
        done_on, goes = self._origins.get(doing, set()), '"type":"navigate"' in doing
        return not done_on or origin in done_on or "" in done_on or goes

    def within(self, history: Sequence[str], most: int) -> tuple[Within, ...]:
        """Which recorded workflows a session with this history seems to be in."""
        named = self._foresight.whole().bare
        return self.recorded.within(list(map(named, history)), most)

    def expected(self, workflow: Workflow) -> Workflow:
        return self.effects.expected(workflow)

    def is_newest(self, name: str, version: int) -> bool:
        """Whether this version is still what a run of that name would follow."""
        newest = self.versions.newest(name)
        return newest is not None and newest.version == version

    def next_version(self, name: str) -> int:
        return self.versions.next(name)

    def prepare(self, model: PredictorName, rows: int) -> bool:
        """Folds some more of what was learned into a model that will be asked; whether that was
        all. Whoever has the time does it piece by piece: asked, it does all that is left."""
        folding = self._foresight if model == "foresight" else self._seeds
        return folding.go_on(rows)
