"""Workflow pages show what is known: its steps with pictures, its versions, a form that runs it."""

from typing import Any

import msgspec

from rutter.events.errors import BadInput
from rutter.events.workflow import Step, Workflow
from rutter.pipeline.config.settings import Settings
from rutter.pipeline.daemon.http.errors import NotThere
from rutter.pipeline.queries.workflows_and_sessions import (
    all_workflows,
    latest_workflow,
    project,
    workflow_version,
)
from rutter.pipeline.workflows.diff import StepDifference, differences
from rutter.replay.documents.workflow_page import lines, marks
from rutter.replay.projections import ProjectionStore
from rutter.replay.story.wording import in_words

SHOWN = 4  # pictures of a workflow in the list of all


class ListedWorkflow(msgspec.Struct, frozen=True):
    """A listed workflow has its newest version, and what became of its last runs."""

    workflow: Workflow
    last: dict[str, Any] | None
    runs: int
    done: int

    @property
    def shown(self) -> list[tuple[Step, str]]:
        """The last steps that have a picture: the first are to sign in, mostly."""
        pictured = [step for step in self.workflow.steps if step.picture is not None]
        return [(step, in_words(step.action)) for step in pictured[-SHOWN:]]


def workflows_of(settings: Settings) -> dict[str, Any]:
    with project(settings) as store:
        return {"workflows": [_listed(store, each) for each in all_workflows(store)]}


def _listed(store: ProjectionStore, workflow: Workflow) -> ListedWorkflow:
    of_it = "FROM sessions WHERE name = ? AND purpose = 'run'"
    last = store.rows(f"SELECT * {of_it} ORDER BY seq DESC LIMIT 1", workflow.name)
    [sums] = store.rows(
        f"SELECT count(*) AS runs, coalesce(sum(reason = 'completed'), 0) AS done {of_it}",
        workflow.name,
    )
    return ListedWorkflow(workflow, last[0] if last else None, sums["runs"], sums["done"])


def workflow_of(settings: Settings, name: str, version: int) -> dict[str, Any]:
    with project(settings) as store:
        workflow = _found(store, name, version)
        versions = store.rows(
            "SELECT version, steps, recorded_ns, session, complete, merged, again FROM workflows "
            "WHERE name = ? ORDER BY version DESC",
            name,
        )
        listed = _listed(store, workflow)
    steps = [
        (in_words(step.action), list(marks(step)), list(lines(step)), step.picture)
        for step in workflow.steps
    ]
    given: dict[str, str] = msgspec.json.decode(listed.last["vals"]) if listed.last else {}
    known = set(settings.config.secrets)
    return {
        "workflow": workflow,
        "steps": steps,
        "versions": versions,
        "listed": listed,
        "given": given,
        "secrets": [(each, each in known) for each in workflow.secrets],
        "is_newest": workflow.version == versions[0]["version"],
    }


def compared(settings: Settings, name: str, old: int, new: int) -> dict[str, Any]:
    with project(settings) as store:
        found: list[StepDifference] = differences(
            _found(store, name, old), _found(store, name, new)
        )
    return {"name": name, "old": old, "new": new, "found": found}


def _found(store: ProjectionStore, name: str, version: int) -> Workflow:
    try:
        return workflow_version(store, name, version) if version else latest_workflow(store, name)
    except BadInput as error:
        raise NotThere(error.what, error.fix) from error
