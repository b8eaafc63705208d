"""Web pages in a real browser: who opens them, by what, and until when."""

import re
from pathlib import Path

import anyio.to_thread
import pytest
from playwright.async_api import Browser

from rutter.events.sqlite_reader import SqliteReader
from rutter.pipeline.demo_sites.chandlery.switches import Switches
from tests.support.command_shell import Rutter
from tests.support.daemon_on_site import Anchored
from tests.support.web_visitor import Visitor, visiting

pytestmark = [pytest.mark.browser, pytest.mark.anyio]


async def test_a_link_opens_the_pages_once_and_leaves_no_trace(
    visitor: Visitor, browser: Browser
) -> None:
    page, ship = visitor.page, visitor.ship
    link = await visitor.link()
    opened = await page.goto(link)
    assert opened is not None
    assert (opened.status, page.url) == (200, f"{ship.url}/web/now")
    [cookie] = await page.context.cookies()
    assert (cookie["httpOnly"], cookie["sameSite"], cookie["path"]) == (True, "Strict", "/")
    assert cookie["name"] == f"rutter_{ship.url.rpartition(':')[2]}"
    assert opened.headers["referrer-policy"] == "no-referrer"
    assert "nonce-" in opened.headers["content-security-policy"]

    async with visiting(browser, ship) as second:
        refused = await second.page.goto(link)
        assert refused is not None
        assert refused.status == 403
        assert "rutter open" in await second.text()
        assert await second.page.context.cookies() == []
        assert (await second.go("/web/now")).status == 401
    code = link.rpartition("/")[2]
    with SqliteReader(ship.data / "log.db") as reader:
        assert not [row for row in reader.rows() if code.encode() in row[7]]
    kept = [path for path in Path(ship.data).rglob("*") if path.is_file()]
    assert not [path for path in kept if code.encode() in path.read_bytes()]


async def test_an_agents_token_opens_no_page(ship: Anchored) -> None:
    for path in ("/web/now", "/web/runs", "/web/approvals", "/web/events", "/web"):
        assert (await ship.ask("GET", path, scope="agent")).status == 403, path
    assert (await ship.ask("POST", "/web/links", scope="agent")).status == 403
    assert (await ship.ask("DELETE", "/web/sessions", scope="agent")).status == 403


async def test_a_program_gets_json_and_a_browser_the_pages(visitor: Visitor) -> None:
    ship = visitor.ship
    assert (await ship.ask("GET", "/", scope="agent")).json["service"] == "rutter"
    assert (await ship.ask("GET", "/", token="")).json["error"] == "token_needed"
    assert (await visitor.go("/")).status == 401
    assert "rutter open" in await visitor.text()
    await visitor.open()
    await visitor.go("/")
    assert visitor.page.url == f"{ship.url}/web/now"


async def test_what_is_revoked_is_closed(visitor: Visitor) -> None:
    await visitor.open()
    assert (await visitor.go("/web/now")).status == 200
    data = visitor.ship.data
    printed = await anyio.to_thread.run_sync(lambda: Rutter(data)("open", "--print"))
    assert f"{visitor.ship.url}/web/open/" in printed.out
    told = await anyio.to_thread.run_sync(lambda: Rutter(data).json("open", "--revoke"))
    assert told["ended"] >= 1
    assert (await visitor.go("/web/now")).status == 401


async def test_now_moves_by_itself_and_stops_a_run(visitor: Visitor) -> None:
    ship, page = visitor.ship, visitor.page
    await visitor.open()
    assert "Nothing runs" in await visitor.text()
    ship.site.switches = Switches(slow_ms=1500)
    job = await ship.run()
    card = page.locator("article.run")
    await card.get_by_text(re.compile(r"Step \d+ of 19")).wait_for()  # without a reload
    page.on("dialog", lambda dialog: dialog.accept())
    await card.get_by_role("button", name="Stop").click()
    assert (await ship.ended(job["job_id"]))["reason"] == "cancelled"
    await page.get_by_text("Nothing runs").wait_for()
    ship.site.switches = Switches()
