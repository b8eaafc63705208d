"""Habits find what was done again and again and has no name, and suggest one for it.

From what people, scripts, models and agents did; a run of a workflow is nobody's habit. What a
recorded workflow holds has a name already.
"""

import shlex
from collections.abc import Callable, Iterable, Sequence

import msgspec

from rutter.actors.rules.pages.address import host_of, origin_of
from rutter.actors.rules.steps.placeholders import PLACEHOLDER
from rutter.actors.rules.text.secret_words import asks_for_a_secret
from rutter.actors.rules.workflows.step_marks import Mark, fits, marks_of
from rutter.actors.rules.workflows.templates import named_target
from rutter.events.action import Action, ByRole, Parameter, Secret, Text, Value
from rutter.events.envelope import Envelope
from rutter.events.signature import bare
from rutter.events.workflow import Workflow
from rutter.replay.habits.repeats import Repeat, repeats
from rutter.replay.habits.sequences import DoneStep, fold
from rutter.replay.habits.suggested_names import kebab, says_much, snake, unique
from rutter.replay.story.wording import in_words

LEAST = 3  # once is a try, twice may be chance
EXAMPLES = 3
SHOWN = 40  # characters of an example
PLAIN = 300  # characters of what can be typed again

Occurrence = Sequence[DoneStep]


class VaryingValue(msgspec.Struct, frozen=True):
    """A varying value was typed or chosen at a step, and was not the same every time."""

    name: str
    step: int
    examples: tuple[str, ...]


class Habit(msgspec.Struct, frozen=True):
    """A habit was done several times, `by_person` of them by a person from beginning to end. The
    name and the parameters are suggestions; `start` is where it begins, as far as that is known."""

    name: str
    times: int
    by_person: int
    sessions: int
    steps: tuple[str, ...]
    parameters: tuple[VaryingValue, ...]
    secrets: tuple[str, ...]
    start: str
    record: str


def habits(log: Iterable[Envelope], least: int = LEAST) -> tuple[Habit, ...]:
    """The most worthwhile first: what would save the most steps."""
    doings = fold(log)
    codes, rows = doings.steps()
    workflows = doings.workflows()
    is_known = _recorded(workflows)
    found = sorted(repeats(codes, least), key=_worth)
    taken = [workflow.name for workflow in workflows]
    told: list[Habit] = []
    for length, starts in found:
        times = [[row for row in rows[at : at + length] if row is not None] for at in starts]
        if is_known([doings.tokens[done.code] for done in times[0]]):
            continue
        # One that was recorded with this very customer holds what was done with this very customer.
        if all(is_known([bare(done.token) for done in each]) for each in times):
            continue
        habit = _habit(times, _came_from(rows, starts[-1]), taken)
        taken.append(habit.name)
        told.append(habit)
    return tuple(told)


def _worth(repeat: Repeat) -> tuple[int, int, int]:
    times = len(repeat.starts)
    return -times * repeat.length, -times, repeat.starts[0]


# -- what has a name already -----------------------------------------------------------------------


def _recorded(workflows: Iterable[Workflow]) -> Callable[[Sequence[str]], bool]:
    """Whether these steps stand in a row in a workflow, with or without those that may be left
    out in it."""
    ways: list[tuple[Mark, ...]] = []
    for workflow in workflows:
        marks = marks_of(workflow)
        ways += dict.fromkeys((marks, tuple(mark for mark in marks if not mark.optional)))
    exact = {mark.token for way in ways for mark in way}
    loose = [mark for way in ways for mark in way if len(mark.pieces) > 1]

    def holds(way: tuple[Mark, ...], tokens: Sequence[str]) -> bool:
        return any(
            all(fits(mark.pieces, token) for mark, token in zip(way[at:], tokens, strict=False))
            for at in range(len(way) - len(tokens) + 1)
        )

    def is_known(tokens: Sequence[str]) -> bool:
        first = tokens[0]
        if first not in exact and not any(fits(mark.pieces, first) for mark in loose):
            return False
        return any(holds(way, tokens) for way in ways)

    return is_known


# -- what to call it -------------------------------------------------------------------------------


def _habit(times: Sequence[Occurrence], came_from: str, taken: Sequence[str]) -> Habit:
    newest = times[-1]
    columns = [[occurrence[at].value for occurrence in times] for at in range(len(newest))]
    named: dict[int, Value] = {}
    parameters: list[VaryingValue] = []
    for at, (values, done) in enumerate(zip(columns, newest, strict=True)):
        value = _named(values, done.field, [each.name for each in parameters])
        if value is not None:
            named[at] = value
        if isinstance(value, Parameter):
            parameters.append(VaryingValue(value.name, at + 1, _examples(values)))
    start = _start(newest, came_from)
    actions = _without_values(newest, named)
    name = unique(_title(actions, start), taken, "-")
    secrets = [value.name for value in named.values() if isinstance(value, Secret)]
    return Habit(
        name=name,
        times=len(times),
        by_person=sum(all(done.driver == "person" for done in each) for each in times),
        sessions=len({occurrence[0].session for occurrence in times}),
        steps=tuple(map(in_words, actions)),
        parameters=tuple(parameters),
        secrets=tuple(dict.fromkeys(secrets)),
        start=start,
        record=_record(name, start, newest, parameters),
    )


def _named(values: Sequence[Value | None], field: str, taken: Sequence[str]) -> Value | None:
    """What a step types, by a name: a secret, or what varied. Nothing where it is always the same.

    A field that asks for a secret has one, whatever is known of it: it is never shown.
    """
    for value in reversed(values):
        if isinstance(value, Secret):
            return value
    texts = {value.text for value in values if isinstance(value, Text)}
    if texts and asks_for_a_secret(field):
        return Secret(snake(field) or "secret")
    for value in reversed(values):
        if isinstance(value, Parameter):
            return Parameter(unique(value.name, taken, "_"))
    if len(texts) > 1:
        return Parameter(unique(snake(field) or "value", taken, "_"))
    return None


def _examples(values: Sequence[Value | None]) -> tuple[str, ...]:
    """The last ones, each once."""
    texts = dict.fromkeys(value.text for value in reversed(values) if isinstance(value, Text))
    return tuple(_clipped(text) for text in list(texts)[:EXAMPLES])


def _clipped(text: str) -> str:
    return text if len(text) <= SHOWN else text[: SHOWN - 3] + "..."


def _title(actions: Sequence[Action], start: str) -> str:
    """By the last thing that says what it was for; else by the last that says anything, or by the
    site."""
    labels = [label for action in reversed(actions) if (label := _label(action))]
    for label in (*filter(says_much, labels), *labels):
        if name := kebab(label):
            return name
    return kebab(host_of(start)[1]) or "habit"


def _label(action: Action) -> str:
    """What its element is called, without what varies."""
    way = action.target.primary if action.target else None
    return PLACEHOLDER.sub(" ", way.name) if isinstance(way, ByRole) else ""


def _without_values(steps: Occurrence, named: dict[int, Value]) -> list[Action]:
    """Each step with names in place of what varies: what it types, and what it is done to."""
    values: dict[str, str] = {}
    actions: list[Action] = []
    for at, done in enumerate(steps):
        action, value = done.shown, named.get(at, done.value)
        if action.target is not None and values:
            target = named_target(action.target, values)
            if target.strategies:
                action = msgspec.structs.replace(action, target=target)
        actions.append(msgspec.structs.replace(action, value=value))
        if isinstance(value, Parameter | Secret) and isinstance(done.value, Text):
            values[value.name] = done.value.text
    return actions


# -- where it begins, and recording it -------------------------------------------------------------


def _start(steps: Occurrence, came_from: str) -> str:
    """Where it goes to first; where its first step was done; else where the session came from."""
    first = steps[0]
    if first.shown.url:
        return first.shown.url
    return _address(first.place) or came_from


def _address(place: str) -> str:
    """The address of a place; what varies in it is anybody's, so that only the site is left."""
    address = place.partition(" ")[0]
    origin = origin_of(address)
    return f"{origin}/" if origin and "*" in address else address if origin else ""


def _came_from(rows: Sequence[DoneStep | None], start: int) -> str:
    """The last address that was gone to before, in this session."""
    here = rows[start]
    session = here.session if here is not None else ""
    for at in range(start, -1, -1):
        row = rows[at]
        if row is not None and row.session != session:
            break
        if row is not None and row.shown.url:
            return row.shown.url
    return ""


def _record(name: str, start: str, newest: Occurrence, parameters: Iterable[VaryingValue]) -> str:
    """What to type, behind `rutter`, to record it by doing it once more."""
    flags = [f"record {name} --url {shlex.quote(start) if _is_plain(start) else 'URL'}"]
    for each in parameters:
        value = newest[each.step - 1].value
        text = value.text if isinstance(value, Text) else ""
        flags.append(f"--param {each.name}={shlex.quote(text) if _is_plain(text) else '...'}")
    return " ".join(flags)


def _is_plain(text: str) -> bool:
    """Whether it can be shown and typed again as it stands."""
    return 0 < len(text) <= PLAIN and text.isascii() and text.isprintable()
