"""Given a question: who answers it, and what is on record as the answer."""

from queue import Queue

import anyio
import anyio.to_thread
import pytest

from rutter.actors.answers import Answers, Nobody, PersonAnswer, ScriptedPerson, TerminalPerson, Who
from rutter.actors.person.actor import Person
from rutter.events.critic import PageAssessed
from rutter.events.envelope import Envelope
from rutter.events.person import ApprovalAnswered
from rutter.events.validator import ApprovalRequested, Choice
from rutter.events.vocabulary import AnyEvent
from tests.support.case_table import for_each

pytestmark = pytest.mark.anyio

QUESTION = ApprovalRequested("1.1.1", 1, "policy", "click 'Buy': it sends a form. Approve?")


def heard(event: AnyEvent) -> Envelope:
    return Envelope(1, "s", 1, 1, "validator", 0, event, b"")


async def answered(answers: Answers, question: AnyEvent = QUESTION) -> list[AnyEvent]:
    return [fact async for fact in Person(answers).handle(heard(question))]


def typing(text: str) -> tuple[TerminalPerson, list[str]]:
    """A person at a terminal who types `text`, and what they were shown."""
    shown: list[str] = []

    def prompt(question: str) -> str:
        shown.append(question)
        return text

    return TerminalPerson(prompt), shown


async def test_nobody_says_no_and_says_so() -> None:
    assert await answered(Nobody()) == [
        ApprovalAnswered(
            "1.1.1", False, "nobody", f"no person is here to answer: {QUESTION.question}"
        )
    ]


async def test_a_scripted_person_is_recorded_as_scripted() -> None:
    assert await answered(ScriptedPerson([PersonAnswer(True)])) == [
        ApprovalAnswered("1.1.1", True, "scripted")
    ]


async def test_a_scripted_person_answers_in_order_and_then_says_no() -> None:
    person = ScriptedPerson([PersonAnswer(True), PersonAnswer(False, "enough")])
    answers = [await person.ask(QUESTION) for _ in range(3)]
    assert answers == [
        PersonAnswer(True),
        PersonAnswer(False, "enough"),
        PersonAnswer(False, "the scripted person has no more answers"),
    ]
    assert person.asked == [QUESTION] * 3


async def test_a_scripted_person_may_have_an_answer_to_everything() -> None:
    person = ScriptedPerson(otherwise=PersonAnswer(True))
    assert [await person.ask(QUESTION) for _ in range(2)] == [PersonAnswer(True)] * 2


@for_each("typed", ["y", "yes", "YES", "  Yes \n"])
async def test_at_the_terminal_only_a_typed_yes_is_a_yes(typed: str) -> None:
    person, _ = typing(typed)
    assert await answered(person) == [ApprovalAnswered("1.1.1", True, "terminal")]


@for_each(
    "typed, message",
    [("", ""), ("n", ""), ("No", ""), ("yess", "yess"), ("wrong customer", "wrong customer")],
)
async def test_at_the_terminal_anything_else_is_a_no_and_may_say_why(
    typed: str, message: str
) -> None:
    person, _ = typing(typed)
    assert await answered(person) == [ApprovalAnswered("1.1.1", False, "terminal", message)]


async def test_the_terminal_shows_the_question_and_how_to_answer() -> None:
    person, shown = typing("no")
    await person.ask(QUESTION)
    assert shown == [f"{QUESTION.question} [yes / no, or why not] "]


@for_each(
    "typed, answer",
    [
        ("confirm", PersonAnswer(True, phrase="confirm")),
        (" confirm ", PersonAnswer(True, phrase="confirm")),
        ("no", PersonAnswer(False, "no")),
        ("Confirm", PersonAnswer(False, "Confirm")),
    ],
)
async def test_a_phrase_must_be_typed_as_it_stands(typed: str, answer: PersonAnswer) -> None:
    person, shown = typing(typed)
    final = ApprovalRequested("2.1.1", 2, "confirm", "Cancel it for good?", phrase="confirm")
    assert await person.ask(final) == answer
    assert shown == ["Cancel it for good? [type 'confirm'] "]


CHOICES = (Choice(1, 'the button "Save changes"', asks="it sends a form"), Choice(2, "a link"))


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        ("1", PersonAnswer(True, choice=1)),
        (" 2 ", PersonAnswer(True, choice=2)),
        ("me", PersonAnswer(True, myself=True)),
        ("none", PersonAnswer(False)),
        ("", PersonAnswer(False)),
        ("3", PersonAnswer(False, "3")),
    ],
)
async def test_at_the_terminal_a_choice_is_a_number_none_or_oneself(
    typed: str, answer: PersonAnswer
) -> None:
    shown: list[str] = []
    person = TerminalPerson(lambda _: typed, shown.append)
    lost = ApprovalRequested("3.1", 3, "choice", "Which?", choices=CHOICES, window=True)
    assert await person.ask(lost) == answer
    assert shown == ['  1  the button "Save changes"  (it sends a form)', "  2  a link"]


async def test_a_yes_to_a_choice_is_asked_which_one() -> None:
    typed = {"Which? [1, 2, none] ": "yes", "Which one? [1, 2, none] ": "1"}
    lost = ApprovalRequested("3.1", 3, "choice", "Which?", choices=CHOICES)
    assert await TerminalPerson(typed.__getitem__).ask(lost) == PersonAnswer(True, choice=1)


async def test_what_is_no_question_is_not_answered() -> None:
    assert await answered(Nobody(), PageAssessed()) == []


async def test_a_question_that_cannot_be_asked_is_answered_with_no() -> None:
    person = Person(Nobody())
    assert person.failed(heard(QUESTION), EOFError("the terminal is closed")) == ApprovalAnswered(
        "1.1.1", False, "nobody", "the question could not be asked: the terminal is closed"
    )
    assert person.failed(heard(PageAssessed()), EOFError()) is None


class Silent:
    """Somebody who is there and says nothing."""

    who: Who = "terminal"

    async def ask(self, question: ApprovalRequested) -> PersonAnswer:
        await anyio.sleep_forever()
        raise AssertionError


async def test_a_question_that_nobody_answers_in_time_is_answered_with_no() -> None:
    [answer] = [fact async for fact in Person(Silent(), limit_ms=1).handle(heard(QUESTION))]
    assert answer == ApprovalAnswered(
        "1.1.1", False, "nobody", f"nobody answered within 1 ms: {QUESTION.question}"
    )


async def test_an_answer_in_time_is_taken_as_it_is() -> None:
    person = Person(ScriptedPerson([PersonAnswer(True)]), limit_ms=60_000)
    assert [fact async for fact in person.handle(heard(QUESTION))] == [
        ApprovalAnswered("1.1.1", True, "scripted")
    ]


async def test_what_is_typed_to_a_question_that_is_over_answers_none() -> None:
    lines: Queue[str] = Queue()
    shown: Queue[str] = Queue()

    def prompt(question: str) -> str:
        shown.put(question)
        return lines.get(timeout=10)

    terminal = TerminalPerson(prompt)
    with anyio.move_on_after(0.01):
        await terminal.ask(QUESTION)  # nobody is there yet
    assert shown.get(timeout=10).startswith(QUESTION.question)
    other = ApprovalRequested("2.1.2", 2, "policy", "click 'Delete'. Approve?")
    async with anyio.create_task_group() as group:
        answers: list[PersonAnswer] = []

        async def ask() -> None:
            answers.append(await terminal.ask(other))

        group.start_soon(ask)
        lines.put("yes")  # late, and meant for the first
        assert (
            await anyio.to_thread.run_sync(shown.get) == f"{other.question} [yes / no, or why not] "
        )
        lines.put("no")
    assert answers == [PersonAnswer(False)]


async def test_a_yes_where_the_phrase_is_wanted_is_asked_for_once_more() -> None:
    lines = iter(["yes", "confirm"])
    shown: list[str] = []

    def prompt(question: str) -> str:
        shown.append(question)
        return next(lines)

    final = ApprovalRequested("2.1.1", 2, "confirm", "Cancel it for good?", phrase="confirm")
    assert await TerminalPerson(prompt).ask(final) == PersonAnswer(True, phrase="confirm")
    assert shown[1] == "A yes is not enough here. [type 'confirm'] "


class Ponders:
    """Somebody who was asked, and takes their time."""

    who: Who = "terminal"

    def __init__(self) -> None:
        self.asked = anyio.Event()

    async def ask(self, question: ApprovalRequested) -> PersonAnswer:
        self.asked.set()
        await anyio.Event().wait()
        raise AssertionError("nobody answered")


async def test_a_question_that_does_not_stand_any_more_is_not_waited_for() -> None:
    person = Person(somebody := Ponders())
    said: list[AnyEvent] = []

    async def ask() -> None:
        said.extend([fact async for fact in person.handle(heard(QUESTION))])

    async with anyio.create_task_group() as group:
        group.start_soon(ask)
        await somebody.asked.wait()
        person.void("another")
        person.void("1.1.1")
    assert said == []
    await ask()
    assert said == [], "nor is one that is void before it could be asked"
