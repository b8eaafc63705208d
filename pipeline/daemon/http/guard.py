"""The guard stands in front of the whole app, for HTTP and for WebSockets alike.

What it is for: the daemon listens on this machine, and so does every page that a browser on this
machine shows. A page can send requests here, with a name of its own that it has pointed at this
machine (so: the exact Host), from its own origin (so: Origin and Sec-Fetch-Site), without asking
first (so: JSON only, no answer to a preflight), and with the cookies the browser has (so: a token
in a header, tickets that open one live view, and web sessions, which change nothing without a
secret that stands in our own pages alone). `judge` is all of that as a function of the head
of a request; the rest of this file sends and receives.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Literal, cast
from urllib.parse import parse_qsl

from rutter.events.errors import BadInput
from rutter.pipeline.daemon.http.access import METHODS, AccessRule, AccessTable, parts_of
from rutter.pipeline.daemon.http.asgi import (
    ASGIApp,
    Message,
    Receive,
    RequestHead,
    Scope,
    Send,
    head_of,
)
from rutter.pipeline.daemon.http.bodies import (
    BODILESS,
    BodyLimits,
    ClientGone,
    declares_body,
    handing_over,
    read_body,
    refuse_head,
)
from rutter.pipeline.daemon.http.refusals import HttpRefusal, secured_start, send_refusal
from rutter.pipeline.daemon.http.tokens import COOKIE, Tickets, Tokens, bearer_of
from rutter.pipeline.daemon.http.web_sessions import (
    CSRF,
    WebSession,
    WebSessions,
    cookie_name,
    cookies_named,
    same,
)

Caller = Literal["person", "agent", "ticket", "hook", "nobody"]
AdmitsHook = Callable[[str, str], bool]  # the name of a hook, and a token
ShowRefusal = Callable[[HttpRefusal], bytes]  # as a web page

LOCAL = ("127.0.0.1", "localhost", "[::1]")
NAME = re.compile(r"(https://)?([a-z0-9]([a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:]+\])(:[0-9]{1,5})?")
OWN_SITES = ("same-origin", "none")  # "none": typed in by a person
IN_URL = ("token", "access_token", "auth", "authorization", "bearer")
CALLER = "rutter_caller"
WEB_SESSION = "rutter_web_session"


def own_addresses(port: int, names: Iterable[str] = ()) -> dict[str, str]:
    """Every authority that a request may name, with the origin of the pages that are from there.

    A name is one that somebody configured: `rutter.lan`, `rutter.lan:9000`, or `https://rutter.lan`
    where something that speaks TLS stands in front.
    """
    found = [_authority(host, port) for host in LOCAL]
    addresses = {each: f"http://{each}" for each in found}
    for name in names:
        scheme, host = _named(name)
        spelled = host.endswith("]") or ":" not in host
        at = _authority(host, port) if spelled and scheme == "http" else host
        addresses[at] = f"{scheme}://{at}"
    return addresses


def _authority(host: str, port: int) -> str:
    return host if port == 80 else f"{host}:{port}"  # the port that nobody writes


def _named(name: str) -> tuple[str, str]:
    if not NAME.fullmatch(name):
        raise BadInput(
            f"{name!r} is no name to be reached by",
            "write host, host:port or https://host in small letters, without a path",
        )
    return ("https", name.removeprefix("https://")) if "://" in name else ("http", name)


def caller_of(scope: Mapping[str, object]) -> Caller:
    """Who asks, for the app behind the guard."""
    state = scope.get("state")
    return cast(Caller, state.get(CALLER, "nobody")) if isinstance(state, Mapping) else "nobody"


def web_session_of(scope: Mapping[str, object]) -> WebSession | None:
    """The web session that asks, if it is one, for the app behind the guard."""
    state = scope.get("state")
    return cast(WebSession | None, state.get(WEB_SESSION)) if isinstance(state, Mapping) else None


class Guard:
    """The guard is an ASGI app around another, which sees nothing that was not judged."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        addresses: Mapping[str, str],
        tokens: Tokens,
        tickets: Tickets,
        table: Iterable[AccessRule],
        limits: BodyLimits | None = None,
        admits_hook: AdmitsHook = lambda name, token: False,
        web: WebSessions | None = None,
        show_refusal: ShowRefusal | None = None,
    ) -> None:
        self._app = app
        self._addresses = dict(addresses)
        self._tokens = tokens
        self._tickets = tickets
        self._table = AccessTable(table)
        self._limits = limits or BodyLimits()
        self._admits_hook = admits_hook
        self._web = web or WebSessions()
        self._show_refusal = show_refusal

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        head = head_of(scope)
        judged = self.judge(head)
        if isinstance(judged, HttpRefusal):
            if head.is_socket:
                await receive()  # websocket.connect
            shown = self._show_refusal if _wants_page(head) else None
            await send_refusal(judged, scope, send, shown(judged) if shown else None)
            return
        if scope["type"] == "http" and declares_body(head):
            try:
                body = await read_body(receive, self._limits)
            except ClientGone:
                return
            if isinstance(body, HttpRefusal):
                await send_refusal(body, scope, send)
                return
            receive = handing_over(body, receive)
        session = self._web_session(head)
        state = {**scope.get("state", {}), CALLER: judged, WEB_SESSION: session}
        await self._app({**scope, "state": state}, receive, _securing(send))

    # -- judging -----------------------------------------------------------------------------------

    def judge(self, head: RequestHead) -> HttpRefusal | Caller:
        """The first thing that is wrong with a request, or who it is from."""
        refusal = (
            self._refuse_host(head)
            or self._refuse_origin(head)
            or _refuse_method(head)
            or _refuse_target(head)
            or _refuse_token_in_url(head)
        )
        if refusal:
            return refusal
        judged = self._ask_who(head)
        if isinstance(judged, HttpRefusal) or head.is_socket:
            return judged
        return refuse_head(head, self._limits) or judged

    def _refuse_host(self, head: RequestHead) -> HttpRefusal | None:
        if head.one(b"host") in self._addresses:
            return None
        return HttpRefusal("wrong_host", f"ask for http://{next(iter(self._addresses))}")

    def _refuse_origin(self, head: RequestHead) -> HttpRefusal | None:
        own = self._addresses[head.one(b"host") or ""]
        origins, sites = head.all(b"origin"), head.all(b"sec-fetch-site")
        if origins in ([], [own]) and all(each in OWN_SITES for each in sites):
            return None
        return HttpRefusal(
            "foreign_origin", "pages of other origins cannot use this; ask from a program"
        )

    def _ask_who(self, head: RequestHead) -> HttpRefusal | Caller:
        access = self._table.needed(head.method, parts_of(head.raw_path, head.path) or ())
        if access.needs == "nobody":
            return "nobody"
        if access.needs == "hook":
            return self._ask_hook(head, access.hook)
        scope = self._tokens.scope_of(head.one(b"authorization"))
        if scope == "person" or scope == access.needs:
            return scope
        if access.session and self._has_ticket(head, access.session):
            return "ticket"
        if scope is None and access.web and (session := self._web_session(head)) is not None:
            return self._refuse_change(head, session) or "person"
        if scope is None:
            return HttpRefusal(
                "token_needed",
                "send Authorization: Bearer with the token from person.token or agent.token "
                "in the data directory",
                ((b"www-authenticate", b"Bearer"),),
            )
        return HttpRefusal("person_needed", "this needs the token from person.token")

    def _web_session(self, head: RequestHead) -> WebSession | None:
        authority = head.one(b"host") or ""
        name = cookie_name(authority, tls=self._addresses[authority].startswith("https"))
        return self._web.of(cookies_named(name, head.all(b"cookie")))

    def _refuse_change(self, head: RequestHead, session: WebSession) -> HttpRefusal | None:
        """By a cookie nothing is changed, and no socket opened, but from a page of ours."""
        if head.method in BODILESS:
            return None
        own = self._addresses[head.one(b"host") or ""]
        if head.one(b"origin") == own and same(head.one(CSRF), session.csrf):
            return None
        return HttpRefusal("csrf_needed", "open the page again: rutter open")

    def _ask_hook(self, head: RequestHead, name: str) -> HttpRefusal | Caller:
        """Here, and not in the route alone: no body is read for who has no token."""
        if self._admits_hook(name, bearer_of(head.one(b"authorization"))):
            return "hook"
        return HttpRefusal(
            "hook_token_needed",
            "send Authorization: Bearer with the token that rutter hook set printed",
            ((b"www-authenticate", b"Bearer"),),
        )

    def _has_ticket(self, head: RequestHead, session: str) -> bool:
        brought = cookies_named(COOKIE, head.all(b"cookie"))
        return any(self._tickets.admits(value, session) for value in brought)


def _wants_page(head: RequestHead) -> bool:
    """Whether a person looks at the answer: no program asks for HTML by this name."""
    return head.method in BODILESS and "text/html" in ",".join(head.all(b"accept"))


def _refuse_method(head: RequestHead) -> HttpRefusal | None:
    if head.method == "OPTIONS":
        return HttpRefusal("no_preflight", "no other origin may use this, so none need ask")
    if head.is_socket or head.method in METHODS:
        return None
    allow = ", ".join(METHODS).encode()
    return HttpRefusal("unknown_method", "see /schema for what there is", ((b"allow", allow),))


def _refuse_target(head: RequestHead) -> HttpRefusal | None:
    if not head.raw_path.startswith(b"/"):
        # An address in the request line outranks Host, so that one would have been judged in vain.
        return HttpRefusal("whole_address", "ask for the path alone, not for a whole address")
    if parts_of(head.raw_path, head.path) is None:
        return HttpRefusal(
            "odd_path", "ask for a path without empty parts, dots or escaped slashes"
        )
    return None


def _refuse_token_in_url(head: RequestHead) -> HttpRefusal | None:
    # Escapes are read as the app reads them: %74oken is token.
    names = {name.lower() for name, _ in parse_qsl(head.query.decode("latin-1"), True)}
    if names.isdisjoint(IN_URL):
        return None
    return HttpRefusal(
        "token_in_url",
        "addresses end up in histories and logs: send the token as Authorization: Bearer, and "
        "replace this one (delete its file, start again)",
    )


# -- answering -------------------------------------------------------------------------------------


def _securing(send: Send) -> Send:
    async def sent(message: Message) -> None:
        starts = message["type"] in ("http.response.start", "websocket.http.response.start")
        await send(secured_start(message) if starts else message)

    return sent
