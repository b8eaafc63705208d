"""A real browser behind a company's proxy: what the session reached by it, and what it kept."""

from pathlib import Path

import pytest

from rutter.actors.answers import PersonAnswer, ScriptedPerson
from rutter.actors.world.browser.chromium import Chromium
from rutter.actors.world.egress.company_proxy import CompanyProxy
from rutter.actors.world.egress.gate import Gate
from rutter.events.observer import HostsContacted
from rutter.pipeline.app import App
from rutter.pipeline.config.chromium_install import find_chromium
from rutter.pipeline.sessions import session_started
from rutter.pipeline.tools.dispatcher import open_tools
from tests.support.company_proxy import company_proxy
from tests.support.log_checks import Replayed, events_of
from tests.support.page_server import PageServer

pytestmark = [pytest.mark.browser, pytest.mark.anyio]

CREDENTIALS = "YW5uYTpTZWFndWxsLTQ3MTE="  # anna, Seagull-4711


async def test_a_page_is_reached_through_it_and_what_is_judged_by_name_is_told(
    replayed: Replayed, server: PageServer, tmp_path: Path
) -> None:
    port = int(server.url.rpartition(":")[2])
    leads = {"shop.example:80": port}
    log = await replayed.sqlite(tmp_path / "log.db")
    executable = find_chromium()
    assert executable is not None
    async with company_proxy(leads, "anna:Seagull-4711") as company, App.open(log) as app:
        through = CompanyProxy("127.0.0.1", company.port, credentials=CREDENTIALS)
        started = session_started.tool_session(
            "http://shop.example/another", allow=["shop.example"]
        )
        yes = ScriptedPerson(otherwise=PersonAnswer(True))
        async with (
            Chromium(executable, Gate(through=through)) as browser,
            open_tools(app, browser, started, answers=yes) as tools,
        ):
            seen = await tools.call("get_snapshot")
            company.way = "refuses"
            refused = await tools.call("navigate", {"url": "http://shop.example/other"})
            company.way = "leads"
            inside = await tools.call("navigate", {"url": "http://169.254.169.254/latest"})
        said = await events_of(log, tools.session)
    assert seen.snapshot is not None
    assert seen.snapshot.page.url == "http://shop.example/another"
    assert not refused.success
    assert f"{company.where}, the proxy, answered 403" in refused.message
    assert inside.error == "policy_denied"
    [contacted] = [each for each in said if isinstance(each, HostsContacted)]
    [shop] = [each for each in contacted.contacts if each.host == "shop.example"]
    assert (shop.by_name, shop.top_level) == (True, True)
    assert set(company.asked) == {"shop.example:80"}
    kept = b"".join(each.read_bytes() for each in tmp_path.rglob("*") if each.is_file())
    assert b"shop.example" in kept
    assert not [each for each in (b"Seagull-4711", CREDENTIALS.encode()) if each in kept]
