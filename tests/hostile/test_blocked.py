"""What a page was kept from is in the log of its session, by host and port."""

import pytest

from rutter.actors.world.browser.chromium import Chromium
from rutter.actors.world.egress.gate import Gate
from rutter.events.action import Action, ByCss, Target
from rutter.events.observer import HostsContacted, RequestBlocked
from rutter.events.workflow import Step
from rutter.pipeline.app import App
from rutter.pipeline.config.chromium_install import find_chromium
from rutter.pipeline.sessions import session_started
from tests.hostile.canaries import Canaries
from tests.support.log_checks import Replayed, events_of
from tests.support.page_server import PageServer
from tests.support.tls_authority import authority
from tests.support.tls_front import TlsFront

pytestmark = [pytest.mark.browser, pytest.mark.anyio]

WAYS = {
    "fetch": "fetch('$URL', {mode: 'no-cors'}).then(done, done)",
    "image": "const i = new Image(); i.onerror = done; i.src = '$URL'",
    "websocket": "new WebSocket('$URL'.replace('http', 'ws')).onerror = done",
    "frame": "const f = document.createElement('iframe'); f.onload = done; f.src = '$URL';"
    "document.body.append(f)",
    "worker": "new Worker(URL.createObjectURL(new Blob([`fetch('$URL', {mode: 'no-cors'})"
    ".then(postMessage, () => postMessage(1))`]))).onmessage = done; setTimeout(done, 3000)",
    "event-source": "new EventSource('$URL').onerror = done",
}


def page(canaries: Canaries, scheme: str) -> str:
    """Tries every way, and says when all of them have ended."""
    tried = []
    for name, script in WAYS.items():
        host, port = canaries.addresses[name]
        told = script.replace("$URL", f"{scheme}://{host}:{port}/{name}")
        tried.append(f"new Promise(done => {{ {told} }})")
    return (
        "<title>Hostile</title><body><script>Promise.all(["
        + ", ".join(tried)
        + "]).then(() => document.body.insertAdjacentHTML('beforeend', '<p id=ended>ended</p>'))"
        "</script>"
    )


@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_what_a_page_was_kept_from_is_a_fact_of_its_session(
    replayed: Replayed, scheme: str
) -> None:
    executable, trusted = find_chromium(), authority()
    assert executable is not None
    log = replayed.memory()
    with (
        Canaries((name, "") for name in WAYS) as canaries,
        PageServer() as server,
        TlsFront(trusted, int(server.url.rpartition(":")[2])) as front,
        trusted.trusted_by_browsers(),
    ):
        at = front.url if scheme == "https" else server.url
        there = server.show(page(canaries, scheme)).replace(server.url, at)
        steps = (
            Step(Action("navigate", url=there)),
            Step(Action("wait_for", target=Target((ByCss("#ended"),)), ms=30_000)),
        )
        host = at.partition("//")[2]
        started = session_started.recording("hostile", steps, {}, (), allow=[host])
        async with Chromium(executable, Gate()) as browser, App.open(log) as app:
            ended = await app.run_in_browser(started, browser, name="hostile")
        facts = await events_of(log, "hostile")
        blocked = [fact for fact in facts if isinstance(fact, RequestBlocked)]
        assert {(each.host, each.port) for each in blocked} == set(canaries.addresses.values())
        assert {(each.rule, each.policy) for each in blocked} == {
            ("private_network", started.policy.version)
        }
        assert not canaries.hits
    [contacted] = [fact for fact in facts if isinstance(fact, HostsContacted)]
    assert [f"{each.host}:{each.port}" for each in contacted.contacts] == [host]
    assert ended.reason == "completed", ended
