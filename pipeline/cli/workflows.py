"""`rutter workflows` shows what is known, and changes it. Each change is a new fact in the log."""

from collections.abc import Iterator, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any

import msgspec

from rutter.actors.predictor import Knowledge
from rutter.events.checks import Check, ReadBack, StateIs, texts_of
from rutter.events.errors import BadInput, LogCorrupt
from rutter.events.page import Artifact
from rutter.events.predictor import WorkflowDeleted, WorkflowLearned, WorkflowRenamed
from rutter.events.sqlite_reader import SqliteReader
from rutter.events.workflow import Step, Workflow
from rutter.pipeline.cli.terminal import Options, Terminal, count, when
from rutter.pipeline.cli.workflow_changes import change, changing
from rutter.pipeline.config.exit_codes import Exit
from rutter.pipeline.config.settings import Settings
from rutter.pipeline.output.safe_files import write_named
from rutter.pipeline.queries.workflows_and_sessions import (
    find_workflow,
    latest_workflow,
    project,
    versions_of,
    workflow_version,
)
from rutter.pipeline.sessions.request import RunRequest
from rutter.pipeline.workflows.check_syntax import (
    TYPES,
    read_back_from,
    read_check,
    shows_something,
    write_check,
)
from rutter.pipeline.workflows.diff import StepDifference, differences
from rutter.pipeline.workflows.edit import Edit, hidden_by, typed_again
from rutter.pipeline.workflows.read_steps import FORM, PAGE_FORM, read_extraction, read_page_reading
from rutter.replay.documents.workflow_page import render
from rutter.replay.projections import ProjectionStore
from rutter.replay.story.wording import check_in_words, in_words, printable

MARKS = {"added": ("+", "green"), "dropped": ("-", "red"), "changed": ("~", "yellow")}
TAUGHT_BY = {"record": "recorded", "run": "healed", "tools": "found by a model"}
ROWS = """
    SELECT workflows.*, sessions.purpose AS purpose FROM workflows
    LEFT JOIN sessions ON sessions.session = workflows.session
    ORDER BY workflows.name, version"""
# What a page in a state shows, for people; the others say it by their name.
STATES = {
    "LOGIN_REQUIRED": "the page asks to sign in",
    "FAILED": "the page says that something failed",
    "COMPLETE": "the page says that it is done",
}

# -- looking ---------------------------------------------------------------------------------------


def list_(options: Options, settings: Settings, terminal: Terminal) -> None:
    with project(settings) as store:
        rows = version_rows(store)
    terminal.answer([{k: v for k, v in row.items() if k != "workflow"} for row in rows])
    terminal.show_rows(
        rows,
        {
            "workflow": itemgetter("name"),
            "version": itemgetter("version"),
            "steps": itemgetter("steps"),
            "parameters": lambda row: row["parameters"] or "-",
            "secrets": lambda row: row["secrets"] or "-",
            "recorded": lambda row: when(row["recorded_ns"]),
            "came": itemgetter("came"),
            "state": lambda row: (
                "complete" if row["complete"] else f"incomplete: {row['stopped_at']}"
            ),
        },
        none="no workflows yet; record one: rutter record NAME --url URL (or --script FILE); or "
        "let a model find the way: rutter run NAME --goal TEXT --url URL",
    )


def show(options: Options, settings: Settings, terminal: Terminal) -> None:
    if not options.name:
        raise BadInput("which workflow?", "rutter workflows show NAME")
    workflow = find_workflow(settings, options.name)
    if options.html is not None:
        _write_page(workflow, options.html, settings, terminal)
        return
    _tell(workflow, terminal)
    pictures = sum(step.picture is not None for step in workflow.steps)
    if pictures:
        look = settings.command(f"workflows show {workflow.name} --html FILE")
        terminal.say(f"pictures of {pictures} steps: {look}")


def _write_page(workflow: Workflow, place: Path, settings: Settings, terminal: Terminal) -> None:
    """Its steps beside pictures of them."""
    artifacts = settings.directory.artifacts

    def load(artifact: Artifact) -> bytes | None:
        try:
            return artifacts.get(artifact)
        except LogCorrupt:  # it was erased, or has expired
            return None

    write_named(place, render(workflow, load), "--html")
    pictures = [step.picture.sha256 if step.picture else None for step in workflow.steps]
    terminal.answer({"workflow": workflow.name, "file": str(place), "pictures": pictures})
    terminal.say(f"[OK] {place}")


def version_rows(store: ProjectionStore) -> list[dict[str, Any]]:
    """Every version of every workflow, and where it came from."""
    rows = store.rows(ROWS)
    for row in rows:
        row["came"] = came(row, row.pop("purpose"))
    return rows


def came(row: dict[str, Any], purpose: str | None) -> str:
    """Where a version came from, in a word or two; `purpose` is that of the session it is from."""
    if row["again"]:
        return f"version {row['again']} again"
    if row["merged"]:
        return f"merged with version {row['merged']}"
    return TAUGHT_BY.get(purpose or "", "edited")


# -- changing --------------------------------------------------------------------------------------


def edit(options: Options, settings: Settings, terminal: Terminal) -> int | None:
    """A literal becomes a parameter or a secret; a step is dropped, may be missing, or must lead
    to what is stated; or a person shows in a window what it is done to."""
    if options.target:
        # Here and not above: who lists or edits without a window waits for no browser's modules.
        from rutter.pipeline.cli.record_again import record_again

        return record_again(RunRequest(options.name), options.target, settings, terminal, only=True)
    _edited(options, settings, terminal)
    return None


def _edited(options: Options, settings: Settings, terminal: Terminal) -> None:
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
        extracted=(
            *(read_extraction(*each) for each in _reads(options.extract, "--extract", FORM)),
            *(
                read_page_reading(*each)
                for each in _reads(options.read_page, "--read-page", PAGE_FORM)
            ),
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


def rename(options: Options, settings: Settings, terminal: Terminal) -> None:
    name, to = options.name, options.to
    if not to.strip():
        raise BadInput("a workflow needs a name", "rutter workflows rename OLD NEW")
    if to == name:
        raise BadInput(f"it is called {name!r} already", "rutter workflows rename OLD NEW")
    with changing(settings) as writer:
        with project(settings) as store:
            latest_workflow(store, name)
            if versions_of(store, to):
                raise BadInput(
                    f"there is a workflow {to!r} already", "choose another name, or delete that one"
                )
        writer.publish(lambda _: WorkflowRenamed(name=name, to=to))
    terminal.answer({"renamed": name, "to": to})
    terminal.say(f"[OK] {name} is {to} now")


def delete(options: Options, settings: Settings, terminal: Terminal) -> None:
    name = options.name
    with changing(settings) as writer:
        with project(settings) as store:
            latest_workflow(store, name)
            versions = len(versions_of(store, name))
        writer.publish(lambda _: WorkflowDeleted(name=name))
    terminal.answer({"deleted": name, "versions": versions})
    what = count(versions, "version")
    terminal.say(f"[OK] {name} is no longer known ({what}); the log still has it")


def _named(pairs: Sequence[str], flag: str) -> dict[int, str]:
    """`6=customer` arguments as a mapping; each step once."""
    found: dict[int, str] = {}
    for number, name in _numbered(pairs, flag, "NAME"):
        if number in found:
            raise BadInput(f"{flag} names step {number} twice", "give it one name")
        found[number] = name
    return found


def _reads(pairs: Sequence[str], flag: str, form: str) -> Iterator[tuple[int, str]]:
    return _numbered(pairs, flag, form.partition("=")[2])


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
    for what, said in (
        ("goal", [workflow.goal] if workflow.goal else []),
        ("parameters", workflow.parameters),
        ("secrets", workflow.secrets),
        ("may go to", workflow.hosts),
        ("may load from", workflow.resources),
    ):
        if said:
            terminal.say(f"{what}: {', '.join(said)}")
    terminal.show_rows(
        list(enumerate(workflow.steps, 1)),
        {
            "step": lambda each: each[0],
            "what": lambda each: in_words(each[1].action),
            "leads to": lambda each: _leads_to(each[1]),
            "approved": lambda each: "by its recording" if each[1].standing_approval else "",
            "": lambda each: _optional(each[1]),
        },
    )
    _tell_checks(workflow, terminal)


def _leads_to(step: Step) -> str:
    return step.after.place.path if step.after.moved and step.after.place else ""


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
        terminal.say("what is checked after them:", *lines)


def _expects(step: Step) -> Iterator[str]:
    for check in (*step.action.verify, *step.after.checks):
        yield printable(write_check(check))
    for check in step.after.learned:
        yield printable(f"{_noticed(check)} (noticed while recording)")
    if step.after.read_back is not None:
        for check in step.after.read_back.checks:
            yield printable(f"{step.after.read_back.where}: {write_check(check)}")


def _noticed(check: Check) -> str:
    """What a page showed when it was recorded, for people."""
    if isinstance(check, StateIs) and check.value in STATES:
        return STATES[check.value]
    return check_in_words(check)


# -- the difference --------------------------------------------------------------------------------


def diff(options: Options, settings: Settings, terminal: Terminal) -> None:
    with project(settings) as store:
        old, new = _two(store, options)
    found = differences(old, new)
    if terminal.as_json:
        told = {"workflow": new.name, "old": old.version, "new": new.version, "differences": found}
        terminal.json(told)
        return
    terminal.say(f"{new.name} version {old.version} -> version {new.version}")
    if not found:
        terminal.say("nothing is different")
    for each in found:
        _tell_difference(each, terminal)


def _two(store: ProjectionStore, options: Options) -> tuple[Workflow, Workflow]:
    latest_workflow(store, options.name)  # a name that nobody knows is refused as such
    versions = versions_of(store, options.name)
    if options.old is None and len(versions) < 2:
        raise BadInput(
            f"workflow {options.name!r} has one version alone", "record or edit it to have another"
        )
    old = options.old if options.old is not None else versions[-2]
    new = options.new if options.new is not None else versions[-1]
    return workflow_version(store, options.name, old), workflow_version(store, options.name, new)


def _tell_difference(difference: StepDifference, terminal: Terminal) -> None:
    mark, style = MARKS[difference.kind]
    number = difference.after or difference.before
    where = f"step {number}" if number else "the workflow"
    if difference.before and difference.after and difference.before != difference.after:
        where = f"{where} (was {difference.before})"
    said = f": {difference.words}" if number else ""
    terminal.out.print(terminal.out.shown(f"{mark} {where}{said}"), style=style, markup=False)
    terminal.say(*(f"      {what}" for what in difference.what))


# -- going back ------------------------------------------------------------------------------------


def revert(options: Options, settings: Settings, terminal: Terminal) -> int:
    name, version = options.name, options.version
    with changing(settings) as writer:
        with project(settings) as store:
            newest = latest_workflow(store, name)
            old = workflow_version(store, name, version)
        if newest.version == version:
            raise BadInput(
                f"version {version} of {name!r} is the newest already", "rutter workflows"
            )
        if newest.complete and not old.complete:
            raise BadInput(
                f"version {version} of {name!r} is incomplete: runs would go on with another",
                f"rutter workflows diff {name} {version} {newest.version}",
            )

        def decide(knowledge: Knowledge) -> WorkflowLearned:
            again = msgspec.structs.replace(old, version=knowledge.next_version(name))
            return WorkflowLearned(workflow=again, again=version)

        workflow = writer.publish(decide).workflow
    terminal.answer({"workflow": name, "version": workflow.version, "again": version})
    terminal.say(f"[OK] {name} version {workflow.version} is version {version} again")
    return Exit.DONE
