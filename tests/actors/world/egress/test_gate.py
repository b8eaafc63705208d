"""A session behind the gate: what its pages were refused and whom they reached is in its log."""

import os
import signal
from collections.abc import AsyncIterator

import msgspec
import pytest

from rutter.actors.world.browser.chromium import Chromium
from rutter.actors.world.egress.gate import Gate
from rutter.events.action import Action, ByCss, Target
from rutter.events.envelope import Envelope
from rutter.events.executor import ActionDone
from rutter.events.observer import HostsContacted, RequestBlocked
from rutter.events.runtime import SessionEnded
from rutter.events.workflow import Step
from rutter.pipeline.app import App
from rutter.pipeline.config.chromium_install import find_chromium
from rutter.pipeline.sessions import session_started
from tests.support.human_hand import recorded
from tests.support.log_checks import Replayed, events_of
from tests.support.page_server import PageServer
from tests.support.proxy_peers import origin

pytestmark = [pytest.mark.browser, pytest.mark.anyio]


@pytest.fixture(scope="module")
async def gate_and_chromium(anyio_backend: str) -> AsyncIterator[tuple[Gate, Chromium]]:
    executable = find_chromium()
    assert executable is not None, "no Chromium: run `make setup`, or set RUTTER_CHROMIUM"
    gate = Gate()
    async with Chromium(executable, gate) as browser:
        yield gate, browser


def go(url: str) -> Step:
    return Step(Action("navigate", url=url))


def click(selector: str) -> Step:
    return Step(Action("click", target=Target((ByCss(selector),))))


PAGE = """
<img src="http://{denied}/pixel"><iframe src="http://{denied}/frame"></iframe>
<button id=ask onclick="ask()">Ask</button><p id=said></p>
<script>
const pause = () => new Promise((resolve) => setTimeout(resolve, 1));
async function ask() {{
  const said = [];
  try {{ said.push((await fetch('http://{denied}/fetch', {{mode: 'no-cors'}})).type) }}
  catch (error) {{ said.push(error.name) }}
  await new Promise((over) => {{
    const socket = new WebSocket('ws://{denied}/socket');
    socket.onerror = () => {{ said.push('no socket'); over() }};
  }});
  document.querySelector('#said').textContent = said.join();
}}
</script>
"""


async def test_what_was_refused_and_whom_it_reached_is_told(
    gate_and_chromium: tuple[Gate, Chromium], replayed: Replayed
) -> None:
    log = replayed.memory()
    with PageServer() as server:
        async with App.open(log) as app, origin() as denied:
            page = server.show(PAGE.format(denied=denied.host))
            host = server.url.removeprefix("http://")
            said = Step(Action("wait_for", target=Target((ByCss("#said:not(:empty)"),))))
            steps = (go(page), click("#ask"), said)
            started = session_started.recording("told", steps, {}, (), allow=[host])
            ended = await app.run_in_browser(started, gate_and_chromium[1], name="told")
            facts = await events_of(log, "told")
            assert ended.reason == "completed", ended
            assert denied.connections == 0
            port = int(host.partition(":")[2])
            blocked = [fact for fact in facts if isinstance(fact, RequestBlocked)]
            assert sum(fact.repeats for fact in blocked) >= 4
            assert {(fact.host, fact.port, fact.rule) for fact in blocked} == {
                ("127.0.0.1", denied.port, "private_network")
            }
            assert blocked[0].policy == started.policy.version
            assert denied.host in blocked[0].reason
            assert blocked[0].channel == "Image"  # what asked for it first
            [contacted] = [fact for fact in facts if isinstance(fact, HostsContacted)]
            [contact] = contacted.contacts
            assert (contact.host, contact.port, contact.top_level) == ("127.0.0.1", port, True)
            assert contact.requests >= 1
            assert isinstance(facts[-1], SessionEnded)


async def test_hosts_that_were_only_loaded_from_are_told_apart_and_unreachable_ones_by_name(
    gate_and_chromium: tuple[Gate, Chromium], replayed: Replayed
) -> None:
    log = replayed.memory()
    with PageServer() as server:
        async with origin() as closed:
            pass
        async with App.open(log) as app, origin() as other:
            page = server.show(f"<img src='http://localhost:{other.port}/'><h1>Here</h1>")
            host = server.url.removeprefix("http://")
            allow = [host, "localhost", closed.host]
            steps = (go(page), go(f"http://{closed.host}/"))
            started = session_started.recording("apart", steps, {}, (), allow=allow)
            ended = await app.run_in_browser(started, gate_and_chromium[1], name="apart")
            assert "net::ERR_CONNECTION_REFUSED" in ended.detail
            facts = await events_of(log, "apart")
            [contacted] = [fact for fact in facts if isinstance(fact, HostsContacted)]
            port = int(host.partition(":")[2])
            assert [each[:3] for each in map(msgspec.structs.astuple, contacted.contacts)] == [
                ("127.0.0.1", port, True),
                ("localhost", other.port, False),
            ]


async def test_without_its_proxy_a_browser_is_lost_and_the_next_session_has_both_again(
    gate_and_chromium: tuple[Gate, Chromium], replayed: Replayed
) -> None:
    log = replayed.memory()
    gate, browser = gate_and_chromium
    with PageServer() as server:
        async with App.open(log) as app:
            host = server.url.removeprefix("http://")

            def end_the_proxy(envelope: Envelope) -> None:
                if gate._process is not None and isinstance(envelope.event, ActionDone):
                    os.kill(gate._process.pid, signal.SIGKILL)
                    app.unlisten(end_the_proxy)

            app.listen(end_the_proxy)
            steps = (go(server.show("<h1>One</h1>")), go(server.show("<h1>Two</h1>")))
            started = session_started.recording("lost", steps, {}, (), allow=[host])
            ended = await app.run_in_browser(started, browser, name="lost")
            assert (ended.reason, ended.failure) == ("interrupted", "browser_lost")
            assert ended.detail.startswith("the proxy, the browser's only way out,")
            again = await app.run_in_browser(started, browser, name="again")
            assert again.reason == "completed", again


async def test_a_person_is_not_recorded_in_pages_that_reach_nobody_any_more(
    gate_and_chromium: tuple[Gate, Chromium], replayed: Replayed
) -> None:
    log = replayed.memory()
    gate, browser = gate_and_chromium
    with PageServer() as server:
        async with App.open(log) as app:
            started = session_started.watching("by hand", server.show("<h1>Here</h1>"), {})
            async with recorded(app, browser, started) as (hand, ended):
                assert gate._process is not None
                os.kill(gate._process.pid, signal.SIGKILL)
                await hand.heard.until(SessionEnded)
            assert (ended["it"].reason, ended["it"].failure) == ("interrupted", "browser_lost")
