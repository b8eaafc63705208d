"""A question waits for a person until somebody answers or its session is over. An answer is
single-use, and is given under the person's own token."""

import asyncio

import msgspec

from rutter.actors.answers import PersonAnswer, Who
from rutter.events.errors import BadInput
from rutter.events.validator import ApprovalRequested


class NoSuchQuestion(BadInput):
    """Nobody asks that, or not any more."""

    code = "no_such_question"


class PendingQuestion(msgspec.Struct, frozen=True):
    """A person is asked this, as the log has it. `phrase` must be typed out for a yes;
    `maybe_done_by` is the step that may have done it already, 0 where none may."""

    session: str
    approval: str
    kind: str
    question: str
    origin: str = ""
    phrase: str = ""
    step: int = 0
    maybe_done_by: int = 0


class Questions:
    """Questions are pending here. `of` is the person of one session, as the pipeline asks one."""

    def __init__(self) -> None:
        self._pending: dict[
            tuple[str, str], tuple[PendingQuestion, asyncio.Future[PersonAnswer]]
        ] = {}

    def of(self, session: str) -> "TokenHolder":
        return TokenHolder(self, session)

    def pending(self, session: str = "") -> tuple[PendingQuestion, ...]:
        """Oldest first."""
        asked = [question for question, _ in self._pending.values()]
        return tuple(each for each in asked if session in ("", each.session))

    def answer(self, session: str, approval: str, answer: PersonAnswer) -> PendingQuestion:
        """Raises `NoSuchQuestion` for one that was answered already, or is void."""
        found = self._pending.get((session, approval))
        if found is None or found[1].done():
            raise NoSuchQuestion(
                f"session {session!r} has no question {approval!r} that is open",
                "see GET /approvals for those that are",
            )
        question, waiting = found
        if answer.approved and question.phrase and answer.phrase != question.phrase:
            raise BadInput(
                f"a yes to this must be typed out: {question.phrase}",
                f'send "phrase": "{question.phrase}"',
            )
        waiting.set_result(answer)
        return question

    async def wait(self, session: str, asked: ApprovalRequested) -> PersonAnswer:
        key = session, asked.approval
        waiting: asyncio.Future[PersonAnswer] = asyncio.get_running_loop().create_future()
        of = (asked.approval, asked.kind, asked.question, asked.origin, asked.phrase, asked.step)
        question = PendingQuestion(session, *of, asked.maybe_done_by)
        self._pending[key] = question, waiting
        try:
            return await waiting
        finally:
            del self._pending[key]


class TokenHolder:
    """The holder of the person's token answers for one session."""

    who: Who = "daemon"

    def __init__(self, questions: Questions, session: str) -> None:
        self._questions = questions
        self._session = session

    async def ask(self, question: ApprovalRequested) -> PersonAnswer:
        return await self._questions.wait(self._session, question)
