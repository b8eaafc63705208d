"""A session report shows one session as one HTML file, to share: no script, no outside resource,
page text escaped."""

import base64
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from html import escape

from rutter.events.page import Artifact
from rutter.replay.story.advice import spent_in_words
from rutter.replay.story.session_story import StepStory, Story
from rutter.replay.story.step_details import details, unjudged

# Whatever a page said is text here and nothing else; the policy holds even if escaping failed.
POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"

STYLE = """
body{font:15px/1.5 Helvetica,Arial,sans-serif;color:#1d2733;max-width:62rem;margin:2rem auto;
padding:0 1rem}
h1{font-size:1.4rem;margin-bottom:.2rem}
.meta{color:#5a6775}
table{border-collapse:collapse;width:100%;margin:1rem 0}
td,th{padding:.45rem .6rem;border-bottom:1px solid #e3e8ed;text-align:left;vertical-align:top}
.ok{color:#2e5d34}.bad{color:#a3271f}
.why{color:#5a6775;font-size:.85rem}
img{max-width:100%;border:1px solid #ccd3da;margin:.4rem 0}
details{margin:.3rem 0}
"""

Load = Callable[[Artifact], bytes | str | None]


def render(story: Story, load: Load) -> str:
    """The report; `load` gives a screenshot's bytes, or says why there are none (nothing: it is
    gone, and nobody knows why)."""
    body = "".join(_body(story, load))
    title = escape(f"{story.purpose} {story.name} - {story.session}")
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        f"<title>{title}</title><style>{STYLE}</style></head><body>{body}</body></html>\n"
    )


def _body(story: Story, load: Load) -> Iterator[str]:
    version = f" version {story.version}" if story.version else ""
    yield f"<h1>{escape(f'{story.purpose} {story.name}{version}')}</h1>"
    began = datetime.fromtimestamp(story.started_ns / 1e9, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    cost = spent_in_words(story.model_calls, story.tokens, story.cost_microdollars, story.unpriced)
    yield (
        f'<p class="meta">{escape(story.session)}, {began}, {story.took_ms / 1000:.2f} s, '
        f"{escape(cost)}</p>"
    )
    if story.goal:
        yield f"<p>Goal: {escape(story.goal)}</p>"
    mark = "ok" if story.reason == "completed" else "bad"
    failure = f" ({story.failure})" if story.failure else ""
    yield f'<p class="{mark}"><b>{escape(story.reason + failure)}</b>: {escape(story.detail)}</p>'
    if story.unknown:
        yield f'<p class="bad">The outcome of a step is unknown: {escape(story.unknown)}</p>'
    if story.forgotten is not None:
        why = f" ({escape(story.forgotten)})" if story.forgotten else ""
        yield f'<p class="meta">Forgotten{why}: what it taught no longer counts.</p>'
    for login in story.logins:
        yield f'<p class="meta">{escape(login)}</p>'
    for pause in story.pauses:
        yield f'<p class="meta">{escape(pause)}</p>'
    yield from _pairs("Values", story.values)
    yield from _pairs("Results", story.results)
    yield "<table><tr><th>step</th><th>what</th><th>came of it</th><th>ms</th></tr>"
    for step in story.steps:
        yield from _rows(step, load)
    yield "</table>"
    if story.advice:
        listed = "".join(f"<li>{escape(str(advice))}</li>" for advice in story.advice)
        yield f"<h2>Advice that led to no step</h2><ul>{listed}</ul>"
    if story.screenshot is not None:
        yield f"<h2>Where it ended</h2>{_image(story.screenshot, load)}"


def _pairs(heading: str, pairs: dict[str, str]) -> Iterator[str]:
    if pairs:
        listed = "".join(f"<li>{escape(k)} = {escape(v)}</li>" for k, v in pairs.items())
        yield f"<h2>{heading}</h2><ul>{listed}</ul>"


def _rows(step: StepStory, load: Load) -> Iterator[str]:
    """A step, and below it the looks whether it really worked."""
    yield _row(step, load)
    for look in step.read_backs:
        yield _row(look, load)


def _row(step: StepStory, load: Load) -> str:
    mark = "ok" if step.done or step.verdict == "passed_over" else "bad"
    lines = "<br>".join(escape(detail) for detail in details(step))
    again = f" (try {step.attempts})" if step.attempts > 1 else ""
    picture = f"<details><summary>page</summary>{_image(step.screenshot, load)}</details>"
    kind = "" if step.kind == "action" else f'<div class="why">{escape(step.kind)}</div>'
    return (
        f"<tr><td>{step.step or ''}{kind}</td>"
        f'<td>{escape(step.words + again)}<div class="why">{lines}</div>'
        f"{picture if step.screenshot is not None else ''}</td>"
        f'<td class="{mark}">{escape(step.verdict or unjudged(step))}'
        f'<div class="why">{escape(step.reason)}</div></td><td>{step.took_ms:.0f}</td></tr>'
    )


def _image(artifact: Artifact | None, load: Load) -> str:
    body = load(artifact) if artifact is not None else None
    if body is None or isinstance(body, str):
        return f'<p class="meta">{escape(body or "the picture is gone")}</p>'
    encoded = base64.b64encode(body).decode("ascii")
    return f'<img alt="the page" src="data:image/png;base64,{encoded}">'
