"""Routes share what is here: a body with a field that nobody reads is refused, wherever it is."""

from typing import Any

import msgspec

from rutter.events.action import Action
from rutter.events.jobs import Run
from rutter.events.predictor import WorkflowLearned
from rutter.events.workflow import Step, Workflow
from rutter.pipeline.daemon.http.routes.common import unknown_field
from tests.support.case_table import for_each


class Named(msgspec.Struct):
    selector: str


class Listed(msgspec.Struct, array_like=True):
    number: int
    named: tuple[Named, ...]


RUN = {"kind": "workflow", "workflow": "order", "values": {"anything": "goes"}}
STEP = Step(action=Action("navigate", url="https://shop.example/"))
LEARNED = WorkflowLearned(Workflow("order", 1, (STEP,)))
LEARNED_JSON: dict[str, Any] = msgspec.to_builtins(LEARNED)


def with_step(**more: Any) -> dict[str, Any]:
    workflow = LEARNED_JSON["workflow"]
    [step] = workflow["steps"]
    return {**LEARNED_JSON, "workflow": {**workflow, "steps": [{**step, **more}]}}


@for_each(
    "said, wanted, unknown",
    [
        (RUN, Run, ""),
        ({**RUN, "dryrun": True}, Run, "dryrun"),
        ({**RUN, "dry_run": True}, Run, ""),
        (LEARNED_JSON, WorkflowLearned, ""),
        ({**LEARNED_JSON, "note": 1}, WorkflowLearned, "note"),
        (with_step(optionl=True), WorkflowLearned, "workflow.steps.0.optionl"),
        (with_step(optional=True), WorkflowLearned, ""),
        ([1, [{"selector": "#a"}]], Listed, ""),
        ([1, [{"selector": "#a", "css": "#b"}]], Listed, "1.0.css"),
    ],
)
def test_a_field_that_nobody_reads_is_named(said: Any, wanted: Any, unknown: str) -> None:
    assert unknown_field(said, msgspec.convert(said, wanted)) == unknown
