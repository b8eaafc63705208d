"""A daemon whose callers mean it ill: an agent that wants more than its token opens, bodies that
are made to break a reader, and whoever looks for a secret in what it tells."""

import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from io import StringIO
from pathlib import Path

import anyio
import anyio.to_thread
import pytest

from rutter.pipeline.daemon.jobs.runner import MAX_RUN_BYTES
from rutter.pipeline.daemon.notify.service_log import Logbook
from tests.support.command_shell import Rutter
from tests.support.daemon_on_site import Anchored, Reply, anchored
from tests.support.guarded_app import Line, line_to
from tests.support.recorded_site import PASSWORD, Harbour

pytestmark = [pytest.mark.browser, pytest.mark.anyio]

PRIVATE = (
    "http://127.0.0.1:{port}/", "http://localhost:{port}/", "http://[::1]:{port}/",
    "http://127.1:{port}/", "http://2130706433:{port}/", "http://0x7f.1:{port}/",
    "http://0.0.0.0:{port}/", "http://x.localhost:{port}/", "http://[::ffff:127.0.0.1]:{port}/",
    "http://10.0.0.1/", "http://192.168.1.1/", "http://169.254.169.254/", "http://printer.local/",
    "http://[fd00::1]/", "http://[fe80::1]/", "http://100.64.0.1/",
)  # fmt: skip
FOREIGN_URLS = (
    "file:///etc/passwd", "chrome://version", "javascript:alert(1)", "data:text/html,x",
    "view-source:http://127.0.0.1/", "ftp://127.0.0.1/", "http://user:pass@127.0.0.1/", "//x", "x",
)  # fmt: skip


@pytest.fixture(scope="module")
def said() -> StringIO:
    """The daemon's own log."""
    return StringIO()


@pytest.fixture(scope="module")
async def ship(
    harbour: Harbour, recorded: Path, tmp_path_factory: pytest.TempPathFactory, said: StringIO
) -> AsyncIterator[Anchored]:
    data = tmp_path_factory.mktemp("daemon") / "data"
    async with anchored(harbour, data, recorded=recorded) as served:
        logbook = Logbook(lambda line: print(line, file=said), as_json=True)
        served.daemon.app.listen(logbook.hear)
        yield served


# -- an agent that wants more ----------------------------------------------------------------------


async def test_an_agent_drives_no_session_that_the_person_opened(ship: Anchored) -> None:
    """It may reach hosts that no agent may name."""
    opened = await ship.ask("POST", "/sessions", {"url": f"{ship.site.base_url}/login"})
    session = opened.json["session"]
    for tool, arguments in (("get_snapshot", {}), ("navigate", {"url": ship.site.base_url})):
        call = f"/sessions/{session}/tools/{tool}"
        refused = await ship.ask("POST", call, arguments, scope="agent")
        assert (refused.status, refused.json["error"]) == (403, "policy_denied")
    assert (await ship.ask("DELETE", f"/sessions/{session}", scope="agent")).status == 403
    assert (await ship.ask("POST", f"/sessions/{session}/tools/get_snapshot", {})).status == 200
    assert (await ship.ask("DELETE", f"/sessions/{session}")).status == 200
    after = await ship.ask("POST", f"/sessions/{session}/tools/get_snapshot", {}, scope="agent")
    assert after.status == 403


async def test_an_agent_opens_nothing_private_however_it_is_spelled(ship: Anchored) -> None:
    port = ship.url.rpartition(":")[2]
    before = ship.daemon.app.running()
    for each in PRIVATE:
        url = each.format(port=port)
        for path, wish in (("/sessions", {"url": url}), ("/jobs", {"kind": "free", "url": url})):
            reply = await ship.ask("POST", path, wish, scope="agent")
            assert (reply.status, reply.json["error"]) == (403, "policy_denied"), (path, url)
    for url in FOREIGN_URLS:
        reply = await ship.ask("POST", "/sessions", {"url": url}, scope="agent")
        assert reply.status in (400, 403), url
    for allow in ("*", "*.localhost", "127.0.0.0/8", "::/0", "0.0.0.0/0", "10.0.0.1", "[::1]"):
        wider = {"url": f"{ship.site.base_url}/", "allow": [allow]}
        assert (await ship.ask("POST", "/sessions", wider, scope="agent")).status == 403, allow
    assert ship.daemon.app.running() == before


async def test_an_agents_key_is_not_the_persons(ship: Anchored) -> None:
    """Else it could answer for a run that it has chosen, or learn which there was."""
    free = {"kind": "free", "url": f"{ship.site.base_url}/login", "dry_run": True}
    other = {**free, "values": {"a": "b"}}
    key = {"Idempotency-Key": "monday"}
    first = await ship.ask("POST", "/jobs", free, scope="agent", headers=key)
    assert first.status == 202
    mine = await ship.ask("POST", "/jobs", other, headers=key)
    assert mine.status == 202
    assert mine.json["job_id"] != first.json["job_id"]
    for job in (first, mine):
        await ship.ask("DELETE", f"/jobs/{job.json['job_id']}")


# -- bodies and heads that break a reader ----------------------------------------------------------


async def test_what_is_nested_without_end_is_refused_and_breaks_nothing(ship: Anchored) -> None:
    deep = ('{"a":' * 100_000, '{"values": ' + "[" * 200_000, "[" * 400_000 + "]" * 400_000)
    for body in deep:
        for path in ("/jobs", "/sessions", "/changes", "/sessions/x/tools/get_snapshot"):
            assert (await _post(ship, path, body.encode())).status == 400, path
    assert (await ship.ask("GET", "/health")).status == 200


async def test_what_is_no_json_or_not_what_is_meant_is_refused(ship: Anchored) -> None:
    for body in (
        b"", b"null", b"[]", b"1", b'"x"', b"{", b"{}x", b"\xff\xfe", b'{"url": "\\ud800"}',
        b'{"url": NaN}', b'{"max_turns": 1e999}', b'{"max_turns": ' + b"9" * 5000 + b"}",
        b'{"screenshots": 1}', b'{"screenshots": "true"}', b'{"url": null}', b'{"more": 1}',
        b'{"values": {"a": 1}}', b'{"url": 7}',
    ):  # fmt: skip
        assert (await _post(ship, "/sessions", body)).status == 400, body
    for approved in ("true", 1, 0, None, "yes", [True]):
        reply = await ship.ask("POST", "/approvals/x/y", {"approved": approved})
        assert reply.status == 400, approved


async def test_a_number_that_no_log_can_hold_is_refused(ship: Anchored) -> None:
    for number in (2**64, -(2**63) - 1, 10**400):
        for path in ("/sessions/x/tools/wait", "/jobs", "/changes"):
            assert (await ship.ask("POST", path, {"ms": number})).status == 400, (path, number)


async def test_what_comes_as_json_is_the_same_bytes_whenever_it_is_written(ship: Anchored) -> None:
    """Said in full though it is as usual: `anchored` reads the whole log again at the end."""
    flow = (await ship.ask("GET", "/workflows/order")).json
    known = {"name": "shop", "version": "1", "states": []}
    learned = {**flow, "name": "told", "version": 1, "service": known}
    change = {"event": "WorkflowLearned", "workflow": learned}
    assert (await ship.ask("POST", "/changes", change)).status == 204
    assert (await ship.ask("GET", "/workflows/told")).json["service"]["name"] == "shop"


async def test_a_job_is_as_large_as_it_may_be_and_not_larger(ship: Anchored) -> None:
    free = {"kind": "free", "url": f"{ship.site.base_url}/login", "dry_run": True}
    large = {**free, "values": {"a": "x" * MAX_RUN_BYTES}}
    refused = await ship.ask("POST", "/jobs", large)
    assert (refused.status, "bytes" in refused.json["message"]) == (400, True)


async def test_names_that_lead_elsewhere_lead_nowhere(ship: Anchored) -> None:
    for name in (
        "..%2f..%2fperson.token", "%2e%2e", "..", ".", "%00", "a%0d%0ab", "x%2fy", "%5c..%5cx",
        "a" * 5_000, "%F0%9F%8C%8A", "person.token%00.png", "%c0%ae%c0%ae",
    ):  # fmt: skip
        for under in ("/artifacts/", "/sessions/", "/jobs/", "/workflows/", "/schema/"):
            reply = await ship.ask("GET", under + name)
            assert reply.status in (400, 404), (under, name, reply)
            assert ship.token().encode() not in reply.body


async def test_a_head_with_two_ends_is_one_request_or_none(ship: Anchored) -> None:
    """What smuggles a second request behind the first: it is read as the body that it is."""
    port = int(ship.url.rpartition(":")[2])
    inner = f"POST /changes HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n"
    head = (
        f"POST /jobs HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
        f"Authorization: Bearer {ship.token('agent')}\r\nContent-Type: application/json\r\n"
    )
    for ends in (
        *("Content-Length: 4\r\nTransfer-Encoding: chunked\r\n",),
        *("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n",),
        *("Transfer-Encoding: xchunked\r\n", "Content-Length: 0\r\nContent-Length: 40\r\n"),
        *("Content-Length: +4\r\n", "Content-Length: 0x4\r\n"),
        *("Content-Length : 4\r\n", "Content-Length: 4\r\n Content-Length: 400\r\n"),
    ):
        async with line_to(port) as line:
            await line.say(head + ends + "\r\n0\r\n\r\n" + inner)
            assert (await _first_status(line)) in (400, 401, 413, 415, 501), ends


async def test_idle_lines_and_streams_keep_nobody_out(ship: Anchored) -> None:
    """As many as one caller would open: the person is still answered."""
    port = int(ship.url.rpartition(":")[2])
    opened = await ship.ask("POST", "/sessions", {"url": f"{ship.site.base_url}/login"})
    session = opened.json["session"]
    asks = (
        f"GET /sessions/{session}/events HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
        f"Authorization: Bearer {ship.token('agent')}\r\n\r\n"
    )
    async with _many(port, 60, "GET / HTTP/1.1\r\n"), _many(port, 60, asks):
        assert (await ship.ask("GET", "/health")).status == 200
        stopped = await ship.ask("POST", f"/sessions/{session}/stop")
        assert stopped.json["reason"] == "cancelled"


async def test_at_another_address_it_answers_to_that_and_commands_find_it_there(
    harbour: Harbour, tmp_path: Path
) -> None:
    more = '[serve]\nhost = "127.0.0.2"\n'
    async with anchored(harbour, tmp_path / "data", more=more) as ship:
        assert ship.url.startswith("http://127.0.0.2:")
        assert (await ship.ask("GET", "/approvals")).status == 200
        foreign = {"Host": "127.0.0.3:" + ship.url.rpartition(":")[2]}
        assert (await ship.ask("GET", "/approvals", headers=foreign)).status == 421
        ended = await anyio.to_thread.run_sync(lambda: Rutter(ship.data)("approvals"))
        assert (ended.code, ended.err) == (0, "")


# -- a secret that somebody looks for --------------------------------------------------------------


async def test_a_bound_secret_is_nowhere_in_what_is_told(
    ship: Anchored, said: StringIO, recorded: Path
) -> None:
    job = await ship.run()
    ended = await ship.ended(job["job_id"])
    assert ended["reason"] == "completed"
    wish = {"url": f"{ship.site.base_url}/login", "secrets": ["password"]}
    session = (await ship.ask("POST", "/sessions", wish, scope="agent")).json["session"]
    calls = f"/sessions/{session}/tools"
    seen = (await ship.ask("POST", f"{calls}/get_snapshot", {}, scope="agent")).json
    [field] = [
        each["ref"] for each in seen["snapshot"]["elements"] if each.get("name") == "Password"
    ]
    told = [
        await ship.ask(
            "POST", f"{calls}/browser_fill", {"ref": field, "value": "${password}"}, scope="agent"
        ),
        await ship.ask("POST", f"{calls}/get_snapshot", {}, scope="agent"),
    ]
    assert told[0].json["success"] is True
    await ship.ask("DELETE", f"/sessions/{session}", scope="agent")
    told += [await ship.ask("GET", path) for path in _told_of(ended["session"])]
    told += [await ship.ask("GET", path) for path in _told_of(session)]
    told += [await ship.ask("GET", path) for path in ALL_READS]
    told.append(await ship.ask("GET", "/metrics", headers={"Accept": "text/plain"}))
    assert {reply.status for reply in told} == {200}
    tokens = (ship.token("person"), ship.token("agent"))
    for word in (PASSWORD, json.dumps(PASSWORD)[1:-1], *tokens):
        assert not [reply for reply in told if word.encode() in reply.body]
        assert word not in said.getvalue()
        for file in sorted(ship.data.rglob("*")):
            if file.is_file() and not file.name.endswith(".token"):
                assert word.encode() not in file.read_bytes(), file


ALL_READS = (
    "/", "/metrics", "/statistics", "/transitions/top", "/tools", "/workflows", "/workflows/order",
    "/jobs", "/sessions", "/approvals", "/schema/openapi.json", "/schedules", "/hooks",
)  # fmt: skip


def _told_of(session: str) -> list[str]:
    parts = ("", "/events", "/replay", "/trace", "/steps")
    return [f"/sessions/{session}{part}" for part in parts]


# -- how it is asked -------------------------------------------------------------------------------


async def _post(ship: Anchored, path: str, body: bytes) -> Reply:
    """A body that is sent as it is."""
    port = int(ship.url.rpartition(":")[2])
    async with line_to(port) as line:
        await line.say(
            f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
            f"Authorization: Bearer {ship.token()}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n".encode()
            + body
        )
        answer = await line.answer()
    return Reply(answer.status, dict(answer.headers), answer.body)


async def _first_status(line: Line) -> int:
    with anyio.fail_after(30):
        return (await line.answer()).status


@asynccontextmanager
async def _many(port: int, number: int, words: str) -> AsyncIterator[None]:
    """So many connections that say this and wait."""
    async with AsyncExitStack() as held:
        for _ in range(number):
            line = await held.enter_async_context(line_to(port))
            await line.say(words)
        yield
