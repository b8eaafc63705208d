"""The Advisor asks a language model what the Planner wants asked, and reports what came of it.

A question is built and kept first (`AdvicePrepared`); only when that is on disk the one provider
that it names is asked, once. Whatever goes wrong is a fact: a paid call is never repeated here.
"""

from collections.abc import AsyncIterator, Iterator, Mapping, MutableSequence
from os import urandom
from time import monotonic_ns
from typing import ClassVar, NamedTuple

import anyio
import anyio.to_thread
import msgspec

from rutter.actors.advisor.conversation import NewestPage, converse
from rutter.actors.advisor.ghost_reading import GhostReading
from rutter.actors.advisor.memory import Memory
from rutter.actors.advisor.page_context import (
    MAX_TREE,
    MAX_WIDTH,
    PART_MS,
    AgentContext,
    MissingPart,
    gather_context,
    prompt_of,
    with_parts,
)
from rutter.actors.advisor.picture_advice import VisionAdvisor
from rutter.actors.advisor.prompt import ActionQuestion, prompt_for, prompt_tokens
from rutter.actors.advisor.reply_parser import ParsedReply, calls_of, numbered, proposal_in
from rutter.actors.advisor.tool_specs import specs_tokens, tool_specs
from rutter.actors.rules.pages.text_form import text_of
from rutter.actors.rules.steps.ghost import is_of_ghost
from rutter.actors.rules.text.untrusted import normalised
from rutter.actors.vision import Vision
from rutter.actors.world.allowed_files import read_file
from rutter.actors.world.browser.page_session import DocumentGone, PageTimeout
from rutter.actors.world.browser.screen import Screen
from rutter.actors.world.models.messages import (
    ModelFailed,
    ModelTurn,
    Prompt,
    Reply,
    ResultsTurn,
    Turn,
    UserTurn,
)
from rutter.actors.world.models.prices import PricedModel, PricedReader, cost_microdollars
from rutter.actors.world.secrets.redaction import Redactor, Secrets
from rutter.events.action import Untrusted
from rutter.events.advisor import AdviceFailed, AdvicePrepared, AdviceReceived
from rutter.events.artifacts import ArtifactStore
from rutter.events.critic import VisionSought
from rutter.events.envelope import Actor, Envelope
from rutter.events.errors import LogCorrupt, WorldBroken
from rutter.events.page import Artifact, Page
from rutter.events.planner import AdviceRequested
from rutter.events.run_settings import ModelUse
from rutter.events.tools import FileRead, ToolCalled
from rutter.events.validator import QueryStarted
from rutter.events.vocabulary import AnyEvent

ANSWER_MS = 30_000  # C2
PAUSE_MS = 1_000  # S3 2.4.1: before the same is asked a second time
SLACK_MS = 1_000  # an adapter keeps its own deadline; one that does not is cut off
MAX_SAID = 2_000  # characters of what a model says that the log keeps
MAX_MESSAGE = 200


class BuiltQuestion(NamedTuple):
    """A question is built as it is sent, and as the record may hold it."""

    prompt: Prompt
    recorded: Prompt
    tokens: int
    missing: tuple[str, ...] = ()
    dropped: int = 0


class Advisor:
    """The Advisor is an effector. `typed` is the session's own list of texts that are typed: they
    are in no event, and in nothing that is kept."""

    name: ClassVar[Actor] = "advisor"

    def __init__(
        self,
        screen: Screen,
        artifacts: ArtifactStore | None,
        models: Mapping[str, PricedModel] | None = None,
        *,
        redact: Redactor | None = None,
        typed: MutableSequence[str] | None = None,
        vision: Vision | None = None,
        readers: Mapping[str, PricedReader] | None = None,
        within_ms: int = ANSWER_MS,
        pause_ms: int = PAUSE_MS,
    ) -> None:
        self._pause_ms = pause_ms
        self._screen = screen
        self._artifacts = artifacts
        self._models = models or {}
        self._redact = redact or Redactor({})
        self._typed: MutableSequence[str] = typed if typed is not None else []
        self._vision = VisionAdvisor(screen, artifacts, vision)
        self._within_ms = within_ms
        self._ghost = GhostReading(
            screen,
            readers or {},
            self._redact,
            keep_prompt=self._kept,
            put=self._put,
            times_ms=(within_ms, pause_ms),
        )
        self._memory = Memory(self._redact.text, _nonce)
        self._requests: dict[str, AdviceRequested] = {}
        self._ready: dict[str, Prompt] = {}

    async def handle(self, envelope: Envelope) -> AsyncIterator[AnyEvent]:
        match envelope.event:
            case VisionSought():
                async for given in self._vision.handle(envelope):
                    yield given
            case QueryStarted(render_mode="ghost") as query:
                self._ghost.begin(query)
            case AdviceRequested(purpose="ghost") as request:
                async for fact in self._ghost.prepare(request, self._max_width):
                    yield fact
            case AdvicePrepared(request=name) if self._ghost.is_ready(name):
                async for fact in self._ghost.read(name):
                    yield fact
            case AdviceRequested() as request if request.purpose != "vision":
                yield await self._prepared(request)
            case AdvicePrepared(request=name) if name in self._ready:
                # Taken out first: whatever happens now, it is not put a second time.
                yield await self._asked(self._requests[name], self._ready.pop(name))
            case ToolCalled(by="model", tool="read_file", invalid="") as called:
                yield await self._read(called)
            case _:
                self._memory.hear(envelope)

    def failed(self, envelope: Envelope, error: Exception) -> AnyEvent | None:
        """Nothing is done again: it may have been paid for."""
        match envelope.event:
            case AdviceRequested(request=name) | AdvicePrepared(request=name) if is_of_ghost(name):
                return self._ghost.broke(error)
            case AdviceRequested(request=name, provider=provider):
                return _failed(name, provider, error)
            case AdvicePrepared(request=name):
                request = self._requests.get(name)
                return _failed(name, request.provider if request else "", error)
            case ToolCalled(call=call):
                return FileRead(call, error="action_failed", message=type(error).__name__)
            case _:
                return self._vision.failed(envelope, error)

    # -- the question --------------------------------------------------------------------------

    async def _prepared(self, request: AdviceRequested) -> AdvicePrepared | AdviceFailed:
        if request.provider not in self._models:
            why = f"there is no model of {request.provider or 'no provider'} here"
            return AdviceFailed(request.request, request.provider, "unavailable", False, why)
        if request.purpose == "act":
            built = await self._turn(request)
        else:
            built = await self._question(request)
        kept = await self._kept(built.recorded)
        self._requests[request.request] = request
        self._ready[request.request] = self._without_known(built.prompt)
        pictures = sum(len(turn.pictures) for turn in _told(built.prompt))
        return AdvicePrepared(
            request.request,
            kept,
            built.tokens + specs_tokens(built.prompt.tools),
            pictures,
            built.missing,
            built.dropped,
        )

    async def _turn(self, request: AdviceRequested) -> BuiltQuestion:
        """The next turn of a conversation."""
        memory = self._memory
        memory.note(request.note)
        told_already = bool(memory.exchanges) and not memory.exchanges[-1].thought.calls
        seen, missing = await self._page_in_view(request.provider)
        talk = converse(
            memory.task,
            memory.exchanges,
            seen,
            note="" if told_already else self._redact.text(request.note),
            nonce=_nonce(),
            anchor=memory.anchor,
        )
        memory.anchor = talk.anchor
        tools = tool_specs(self._rules.tools)
        prompt = Prompt(talk.system, talk.turns, tools, stays=talk.stays)
        recorded = msgspec.structs.replace(prompt, turns=talk.recorded)
        return BuiltQuestion(prompt, recorded, talk.tokens, missing, talk.dropped)

    async def _page_in_view(self, provider: str) -> tuple[NewestPage | None, tuple[str, ...]]:
        """The page as it was seen last, and its picture where the model can look at one."""
        observed = self._memory.seen
        if observed is None:
            return None, ("page",)
        seen = NewestPage(observed.page, observed.suspicious)
        if not self._sees(provider):
            return seen, ()
        picture = await self._picture(observed.screenshot)
        return msgspec.structs.replace(seen, picture=picture), () if picture else ("screenshot",)

    async def _picture(self, kept: Artifact | None) -> bytes:
        """The one of that very look, or the page as it is now; none, where it cannot be had."""
        try:
            if kept is not None and self._artifacts is not None:
                return await anyio.to_thread.run_sync(
                    self._artifacts.get, kept, abandon_on_cancel=True
                )
            return await self._screen.tab.picture(max_width=MAX_WIDTH, within_ms=PART_MS)
        except (PageTimeout, DocumentGone, WorldBroken, LogCorrupt, OSError):
            return b""

    async def _question(self, request: AdviceRequested) -> BuiltQuestion:
        """One action is asked for, with all that C3 names."""
        memory, nonce = self._memory, _nonce()
        context = await self._context()
        picture = context.screenshot if self._sees(request.provider) else b""
        started = memory.started
        question = ActionQuestion(
            request, memory.task, started.workflow if started else None, self._rules.certainty
        )
        prompt = prompt_for(question, prompt_of(context, nonce), picture, nonce=nonce)
        missing = tuple(each.part for each in context.missing)
        return BuiltQuestion(prompt, prompt, prompt_tokens(prompt), missing)

    async def _context(self) -> AgentContext:
        memory = self._memory
        page = memory.seen.page if memory.seen is not None else None
        try:
            tab = self._screen.tab
        except WorldBroken as error:
            return _without_window(page, str(error))
        return await gather_context(
            tab,
            page=page,
            actions=memory.actions,
            errors=memory.errors,
            redact=self._redact.text,
        )

    @property
    def _max_width(self) -> int:
        started = self._memory.started
        return started.settings.ghost.max_width if started is not None else MAX_WIDTH

    @property
    def _rules(self) -> ModelUse:
        started = self._memory.started
        return started.models or ModelUse() if started is not None else ModelUse()

    def _sees(self, provider: str) -> bool:
        model = self._memory.model(provider)
        return model is not None and model.pictures

    # -- the answer ----------------------------------------------------------------------------

    async def _asked(self, request: AdviceRequested, prompt: Prompt) -> AnyEvent:
        """One call, with a deadline of ours. What was transient is asked again a moment later: at
        once it would still be so."""
        priced = self._models[request.provider]
        if request.attempt > 1:
            await anyio.sleep(self._pause_ms / 1000)
        began_ns = monotonic_ns()
        try:
            with anyio.fail_after((self._within_ms + SLACK_MS) / 1000):
                reply = await priced.client.complete(prompt, within_ms=self._within_ms)
        except ModelFailed as failed:
            said = self._redact.text(failed.message)[:MAX_MESSAGE]
            event = AdviceFailed(
                request.request, request.provider, failed.code, failed.transient, said
            )
        except TimeoutError:
            why = f"no answer within {self._within_ms} ms"
            event = AdviceFailed(request.request, request.provider, "timeout", True, why)
        else:
            took_ms = (monotonic_ns() - began_ns) // 1_000_000
            return await self._received(request, reply, priced, took_ms)
        took_ms = (monotonic_ns() - began_ns) // 1_000_000
        return msgspec.structs.replace(event, took_ms=took_ms)

    async def _received(
        self, request: AdviceRequested, reply: Reply, priced: PricedModel, took_ms: int
    ) -> AdviceReceived:
        heard = self._understood(request, reply)
        self._typed.extend(heard.typed)
        untyped = Secrets(numbered(self._typed))
        if request.purpose == "act" and reply.ending != "refused":
            self._memory.said(reply, heard, untyped.clean)
        text = untyped.clean(self._redact.text(normalised(reply.text)))[:MAX_SAID]
        body = untyped.clean(reply.raw.decode("utf-8", "replace"))
        proposal = heard.proposal
        if proposal is not None:
            why = untyped.clean(self._redact.text(proposal.reasoning.text))
            proposal = msgspec.structs.replace(proposal, reasoning=Untrusted(why))
        return AdviceReceived(
            request=request.request,
            provider=request.provider,
            model=reply.model[:MAX_MESSAGE],
            ending=reply.ending,
            calls=heard.calls,
            proposal=proposal,
            invalid=heard.invalid,
            text=Untrusted(text),
            usage=reply.usage,
            cost_microdollars=cost_microdollars(reply.usage, priced.price),
            priced=priced.price is not None,
            took_ms=took_ms,
            body=await self._put(body.encode(), "application/json") if body else None,
        )

    def _understood(self, request: AdviceRequested, reply: Reply) -> ParsedReply:
        number, names = len(self._typed), self._memory.names
        if request.purpose != "act":
            return proposal_in(reply, number=number, names=names)
        allowed = self._rules.tools
        return calls_of(reply, request.request, number=number, names=names, allowed=allowed)

    # -- files ---------------------------------------------------------------------------------

    async def _read(self, called: ToolCalled) -> FileRead:
        path = str(msgspec.json.decode(called.arguments).get("path", ""))
        started = self._memory.started
        folders = started.policy.folders if started is not None else ()
        read = await anyio.to_thread.run_sync(
            read_file, called.call, path, folders, abandon_on_cancel=True
        )
        self._memory.read(read)
        return read

    # -- what is kept --------------------------------------------------------------------------

    async def _kept(self, prompt: Prompt) -> Artifact | None:
        """The question word for word, but for what was typed; its pictures by their names."""
        if self._artifacts is None:
            return None
        names: dict[bytes, str] = {}
        for turn in _told(prompt):
            for picture in turn.pictures:
                stored = await self._put(picture, "image/png")
                names[picture] = stored.sha256 if stored is not None else ""
        plain = msgspec.to_builtins(prompt, builtin_types=(bytes,))
        body = msgspec.json.encode(with_parts(plain, bytes, names.__getitem__))
        return await self._put(body, "application/json")

    async def _put(self, body: bytes, media: str) -> Artifact | None:
        if self._artifacts is None:
            return None
        return await anyio.to_thread.run_sync(
            self._artifacts.put, body, media, abandon_on_cancel=True
        )

    def _without_known(self, prompt: Prompt) -> Prompt:
        """The last look before it is sent. Everything in it was cleaned when it came in."""
        if not self._redact.knows_any:
            return prompt
        plain = msgspec.to_builtins((prompt.system, prompt.turns), builtin_types=(bytes,))
        clean = with_parts(plain, str, self._redact.without_known)
        system, turns = msgspec.convert(clean, _Words)
        return msgspec.structs.replace(prompt, system=system, turns=turns)


_Words = tuple[str, tuple[Turn, ...]]


def _told(prompt: Prompt) -> Iterator[UserTurn | ResultsTurn]:
    return (turn for turn in prompt.turns if not isinstance(turn, ModelTurn))


def _without_window(page: Page | None, why: str) -> AgentContext:
    """What is known of the page when there is none to look at."""
    missing = tuple(
        MissingPart(part, why) for part in ("html_snippet", "screenshot", "visible_text")
    )
    if page is None:
        return AgentContext(missing=(MissingPart("accessibility_tree", why), *missing))
    return AgentContext(
        accessibility_tree=text_of(page, max_bytes=MAX_TREE).text,
        url=normalised(page.url),
        viewport_size=page.viewport,
        scroll_position=page.scroll,
        missing=missing,
    )


def _failed(request: str, provider: str, error: Exception) -> AdviceFailed:
    said = f"{type(error).__name__}: {error}"[:MAX_MESSAGE]
    return AdviceFailed(request, provider, "unavailable", transient=False, message=said)


def _nonce() -> str:
    """Nobody who wrote the page knows it, and no decision depends on it."""
    return urandom(12).hex()
