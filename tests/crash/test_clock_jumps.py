"""The system's clock is set ahead and back while a session runs and while a person is asked: the
session waits as long as it would have, says what it would have said, and ends."""

from collections.abc import Awaitable, Callable
from random import Random
from time import time_ns

import msgspec
import pytest

from rutter.actors.answers import PersonAnswer
from rutter.actors.world.browser.chromium import Chromium
from rutter.events.action import Action, ByCss, Target
from rutter.events.critic import ActionJudged
from rutter.events.envelope import Envelope
from rutter.events.validator import ActionStarted, ApprovalRequested
from rutter.events.workflow import Step
from rutter.pipeline.app import App
from rutter.pipeline.clock import Clock
from rutter.pipeline.sessions.session_started import recording
from tests.support.example_counts import SOAK
from tests.support.log_checks import Replayed, envelopes_of
from tests.support.page_server import PageServer
from tests.support.site_sessions import SaysYes

pytestmark = [pytest.mark.browser, pytest.mark.anyio]

YEAR_NS = 365 * 86_400 * 1_000_000_000
IDLE = """<button id=it type=button onmousedown="event.preventDefault()">Place order</button>"""
SLOW = (
    IDLE
    + """<script>it.onclick = () => setTimeout(() => {
document.body.innerHTML = '<h1>Order placed</h1>' }, 600)</script>"""
)


class SetClock(Clock):
    """A clock that somebody sets at every look: ahead, back, or both by turns."""

    def __init__(self, by_ns: Callable[[], int]) -> None:
        self._by_ns = by_ns
        self._off_ns = 0

    def now_ns(self) -> int:
        self._off_ns += self._by_ns()
        return time_ns() + self._off_ns


class SetsTheClock(SaysYes):
    """A person who sets the clock before they say yes."""

    def __init__(self, clock: Clock) -> None:
        super().__init__()
        self._clock = clock

    async def ask(self, question: ApprovalRequested) -> PersonAnswer:
        for _ in range(3):
            self._clock.now_ns()
        return await super().ask(question)


def random_jumps(seed: int) -> Callable[[], int]:
    rng = Random(seed)
    return lambda: rng.randrange(-YEAR_NS, YEAR_NS)


Run = Callable[[str, Clock], Awaitable["Session"]]
JUMPS: dict[str, Callable[[], Callable[[], int]]] = {
    "ahead": lambda: lambda: YEAR_NS // 52,
    "back": lambda: lambda: -YEAR_NS // 52,
    "both": lambda: random_jumps(24),
}


class Session:
    """A session clicks one button: what it said of it, and the times of its events."""

    def __init__(self, verdict: str, times: list[int], asked: int) -> None:
        self.verdict = verdict
        self.times = times
        self.asked = asked


def last_verdict(told: list[Envelope]) -> str:
    events = [each.event for each in told]
    begun = max(each.step for each in events if isinstance(each, ActionStarted))
    judged = [each for each in events if isinstance(each, ActionJudged) and each.step == begun]
    return judged[-1].verdict if judged else "none"


@pytest.fixture
def run(chromium: Chromium, server: PageServer, replayed: Replayed) -> Run:
    async def run(page: str, clock: Clock) -> Session:
        steps = (
            Step(Action("navigate", url=server.show(page))),
            Step(Action("click", target=Target((ByCss("#it"),)))),
        )
        started = recording("order", steps, {}, (), allow=[server.url.removeprefix("http://")])
        change = msgspec.structs.replace
        limits = change(started.settings.limits, max_wall_ms=10_000)
        soon = change(started.settings, settle_ms=1_500, place_ms=1_500, limits=limits)
        log, person = replayed.memory(), SetsTheClock(clock)
        async with App.open(log, clock=clock) as app:
            await app.run_in_browser(
                change(started, settings=soon), chromium, answers=person, name="order"
            )
        told = await envelopes_of(log, "order")
        return Session(last_verdict(told), [each.at_ns for each in told], len(person.asked))

    return run


@pytest.mark.parametrize("jumps", JUMPS if SOAK else ["both"])
async def test_whatever_the_clock_is_set_to_a_session_says_what_is_so(run: Run, jumps: str) -> None:
    for page, verdict in ((SLOW, "confirmed"), (IDLE, "no_effect")):
        told = await run(page, SetClock(JUMPS[jumps]()))
        assert told.verdict == verdict
        assert told.times == sorted(told.times)
        assert told.times[-1] - told.times[0] < 60 * 1_000_000_000
        assert told.asked


@pytest.mark.extended
async def test_the_control_that_goes_by_the_systems_clock_waits_without_end(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Clock, "going_on", lambda clock: clock.now_ns)
    assert (await run(IDLE, SetClock(JUMPS["back"]()))).verdict != "no_effect"
