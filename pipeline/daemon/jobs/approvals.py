"""A question waits for a person until somebody answers or its session is over. An answer is
single-use, and is given under the person's own token."""

import asyncio

import msgspec

from rutter.actors.answers import PersonAnswer, Who
from rutter.events.errors import BadInput
from rutter.events.page import Artifact
from rutter.events.runtime import SessionStarted
from rutter.events.validator import ApprovalRequested, Choice


class NoSuchQuestion(BadInput):
    """Nobody asks that, or not any more."""

    code = "no_such_question"


class PendingQuestion(msgspec.Struct, frozen=True):
    """A person is asked this, as the log has it. `phrase` must be typed out for a yes;
    `maybe_done_by` is the step that may have done it already, 0 where none may. A yes to `choices`
    says which of them it is, by its number; with a `window` it may also be done there by oneself.
    `picture` is the artifact that shows what it is about. `workflow` is run with these `values`.
    """

    session: str
    approval: str
    kind: str
    question: str
    origin: str = ""
    phrase: str = ""
    step: int = 0
    maybe_done_by: int = 0
    choices: tuple[Choice, ...] = ()
    window: bool = False
    picture: str = ""
    workflow: str = ""
    values: dict[str, str] = {}


def pending(
    session: str,
    asked: ApprovalRequested,
    picture: Artifact | None = None,
    started: SessionStarted | None = None,
) -> PendingQuestion:
    return PendingQuestion(
        session=session,
        approval=asked.approval,
        kind=asked.kind,
        question=asked.question,
        origin=asked.origin,
        phrase=asked.phrase,
        step=asked.step,
        maybe_done_by=asked.maybe_done_by,
        choices=asked.choices,
        window=asked.window,
        picture=picture.sha256 if picture is not None else "",
        workflow=started.name if started is not None else "",
        values=started.values if started is not None else {},
    )


class Questions:
    """Questions are pending here. `of` is the person of one session, as the pipeline asks one."""

    def __init__(self) -> None:
        self._pending: dict[
            tuple[str, str], tuple[PendingQuestion, asyncio.Future[PersonAnswer]]
        ] = {}

    def of(self, session: str, started: SessionStarted | None = None) -> "TokenHolder":
        return TokenHolder(self, session, started)

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
        if answer.approved and question.kind == "choice":
            _check_choice(question, answer)
        waiting.set_result(answer)
        return question

    async def wait(self, question: PendingQuestion) -> PersonAnswer:
        key = question.session, question.approval
        waiting: asyncio.Future[PersonAnswer] = asyncio.get_running_loop().create_future()
        self._pending[key] = question, waiting
        try:
            return await waiting
        finally:
            del self._pending[key]


def _check_choice(question: PendingQuestion, answer: PersonAnswer) -> None:
    numbers = [each.number for each in question.choices]
    if answer.choice in numbers or (answer.myself and question.window):
        return
    named = ", ".join(map(str, numbers)) or "none is shown"
    myself = ', or "myself": true' if question.window else ""
    raise BadInput(
        f"a yes to this must say which element it is: {named}",
        f'send "choice": NUMBER{myself}; or "approved": false, if it is none of them',
    )


class TokenHolder:
    """The holder of the person's token answers for one session."""

    who: Who = "daemon"

    def __init__(
        self, questions: Questions, session: str, started: SessionStarted | None = None
    ) -> None:
        self._questions = questions
        self._session = session
        self._started = started
        self._pictures: dict[str, Artifact] = {}

    def see(self, question: ApprovalRequested, picture: Artifact) -> None:
        self._pictures[question.approval] = picture

    async def ask(self, question: ApprovalRequested) -> PersonAnswer:
        picture = self._pictures.pop(question.approval, None)
        return await self._questions.wait(pending(self._session, question, picture, self._started))
