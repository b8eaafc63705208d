"""What a run still needs is asked for at a terminal by its name, and refused without one."""

from collections.abc import Callable

import pytest

from rutter.events.errors import BadInput
from rutter.pipeline.sessions.attendant import NOBODY, Attendant, ask_unbound
from tests.support import scripted_logs
from tests.support.case_table import for_each
from tests.support.command_shell import Rutter
from tests.support.recorded_site import AtTerminal
from tests.support.shop_facts import click, step, workflow

FLOW = workflow(step(click()), parameters=("customer", "note"), secrets=("pin",))
Values = dict[str, str]


@for_each(
    "values, secrets, added, asked",
    [
        (
            {"customer": "Ann"},
            {},
            ({"note": "told"}, {"pin": "hush"}),
            ["note: ", "pin (secret): "],
        ),
        ({"customer": "Ann", "note": ""}, {"pin": "0"}, ({}, {}), []),
        ({"custmer": "Ann"}, {}, ({}, {}), []),  # misspelt: refused before anything is asked
    ],
)
def test_only_what_is_missing_is_asked_for(
    values: Values, secrets: Values, added: tuple[Values, Values], asked: list[str]
) -> None:
    heard: list[str] = []

    def answers(said: str) -> Callable[[str], str]:
        def answer(question: str) -> str:
            heard.append(question)
            return said

        return answer

    who = Attendant(answers("told"), answers("hush"))
    assert ask_unbound(FLOW, values, secrets, who) == (values | added[0], secrets | added[1])
    assert heard == asked
    assert ask_unbound(FLOW, values, secrets, NOBODY) == (values, secrets), "nobody is there"


def test_whoever_leaves_without_an_answer_is_told_what_was_missing() -> None:
    def leave(_: str) -> str:
        raise EOFError

    with pytest.raises(BadInput, match="it needs customer; type it"):
        ask_unbound(FLOW, {}, {}, Attendant(leave))


def test_a_person_at_a_terminal_is_asked_by_name(rutter: Rutter) -> None:
    scripted_logs.keep_locked(rutter.data / "log.db")
    with AtTerminal(rutter, "run", "sign-in") as terminal:
        terminal.read_until("user: ")
        terminal.type("Ann\n")
        terminal.read_until("pin (secret): ")
        terminal.type("\x04")  # the end of what there is to type
        terminal.read_until("it needs pin")
        code, _ = terminal.end()

    assert code == 2
