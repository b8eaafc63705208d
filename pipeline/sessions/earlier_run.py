"""A run follows an earlier session: the one that was named, or one that left something open."""

from collections.abc import Collection, Mapping

from rutter.events.envelope import Envelope, kind
from rutter.events.runtime import SessionStarted
from rutter.events.sqlite_reader import SqliteReader
from rutter.events.workflow import Workflow
from rutter.pipeline.queries.workflows_and_sessions import Tables, session_in
from rutter.pipeline.sessions.fork import check_continued
from rutter.pipeline.workflows.edit import names_over_time
from rutter.replay.steps import steps_in

LOOKED_AT = 50  # runs of one workflow: what nobody settled in so many is known by now
# Whoever ends so has said what was done. Any other end may leave what was sent behind it.
ENDED_WELL = ("completed", "completed_unverified")


def named(wanted: str, workflow: Workflow, tables: Tables) -> list[Envelope]:
    """The session that `--from` names."""
    session = session_in(tables.now(), wanted)
    with SqliteReader(tables.settings.directory.log) as reader:
        events = list(reader.read(session=session))
        names = names_over_time(workflow.name, reader)
    check_continued(events, names, workflow)
    return events


def values_of(events: list[Envelope], workflow: Workflow) -> dict[str, str]:
    """What the session was given, as far as the workflow still asks for it."""
    given: Mapping[str, str] = getattr(events[0].event, "values", {})
    return {name: value for name, value in given.items() if name in workflow.parameters}


def unsettled(
    workflow: Workflow,
    values: Mapping[str, str],
    tables: Tables,
    under_way: Collection[str] = (),
) -> list[Envelope]:
    """The last run that left open what it had done, if there is one. A run that was completed with
    the same values settles those before it. One with others did something else: it says nothing
    about them, and they are in doubt for other values only until any run was completed. Those that
    are `under_way` in this very process have left nothing: they are about to say what they did."""
    with SqliteReader(tables.settings.directory.log) as reader:
        names = names_over_time(workflow.name, reader)
        rows = tables.now().db.execute(
            f"SELECT session, reason FROM sessions WHERE name IN ({', '.join('?' * len(names))}) "
            f"AND purpose = 'run' ORDER BY seq DESC LIMIT {LOOKED_AT}",
            names,
        )
        completed = False
        for session, reason in rows.fetchall():
            if session in under_way:
                continue
            # Of most of them the first event is enough: fifty whole runs take a second to read.
            first = list(reader.read(session=session, kinds=[kind(SessionStarted)]))
            same = values_of(first, workflow) == values
            if reason == "completed" and same:
                return []
            if reason == "completed":
                completed = True
                continue
            events = list(reader.read(session=session))
            steps = steps_in(events)
            cut_short = same and reason not in ENDED_WELL and steps.sent
            if cut_short or ((same or not completed) and steps.left_open):
                return events
    return []
