"""The Advisor has a picture of the page read (S4 W8): it takes it, keeps it, and asks who reads.

What is secret is covered. What is sent is on disk before; what came of it ends the step.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from time import monotonic_ns

import anyio
import anyio.to_thread

from rutter.actors.rules.steps.ghost import is_asked_again
from rutter.actors.rules.text.untrusted import normalised
from rutter.actors.world.browser.page_session import DocumentGone, PageTimeout
from rutter.actors.world.browser.painting import NotPaintable, sliced
from rutter.actors.world.browser.screen import Screen
from rutter.actors.world.models.messages import ModelFailed, Prompt, Reply, prompt_on
from rutter.actors.world.models.prices import PricedReader, cost_microdollars
from rutter.actors.world.secrets.redaction import Redactor
from rutter.events.action import Untrusted
from rutter.events.advisor import AdviceFailed, AdvicePrepared, AdviceReceived
from rutter.events.errors import WorldBroken
from rutter.events.executor import ErrorCode, QueryAnswered, QueryFailed
from rutter.events.page import Artifact
from rutter.events.planner import AdviceRequested
from rutter.events.validator import QueryStarted

PICTURE_MS = 15_000  # of a long page, by a browser that has others to paint
TALL = 1_600  # pixels: models make what is taller smaller, until no letter can be read
MOST = 8  # such pictures of one page; the browser itself paints no more than 16,384 pixels
MAX_TEXT = 12_000  # characters: what an event may carry
MAX_SAID = 2_000
MAX_MESSAGE = 200

GhostFact = AdvicePrepared | AdviceReceived | AdviceFailed | QueryAnswered | QueryFailed


class _Question:
    """A question is put to a reader about these pictures."""

    def __init__(self, request: AdviceRequested, query: QueryStarted) -> None:
        self.request, self.query = request, query
        self.began_ns = monotonic_ns()
        self.pictures: list[bytes] = []
        self.kept: list[Artifact] = []

    def took_us(self) -> int:
        return (monotonic_ns() - self.began_ns) // 1_000

    def failed(self, code: ErrorCode, why: str) -> QueryFailed:
        query = self.query
        return QueryFailed(query.step, query.attempt, code, why[:MAX_MESSAGE], self.took_us())


class GhostReading:
    def __init__(
        self,
        screen: Screen,
        readers: Mapping[str, PricedReader],
        redact: Redactor,
        *,
        keep_prompt: Callable[[Prompt], Awaitable[Artifact | None]],
        put: Callable[[bytes, str], Awaitable[Artifact | None]],
        times_ms: tuple[int, int],
    ) -> None:
        self._screen = screen
        self._readers = readers
        self._redact = redact
        self._keep_prompt = keep_prompt
        self._put = put
        self._within_ms, self._pause_ms = times_ms
        self._query: QueryStarted | None = None
        self._ready: dict[str, _Question] = {}

    def begin(self, query: QueryStarted) -> None:
        self._query = query

    def is_ready(self, request: str) -> bool:
        return request in self._ready

    async def prepare(self, request: AdviceRequested, max_width: int) -> AsyncIterator[GhostFact]:
        assert self._query is not None  # which is what the request follows from
        question = _Question(request, self._query)
        if request.provider not in self._readers:
            why = f"there is no reader {request.provider!r} here"
            yield _unasked(request, why)
            yield question.failed("reader_failed", why)
            return
        try:
            await self._take(question, max_width)
        except (PageTimeout, DocumentGone, WorldBroken, NotPaintable) as error:
            yield _unasked(request, f"no picture: {error}")
            code: ErrorCode = "timeout" if isinstance(error, PageTimeout) else "action_failed"
            yield question.failed(code, f"no picture could be taken: {error}")
            return
        self._ready[request.request] = question
        prompt = prompt_on(question.pictures, request.note)
        kept = await self._keep_prompt(prompt)
        yield AdvicePrepared(request.request, kept, pictures=len(question.pictures))

    async def _take(self, question: _Question, max_width: int) -> None:
        query = question.query
        tab = self._screen.tab
        if query.rest is not None:
            await tab.rest(query.rest)
        tall = 0 if query.action.viewport_only else TALL * MOST
        image = await tab.picture(max_width=max_width, max_height=tall, within_ms=PICTURE_MS)
        question.pictures = await anyio.to_thread.run_sync(
            sliced, image, max_width, TALL, abandon_on_cancel=True
        )
        for picture in question.pictures:
            if (kept := await self._put(picture, "image/png")) is not None:
                question.kept.append(kept)

    async def read(self, name: str) -> AsyncIterator[GhostFact]:
        """Taken out first: whatever happens now, it is not put a second time."""
        question = self._ready.pop(name)
        request = question.request
        reader, price = self._readers[request.provider]
        if request.attempt > 1:
            await anyio.sleep(self._pause_ms / 1000)
        began_ns = monotonic_ns()
        try:
            reply = await reader.vision(question.pictures, request.note, within_ms=self._within_ms)
        except ModelFailed as failed:
            took_ms = (monotonic_ns() - began_ns) // 1_000_000
            said = self._redact.text(failed.message)[:MAX_MESSAGE]
            who, code = request.provider, failed.code
            yield AdviceFailed(name, who, code, failed.transient, said, took_ms)
            if not is_asked_again(request.attempt, transient=failed.transient):
                yield question.failed("reader_failed", f"{who}: {code}: {said}")
            return
        yield AdviceReceived(
            name,
            request.provider,
            reply.model[:MAX_MESSAGE],
            reply.ending,
            text=Untrusted(self._redact.text(normalised(reply.text))[:MAX_SAID]),
            usage=reply.usage,
            cost_microdollars=cost_microdollars(reply.usage, price),
            priced=price is not None,
            took_ms=(monotonic_ns() - began_ns) // 1_000_000,
            body=await self._put(reply.raw, "application/json") if reply.raw else None,
        )
        yield self._ended(question, reply)

    def _ended(self, question: _Question, reply: Reply) -> QueryAnswered | QueryFailed:
        query, who = question.query, question.request.provider
        if reply.ending == "refused":
            return question.failed("reader_failed", f"{who}: it refused")
        text = normalised(reply.text).strip()
        if not text:
            return question.failed("nothing_read", f"{who} read nothing in the picture")
        whole = len(question.pictures) < MOST and len(text) <= MAX_TEXT and reply.ending != "cut"
        return QueryAnswered(
            query.step,
            query.attempt,
            question.took_us(),
            Untrusted(text[:MAX_TEXT]),
            unread=not whole,
            render_mode="ghost",
            pictures=tuple(question.kept),
        )

    def broke(self, error: Exception) -> QueryFailed | None:
        """The step ends whatever goes wrong; that the question has no answer counts as spent."""
        query, said = self._query, f"{type(error).__name__}: {error}"[:MAX_MESSAGE]
        return QueryFailed(query.step, query.attempt, "reader_failed", said) if query else None


def _unasked(request: AdviceRequested, why: str) -> AdviceFailed:
    return AdviceFailed(
        request.request, request.provider, "unavailable", transient=False, message=why[:MAX_MESSAGE]
    )
