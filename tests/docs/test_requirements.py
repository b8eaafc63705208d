"""docs/requirements.md says what each id asks that a comment, a test or a document cites."""

import re
from collections.abc import Iterator
from functools import cache
from itertools import chain
from pathlib import Path

from tests.support.case_table import for_each

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "requirements.md"
FOLDERS = ("events", "actors", "replay", "pipeline", "tests", "bench", "docs")
KINDS = {".py", ".md", ".js", ".toml"}
LINE = re.compile(r"^\| `([^`]+)` \| ", re.MULTILINE)

# What is looked behind for comes last: so these are looked for at their first letter, and fast.
# An item of the specification, but not a part of an address (`%C3`), a key or a formula.
LETTERED = re.compile(r"[A-J][1-9](?![\w%])(?<![\w%&!+#]..)")
DESIGN = re.compile(r"design \d+")
PART = r"(?:\d{1,2}(?:\.\d{1,2})*(?![\d.,]?\d)|W\d|(?:N?FR|AC)-\d{3}(?:\.\d+)?)"
# `S1 2.2, 2.6`, `S2 4 and 6`: one seed, several places in it. Ids with three digits are S1's alone.
OF_A_SEED = re.compile(rf"(S[0-4])(?!\w)(?<!\w..)((?: {PART}(?:(?:, | and ){PART})*)?)")
OF_THE_FIRST = re.compile(r"(?:NFR|FR|AC)-\d{3}(?:\.\d+)?")


def ids_in(text: str) -> Iterator[str]:
    yield from LETTERED.findall(text)
    yield from DESIGN.findall(text)
    yield from (f"S1 {each}" for each in OF_THE_FIRST.findall(text))
    for seed, places in OF_A_SEED.findall(text):
        yield seed
        yield from (f"{seed} {place}" for place in re.findall(PART, places))


def texts() -> Iterator[Path]:
    below = (path for folder in FOLDERS for path in (ROOT / folder).rglob("*"))
    for path in chain(ROOT.glob("*"), below):
        if path.suffix in KINDS and path not in (PAGE, Path(__file__)):
            yield path


@cache
def cited() -> dict[str, str]:
    """Every id that is cited, and one file that does."""
    return {
        each: path.relative_to(ROOT).as_posix()
        for path in texts()
        for each in ids_in(path.read_text(encoding="utf-8"))
    }


def explained() -> list[str]:
    return LINE.findall(PAGE.read_text(encoding="utf-8"))


def test_every_id_that_is_cited_has_its_line() -> None:
    asked = explained()
    assert {each: where for each, where in cited().items() if each not in asked} == {}


def test_no_id_has_two_lines() -> None:
    asked = explained()
    assert sorted(set(asked)) == sorted(asked)


def test_only_the_specification_has_lines_that_nobody_cites() -> None:
    unused = [each for each in explained() if each not in cited()]
    assert [each for each in unused if not re.fullmatch(r"[A-J]\d?", each)] == []


@for_each(
    "text, ids",
    [
        ("it waits (E9, design 12).", {"E9", "design 12"}),
        ("# S3 1.4: as it says", {"S3", "S3 1.4"}),
        ("S1 2.2, 2.6 and 8, and the three", {"S1", "S1 2.2", "S1 2.6", "S1 8"}),
        ("S1 NFR-002, 3.2; FR-900", {"S1", "S1 NFR-002", "S1 3.2", "S1 FR-900"}),
        ("(AC-907.5, S4 W9)", {"S1 AC-907.5", "S4", "S4 W9"}),
        ("the table of S0, 200 of it", {"S0"}),
    ],
)
def test_an_id_is_found_however_it_is_cited(text: str, ids: set[str]) -> None:
    assert set(ids_in(text)) == ids


@for_each("text", ["caf%C3%A9", "Alt+F5", "cmd!A0", "C90", "F11", "PS2 4", "10,E7a"])
def test_what_only_looks_like_an_id_is_none(text: str) -> None:
    assert set(ids_in(text)) == set()
