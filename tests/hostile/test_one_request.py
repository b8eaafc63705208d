"""A server that takes what was posted and fails to answer hears of it once, over http and https.

Chromium by itself sends it again where a connection that served before ends without an answer. Over
https two answers remain by which a server asks for that, and two that say that nothing was taken.
Whatever it counts, a session that sent it says that nobody knows what came of it.
"""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, suppress
from typing import Literal, NamedTuple, get_args

import anyio
import anyio.to_thread
import msgspec
import pytest
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Request, Response

from rutter.actors.world.browser.chromium import Chromium
from rutter.actors.world.browser.screen import Screen
from rutter.actors.world.egress.gate import Gate, NoGate, OpensPassages
from rutter.events.action import Action, ByCss, Target
from rutter.events.critic import ActionJudged, OutcomeUnknown
from rutter.events.memory_log import MemoryLog
from rutter.events.validator import ActionStarted
from rutter.events.workflow import Step
from rutter.pipeline.app import App
from rutter.pipeline.config.chromium_install import find_chromium
from rutter.pipeline.sessions.session_started import recording
from tests.support.example_counts import SOAK
from tests.support.log_checks import Replayed, events_of
from tests.support.policies import HERE
from tests.support.site_sessions import SaysYes
from tests.support.tls_authority import authority
from tests.support.unanswering_server import UnansweringServer, Way

pytestmark = [
    pytest.mark.browser,
    pytest.mark.soak,
    pytest.mark.anyio,
    pytest.mark.timeout(7_200 if SOAK else 300),
]

Protocol = Literal["http", "https", "h2"]
ACTS = ("click", "enter", "fetch", "form")
USUAL: tuple[Way, ...] = (
    *("reset", "reset_in_head", "close", "drop", "early_hints"),
    *("408", "421", "goaway", "goaway_untaken", "alert"),
)
WAYS: tuple[Way, ...] = get_args(Way) if SOAK else USUAL
ROUNDS = 20 if SOAK else 1
WAIT_S = 20.0  # until one is over; it takes a second at most
# What our proxy cannot see, and so not hold. docs/at-most-once.md lists them.
ASKED_AGAIN: dict[Protocol, set[Way]] = {
    "http": set(),
    "https": {"421"},
    "h2": {"421", "goaway_untaken", "rst_refused"},
}


class Lab(NamedTuple):
    """A browser that trusts the test authority, a window of it, and a server of each protocol."""

    browser: Chromium
    servers: dict[Protocol, UnansweringServer]


async def labs(gate: OpensPassages) -> AsyncGenerator[Lab]:
    trusted = authority()
    servers: dict[Protocol, UnansweringServer] = {
        "http": UnansweringServer(),
        "https": UnansweringServer(trusted.server("http/1.1")),
        "h2": UnansweringServer(trusted.server("h2", "http/1.1")),
    }
    executable = find_chromium()
    assert executable is not None, "no Chromium: run `make setup`, or set RUTTER_CHROMIUM"
    with trusted.trusted_by_browsers():
        async with Chromium(executable, gate) as browser:
            yield Lab(browser, servers)
    for server in servers.values():
        server.close()


@pytest.fixture(scope="module")
async def lab(anyio_backend: str) -> AsyncIterator[Lab]:
    async with aclosing(labs(Gate())) as found:
        yield await anext(found)


async def most_posted(
    browser: Chromium, server: UnansweringServer, way: Way, act: str, rounds: int = 1
) -> int:
    """How often the server counts it at most, by the connections that a window keeps."""
    screen = Screen(browser, HERE)
    await screen.open()
    counts = [await posted(screen, server, way, act) for _ in range(rounds)]
    await screen.window.close()
    return max(counts)


async def posted(screen: Screen, server: UnansweringServer, way: Way, act: str) -> int:
    """How often the server counts it, when the browser has given it up or has its answer: one that
    is sent again is over only after that. As a step that cannot be undone is done."""
    page = screen.tab.page
    gone_to = False
    while not gone_to:
        with suppress(PlaywrightError):  # the page of its own that the browser shows may come late
            gone_to = await page.goto(server.url) is not None
    server.fail(way)
    await screen.end_kept()
    over = anyio.Event()

    def failed(request: Request) -> None:
        if request.method == "POST":
            over.set()

    def answered(response: Response) -> None:
        failed(response.request)

    page.on("requestfailed", failed)
    page.on("response", answered)
    with anyio.fail_after(WAIT_S):
        if act == "enter":
            await page.press("#enter", "Enter", no_wait_after=True)
        else:
            await page.click(f"#{act}", no_wait_after=True)
        if way == "stall":
            await anyio.to_thread.run_sync(server.wait_for_one, WAIT_S)
        else:
            await over.wait()
    page.remove_listener("requestfailed", failed)
    page.remove_listener("response", answered)
    return server.posts


@pytest.mark.parametrize("protocol", get_args(Protocol))
async def test_what_is_not_answered_is_sent_once(lab: Lab, protocol: Protocol) -> None:
    counted: dict[str, int] = {}
    server = lab.servers[protocol]
    for number, way in enumerate(WAYS):
        acts = ACTS if SOAK else (ACTS[number % len(ACTS)],)
        for act in acts:
            most = await most_posted(lab.browser, server, way, act, ROUNDS)
            counted[f"{way} {act}"] = most
    again = {name for name, posts in counted.items() if posts > 1}
    print(protocol, counted)
    assert {name.split()[0] for name in again} == ASKED_AGAIN[protocol] & set(WAYS), counted


# An answer that says that it was not done, and one that says that it was.
ANSWERED: dict[Way, str] = {"425": "failed", "answer": "confirmed"}
# What shows in every run what `make soak` shows of all ways and acts.
SHOWN: dict[Protocol, tuple[tuple[Way, str], ...]] = {
    "http": (("half_body", "click"), ("reset_after_head", "fetch"), ("425", "form")),
    "https": (("408", "enter"), ("answer", "click")),
    "h2": (("goaway_untaken", "click"), ("half_body", "fetch")),
}


async def said(lab: Lab, server: UnansweringServer, way: Way, act: str, log: MemoryLog) -> str:
    """What a session says of the step that sent it."""
    key = Action("press", target=Target((ByCss("#enter"),)), key="Enter")
    click = Action("click", target=Target((ByCss(f"#{act}"),)))
    steps = (Step(Action("navigate", url=server.url)), Step(key if act == "enter" else click))
    started = recording("order", steps, {}, (), allow=[server.url.partition("//")[2]])
    soon = msgspec.structs.replace(started.settings, answer_ms=1_500, place_ms=1_000)
    server.fail(way)
    async with App.open(log) as app:
        started = msgspec.structs.replace(started, settings=soon)
        await app.run_in_browser(started, lab.browser, answers=SaysYes(), name="order")
        events = await events_of(log, "order")
    sent = max(each.step for each in events if isinstance(each, ActionStarted))
    told = [e for e in events if isinstance(e, ActionJudged | OutcomeUnknown) and e.step == sent]
    return told[-1].verdict if isinstance(told[-1], ActionJudged) else "unknown"


@pytest.mark.parametrize("protocol", get_args(Protocol))
async def test_what_came_of_it_is_unknown_unless_there_was_an_answer(
    lab: Lab, replayed: Replayed, protocol: Protocol
) -> None:
    server, wrong = lab.servers[protocol], list[str]()
    every = [(way, act) for way in get_args(Way) for act in ACTS]
    for way, act in every if SOAK else SHOWN[protocol]:
        verdict = await said(lab, server, way, act, replayed.memory())
        again = way in ASKED_AGAIN[protocol]
        if verdict != ANSWERED.get(way, "unknown") or (server.posts == 1) is again:
            wrong.append(f"{way} {act}: {verdict}, {server.posts} posts")
    assert wrong == []


async def test_without_the_proxy_it_is_sent_twice() -> None:
    async with aclosing(labs(NoGate())) as found:
        lab = await anext(found)
        for server in lab.servers.values():
            assert await most_posted(lab.browser, server, "reset", "fetch") == 2
        assert await most_posted(lab.browser, lab.servers["https"], "408", "click") == 2
