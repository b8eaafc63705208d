"""`rutter report` writes a session as one HTML file."""

from itertools import chain
from pathlib import Path

from rutter.events.errors import LogCorrupt
from rutter.events.page import Artifact
from rutter.events.sqlite_reader import SqliteReader
from rutter.pipeline.cli.terminal import Options, Terminal
from rutter.pipeline.config.exit_codes import Exit
from rutter.pipeline.config.settings import Settings
from rutter.pipeline.output.safe_files import write_named
from rutter.pipeline.queries.look_back import events_about
from rutter.pipeline.queries.workflows_and_sessions import find_session
from rutter.replay.documents import session_report as html
from rutter.replay.story.session_story import tell


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

    page = html.render(story, load)
    place = options.out or Path(f"rutter-{session}.html")
    write_named(place, page, "--out")
    terminal.answer({"session": session, "file": str(place), "bytes": len(page)})
    terminal.say(f"[OK] {place}")
    return Exit.DONE
