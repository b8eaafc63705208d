"""A workflow page shows the steps of a workflow in plain words beside small pictures of them, as
one HTML file: no script, no outside resource, page text escaped."""

from collections.abc import Callable, Iterator

from rutter.events.page import Artifact
from rutter.events.workflow import Step, Workflow
from rutter.replay.documents.session_report import picture
from rutter.replay.documents.templates import templates
from rutter.replay.story.wording import check_in_words, in_words

Load = Callable[[Artifact], bytes | None]


def render(workflow: Workflow, load: Load) -> str:
    """The page; `load` gives a picture's bytes, or nothing when it is gone."""
    return (
        templates(__package__)
        .get_template("workflow_page.html")
        .render(
            workflow=workflow,
            in_words=in_words,
            marks=marks,
            lines=lines,
            load=lambda artifact: picture(load(artifact)),
        )
    )


def marks(step: Step) -> Iterator[str]:
    if step.fork is not None:
        yield f"optional, way {step.fork.way} of fork {step.fork.number}"
    elif step.optional:
        yield "optional"
    if step.irreversible:
        yield "cannot be undone"


def lines(step: Step) -> Iterator[str]:
    if step.before.origin.startswith("http"):
        yield f"at {step.before.origin}{step.before.path}"
    if step.after.moved and step.after.place is not None:
        yield f"leads to {step.after.place.path}"
    for check in (*step.action.verify, *step.after.checks):
        yield f"then {check_in_words(check)}"
    for check in step.after.learned:
        yield f"then {check_in_words(check)} (learned)"
    if step.after.read_back is not None:
        for check in step.after.read_back.checks:
            yield f"then {check_in_words(check)} {step.after.read_back.where}"
