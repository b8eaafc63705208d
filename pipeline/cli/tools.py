"""`rutter tools` lists the table of tools, and takes calls of them, a line of JSON in and a line
out."""

import asyncio
import os
import sys
import threading
from collections.abc import AsyncIterator
from operator import attrgetter
from typing import Any

import msgspec

from rutter.actors.rules.tools.tool_table import TOOLS, described
from rutter.events.runtime import SessionStarted
from rutter.pipeline.cli.options import read_request
from rutter.pipeline.cli.session_run import attendant, open_pipeline, person
from rutter.pipeline.cli.terminal import Options, Terminal
from rutter.pipeline.config import exit_codes
from rutter.pipeline.config.settings import Settings
from rutter.pipeline.queries.look_back import story_of
from rutter.pipeline.queries.workflows_and_sessions import Tables
from rutter.pipeline.sessions.attendant import bind_secrets
from rutter.pipeline.sessions.start import StartedSession, start_tools
from rutter.pipeline.tools.dispatcher import Tools
from rutter.pipeline.tools.snapshot import snapshot_schema
from rutter.replay.story.told_session import Story


def list_(options: Options, settings: Settings, terminal: Terminal) -> None:
    terminal.answer({"tools": [described(each) for each in TOOLS.values()]})
    of = attrgetter("name", "kind", "side_effect_class", "timeout_ms", "retry_profile")
    terminal.table(
        ("tool", "kind", "changes", "timeout ms", "retried", "what it does"),
        ((*of(each), each.guidance.purpose) for each in TOOLS.values()),
    )


def schema(options: Options, settings: Settings, terminal: Terminal) -> None:
    """JSON in any case: whoever asks for a schema has a validator for it."""
    given = {each.name: each.input_schema for each in TOOLS.values()}
    terminal.json({"snapshot": snapshot_schema(), "tools": given})


def call(options: Options, settings: Settings, terminal: Terminal) -> int:
    request = read_request(options, settings.config)
    bound = bind_secrets(request.secrets, settings, attendant(terminal))
    with Tables(settings) as tables:
        session = start_tools(request, tables, bound)
        tell_reach(session.started, terminal)
        story, refused = asyncio.run(_serve(options, settings, terminal, session))
        tables.now()
    terminal.note(
        f"{story.reason}: {story.detail}; see: {settings.command(f'show {story.session}')}"
    )
    if story.cause.by == CALLER:
        # There were no more calls; a success that was claimed and not borne out is none.
        return exit_codes.Exit.NOT_VERIFIED if refused else exit_codes.Exit.DONE
    return exit_codes.of_session(story.reason, story.failure)


def tell_reach(started: SessionStarted, terminal: Terminal) -> None:
    """Files can be read without a host; whoever wants to go somewhere learns why it is denied."""
    if not started.policy.hosts and not started.policy.public_hosts:
        terminal.note("without --url URL or --allow HOST it may go nowhere")


CALLER = "the caller of its tools"


async def _serve(
    options: Options, settings: Settings, terminal: Terminal, session: StartedSession
) -> tuple[Story, bool]:
    """The session, and whether the last word on it was a success that was not acknowledged."""
    # Standard input holds the calls, so a question to a person is answered by a file or by nobody.
    answers = person(terminal, options.answers)
    refused = False
    async with open_pipeline(settings, terminal) as opened:
        async with opened.tools(session, answers) as tools:
            async for line in _lines(tools):
                if line.strip():
                    tool, arguments = _asked(line)
                    answer = await tools.call(tool, arguments)
                    terminal.json(answer.body(screenshots=options.screenshots))
                    refused = tool == "complete_task" and not answer.success
        return story_of(settings, tools.session), refused


class _CallLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    tool: str
    arguments: dict[str, Any] = {}


def _asked(line: bytes) -> tuple[str, object]:
    """A line that is no call is answered like a call that does not fit."""
    try:
        asked = msgspec.json.decode(line, type=_CallLine)
    except (msgspec.DecodeError, msgspec.ValidationError):
        return "", None
    return asked.tool, asked.arguments


async def _lines(tools: Tools) -> AsyncIterator[bytes]:
    """Lines of standard input until it ends, or the session does. Read in a daemon thread: one that
    waits for a line must not keep the process alive."""
    lines: asyncio.Queue[bytes | None] = asyncio.Queue()
    loop = asyncio.get_running_loop()

    def read(descriptor: int) -> None:
        kept = b""
        while part := os.read(descriptor, 65_536):
            *whole, kept = (kept + part).split(b"\n")
            for line in whole:
                loop.call_soon_threadsafe(lines.put_nowait, line)
        loop.call_soon_threadsafe(lines.put_nowait, kept)
        loop.call_soon_threadsafe(lines.put_nowait, None)

    async def watch() -> None:
        await tools.finished.wait()
        lines.put_nowait(None)

    threading.Thread(target=read, args=(sys.stdin.fileno(),), name="calls", daemon=True).start()
    watching = loop.create_task(watch())
    try:
        while (line := await lines.get()) is not None:
            yield line
    finally:
        watching.cancel()
