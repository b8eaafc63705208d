"""A daemon is struck at a random moment of its runs: here are who strikes, who answers for the
person, and the one judge of what is left."""

import json
import threading
from collections.abc import Callable, Mapping
from http.client import HTTPException
from pathlib import Path
from random import Random
from typing import Self

from rutter.events.critic import ActionJudged, OutcomeUnknown
from rutter.events.envelope import Envelope
from rutter.events.planner import PlanProposed
from rutter.events.validator import ActionStarted
from rutter.pipeline.demo_sites.request import SiteRequest
from tests.support.daemon_process import Afloat, Logged
from tests.support.recorded_site import WatchedSite

REQUESTS = 24  # of a whole run, about: the last of them is the list of orders
PLACING = 16  # the step that cannot be undone, counted from 0
LATER_S = 0.3  # between two requests of a run lies less


class Striker:
    """A striker hits at one request to the site, and a moment later: in any part of any step,
    however fast the machine is."""

    def __init__(self, site: WatchedSite, rng: Random, strike: Callable[[], None]) -> None:
        self._left = rng.randrange(REQUESTS)
        self._after_s = rng.random() * LATER_S
        self._strike = strike
        self._lock = threading.Lock()
        self._timer = threading.Timer(self._after_s, self._now)
        self._over = False
        self.struck = threading.Event()
        site.when = self._asked

    def _asked(self, request: SiteRequest) -> None:
        with self._lock:
            self._left -= 1
            if self._left == 0 and not self._over:
                self._timer.start()

    def now_at_the_latest(self) -> None:
        """Nothing was asked for any more: then now."""
        with self._lock:
            self._over, timer = True, self._timer
        if timer.ident is not None:
            timer.join()
        if not self.struck.is_set():
            self._now()

    def _now(self) -> None:
        self._strike()
        self.struck.set()


class SaysYes(threading.Thread):
    """A person says yes to all. Every run orders something else, so that is right: what another one
    may have done is not what this one does."""

    def __init__(self, daemon: Afloat) -> None:
        super().__init__(daemon=True)
        self._daemon = daemon
        self._over = threading.Event()
        self.answered = 0

    def run(self) -> None:
        while not self._over.wait(0.2):
            try:
                self._answer_all()
            except (OSError, HTTPException, json.JSONDecodeError):
                continue  # it is dead, or not up yet

    def _answer_all(self) -> None:
        for asked in self._daemon.ask("GET", "/approvals").json:
            yes = {"approved": True, "phrase": asked.get("phrase", "")}
            place = f"/approvals/{asked['session']}/{asked['approval']}"
            self.answered += self._daemon.ask("POST", place, yes).status == 200

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self.join()


# -- the judge -------------------------------------------------------------------------------------


def find_problems(
    data: Path, placed: Callable[[str], int], jobs: Mapping[str, str], placing: int = PLACING
) -> list[str]:
    """What is wrong with how these jobs ended, each known on the site by its note. `placed` is the
    witness of what was really done: how often, by that note."""
    logged, found = Logged(data), list[str]()
    found += [f"{session} has no end" for session in logged.open()]
    told = logged.jobs()
    for job, note in jobs.items():
        orders = placed(note)
        if job not in told:
            found.append(f"{job} is lost")
            continue
        _, started, ended = told[job]
        if len(ended) != 1 or len(started) > 1:
            found.append(f"{job} was begun {len(started)} times and ended {len(ended)} times")
            continue
        reason, failure = ended[0].reason, ended[0].failure
        if (reason, failure) not in TRUE_ENDS:
            found.append(f"{job} ended {reason} {failure}: {ended[0].detail}")
        if orders > 1:
            found.append(f"{job} ordered {orders} times")
        if reason == "completed" and orders != 1:
            found.append(f"{job} is completed, and ordered {orders} times")
        events = logged.session(started[0].session) if started else []
        final = _final(events, placing)
        if reason != "completed":
            found += [f"{job} {each}" for each in find_lies(events, final, orders)]
    return found


def find_lies(events: list[Envelope], final: set[int], orders: int) -> list[str]:
    """What a session says of its last step, and is not so."""
    confirmed = bool(_confirmed(events) & final)
    unknown = {e.event.step for e in events if isinstance(e.event, OutcomeUnknown)}
    if orders and not confirmed and not final & unknown:
        return ["ordered, and does not say that it may have"]
    return ["says that it ordered, and did not"] if confirmed and not orders else []


TRUE_ENDS = (("completed", ""), ("interrupted", "browser_lost"), ("interrupted", ""))


def irreversible(events: list[Envelope]) -> set[int]:
    """The steps that cannot be undone and were begun."""
    begun = (each.event for each in events if isinstance(each.event, ActionStarted))
    return {each.step for each in begun if each.irreversible}


def _confirmed(events: list[Envelope]) -> set[int]:
    verdicts = [e.event for e in events if isinstance(e.event, ActionJudged)]
    return {each.step for each in verdicts if each.verdict == "confirmed"}


def _final(events: list[Envelope], placing: int) -> set[int]:
    """The step that places the order, if it was begun."""
    proposed = {e.event.step: e.event.index for e in events if isinstance(e.event, PlanProposed)}
    begun = {e.event.step for e in events if isinstance(e.event, ActionStarted)}
    return {step for step in begun if proposed[step] == placing}
