"""An edit changes a recorded workflow: a literal named afterwards, a step dropped or made optional,
what a step must lead to stated.

What comes out is a new version, said as a fact by the one writer of the data directory. Earlier
versions stay in the log as they were.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeVar
from urllib.parse import unquote

import msgspec

from rutter.actors.predictor import Knowledge, Predictor
from rutter.actors.rules.pages.address import mapped_paths
from rutter.actors.rules.workflows.literals import named, placed, with_names_in, without
from rutter.actors.rules.workflows.templates import hosts_of, names_used
from rutter.events.action import READS, Action, Parameter, Secret, Text, Value
from rutter.events.checks import Check, ReadBack
from rutter.events.envelope import kind
from rutter.events.errors import BadInput
from rutter.events.predictor import WorkflowDeleted, WorkflowLearned, WorkflowRenamed
from rutter.events.sqlite_reader import SqliteReader
from rutter.events.workflow import Expectation, Place, Step, Workflow
from rutter.pipeline.app import open_app
from rutter.pipeline.config.data_directory import DataDirectory
from rutter.pipeline.config.tables import host_pattern
from rutter.pipeline.workflows.read_steps import Extraction, check_extractions, extracting
from rutter.pipeline.workflows.secret_literals import Literals, is_telling
from rutter.pipeline.workflows.stated_checks import (
    check_kind,
    check_names,
    stated,
    texts_in,
    verifying,
    withheld,
)
from rutter.replay.verify import fresh_deciders

LOOKS = READS | {"check"}  # leads nowhere: where it ends, the step before it led
Change = TypeVar("Change", WorkflowLearned, WorkflowDeleted, WorkflowRenamed)


def check_workflow(workflow: Workflow) -> None:
    """What nobody could ask for by its name, or what would do nothing, is not taken on."""
    if not workflow.name.strip():
        raise BadInput("a workflow without a name cannot be run", "give it a name")
    if not workflow.steps:
        raise BadInput(f"workflow {workflow.name!r} has no steps", "leave it one at least")


class Edit(msgspec.Struct, frozen=True):
    """An edit changes steps by the numbers that `rutter workflows show` gives them: from 1."""

    parameters: Mapping[int, str] = {}
    secrets: Mapping[int, str] = {}
    dropped: frozenset[int] = frozenset()
    optional: frozenset[int] = frozenset()
    required: frozenset[int] = frozenset()
    complete: bool = False
    expected: Mapping[int, tuple[Check, ...]] = {}
    read_backs: Mapping[int, ReadBack] = {}
    unexpected: frozenset[int] = frozenset()
    verified: tuple[tuple[int, Check], ...] = ()  # behind which step, from 0, a step that looks
    extracted: tuple[Extraction, ...] = ()  # and one that reads
    hosts: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()
    dropped_hosts: tuple[str, ...] = ()

    def steps(self) -> list[int]:
        named = (*self.parameters, *self.secrets)
        stated = {*self.expected, *self.read_backs, *self.unexpected}
        return [*named, *self.dropped, *self.optional, *self.required, *stated]


async def publish(directory: DataDirectory, decide: Callable[[Knowledge], Change]) -> Change:
    """Appends what follows from what is known. The caller holds the lock of the directory."""
    deciders = fresh_deciders()
    [knows] = [each.decider for each in deciders if isinstance(each.decider, Predictor)]
    async with open_app(directory, deciders) as app:
        change = decide(knows.knowledge)
        await app.say_process(change)
    return change


def names_over_time(name: str, reader: SqliteReader) -> tuple[str, ...]:
    """The name and those that became it: what was run under an old name was this workflow."""
    renamed = [envelope.event for envelope in reader.read(kinds=[kind(WorkflowRenamed)])]
    names = {name: None}
    for event in reversed(renamed):
        if isinstance(event, WorkflowRenamed) and event.to in names:
            names[event.name] = None
    return tuple(names)


def edited(workflow: Workflow, edit: Edit, version: int) -> Workflow:
    """The workflow as it would have been recorded with these names and without these steps."""
    _check(workflow, edit)
    values = _literals(workflow, edit.parameters)
    hidden = hidden_by(workflow, edit)
    numbered = list(enumerate(workflow.steps, 1))
    passed = {
        number - 1 for number, step in numbered if number in edit.optional and step.after.moved
    }
    steps = tuple(
        _withheld(
            number,
            _step(number, step, edit, values, passed=number in passed),
            hidden,
            bare=bool(edit.secrets),  # what was typed plainly is on pictures, wherever it shows
        )
        for number, step in _with_looks(numbered, edit)
        if number not in edit.dropped
    )
    if all(step.action.type in LOOKS for step in steps):
        raise BadInput("that would leave no step", f"rutter workflows delete {workflow.name}")
    parameters, secrets = names_used(steps, {*workflow.parameters, *values})
    return msgspec.structs.replace(
        workflow,
        version=version,
        steps=steps,
        end=_expected(len(workflow.steps), _end(workflow, edit, steps, values), hidden),
        parameters=parameters,
        secrets=secrets,
        hosts=_hosts(workflow, edit, steps),
        resources=_resources(workflow, edit),
        complete=workflow.complete or edit.complete,
    )


def _hosts(workflow: Workflow, edit: Edit, steps: tuple[Step, ...]) -> tuple[str, ...]:
    """Where its steps are, and what was allowed beside: that is no step's and stays."""
    here, before = hosts_of(steps), hosts_of(workflow.steps)
    for host in edit.dropped_hosts:
        if host in here:
            raise BadInput(f"its steps are on {host}", "drop those steps first")
    beside = (host for host in workflow.hosts if host not in before)
    together = dict.fromkeys((*here, *beside, *edit.hosts))
    return tuple(host for host in together if host not in edit.dropped_hosts)


def _resources(workflow: Workflow, edit: Edit) -> tuple[str, ...]:
    together = dict.fromkeys((*workflow.resources, *edit.resources))
    gone = (*edit.dropped_hosts, *edit.hosts)  # what may be gone to may be loaded from
    return tuple(host for host in together if host not in gone)


def hidden_by(workflow: Workflow, edit: Edit) -> Literals:
    """What the workflow types and is a secret from this edit on."""
    return Literals(_literals(workflow, edit.secrets))


def typed_again(workflow: Workflow, edit: Edit) -> dict[str, list[int]]:
    """Steps that type what was named elsewhere and still are the same in every run, by name."""
    found: dict[str, list[int]] = {}
    short = {
        at: name for at, name in edit.secrets.items() if not is_telling(_literal(workflow, at))
    }
    for asked, name in (*edit.parameters.items(), *short.items()):
        for number, step in enumerate(workflow.steps, 1):
            same = step.action.value == workflow.steps[asked - 1].action.value
            changed = (*edit.parameters, *edit.secrets, *edit.dropped)
            if same and number not in changed and number not in found.get(name, ()):
                found.setdefault(name, []).append(number)
    return found


# -- what is asked for -----------------------------------------------------------------------------


def _check(workflow: Workflow, edit: Edit) -> None:
    reach = (*edit.hosts, *edit.resources, *edit.dropped_hosts)
    added = edit.verified or edit.extracted
    if not edit.steps() and not added and not edit.complete and not reach:
        raise BadInput("nothing to change", "see: rutter workflows edit --help")
    for number in edit.steps():
        if not 1 <= number <= len(workflow.steps):
            has = f"{workflow.name!r} has steps 1 to {len(workflow.steps)}"
            raise BadInput(f"{has}, not {number}", _look(workflow))
    _check_once(edit)
    for name in (*edit.parameters.values(), *edit.secrets.values()):
        if not name.isidentifier():
            raise BadInput(f"{name!r} is no name", "letters, digits and _ make a name")
    _check_kinds(workflow, edit)
    _check_stated(workflow, edit)
    _check_hosts(workflow, edit)


def _check_hosts(workflow: Workflow, edit: Edit) -> None:
    for host in (*edit.hosts, *edit.resources):
        host_pattern(host, "--host" if host in edit.hosts else "--resource")
    for host in edit.dropped_hosts:
        if host in (*edit.hosts, *edit.resources):
            raise BadInput(f"{host} is added and dropped", "say one of them")
        if host not in (*workflow.hosts, *workflow.resources):
            raise BadInput(f"{workflow.name!r} does not name {host}", _look(workflow))


def _check_stated(workflow: Workflow, edit: Edit) -> None:
    hidden = hidden_by(workflow, edit)
    parameters = (*workflow.parameters, *edit.parameters.values())
    secrets = (*workflow.secrets, *edit.secrets.values())
    for number, texts in _stated(edit):
        check_names(number, texts, parameters, secrets)
        if hidden.are_among(texts):
            raise BadInput(f"what is stated for step {number} holds a secret", "leave it out")
    for number in {*edit.expected, *edit.read_backs}:
        check_kind(number, workflow.steps[number - 1])
    kept = [each for at, each in enumerate(workflow.steps, 1) if at not in edit.dropped]
    check_extractions(edit.extracted, kept)
    for number in (*(at for at, _ in edit.verified), *(each.behind for each in edit.extracted)):
        if not 0 <= number <= len(workflow.steps):
            has = f"{workflow.name!r} has steps 1 to {len(workflow.steps)}"
            raise BadInput(f"{has}: none can stand behind {number}", _look(workflow))
    for number in edit.unexpected:
        after = workflow.steps[number - 1].after
        if not (after.learned or after.checks or after.read_back):
            raise BadInput(f"step {number} expects nothing that can be dropped", _look(workflow))


def _stated(edit: Edit) -> Iterator[tuple[int, list[str]]]:
    for number, checks in edit.expected.items():
        yield number, list(texts_in(checks))
    for number, back in edit.read_backs.items():
        yield number, list(texts_in((), back))
    for number, check in edit.verified:
        yield number, list(texts_in([check]))
    for extraction in edit.extracted:
        yield extraction.behind, extraction.texts


def _check_once(edit: Edit) -> None:
    for number in edit.dropped:
        if edit.steps().count(number) > 1:
            raise BadInput(f"step {number} is dropped and changed", "say one of them")
    for number in (*edit.parameters.keys() & edit.secrets.keys(), *edit.optional & edit.required):
        raise BadInput(f"step {number} cannot be both", "say one of them")


def _check_kinds(workflow: Workflow, edit: Edit) -> None:
    parameters = {*workflow.parameters, *edit.parameters.values()}
    for name in sorted(parameters & {*workflow.secrets, *edit.secrets.values()}):
        raise BadInput(f"{name!r} would be a parameter and a secret", "give them two names")


def _literals(workflow: Workflow, named: Mapping[int, str]) -> dict[str, str]:
    """What the named steps type, by name; a name stands for one value."""
    found: dict[str, str] = {}
    for number, name in named.items():
        typed = _literal(workflow, number)
        if found.setdefault(name, typed) != typed:
            raise BadInput(
                f"{name!r} would be two values: step {number} types another", "give it another name"
            )
    return found


def _literal(workflow: Workflow, number: int) -> str:
    match workflow.steps[number - 1].action.value:
        case Text(text):
            return text
        case Parameter(name):
            raise BadInput(f"step {number} types the parameter {name!r} already", _look(workflow))
        case Secret(name):
            raise BadInput(f"step {number} types the secret {name!r} already", _look(workflow))
        case _:
            raise BadInput(f"step {number} types nothing that could be named", _look(workflow))


def _look(workflow: Workflow) -> str:
    return f"see: rutter workflows show {workflow.name}"


# -- what comes of it ------------------------------------------------------------------------------


def _with_looks(numbered: Iterable[tuple[int, Step]], edit: Edit) -> Iterator[tuple[int, Step]]:
    """The steps with those that only look; these have no number yet."""
    before: list[Step] = []
    for number, step in ((0, None), *numbered):
        if step is not None:
            before.append(step)
            yield number, step
        here = [each for each in edit.extracted if each.behind == number]
        yield from ((0, extracting(each, before)) for each in here)
        yield from ((0, verifying(check)) for after, check in edit.verified if after == number)


def _step(number: int, step: Step, edit: Edit, values: Mapping[str, str], *, passed: bool) -> Step:
    """The step changed. When the page behind it may be passed over, it may lead past that."""
    step = stated(
        number,
        step,
        edit.expected.get(number, ()),
        edit.read_backs.get(number),
        afresh=number in edit.unexpected,
    )
    step = with_names_in(step, values, edit.parameters.get(number, ""))
    return msgspec.structs.replace(
        step,
        action=_action(number, step.action, edit),
        after=step.after.without_place if passed else step.after,
        optional=(step.optional or number in edit.optional) and number not in edit.required,
    )


def _action(number: int, action: Action, edit: Edit) -> Action:
    value: Value | None = action.value
    if number in edit.secrets:
        value = Secret(edit.secrets[number])
    elif number in edit.parameters:
        value = Parameter(edit.parameters[number])
    return msgspec.structs.replace(action, value=value)


def _withheld(number: int, step: Step, hidden: Literals, *, bare: bool) -> Step:
    return msgspec.structs.replace(
        step,
        picture=None if bare else step.picture,
        action=hidden.action(number, step.action),
        before=_pathless(step.before, hidden),
        after=_expected(number, step.after, hidden),
    )


def _expected(number: int, expectation: Expectation, hidden: Literals) -> Expectation:
    expectation = withheld(number, expectation, hidden)
    place = None if expectation.place is None else _pathless(expectation.place, hidden)
    headings = tuple(hidden.hide(heading) for heading in expectation.headings)
    return msgspec.structs.replace(expectation, place=place, headings=headings)


def _pathless(place: Place, hidden: Literals) -> Place:
    def pathless(path: str) -> str:
        return "/".join("*" if hidden.holds(unquote(each)) else each for each in path.split("/"))

    return mapped_paths(place, pathless)


def _end(
    workflow: Workflow, edit: Edit, steps: tuple[Step, ...], values: Mapping[str, str]
) -> Expectation:
    """Without its last step the workflow ends where the one before led."""
    if len(workflow.steps) in edit.dropped:
        led = [step.after.place for step in steps if step.action.type not in LOOKS]
        return Expectation(place=led[-1])
    end = named(workflow.end, values)
    place = None if end.place is None else placed(end.place, values.values())
    headings = tuple(without(heading, values.values()) for heading in end.headings)
    return msgspec.structs.replace(end, place=place, headings=headings)
