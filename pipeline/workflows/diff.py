"""A diff says what is different between two versions of a workflow, step by step, in plain
words."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

import msgspec

from rutter.actors.rules.workflows.alignment import Pair, align
from rutter.events.action import Action, Strategy
from rutter.events.workflow import Expectation, Place, Step, Workflow
from rutter.pipeline.workflows.check_syntax import write_check
from rutter.replay.story.wording import in_words, locator_in_words

Kind = Literal["added", "dropped", "changed"]


class StepDifference(msgspec.Struct, frozen=True, omit_defaults=True):
    """A step is new, gone or other. `before` and `after` are its numbers in both versions, 0 where
    it is in the other one alone; with neither it is about the workflow as a whole."""

    kind: Kind
    words: str
    before: int = 0
    after: int = 0
    what: tuple[str, ...] = ()


def differences(old: Workflow, new: Workflow) -> list[StepDifference]:
    """In the order of the steps, then what is of no step."""
    found: list[StepDifference] = []
    for pair in _paired(old.steps, new.steps):
        found += _of_pair(old.steps, new.steps, pair)
    whole = tuple(_of_whole(old, new))
    return [*found, StepDifference("changed", new.name, what=whole)] if whole else found


def _paired(old: Sequence[Step], new: Sequence[Step]) -> Iterator[Pair]:
    """A step whose element is found by nothing that found it before was healed: between the same
    two steps there is one of its kind in each version."""
    gap: list[Pair] = []
    for pair in (*align(old, new), None):
        if pair is not None and (pair.known is None or pair.new is None):
            gap.append(pair)
            continue
        yield from _joined(old, new, gap)
        gap = []
        if pair is not None:
            yield pair


def _joined(old: Sequence[Step], new: Sequence[Step], gap: Sequence[Pair]) -> Iterator[Pair]:
    gone = [pair.known for pair in gap if pair.known is not None]
    came = [pair.new for pair in gap if pair.new is not None]
    if len(gone) == len(came) and all(
        _is_like(old[a].action, new[b].action) for a, b in zip(gone, came, strict=True)
    ):
        yield from (Pair(a, b) for a, b in zip(gone, came, strict=True))
    else:
        yield from gap


def _is_like(a: Action, b: Action) -> bool:
    return (a.type, a.value, a.key, a.name) == (b.type, b.value, b.key, b.name)


def _of_pair(old: Sequence[Step], new: Sequence[Step], pair: Pair) -> Iterator[StepDifference]:
    if pair.known is None and pair.new is not None:
        step = new[pair.new]
        what = tuple(_what_matters(step))
        yield StepDifference("added", in_words(step.action), after=pair.new + 1, what=what)
    elif pair.new is None and pair.known is not None:
        yield StepDifference("dropped", in_words(old[pair.known].action), before=pair.known + 1)
    elif pair.known is not None and pair.new is not None:
        step = new[pair.new]
        what = tuple(_of_step(old[pair.known], step))
        numbers = pair.known + 1, pair.new + 1
        yield from (
            [StepDifference("changed", in_words(step.action), *numbers, what)] if what else []
        )


def _what_matters(step: Step) -> Iterator[str]:
    if step.fork is not None:
        yield f"optional, {_branch(step)}"
    elif step.optional:
        yield "optional"


def _of_step(old: Step, new: Step) -> Iterator[str]:
    yield from _of_action(old.action, new.action)
    if old.optional != new.optional:
        yield "optional now" if new.optional else "no longer optional"
    if old.fork != new.fork:
        yield _branch(new) if new.fork is not None else "no longer one of several ways"
    if old.before != new.before:
        yield f"due at {_place(new.before)}, was {_place(old.before)}"
    yield from _of_expectation(old.after, new.after)
    if bool(old.standing_approval) != bool(new.standing_approval):
        yield "approved by its recording now" if new.standing_approval else "its approval is gone"
    elif old.standing_approval != new.standing_approval:
        yield "approved for the element as it is now"
    if old.irreversible != new.irreversible:
        yield "cannot be undone" if new.irreversible else "can be undone"


def _of_action(old: Action, new: Action) -> Iterator[str]:
    if old.value != new.value:
        yield f"was: {in_words(old)}"
    before = old.target.strategies if old.target is not None else ()
    after = new.target.strategies if new.target is not None else ()
    if before[:1] != after[:1]:
        yield f"found by {_locators(after[:1])}, was {_locators(before[:1])}"
    elif before != after:
        yield f"found by {len(after)} ways, was {len(before)}"
    elif old.target != new.target:
        yield "its element is known by other marks"
    if old.url != new.url:
        yield f"goes to {new.url}, was {old.url}"
    if old.dialogs != new.dialogs:
        yield f"answers {len(new.dialogs)} questions of the page, was {len(old.dialogs)}"
    if old.tab != new.tab:
        yield "in another page"
    yield from _listed("looks for", map(write_check, old.verify), map(write_check, new.verify))


def _of_expectation(old: Expectation, new: Expectation) -> Iterator[str]:
    led = [each.place if each.moved else None for each in (old, new)]
    if led[0] != led[1]:
        yield f"leads to {_place(led[1])}, was {_place(led[0])}"
    yield from _listed("expects", map(write_check, old.checks), map(write_check, new.checks))
    learned = [[f"{write_check(each)} (learned)" for each in of.learned] for of in (old, new)]
    yield from _listed("expects", *learned)
    yield from _listed("read back", _read_back(old), _read_back(new))
    states = [None if each.state == "UNKNOWN" else each.state for each in (old, new)]
    if states[0] != states[1]:
        yield f"leads to a page that is {states[1] or 'any'}, was {states[0] or 'any'}"


def _read_back(after: Expectation) -> list[str]:
    back = after.read_back
    return [] if back is None else [f"{back.where}: {write_check(each)}" for each in back.checks]


def _of_whole(old: Workflow, new: Workflow) -> Iterator[str]:
    yield from _listed("parameter", old.parameters, new.parameters)
    yield from _listed("secret", old.secrets, new.secrets)
    yield from _listed("may go to", old.hosts, new.hosts)
    yield from _listed("may load from", old.resources, new.resources)
    if old.end != new.end:
        yield f"ends at {_end(new.end)}, was {_end(old.end)}"
    if old.complete != new.complete:
        yield "complete now" if new.complete else "incomplete"
    if old.goal != new.goal:
        yield f"its goal is {new.goal!r}"


def _listed(what: str, old: Iterable[str], new: Iterable[str]) -> Iterator[str]:
    before, after = list(old), list(new)
    yield from (f"{what} {each}" for each in after if each not in before)
    yield from (f"no longer {what} {each}" for each in before if each not in after)


def _end(end: Expectation) -> str:
    headings = ", ".join(repr(each) for each in end.headings)
    return f"{_place(end.place)}{f' ({headings})' if headings else ''}"


def _place(place: Place | None) -> str:
    return place.path or "anywhere" if place is not None else "anywhere"


def _locators(strategies: Sequence[Strategy]) -> str:
    return locator_in_words(strategies[0]) if strategies else "nothing"


def _branch(step: Step) -> str:
    return f"way {step.fork.way} of fork {step.fork.number}" if step.fork is not None else ""
