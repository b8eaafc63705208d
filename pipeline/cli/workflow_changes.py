"""This process changes what is known where it can be the one writer, else the daemon that is does.
What is changed is decided here either way; the daemon only says it."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from rutter.actors.predictor.knowledge import Knowledge
from rutter.events.envelope import kind
from rutter.events.predictor import LEARNED, SessionForgotten, WorkflowDeleted, WorkflowLearned
from rutter.events.sqlite_reader import SqliteReader
from rutter.events.workflow import Workflow
from rutter.pipeline.cli.daemon_client import DaemonClient, through_daemon
from rutter.pipeline.config.data_directory import DataDirectory
from rutter.pipeline.config.settings import Settings
from rutter.pipeline.open_app import held
from rutter.pipeline.queries.workflows_and_sessions import catch_up, latest_workflow, project
from rutter.pipeline.workflows.edit import Change, Edit, edited, publish
from rutter.pipeline.workflows.forget import ForgetTarget, Unlearned, foresee
from rutter.pipeline.workflows.forget import forget as unlearn


@dataclass(frozen=True)
class LocalWriter:
    """This process holds the data directory."""

    directory: DataDirectory

    def publish(self, decide: Callable[[Knowledge], Change]) -> Change:
        return asyncio.run(publish(self.directory, decide))

    def forget(self, wanted: ForgetTarget, why: str) -> Unlearned:
        return asyncio.run(unlearn(self.directory, wanted, why))


@dataclass(frozen=True)
class DaemonWriter:
    """A daemon holds the data directory."""

    daemon: DaemonClient
    directory: DataDirectory

    def publish(self, decide: Callable[[Knowledge], Change]) -> Change:
        knowledge = Knowledge()  # as far as the log says it now
        with SqliteReader(self.directory.log) as reader:
            for envelope in reader.read(kinds=sorted(map(kind, LEARNED))):
                knowledge.open_turn(envelope.seq)
                knowledge.take_in(envelope)
            knowledge.open_turn(reader.last_seq() + 1)
        change = decide(knowledge)
        self.daemon.request("POST", "/changes", change)
        return change

    def forget(self, wanted: ForgetTarget, why: str) -> Unlearned:
        found = foresee(self.directory, wanted)
        for session in found.sessions:
            self.daemon.request("POST", "/changes", SessionForgotten(session, why))
        if found.known:
            self.daemon.request("POST", "/changes", WorkflowDeleted(found.workflow))
        return found


@contextmanager
def changing(settings: Settings) -> Iterator[LocalWriter | DaemonWriter]:
    """Whoever can write. The tables know of the change when it is done."""
    catch_up(settings)  # with no log there is nothing to change, and no directory to make
    directory = settings.directory
    daemon = through_daemon(settings)
    if daemon is not None:
        yield DaemonWriter(daemon, directory)
    else:
        with held(directory):
            yield LocalWriter(directory)
    catch_up(settings)


def change(name: str, asked: Edit, settings: Settings) -> tuple[Workflow, Workflow]:
    """The workflow as it was, and its new version."""
    with changing(settings) as writer:
        with project(settings) as store:
            before = latest_workflow(store, name)

        def decide(knowledge: Knowledge) -> WorkflowLearned:
            version = knowledge.next_version(before.name)
            return WorkflowLearned(workflow=edited(before, asked, version))

        return before, writer.publish(decide).workflow
