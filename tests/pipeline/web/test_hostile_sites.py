"""A page of another origin tries everything at the daemon, in the very browser that has the web
session of the person: nothing reaches a route, and nothing is shown in a frame."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from playwright.async_api import Browser

from rutter.pipeline.daemon.http.refusals import HttpRefusal
from tests.support.daemon_inside import Aboard, watched
from tests.support.daemon_on_site import Anchored, anchored
from tests.support.page_server import PageServer
from tests.support.recorded_site import Harbour
from tests.support.web_visitor import Visitor

pytestmark = [pytest.mark.browser, pytest.mark.anyio]

TRIES = """async ([daemon, routes]) => {
  const wait = (ms) => new Promise((done) => setTimeout(done, ms)), read = [];
  const loads = (tag, url) => new Promise((done) => { const each = document.createElement(tag);
    each.onload = each.onerror = done; setTimeout(done, 500);
    tag === 'link' ? (each.rel = 'stylesheet', each.href = url) : (each.src = url);
    document.head.append(each); });
  const posts = (url, kind) => { const frame = document.createElement('iframe');
    frame.name = 'at' + Math.random(); const form = document.createElement('form');
    form.method = 'post'; form.enctype = kind; form.action = url; form.target = frame.name;
    const field = document.createElement('input');
    field.name = '{"kind":"workflow","workflow":"order","a":"'; field.value = '"}';
    form.append(field); document.body.append(frame, form); form.submit(); };
  for (const [method, path] of routes) {
    const url = daemon + path;
    for (const mode of ['cors', 'no-cors', 'same-origin']) {
      try { read.push(await (await fetch(url, { method, mode, credentials: 'include' })).text()) }
      catch (error) { } }
    try { await fetch(url, { method, credentials: 'include',
      headers: { 'X-Rutter-CSRF': 'x', 'Content-Type': 'application/json' }, body: '{}' }) }
    catch (error) { }
    if (method === 'POST') for (const kind of ['text/plain', 'application/x-www-form-urlencoded',
      'multipart/form-data']) posts(url, kind);
    if (method === 'GET') {
      for (const tag of ['img', 'script', 'iframe', 'link']) await loads(tag, url);
      const stream = new EventSource(url, { withCredentials: true });
      stream.onmessage = (event) => read.push(event.data); await wait(20); stream.close();
      const socket = new WebSocket(url.replace('http', 'ws'));
      socket.onmessage = (event) => read.push(event.data); await wait(20); socket.close();
      navigator.sendBeacon(url, '{}'); } }
  await wait(500);
  return read.filter(Boolean); }"""


@pytest.fixture
async def aboard(
    harbour: Harbour, recorded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[tuple[Anchored, Aboard]]:
    with watched(monkeypatch) as found:
        async with anchored(harbour, tmp_path / "data", recorded=recorded) as ship:
            yield ship, found


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost"])  # the same site, and another one
async def test_no_other_origin_uses_the_session(
    aboard: tuple[Anchored, Aboard], browser: Browser, server: PageServer, name: str
) -> None:
    ship, seen = aboard
    context = await browser.new_context()
    visitor = Visitor(ship, await context.new_page())
    await visitor.open()
    page = await context.new_page()
    await page.goto(server.show("<h1>Free ropes</h1>").replace("127.0.0.1", name))
    cookie = (await context.cookies())[0]["name"]
    seen.judged.clear()
    seen.passed.clear()
    routes = [
        (method, path.replace("{session:str}", "x").replace("{approval:str}", "x"))
        for method, path in sorted(seen.routes())
        if method in ("GET", "POST", "DELETE")
        and "{" not in path.replace("{session:str}", "")
        and not path.startswith(("/web/open", "/web/static", "/health", "/schema"))
    ]
    assert {("GET", "/web/now"), ("POST", "/jobs"), ("GET", "/web/events")} <= set(routes)
    read = await page.evaluate(TRIES, [ship.url, routes])
    assert read == []
    came = [(head, judged) for head, judged in seen.judged if head.path != "/health"]
    assert len(came) > len(routes)
    assert [head.path for head, judged in came if not isinstance(judged, HttpRefusal)] == []
    assert [each for each in seen.passed if each[1] != "/health"] == []
    with_cookie = [head for head, _ in came if cookie in "".join(head.all(b"cookie"))]
    assert bool(with_cookie) is (name == "127.0.0.1"), "the control: the cookie is sent along"
    await context.close()


async def test_no_page_is_shown_in_a_frame(ship: Anchored) -> None:
    for path in ("/web/now", "/web/runs", "/web/static/style.css", "/web/open/x"):
        assert (await ship.ask("GET", path)).headers["x-frame-options"] == "DENY"
