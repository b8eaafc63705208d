"""The tracker believes that a session is in a workflow, so far: every step moves its belief.

The session is in no workflow, or in one with so many of its steps done. A step that is done next

- is the next one of that workflow, or one behind steps that were left out;
- or has nothing to do with it, and it goes on afterwards;
- or the workflow was given up.

Behind its last step a workflow is at its end, and one step later the session is in none again.
In none, a workflow may begin at any time: mostly with its first step.

How much a step tells is how rare it would be in no workflow: one of all the tokens that are known.
What fits a step by a parameter alone tells less, because much would.

Weights are relative: a step that has nothing to do with a workflow leaves its weight as it is, and
makes the others heavier. So a step costs what it fits, however many workflows there are. They are
floats made with + - * / in the order of names: the same on every machine.
"""

from bisect import insort
from collections.abc import Sequence
from typing import NamedTuple

from rutter.actors.rules.workflows.step_marks import Mark, fits, marks_of
from rutter.events.predictor import Within
from rutter.events.run_settings import MILLION
from rutter.events.workflow import Workflow

# What comes next in a workflow: a step of it, one that has nothing to do with it, or its being
# given up.
GOES_ON = 0.73
NOISE = 0.25
GIVEN_UP = 0.02
LOST = 0.2  # it is given up after a step that was not confirmed
BEGINS = 0.1  # in no workflow, the next step begins one
LEFT_OUT = 0.1  # a step that is not optional is not done
MAYBE_LEFT_OUT = 0.3
BEGUN_BEFORE = 0.1  # the first step was done otherwise: whoever is there need not go there
JOINED = 0.05  # it is begun in its middle: how it began was not seen
TOO_RARE = 0.0003  # routes through a workflow that are not followed
OTHERS = 20  # tokens of no workflow, at least
KNOWN = 1_000  # more tokens tell no more, and keep the weights far from what a float can hold
LOOSE = 5.0  # how much more often in its workflow something fits a step by a parameter alone
LOOK = 64  # steps of the history
LEAST = 50_000  # what is less probable is not told
BREAK = ""


class PreparedWorkflow(NamedTuple):
    """A prepared workflow has an entry for each mark: with what weight it begins there, and from
    which number of marks done it is come to, with what weight."""

    version: int
    of: int
    marks: tuple[Mark, ...]
    begins: tuple[float, ...]
    comes: tuple[tuple[tuple[int, float], ...], ...]


# A mark: the name of its workflow, and its index below zero. In their order those of one workflow
# are met from the last one back, so that each is come to by what was so before this step.
Spot = tuple[str, int, PreparedWorkflow]


class Belief:
    """A belief has relative weights: of no workflow, of each with so many marks done, and of those
    that are at their end."""

    def __init__(self) -> None:
        self.none = 1.0
        self.inside = 0.0  # all of `live` together
        self.live: dict[str, list[float]] = {}
        self.ended: dict[str, float] = {}

    def outside(self, given_up: float) -> float:
        """Whoever is in no workflow when the next step is done."""
        weight = self.none + given_up * self.inside
        for ended in self.ended.values():
            weight += ended
        return weight


class RecordedWorkflows:
    """The newest version of each workflow is prepared for asking. Whoever changes it, `within` does
    not, and what it says does not depend on the order in which they were learned."""

    def __init__(self) -> None:
        self._prepared: dict[str, PreparedWorkflow] = {}
        self._spots: dict[str, list[Spot]] = {}  # by token
        # By how the token ends: those that a parameter is in.
        self._loose: dict[str, list[tuple[Spot, Mark]]] = {}

    def learn(self, workflow: Workflow) -> None:
        """In place of what had this name before."""
        self.forget(workflow.name)
        marks = marks_of(workflow)
        if not marks:
            return
        prepared = self._prepared[workflow.name] = _prepare(workflow, marks)
        for index, mark in enumerate(marks):
            spot = (workflow.name, -index, prepared)
            insort(self._spots.setdefault(mark.token, []), spot)
            if len(mark.pieces) > 1:
                insort(self._loose.setdefault(mark.pieces[-1], []), (spot, mark))

    def forget(self, name: str) -> None:
        prepared = self._prepared.pop(name, None)
        for mark in prepared.marks if prepared is not None else ():
            _drop(self._spots, mark.token, name)
            if len(mark.pieces) > 1:
                _drop_loose(self._loose, mark.pieces[-1], name)

    def within(self, history: Sequence[str], k: int = 3) -> tuple[Within, ...]:
        """The most probable first, in millionths; what is left of a million is no recorded
        workflow."""
        if not self._prepared:
            return ()
        belief = Belief()
        known = 1.0 * min(len(self._spots) + OTHERS, KNOWN)
        for token in history[-LOOK:]:
            if token == BREAK:
                belief.none = belief.outside(LOST) / (1.0 - LOST)
                belief.ended = {}
            else:
                self._move(belief, token, known)
        return self._told(belief, k)

    def _move(self, belief: Belief, token: str, known: float) -> None:
        outside = belief.outside(GIVEN_UP)
        ended: dict[str, float] = {}
        begins = outside * BEGINS * (1 / len(self._prepared))
        for (name, back, prepared), rare in self._fitting(token, known):
            live = belief.live.get(name)
            if live is None:
                live = belief.live[name] = [0.0] * len(prepared.marks)
            weight = begins * prepared.begins[-back]
            for done, share in prepared.comes[-back]:
                weight += live[done] * share
            weight *= rare / NOISE
            if rare == known:  # what was due is not done by the way
                belief.inside -= live[-back]
                live[-back] = 0.0
            if 1 - back == len(prepared.marks):
                ended[name] = weight
            else:
                live[1 - back] += weight
                belief.inside += weight
        belief.none = outside * (1.0 - BEGINS) / NOISE
        belief.ended = ended

    def _fitting(self, token: str, known: float) -> list[tuple[Spot, float]]:
        """The marks that this may be, and how much that tells; in the order of names."""
        found = [(spot, known) for spot in self._spots.get(token, ())]
        exact = len(found)
        for end, spots in self._loose.items():
            if token.endswith(end):
                found += [
                    (spot, LOOSE)
                    for spot, mark in spots
                    if mark.token != token and fits(mark.pieces, token)
                ]
        if len(found) > exact:
            found.sort()
        return found

    def _told(self, belief: Belief, k: int) -> tuple[Within, ...]:
        whole = belief.none
        weights: list[tuple[str, float]] = []
        for name in sorted({**belief.live, **belief.ended}):
            weight = belief.ended.get(name, 0.0)
            for each in belief.live.get(name, ()):
                weight += each
            weights.append((name, weight))
            whole += weight
        told: list[Within] = []
        left = MILLION
        for name, weight in weights:
            probability = min(int(weight / whole * MILLION), left)
            left -= probability
            if probability >= LEAST:
                told.append(self._place(name, probability, belief))
        told.sort(key=lambda within: (-within.probability, within.workflow))
        return tuple(told[:k])

    def _place(self, name: str, probability: int, belief: Belief) -> Within:
        """With the most probable number of steps done."""
        prepared = self._prepared[name]
        best, reached = belief.ended.get(name, 0.0), prepared.of
        for done, weight in enumerate(belief.live.get(name, ())):
            if weight > best:
                best, reached = weight, prepared.marks[done - 1].reached
        return Within(name, prepared.version, reached, prepared.of, probability)


def _prepare(workflow: Workflow, marks: tuple[Mark, ...]) -> PreparedWorkflow:
    missed = [MAYBE_LEFT_OUT if mark.optional else LEFT_OUT for mark in marks]
    return PreparedWorkflow(
        workflow.version,
        len(workflow.steps),
        marks,
        _begins(missed),
        tuple(_comes(missed, index) for index in range(len(marks))),
    )


def _begins(missed: list[float]) -> tuple[float, ...]:
    """The weight of each mark as the first that is done."""
    begins: list[float] = []
    before = 1.0
    for index, chance in enumerate(missed):
        begins.append((before * (1.0 - chance) + JOINED / len(missed)) / (1.0 + JOINED))
        before *= chance if index else max(chance, BEGUN_BEFORE)
    return tuple(begins)


def _comes(missed: list[float], index: int) -> tuple[tuple[int, float], ...]:
    """From how many marks done this one is come to: all before it, or fewer."""
    comes: list[tuple[int, float]] = []
    weight = GOES_ON * (1.0 - missed[index])
    for done in range(index, 0, -1):
        if weight < TOO_RARE:
            break
        comes.append((done, weight))
        weight *= missed[done - 1]
    return tuple(comes)


def _drop(spots: dict[str, list[Spot]], token: str, name: str) -> None:
    kept = [spot for spot in spots.get(token, ()) if spot[0] != name]
    if kept:
        spots[token] = kept
    else:
        spots.pop(token, None)


def _drop_loose(loose: dict[str, list[tuple[Spot, Mark]]], end: str, name: str) -> None:
    kept = [(spot, mark) for spot, mark in loose.get(end, ()) if spot[0] != name]
    if kept:
        loose[end] = kept
    else:
        loose.pop(end, None)
