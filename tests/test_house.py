"""The rules of CONTRIBUTING.md that neither the linter nor an import contract can hold."""

import ast
import re
import tomllib
from functools import cache
from pathlib import Path

from tests.support.case_table import for_each

ROOT = Path(__file__).parents[1]
FOLDERS = ("events", "actors", "replay", "pipeline")
NAMELESS = {"utils", "helpers", "manager", "service", "base", "data"}
# A first sentence that begins so has no subject that does something.
HEADLESS = re.compile(r"(By|From|How|Of|That|To|What|When|Where|Whether|Which|Who|With)\b")
SENTENCE = re.compile(r".*?[.!?](?=\s|$)", re.DOTALL)
SENTENCE_CHARS = 160
# Of a module or of a class that is not in another: to parse every file takes ten times as long.
BASES = r"(?:\((?:[^()]|\([^()]*\))*\))?"
DOCSTRING = re.compile(
    rf'(?:\A|^class (?P<of>\w+){BASES}:\n    )"""(?P<text>.*?)"""', re.MULTILINE | re.DOTALL
)
UNEXPLAINED = re.compile(r"noqa: BLE001(?! - \w)")
WAITING = (ast.Await, ast.AsyncFunctionDef, ast.AsyncFor, ast.AsyncWith)


@cache
def modules() -> dict[str, str]:
    files = (path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))
    return {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in files}


def test_every_module_opens_with_what_it_is_for() -> None:
    silent = [name for name, text in modules().items() if text and not text.startswith('"""')]
    assert silent == []


def test_every_first_sentence_says_who_does_what() -> None:
    """Of every module and class. What it says is for whoever reads it to judge."""
    wrong = [
        f"{path.relative_to(ROOT)} {said['of'] or ''}: {found}"
        for folder in (*FOLDERS, "bench", "tests/support")
        for path in (ROOT / folder).rglob("*.py")
        for said in DOCSTRING.finditer(path.read_text(encoding="utf-8"))
        if (found := sentence_fault(said["text"]))
    ]
    assert wrong == []


def sentence_fault(docstring: str) -> str:
    found = SENTENCE.match(docstring.partition("\n\n")[0])
    if found is None or not found[0].endswith("."):
        return "the first paragraph holds no sentence with a full stop"
    sentence = " ".join(found[0].split())
    if (begins := HEADLESS.match(sentence)) is not None:
        return f"begins with {begins[0]!r}, where its subject should stand"
    return "" if len(sentence) <= SENTENCE_CHARS else f"{len(sentence)} characters are too many"


@for_each(
    "docstring",
    ["How a page is read.", "A reader", "A reader\n\nreads.", "A reader reads?", "A" * 160 + "."],
)
def test_a_sentence_without_subject_or_end_or_too_long_is_found(docstring: str) -> None:
    assert sentence_fault(docstring)


def test_no_module_has_a_name_that_says_nothing() -> None:
    assert [name for name in modules() if Path(name).stem in NAMELESS] == []


def test_every_broad_except_says_why() -> None:
    assert [name for name, text in modules().items() if UNEXPLAINED.search(text)] == []


def test_replay_never_awaits() -> None:
    replay = {name: text for name, text in modules().items() if name.startswith("replay/")}
    assert len(replay) > 20
    say_so = {name: text for name, text in replay.items() if "await" in text or "async" in text}
    trees = {name: ast.parse(text) for name, text in say_so.items()}
    assert {name for name, tree in trees.items() if any(map(_waits, ast.walk(tree)))} == set()


def _waits(node: ast.AST) -> bool:
    return isinstance(node, WAITING)


@for_each("folder", FOLDERS)
def test_tests_lie_where_what_they_test_lies(folder: str) -> None:
    tested = {
        path.parent.relative_to(ROOT / "tests")
        for path in (ROOT / "tests" / folder).rglob("test_*.py")
    }
    assert {place.as_posix() for place in tested if not (ROOT / place).is_dir()} == set()


def test_every_test_that_only_soak_runs_is_there() -> None:
    named = tomllib.loads((ROOT / "tests/extended.toml").read_text())
    texts = {file: (ROOT / file).read_text() for file in (*named["all"], *named["these"])}
    lost = [
        (file, test)
        for file, tests in named["these"].items()
        for test in tests
        if f"def {test}(" not in texts[file]
    ]
    assert lost == []
