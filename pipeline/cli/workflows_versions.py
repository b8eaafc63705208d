"""The versions of a workflow are listed and compared, and a person goes back to one: where each
came from, and what is different between two."""

from typing import Any

import msgspec

from rutter.actors.predictor import Knowledge
from rutter.events.errors import BadInput
from rutter.events.predictor import WorkflowLearned
from rutter.events.workflow import Workflow
from rutter.pipeline.cli.terminal import Options, Terminal
from rutter.pipeline.cli.workflow_changes import changing
from rutter.pipeline.config.exit_codes import Exit
from rutter.pipeline.config.settings import Settings
from rutter.pipeline.queries.workflows_and_sessions import (
    latest_workflow,
    project,
    versions_of,
    workflow_version,
)
from rutter.pipeline.workflows.diff import StepDifference, differences
from rutter.replay.projections import ProjectionStore

MARKS = {"added": ("+", "green"), "dropped": ("-", "red"), "changed": ("~", "yellow")}
TAUGHT_BY = {"record": "recorded", "run": "healed", "tools": "found by a model"}
ROWS = """
    SELECT workflows.*, sessions.purpose AS purpose FROM workflows
    LEFT JOIN sessions ON sessions.session = workflows.session
    ORDER BY workflows.name, version"""


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
        _tell(each, terminal)


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


def _tell(difference: StepDifference, terminal: Terminal) -> None:
    mark, style = MARKS[difference.kind]
    number = difference.after or difference.before
    where = f"step {number}" if number else "the workflow"
    if difference.before and difference.after and difference.before != difference.after:
        where = f"{where} (was {difference.before})"
    said = f": {difference.words}" if number else ""
    terminal.out.print(terminal.out.shown(f"{mark} {where}{said}"), style=style, markup=False)
    for what in difference.what:
        terminal.say(f"      {what}")


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
