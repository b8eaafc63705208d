"""A class name stands for one idea, files and functions are small, contracts name folders. What is
excepted stands in tests/names_and_lengths.toml with its reason."""

import ast
import importlib
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.case_table import for_each
from tests.support.syntax_trees import statements

ROOT = Path(__file__).resolve().parents[1]
PRODUCT = ("events", "actors", "replay", "pipeline")
TABLE = "tests/names_and_lengths.toml"
FILE_LINES, FUNCTION_LINES = 500, 50


def breaches(root: Path) -> Iterator[tuple[str, str, str]]:
    """What breaks a rule: the rule by its name in the table, who breaks it, and how."""
    classes: dict[str, list[str]] = {}
    for file in sorted(file for each in PRODUCT for file in (root / each).rglob("*.py")):
        name, text = file.relative_to(root).as_posix(), file.read_text()
        lines = len(text.splitlines())
        if lines > FILE_LINES:
            yield "files", name, f"has {lines} lines, and {FILE_LINES} are enough: divide it"
        tree = ast.parse(text)
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                classes.setdefault(node.name, []).append(name)
        yield from long_functions(name, tree)
    for each, files in sorted(classes.items()):
        if len(files) > 1:
            yield (
                "classes",
                each,
                f"names {len(files)} things: {', '.join(files)}: rename all but one",
            )


def long_functions(file: str, tree: ast.Module) -> Iterator[tuple[str, str, str]]:
    for node in statements(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or 0) - node.lineno + 1
            if lines > FUNCTION_LINES:
                how = f"has {lines} lines, and {FUNCTION_LINES} are enough: divide it"
                yield "functions", f"{file}:{node.name}", how


def faults(root: Path) -> Iterator[str]:
    table: dict[str, dict[str, str]] = tomllib.loads((root / TABLE).read_text())
    found = {(rule, who): how for rule, who, how in breaches(root)}
    excepted = {(rule, who) for rule, reasons in table.items() for who in reasons}
    for rule, who in sorted(found.keys() - excepted):
        yield f"{who} {found[rule, who]}"
    for rule, who in sorted(excepted - found.keys()):
        yield f"{who} needs no exception any more: delete its line in {TABLE} under [{rule}]"


def test_names_are_given_once_and_files_and_functions_are_small() -> None:
    found = list(faults(ROOT))
    assert not found, "\n" + "\n".join(found)


def test_the_contract_of_deciders_names_folders_alone() -> None:
    """A list of modules would leave out the one that is written next."""
    linter = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    [deciders] = [each for each in linter["contracts"] if each["id"] == "deciders"]
    folders = [
        each.removeprefix("rutter.").replace(".", "/") for each in deciders["source_modules"]
    ]
    assert [each for each in folders if not (ROOT / each).is_dir()] == []


@for_each("name", PRODUCT)
def test_a_folder_of_the_product_cannot_be_imported_by_its_bare_name(name: str) -> None:
    with pytest.raises(ModuleNotFoundError, match=f"import rutter.{name}, not {name}"):
        importlib.import_module(name)


# -- controls --------------------------------------------------------------------------------------


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A tree in order, as long as is allowed, with one exception that it needs."""
    body = "    x = 1\n" * (FUNCTION_LINES - 1)
    write(tmp_path / "events/deck.py", f"class Deck:\n    pass\n\n\ndef plank():\n{body}")
    write(tmp_path / "actors/mast.py", "x = 1\n" * FILE_LINES)
    write(tmp_path / "replay/sail.py", "class Sheet:\n    pass\n")
    write(tmp_path / "pipeline/paper.py", "class Sheet:\n    pass\n")
    write(tmp_path / TABLE, '[classes]\nSheet = "both are held by a corner"\n')
    return tmp_path


def write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def test_a_tree_in_order_has_no_faults(tree: Path) -> None:
    assert list(faults(tree)) == []
    assert Counter(rule for rule, _, _ in breaches(tree)) == {"classes": 1}


def test_a_name_that_is_given_twice_is_found(tree: Path) -> None:
    write(tree / "pipeline/cards.py", "class Deck:\n    pass\n")
    assert list(faults(tree)) == [
        "Deck names 2 things: events/deck.py, pipeline/cards.py: rename all but one"
    ]


def test_a_line_too_many_is_found(tree: Path) -> None:
    write(tree / "actors/mast.py", "x = 1\n" * (FILE_LINES + 1))
    write(tree / "events/deck.py", (tree / "events/deck.py").read_text() + "    y = 1\n")
    assert list(faults(tree)) == [
        "actors/mast.py has 501 lines, and 500 are enough: divide it",
        "events/deck.py:plank has 51 lines, and 50 are enough: divide it",
    ]


def test_an_exception_that_is_not_needed_is_found(tree: Path) -> None:
    (tree / "replay/sail.py").unlink()
    [fault] = faults(tree)
    assert fault.startswith("Sheet needs no exception any more: delete its line")
