"""`rutter serve` runs the daemon behind its guard, until it is told to stop."""

import socket
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from functools import partial
from importlib.util import find_spec
from typing import NamedTuple

import anyio

from rutter.pipeline.config.settings import Settings, environment
from rutter.pipeline.daemon.address_file import drop_whereabouts, write_whereabouts
from rutter.pipeline.daemon.daemon import Daemon, open_daemon
from rutter.pipeline.daemon.http.access import AccessRule
from rutter.pipeline.daemon.http.application import guarded
from rutter.pipeline.daemon.http.asgi import ASGIApp
from rutter.pipeline.daemon.http.guard import LOCAL, own_addresses
from rutter.pipeline.daemon.http.http_server import Listening, listen, serve_web
from rutter.pipeline.daemon.http.tokens import Tokens
from rutter.pipeline.daemon.notify.service_log import Logbook
from rutter.pipeline.open_app import Note, on_signal

EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}


@asynccontextmanager
async def serving(
    settings: Settings,
    *,
    host: str = "",
    port: int | None = None,
    exposed: bool = False,
    note: Note = lambda _: None,
) -> AsyncIterator[tuple[Daemon, str]]:
    """A daemon that listens, and its address. The port is bound before anything is warmed: who
    cannot have it is told at once."""
    config = settings.config
    listening = listen(
        host or config.text("serve.host"),
        config.number("serve.port") if port is None else port,
        exposed=exposed,
    )
    try:
        async with open_daemon(settings, note=note) as daemon:
            daemon.bar(listening.port)
            async with _listening(daemon, listening) as url:
                yield daemon, url
    finally:
        listening.close()


@asynccontextmanager
async def _listening(daemon: Daemon, listening: Listening) -> AsyncIterator[str]:
    settings = daemon.settings
    tokens = Tokens.open(settings.directory)
    host = reached_by(listening.host)
    names = (*(settings.config.listed("serve.names") or ()), *(() if host in LOCAL else (host,)))
    mcp = _mcp(daemon, own_addresses(listening.port, names))
    app = guarded(daemon, listening.port, tokens, names=names, rows=mcp.rows, around=mcp.around)
    url = f"http://{host}:{listening.port}"
    stop = anyio.Event()
    async with mcp.running(), anyio.create_task_group() as group:
        await group.start(partial(serve_web, app, listening, stop=stop))
        write_whereabouts(settings.directory, url)
        try:
            yield url
        finally:
            # Questions of streams end with it: nobody is left waiting on a daemon that is going.
            drop_whereabouts(settings.directory)
            stop.set()


class _Mcp(NamedTuple):
    """MCP adds this to the app, where its SDK is installed."""

    rows: tuple[AccessRule, ...] = ()
    around: Callable[[ASGIApp], ASGIApp] = lambda app: app
    running: Callable[[], AbstractAsyncContextManager[object]] = nullcontext


def _mcp(daemon: Daemon, addresses: Mapping[str, str]) -> _Mcp:
    if find_spec("mcp") is None:
        return _Mcp()
    # Here and not above: it is an extra.
    from rutter.pipeline.daemon.http.mcp_endpoint import ROWS, McpEndpoint, with_mcp

    idle_s = daemon.settings.config.amount("tools.idle_s")
    endpoint = McpEndpoint(daemon.tools, daemon.app, addresses, idle_s=idle_s)
    return _Mcp(ROWS, lambda app: with_mcp(app, endpoint), endpoint.run)


def reached_by(host: str) -> str:
    """What to ask for where it listens there: `everywhere` is no address to go to, this machine is
    one of those it means."""
    if host in EVERYWHERE:
        return EVERYWHERE[host]
    return f"[{host}]" if ":" in host else host


async def serve_until_stopped(
    settings: Settings,
    *,
    host: str = "",
    port: int | None = None,
    exposed: bool = False,
    logbook: Logbook,
    ready: Callable[[str, Callable[[], str]], None] = lambda url, link: None,
) -> None:
    """Until SIGTERM or SIGINT. A second one changes nothing: everything has its deadline."""
    told = anyio.Event()
    with on_signal(told.set):
        async with serving(settings, host=host, port=port, exposed=exposed, note=logbook.note) as (
            daemon,
            url,
        ):
            daemon.app.listen(logbook.hear)
            ready(url, daemon.web.link)
            notify("READY=1", f"STATUS=serving on {url}")
            await told.wait()
            notify("STOPPING=1")
            logbook.note("stopping: sessions end in a true state, then the browsers close")


def notify(*said: str, address: str | None = None) -> None:
    """Tells systemd, where it started us and wants to know (`Type=notify`)."""
    place = environment().get("NOTIFY_SOCKET", "") if address is None else address
    if not place:
        return
    name = "\0" + place[1:] if place.startswith("@") else place
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as line:
        try:
            line.connect(name)
            line.sendall("\n".join(said).encode())
        except OSError:
            return  # nobody listens: that is no reason not to serve
