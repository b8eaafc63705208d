"""Answers come from whoever is asked at a checkpoint (E3): a terminal, a script, or nobody."""

import asyncio
import contextlib
import threading
from collections.abc import Callable, Sequence
from typing import Literal, Protocol, runtime_checkable

import msgspec

from rutter.events.page import Artifact
from rutter.events.validator import ApprovalRequested, Choice

Who = Literal["terminal", "scripted", "daemon", "nobody"]


class PersonAnswer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A person says yes or no, and why; of several elements which one it is, by its number, or that
    they do it themselves."""

    approved: bool
    message: str = ""
    phrase: str = ""
    choice: int = 0
    myself: bool = False


class Answers(Protocol):
    """Answers come from a person, or in place of one. Waiting for them has no time limit."""

    @property
    def who(self) -> Who: ...

    async def ask(self, question: ApprovalRequested) -> PersonAnswer: ...


@runtime_checkable
class SeesPictures(Protocol):
    """Whoever sees pictures is shown what a question is about, before they are asked."""

    def see(self, question: ApprovalRequested, picture: Artifact) -> None: ...


class Nobody:
    """Nobody is there: every question is answered with no, and the run says so."""

    who: Who = "nobody"

    async def ask(self, question: ApprovalRequested) -> PersonAnswer:
        return PersonAnswer(False, f"no person is here to answer: {question.question}")


class ScriptedPerson:
    """A scripted person answers from a list, for the demo and tests; it is recorded as scripted."""

    who: Who = "scripted"

    def __init__(
        self, answers: Sequence[PersonAnswer] = (), *, otherwise: PersonAnswer | None = None
    ) -> None:
        self._answers = list(answers)
        self._otherwise = otherwise or PersonAnswer(
            False, "the scripted person has no more answers"
        )
        self.asked: list[ApprovalRequested] = []

    async def ask(self, question: ApprovalRequested) -> PersonAnswer:
        self.asked.append(question)
        return self._answers.pop(0) if self._answers else self._otherwise


class TerminalPerson:
    """A person answers at the terminal. Only a typed yes is one; a phrase must be typed as it
    stands.

    A line is read in a daemon thread: one that waits for it must not keep the process alive when
    the session is stopped meanwhile. There is one reader at a time; what is typed to a question
    that is over answers none. The end of input is no answer, so it is a no.
    """

    who: Who = "terminal"

    def __init__(
        self, prompt: Callable[[str], str], tell: Callable[[str], object] = lambda _: None
    ) -> None:
        self._prompt = prompt
        self._tell = tell
        self._reading: asyncio.Future[None] | None = None

    async def ask(self, question: ApprovalRequested) -> PersonAnswer:
        if question.kind == "choice":
            return await self.pick(question.question, question.choices, window=question.window)
        return await self.put(question.question, question.phrase)

    async def pick(
        self, question: str, choices: Sequence[Choice], *, window: bool = False
    ) -> PersonAnswer:
        """Which of these it is, by its number; none of them; or that they do it themselves."""
        for each in choices:
            self._tell(f"  {each.number}  {each.words}{f'  ({each.asks})' if each.asks else ''}")
        numbers = [str(each.number) for each in choices]
        hint = ", ".join((*numbers, "none", *(["me = you do it in the window"] * window)))
        said = (await self._typed(f"{question} [{hint}] ")).strip()
        if said.casefold() in ("y", "yes"):
            said = (await self._typed(f"Which one? [{hint}] ")).strip()
        if said in numbers:
            return PersonAnswer(True, choice=int(said))
        if window and said.casefold() in ("me", "myself"):
            return PersonAnswer(True, myself=True)
        return PersonAnswer(False, "" if said.casefold() in ("", "n", "no", "none") else said)

    async def put(self, question: str, phrase: str = "") -> PersonAnswer:
        """Any question; `phrase` is what must be typed out for a yes."""
        hint = f"type {phrase!r}" if phrase else "yes / no, or why not"
        said = (await self._typed(f"{question} [{hint}] ")).strip()
        if phrase and said.casefold() in ("y", "yes"):  # meant so, but not typed out
            said = (await self._typed(f"A yes is not enough here. [{hint}] ")).strip()
        if phrase:
            typed_out = said == phrase
            return PersonAnswer(typed_out, "" if typed_out else said, said if typed_out else "")
        if said.casefold() in ("y", "yes"):
            return PersonAnswer(True)
        return PersonAnswer(False, "" if said.casefold() in ("", "n", "no") else said)

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
