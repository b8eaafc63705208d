"""Given a guard in front of an app: what is hostile or mistaken is refused and never reaches it."""

from collections.abc import AsyncIterator
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from websockets.asyncio.client import connect

from rutter.events.errors import BadInput
from rutter.pipeline.daemon.http.access import AccessRule, AccessTable, parts_of
from rutter.pipeline.daemon.http.bodies import BodyLimits
from rutter.pipeline.daemon.http.guard import caller_of, own_addresses
from rutter.pipeline.daemon.http.tokens import COOKIE
from tests.support.case_table import for_each
from tests.support.guarded_app import (
    AGENT,
    JSON,
    PERSON,
    TABLE,
    WS_OPENING,
    Served,
    Spy,
    at_once,
    call,
    guard_on_a_port,
    guarded,
    http_scope,
)

pytestmark = pytest.mark.anyio
SMALL = BodyLimits(max_bytes=64, within_s=0.2)


@pytest.fixture(scope="module")
async def server() -> AsyncIterator[Served]:
    async with guard_on_a_port(body=SMALL) as served:
        yield served


@pytest.fixture
def served(server: Served) -> Served:
    """One server for all of them: what one test sends must not spoil the next one anyway."""
    server.spy.reached.clear()
    server.spy.headers.clear()
    return server


# -- who is asked for ------------------------------------------------------------------------------

FOREIGN_HOSTS = [
    *("evil.test:{port}", "localhost.evil.test:{port}", "localhost.evil.test"),
    *("127.0.0.1.rebind.test:{port}", "7f000001.rebind.test:{port}", "localhost.:{port}"),
    *("LOCALHOST:{port}", "Localhost:{port}", "127.0.0.1", "localhost", "127.0.0.1:1"),
    *("127.0.0.1:0{port}", "127.1:{port}", "2130706433:{port}", "0x7f000001:{port}"),
    *("0.0.0.0:{port}", "127.0.0.2:{port}", "[::ffff:127.0.0.1]:{port}"),
    *("[0:0:0:0:0:0:0:1]:{port}", "::1:{port}", "user@127.0.0.1:{port}"),
    *("127.0.0.1:{port}@evil.test", "127.0.0.1:{port}, evil.test", "127.0.0.1:{port}/"),
    *("http://127.0.0.1:{port}", "127.0.0.1:{port}\xa0", ""),
]


@for_each("host", FOREIGN_HOSTS)
async def test_a_host_that_is_not_ours_is_misdirected(served: Served, host: str) -> None:
    named = host.format(port=served.port)
    asked = await served.ask("/health", host=named)
    assert (asked.status, asked.error) == (421, "wrong_host")
    opened = await served.open_socket("/stream/s1", host=named)
    assert (opened.status, opened.error) == (421, "wrong_host")
    assert not served.spy.reached


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "[::1]"])
async def test_every_name_of_this_machine_is_ours(served: Served, name: str) -> None:
    host = f"{name}:{served.port}"
    assert (await served.ask("/", f"Origin: http://{host}", host=host)).status == 200


@pytest.mark.parametrize("opening", [(), WS_OPENING])
async def test_two_hosts_are_none(served: Served, opening: tuple[str, ...]) -> None:
    two = ("Host: evil.test", *opening)
    assert (await served.ask("/", *two)).status == 400  # h11 has no patience with it either
    own = (b"host", served.host.encode())
    sent = await call(guarded(served.spy, served.port), http_scope([own, own]))
    assert sent[0]["status"] == 421
    assert not served.spy.reached


async def test_no_host_is_none(served: Served) -> None:
    assert (await served.ask("/health", host="-", version="1.0")).status == 421
    assert not served.spy.reached


@for_each(
    "target",
    [
        *("http://evil.test/health", "http://127.0.0.1:{port}/health", "https://evil.test/"),
        *("//evil.test/health", "evil.test:443", "*"),
    ],
)
async def test_a_whole_address_in_the_request_line_is_refused(served: Served, target: str) -> None:
    status = 400 if target.startswith("/") else 421
    assert (await served.ask(target.format(port=served.port))).status == status
    assert (await served.open_socket(target.format(port=served.port))).status == status
    assert not served.spy.reached


@for_each(
    "target",
    [
        *("/jobs/../approvals", "/jobs/%2e%2e/approvals", "/jobs%2f..%2fapprovals"),
        *("/jobs//approvals", "//", "/./jobs", "/jobs%5capprovals", "/jobs%00"),
        *("/jobs%0d%0ax", "/stream%2Fs1"),
    ],
)
async def test_a_path_with_two_readings_is_refused(served: Served, target: str) -> None:
    asked = await served.ask(target)
    assert (asked.status, asked.error) == (400, "odd_path")
    assert not served.spy.reached


# -- who asks: pages -------------------------------------------------------------------------------

FOREIGN_ORIGINS = [
    "null",
    "http://evil.test",
    "http://evil.test:{port}",
    "https://127.0.0.1:{port}",
    "http://127.0.0.1",
    "http://127.0.0.1:1",
    "http://localhost:{port}",  # ours by another name than the one it asked for
    "http://127.0.0.1:{port}.evil.test",
    "http://127.0.0.1:{port}/",
    "HTTP://127.0.0.1:{port}",
    "http://127.0.0.1:{port}, http://evil.test",
    "http://user@127.0.0.1:{port}",
    "file://",
    "chrome-extension://abcdefgh",
    "",
]


@for_each("origin", FOREIGN_ORIGINS)
@for_each("token", [PERSON, ""])
async def test_a_foreign_origin_is_refused_token_or_not(
    served: Served, origin: str, token: str
) -> None:
    header = "Origin: " + origin.format(port=served.port)
    for answer in (
        await served.ask("/health", header, token=token),
        await served.post("/jobs", b"{}", header, token=token),
        await served.open_socket("/stream/s1", header, token=token),
    ):
        assert (answer.status, answer.error) == (403, "foreign_origin")
        assert not [each for each, _ in answer.headers if each.startswith("access-control-")]
    assert not served.spy.reached


async def test_two_origins_are_foreign(served: Served) -> None:
    own = f"Origin: {served.origin}"
    assert (await served.ask("/", own, own)).status == 403
    assert not served.spy.reached


@for_each("site", ["cross-site", "same-site", "Same-Origin", "anything", ""])
async def test_what_a_browser_says_comes_from_elsewhere_is_refused(
    served: Served, site: str
) -> None:
    ticket = f"Cookie: {COOKIE}={served.tickets.issue('s1')}"
    said = f"Sec-Fetch-Site: {site}"
    assert (await served.ask("/stream/s1/mjpeg", said, ticket, token="")).status == 403
    assert (await served.open_socket("/stream/s1", said, ticket, token="")).status == 403
    assert not served.spy.reached


@pytest.mark.parametrize("site", ["same-origin", "none"])
async def test_our_own_pages_and_the_address_bar_are_welcome(served: Served, site: str) -> None:
    assert (await served.ask("/", f"Sec-Fetch-Site: {site}")).status == 200


async def test_nobody_is_answered_who_asks_first(served: Served) -> None:
    for origin in (served.origin, "http://evil.test"):
        asked = await served.ask(
            "/jobs",
            f"Origin: {origin}",
            "Access-Control-Request-Method: POST",
            "Access-Control-Request-Headers: authorization, content-type",
            "Access-Control-Request-Private-Network: true",
            method="OPTIONS",
            token="",
        )
        assert asked.status == 403
        assert not [each for each, _ in asked.headers if each.startswith("access-control-")]
    assert (await served.ask("*", method="OPTIONS")).status == 403
    assert not served.spy.reached


async def test_the_app_cannot_let_other_origins_in_either(served: Served) -> None:
    served.spy.headers = [(b"Access-Control-Allow-Origin", b"*"), (b"Cache-Control", b"public")]
    answer = await served.ask()
    assert answer.status == 200
    assert not answer.header("access-control-allow-origin")
    assert answer.header("cache-control") == ["no-store"]


@given(
    host=st.one_of(st.none(), st.text(max_size=30), st.sampled_from(FOREIGN_HOSTS)),
    origin=st.one_of(st.none(), st.text(max_size=30), st.sampled_from(FOREIGN_ORIGINS)),
    own_host=st.booleans(),
    kind=st.sampled_from(["http", "websocket"]),
)
def test_whatever_host_and_origin_are_made_up_nothing_reaches_the_app(
    host: str | None, origin: str | None, own_host: bool, kind: str
) -> None:
    spy, own = Spy(), "127.0.0.1:8080"
    said = [(b"authorization", f"Bearer {PERSON}".encode())]
    for name, value in ((b"host", own if own_host else host), (b"origin", origin)):
        if value is not None:
            said.append((name, value.replace("{port}", "8080").encode("utf-8", "replace")))
    fine = dict(said).get(b"host", b"").decode() in own_addresses(8080)
    allowed = fine and origin is None
    sent = at_once(call(guarded(spy, 8080), {**http_scope(said), "type": kind}))
    assert bool(spy.reached) == allowed
    assert allowed or sent[0].get("code") == 1008 or sent[0]["status"] in (403, 421)


# -- who asks: tokens ------------------------------------------------------------------------------


@for_each(
    "header",
    [
        "X-Nothing: 1",
        "Authorization: Bearer wrong",
        "Authorization: Bearer",
        "Authorization: Bearer ",
        f"Authorization: {PERSON}",
        f"Authorization: Basic {PERSON}",
        f"Authorization: Bearer {PERSON}x",
        f"Authorization: Bearer {PERSON[:-1]}",
        f"Authorization: Bearer {PERSON} {PERSON}",
        f"Authorization: Bearer {PERSON.upper()}",
        f"Authorization: Bearer {PERSON}, Bearer {PERSON}",
        f"Authorization: Bearer {AGENT}\r\nAuthorization: Bearer {PERSON}",
        f"X-Authorization: Bearer {PERSON}",
        f"Cookie: token={PERSON}; {COOKIE}={PERSON}",
        f"Sec-WebSocket-Protocol: bearer, {PERSON}",
    ],
)
async def test_without_a_token_nothing_is_said(served: Served, header: str) -> None:
    for answer in (
        await served.ask("/", header, token=""),
        await served.post("/jobs", b"{}", header, token=""),
        await served.open_socket("/stream/s1", header, token=""),
    ):
        assert (answer.status, answer.error) == (401, "token_needed")
        assert answer.header("www-authenticate") == ["Bearer"]
    assert not served.spy.reached


@pytest.mark.parametrize(
    ("method", "target", "status"),
    [
        ("GET", "/sessions", 200),
        ("GET", "/sessions/", 200),
        ("GET", "/sessions/s1/events", 200),
        ("GET", "/stream/s1/mjpeg", 200),
        ("POST", "/jobs", 200),
        ("POST", "/jobs/", 200),
        ("GET", "/", 403),
        ("POST", "/sessions/s1/stop", 403),
        ("POST", "/jobs/1/cancel", 403),
        ("GET", "/jobs", 403),
        ("PUT", "/jobs", 403),
        ("DELETE", "/sessions/s1", 403),
        ("POST", "/approvals/s1/1", 403),
        ("POST", "/schedules", 403),
        ("GET", "/sessionsx", 403),
        ("GET", "/Sessions", 403),
        ("POST", "/nobody/has/thought/of/this", 403),
    ],
)
async def test_an_agent_may_what_the_table_says_and_nothing_else(
    served: Served, method: str, target: str, status: int
) -> None:
    asked = await served.ask(target, method=method, token=AGENT)
    assert asked.status == status
    assert len(served.spy.reached) == (status == 200)
    if status == 200:
        assert asked.json()["caller"] == "agent"
    else:
        assert asked.error == "person_needed"
    mine = await served.ask(target, method=method, token=PERSON)
    assert (mine.status, mine.json()["caller"]) == (200, "person")


async def test_health_is_for_everybody_who_found_the_door(served: Served) -> None:
    assert (await served.ask("/health", token="")).json()["caller"] == "nobody"
    assert (await served.ask("/health", token="wrong")).status == 200
    assert (await served.ask("/health/x", token="")).status == 401
    assert (await served.ask("/health", method="POST", token="")).status == 401


@for_each(
    "query",
    [
        f"token={PERSON}",
        f"access_token={PERSON}",
        f"a=1&TOKEN={PERSON}",
        f"%74oken={PERSON}",
        f"authorization=Bearer+{PERSON}",
        "token",
        "token=",
    ],
)
@for_each("token", ["", PERSON])
async def test_a_token_in_an_address_is_refused_whatever_else_is_sent(
    served: Served, query: str, token: str
) -> None:
    for answer in (
        await served.ask(f"/health?{query}", token=token),
        await served.open_socket(f"/stream/s1?{query}", token=token),
    ):
        assert (answer.status, answer.error) == (400, "token_in_url")
        assert "Authorization: Bearer" in answer.json()["message"]
        assert PERSON not in answer.body.decode()
    assert not served.spy.reached


async def test_other_queries_are_the_apps(served: Served) -> None:
    assert (await served.ask("/sessions?after=token&tokens=3", token=AGENT)).status == 200


# -- what is sent ----------------------------------------------------------------------------------


@for_each(
    "kind",
    [
        *("application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/plain"),
        *("text/plain; application/json", "application/json, text/plain", "application/jsonx"),
        *("application/json; charset=utf-16", "application/json; charset=utf-8; x=y", ""),
    ],
)
async def test_what_is_not_json_is_refused(served: Served, kind: str) -> None:
    answer = await served.post("/jobs", b'{"a":1}', f"Content-Type: {kind}")
    assert (answer.status, answer.error) == (415, "not_json")
    assert (await served.post("/jobs", b"", f"Content-Type: {kind}")).status == 415
    assert not served.spy.reached


async def test_json_by_no_name_by_two_or_packed_is_refused(served: Served) -> None:
    for headers in ((), (JSON, JSON), (JSON, "Content-Encoding: gzip")):
        sent = ("Content-Length: 2", *headers)
        assert (await served.ask("/jobs", *sent, method="POST", body=b"{}")).status == 415
    assert not served.spy.reached


@pytest.mark.parametrize(
    "kind",
    ["application/json", "application/json; charset=utf-8", 'Application/JSON;charset="UTF-8"'],
)
async def test_json_is_taken(served: Served, kind: str) -> None:
    answer = await served.post("/jobs", b'{"a":1}', f"Content-Type: {kind}", token=AGENT)
    assert answer.json() == {"caller": "agent", "body": '{"a":1}'}


async def test_nothing_sent_needs_no_kind(served: Served) -> None:
    for headers in ((), ("Content-Length: 0",)):
        answer = await served.ask("/jobs", *headers, method="POST")
        assert answer.json() == {"caller": "person", "body": ""}


async def test_a_body_as_large_as_the_limit_is_taken_and_one_byte_more_is_not(
    served: Served,
) -> None:
    assert (await served.post("/jobs", b" " * 64)).json()["body"] == " " * 64
    answer = await served.post("/jobs", b" " * 65)
    assert (answer.status, answer.error) == (413, "body_too_large")
    assert len(served.spy.reached) == 1


@for_each("length", ["65", "99999999999", "9" * 4000, "9" * 18])
async def test_a_length_beyond_the_limit_is_refused_before_the_body(
    served: Served, length: str
) -> None:
    asked = await served.ask("/jobs", JSON, f"Content-Length: {length}", method="POST")
    assert asked.status in (400, 413)  # h11 has a limit of its own for how many digits
    assert not served.spy.reached


async def test_chunks_are_counted_as_they_come(served: Served) -> None:
    head = f"POST /jobs HTTP/1.1\r\nHost: {served.host}\r\nAuthorization: Bearer {PERSON}\r\n"
    head += f"{JSON}\r\nTransfer-Encoding: chunked\r\n\r\n"
    chunk = "10\r\n" + " " * 16 + "\r\n"
    async with served.line() as line:
        await line.say(head + chunk * 4 + "0\r\n\r\n")
        assert (await line.answer()).status == 200
        await line.say(head + chunk * 5)  # and no end
        answer = await line.answer()
    assert (answer.status, answer.error) == (413, "body_too_large")
    assert len(served.spy.reached) == 1


async def test_a_refused_body_is_swallowed_and_the_connection_goes_on(served: Served) -> None:
    async with served.line() as line:
        big = b" " * 1_000_000
        head = f"POST /jobs HTTP/1.1\r\nHost: {served.host}\r\nContent-Length: {len(big)}\r\n"
        await line.say(head.encode() + f"{JSON}\r\n\r\n".encode() + big)
        assert (await line.answer()).status == 401
        await line.say(f"GET /health HTTP/1.1\r\nHost: {served.host}\r\n\r\n")
        assert (await line.answer()).status == 200


async def test_what_is_no_chunk_behind_an_answer_ends_the_connection(served: Served) -> None:
    async with served.line() as line:
        head = f"POST /jobs HTTP/1.1\r\nHost: {served.host}\r\nTransfer-Encoding: chunked\r\n\r\n"
        await line.say(head)
        assert (await line.answer()).status == 401
        await line.say("no chunk\r\n\r\n")
        assert await line.rest() == b""


@pytest.mark.parametrize("declared", ["Content-Length: 10", "Transfer-Encoding: chunked"])
@pytest.mark.parametrize("begun", ["", "2\r\n{}\r\n"])
async def test_a_body_that_does_not_end_is_a_timeout(
    served: Served, declared: str, begun: str
) -> None:
    async with served.line() as line:
        await line.say(
            f"POST /jobs HTTP/1.1\r\nHost: {served.host}\r\nAuthorization: Bearer {PERSON}\r\n"
            f"{JSON}\r\n{declared}\r\n\r\n{begun}"
        )
        answer = await line.answer()
        assert (answer.status, answer.error) == (408, "body_too_slow")
        assert answer.header("connection") == ["close"]
        assert await line.rest() == b""
    assert not served.spy.reached


async def test_who_leaves_in_the_middle_of_a_body_has_asked_for_nothing(served: Served) -> None:
    async with served.line() as line:
        await line.say(
            f"POST /jobs HTTP/1.1\r\nHost: {served.host}\r\nAuthorization: Bearer {PERSON}\r\n"
            f"{JSON}\r\nContent-Length: 10\r\n\r\n{{"
        )
    assert (await served.ask("/health")).status == 200
    assert served.spy.reached == [("GET", "/health")]


@pytest.mark.parametrize("method", ["GET", "HEAD"])
async def test_reading_brings_no_body(served: Served, method: str) -> None:
    sent = (JSON, "Content-Length: 2")
    assert (await served.ask("/health", *sent, method=method, body=b"{}")).status == 400
    chunked = (JSON, "Transfer-Encoding: chunked")
    assert (await served.ask("/health", *chunked, method=method)).status == 400
    assert not served.spy.reached


async def test_two_lengths_or_a_length_and_chunks_are_not_guessed_at(served: Served) -> None:
    for headers in (
        ("Content-Length: 2", "Content-Length: 3"),
        ("Content-Length: -2",),
        ("Content-Length: 2", "Transfer-Encoding: gzip, chunked"),
    ):
        asked = await served.ask("/jobs", JSON, *headers, method="POST", body=b"{}")
        assert asked.status in (400, 501)
    assert not served.spy.reached


@for_each("method", ["TRACE", "CONNECT", "PROPFIND", "get", "WS", "X"])
async def test_a_method_that_nobody_knows_is_refused(served: Served, method: str) -> None:
    asked = await served.ask("/health", method=method)
    assert asked.status == 405
    assert not served.spy.reached


# -- what is answered ------------------------------------------------------------------------------


async def test_every_answer_has_its_safety_headers_and_every_refusal_says_what_to_do(
    served: Served,
) -> None:
    answers = [
        await served.ask("/"),
        await served.ask("/", token=""),
        await served.ask("/", host="evil.test"),
        await served.ask("/", "Origin: null"),
        await served.ask("/?token=x"),
        await served.ask("/approvals", token=AGENT),
        await served.post("/jobs", b"x" * 65),
        await served.open_socket("/stream/s1", token=""),
    ]
    assert [answer.status for answer in answers] == [200, 401, 421, 403, 400, 403, 413, 401]
    for answer in answers:
        assert answer.header("x-content-type-options") == ["nosniff"]
        assert answer.header("cache-control") == ["no-store"]
        assert answer.header("referrer-policy") == ["no-referrer"]
        assert answer.header("x-frame-options") == ["DENY"]
        assert answer.header("cross-origin-resource-policy") == ["same-origin"]
        assert answer.header("content-security-policy")[0] == "frame-ancestors 'none'"
        assert not answer.header("server")
    for answer in answers[1:]:
        assert answer.header("content-type") == ["application/json"]
        assert set(answer.json()) == {"error", "message", "error_code", "retriable"}
        assert answer.json()["message"]


async def test_a_page_of_ours_may_say_what_it_needs_and_is_still_in_no_frame(
    served: Served,
) -> None:
    assert len((await served.ask()).header("content-security-policy")) == 2
    served.spy.headers = [(b"Content-Security-Policy", b"default-src 'self'")]
    found = (await served.ask()).header("content-security-policy")
    assert sorted(found) == ["default-src 'self'", "frame-ancestors 'none'"]


# -- tickets ---------------------------------------------------------------------------------------


async def test_a_ticket_opens_one_live_view_and_nothing_else(served: Served) -> None:
    ticket = f"Cookie: a=b; {COOKIE}={served.tickets.issue('s1')}"
    asked = await served.ask("/stream/s1/mjpeg", ticket, token="")
    assert asked.json()["caller"] == "ticket"
    assert (await served.open_socket("/stream/s1", ticket, token="")).status == 101
    reached = list(served.spy.reached)
    for target in ("/stream/s2/mjpeg", "/sessions", "/", "/stream/s1x/mjpeg", "/stream"):
        assert (await served.ask(target, ticket, token="")).status == 401
    assert (await served.ask("/stream/s1/mjpeg", ticket, method="POST", token="")).status == 401
    assert (await served.open_socket("/stream/s2", ticket, token="")).status == 401
    assert served.spy.reached == reached


async def test_a_ticket_is_looked_for_among_all_cookies(served: Served) -> None:
    good = served.tickets.issue("s 1")
    cookies = f"Cookie: {COOKIE}=planted; {COOKIE}={good}"
    assert (await served.ask(f"/stream/{quote('s 1')}/mjpeg", cookies, token="")).status == 200


async def test_an_agent_that_may_not_look_cannot_look_with_half_a_ticket(served: Served) -> None:
    table = (AccessRule("WS", "/stream/*", "person", ticket=True),)
    guard = guarded(served.spy, served.port, table=table, tickets=served.tickets)
    host = (b"host", served.host.encode())
    agent = (b"authorization", f"Bearer {AGENT}".encode())
    ticket = (b"cookie", f"{COOKIE}={served.tickets.issue('s1')}".encode())
    scope = {**http_scope([host, agent], path="/stream/s1"), "type": "websocket"}
    assert (await call(guard, scope, {"type": "websocket.connect"}))[0]["code"] == 1008
    scope["headers"].append(ticket)
    sent = await call(guard, scope, {"type": "websocket.connect"})
    assert sent[0]["type"] == "websocket.accept"


# -- WebSockets ------------------------------------------------------------------------------------


async def test_a_websocket_with_a_token_is_opened(served: Served) -> None:
    uri = f"ws://{served.host}/stream/s1"
    said = {"Authorization": f"Bearer {AGENT}"}
    async with connect(uri, additional_headers=said, proxy=None) as socket:
        assert await socket.recv() == "agent"
    own = f"http://{served.host}"
    ticket = {"Cookie": f"{COOKIE}={served.tickets.issue('s1')}"}
    async with connect(uri, additional_headers=ticket, origin=own, proxy=None) as socket:  # type: ignore[arg-type]
        assert await socket.recv() == "ticket"


@pytest.mark.parametrize("also", ["Content-Length: 5", "Transfer-Encoding: chunked"])
async def test_a_websocket_opening_with_a_body_is_none(served: Served, also: str) -> None:
    assert (await served.open_socket("/stream/s1", also)).status == 400
    assert (await served.open_socket("/stream/s1", method="POST")).status == 400
    assert not served.spy.reached


async def test_a_websocket_opening_with_too_much_in_it_is_none(served: Served) -> None:
    for more in (["X: " + "x" * 9000], [f"X-{n}: 1" for n in range(200)]):
        assert (await served.open_socket("/stream/s1", *more)).status == 400
    assert (await served.open_socket("/stream/s1?x=" + "x" * 9000)).status == 400
    fits = ["X: " + "x" * 8000, *(f"X-{n}: 1" for n in range(100))]
    assert (await served.open_socket("/stream/s1", *fits)).status == 101


# -- names and the table ---------------------------------------------------------------------------


def test_the_names_somebody_configured_are_ours_too() -> None:
    names = ("rutter.lan", "tunnel.test:9000", "https://proxy.test", "[fd00::1]")
    found = own_addresses(8080, names)
    assert found["127.0.0.1:8080"] == "http://127.0.0.1:8080"
    assert found["rutter.lan:8080"] == "http://rutter.lan:8080"
    assert found["tunnel.test:9000"] == "http://tunnel.test:9000"
    assert found["proxy.test"] == "https://proxy.test"
    assert found["[fd00::1]:8080"] == "http://[fd00::1]:8080"
    assert len(found) == 7


def test_the_usual_port_is_not_written() -> None:
    assert set(own_addresses(80)) == {"127.0.0.1", "localhost", "[::1]"}


@for_each("name", ["*", "*.lan", "Rutter.lan", "a/b", "rutter.lan.", "http://a", ""])
def test_a_name_that_is_none_says_so(name: str) -> None:
    with pytest.raises(BadInput, match="no name to be reached by"):
        own_addresses(8080, [name])


async def test_a_configured_name_is_answered() -> None:
    async with guard_on_a_port(names=("rutter.lan",)) as served:
        host = f"rutter.lan:{served.port}"
        assert (await served.ask(host=host)).status == 200
        assert (await served.ask("/", f"Origin: http://{host}", host=host)).status == 200
        assert (await served.ask("/", f"Origin: {served.origin}", host=host)).status == 403


@for_each(
    "row",
    [
        AccessRule("GET", "no/slash", "agent"),
        AccessRule("GET", "/a//b", "agent"),
        AccessRule("get", "/a", "agent"),
        AccessRule("HEAD", "/a", "agent"),
        AccessRule("GET", "/**/a", "agent"),
        AccessRule("WS", "/stream", "agent", ticket=True),
    ],
)
def test_a_row_that_could_never_count_is_a_mistake(row: AccessRule) -> None:
    with pytest.raises(ValueError, match=r"row of the access table|stars"):
        AccessTable([row])


@given(path=st.text("/abj.s%*", max_size=12).map(lambda text: "/" + text))
def test_no_path_is_for_agents_that_the_table_does_not_name(path: str) -> None:
    table = AccessTable(
        [AccessRule("POST", "/jobs", "agent"), AccessRule("POST", "/a/*/b", "agent")]
    )
    parts = parts_of(path.encode(), path)
    if parts is None:
        return
    named = path.rstrip("/") == "/jobs" or (len(parts) == 3 and parts[0] == "a" and parts[2] == "b")
    assert (table.needed("POST", parts).needs == "agent") == named
    assert table.needed("DELETE", parts).needs == "person"


def test_the_first_row_counts() -> None:
    table = AccessTable(
        [AccessRule("GET", "/a/**", "person"), *TABLE, AccessRule("GET", "/a/b", "nobody")]
    )
    assert table.needed("GET", ("a", "b")).needs == "person"
    assert table.needed("HEAD", ("sessions",)).needs == "agent"


def test_without_a_guard_the_caller_is_nobody() -> None:
    assert caller_of({}) == caller_of({"state": {}}) == "nobody"
