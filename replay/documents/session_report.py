"""A session report shows one session as one HTML file, to share: no script, no outside resource,
page text escaped."""

import base64
from collections.abc import Callable
from datetime import UTC, datetime

from rutter.events.page import Artifact
from rutter.replay.documents.templates import templates
from rutter.replay.story.advice import spent_in_words
from rutter.replay.story.step_details import details, unjudged
from rutter.replay.story.told_session import Story

Load = Callable[[Artifact], bytes | str | None]


def render(story: Story, load: Load) -> str:
    """The report; `load` gives a screenshot's bytes, or says why there are none (nothing: it is
    gone, and nobody knows why)."""
    began = datetime.fromtimestamp(story.started_ns / 1e9, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    cost = spent_in_words(story.model_calls, story.tokens, story.cost_microdollars, story.unpriced)
    return (
        templates(__package__)
        .get_template("session_report.html")
        .render(
            story=story,
            began=began,
            cost=cost,
            details=details,
            unjudged=unjudged,
            load=lambda artifact: picture(load(artifact)),
        )
    )


def picture(body: bytes | str | None) -> tuple[str, str]:
    """The picture as the address that holds it, and otherwise why there is none."""
    if body is None or isinstance(body, str):
        return "", body or "the picture is gone"
    return f"data:image/png;base64,{base64.b64encode(body).decode('ascii')}", ""
