"""A workflow page shows the steps of a workflow in plain words beside small pictures of them, as
one HTML file: no script, no outside resource, page text escaped."""

import base64
from collections.abc import Callable, Iterator
from html import escape

from rutter.events.page import Artifact
from rutter.events.workflow import Step, Workflow
from rutter.replay.documents.session_report import POLICY, STYLE
from rutter.replay.story.wording import check_in_words, in_words

Load = Callable[[Artifact], bytes | None]

OWN_STYLE = """
td.number{width:3rem;color:#5a6775}
td.picture{width:340px}
td.picture img{width:320px}
.mark{display:inline-block;background:#eef2f5;border-radius:4px;padding:0 .45rem;font-size:.85rem}
"""
NONE = '<p class="meta">no picture</p>'


def render(workflow: Workflow, load: Load) -> str:
    """The page; `load` gives a picture's bytes, or nothing when it is gone."""
    body = "".join(_body(workflow, load))
    title = escape(f"{workflow.name} version {workflow.version}")
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        f"<title>{title}</title><style>{STYLE}{OWN_STYLE}</style></head>"
        f"<body>{body}</body></html>\n"
    )


def _body(workflow: Workflow, load: Load) -> Iterator[str]:
    yield f"<h1>{escape(workflow.name)} version {workflow.version}</h1>"
    state = "complete" if workflow.complete else "incomplete"
    yield f'<p class="meta">{len(workflow.steps)} steps, {state}</p>'
    if workflow.goal:
        yield f"<p>Goal: {escape(workflow.goal)}</p>"
    for what, names in (
        ("Parameters", workflow.parameters),
        ("Secrets", workflow.secrets),
        ("May go to", workflow.hosts),
        ("May load from", workflow.resources),
    ):
        if names:
            yield f"<p>{what}: {escape(', '.join(names))}</p>"
    yield "<table><tr><th>step</th><th>what</th><th>where</th></tr>"
    for number, step in enumerate(workflow.steps, 1):
        yield _row(number, step, load)
    yield "</table>"


def _row(number: int, step: Step, load: Load) -> str:
    marks = "".join(f'<div class="mark">{escape(mark)}</div> ' for mark in _marks(step))
    lines = "<br>".join(escape(line) for line in _lines(step))
    return (
        f'<tr><td class="number">{number}</td>'
        f'<td>{escape(in_words(step.action))} {marks}<div class="why">{lines}</div></td>'
        f'<td class="picture">{_image(step.picture, load)}</td></tr>'
    )


def _marks(step: Step) -> Iterator[str]:
    if step.fork is not None:
        yield f"optional, way {step.fork.way} of fork {step.fork.number}"
    elif step.optional:
        yield "optional"
    if step.irreversible:
        yield "cannot be undone"


def _lines(step: Step) -> Iterator[str]:
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


def _image(artifact: Artifact | None, load: Load) -> str:
    body = load(artifact) if artifact is not None else None
    if body is None:
        return NONE if artifact is None else '<p class="meta">the picture is gone</p>'
    encoded = base64.b64encode(body).decode("ascii")
    return f'<img alt="the element of this step" src="data:image/png;base64,{encoded}">'
