"""An alignment puts two recordings side by side: which step of the one is which of the other.

The same was done to the same element in the same place; what was typed, and what a parameter is
called, does not count. Where the new recording is a run of the known one, that is how they stand.
Else it leaves the fewest steps without their like, and of those that must be there the fewest.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from rutter.actors.rules.pages.address import segments_of, with_paths
from rutter.actors.rules.steps.placeholders import PLACEHOLDER
from rutter.actors.rules.workflows.templates import templated
from rutter.events.action import (
    Action,
    ByBeside,
    ByCss,
    ByPoint,
    ByRef,
    ByRole,
    ByText,
    DialogAnswer,
    Strategy,
    Text,
    kind_of,
)
from rutter.events.workflow import Fork, Place, Step

TOO_LONG = 20_000  # beginnings that lead nowhere: many forks, and the same step again and again
MOST = 300  # steps of one recording: the table of both has a cell for each pair


class Pair(NamedTuple):
    """A pair is a step of both, or of one alone: its places in the known one and in the new."""

    known: int | None
    new: int | None


def align(known: Sequence[Step], new: Sequence[Step]) -> list[Pair]:
    """Every step of both, in order; between two that both have those that are known come first."""
    like = _likenesses(known, new)
    if (run := _as_run(known, like, len(new))) is not None:
        return run
    best = _best(known, like, len(new))
    pairs: list[Pair] = []
    left: list[Pair] = []  # of the new one, since the last that both have
    at, to = 0, 0
    while at < len(known) or to < len(new):
        both = at < len(known) and to < len(new) and like[at][to]
        if both and best[at][to] == _worth(known, at) + best[at + 1][to + 1]:
            pairs += [*left, Pair(at, to)]
            left = []
            at, to = at + 1, to + 1
        elif at < len(known) and best[at][to] == best[at + 1][to]:
            pairs.append(Pair(at, None))
            at += 1
        else:
            left.append(Pair(None, to))
            to += 1
    return [*pairs, *left]


def is_same(known: Step, new: Step) -> bool:
    """The same thing done to the same element in the same place."""
    return _likenesses([known], [new])[0][0]


def _likenesses(known: Sequence[Step], new: Sequence[Step]) -> list[list[bool]]:
    values = [step.action.value for step in (*known, *new)]
    typed = dict.fromkeys(value.text for value in values if isinstance(value, Text))
    literals = {str(number): text for number, text in enumerate(typed)}
    ours = [_mark(step, literals) for step in known]
    theirs = [_mark(step, literals) for step in new]
    return [[_is_same(a, b) for b in theirs] for a in ours]


def _as_run(known: Sequence[Step], like: list[list[bool]], width: int) -> list[Pair] | None:
    """The new recording as a run of the known one: only what is optional or only looks is left out,
    and of each fork one branch is taken at most. `None` when it is none, or that takes too long."""
    vain: set[tuple[int, int, frozenset[Fork]]] = set()
    ways: list[frozenset[Fork]] = [frozenset()]
    tried: list[int] = [0]  # at each place of the known one: 0 nothing, 1 as done, 2 as left out
    done: list[int] = [0]
    while len(vain) < TOO_LONG:
        at, to, gone = len(tried) - 1, done[-1], ways[-1]
        if at == len(known) and to == width:
            return [Pair(i, done[i] if done[i + 1] > done[i] else None) for i in range(len(known))]
        tried[-1] += 1
        over = at == len(known) or (at, to, gone) in vain
        if over or tried[-1] > 2:
            vain.add((at, to, gone))
            for stack in (tried, done, ways):
                stack.pop()
            if not tried:
                return None
        elif tried[-1] == 1 and to < width and like[at][to] and _is_open(known[at], gone):
            fork = known[at].fork
            ways.append(gone | {fork} if fork is not None else gone)
            done.append(to + 1)
            tried.append(0)
        elif tried[-1] == 2 and (known[at].optional or kind_of(known[at].action) != "action"):
            ways.append(gone)
            done.append(to)
            tried.append(0)
    return None


def _is_open(step: Step, gone: frozenset[Fork]) -> bool:
    """Whether no other branch of its fork was taken."""
    fork = step.fork
    return fork is None or all(way.number != fork.number or way == fork for way in gone)


def _best(known: Sequence[Step], like: list[list[bool]], width: int) -> list[list[int]]:
    """For what is left of both from each place on, how much the best alignment is worth."""
    best = [[0] * (width + 1) for _ in range(len(known) + 1)]
    for at in reversed(range(len(known))):
        for to in reversed(range(width)):
            found = max(best[at + 1][to], best[at][to + 1])
            if like[at][to]:
                found = max(found, _worth(known, at) + best[at + 1][to + 1])
            best[at][to] = found
    return best


def _worth(known: Sequence[Step], at: int) -> int:
    """One more that both have outweighs any number of those that must be there."""
    return len(known) + 1 + (not known[at].optional)


# -- the same step ---------------------------------------------------------------------------------


class _Mark(NamedTuple):
    """A step is compared by its mark. `ways` are locators of its element, or its address, with what
    was typed anywhere and every parameter in them alike."""

    rest: tuple[object, ...]
    place: Place | None
    tab: int | None
    answers: Mapping[tuple[str, str], bool]
    ways: frozenset[tuple[str, ...]]


def _mark(step: Step, literals: Mapping[str, str]) -> _Mark:
    action = step.action
    named = {_way(way, literals) for way in action.locators}
    if action.url is not None:
        named.add(("url", _alike(action.url, literals)))
    rest = (action.type, action.key, action.direction, action.amount, action.ms, action.name)
    asked = (action.append, action.verify, action.aside, bool(named))
    hands = (action.button, action.count, action.modifiers, action.to is not None, action.by)
    return _Mark(
        (*rest, *asked, *hands),
        None if action.type == "navigate" or not step.before.origin else step.before,
        action.tab,
        answers_of(action.dialogs),
        frozenset(named),
    )


def _is_same(a: _Mark, b: _Mark) -> bool:
    if a.rest != b.rest or (a.ways and not a.ways & b.ways):
        return False
    # Which page it was is only told where more than one was open.
    if a.tab is not None and b.tab is not None and a.tab != b.tab:
        return False
    if a.place is not None and b.place is not None and not meets(a.place, b.place):
        return False
    return all(a.answers.get(asked, said) == said for asked, said in b.answers.items())


def answers_of(dialogs: Sequence[DialogAnswer]) -> dict[tuple[str, str], bool]:
    """What was said to which question: the same one answered otherwise is another step."""
    return {(each.kind, each.message): each.accept for each in dialogs}


def _way(way: Strategy, literals: Mapping[str, str]) -> tuple[str, ...]:
    match way:
        case ByCss(selector):
            return "css", selector
        case ByRole(role, name):
            return "aria", role, _alike(name, literals)
        case ByText(text):
            return "text", _alike(text, literals)
        case ByPoint(x, y):
            return "point", str(x), str(y)
        case ByRef(ref, look):
            return "ref", ref, str(look)
        case ByBeside(text, how):
            return how, _alike(text, literals)


def _alike(text: str, literals: Mapping[str, str]) -> str:
    return PLACEHOLDER.sub("${}", templated(text, literals))


def has_element(action: Action) -> bool:
    """Whether its absence can be seen: it is done to an element of its own."""
    return action.target is not None and action.type not in ("wait_for", "scroll")


# -- the same place --------------------------------------------------------------------------------


def meets(a: Place, b: Place) -> bool:
    """Whether two recorded places may be one: what varies in either is anything in the other."""
    return a.origin == b.origin and any(_meet(x, y) for x in a.paths for y in b.paths)


def both_places(a: Place, b: Place) -> Place:
    """The place that both are, by every path of either: what varies in one of them varies."""
    first = next((path for path in b.paths if _meet(a.path, path)), a.path)
    return with_paths(Place(a.origin, _both(a.path, first)), (*a.also, *b.paths))


def _meet(path: str, other: str) -> bool:
    ours, theirs = segments_of(path), segments_of(other)
    if len(ours) != len(theirs):
        return False
    return all(x == y or "*" in (x, y) for x, y in zip(ours, theirs, strict=True))


def _both(path: str, other: str) -> str:
    pairs = zip(segments_of(path), segments_of(other), strict=True)
    both = "/".join(x if x == y else "*" for x, y in pairs)
    return f"{both}/" if path.endswith("/") else both
