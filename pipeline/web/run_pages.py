"""Run pages show the runs that there were, and one of them: its steps, and it decided again."""

from typing import Any, NamedTuple
from urllib.parse import urlencode

from rutter.events.errors import LogCorrupt
from rutter.events.page import Artifact
from rutter.events.run_settings import MILLION
from rutter.events.sqlite_reader import SqliteReader
from rutter.pipeline.config.settings import Settings
from rutter.pipeline.queries.look_back import events_behind
from rutter.pipeline.queries.workflows_and_sessions import project
from rutter.pipeline.web.found_runs import RunFilter, find_runs, names_of
from rutter.pipeline.web.seen_run import see
from rutter.replay.documents import session_report
from rutter.replay.story.advice import spent_in_words
from rutter.replay.story.step_details import details, unjudged
from rutter.replay.verify import verify
from rutter.replay.whatif import ChangedSettings, ask

OUTCOMES = {
    "done": "Done",
    "failed": "Failed",
    "needs_person": "Needs a person",
    "unproven": "Done, not proven",
    "stopped": "Stopped or interrupted",
    "running": "Running",
}


class AskedLimit(NamedTuple):
    threshold: int  # in millionths


def runs_of(settings: Settings, wanted: RunFilter) -> dict[str, Any]:
    with project(settings) as store:
        rows, key = find_runs(store, wanted)
        names = names_of(store)
    older = urlencode({**wanted.asked(), "before": key}) if key else ""
    return {"rows": rows, "older": older, "names": names, "wanted": wanted, "outcomes": OUTCOMES}


def run_of(settings: Settings, session: str, at: int | None) -> dict[str, Any]:
    run = see(settings, session, at)
    story = run.story
    spent = (story.model_calls, story.tokens, story.cost_microdollars, story.unpriced)
    return {"run": run, "cost": spent_in_words(*spent), "details": details, "unjudged": unjudged}


def decided_again(settings: Settings, session: str) -> dict[str, Any]:
    see(settings, session)
    with SqliteReader(settings.directory.log) as reader:
        return {"session": session, "report": verify(events_behind(reader, session), session)}


def asked_what_if(settings: Settings, session: str, threshold: float) -> dict[str, Any]:
    see(settings, session)
    change = ChangedSettings(threshold=threshold)
    with SqliteReader(settings.directory.log) as reader:
        answer = ask(events_behind(reader, session), change, session)
    limit = AskedLimit(round(threshold * MILLION))
    return {"session": session, "answer": answer, "change": limit}


def report_of(settings: Settings, session: str) -> str:
    """The file that `rutter report` writes."""
    story, artifacts = see(settings, session).story, settings.directory.artifacts

    def load(artifact: Artifact) -> bytes | str | None:
        try:
            return artifacts.get(artifact)
        except LogCorrupt:
            return "the picture has expired" if artifact.sha256 in story.expired else None

    return session_report.render(story, load)
