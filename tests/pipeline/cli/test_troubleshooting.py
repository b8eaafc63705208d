"""docs/troubleshooting.md is made of the real messages: each is one that the program can say, and
whoever says one is in it."""

import ast
import re
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from typing import NamedTuple

from rutter.events import errors
from rutter.events.faults import faults
from tests.support.case_table import for_each

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "troubleshooting.md").read_text()
QUOTED = re.findall(r"^#### `(.+)`$", PAGE, re.MULTILINE)
ENDS = re.findall(r"^#### `(.+)`$", PAGE.partition("## Nothing is there yet")[0], re.MULTILINE)
# What is printed of runs that fail, held to what the program says by a test of its own.
FAILURES = (ROOT / "docs" / "failures.md").read_text()
RARE = PAGE.partition("## Rare ones")[2]
CLASS = re.compile(r"^class (\w+)\(([^)]*)\):", re.MULTILINE)
PACKAGES = ("events", "actors", "replay", "pipeline")


class Message(NamedTuple):
    """What an error of ours says, with a gap for each value; and the file that says it."""

    file: str
    says: str

    @property
    def pattern(self) -> str:
        return ".+".join(re.escape(part) for part in self.says.split("\0"))


@cache
def texts() -> dict[str, str]:
    files = (path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
    return {path.relative_to(ROOT).as_posix(): path.read_text() for path in files}


@cache
def error_names() -> frozenset[str]:
    """The tree of errors.py, and what grew on it elsewhere."""
    names = {name for name, each in vars(errors).items() if isinstance(each, type)}
    made = [each for text in texts().values() for each in re.findall(CLASS, text)]
    while (
        grown := {name for name, of in made if names.intersection(re.findall(r"\w+", of))} - names
    ):
        names |= grown
    return frozenset(names)


@cache
def messages() -> tuple[Message, ...]:
    """Only what calls an error is parsed: that is a third of the code."""
    called = re.compile(rf"\b(?:{'|'.join(sorted(error_names()))})\(")
    return tuple(
        Message(file, says)
        for file, text in texts().items()
        if called.search(text)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call) and _name(node.func) in error_names() and node.args
        for says in _says(node.args[0])
    )


def _name(node: ast.expr) -> str:
    return getattr(node, "id", getattr(node, "attr", ""))


def _says(node: ast.expr) -> list[str]:
    """What a first argument can be, as far as it is written there."""
    match node:
        case ast.Constant(value=str(text)):
            return [text]
        case ast.JoinedStr(values=parts):
            return ["".join(str(p.value) if isinstance(p, ast.Constant) else "\0" for p in parts)]
        case ast.BinOp(left=left, right=right):
            return [a + b for a in _says(left) for b in _says(right)]
        case ast.IfExp(body=body, orelse=orelse):
            return [*_says(body), *_says(orelse)]
        case _:
            return ["\0"]


def sayers(quoted: str) -> set[str]:
    """The files that can say this; a template of nothing but values could say anything."""
    return {
        each.file
        for each in messages()
        if len(each.says.replace("\0", "").strip()) > 4 and re.fullmatch(each.pattern, quoted)
    }


def test_the_messages_are_found_in_the_code() -> None:
    assert len(messages()) > 300
    assert {"LogFull", "ChromiumNotFound", "TokenUnsafe"} <= error_names()


@for_each("quoted", [each for each in QUOTED if each not in ENDS])
def test_what_is_quoted_is_really_said(quoted: str) -> None:
    assert sayers(quoted), "no error of ours says this any more: correct the page"


@for_each("quoted", ENDS)
def test_and_so_is_how_a_session_ended(quoted: str) -> None:
    assert quoted in FAILURES or quoted in {fault.words for fault in faults().codes.values()}


def test_whoever_says_something_is_on_the_page() -> None:
    """By one of its messages, or among the rare ones."""
    rare = re.findall(r"`([a-z_/]+(?:\*|\.py))`", RARE)
    quoted = set().union(*map(sayers, QUOTED))
    saying = {each.file for each in messages()} - {"events/errors.py"}
    missing = [
        file for file in sorted(saying - quoted) if not any(fnmatch(file, each) for each in rare)
    ]
    assert missing == [], "quote one of its messages in docs/troubleshooting.md, or list it as rare"


def test_nothing_is_listed_as_rare_that_is_not_there() -> None:
    for listed in re.findall(r"`([a-z_/]+(?:\*|\.py))`", RARE):
        assert any(fnmatch(each.file, listed) for each in messages()), listed


def test_every_message_has_what_to_do_below_it() -> None:
    sections = re.split(r"^#### ", PAGE.partition("## Rare ones")[0], flags=re.MULTILINE)[1:]
    assert len(sections) == len(QUOTED) > 40
    for section in sections:
        _, _, said = section.partition("\n\n")
        assert len(said.split("\n## ")[0].strip()) > 20, section
