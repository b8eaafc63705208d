"""A hostile page tries everything at the daemon whose browser shows it.

Each channel names the daemon by an address of its own, and the daemon listens at every one of them:
so it is known of each whether it was refused on its way, and whether it came.
"""

from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

import anyio
import anyio.abc
import anyio.to_thread
import pytest

from rutter.actors.rules.policy.hosts import plain_host
from rutter.actors.world.egress.gate import Gate
from rutter.events.policy import Policy
from rutter.events.runtime import SessionStarted
from rutter.events.sqlite_reader import SqliteReader
from rutter.pipeline import browser
from rutter.pipeline.daemon import daemon as daemon_
from rutter.pipeline.daemon import serve as serving_
from rutter.pipeline.daemon.http.http_server import Listening, _bind, listen
from rutter.pipeline.daemon.jobs.approvals import PendingQuestion
from tests.hostile.canaries import Address, own_address
from tests.hostile.channels import CHANNELS, Answer, Channel, _hop, _js, _own
from tests.hostile.crossing import PUBLIC, Crossing, plan_for
from tests.hostile.site import Site
from tests.support.daemon_inside import Aboard, watched
from tests.support.daemon_on_site import Anchored, anchored, ask
from tests.support.recorded_site import Harbour

WAITS_S = 600.0  # longer than any crossing takes
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
# As wide as it can be made: this machine by all of its names, and every name that leads to it.
EVERYTHING = (
    "127.0.0.1", "localhost", "*.localhost", "[::1]", "0.0.0.0", "127.0.0.0/8", "0.0.0.0/8",
    "::1/128", "*.canary.test", PUBLIC,
)  # fmt: skip
_SAID = '{"approved": true, "message": "it is mine", "phrase": "confirm"}'
_STOLEN = "headers: {Authorization: 'Bearer ' + 'p'.repeat(43), 'Content-Type': 'application/json'}"


def _framed(where: str) -> Answer:
    """Its own window leads to the daemon first, and then asks as if it were a page from there."""
    return _own(
        f"<iframe id=i src='{where}'></iframe>"
        + _js(
            "await new Promise(r => { i.onload = r; setTimeout(r, 500) });"
            "i.contentWindow.fetch('/approvals')"
        )
    )


_ANSWER = "http://$AT/approvals/$SESSION/$APPROVAL"
_UNDER = "http://$AT/sessions/$SESSION"

# What a page would do that knows the API, and the very question that waits for a person.
AIMED = (
    *(
        Channel(
            f"api-{method.lower()}-{mode}",
            _js(f"await fetch('$URL', {{method: '{method}', mode: '{mode}'}})"),
        )
        for method in METHODS
        for mode in (("cors", "no-cors") if method in METHODS[:3] else ("cors",))
    ),
    *(
        Channel(
            f"api-credentials-{sent}",
            _js(f"await fetch('$URL', {{credentials: '{sent}', mode: 'no-cors'}})"),
        )
        for sent in ("include", "omit", "same-origin")
    ),
    Channel(
        "api-approve-by-text",
        _js(f"await fetch('{_ANSWER}', {{method: 'POST', mode: 'no-cors', body: '{_SAID}'}})"),
    ),
    Channel(
        "api-approve-by-json",
        _js(f"await fetch('{_ANSWER}', {{method: 'POST', {_STOLEN}, body: '{_SAID}'}})"),
    ),
    Channel(
        "api-approve-by-xhr",
        _js(
            f"const x = new XMLHttpRequest(); x.open('POST', '{_ANSWER}');"
            f"x.withCredentials = true; x.send('{_SAID}')"
        ),
    ),
    Channel(
        "api-approve-by-beacon",
        _js(f"navigator.sendBeacon('{_ANSWER}', new Blob(['{_SAID}'], {{type: 'text/plain'}}))"),
    ),
    Channel(
        "api-approve-by-form",
        own=_own(
            f"<form id=f method=post enctype=text/plain action='{_ANSWER}'>"
            """<input name='{"approved": true, "message": "' value='"}'></form>"""
            + _js("f.submit()")
        ),
    ),
    Channel(
        "api-approve-redirected",
        _js(f"await fetch('$HERE/f', {{method: 'POST', mode: 'no-cors', body: '{_SAID}'}})"),
        parts=(("f", _hop(308, _ANSWER)),),
    ),
    Channel("api-token-guessed", _js(f"await fetch('$URL', {{{_STOLEN}}})")),
    Channel("api-events", _js(f"new EventSource('{_UNDER}/events', {{withCredentials: true}})")),
    Channel("api-stream", _js("new WebSocket('ws://$AT/stream/$SESSION')")),
    Channel("api-picture", "<img src='http://$AT/stream/$SESSION'>"),
    Channel("api-stop", _js(f"await fetch('{_UNDER}/stop', {{method: 'POST', {_STOLEN}}})")),
    Channel("api-script", "<script src='http://$AT/schema/openapi.json'></script>"),
    Channel("api-health", "<img src='http://$AT/health'>"),
    Channel("api-frame", "<iframe src='http://$AT/'></iframe>"),
    Channel("api-own-origin", own=_framed("http://$AT/approvals")),
)
EVERY = (*CHANNELS, *AIMED)


class Outcome(NamedTuple):
    """The gate `refused` these channels because of the daemon's own port; `came`: those that the
    daemon heard of; `left`: what waited for a person, when all was over."""

    refused: set[str]
    came: set[str]
    left: tuple[PendingQuestion, ...]


class Onslaught:
    """The hostile site meets one daemon with a question pending in it."""

    def __init__(
        self,
        ship: Anchored,
        aboard: Aboard,
        site: Site,
        channels: Sequence[Channel],
        addresses: dict[str, Address],
        policy: Policy,
    ) -> None:
        self.ship = ship
        self.aboard = aboard
        self.site = site
        self.policy = policy
        self._channels = channels
        self._addresses = addresses
        self._refused: set[str] = set()

    @property
    def port(self) -> int:
        return int(self.ship.url.rpartition(":")[2])

    async def cross(self, awaited: Collection[str]) -> Outcome:
        """Every channel, in windows of the daemon's own fleet."""
        self.aboard.came.clear()
        self.aboard.judged.clear()
        self.aboard.passed.clear()
        windows = [await self.ship.daemon.fleet.open_window(self.policy) for _ in range(2)]

        def shows() -> set[str]:
            for window in windows:
                self._note(window.passage.blocked)
            return self._refused | self.came() | self.site.done

        crossing = Crossing(self.site, shows, self._channels)
        await crossing.together(windows[0]._context, awaited)
        await crossing.alone(windows[1]._context, awaited)
        await crossing.shown(awaited, 20.0)
        shows()
        for window in windows:
            await window.close()
        return Outcome(self._refused, self.came(), self.ship.daemon.questions.pending())

    def _note(self, blocked: object) -> None:
        assert isinstance(blocked, dict)
        for each in blocked:
            if each.rule == "own_port":
                self._refused |= self._by_host(each.host)
        blocked.clear()

    def _by_host(self, host: str) -> set[str]:
        return {
            channel.name
            for number, channel in enumerate(self._channels)
            if _host(channel, number, self._addresses[channel.name]) == host
        }

    def came(self) -> set[str]:
        """By the address at which it came, or by the path where several have one address."""
        names = {channel.name for channel in self._channels}
        alone = {
            self._addresses[channel.name].host: channel.name
            for channel in self._channels
            if not channel.listen
        }
        found = {alone[each.host] for each in self.aboard.came if each.host in alone}
        return found | ({head.path[1:] for head, _ in self.aboard.judged} & names)


def _host(channel: Channel, number: int, at: Address) -> str:
    authority = channel.spelled(at.host, number, at.port).rpartition("@")[2]
    return plain_host(authority.rpartition(":")[0])


@asynccontextmanager
async def onslaught(
    harbour: Harbour, folder: Path, monkeypatch: pytest.MonkeyPatch, *, barred: bool = True
) -> AsyncIterator[Onslaught]:
    """A daemon that a person asked for a session as wide as can be, and an agent for a yes. Not
    `barred`, nothing keeps a page from its port: the control."""
    listening = _listen_everywhere()
    addresses = {
        channel.name: Address(channel.listen or own_address(number), listening.port)
        for number, channel in enumerate(EVERY)
    }
    names = folder / "names"
    names.mkdir()
    with Site(EVERY, addresses) as site, watched(monkeypatch) as aboard:
        plan = plan_for(names, site, addresses, EVERY)
        for name in ("localhost", "x.localhost"):
            plan.answer(name, ["127.0.0.1", "::1"])
        monkeypatch.setattr(browser, "Gate", partial(Gate, plan.command()))
        monkeypatch.setattr(serving_, "listen", lambda *_, **__: listening)
        if not barred:
            monkeypatch.setattr(daemon_.Daemon, "bar", lambda self, port: None)
        more = "[browser]\npool_size = 2\n"
        async with (
            anchored(harbour, folder / "data", more=more, hosts=EVERYTHING) as ship,
            anyio.create_task_group() as group,
        ):
            asked = await _asked(ship, group)
            _name(site, asked)
            policy = await _widest(ship, site)
            yield Onslaught(ship, aboard, site, EVERY, addresses, policy)
            await ship.ask("POST", f"/sessions/{asked.session}/stop")


def _listen_everywhere() -> Listening:
    """At both addresses of localhost, and at one for each channel."""
    first = listen("localhost")
    hosts = [own_address(number) for number, channel in enumerate(EVERY) if not channel.listen]
    more = [_bind(host, first.port) for host in hosts]
    return Listening(first.host, first.port, (*first.sockets, *more))


async def _asked(ship: Anchored, group: anyio.abc.TaskGroup) -> PendingQuestion:
    """A question that waits for a person while all of it goes on."""
    opened = await ship.ask("POST", "/sessions", {"url": ship.site.base_url}, scope="agent")
    session = opened.json["session"]
    wanted = {"action": "order something", "reason": "it was asked for"}
    call = f"/sessions/{session}/tools/request_human_approval"
    waits = partial(
        ask, ship.url, "POST", call, wanted, token=ship.token("agent"), within_s=WAITS_S
    )
    # Left behind when a test fails: nobody is going to answer it then.
    group.start_soon(partial(anyio.to_thread.run_sync, waits, abandon_on_cancel=True))
    with anyio.fail_after(60):
        while not (pending := ship.daemon.questions.pending(session)):
            await anyio.sleep(0.01)
    return pending[0]


def _name(site: Site, asked: PendingQuestion) -> None:
    """The page is told whom to answer for: it need not even guess."""
    answers = site._server.answers
    for path, answer in answers.items():
        headers = tuple((name, _told(value, asked)) for name, value in answer.headers)
        answers[path] = answer._replace(body=_told(answer.body, asked), headers=headers)


def _told(text: str, asked: PendingQuestion) -> str:
    return text.replace("$SESSION", asked.session).replace("$APPROVAL", asked.approval)


async def _widest(ship: Anchored, site: Site) -> Policy:
    """Of a session that the person asked for, who may name any host."""
    wish = {"url": site.url + "/away", "allow": list(EVERYTHING)}
    opened = await ship.ask("POST", "/sessions", wish)
    assert opened.status == 201, opened
    session = opened.json["session"]
    with SqliteReader(ship.data / "log.db") as reader:
        [started] = [
            each.event
            for each in reader.read(session=session)
            if isinstance(each.event, SessionStarted)
        ]
    assert (await ship.ask("DELETE", f"/sessions/{session}")).status == 200
    assert set(EVERYTHING) <= set(started.policy.hosts)
    return started.policy
