"""The person: one interface for every checkpoint (E3), whoever answers it."""

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from typing import ClassVar, Literal, Protocol

import msgspec

from events.envelope import Actor, Envelope
from events.person import ApprovalAnswered
from events.validator import ApprovalRequested
from events.vocabulary import AnyEvent

Who = Literal["terminal", "scripted", "daemon", "nobody"]


class Answer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    approved: bool
    message: str = ""


class Answers(Protocol):
    """Whoever can be asked. Waiting for them has no time limit."""

    who: Who

    async def ask(self, question: ApprovalRequested) -> Answer: ...


class Person:
    """The effector: hears a question when it is on disk, reports the answer as a fact."""

    name: ClassVar[Actor] = "person"

    def __init__(self, answers: Answers) -> None:
        self._answers = answers

    async def handle(self, envelope: Envelope) -> AsyncIterator[AnyEvent]:
        if isinstance(envelope.event, ApprovalRequested):
            question = envelope.event
            answer = await self._answers.ask(question)
            yield ApprovalAnswered(
                question.approval, answer.approved, self._answers.who, answer.message
            )

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
    """Asks at the terminal. Only a typed yes is a yes; a phrase must be typed as it stands."""

    who: Who = "terminal"

    def __init__(self, prompt: Callable[[str], str]) -> None:
        self._prompt = prompt

    async def ask(self, question: ApprovalRequested) -> Answer:
        hint = f"type {question.phrase!r}" if question.phrase else "yes / no, or why not"
        said = (await self._typed(f"{question.question} [{hint}] ")).strip()
        if question.phrase:
            return Answer(said == question.phrase, "" if said == question.phrase else said)
        if said.casefold() in ("y", "yes"):
            return Answer(True)
        return Answer(False, "" if said.casefold() in ("", "n", "no") else said)

    async def _typed(self, text: str) -> str:
        """Reads in a daemon thread: one that waits for a line must not keep the process alive
        when the session is stopped meanwhile. The end of input is no answer, so it is a no."""
        loop = asyncio.get_running_loop()
        typed: asyncio.Future[str] = loop.create_future()

        def settle(line: str) -> None:
            if not typed.done():
                typed.set_result(line)

        def read() -> None:
            try:
                line = self._prompt(text)
            except EOFError:
                line = ""
            with contextlib.suppress(RuntimeError):  # the loop is gone: nobody waits any more
                loop.call_soon_threadsafe(settle, line)

        threading.Thread(target=read, name="asking", daemon=True).start()
        return await typed
