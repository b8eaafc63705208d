"""What a run still needs is asked for at a terminal by its name, and refused without one."""

import pytest

from rutter.events.errors import BadInput
from rutter.pipeline.sessions.attendant import NOBODY, Attendant, ask_unbound
from tests.support import scripted_logs
from tests.support.command_shell import Rutter
from tests.support.recorded_site import AtTerminal
from tests.support.shop_facts import click, step, workflow

FLOW = workflow(step(click()), parameters=("customer", "note"), secrets=("pin",))


class Seat:
    """Somebody who answers as they are asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.who = Attendant(self.ask, self.ask_secret)

    def ask(self, question: str) -> str:
        self.asked.append(question)
        return f"told {len(self.asked)}"

    def ask_secret(self, question: str) -> str:
        self.asked.append(question)
        return "hush"


def test_only_what_is_missing_is_asked_for() -> None:
    seat = Seat()
    values, secrets = ask_unbound(FLOW, {"customer": "Ann"}, {}, seat.who)

    assert (values, secrets) == ({"customer": "Ann", "note": "told 1"}, {"pin": "hush"})
    assert seat.asked == ["note: ", "pin (secret): "]


def test_nothing_is_asked_for_when_everything_is_there() -> None:
    seat = Seat()
    bound = ({"customer": "Ann", "note": ""}, {"pin": "0"})

    assert ask_unbound(FLOW, *bound, seat.who) == bound
    assert seat.asked == []


def test_with_nobody_there_nobody_is_asked() -> None:
    assert ask_unbound(FLOW, {}, {}, NOBODY) == ({}, {})


def test_a_misspelt_name_is_refused_before_anything_is_asked() -> None:
    seat = Seat()

    assert ask_unbound(FLOW, {"custmer": "Ann"}, {}, seat.who) == ({"custmer": "Ann"}, {})
    assert seat.asked == []


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
