"""`rutter report` writes a session as one HTML file."""

from itertools import chain
from pathlib import Path

import msgspec

from rutter.events.envelope import kind
from rutter.events.errors import LogCorrupt
from rutter.events.page import Artifact
from rutter.events.predictor import WorkflowLearned
from rutter.events.sqlite_reader import SqliteReader
from rutter.pipeline.cli.terminal import Options, Terminal
from rutter.pipeline.config.exit_codes import Exit
from rutter.pipeline.config.settings import Settings
from rutter.pipeline.output.failure import ended_in_words, lesson_lines, lesson_of, title
from rutter.pipeline.output.safe_files import write_named
from rutter.pipeline.queries.look_back import events_about
from rutter.pipeline.queries.workflows_and_sessions import find_session
from rutter.replay.documents import session_report as html
from rutter.replay.story.session_story import tell
from rutter.replay.story.told_session import Story


def report(options: Options, settings: Settings, terminal: Terminal) -> int:
    """One HTML file with everything of a session, to share."""
    session = find_session(settings, options.session)
    artifacts = settings.directory.artifacts

    with SqliteReader(settings.directory.log) as reader:
        story = tell(chain(reader.read(session=session), events_about(reader, session)))

    def load(artifact: Artifact) -> bytes | str | None:
        try:
            return artifacts.get(artifact)
        except LogCorrupt:
            return "the picture has expired" if artifact.sha256 in story.expired else None

    said = list[str]()
    if (lesson := lesson_of(story, settings)) is not None:  # the picture is in it
        said = [*lesson_lines(msgspec.structs.replace(lesson, screenshot="")), lesson.next]
    with SqliteReader(settings.directory.log) as reader:
        recorded = _pictures_of(story, reader)
    heading = f"{title(story, values=False)}: {ended_in_words(story)}"
    page = html.render(story, load, heading=heading, said=said, recorded=recorded)
    place = options.out or Path(f"rutter-{session}.html")
    write_named(place, page, "--out")
    terminal.answer({"session": session, "file": str(place), "bytes": len(page)})
    terminal.say(f"[OK] {place}")
    return Exit.DONE


def _pictures_of(story: Story, reader: SqliteReader) -> dict[int, Artifact]:
    """The steps as they were when this version was recorded, by their places: a run takes pictures
    of its own only where that was asked for."""
    learned = (each.event for each in reader.read(kinds=[kind(WorkflowLearned)]))
    flows = [each.workflow for each in learned if isinstance(each, WorkflowLearned)]
    steps = next(
        (f.steps for f in reversed(flows) if (f.name, f.version) == (story.name, story.version)), ()
    )
    return {at: step.picture for at, step in enumerate(steps) if step.picture is not None}
