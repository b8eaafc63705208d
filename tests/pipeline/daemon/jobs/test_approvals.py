"""Questions that wait for a person: answered once, by whoever may, and void with their session."""

import anyio
import pytest

from rutter.actors.answers import PersonAnswer
from rutter.events.errors import BadInput
from rutter.events.page import Artifact
from rutter.events.validator import ApprovalRequested, Choice
from rutter.pipeline.daemon.jobs.approvals import NoSuchQuestion, Questions

pytestmark = pytest.mark.anyio

PAY = ApprovalRequested("for-4", 4, "policy", "Pay 12 EUR?", origin="https://shop.example")
LAST = ApprovalRequested("for-9", 9, "confirm", "Really?", phrase="confirm")


async def test_a_question_waits_until_it_is_answered_and_is_then_gone() -> None:
    questions, heard = Questions(), []

    async def ask() -> None:
        heard.append(await questions.of("run-1").ask(PAY))

    async with anyio.create_task_group() as group:
        group.start_soon(ask)
        await anyio.wait_all_tasks_blocked()
        [pending] = questions.pending()
        assert (pending.session, pending.approval, pending.question) == (
            "run-1",
            "for-4",
            "Pay 12 EUR?",
        )
        assert questions.pending("run-2") == ()
        questions.answer("run-1", "for-4", PersonAnswer(True, "it is mine"))
    assert heard == [PersonAnswer(True, "it is mine")]
    assert questions.pending() == ()
    with pytest.raises(NoSuchQuestion, match="no question 'for-4' that is open"):
        questions.answer("run-1", "for-4", PersonAnswer(True))


async def test_an_answer_counts_once_even_before_whoever_asked_has_heard_it() -> None:
    questions = Questions()
    async with anyio.create_task_group() as group:
        group.start_soon(questions.of("run-1").ask, PAY)
        await anyio.wait_all_tasks_blocked()
        questions.answer("run-1", "for-4", PersonAnswer(False))
        with pytest.raises(NoSuchQuestion):
            questions.answer("run-1", "for-4", PersonAnswer(True))


async def test_a_yes_that_must_be_typed_out_is_no_other_word_and_a_no_needs_none() -> None:
    questions = Questions()
    async with anyio.create_task_group() as group:
        group.start_soon(questions.of("run-1").ask, LAST)
        await anyio.wait_all_tasks_blocked()
        for phrase in ("", "yes", "Confirm"):
            with pytest.raises(BadInput, match="typed out: confirm"):
                questions.answer("run-1", "for-9", PersonAnswer(True, phrase=phrase))
        assert len(questions.pending()) == 1
        questions.answer("run-1", "for-9", PersonAnswer(False, "no"))


async def test_with_its_session_a_question_is_void() -> None:
    questions = Questions()
    async with anyio.create_task_group() as group:
        group.start_soon(questions.of("run-1").ask, PAY)
        await anyio.wait_all_tasks_blocked()
        group.cancel_scope.cancel()
    assert questions.pending() == ()
    with pytest.raises(NoSuchQuestion):
        questions.answer("run-1", "for-4", PersonAnswer(True))


WHICH = ApprovalRequested(
    "3.1", 3, "choice", "Which one?", choices=(Choice(1, "a"), Choice(2, "b")), window=True
)


async def test_a_yes_to_a_choice_says_which_one_it_is() -> None:
    questions, heard = Questions(), []

    async def ask() -> None:
        holder = questions.of("run-1")
        holder.see(WHICH, Artifact("a" * 64, 1))
        heard.append(await holder.ask(WHICH))

    async with anyio.create_task_group() as group:
        group.start_soon(ask)
        await anyio.wait_all_tasks_blocked()
        [pending] = questions.pending()
        assert (pending.picture, pending.choices) == ("a" * 64, WHICH.choices)
        for choice in (0, 3):
            with pytest.raises(BadInput, match="must say which element it is: 1, 2"):
                questions.answer("run-1", "3.1", PersonAnswer(True, choice=choice))
        questions.answer("run-1", "3.1", PersonAnswer(True, choice=2))
    assert heard == [PersonAnswer(True, choice=2)]
