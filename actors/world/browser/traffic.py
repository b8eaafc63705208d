"""A page's traffic is what it asks its servers for: what is open, what was sent, and how that was
answered, as the browser announces it.

Told apart: requests that a script waits for, streams and long polls that are never over, and
beacons that nobody waits for. Bodies are never looked at.
"""

from collections.abc import Callable, Iterable, Mapping
from math import inf
from time import monotonic
from typing import Any, NamedTuple

import anyio
import msgspec

from rutter.actors.rules.pages.address import place_of
from rutter.actors.rules.pages.server_exchanges import is_one_of
from rutter.events.page import Exchange

ASKED_BY_SCRIPT = frozenset({"Fetch", "XHR"})
ONLY_READ = frozenset({"GET", "HEAD", "OPTIONS"})
BEACON = "Ping"
EVENTS = "EventSource"
SCRIPT = "Script"
DOCUMENT = "Document"
STREAM = "text/event-stream"  # its end is no answer that anybody waits for
MOST = 1_000  # a page can make them without end; more than this many are not told apart
MOST_TOLD = 20  # exchanges in one fact
HELD_S = 1.0  # a request to read that is open as long as this may be a poll
BODY_S = 1.0  # an answer to a script that goes on for longer may be a stream
SOON_S = 1.0  # and is one, when the same is asked for again so soon after its answer


class OpenRequest(NamedTuple):
    """A request is under way. `number` counts those that were to change something."""

    key: str
    method: str
    kind: str
    step: int
    began: float
    input: int
    loader: str = ""
    number: int = 0
    follows: bool = True  # from what was done last, as far as can be told

    @property
    def reads(self) -> bool:
        return self.method in ONLY_READ


class AnswerHead(NamedTuple):
    """The head of an answer came; the server may yet break off in the rest."""

    status: int
    came: float
    document: bool


class Traffic:
    """The traffic of one page has its requests. `changed` is set, and replaced, with each event."""

    def __init__(
        self,
        asked: Callable[[str, str], None],
        step: Callable[[], int],
        number: Callable[[], int],
    ) -> None:
        self._asked = asked
        self._step = step
        self._number = number
        self._open: dict[str, OpenRequest] = {}
        self._sent: set[str] = set()
        self._exchanges: dict[int, Exchange] = {}
        self._numbers: dict[str, int] = {}
        self._heads: dict[str, AnswerHead] = {}
        self._untold: dict[int, None] = {}
        self._polls: set[str] = set()
        self._over: dict[str, float] = {}  # when a read of this key that was held open was answered
        self._spoken: dict[str, int] = {}  # the step at which something was said by a socket
        self._lasting: set[str] = set()  # sockets and streams that are open
        self._input = 0
        self._follows = False
        self.begun = 0
        self.seen: set[str] = set()  # of what was to change something, since it was last awaited
        self.changed = anyio.Event()

    # -- what is known -------------------------------------------------------------------------

    @property
    def pending(self) -> int:
        """Requests that scripts made since the last input and have no answer. What a document that
        came of it asks for by itself is none of them."""
        return sum(
            each.follows and each.kind in ASKED_BY_SCRIPT and each.input == self._input
            for each in self._open.values()
        )

    @property
    def sent(self) -> int:
        """Requests other than for reading that scripts of the page made since the last input."""
        return len(self._sent)

    @property
    def busy(self) -> bool:
        """Whether something is on its way that the page will go on with."""
        parts = any(each.kind == SCRIPT for each in self._open.values())
        return parts or self.awaited

    @property
    def awaited(self) -> bool:
        """Whether the page is to be waited for: a script of it waits for an answer."""
        polls = self._polls
        return any(self._counts(each) and each.key not in polls for each in self._open.values())

    @property
    def carrying(self) -> bool:
        """Whether something is on its way that was to change something; beacons too."""
        return any(not each.reads for each in self._open.values())

    @property
    def open(self) -> bool:
        """Whether a connection of the page serves something that is not over. Of documents that
        gave way to others the browser does not tell that they are."""
        waiting = (*ASKED_BY_SCRIPT, SCRIPT)
        return bool(self._lasting) or any(each.kind in waiting for each in self._open.values())

    def tell(self) -> tuple[Exchange, ...]:
        """What was sent or answered since this was asked for last."""
        now = monotonic()
        for name, head in tuple(self._heads.items()):
            if not head.document and now - head.came > BODY_S:
                self._answered(name, head.status)
        told = tuple(self._exchanges[number] for number in self._untold)
        self._untold.clear()
        for each in told:
            if each.status or each.failed or each.socket:
                self._exchanges.pop(each.number, None)
        return told[-MOST_TOLD:]

    def unseen(self, awaits: Iterable[str]) -> str:
        """The first of these kinds of which no request has begun since the page rested last."""
        for kinds in awaits:
            if not any(is_one_of(kinds, key) for key in self.seen):
                return kinds
        return ""

    def begin_input(self) -> None:
        now = monotonic()
        for each in self._open.values():
            if each.reads and now - each.began > HELD_S:
                self._polls.add(each.key)
        self._input += 1
        self._follows = True
        self._sent.clear()

    def leave(self, loader: str) -> None:
        """Another document is there: what the one before asked for nobody waits for."""
        self._follows = False
        self._sent.clear()
        self._polls.clear()
        self._over.clear()
        self._lasting.clear()
        for number in [
            id
            for id, each in self._open.items()
            if each.kind in (*ASKED_BY_SCRIPT, SCRIPT) and each.loader != loader
        ]:
            self._end(number, failed=True)

    # -- what the browser announces ------------------------------------------------------------

    def on_request(self, event: Mapping[str, Any]) -> None:
        request, kind, name = event["request"], event.get("type", ""), event["requestId"]
        self._asked(request["url"], kind)
        if "redirectResponse" in event and name in self._open:
            self._answered(name, event["redirectResponse"].get("status", 0))
        script = kind in ASKED_BY_SCRIPT
        if kind == EVENTS:
            self.on_lasting(event)
        if not script and kind not in (BEACON, DOCUMENT, SCRIPT):
            return
        if len(self._open) >= MOST and name not in self._open:
            return
        method = request["method"]
        key = f"{method} {_where(request['url'])}"
        number = self._numbered(name, method, kind, key)
        began = monotonic()
        if began - self._over.get(key, -inf) < SOON_S or self._is_held(key, began):
            self._polls.add(key)
        self._open[name] = OpenRequest(
            key,
            method,
            kind,
            self._step(),
            began,
            self._input,
            event.get("loaderId", ""),
            number,
            self._follows,
        )
        # One that is led elsewhere is told again, as a request to read perhaps, by the same id.
        if script and self._follows and method not in ONLY_READ and len(self._sent) < MOST:
            self._sent.add(name)
        self.begun += script
        self._tell()

    def on_response(self, event: Mapping[str, Any]) -> None:
        name, response = event["requestId"], event["response"]
        if name not in self._open:
            return
        status, kind = response.get("status", 0), self._open[name].kind
        self._heads[name] = AnswerHead(status, monotonic(), kind == DOCUMENT)
        if response.get("mimeType") == STREAM:
            self._end(name)
            self.on_lasting(event)

    def on_lasting(self, event: Mapping[str, Any]) -> None:
        """A socket or a stream is open until it is told to be over."""
        if len(self._lasting) < MOST:
            self._lasting.add(event["requestId"])

    def on_over(self, event: Mapping[str, Any]) -> None:
        self._lasting.discard(event["requestId"])

    def on_finished(self, event: Mapping[str, Any]) -> None:
        name = event["requestId"]
        self.on_over(event)
        if "errorText" in event and not event.get("canceled"):  # by the page, which has its answer
            self._answered(name, self._status_of(name), failed=True)
        self._end(name, failed="errorText" in event)

    def on_said(self, event: Mapping[str, Any]) -> None:
        """Something was sent by a socket: what the other side makes of it nobody is told. Once for
        each step."""
        key, step = f"SOCKET {event['requestId']}", self._step()
        if self._spoken.get(key) == step:
            return
        self._spoken[key] = step
        self._begin(Exchange(self._number(), "SOCKET", step, socket=True))

    # -- how -----------------------------------------------------------------------------------

    def _numbered(self, name: str, method: str, kind: str, key: str) -> int:
        if method in ONLY_READ:
            return 0
        number, step = self._number(), self._step()
        self._numbers[name] = number
        self._begin(Exchange(number, key, step, document=kind == DOCUMENT, beacon=kind == BEACON))
        if len(self.seen) < MOST:
            self.seen.add(key)
        return number

    def _begin(self, exchange: Exchange) -> None:
        if len(self._exchanges) < MOST:
            self._exchanges[exchange.number] = exchange
            self._untold[exchange.number] = None

    def _answered(self, name: str, status: int, *, failed: bool = False) -> None:
        known = self._exchanges.get(self._numbers.get(name, 0))
        if known is None or known.status or known.failed:
            return
        answered = msgspec.structs.replace(known, status=status, failed=failed)
        self._exchanges[known.number] = answered
        self._untold[known.number] = None

    def _end(self, name: str, *, failed: bool = False) -> None:
        status = self._status_of(name)
        if status or failed:
            self._answered(name, status, failed=not status)
        request = self._open.pop(name, None)
        self._numbers.pop(name, None)
        self._heads.pop(name, None)
        if request is not None and request.reads and monotonic() - request.began > HELD_S:
            self._over[request.key] = monotonic()
        self._tell()

    def _status_of(self, name: str) -> int:
        head = self._heads.get(name)
        return head.status if head is not None else 0

    def _is_held(self, key: str, now: float) -> bool:
        """One that gives way to the next of its kind is told to be over behind that. Where there
        was input in between, it may be why."""
        return any(
            (each.key, each.input) == (key, self._input)
            and each.reads
            and now - each.began > HELD_S
            for each in self._open.values()
        )

    def _counts(self, each: OpenRequest) -> bool:
        if each.kind not in ASKED_BY_SCRIPT:
            return False
        return each.input == self._input or not each.reads

    def _tell(self) -> None:
        changed, self.changed = self.changed, anyio.Event()
        changed.set()


def _where(url: str) -> str:
    place = place_of(url)
    return f"{place.origin}{place.path}"[:200]
