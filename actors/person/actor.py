"""The person answers the questions of a session: one effector for every checkpoint (E3)."""

from collections.abc import AsyncIterator
from typing import ClassVar

import anyio

from rutter.actors.answers import Answers, SeesPictures
from rutter.actors.person.question_window import QuestionWindow
from rutter.events.envelope import Actor, Envelope
from rutter.events.person import ApprovalAnswered, QuestionPictured
from rutter.events.validator import ApprovalRequested
from rutter.events.vocabulary import AnyEvent


class Person:
    """This effector hears a question when it is on disk, and reports the answer as a fact.

    With a limit, one that is not answered in time is answered with no; without, it is waited for.
    One that does not stand any more is not waited for either, and has no answer.
    """

    name: ClassVar[Actor] = "person"

    def __init__(
        self, answers: Answers, limit_ms: int = 0, window: QuestionWindow | None = None
    ) -> None:
        self._answers = answers
        self._limit_ms = limit_ms
        self._window = window
        self._asking = anyio.CancelScope()
        self._asked = ""
        self._voided: set[str] = set()

    async def handle(self, envelope: Envelope) -> AsyncIterator[AnyEvent]:
        question = envelope.event
        if not isinstance(question, ApprovalRequested):
            return
        if (shown := await self._shown(question)) is not None:
            yield shown
        by_hand = question.kind == "by_hand" and self._window is not None
        if by_hand and self._window is not None:
            await self._window.listened_to()
        answered = await self._unless_void(question)
        if answered is not None:
            yield answered
        if by_hand and self._window is not None and answered is not None and answered.approved:
            self._window.finish()

    async def _shown(self, question: ApprovalRequested) -> QuestionPictured | None:
        """What goes with the question, for whoever is there and can look at a picture."""
        answers, window = self._answers, self._window
        if window is None or answers.who == "nobody" or not isinstance(answers, SeesPictures):
            return None
        if question.approval in self._voided or not question.framed:
            return None
        picture = await window.picture(question)
        if picture is not None:
            answers.see(question, picture)
        return QuestionPictured(question.approval, picture)

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
            choice = answer.choice if question.choices else 0
            return ApprovalAnswered(
                question.approval,
                answer.approved,
                self._answers.who,
                answer.message,
                phrase,
                choice,
                answer.myself and question.window,
            )
        late = f"nobody answered within {self._limit_ms} ms: {question.question}"
        return ApprovalAnswered(question.approval, False, "nobody", late)

    def failed(self, envelope: Envelope, error: Exception) -> AnyEvent | None:
        if isinstance(envelope.event, ApprovalRequested):
            said = f"the question could not be asked: {error}"[:200]
            return ApprovalAnswered(envelope.event.approval, False, "nobody", said)
        return None
