"""A courier delivers notices: one thread for each address, a bounded line, retries that wait longer
each time. Nothing here is waited for by anything that runs.

Headers and signature are those of Standard Webhooks (`webhook-id`, `webhook-timestamp`,
`webhook-signature`), so whoever is told can check them with a library they have.
"""

import asyncio
import base64
import binascii
import hashlib
import hmac
import threading
from collections import deque
from typing import Any, Final, NamedTuple
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

import ada_url
import anyio
import msgspec
import urllib3
from urllib3.exceptions import HTTPError
from urllib3.util import Timeout, make_headers

from rutter.events.errors import BadInput
from rutter.pipeline.clock import Clock
from rutter.pipeline.runtime.beside_loop import work_beside

AGAIN: Final = frozenset({408, 425, 429, *range(500, 600)})  # answers that may be others later
PREFIX: Final = "whsec_"  # a secret as Standard Webhooks writes one: base64 behind it
MAX_HANGING: Final = 3  # attempts past their time that nothing could end; no more are begun then


class RetryPace(msgspec.Struct, frozen=True):
    """A delivery is tried six times, with 1, 2, 4, 8 and 16 seconds between. A restart of whoever
    is told is shorter, and a person is better served by the next notice than by an old one."""

    attempts: int = 6
    attempt_s: float = 10.0
    first_wait_s: float = 1.0
    most_wait_s: float = 60.0  # also of what Retry-After asks for
    waiting: int = 1_000


class Letter(NamedTuple):
    """A letter has the same `name` in every attempt: whoever gets it twice can tell."""

    name: str
    body: bytes


class PostOutcome(NamedTuple):
    taken: bool
    why: str = ""
    again: bool = True
    after_s: float = 0.0


class CourierStatistics(msgspec.Struct, frozen=True):
    """A courier counts letters: `failed` were given up, `dropped` came when the line was full."""

    host: str
    waiting: int
    sent: int
    failed: int
    dropped: int
    why: str = ""


class Courier:
    """A courier takes letters to one address. `put` never waits; of too many the oldest goes."""

    def __init__(self, url: str, secret: bytes, clock: Clock, pace: RetryPace) -> None:
        parsed = ada_url.URL(url)
        self._url = parsed.href
        self._host = parsed.host  # all that is said of it: the path may be a secret
        self._secret = secret
        self._clock = clock
        self._pace = pace
        self._line: deque[Letter] = deque()
        self._changed = threading.Condition()
        self._stopping = threading.Event()
        self._ended: asyncio.Future[None] | None = None
        self._hanging: list[_PostAttempt] = []
        self._sent = self._failed = self._dropped = 0
        self._why = ""

    def put(self, letter: Letter) -> None:
        with self._changed:
            if len(self._line) >= self._pace.waiting:
                self._line.popleft()
                self._dropped += 1
            self._line.append(letter)
            self._changed.notify()

    def statistics(self) -> CourierStatistics:
        waiting = len(self._line)
        said = (self._host, waiting, self._sent, self._failed, self._dropped, self._why)
        return CourierStatistics(*said)

    def start(self) -> None:
        """Where a loop runs."""
        self._ended = work_beside(self._carry, "notices")

    async def stop(self, within_s: float) -> None:
        """What waits is tried once more; what is not out by then is not sent."""
        self._stopping.set()
        with self._changed:
            self._changed.notify()
        if self._ended is not None:
            with anyio.move_on_after(within_s):
                await asyncio.shield(self._ended)
        self._line.clear()

    # -- in its thread -------------------------------------------------------------------------

    def _carry(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._line or self._stopping.is_set())
                if not self._line:
                    return
                letter = self._line.popleft()
            self._deliver(letter)

    def _deliver(self, letter: Letter) -> None:
        for attempt in range(self._pace.attempts):
            stopping = self._stopping.is_set()
            outcome = self._try(letter)
            if outcome.taken:
                self._sent += 1
                self._why = ""
                return
            self._why = outcome.why
            if not outcome.again or stopping or attempt + 1 == self._pace.attempts:
                break
            wait_s = max(self._pace.first_wait_s * 2.0**attempt, outcome.after_s)
            self._stopping.wait(min(wait_s, self._pace.most_wait_s))
        self._failed += 1

    def _try(self, letter: Letter) -> PostOutcome:
        """One attempt, in a thread that is left behind when its time is over: no timeout ends an
        answer that comes a byte at a time."""
        self._hanging = [each for each in self._hanging if each.is_alive()]
        if len(self._hanging) >= MAX_HANGING:
            return PostOutcome(False, "earlier attempts still hang")
        now_s = self._clock.now_ns() // 1_000_000_000
        headers = {
            "content-type": "application/json",
            "user-agent": "rutter",
            "connection": "close",
            "webhook-id": letter.name,
            "webhook-timestamp": str(now_s),
        }
        if self._secret:
            headers["webhook-signature"] = signature(self._secret, letter, now_s)
        attempt = _PostAttempt(self._url, headers, letter.body, self._pace.attempt_s)
        attempt.start()
        attempt.join(self._pace.attempt_s)
        if attempt.is_alive():
            self._hanging.append(attempt)
            return PostOutcome(False, f"no answer within {self._pace.attempt_s:g} s")
        return attempt.outcome


class _PostAttempt(threading.Thread):
    def __init__(self, url: str, headers: dict[str, str], body: bytes, within_s: float) -> None:
        super().__init__(name="notice", daemon=True)
        self._url, self._headers, self._body, self._within_s = url, headers, body, within_s
        self.outcome = PostOutcome(False, "not sent")

    def run(self) -> None:
        try:
            with _pool(self._url) as pool:
                self.outcome = self._once(pool)
        except (HTTPError, OSError, ValueError) as error:
            # Not its words: they hold the address.
            self.outcome = PostOutcome(False, f"it cannot be reached ({type(error).__name__})")

    def _once(self, pool: urllib3.PoolManager) -> PostOutcome:
        answer = pool.request(
            "POST",
            self._url,
            body=self._body,
            headers=self._headers,
            timeout=Timeout(connect=self._within_s, read=self._within_s),
            redirect=False,  # it would go where nobody said that it may
            preload_content=False,
        )
        answer.close()  # what it says beside its status is nothing to us
        if 200 <= answer.status < 300:
            return PostOutcome(True)
        asked = answer.headers.get("retry-after", "")
        after_s = float(asked[:9]) if asked.isascii() and asked.isdecimal() else 0.0
        return PostOutcome(False, f"HTTP {answer.status}", answer.status in AGAIN, after_s)


def _pool(url: str) -> urllib3.PoolManager:
    """By the company's proxy, where one is used for this host."""
    options: dict[str, Any] = {"num_pools": 1, "maxsize": 1, "retries": False}
    parsed = urlsplit(url)
    proxy = urlsplit(getproxies().get(parsed.scheme, ""))
    if not proxy.hostname or proxy_bypass(parsed.hostname or ""):
        return urllib3.PoolManager(**options)
    who = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}" if proxy.username else None
    where = f"{proxy.scheme}://{proxy.netloc.rpartition('@')[2]}"
    return urllib3.ProxyManager(where, proxy_headers=make_headers(proxy_basic_auth=who), **options)


# -- signing ---------------------------------------------------------------------------------------


def signature(secret: bytes, letter: Letter, at_s: int) -> str:
    """Over the name and the time too: an old letter cannot pass for a new one."""
    signed = b"%s.%d.%s" % (letter.name.encode(), at_s, letter.body)
    digest = hmac.digest(secret, signed, hashlib.sha256)
    return f"v1,{base64.b64encode(digest).decode()}"


def key_of(secret: str) -> bytes:
    """The key in a secret: base64 behind `whsec_`, else the text itself."""
    if not secret.startswith(PREFIX):
        return secret.encode()
    try:
        return base64.b64decode(secret.removeprefix(PREFIX), validate=True)
    except binascii.Error:
        raise BadInput(
            f"what notify.secret names begins with {PREFIX} and is not base64",
            "copy it again, whole",
        ) from None
