"""Pictures of a page go to who reads them: kept before, no wider than they may be, once; and every
way to fail ends the step."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from io import BytesIO
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest
from PIL import Image

from rutter.actors.advisor.actor import Advisor
from rutter.actors.advisor.ghost_reading import MOST, TALL
from rutter.actors.world.browser.page_session import PageTimeout
from rutter.actors.world.browser.painting import size_of
from rutter.actors.world.browser.screen import Screen
from rutter.actors.world.models.prices import Price, PricedReader
from rutter.events.action import Action, Untrusted
from rutter.events.advisor import AdviceFailed, AdvicePrepared, AdviceReceived
from rutter.events.artifacts import ArtifactStore
from rutter.events.envelope import Envelope
from rutter.events.errors import WorldBroken
from rutter.events.executor import QueryAnswered, QueryFailed
from rutter.events.planner import AdviceRequested
from rutter.events.run_settings import GhostUse
from rutter.events.validator import QueryStarted
from rutter.events.vocabulary import AnyEvent
from rutter.pipeline.sessions import session_started
from tests.support.case_table import for_each
from tests.support.model_providers import PROVIDERS, opened
from tests.support.policies import HERE
from tests.support.provider_replies import Answer
from tests.support.provider_server import Fault, WireServer

pytestmark = pytest.mark.anyio

PRICE = Price(3_000_000, 15_000_000)
ASKED = QueryStarted(1, 1, Action("ghost_extract", prompt="Prices?"), render_mode="ghost")
IN_VIEW = msgspec.structs.replace(ASKED, action=Action("ghost_extract", viewport_only=True))


def png(width: int, height: int) -> bytes:
    written = BytesIO()
    Image.new("RGB", (width, height), "#fff").save(written, "PNG")
    return written.getvalue()


class Pages:
    """A window whose only page is a picture, or cannot be pictured."""

    def __init__(self, picture: bytes | Exception) -> None:
        self._picture = picture
        self.heights: list[int] = []

    async def open_window(self, policy: object) -> "Pages":
        return self

    @property
    def tab(self) -> "Pages":
        return self

    async def picture(self, *, max_width: int, max_height: int, within_ms: int) -> bytes:
        self.heights.append(max_height)
        if isinstance(self._picture, Exception):
            raise self._picture
        return self._picture


class Asked:
    """An Advisor that is told what a session would tell it, and what it said to that."""

    def __init__(
        self,
        pages: Pages,
        store: ArtifactStore,
        readers: Mapping[str, PricedReader],
        within_ms: int,
    ) -> None:
        screen = Screen(cast(Any, pages), HERE)
        self._screen = screen
        self._advisor = Advisor(screen, store, readers=readers, within_ms=within_ms, pause_ms=0)
        self.said: list[AnyEvent] = []

    async def tell(self, event: AnyEvent) -> list[AnyEvent]:
        await self._screen.open()
        envelope = Envelope(1, "s", 1, 0, "planner", 0, event, bytes(32))
        told = [fact async for fact in self._advisor.handle(envelope)]
        self.said += told
        return told

    async def read(self, query: QueryStarted, provider: str) -> AnyEvent:
        """What the step comes to, asked again as the Planner would."""
        started = session_started.tool_session()
        use = GhostUse(True, True, max_width=1_280)
        settings = msgspec.structs.replace(started.settings, ghost=use)
        await self.tell(msgspec.structs.replace(started, settings=settings))
        await self.tell(query)
        for attempt in (1, 2):
            name, note = f"g1.{attempt}", query.action.prompt or "Extract all visible text"
            request = AdviceRequested(name, "ghost", provider, "m", attempt, 1, note=note)
            told = await self.tell(request)
            if isinstance(told[0], AdvicePrepared):
                told = await self.tell(told[0])
            if isinstance(told[-1], QueryAnswered | QueryFailed):
                return told[-1]
        raise AssertionError(f"the step did not end: {self.said}")


@asynccontextmanager
async def asking(
    pages: Pages,
    tmp_path: Path,
    provider: str,
    server: WireServer,
    *,
    price: Price | None = None,
    within_ms: int = 20_000,
) -> AsyncIterator[Asked]:
    async with opened(provider, server) as client:
        readers = {provider: PricedReader(client, price)}
        yield Asked(pages, ArtifactStore(tmp_path / "artifacts"), readers, within_ms)


@for_each("provider", PROVIDERS)
async def test_the_pictures_arrive_once_with_their_prompt_and_are_on_disk_before(
    provider: str, tmp_path: Path
) -> None:
    store, before = ArtifactStore(tmp_path / "artifacts"), list[int]()

    def brain(heard: Any) -> Answer:
        before.append(sum(each.is_file() for each in (tmp_path / "artifacts").rglob("*")))
        return Answer(text="Sloop $29")

    with WireServer(brain) as server:
        pages = Pages(png(1_600, 2_500))
        async with asking(pages, tmp_path, provider, server, price=PRICE) as asked:
            answer = await asked.read(ASKED, provider)
    [heard] = server.requests
    sizes = [size_of(each) for each in heard.pictures]
    assert {width for width, _ in sizes} == {1_280}
    assert sum(height for _, height in sizes) == 2_000
    assert max(height for _, height in sizes) <= TALL
    assert pages.heights == [TALL * MOST]
    assert "Prices?" in heard.text
    assert isinstance(answer, QueryAnswered)
    assert (answer.text, answer.render_mode) == (Untrusted("Sloop $29"), "ghost")
    assert not answer.unread
    kept = [store.get(each) for each in answer.pictures]
    assert [size_of(each) for each in kept] == sizes
    assert before[0] >= len(set(kept)) + 1, "the pictures and the prompt"
    prepared, received = asked.said[0], asked.said[1]
    assert isinstance(prepared, AdvicePrepared)
    assert prepared.prompt is not None
    asked_for = store.get(prepared.prompt).decode()
    assert "Prices?" in asked_for
    assert all(each.sha256 in asked_for for each in answer.pictures)
    assert isinstance(received, AdviceReceived)
    assert received.priced
    assert received.cost_microdollars > 0


FAULTS: dict[str, tuple[Fault | Answer, str, int]] = {
    "key": (Fault("status", 401), "unauthorised", 1),
    "spent": (Fault("status", 429), "rate_limited", 2),
    "overloaded": (Fault("status", 503), "overloaded", 2),
    "silent": (Fault("silent"), "timeout", 2),
    "cut off": (Fault("cut"), "cut", 2),
    "garbage": (Fault("garbage"), "invalid", 2),
}


@for_each("provider", PROVIDERS)
@for_each("fault", FAULTS)
async def test_each_fault_of_a_reader_ends_the_step_with_its_type(
    provider: str, fault: str, tmp_path: Path
) -> None:
    wrong, code, most = FAULTS[fault]
    within_ms = 200 if fault == "silent" else 20_000
    with WireServer([wrong, wrong]) as server:
        pages = Pages(png(9, 9))
        async with asking(pages, tmp_path, provider, server, within_ms=within_ms) as asked:
            answer = await asked.read(ASKED, provider)
    assert isinstance(answer, QueryFailed)
    assert answer.code == "reader_failed"
    failures = [each for each in asked.said if isinstance(each, AdviceFailed)]
    assert 1 <= len(failures) <= most
    assert server.attempts <= most
    assert {each.code for each in failures} == {code}
    assert all(each.transient for each in failures[:-1])
    assert answer.message.startswith(f"{provider}: {failures[-1].code}")


async def test_nothing_read_is_another_end(tmp_path: Path) -> None:
    with WireServer([Answer(text=" \n")]) as server:
        async with asking(Pages(png(9, 9)), tmp_path, "ollama", server) as asked:
            answer = await asked.read(IN_VIEW, "ollama")
    assert isinstance(answer, QueryFailed)
    assert answer.code == "nothing_read"
    assert server.attempts == 1


@for_each(
    "picture, code",
    [(PageTimeout("picture"), "timeout"), (WorldBroken("it moves"), "action_failed")],
)
async def test_without_a_picture_nobody_is_asked(
    picture: Exception, code: str, tmp_path: Path
) -> None:
    pages = Pages(picture)
    with WireServer([]) as server:
        async with asking(pages, tmp_path, "ollama", server) as asked:
            answer = await asked.read(IN_VIEW, "ollama")
            nobody = await asked.read(IN_VIEW, "openai")
    assert isinstance(answer, QueryFailed)
    assert answer.code == code
    assert isinstance(nobody, QueryFailed)
    assert nobody.code == "reader_failed"
    assert server.attempts == 0
    assert pages.heights == [0], "what is in view alone"
    free = [each.code for each in asked.said if isinstance(each, AdviceFailed)]
    assert free == ["unavailable"] * 2


async def test_of_a_page_without_an_end_the_beginning_is_read_and_that_is_said(
    tmp_path: Path,
) -> None:
    with WireServer([Answer(text="x" * 20_000)]) as server:
        pages = Pages(png(40, TALL * MOST))
        async with asking(pages, tmp_path, "ollama", server) as asked:
            answer = await asked.read(ASKED, "ollama")
    assert len(server.requests[0].pictures) == MOST
    assert isinstance(answer, QueryAnswered)
    assert answer.unread
    assert answer.text is not None
    assert len(answer.text.text) == 12_000
