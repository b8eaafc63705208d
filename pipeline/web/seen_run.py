"""A seen run is one session as the pages show it: its story, its failure in words, its pictures."""

from contextlib import suppress
from typing import Any

import msgspec

from rutter.events.errors import BadInput
from rutter.events.page import Artifact
from rutter.events.runtime import SessionStarted
from rutter.events.sqlite_reader import SqliteReader
from rutter.events.workflow import Workflow
from rutter.pipeline.config.settings import Settings
from rutter.pipeline.daemon.http.errors import NotThere
from rutter.pipeline.output.failure import FailureAdvice, lesson_of
from rutter.pipeline.queries.look_back import events_about
from rutter.pipeline.queries.workflows_and_sessions import project, workflow_version
from rutter.pipeline.web import page_words
from rutter.replay.story.session_story import tell
from rutter.replay.story.told_session import StepStory, Story


class SeenRun(msgspec.Struct, frozen=True):
    """`events` is how many it has, `at` up to which of them it is told; `pictures` are those of its
    workflow's steps, when they were recorded."""

    story: Story
    workflow: Workflow | None
    lesson: FailureAdvice | None
    events: int
    at: int
    pictures: tuple[Artifact | None, ...] = ()

    @property
    def outcome(self) -> page_words.Outcome:
        return page_words.outcome(self.story.reason, self.story.failure)

    @property
    def title(self) -> str:
        return self.story.name or self.story.goal or "Without a name"

    @property
    def kind(self) -> str:
        return page_words.PURPOSES.get(self.story.purpose, self.story.purpose)

    @property
    def place(self) -> str:
        """`Step 4 of 14`, of a workflow that is followed; else how many steps there were."""
        step = self.story.steps[-1] if self.story.steps else None
        if step is None:
            return "Starting"
        if self.workflow is not None and step.source == "workflow":
            return f"Step {step.index + 1} of {len(self.workflow.steps)}"
        return f"Step {step.step}"

    def picture(self, step: StepStory) -> Artifact | None:
        """What the page was at this step; else its element, as it was when it was recorded."""
        if step.screenshot is not None or step.source != "workflow":
            return step.screenshot
        return self.pictures[step.index] if 0 <= step.index < len(self.pictures) else None

    def again(self) -> dict[str, Any] | None:
        """What `POST /jobs` takes to run it once more with its values; nothing, where that is not
        to be offered: something was sent, or it followed no workflow."""
        story = self.story
        if story.purpose != "run" or not story.name or story.led or story.sent or story.unknown:
            return None
        return {"kind": "workflow", "workflow": story.name, "values": story.values}


def see(settings: Settings, session: str, at: int | None = None) -> SeenRun:
    """By its own events alone, however long the log is. Raises `NotThere`."""
    with SqliteReader(settings.directory.log) as reader:
        events = list(reader.read(session=session))
        if not events:
            raise NotThere(f"there is no run {session!r}", "see: Runs")
        since = [] if at is not None else [*events_about(reader, session)]
    upto = len(events) if at is None else max(1, min(at, len(events)))
    story = tell([*events[:upto], *since])
    first = events[0].event
    workflow = first.workflow if isinstance(first, SessionStarted) else None
    lesson = lesson_of(story, settings)
    return SeenRun(story, workflow, lesson, len(events), upto, _pictures(settings, workflow))


def _pictures(settings: Settings, workflow: Workflow | None) -> tuple[Artifact | None, ...]:
    """A run takes none of them along: they are looked up where its version is kept."""
    if workflow is None:
        return ()
    with project(settings) as store, suppress(BadInput):  # it may be deleted by now
        kept = workflow_version(store, workflow.name, workflow.version)
        return tuple(step.picture for step in kept.steps)
    return ()
