"""What docs/tutorial.md says comes of its commands does, from an empty directory on."""

import socket
from pathlib import Path

import pytest

from tests.support.case_table import for_each
from tests.support.command_shell import check_logs
from tests.support.tutorial_terminal import TUTORIAL, Shell, Typed, environment, missing, typed

PORTS = ("8123", "8124")


def free_port() -> str:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return str(found.getsockname()[1])


@pytest.mark.browser
@pytest.mark.timeout(900)
def test_every_command_gives_what_it_says(tmp_path: Path) -> None:
    text = TUTORIAL.read_text(encoding="utf-8")
    for port in PORTS:
        text = text.replace(port, free_port())
    empty = tmp_path / "empty"
    empty.mkdir()
    with Shell(empty, environment(tmp_path)) as shell:
        for step in typed(text):
            code, seen = shell.enter(step)
            lacks = missing(step.shown, seen)
            assert not lacks, f"line {step.line}: {step.command}\nno line {lacks!r} in\n{seen}"
            failed = any(line.startswith("[FAIL]") for line in step.shown)
            assert (code != 0) == failed, f"line {step.line}: {step.command}: {code}\n{seen}"
    check_logs(tmp_path / ".local" / "share" / "rutter")


# -- the one who reads along -----------------------------------------------------------------------


def test_a_console_is_read_as_it_is_typed() -> None:
    page = """
words
```console
$ one
shown
  ...more
$ two <<END
> inside
> END
```
$ not a command
```sh
$ nor this
```
"""
    assert list(typed(page)) == [
        Typed(4, "one", ("shown", "  ...more")),
        Typed(7, "two <<END\ninside\nEND", ()),
    ]


@for_each(
    "shown, lacks",
    [
        (("a b", "d"), ""),
        (("a ...", "...d"), ""),
        (("...",), ""),
        (("d", "a b"), "a b"),  # the other way round is not as it is told
        (("a",), "a"),
        (("a b", "a b"), "a b"),
    ],
)
def test_what_is_promised_and_does_not_come_is_named(shown: tuple[str, ...], lacks: str) -> None:
    assert missing(shown, "a    b\r\nc\r\nd\r\n") == lacks


def test_what_stands_behind_a_question_is_typed() -> None:
    shown = ("Approve? [yes / no, or why not] no: not today", "Approve? [type 'confirm'] confirm")
    assert Typed(1, "x", shown).answers == ["no: not today", "confirm"]
    assert Typed(1, "x", ("[OK] done",)).answers == []
