"""`rutter mcp` offers the tools to an outside agent that starts this command, by MCP over stdio."""

import asyncio
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import anyio
import msgspec

from rutter.actors.answers import Answers, Nobody
from rutter.events.errors import BadInput, DirectoryInUse
from rutter.pipeline.cli.daemon_client import DaemonClient, through_daemon
from rutter.pipeline.cli.session_run import attendant, open_pipeline, person
from rutter.pipeline.cli.terminal import Options, Terminal
from rutter.pipeline.config import exit_codes
from rutter.pipeline.config.settings import Settings
from rutter.pipeline.config.tables import host_pattern
from rutter.pipeline.mcp import require_sdk
from rutter.pipeline.open_app import on_signal
from rutter.pipeline.sessions.attendant import BoundSecrets, bind_secrets
from rutter.pipeline.sessions.session_policy import host_typed, patterns, with_hosts
from rutter.pipeline.tools.agent_hosts import check_agents_reach
from rutter.pipeline.tools.dispatcher import Caller, ToolResponse, Tools
from rutter.pipeline.tools.tool_sessions import ToolSessions, ToolWish

if TYPE_CHECKING:
    from rutter.pipeline.mcp.stdio import ClientPipes


def mcp(options: Options, settings: Settings, terminal: Terminal) -> int:
    require_sdk()
    named = FlagGrants(options.url, options.allow)
    # Standard input holds the calls: a question is answered by a file or by nobody.
    answers: Answers = Nobody() if options.answers is None else person(terminal, options.answers)
    who = attendant(terminal)
    bind_secrets(options.secret, settings, who)  # what is wrong with them is said now

    def bind(needed: Iterable[str]) -> BoundSecrets:
        names = tuple(needed)
        bound = bind_secrets(options.secret, settings, who, names)
        if unknown := sorted(set(names) - bound.secrets.keys()):
            raise BadInput(f"there is no secret {unknown[0]!r}", "name one that is configured")
        return bound

    from rutter.pipeline.mcp.stdio import taking_the_wire  # an extra that other commands do without

    with taking_the_wire() as wire:
        try:
            return asyncio.run(_served(settings, terminal, named, answers, bind, wire))
        except DirectoryInUse:
            daemon = through_daemon(settings, "agent")
            if daemon is None:
                raise
        _check_unflagged(options, daemon.url)
        terminal.note(f"a daemon has the data directory: its tools are used, at {daemon.url}")
        return asyncio.run(_bridged(daemon, wire))


def _check_unflagged(options: Options, url: str) -> None:
    if options.url or options.allow or options.secret or options.answers or options.headed:
        raise BadInput(
            f"a daemon has the data directory ({url}), and says what its agents may do",
            "leave out the flags, or end the daemon",
        )


class FlagGrants:
    """Flags of the person who starts the command grant this to every session."""

    def __init__(self, url: str, allow: Iterable[str]) -> None:
        self.url = url
        self.allow = tuple(allow)
        for each in patterns(self.allow):
            host_pattern(each, "--allow")
        if url:
            self.allow = (*self.allow, host_typed(url))


@dataclass(frozen=True)
class NamedSessions:
    """Sessions of tools have what was named by flags: on top of that an agent may name what any
    agent may."""

    sessions: ToolSessions
    settings: Settings
    named: FlagGrants

    async def open(self, wish: ToolWish, *, agent: bool, by: Caller = "agent") -> Tools:
        if agent:
            reach = with_hosts(self.settings.policy, patterns(self.named.allow))
            check_agents_reach(reach, wish.url, wish.allow)
        wish = msgspec.structs.replace(
            wish, url=wish.url or self.named.url, allow=(*self.named.allow, *wish.allow)
        )
        return await self.sessions.open(wish, agent=False, by=by)

    async def call(self, session: str, tool: object, arguments: object) -> ToolResponse:
        return await self.sessions.call(session, tool, arguments)

    async def close(self, session: str) -> Tools:
        return await self.sessions.close(session)


async def _served(
    settings: Settings,
    terminal: Terminal,
    named: FlagGrants,
    answers: Answers,
    bind: Callable[[Iterable[str]], BoundSecrets],
    wire: "ClientPipes",
) -> int:
    from rutter.pipeline.mcp.stdio import serve_agent

    with _until_told() as told:
        async with open_pipeline(settings, terminal) as opened:
            app = opened.app
            sessions = ToolSessions(app, opened.browser, settings, lambda _: answers, bind)
            async with anyio.create_task_group() as group:
                await group.start(sessions.keep)
                with told:
                    await serve_agent(NamedSessions(sessions, settings, named), app, wire)
                await sessions.close_all()
                group.cancel_scope.cancel()
    return exit_codes.Exit.INTERRUPTED if told.cancelled_caught else exit_codes.Exit.DONE


async def _bridged(daemon: DaemonClient, wire: "ClientPipes") -> int:
    from rutter.pipeline.mcp.bridge import bridge

    with _until_told() as told, told:
        await bridge(f"{daemon.url}/mcp", daemon.token, wire)
    return exit_codes.Exit.INTERRUPTED if told.cancelled_caught else exit_codes.Exit.DONE


@contextmanager
def _until_told() -> Iterator[anyio.CancelScope]:
    """What is to be served in, until a signal: that is heard as if the client had gone. While it
    ends, which has limits of its own, no other is: clients that lose patience send one."""
    scope = anyio.CancelScope()
    with on_signal(scope.cancel):
        yield scope
