"""The application joins every route, who may use it, and the guard around it."""

from collections.abc import Callable, Iterable, Mapping
from importlib import metadata

from litestar import Litestar
from litestar.datastructures import State
from litestar.exceptions import HTTPException
from litestar.handlers import HTTPRouteHandler
from litestar.openapi import OpenAPIConfig
from litestar.openapi.plugins import JsonRenderPlugin
from litestar.openapi.spec import Components, SecurityScheme
from litestar.types import Method

from rutter.events.envelope import Envelope
from rutter.events.errors import RutterError
from rutter.events.runtime import SessionEnded
from rutter.pipeline.daemon.daemon import Daemon
from rutter.pipeline.daemon.http.access import AccessRule
from rutter.pipeline.daemon.http.asgi import ASGIApp
from rutter.pipeline.daemon.http.errors import fail, refuse, refuse_http
from rutter.pipeline.daemon.http.guard import Guard, own_addresses
from rutter.pipeline.daemon.http.routes import artifacts, triggers, upkeep, workflows
from rutter.pipeline.daemon.http.routes import jobs as working
from rutter.pipeline.daemon.http.routes import sessions as session_routes
from rutter.pipeline.daemon.http.routes.common import Strict
from rutter.pipeline.daemon.http.tokens import Tickets, Tokens
from rutter.pipeline.daemon.live.streaming import STREAM_TABLE, stream_handlers
from rutter.pipeline.web.pictures import Thumbnails
from rutter.pipeline.web.rendering import refusal_page
from rutter.pipeline.web.routes import WEB_TABLE, web_routes

# What an agent's token opens. What is in no row is for the person alone: approvals, stopping and
# pausing, what sets off runs, artifacts, pictures.
TABLE = (
    AccessRule("GET", "/", "agent", web=True),
    AccessRule("GET", "/metrics", "agent"),
    AccessRule("GET", "/statistics", "agent"),
    AccessRule("GET", "/transitions/top", "agent"),
    AccessRule("GET", "/tools", "agent"),
    AccessRule("GET", "/schema/**", "agent"),
    AccessRule("GET", "/workflows", "agent"),
    AccessRule("GET", "/workflows/*", "agent"),
    AccessRule("POST", "/jobs", "agent", web=True),
    AccessRule("POST", "/api/wraith", "agent"),
    AccessRule("GET", "/jobs", "agent"),
    AccessRule("GET", "/jobs/*", "agent"),
    AccessRule("GET", "/sessions", "agent"),
    AccessRule("POST", "/sessions", "agent"),
    AccessRule("GET", "/sessions/*", "agent"),
    AccessRule("GET", "/sessions/*/events", "agent"),
    AccessRule("GET", "/sessions/*/replay", "agent"),
    AccessRule("GET", "/sessions/*/trace", "agent", web=True),
    AccessRule("GET", "/sessions/*/steps", "agent"),
    AccessRule("POST", "/sessions/*/tools/*", "agent"),
    AccessRule("DELETE", "/sessions/*", "agent"),
)


def application(
    daemon: Daemon, tickets: Tickets, addresses: Mapping[str, str] | None = None
) -> Litestar:
    """The routes alone: nothing of it is to be served without the guard. `addresses` are the
    guard's."""
    return Litestar(
        route_handlers=[
            *workflows.ROUTES,
            *working.ROUTES,
            *session_routes.ROUTES,
            *artifacts.ROUTES,
            *triggers.ROUTES,
            *upkeep.ROUTES,
            *stream_handlers(daemon.views),
            web_routes(),
        ],
        state=State(
            {
                "daemon": daemon,
                "tickets": tickets,
                "addresses": addresses or {},
                "thumbnails": Thumbnails(),
            }
        ),
        request_class=Strict,
        exception_handlers={RutterError: refuse, HTTPException: refuse_http, Exception: fail},
        openapi_config=OpenAPIConfig(
            title="Rutter",
            version=metadata.version("rutter-agent"),
            description="One log, many hands: runs, sessions, approvals, tools.",
            path="/schema",
            operation_id_creator=_named_as_it_is,
            render_plugins=[JsonRenderPlugin()],
            security=[{"token": []}],
            components=Components(
                security_schemes={"token": SecurityScheme(type="http", scheme="bearer")}
            ),
        ),
        logging_config=None,
        request_max_body_size=None,  # the guard has read it by then, and it was not too large
    )


def _named_as_it_is(handler: HTTPRouteHandler, method: Method, path: object) -> str:
    """What a route is called in the schema: as its function is, in a thread of its own or not."""
    function = handler.fn
    while hasattr(function, "func"):
        function = function.func
    return str(function.__name__)


def guarded(
    daemon: Daemon,
    port: int,
    tokens: Tokens,
    *,
    names: Iterable[str] = (),
    rows: Iterable[AccessRule] = (),
    around: Callable[[ASGIApp], ASGIApp] = lambda app: app,
) -> ASGIApp:
    """What is served. `around` puts something else in front of the routes, behind the guard."""
    tickets, addresses = Tickets(), own_addresses(port, names)

    def void(envelope: Envelope) -> None:
        if isinstance(envelope.event, SessionEnded):
            tickets.void(envelope.session)

    daemon.app.listen(void)
    return Guard(
        around(application(daemon, tickets, addresses)),
        addresses=addresses,
        tokens=tokens,
        tickets=tickets,
        table=(*TABLE, *triggers.TABLE, *STREAM_TABLE, *WEB_TABLE, *rows),
        admits_hook=daemon.hooks.admits,
        web=daemon.web,
        show_refusal=refusal_page,
    )
