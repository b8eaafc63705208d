"""A look back reads the events it needs: those of a session, what was said of it since, and all
that the others had taught until its end."""

import heapq
from collections.abc import Iterator
from typing import TypeVar

from rutter.events.envelope import Envelope, kind
from rutter.events.event import Event
from rutter.events.predictor import LEARNED, SessionForgotten
from rutter.events.runtime import ArtifactsExpired
from rutter.events.sqlite_reader import SqliteReader
from rutter.pipeline.config.settings import Settings
from rutter.replay.story.session_story import tell
from rutter.replay.story.told_session import Story

Said = TypeVar("Said", bound=Event)


def story_of(settings: Settings, session: str) -> Story:
    """What is told of a session by its own events."""
    with SqliteReader(settings.directory.log) as reader:
        return tell(reader.read(session=session))


def said_in(settings: Settings, session: str, what: type[Said]) -> list[Said]:
    """The events of one kind of a session."""
    with SqliteReader(settings.directory.log) as reader:
        events = (each.event for each in reader.read(session=session, kinds=[kind(what)]))
        return [event for event in events if isinstance(event, what)]


def events_about(reader: SqliteReader, session: str) -> Iterator[Envelope]:
    """What was said of a session afterwards: that it is forgotten, and what of any has expired."""
    for envelope in reader.read(kinds=[kind(SessionForgotten), kind(ArtifactsExpired)]):
        event = envelope.event
        if not isinstance(event, SessionForgotten) or event.session == session:
            yield envelope


def events_behind(reader: SqliteReader, only: str) -> Iterator[Envelope]:
    """What a session is decided again from: its events, and what the others taught until its
    end."""
    own = list(reader.read(session=only))
    learned = reader.read(kinds=sorted(kind(event) for event in LEARNED))
    last = 0
    for envelope in heapq.merge(own, learned, key=lambda envelope: envelope.seq):
        if not own or envelope.seq > own[-1].seq:
            return  # a session that still runs has gone on since its events were read
        if envelope.seq != last:
            yield envelope
        last = envelope.seq
