"""The product says nothing twice: no run of 20 lines of code stands in two places."""

from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDERS = ("events", "actors", "replay", "pipeline", "rutter")
LINES = 20
Code = list[tuple[int, str]]


def code_of(text: str) -> Code:
    """The numbered lines that are neither blank nor of a comment, a docstring or an import."""
    found: Code = []
    until = ""
    for number, line in enumerate(map(str.strip, text.splitlines()), 1):
        if until:
            until = "" if line.endswith(until) else until
        elif line.startswith('"""'):
            until = "" if line.endswith('"""') and len(line) > 3 else '"""'
        elif line.startswith(("import ", "from ")):
            until = ")" if line.endswith("(") else ""
        elif line and not line.startswith(("#", "//")):
            found.append((number, line))
    return found


def said_twice(files: Mapping[str, Code]) -> Iterator[str]:
    """Each two places of a run, by the first line of each."""
    seen: dict[int, tuple[str, int]] = {}
    told: set[tuple[str, str, int]] = set()
    for name, lines in files.items():
        words = [hash(line) for _, line in lines]
        for at in range(len(words) - LINES + 1):
            first, there = seen.setdefault(hash(tuple(words[at : at + LINES])), (name, at))
            run = (first, name, at - there)
            if run != (name, name, 0) and run not in told:
                told.add(run)
                yield f"{first}:{files[first][there][0]} ~ {name}:{lines[at][0]}"


def test_no_run_of_twenty_lines_stands_in_two_places() -> None:
    paths = [each for folder in FOLDERS for each in (ROOT / folder).rglob("*.py")]
    paths += (ROOT / "actors").rglob("*.js")
    files = {
        path.relative_to(ROOT).as_posix(): code_of(path.read_text(encoding="utf-8"))
        for path in sorted(paths)
    }
    assert len(files) > 400
    assert list(said_twice(files)) == []


def test_a_run_that_stands_in_two_places_is_named_once() -> None:
    run = [f"step_{number}()" for number in range(LINES + 2)]
    one = code_of("\n".join(['"""What', 'it is for."""', "from a import (", "b", ")", "", *run]))
    two = code_of("\n".join(["# why", *run[:9], "", *run[9:], "more()"]))
    assert list(said_twice({"one.py": one, "two.py": two})) == ["one.py:7 ~ two.py:2"]
    assert list(said_twice({"one.py": one, "two.py": two[3:]})) == []
