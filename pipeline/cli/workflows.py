"""`rutter workflows` shows what is known, and changes it. Each change is a new fact in the log."""

import argparse
from collections.abc import Iterator, Sequence
from typing import Any

from rutter.actors.predictor import Knowledge
from rutter.events.checks import Check, ReadBack, texts_of
from rutter.events.errors import BadInput
from rutter.events.predictor import WorkflowDeleted, WorkflowLearned, WorkflowRenamed
from rutter.events.sqlite_reader import SqliteReader
from rutter.events.workflow import Step, Workflow
from rutter.pipeline.cli import workflows_html
from rutter.pipeline.cli.show import when
from rutter.pipeline.cli.terminal import Terminal
from rutter.pipeline.cli.workflow_changes import changing
from rutter.pipeline.cli.workflows_versions import version_rows
from rutter.pipeline.config.exit_codes import Exit
from rutter.pipeline.config.settings import Settings
from rutter.pipeline.queries.workflows_and_sessions import latest_workflow, project
from rutter.pipeline.workflows.check_syntax import (
    TYPES,
    read_back_from,
    read_check,
    shows_something,
    write_check,
)
from rutter.pipeline.workflows.edit import Edit, edited, hidden_by, typed_again
from rutter.pipeline.workflows.read_steps import FORM, read_extraction
from rutter.replay.projections import ProjectionStore
from rutter.replay.story.wording import in_words, printable

# -- looking ---------------------------------------------------------------------------------------


def list_(options: argparse.Namespace, settings: Settings, terminal: Terminal) -> None:
    with project(settings) as store:
        rows = version_rows(store)
    terminal.answer([{k: v for k, v in row.items() if k != "workflow"} for row in rows])
    if not rows:
        terminal.say(
            "no workflows yet; record one: rutter record NAME --url URL (or --script FILE); or let "
            "a model find the way: rutter run NAME --goal TEXT --url URL"
        )
        return
    terminal.table(
        ("workflow", "version", "steps", "parameters", "secrets", "recorded", "came", "state"),
        (
            (
                row["name"],
                str(row["version"]),
                str(row["steps"]),
                row["parameters"] or "-",
                row["secrets"] or "-",
                when(row["recorded_ns"]),
                row["came"],
                "complete" if row["complete"] else f"incomplete: {row['stopped_at']}",
            )
            for row in rows
        ),
    )


def show(options: argparse.Namespace, settings: Settings, terminal: Terminal) -> int:
    if not options.name:
        raise BadInput("which workflow?", "rutter workflows show NAME")
    with project(settings) as store:
        workflow = latest_workflow(store, options.name)
    if options.html is not None:
        return workflows_html.write(workflow, options.html, settings, terminal)
    _tell(workflow, terminal)
    workflows_html.tell_pictures(workflow, settings, terminal)
    return Exit.DONE


# -- changing --------------------------------------------------------------------------------------


def edit(options: argparse.Namespace, settings: Settings, terminal: Terminal) -> None:
    """A literal becomes a parameter or a secret; a step is dropped, may be missing, or must lead
    to what is stated."""
    asked = Edit(
        parameters=_named(options.param, "--param"),
        secrets=_named(options.secret, "--secret"),
        dropped=frozenset(options.drop),
        optional=frozenset(options.optional),
        required=frozenset(options.required),
        complete=options.complete,
        expected=_checks(options.expect),
        read_backs=_read_backs(options.read_back),
        unexpected=frozenset(options.no_expect),
        verified=tuple(
            (number, read_check(said)) for number, said in _numbered(options.verify, "--verify")
        ),
        extracted=tuple(
            read_extraction(number, said)
            for number, said in _numbered(options.extract, "--extract", FORM.partition("=")[2])
        ),
        hosts=tuple(options.host),
        resources=tuple(options.resource),
        dropped_hosts=tuple(options.drop_host),
    )
    before, after = change(options.name, asked, settings)
    _tell(after, terminal)
    for name, numbers in typed_again(before, asked).items():
        listed = ", ".join(map(str, numbers))
        terminal.note(f"the same is typed by step {listed}, which stays as it was ({name})")
    more = [host for host in after.hosts if host not in (*before.hosts, *asked.hosts)]
    if more:
        terminal.note(f"its runs may go to {', '.join(more)} from now on")
    if asked.secrets:
        _tell_forgotten(before, asked, terminal)
        _tell_holders(before, asked, settings, terminal)


def change(name: str, asked: Edit, settings: Settings) -> tuple[Workflow, Workflow]:
    """The workflow as it was, and its new version."""
    with changing(settings) as writer:
        with project(settings) as store:
            before = latest_workflow(store, name)

        def decide(knowledge: Knowledge) -> WorkflowLearned:
            version = knowledge.next_version(before.name)
            return WorkflowLearned(workflow=edited(before, asked, version))

        return before, writer.publish(decide).workflow


def _tell_forgotten(before: Workflow, asked: Edit, terminal: Terminal) -> None:
    """What was learned by a text that is a secret from now on is not looked for any more."""
    hidden = hidden_by(before, asked)
    for number, step in enumerate(before.steps, 1):
        learned = [each for each in step.after.learned if hidden.are_among(texts_of(each))]
        if learned and number not in asked.dropped:
            terminal.note(f"step {number} is no longer checked by what it said of the secret")


def _tell_holders(before: Workflow, asked: Edit, settings: Settings, terminal: Terminal) -> None:
    with SqliteReader(settings.directory.log) as reader:
        holders = hidden_by(before, asked).in_log(reader)
    if holders:
        terminal.note("the log still has what was typed; it goes with:")
    for session, event in holders:
        erase = f"log erase {session}" + (f" --event {event}" if event is not None else "")
        terminal.note(f"  {settings.command(erase)} --why TEXT")


def rename(options: argparse.Namespace, settings: Settings, terminal: Terminal) -> None:
    name, to = options.name, options.to
    if not to.strip():
        raise BadInput("a workflow needs a name", "rutter workflows rename OLD NEW")
    if to == name:
        raise BadInput(f"it is called {name!r} already", "rutter workflows rename OLD NEW")
    with changing(settings) as writer:
        with project(settings) as store:
            latest_workflow(store, name)
            if _versions(store, to):
                raise BadInput(
                    f"there is a workflow {to!r} already", "choose another name, or delete that one"
                )
        writer.publish(lambda _: WorkflowRenamed(name=name, to=to))
    _done({"renamed": name, "to": to}, f"{name} is {to} now", terminal)


def delete(options: argparse.Namespace, settings: Settings, terminal: Terminal) -> None:
    name = options.name
    with changing(settings) as writer:
        with project(settings) as store:
            latest_workflow(store, name)
            versions = _versions(store, name)
        writer.publish(lambda _: WorkflowDeleted(name=name))
    what = f"{versions} version" if versions == 1 else f"{versions} versions"
    said = f"{name} is no longer known ({what}); the log still has it"
    _done({"deleted": name, "versions": versions}, said, terminal)


def _done(report: dict[str, Any], said: str, terminal: Terminal) -> None:
    terminal.answer(report)
    terminal.say(f"[OK] {said}")


def _named(pairs: Sequence[str], flag: str) -> dict[int, str]:
    """`6=customer` arguments as a mapping; each step once."""
    found: dict[int, str] = {}
    for number, name in _numbered(pairs, flag, "NAME"):
        if number in found:
            raise BadInput(f"{flag} names step {number} twice", "give it one name")
        found[number] = name
    return found


def _numbered(pairs: Sequence[str], flag: str, what: str = "CHECK") -> Iterator[tuple[int, str]]:
    """`6=...` arguments as numbers of steps with what is said of them."""
    for pair in pairs:
        number, equals, said = pair.partition("=")
        # No workflow has a step of so many digits, and int() refuses thousands of them.
        if not equals or not number.isascii() or not number.isdigit() or len(number) > 9:
            example = {"NAME": "name", "CHECK": "text_visible:TEXT"}.get(what, "name #id")
            raise BadInput(f"{flag} {pair!r} is not STEP={what}", f"write {flag} 3={example}")
        yield int(number), said


def _checks(pairs: Sequence[str]) -> dict[int, tuple[Check, ...]]:
    """`6=text_visible:Order sent` arguments; a step may be given several."""
    found: dict[int, tuple[Check, ...]] = {}
    for number, said in _numbered(pairs, "--expect"):
        found[number] = (*found.get(number, ()), read_check(said))
    return found


def _read_backs(pairs: Sequence[str]) -> dict[int, ReadBack]:
    """`6=/orders text_visible:1008` arguments; those of one step are about one address."""
    found: dict[int, ReadBack] = {}
    for number, said in _numbered(pairs, "--read-back"):
        url, _, check = said.strip().partition(" ")
        if not check.strip():
            raise BadInput(
                f"--read-back {number}={said} says nothing that must be there",
                f"write --read-back '{number}=/orders text_visible:TEXT'",
            )
        if more := [kind for kind in TYPES if f" {kind}:" in f" {check.partition(':')[2]}"]:
            raise BadInput(
                f"--read-back {number}={said} names a second check ({more[0]})",
                "give --read-back once for each, with the same address",
            )
        before = found.get(number)
        if before is not None and before.url != url:
            raise BadInput(f"step {number} is read back in two places", "give it one address")
        checks = (*(before.checks if before else ()), read_check(check.lstrip()))
        found[number] = read_back_from(url, checks)
    return {number: shows_something(each) for number, each in found.items()}


# -- telling ---------------------------------------------------------------------------------------


def _tell(workflow: Workflow, terminal: Terminal) -> None:
    terminal.answer(workflow)
    state = "complete" if workflow.complete else "incomplete"
    terminal.say(f"{workflow.name} version {workflow.version} ({state})")
    if workflow.goal:
        terminal.say(f"goal: {workflow.goal}")
    if workflow.parameters:
        terminal.say(f"parameters: {', '.join(workflow.parameters)}")
    if workflow.secrets:
        terminal.say(f"secrets: {', '.join(workflow.secrets)}")
    if workflow.hosts:
        terminal.say(f"may go to: {', '.join(workflow.hosts)}")
    if workflow.resources:
        terminal.say(f"may load from: {', '.join(workflow.resources)}")
    terminal.table(
        ("step", "what", "leads to", "approved", ""),
        (
            (
                str(number),
                in_words(step.action),
                step.after.place.path if step.after.moved and step.after.place else "",
                "by its recording" if step.standing_approval else "",
                _optional(step),
            )
            for number, step in enumerate(workflow.steps, 1)
        ),
    )
    _tell_checks(workflow, terminal)


def _optional(step: Step) -> str:
    if step.fork is None:
        return "optional" if step.optional else ""
    return f"optional, way {step.fork.way} of fork {step.fork.number}"


def _tell_checks(workflow: Workflow, terminal: Terminal) -> None:
    """What each step expects, as it is written."""
    lines = [
        f"{number:>4}  {line}"
        for number, step in enumerate(workflow.steps, 1)
        for line in _expects(step)
    ]
    if lines:
        terminal.say("what is checked after them:")
    for line in lines:
        terminal.say(line)


def _expects(step: Step) -> Iterator[str]:
    for check in (*step.action.verify, *step.after.checks):
        yield printable(write_check(check))
    for check in step.after.learned:
        yield printable(f"{write_check(check)} (learned)")
    if step.after.read_back is not None:
        for check in step.after.read_back.checks:
            yield printable(f"{step.after.read_back.where}: {write_check(check)}")


def _versions(store: ProjectionStore, name: str) -> int:
    [(count,)] = store.db.execute("SELECT count(*) FROM workflows WHERE name = ?", (name,))
    return int(count)
