"""A page in the daemon's own browser tries everything at the daemon: nothing comes as far as its
socket. Where nothing keeps it from there all of it does come, and the guard refuses all of it."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest
from playwright.async_api import Error as PlaywrightError

from rutter.actors.answers import PersonAnswer
from rutter.actors.world.egress.gate import ProxyPassage
from rutter.pipeline.daemon.http.refusals import HttpRefusal
from tests.hostile.test_channels import KEPT_BACK, NOT_EXERCISED, SAYS_DONE
from tests.support.hostile_daemon_page import EVERY, Onslaught, onslaught
from tests.support.recorded_site import Harbour

pytestmark = [pytest.mark.browser, pytest.mark.anyio, pytest.mark.timeout(600)]

ALL = {channel.name for channel in EVERY}
SHOWN = ALL - set(NOT_EXERCISED) - set(KEPT_BACK)
# This machine as people, browsers and resolvers write it.
SPELLED = (
    "127.0.0.1", "localhost", "LOCALHOST", "localhost.", "x.localhost", "[::1]", "127.1",
    "127.0.0.2", "0.0.0.0", "0", "2130706433", "0x7f000001", "0x7f.1", "0177.0.0.1",
    "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[0:0:0:0:0:0:0:1]", "[::]", "%31%32%37.0.0.1",
    "127。0。0。1", "user@127.0.0.1",
)  # fmt: skip
# A page asks for a file by every way of which it would see what comes.
READS = """async urls => {
  const seen = [], wait = ms => new Promise(done => setTimeout(done, ms));
  const frame = url => new Promise(done => {
    const f = document.createElement('iframe');
    f.onload = () => { try { done(f.contentDocument.documentElement.innerText) }
                       catch (error) { done('') } };
    f.src = url; document.body.append(f); setTimeout(() => done(''), 300);
  });
  for (const url of urls) {
    for (const read of [
      async () => (await fetch(url)).text(),
      async () => { const x = new XMLHttpRequest(); x.open('GET', url, false); x.send();
                    return x.responseText },
      () => frame(url),
      () => frame('view-source:' + url),
      async () => JSON.stringify(await import(url)),
      async () => { const s = document.createElement('script'); s.src = url;
                    document.head.append(s); await wait(50); return '' },
      async () => { const l = document.createElement('link'); l.rel = 'stylesheet'; l.href = url;
                    document.head.append(l); await wait(50);
                    return [...document.styleSheets].map(s => s.href).join() },
      async () => { const w = window.open(url); await wait(100); return w.document.body.innerText },
      async () => { new Worker(url); return '' },
      async () => (await (await navigator.storage.getDirectory()).getFileHandle(url)).name,
    ]) { try { seen.push(await read()) } catch (error) { } }
  }
  return seen;
}"""


@pytest.fixture(scope="module")
async def page(
    harbour: Harbour, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Onslaught]:
    folder = tmp_path_factory.mktemp("onslaught")
    with pytest.MonkeyPatch.context() as patched:
        async with onslaught(harbour, folder, patched) as made:
            yield made


async def test_where_nothing_keeps_it_away_it_comes_and_the_guard_lets_none_of_it_in(
    harbour: Harbour, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control: a test that counts what comes would count it."""
    async with onslaught(harbour, tmp_path, monkeypatch, barred=False) as page:
        outcome = await page.cross(SHOWN | SAYS_DONE)
        assert SHOWN - outcome.came == set()
        assert len(page.aboard.judged) > 150  # once each: the proxy has none sent again
        assert [each for _, each in page.aboard.judged if not isinstance(each, HttpRefusal)] == []
        assert page.aboard.passed == []
        assert [each.kind for each in outcome.left] == ["requested"]


async def test_nothing_that_a_page_tries_comes_as_far_as_the_daemons_socket(
    page: Onslaught,
) -> None:
    outcome = await page.cross(SHOWN | SAYS_DONE)
    assert page.aboard.came == []
    assert page.aboard.judged == []
    assert SHOWN - outcome.refused == set()
    assert [each.kind for each in outcome.left] == ["requested"]  # nobody has answered it


async def test_the_way_out_leads_nobody_to_the_daemon_however_it_is_asked(page: Onslaught) -> None:
    """As no page can speak to it, and whatever comes to speak to it one day."""
    port = page.port
    page.aboard.came.clear()
    window = await page.ship.daemon.fleet.open_window(page.policy)
    door = _door(window.passage)
    said = [
        *(_request(f"CONNECT {host}:{port} HTTP/1.1", f"Host: {host}:{port}") for host in SPELLED),
        *(_request(f"GET http://{host}:{port}/health HTTP/1.1", "Host: x") for host in SPELLED),
        *(_request(f"GET ws://{host}:{port}/stream/x HTTP/1.1", "Host: x") for host in SPELLED),
        _request("GET /health HTTP/1.1", f"Host: 127.0.0.1:{port}"),
        _request(f"GET //127.0.0.1:{port}/health HTTP/1.1", f"Host: 127.0.0.1:{port}"),
        _request(f"CONNECT 127.0.0.1:{port}/health HTTP/1.1", "Host: x"),
        _request(f"CONNECT h1.canary.test:{port} HTTP/1.1", "Host: x"),
        # Kept open for a second request, which names another host than the first.
        _request(f"GET {page.site.url}/away HTTP/1.1", f"Host: {page.site.host}")
        + _request(f"GET http://127.0.0.1:{port}/health HTTP/1.1", f"Host: {page.site.host}"),
        _request(f"GET {page.site.url}/away HTTP/1.1", f"Host: 127.0.0.1:{port}"),
    ]
    for each in said:
        answer = await _said(door, each)
        assert b'"status"' not in answer, each  # what /health would say
    assert page.aboard.came == []
    await window.close()


async def test_another_sessions_way_out_leads_there_no_more_than_ones_own(page: Onslaught) -> None:
    page.aboard.came.clear()
    windows = [await page.ship.daemon.fleet.open_window(page.policy) for _ in range(2)]
    own, other = (_door(window.passage) for window in windows)
    assert own != other
    inner = _request(f"CONNECT 127.0.0.1:{page.port} HTTP/1.1", "Host: x")
    plain = _request(f"GET http://127.0.0.1:{page.port}/health HTTP/1.1", "Host: x")
    outer = _request(f"CONNECT 127.0.0.1:{other} HTTP/1.1", "Host: x")
    for said in (outer + inner, outer + plain):
        assert b'"status"' not in await _said(own, said)
    posted = _request(
        f"POST http://127.0.0.1:{other}/ HTTP/1.1",
        "Host: x",
        "Content-Type: text/plain",
        f"Content-Length: {len(inner)}",
    )
    await _said(own, posted + inner)
    assert page.aboard.came == []
    for window in windows:
        await window.close()


async def test_a_page_reads_no_file_of_the_daemon(page: Onslaught) -> None:
    ship = page.ship
    kept = [ship.token("person"), ship.token("agent")]
    data = ship.data.as_uri()
    places = ["person.token", "agent.token", "daemon.json", "config.toml", "log.db", ""]
    urls = [f"{data}/{place}" for place in places]
    urls += [url.replace("file:///", "file://localhost/") for url in urls[:2]]
    urls += ["chrome://version", "chrome://net-export", "devtools://devtools/bundled/x.html"]
    window = await ship.daemon.fleet.open_window(page.policy)
    shown = await window._context.new_page()
    await shown.goto(page.site.url + "/away")
    seen = await shown.evaluate(READS, urls)
    for url in urls:
        try:
            await shown.evaluate("url => { location.href = url }", url)
        except PlaywrightError:
            continue  # it went somewhere else, which is looked at below
    for each in window._context.pages:
        assert each.url.startswith(("http://127.0.0.1", "about:blank")), each.url
        seen.append(await each.content())
    # What is in those files, and no other word that a page could have made up.
    for word in (*kept, "allowed_domains", "SQLite format", '"pid"'):
        assert not any(word in str(each) for each in seen), word
    await window.close()


async def test_no_call_leads_a_session_to_the_daemon_not_even_the_persons(page: Onslaught) -> None:
    ship, aboard = page.ship, page.aboard
    wish = {"url": page.site.url + "/away", "allow": ["127.0.0.1", "localhost", "[::1]"]}
    opened = await ship.ask("POST", "/sessions", wish)
    session = opened.json["session"]
    aboard.came.clear()
    aboard.judged.clear()
    places = [f"http://{host}:{page.port}/approvals" for host in SPELLED]
    places += [f"{ship.data.as_uri()}/person.token", "chrome://version", "about:srcdoc"]
    places += [f"view-source:http://127.0.0.1:{page.port}/", "data:text/html,<img src=//x>"]
    places += [f"javascript:fetch('http://127.0.0.1:{page.port}/')"]
    calls = [("navigate", {"url": place}) for place in places]
    files = [str(ship.data / "person.token"), "person.token", "../person.token"]
    calls += [("read_file", {"path": file}) for file in files]
    async with anyio.create_task_group() as group:
        group.start_soon(_agree, page, session)
        for tool, arguments in calls:
            reply = await ship.ask("POST", f"/sessions/{session}/tools/{tool}", arguments)
            said = reply.body.decode()
            # The way out may answer in its place; a page that says no is a page all the same.
            if not arguments.get("url", "").startswith("http"):
                assert reply.json["success"] is False, arguments
            assert ship.token("person") not in said
            assert "order something" not in said  # what is asked in the other session
        group.cancel_scope.cancel()
    closed = await ship.ask("DELETE", f"/sessions/{session}")
    assert closed.status == 200
    assert len(aboard.came) == len(calls) + 1  # each of them ours: nobody else came
    # To begin there is no other thing than to go there.
    begun = await ship.ask("POST", "/sessions", {"url": f"http://127.0.0.1:{page.port}/"})
    if begun.status == 201:
        await ship.ask("DELETE", f"/sessions/{begun.json['session']}")
    assert [head for head, _ in aboard.judged if head.all(b"user-agent")] == []


async def _agree(page: Onslaught, session: str) -> None:
    """A person who says yes to everything."""
    questions = page.ship.daemon.questions
    while True:
        for asked in questions.pending(session):
            questions.answer(session, asked.approval, PersonAnswer(True, "yes", asked.phrase))
        await anyio.sleep(0.05)


def _door(passage: object) -> int:
    assert isinstance(passage, ProxyPassage)
    return passage.port


def _request(*lines: str) -> bytes:
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


async def _said(port: int, data: bytes) -> bytes:
    """All that is answered until it is silent or hung up."""
    answer = b""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(data)
    writer.write_eof()
    with anyio.move_on_after(5):
        while piece := await reader.read(4096):
            answer += piece
    writer.close()
    return answer
