"""Killed at any point around a click that cannot be undone, the order is posted once or not at all.

The command itself is killed, or its browser, or both; then a run continues the dead one with nobody
there to ask. A server of the test's own counts. What may have happened and was not seen must be
said to be unknown, and is never done again without somebody who says so.
"""

import os
import shutil
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from random import Random
from typing import NamedTuple

import pytest

from rutter.events.critic import ActionJudged, OutcomeUnknown
from rutter.events.envelope import Envelope
from rutter.events.planner import RunStopped, StepSettled
from rutter.events.runtime import SessionEnded, SessionStarted
from rutter.events.sqlite_reader import SqliteReader
from rutter.events.validator import ActionStarted
from rutter.pipeline.sessions import fork
from tests.crash.counting import CLICK, CountingShop, When, record_order
from tests.crash.sailor import Order, Point, Sailor, Where, Who, bury, kill_browser
from tests.support.command_shell import Ended, Rutter, check_logs
from tests.support.tls_authority import Authority, authority

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(3_600)]

DONE, BAD_INPUT, NEEDS_PERSON, INTERRUPTED = 0, 2, 5, 7
SEED = 20


class Crash(NamedTuple):
    """One order: where the first run dies, where the one that continues it dies, if it does, and
    whether the workflow says how its result shows."""

    point: Point
    again: Point | None
    read_back: bool
    named: bool


OVER = [
    pytest.param(None, id="http"),
    pytest.param(authority(), id="https", marks=pytest.mark.extended),
]


@pytest.fixture(scope="module", params=OVER)
def trusted(request: pytest.FixtureRequest) -> Iterator[Authority | None]:
    """Whose certificate the shop has, if it is reached by TLS, and that is by HTTP/2."""
    found: Authority | None = request.param
    with found.trusted_by_browsers() if found else nullcontext():
        yield found


@pytest.fixture(scope="module")
def shop(trusted: Authority | None) -> Iterator[CountingShop]:
    with CountingShop(trusted) as shop:
        yield shop


@pytest.fixture(scope="module")
def recorded(shop: CountingShop, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The order recorded once: version 1 as it is, in `plain`; version 2 with a read-back."""
    root = tmp_path_factory.mktemp("recorded")
    record_order(shop, root / "plain", root)
    shutil.copytree(root / "plain", root / "read_back")
    look = f"{CLICK + 1}={shop.url}/orders text_visible:${{customer}}"
    ended = Rutter(root / "read_back")("workflows", "edit", "order", "--read-back", look)
    assert ended.code == DONE, ended
    return root


@pytest.fixture(scope="module")
def sailor(tmp_path_factory: pytest.TempPathFactory, trusted: Authority | None) -> Iterator[Sailor]:
    switches = (trusted.trusted,) if trusted else ()
    with Sailor(tmp_path_factory.mktemp("sailor") / "said", *switches) as sailor:
        yield sailor


# -- one crash -------------------------------------------------------------------------------------


class Voyage:
    """The life of one order in a data directory of its own."""

    def __init__(self, data: Path, shop: CountingShop, sailor: Sailor, name: str) -> None:
        self.rutter = Rutter(data)
        self.shop = shop
        self.customer = name
        self._sailor = sailor
        self._runs = 0

    @property
    def posts(self) -> int:
        return self.shop.posts(self.customer)

    def run(self, point: Point | None, *more: str) -> int:
        """In a process of its own, which dies at this point; what is left of it is gone after."""
        self._runs += 1
        mark = f"{self.customer}-{self._runs}"
        values = ("--set", f"customer={self.customer}")
        arguments = ["--data", str(self.rutter.data), "run", "order", *values, *more]

        def started(pid: int) -> None:
            if point is not None and point.where == "post":
                when: When = "asked" if point.at == 0 else "counted"
                self.shop.on_post(when, lambda: strike(pid, point.who))

        ours = None if point is not None and point.where == "post" else point
        code = self._sailor.sail(Order(mark, arguments, CLICK, ours), started)
        self.shop.on_post("asked", None)
        bury(mark)
        return code

    def go_on(self, *more: str) -> Ended:
        """The next one, to its end, with nobody to ask."""
        return self.rutter("run", "order", "--set", f"customer={self.customer}", *more)

    def runs(self) -> list[list[Envelope]]:
        """The events of every run so far, oldest first."""
        with SqliteReader(self.rutter.data / "log.db") as reader:
            found: dict[str, list[Envelope]] = {}
            for envelope in reader.read():
                start = envelope.event
                if isinstance(start, SessionStarted) and start.purpose == "run":
                    found[envelope.session] = []
                if envelope.session in found:
                    found[envelope.session].append(envelope)
        return list(found.values())


def strike(pid: int, who: Who) -> None:
    if who in ("browser", "both"):
        kill_browser(pid)
    if who in ("us", "both"):
        os.kill(pid, signal.SIGKILL)


def may_have_been_sent(events: list[Envelope]) -> bool:
    return any(isinstance(e.event, ActionStarted) and e.event.irreversible for e in events)


def judged(events: list[Envelope]) -> str:
    """What was said about the step that matters, before anybody closed the session."""
    steps = [e.event.step for e in events if isinstance(e.event, ActionStarted)]
    found = [e.event for e in events if isinstance(e.event, ActionJudged)]
    return next((each.verdict for each in reversed(found) if each.step == steps[-1]), "")


def is_unknown(events: list[Envelope]) -> bool:
    final = {
        e.event.step for e in events if isinstance(e.event, ActionStarted) and e.event.irreversible
    }
    return any(isinstance(e.event, OutcomeUnknown) and e.event.step in final for e in events)


def was_completed(events: list[Envelope]) -> bool:
    ends = [e.event for e in events if isinstance(e.event, RunStopped | SessionEnded)]
    return bool(ends) and ends[0].reason == "completed"


def survive(voyage: Voyage, crash: Crash) -> Counter[str]:
    """Dies, goes on, and checks everything that was promised; what happened, counted."""
    voyage.run(crash.point)
    seen = Counter({f"{voyage.posts} posts after the first": 1})
    [first] = voyage.runs()
    sent, done, verdict = may_have_been_sent(first), was_completed(first), ""
    if sent:
        verdict = judged(first)
    assert voyage.posts <= sent, "nothing is done before the intent is on disk"
    if done:
        return seen + _completed(voyage, first)
    follows = ("--from", first[0].session) if crash.named else ()
    if crash.again is not None:
        voyage.run(crash.again, *follows)
        seen["the second died too"] += 1
        assert voyage.posts <= 1
        if any(map(was_completed, voyage.runs()[1:])):
            return seen + _checked(voyage, first, sent=sent, verdict=verdict)
        follows = ("--from", voyage.runs()[-1][0].session) if crash.named else ()
    sent = any(map(may_have_been_sent, voyage.runs()))
    before = voyage.posts
    ended = voyage.go_on(*follows)
    assert voyage.posts <= 1, (crash, ended)
    if not sent:
        assert (ended.code, voyage.posts) == (DONE, 1), (crash, ended)
        seen["never begun, done by the next"] += 1
    elif crash.read_back and before == 1:
        assert (ended.code, voyage.posts) == (DONE, 1), (crash, ended)
        [settled] = [e.event for e in voyage.runs()[-1] if isinstance(e.event, StepSettled)]
        assert settled.done
        seen["settled by the read-back"] += 1
    else:
        assert (ended.code, voyage.posts) == (NEEDS_PERSON, before), (crash, ended)
        assert "may have done it already" in voyage.rutter("show", "last").out
        seen["left to a person"] += 1
    return seen + _checked(voyage, first, sent=may_have_been_sent(first), verdict=verdict)


def _completed(voyage: Voyage, first: list[Envelope]) -> Counter[str]:
    """It had come to its end before anything struck: there is nothing to go on with."""
    ended = voyage.go_on("--from", first[0].session)
    assert (ended.code, voyage.posts) == (BAD_INPUT, 1)
    assert "run it without --from" in ended.err
    check_logs(voyage.rutter.data)
    return Counter({"completed before it was struck": 1})


def _checked(voyage: Voyage, first: list[Envelope], *, sent: bool, verdict: str) -> Counter[str]:
    """The first run was closed as what it is, and every decision is derived again."""
    closed = voyage.runs()[0]
    assert [e.event for e in closed[: len(first)]] == [e.event for e in first]
    assert isinstance(closed[-1].event, SessionEnded)
    assert closed[-1].event.reason == "interrupted"
    assert is_unknown(closed) is (sent and verdict != "confirmed")
    check_logs(voyage.rutter.data)
    return Counter({"its outcome is unknown": is_unknown(closed)})


# -- many crashes ----------------------------------------------------------------------------------

WHERE: tuple[tuple[Where, int], ...] = (
    ("numbered", 5),
    ("handed_over", 5),
    ("durable", 24),
    ("click", 4),
    ("later", 120_000),
    ("post", 2),
)
WHO: tuple[Who, ...] = ("us", "us", "us", "browser", "both")


def crashes(number: int) -> list[Crash]:
    """Seeded; every kind of place as often as every other."""
    rng, found = Random(SEED), list[Crash]()
    for turn in range(number):
        where, below = WHERE[turn % len(WHERE)]
        point = Point(where, rng.randrange(below), rng.choice(WHO))
        again = None
        if rng.random() < 0.2:
            where, below = rng.choice(WHERE[:-1])
            again = Point(where, rng.randrange(below), rng.choice(WHO))
        found.append(Crash(point, again, rng.random() < 0.5, rng.random() < 0.8))
    return found


def test_killed_at_any_point_around_it_an_order_is_posted_once_at_most(
    shop: CountingShop,
    recorded: Path,
    sailor: Sailor,
    tmp_path: Path,
    count: Callable[[int, int], int],
) -> None:
    seen: Counter[str] = Counter()
    planned = crashes(count(2, 200))
    for number, crash in enumerate(planned):
        data = tmp_path / str(number)
        shutil.copytree(recorded / ("read_back" if crash.read_back else "plain"), data)
        voyage = Voyage(data, shop, sailor, f"Ketch-{number:04}")
        seen += survive(voyage, crash)
        assert voyage.posts <= 1
        shutil.rmtree(data)
    print(f"{len(planned)} crashes:")
    for what, times in sorted(seen.items()):
        print(f"  {times:4}  {what}")
    assert seen["1 posts after the first"]
    assert seen["its outcome is unknown"]
    assert not [what for what in seen if what.startswith("2 ")]


def test_the_control_that_forgets_the_dead_run_posts_twice(
    shop: CountingShop,
    recorded: Path,
    sailor: Sailor,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The same crash, and a next run that knows nothing of what may have been done: it counts 2."""
    shutil.copytree(recorded / "plain", tmp_path / "data")
    voyage = Voyage(tmp_path / "data", shop, sailor, "Control")
    voyage.run(Point("post", 1))
    assert voyage.posts == 1
    [first] = voyage.runs()
    monkeypatch.setattr(fork, "continuing", lambda started, events: started)
    voyage.go_on("--from", first[0].session)
    assert voyage.posts == 2, "the test cannot see an order that is posted twice"
