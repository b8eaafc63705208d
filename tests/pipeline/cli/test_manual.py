"""What is said of commands is so: examples can be typed, the pages are of this parser."""

import re
import shlex
from pathlib import Path

import pytest

from rutter.pipeline.cli.completion import commands_of
from rutter.pipeline.cli.manual import pages
from rutter.pipeline.cli.parser import found, parser
from tests.support.command_shell import ROOT, Rutter

PAGES = ROOT / "docs" / "commands"
REDIRECTED = re.compile(r" 2?>.*$")
COMMENT = re.compile(r"\s{2,}(?=[^\s-]).*$")  # behind the command, two blanks away


def examples() -> list[str]:
    """Every line of a page that begins with `rutter`, its continuation behind it."""
    found = []
    for name, text in pages().items():
        _, _, shown = text.partition("\n## Examples\n")
        whole = re.sub(r"\s*\\\n\s*", " ", shown)
        lines = (line.strip() for line in whole.splitlines() if line.startswith("    rutter "))
        found += [f"{name}: {COMMENT.sub('', line)}" for line in lines]
    return found


def test_rutter_alone_says_what_to_do_first_and_help_lists_every_command_once(
    rutter: Rutter,
) -> None:
    alone = rutter()
    assert alone.code == 0, alone
    assert [line.split()[1] for line in alone.out.splitlines() if line.startswith("  rutter ")] == [
        "demo",
        "record",
        "run",
    ]
    listed = re.findall(r"^  ([a-z]+) {2,}\S", parser().format_help(), re.MULTILINE)
    assert sorted(listed) == sorted(name for name, _ in commands_of(parser()))


def test_every_example_can_be_typed() -> None:
    read = parser()
    for example in examples():
        _, _, line = example.partition(": ")
        options = read.parse_args(shlex.split(REDIRECTED.sub("", line))[1:])
        assert callable(found(*options.do.args)), example


def test_every_command_has_examples() -> None:
    for name, text in pages().items():
        if name != "README.md":
            assert f"rutter {name.removesuffix('.md')}" in text.split("## E")[1], name


def test_the_pages_are_those_of_this_parser() -> None:
    kept = {path.name: path.read_text(encoding="utf-8") for path in sorted(PAGES.glob("*.md"))}
    assert kept == pages(), "write them anew: python -m rutter.pipeline.cli.manual docs/commands"


def test_every_page_that_is_named_is_there() -> None:
    for name, text in pages().items():
        for link in re.findall(r"\]\(([^)#]+)\)", text):
            assert (PAGES / link).exists(), f"{name} names {link}"


def test_a_page_is_the_same_whatever_python_prints_as_help(monkeypatch: pytest.MonkeyPatch) -> None:
    before = pages()
    monkeypatch.setenv("COLUMNS", "40")
    assert pages() == before
    assert not any(str(Path.home()) in text for text in before.values())
