"""The person: one interface for every checkpoint (E3), whoever answers it."""

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from typing import ClassVar, Literal, Protocol

import anyio
import msgspec

from events.envelope import Actor, Envelope
from events.person import ApprovalAnswered
from events.validator import ApprovalRequested
from events.vocabulary import AnyEvent

Who = Literal["terminal", "scripted", "daemon", "nobody"]


class Answer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    approved: bool
    message: str = ""
    phrase: str = ""


class Answers(Protocol):
    """Whoever can be asked. Waiting for them has no time limit."""

    who: Who

    async def ask(self, question: ApprovalRequested) -> Answer: ...


class Person:
    """The effector: hears a question when it is on disk, reports the answer as a fact.

    With a limit, one that is not answered in time is answered with no; without, it is waited for.
    One that does not stand any more is not waited for either, and has no answer.
    """

    name: ClassVar[Actor] = "person"

    def __init__(self, answers: Answers, limit_ms: int = 0) -> None:
        self._answers = answers
        self._limit_ms = limit_ms
        self._asking = anyio.CancelScope()
        self._asked = ""
        self._voided: set[str] = set()

    async def handle(self, envelope: Envelope) -> AsyncIterator[AnyEvent]:
        if isinstance(envelope.event, ApprovalRequested):
            answered = await self._unless_void(envelope.event)
            if answered is not None:
                yield answered

    def void(self, approval: str) -> None:
        """The question does not stand any more, whether it is being asked or still to be."""
        self._voided.add(approval)
        if self._asked == approval:
            self._asking.cancel()

    async def _unless_void(self, question: ApprovalRequested) -> ApprovalAnswered | None:
        answered: ApprovalAnswered | None = None
        if question.approval in self._voided:
            return answered
        self._asked = question.approval
        with anyio.CancelScope() as self._asking:
            answered = await self._answered(question)
        self._asked = ""
        return answered

    async def _answered(self, question: ApprovalRequested) -> ApprovalAnswered:
        with anyio.move_on_after(self._limit_ms / 1000 if self._limit_ms else None):
            answer = await self._answers.ask(question)
            phrase = answer.phrase if question.phrase else ""
            return ApprovalAnswered(
                question.approval, answer.approved, self._answers.who, answer.message, phrase
            )
        late = f"nobody answered within {self._limit_ms} ms: {question.question}"
        return ApprovalAnswered(question.approval, False, "nobody", late)

    def failed(self, envelope: Envelope, error: Exception) -> AnyEvent | None:
        if isinstance(envelope.event, ApprovalRequested):
            said = f"the question could not be asked: {error}"[:200]
            return ApprovalAnswered(envelope.event.approval, False, "nobody", said)
        return None


class Nobody:
    """No person is there: every question is answered with no, and the run says so."""

    who: Who = "nobody"

    async def ask(self, question: ApprovalRequested) -> Answer:
        return Answer(False, f"no person is here to answer: {question.question}")


class ScriptedPerson:
    """Answers from a list, for the demo and tests; recorded as scripted, never as a person."""

    who: Who = "scripted"

    def __init__(self, answers: Sequence[Answer] = (), *, otherwise: Answer | None = None) -> None:
        self._answers = list(answers)
        self._otherwise = otherwise or Answer(False, "the scripted person has no more answers")
        self.asked: list[ApprovalRequested] = []

    async def ask(self, question: ApprovalRequested) -> Answer:
        self.asked.append(question)
        return self._answers.pop(0) if self._answers else self._otherwise


class TerminalPerson:
    """Asks at the terminal. Only a typed yes is a yes; a phrase must be typed as it stands.

    A line is read in a daemon thread: one that waits for it must not keep the process alive when
    the session is stopped meanwhile. There is one reader at a time; what is typed to a question
    that is over answers none. The end of input is no answer, so it is a no.
    """

    who: Who = "terminal"

    def __init__(self, prompt: Callable[[str], str]) -> None:
        self._prompt = prompt
        self._reading: asyncio.Future[None] | None = None

    async def ask(self, question: ApprovalRequested) -> Answer:
        return await self.put(question.question, question.phrase)

    async def put(self, question: str, phrase: str = "") -> Answer:
        """Any question; `phrase` is what must be typed out for a yes."""
        hint = f"type {phrase!r}" if phrase else "yes / no, or why not"
        said = (await self._typed(f"{question} [{hint}] ")).strip()
        if phrase and said.casefold() in ("y", "yes"):  # meant so, but not typed out
            said = (await self._typed(f"A yes is not enough here. [{hint}] ")).strip()
        if phrase:
            typed_out = said == phrase
            return Answer(typed_out, "" if typed_out else said, said if typed_out else "")
        if said.casefold() in ("y", "yes"):
            return Answer(True)
        return Answer(False, "" if said.casefold() in ("", "n", "no") else said)

    async def _typed(self, text: str) -> str:
        if self._reading is not None and not self._reading.done():
            await asyncio.shield(self._reading)  # a late word to a question that nobody asks now
        loop = asyncio.get_running_loop()
        line: asyncio.Future[str] = loop.create_future()
        self._reading = over = loop.create_future()

        def settle(said: str) -> None:
            if not line.done():
                line.set_result(said)
            over.set_result(None)

        def read() -> None:
            try:
                said = self._prompt(text)
            except EOFError:
                said = ""
            with contextlib.suppress(RuntimeError):  # the loop is gone: nobody waits any more
                loop.call_soon_threadsafe(settle, said)

        threading.Thread(target=read, name="asking", daemon=True).start()
        return await line
