"""Every route that the daemon serves, asked as nobody should: refused, with the right status, and
never heard by the app. A route without a decision here about who may use it fails."""

import re
from collections.abc import AsyncIterator, Iterator
from typing import NamedTuple

import msgspec
import pytest

from rutter.pipeline.daemon.http.access import METHODS, Needs, _fits
from rutter.pipeline.daemon.http.asgi import RequestHead
from rutter.pipeline.daemon.http.bodies import BodyLimits
from rutter.pipeline.daemon.http.guard import Caller
from rutter.pipeline.daemon.http.refusals import HttpRefusal
from rutter.pipeline.daemon.http.tokens import Tickets
from tests.support.daemon_inside import Aboard, watched
from tests.support.daemon_on_site import anchored
from tests.support.guarded_app import WS_OPENING, Answer, Served, Spy
from tests.support.recorded_site import Harbour

pytestmark = [pytest.mark.browser, pytest.mark.anyio]

# Who may use what. Whoever adds a route decides here too: the person alone, agents as well, a hook
# by its own token, or anybody.
SCOPES: dict[tuple[str, str], Needs] = {
    ("GET", "/"): "agent",
    ("GET", "/health"): "nobody",
    ("GET", "/metrics"): "agent",
    ("GET", "/statistics"): "agent",
    ("GET", "/transitions/top"): "agent",
    ("GET", "/tools"): "agent",
    ("GET", "/schema"): "agent",
    ("GET", "/schema/openapi.json"): "agent",
    ("GET", "/schema/{path:str}"): "agent",
    ("GET", "/workflows"): "agent",
    ("GET", "/workflows/{name:str}"): "agent",
    ("POST", "/changes"): "person",
    ("POST", "/log/tidy"): "person",
    ("POST", "/jobs"): "agent",
    ("GET", "/jobs"): "agent",
    ("GET", "/jobs/{job:str}"): "agent",
    ("DELETE", "/jobs/{job:str}"): "person",
    ("POST", "/api/wraith"): "agent",
    ("GET", "/approvals"): "person",
    ("POST", "/approvals/{session:str}/{approval:str}"): "person",
    ("GET", "/sessions"): "agent",
    ("POST", "/sessions"): "agent",
    ("GET", "/sessions/{session:str}"): "agent",
    ("DELETE", "/sessions/{session:str}"): "agent",
    ("GET", "/sessions/{session:str}/events"): "agent",
    ("GET", "/sessions/{session:str}/replay"): "agent",
    ("GET", "/sessions/{session:str}/trace"): "agent",
    ("GET", "/sessions/{session:str}/steps"): "agent",
    ("POST", "/sessions/{session:str}/tools/{tool:str}"): "agent",
    ("POST", "/sessions/{session:str}/stop"): "person",
    ("POST", "/sessions/{session:str}/pause"): "person",
    ("POST", "/sessions/{session:str}/resume"): "person",
    ("POST", "/sessions/{session:str}/ticket"): "person",
    ("GET", "/artifacts/{digest:str}"): "person",
    ("GET", "/schedules"): "person",
    ("PUT", "/schedules/{name:str}"): "person",
    ("DELETE", "/schedules/{name:str}"): "person",
    ("GET", "/hooks"): "person",
    ("PUT", "/hooks/{name:str}"): "person",
    ("DELETE", "/hooks/{name:str}"): "person",
    ("POST", "/hooks/{name:str}"): "hook",
    ("GET", "/stream/{session:str}"): "person",
    ("GET", "/stream/{session:str}/mjpeg"): "person",
    ("WS", "/stream/{session:str}"): "person",
    ("GET", "/web"): "person",
    ("GET", "/web/now"): "person",
    ("GET", "/web/approvals"): "person",
    ("GET", "/web/runs"): "person",
    ("GET", "/web/runs/{session:str}"): "person",
    ("GET", "/web/runs/{session:str}/again"): "person",
    ("GET", "/web/runs/{session:str}/what-if"): "person",
    ("GET", "/web/runs/{session:str}/report"): "person",
    ("GET", "/web/workflows"): "person",
    ("GET", "/web/workflows/one"): "person",
    ("GET", "/web/workflows/compare"): "person",
    ("GET", "/web/jobs/{job:str}"): "person",
    ("GET", "/web/learned"): "person",
    ("GET", "/web/learned/chart"): "person",
    ("GET", "/web/learned/habits"): "person",
    ("GET", "/web/models"): "person",
    ("GET", "/web/log"): "person",
    ("GET", "/web/log/verify"): "person",
    ("GET", "/web/events"): "person",
    ("GET", "/web/pictures/{digest:str}"): "person",
    ("GET", "/web/open/{code:str}"): "nobody",
    ("GET", "/web/static/{name:str}"): "nobody",
    ("POST", "/web/links"): "person",
    ("DELETE", "/web/sessions"): "person",
    ("POST", "/mcp"): "agent",
    ("GET", "/mcp"): "agent",
    ("DELETE", "/mcp"): "agent",
}
# Apps of their own, which the list of routes knows as a whole or not at all.
MOUNTED = {("ANY", "/stream")}
WITHIN = {each for each in SCOPES if each[1].startswith(("/mcp", "/stream/"))}
HOOK = "h" * 43
FORMS = (
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "text/plain",
    "text/plain;application/json",
)
MAX = 4096


class Row(NamedTuple):
    method: str
    path: str
    needs: Needs

    @property
    def reads(self) -> bool:
        return self.method in ("GET", "WS")


@pytest.fixture(scope="module")
def aboard() -> Iterator[Aboard]:
    with pytest.MonkeyPatch.context() as monkeypatch, watched(monkeypatch) as found:
        yield found


class Port(NamedTuple):
    """A daemon, asked as each test likes."""

    served: Served
    aboard: Aboard
    person: str
    agent: str

    async def ask(self, row: Row, *headers: str, target: str = "", **more: object) -> Answer:
        opening = WS_OPENING if row.method == "WS" else ()
        method = "GET" if row.method == "WS" else row.method
        token = HOOK if row.needs == "hook" else self.person
        said = {"method": method, "token": token, **more}
        return await self.served.ask(target or row.path, *opening, *headers, **said)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
async def port(
    harbour: Harbour, aboard: Aboard, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Port]:
    data = tmp_path_factory.mktemp("daemon") / "data"
    async with anchored(harbour, data) as ship:
        aboard.guard._limits = BodyLimits(max_bytes=MAX, within_s=0.2)
        aboard.guard._admits_hook = lambda _, token: token == HOOK
        served = Served(Spy(), int(ship.url.rpartition(":")[2]), Tickets())
        yield Port(served, aboard, ship.token("person"), ship.token("agent"))


@pytest.fixture
def rows(port: Port) -> list[Row]:
    """Every route as it is served, with a path that names something."""
    port.aboard.passed.clear()
    return [
        Row(method, re.sub(r"\{[a-z]+:[a-z]+\}", "x", path), needs)
        for (method, path), needs in sorted(SCOPES.items())
    ]


async def test_of_every_route_it_is_decided_who_may_use_it(port: Port) -> None:
    assert port.aboard.routes() == SCOPES.keys() - WITHIN | MOUNTED


async def test_every_row_of_the_access_table_is_about_a_route(port: Port, rows: list[Row]) -> None:
    """One that names none would open whatever comes to stand there."""
    for row, pattern in port.aboard.guard._table._rows:
        alike = [each for each in rows if each.method == row.method]
        assert any(_fits(pattern, _parts(each)) for each in alike), row


def _parts(row: Row) -> tuple[str, ...]:
    return tuple(part for part in row.path.split("/") if part)


async def test_each_token_opens_what_it_is_for_and_nothing_else(
    port: Port, rows: list[Row]
) -> None:
    shown: tuple[tuple[str, Caller], ...] = (
        ("", "nobody"),
        (port.agent, "agent"),
        (port.person, "person"),
    )
    for row in rows:
        for token, scope in shown:
            judged = port.aboard.guard.judge(_head(port, row, token))
            if row.needs == "hook":  # by a token of its own, which none of these is
                assert isinstance(judged, HttpRefusal)
                assert judged.status == 401, row
            elif row.needs in ("nobody", scope) or scope == "person":
                assert judged == ("nobody" if row.needs == "nobody" else scope), row
            else:
                assert isinstance(judged, HttpRefusal)
                assert judged.status == (401 if scope == "nobody" else 403), row


def _head(port: Port, row: Row, token: str) -> RequestHead:
    headers = [(b"host", port.served.host.encode())]
    if token:
        headers.append((b"authorization", f"Bearer {token}".encode()))
    return RequestHead(row.method == "WS", row.method, row.path.encode(), row.path, b"", headers)


async def test_without_a_token_or_with_the_wrong_one_it_is_a_401(
    port: Port, rows: list[Row]
) -> None:
    for row in rows:
        if row.needs == "nobody":
            continue
        for token in ("", "x" * 43, port.person[:-1], port.agent + "x", port.person.swapcase()):
            answer = await port.ask(row, token=token)
            assert answer.status == 401, (row, answer)
            assert answer.header("www-authenticate") == ["Bearer"]
    assert not port.aboard.passed


async def test_what_is_the_persons_is_a_403_for_an_agent(port: Port, rows: list[Row]) -> None:
    persons = [row for row in rows if row.needs == "person"]
    for row in persons:
        answer = await port.ask(row, token=port.agent)
        assert (answer.status, answer.error) == (403, "person_needed"), row
    assert {"/changes", "/approvals", "/approvals/x/x", "/artifacts/x"} <= {
        row.path for row in persons
    }
    assert not port.aboard.passed


async def test_a_foreign_host_is_a_421(port: Port, rows: list[Row]) -> None:
    for row in rows:
        for host in ("evil.test", f"evil.test:{port.served.port}", "127.0.0.1", "localhost:1"):
            assert (await port.ask(row, host=host)).status == 421, (row, host)
    assert not port.aboard.passed


async def test_a_foreign_page_is_a_403_token_or_not(port: Port, rows: list[Row]) -> None:
    foreign = (
        "Origin: http://evil.test",
        "Origin: null",
        "Origin: http://127.0.0.1:1",
        f"Origin: http://localhost:{port.served.port}",  # not the one that Host names
        "Sec-Fetch-Site: cross-site",
        "Sec-Fetch-Site: same-site",
    )
    for row in rows:
        for header in foreign:
            for token in ("", port.person):
                answer = await port.ask(row, header, token=token)
                assert (answer.status, answer.error) == (403, "foreign_origin"), (row, header)
    assert not port.aboard.passed


async def test_a_form_is_a_415_where_something_is_taken_and_a_400_where_nothing_is(
    port: Port, rows: list[Row]
) -> None:
    for row in rows:
        if row.method == "WS":
            continue
        for kind in FORMS:
            sent = (f"Content-Type: {kind}", "Content-Length: 3")
            answer = await port.ask(row, *sent, body=b"a=b")
            assert answer.status == (400 if row.reads else 415), (row, kind)
    assert not port.aboard.passed


async def test_a_body_where_nothing_is_taken_is_a_400(port: Port, rows: list[Row]) -> None:
    for row in rows:
        if row.method == "GET":
            sent = ("Content-Type: application/json", "Content-Length: 2")
            assert (await port.ask(row, *sent, body=b"{}")).status == 400, row
    assert not port.aboard.passed


async def test_a_body_that_is_too_large_is_a_413(port: Port, rows: list[Row]) -> None:
    chunk = b"1000\r\n" + b" " * 0x1000 + b"\r\n"
    for row in rows:
        if row.reads:
            continue
        kind = "Content-Type: application/json"
        said = await port.ask(row, kind, f"Content-Length: {10**9}")
        chunked = await port.ask(row, kind, "Transfer-Encoding: chunked", body=chunk * 2)
        assert (said.status, chunked.status) == (413, 413), row
    assert not port.aboard.passed


async def test_a_body_that_does_not_come_is_a_408(port: Port, rows: list[Row]) -> None:
    for row in rows:
        if not row.reads:
            sent = ("Content-Type: application/json", "Content-Length: 9")
            assert (await port.ask(row, *sent, body=b"{")).status == 408, row
    assert not port.aboard.passed


async def test_a_token_in_the_address_is_a_400(port: Port, rows: list[Row]) -> None:
    for row in rows:
        for name in ("token", "access_token", "%74oken", "Authorization"):
            target = f"{row.path}?{name}={port.person}"
            answer = await port.ask(row, target=target)
            assert (answer.status, answer.error) == (400, "token_in_url"), (row, name)
    assert not port.aboard.passed


async def test_a_preflight_is_a_403_and_a_strange_method_a_405(port: Port, rows: list[Row]) -> None:
    for row in rows:
        asks = ("Origin: http://evil.test", "Access-Control-Request-Method: POST")
        for headers in ((), asks):
            answer = await port.ask(row._replace(method="OPTIONS"), *headers)
            assert answer.status == 403, row
            assert not [each for each, _ in answer.headers if each.startswith("access-control")]
        for method in ("TRACE", "PROPFIND", "get"):
            assert (await port.ask(row._replace(method=method))).status == 405, (row, method)
    assert not port.aboard.passed


async def test_by_no_other_method_is_a_route_opened_to_an_agent(
    port: Port, rows: list[Row]
) -> None:
    """What the app has no handler for is the person's, and so says nothing to an agent."""
    known = {(row.method, row.path) for row in rows}
    for path in {row.path for row in rows}:
        for method in METHODS:
            wanted = "GET" if method == "HEAD" else method
            if (wanted, path) not in known:
                row = Row(method, path, "person")
                judged = port.aboard.guard.judge(_head(port, row, port.agent))
                assert isinstance(judged, HttpRefusal), row


async def test_a_websocket_is_opened_nowhere_without_a_token(port: Port, rows: list[Row]) -> None:
    for row in rows:
        answer = await port.served.open_socket(row.path, token="")
        assert answer.status == 401, row
        foreign = await port.served.open_socket(
            row.path, "Origin: http://evil.test", token=port.person
        )
        assert foreign.status == 403, row
    assert not port.aboard.passed


async def test_a_refusal_tells_nothing_of_what_is_behind_it(port: Port, rows: list[Row]) -> None:
    """Not even whether there is such a route: what is not there is refused alike."""
    there = await port.ask(Row("POST", "/changes", "person"), token=port.agent)
    nowhere = await port.ask(Row("POST", "/nowhere", "person"), token=port.agent)
    assert there.body == nowhere.body
    assert set(msgspec.json.decode(there.body)) == {"error", "message", "error_code", "retriable"}


async def test_by_a_method_that_a_path_has_not_it_is_a_405_that_says_which_it_has(
    port: Port, rows: list[Row]
) -> None:
    apps = [row for row in rows if not row.path.startswith(("/mcp", "/stream"))]
    for path in {row.path for row in apps}:
        has = {row.method for row in apps if row.path == path}
        for method in ("GET", "POST", "PUT", "PATCH", "DELETE"):
            if method not in has:
                answer = await port.ask(Row(method, path, "person"))
                assert answer.status == 405, (method, path)
                assert has <= set(answer.header("allow")[0].split(", ")), path
