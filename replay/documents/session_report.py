"""A session report shows one session as one HTML file, to share: no script, no outside resource,
page text escaped."""

import base64
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime

from rutter.events.page import Artifact
from rutter.replay.documents.templates import templates
from rutter.replay.story.advice import spent_in_words
from rutter.replay.story.step_details import details, unjudged
from rutter.replay.story.told_session import StepStory, Story
from rutter.replay.story.wording import with_values

NONE: Mapping[int, Artifact] = {}
Load = Callable[[Artifact], bytes | str | None]


def render(
    story: Story,
    load: Load,
    *,
    heading: str = "",
    said: Sequence[str] = (),
    recorded: Mapping[int, Artifact] = NONE,
) -> str:
    """The report; `load` gives a screenshot's bytes, or says why there are none (nothing: it is
    gone, and nobody knows why). `said` is what happened and what to do, `recorded` the pictures of
    the steps as they were recorded, by their places in the workflow."""
    began = datetime.fromtimestamp(story.started_ns / 1e9, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    cost = spent_in_words(story.model_calls, story.tokens, story.cost_microdollars, story.unpriced)
    return (
        templates(__package__)
        .get_template("session_report.html")
        .render(
            story=story,
            heading=heading or f"{story.purpose} {story.name}".strip(),
            said=said,
            began=began,
            cost=cost,
            details=details,
            unjudged=unjudged,
            number=number,
            words=lambda step: with_values(step.words, story.values),
            came_to=came_to,
            recorded=lambda step: recorded.get(step.index),
            load=lambda artifact: picture(load(artifact)),
        )
    )


def number(step: StepStory) -> str:
    """As the workflow counts."""
    return str(step.index + 1 if step.index >= 0 else step.step or "")


def came_to(step: StepStory) -> str:
    """What came of a step, in a word or two."""
    if step.verdict == "passed_over":
        return "not needed"
    if step.done:
        return "done"
    return "did not work" if step.verdict else "not known"


def picture(body: bytes | str | None) -> tuple[str, str]:
    """The picture as the address that holds it, and otherwise why there is none."""
    if body is None or isinstance(body, str):
        return "", body or "the picture is gone"
    return f"data:image/png;base64,{base64.b64encode(body).decode('ascii')}", ""
