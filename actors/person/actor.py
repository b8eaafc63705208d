"""The person answers the questions of a session: one effector for every checkpoint (E3)."""

from collections.abc import AsyncIterator
from typing import ClassVar

import anyio

from rutter.actors.answers import Answers
from rutter.events.envelope import Actor, Envelope
from rutter.events.person import ApprovalAnswered
from rutter.events.validator import ApprovalRequested
from rutter.events.vocabulary import AnyEvent


class Person:
    """This effector hears a question when it is on disk, and reports the answer as a fact.

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
