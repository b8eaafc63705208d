"""What people see and machines read: results on stdout, the rest on stderr, ASCII everywhere."""

import json
import os
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from io import BytesIO, StringIO, TextIOWrapper
from typing import NamedTuple

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rutter.events.envelope import Envelope
from rutter.events.errors import BadInput, LogForeign
from rutter.events.predictor import PredictionMade, Within
from rutter.events.vocabulary import AnyEvent
from rutter.pipeline.cli.terminal import RunProgress, Terminal
from tests.support import shop_facts

TRICKY = ":warning: [bold]b[/bold] [/] \\[x] \\\\[y] {z} [link=http://x]l[/link]"


class Written(NamedTuple):
    out: str
    err: str


class Tty(StringIO):
    def isatty(self) -> bool:
        return True


def written(do: Callable[[Terminal], object], **options: bool) -> Written:
    """What comes out on streams that take cp1252 and nothing else."""
    raw = BytesIO(), BytesIO()
    out, err = (TextIOWrapper(each, "cp1252", errors="strict", newline="\n") for each in raw)
    with redirect_stdout(out), redirect_stderr(err):
        do(Terminal(**options))
    out.flush()
    err.flush()
    return Written(*(each.getvalue().decode("cp1252") for each in raw))


def test_a_result_goes_to_stdout_and_a_note_to_stderr() -> None:
    def both(terminal: Terminal) -> None:
        terminal.say("done")
        terminal.note("by the way")

    assert written(both) == ("done\n", "by the way\n")


def test_nothing_is_said_to_people_where_machines_read() -> None:
    assert written(lambda terminal: terminal.say("done"), as_json=True) == ("", "")


def test_lines_are_said_one_by_one() -> None:
    assert written(lambda terminal: terminal.say("\none\ntwo")).out == "\none\ntwo\n"


def test_a_long_line_stays_one_line() -> None:
    long = " ".join(["word"] * 300)

    assert written(lambda terminal: terminal.say(long)).out == f"{long}\n"
    assert written(lambda terminal: terminal.note(long)).err == f"{long}\n"


def test_nothing_in_a_text_is_taken_for_markup_or_emoji() -> None:
    assert written(lambda terminal: terminal.say(TRICKY)).out == f"{TRICKY}\n"
    assert written(lambda terminal: terminal.note(TRICKY)).err == f"{TRICKY}\n"


@given(st.text())
@example(TRICKY)
@example("\x1b[2J\u202e\x9b\u2028\U0001f6a2\r\b")
def test_any_text_comes_out_as_printable_ascii(text: str) -> None:
    def all_ways(terminal: Terminal) -> None:
        terminal.say(text.replace("\n", " "))
        terminal.table(("what",), [(text,)])
        terminal.note(text)

    out, err = written(all_ways)
    for line in (*out.split("\n"), *err.split("\n")):
        assert line.isascii()
        assert line.isprintable()
    assert err.count("\n") == 1


class Thing(msgspec.Struct, omit_defaults=True):
    name: str
    count: int = 0


@given(st.text(st.characters(exclude_categories=["Cs"])))
@example(TRICKY)
def test_json_is_one_line_of_ascii_that_reads_back_the_same(text: str) -> None:
    value = {"text": text, "things": [Thing(text, 3), Thing(text)]}
    out = written(lambda terminal: terminal.json(value), as_json=True).out

    assert out.isascii()
    assert out.count("\n") == 1
    things = [{"name": text, "count": 3}, {"name": text}]
    assert json.loads(out) == {"text": text, "things": things}


def test_an_error_is_one_line_that_says_what_is_wrong_and_what_to_do() -> None:
    error = LogForeign("log.db has log format 2\nand more", "use the version that wrote it")

    assert written(lambda terminal: terminal.error(error)) == (
        "",
        "rutter: log.db has log format 2\\nand more -> use the version that wrote it\n",
    )
    assert written(lambda terminal: terminal.error(BadInput("no"))).err == "rutter: no\n"


def test_an_error_is_json_too_where_machines_read() -> None:
    out, err = written(lambda terminal: terminal.error(BadInput("no", "yes")), as_json=True)

    assert json.loads(out) == {"error": "BadInput", "what": "no", "fix": "yes"}
    assert err == "rutter: no -> yes\n"


def test_a_table_has_its_columns_aligned_and_numbers_to_the_right() -> None:
    rows = [("order", "7", "1.25"), ("a longer name", "12", "10.5")]
    out = written(lambda terminal: terminal.table(("name", "steps", "took"), rows)).out

    assert [line.rstrip() for line in out.splitlines()] == [
        "name           steps  took",
        "order              7  1.25",
        "a longer name     12  10.5",
    ]


def test_a_cell_is_shown_as_it_is() -> None:
    out = written(lambda terminal: terminal.table(("what",), [(TRICKY,)])).out

    assert out.splitlines()[1].rstrip() == TRICKY


def test_a_table_without_rows_is_its_head() -> None:
    assert written(lambda terminal: terminal.table(("a", "b"), [])).out.split() == ["a", "b"]


def test_piped_tables_are_not_folded_to_a_width_that_nobody_looks_at() -> None:
    row = ["x" * 90, "y" * 90]
    out = written(lambda terminal: terminal.table(("one", "two"), [row])).out

    assert len(out.splitlines()) == 2


# -- questions -------------------------------------------------------------------------------------


@pytest.fixture
def keyboard(monkeypatch: pytest.MonkeyPatch) -> Iterator[TextIOWrapper]:
    """What is written here is typed on stdin."""
    reading, writing = os.pipe()
    with os.fdopen(reading) as stdin, os.fdopen(writing, "w") as keys:
        monkeypatch.setattr("sys.stdin", stdin)
        yield keys


def test_a_question_is_asked_on_stderr(keyboard: TextIOWrapper) -> None:
    answers: list[str] = []

    def ask(terminal: Terminal) -> None:
        for typed in ("yes please\n", "\n", "d'accord \u2713\n"):
            keyboard.write(typed)
            keyboard.flush()
            answers.append(terminal.ask("caf\xe9 [x]? "))

    out, err = written(ask)
    assert answers == ["yes please", "", "d'accord \u2713"]
    assert (out, err) == ("", "caf\\xe9 [x]? " * 3)


def test_the_end_of_input_is_no_answer(keyboard: TextIOWrapper) -> None:
    keyboard.close()
    with pytest.raises(EOFError):
        written(lambda terminal: terminal.ask("? "))


def test_a_last_line_without_its_end_is_an_answer(keyboard: TextIOWrapper) -> None:
    keyboard.write("no")
    keyboard.close()
    answers: list[str] = []
    written(lambda terminal: answers.append(terminal.ask("? ")))

    assert answers == ["no"]


def test_nobody_is_there_without_a_terminal() -> None:
    seen: list[bool] = []
    written(lambda terminal: seen.append(terminal.interactive))

    assert seen == [False]


def test_a_secret_is_not_asked_for_where_nobody_can_type_it() -> None:
    with pytest.raises(BadInput) as refused:
        written(lambda terminal: terminal.ask_secret("password: "))

    assert "env:VARIABLE or file:PATH" in refused.value.fix


# -- progress --------------------------------------------------------------------------------------


def hear(terminal: Terminal, *events: AnyEvent) -> None:
    with RunProgress(terminal, what="sailing order") as progress:
        for n, event in enumerate(events, 1):
            progress.hear(Envelope(n, "run-1", n, n, "runtime", n - 1, event, bytes(32)))
        with progress.still():
            pass


START = shop_facts.run_of(shop_facts.workflow(*[shop_facts.step(shop_facts.click())] * 19))
PLAN = shop_facts.plan(shop_facts.click("#\u2713"), number=7)


def test_a_pipe_sees_no_progress() -> None:
    assert written(lambda terminal: hear(terminal, START, PLAN)) == ("", "")


def test_every_phase_is_told_on_stderr_when_asked_for() -> None:
    out, err = written(lambda terminal: hear(terminal, START, PLAN), verbose=True)

    assert out == ""
    assert err.splitlines() == ["PHASE 1: PLAN", "click #\\u2713 (because)"]


def on_a_terminal(monkeypatch: pytest.MonkeyPatch, *events: AnyEvent) -> Written:
    monkeypatch.setenv("TERM", "xterm")
    out, err = StringIO(), Tty()
    with redirect_stdout(out), redirect_stderr(err):
        hear(Terminal(), *events)
    return Written(out.getvalue(), err.getvalue())


def test_a_terminal_sees_where_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    out, err = on_a_terminal(monkeypatch, START, PLAN)

    assert out == ""
    assert "sailing order  7/19  click #\u2713" in err


def test_a_line_that_is_said_stands_where_the_moving_line_is_gone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Both streams of one terminal: what it shows is what was written in order."""
    monkeypatch.setenv("TERM", "xterm")
    one = Tty()
    with redirect_stdout(one), redirect_stderr(one):
        terminal = Terminal()
        with RunProgress(terminal, what="watching order"):
            terminal.say("work in the window")
    before, said, _ = one.getvalue().partition("work in the window")
    assert said
    moved = before.rpartition("watching order")[2]
    assert "\x1b[2K" in moved, repr(before)  # the line is erased before it is written over


@pytest.mark.parametrize(("tty", "shown"), [(Tty, "\x1b[32m[OK]\x1b[0m it"), (StringIO, "[OK] it")])
def test_what_went_well_is_in_colour_where_there_are_colours(
    monkeypatch: pytest.MonkeyPatch, tty: type[StringIO], shown: str
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    out = tty()
    with redirect_stdout(out):
        Terminal().say("[OK] it")
    assert out.getvalue() == f"{shown}\n"


def test_a_step_is_counted_by_its_place_and_a_look_elsewhere_has_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    look = shop_facts.plan(shop_facts.go_to("/orders"), number=8, read_back_of=7)
    after = shop_facts.plan(shop_facts.click("#next"), number=9, index=7)
    shown = on_a_terminal(monkeypatch, START, PLAN, look).err

    assert "sailing order  8  go to https://shop.example/orders" in shown
    assert "sailing order  8/19  click #next" in on_a_terminal(monkeypatch, START, after).err


@pytest.mark.parametrize("name", ["[/b]", '[data-testid="buy"]', ":ship:", "[bold]", "\\[/x]"])
def test_a_page_cannot_break_the_moving_line(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    plan = shop_facts.plan(shop_facts.click(name), number=2)
    shown = on_a_terminal(monkeypatch, START, plan).err

    assert f"sailing order  2/19  click {name}" in shown
    assert shown.isascii()


def test_a_free_run_shows_which_workflow_it_seems_to_follow(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def seems(probability: int) -> str:
        within = (Within("order\u2713", 1, 3, 7, probability),)
        predicted = PredictionMade("foresight", 0, within=within)
        plan = shop_facts.plan(shop_facts.click("#next"), "prediction", number=4)
        return on_a_terminal(monkeypatch, shop_facts.free_run(), predicted, plan).err

    assert "sailing order  4  click #next  (as in order\u2713)" in seems(800_000)
    assert "as in" not in seems(400_000)
