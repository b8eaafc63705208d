"""Every module of the product has a test file of its name, or tests/covered_by.toml says which test
file covers it."""

import ast
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.support.syntax_trees import statements

ROOT = Path(__file__).resolve().parents[1]
PRODUCT = ("events", "actors", "replay", "pipeline")
TABLE = "tests/covered_by.toml"


def modules(root: Path) -> list[str]:
    return [
        file.relative_to(root).as_posix()
        for folder in PRODUCT
        for file in sorted((root / folder).rglob("*.py"))
        if file.name != "__init__.py"
    ]


def own_test(module: str) -> str:
    folder, _, name = module.rpartition("/")
    return f"tests/{folder}/test_{name}"


@cache
def imported(root: Path, file: str) -> frozenset[str]:
    """The files of ours that a file imports, wherever in it the import stands."""
    names: set[str] = set()
    for node in statements(ast.parse((root / file).read_text())):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
    files = (name.removeprefix("rutter.").replace(".", "/") + ".py" for name in names)
    return frozenset(one for one in files if (root / one).is_file())


def reaches(root: Path, test: str, module: str) -> bool:
    """A test reaches what it imports, itself or through tests/support, and what that imports."""
    own = imported(root, test)
    given = own.union(*(imported(root, one) for one in own if one.startswith("tests/support/")))
    return module in given or any(module in imported(root, one) for one in given)


def faults(root: Path) -> Iterator[str]:
    """Each fault of the table as a sentence that says what to type."""
    table = tomllib.loads((root / TABLE).read_text())
    reached, driven = table["imported"], table["driven"]
    there = modules(root)
    for module in there:
        own = own_test(module)
        if (root / own).is_file() and (module in reached or module in driven):
            yield f"{module} has a test of its name, {own}: delete its line in {TABLE}"
        if not (root / own).is_file() and module not in reached and module not in driven:
            yield (
                f"{module} has no {own}: write it, or add to [imported] in {TABLE}:"
                f' "{module}" = "<the test file that covers it>"'
                " (was it renamed or divided? Then give its old line the new name)"
            )
    for module, test in (reached | driven).items():
        if module not in there:
            yield f"{module} is gone: delete its line in {TABLE}, or give the line its new name"
        elif not (root / test).is_file():
            yield f"{test} is gone: say in {TABLE} which test file covers {module} now"
        elif module in reached and not reaches(root, test, module):
            yield (
                f"{test} imports neither {module} nor a module that imports it: name another test"
                f" file in {TABLE}, or move the line to [driven] if it runs all the same"
            )
    for module in sorted(reached.keys() & driven.keys()):
        yield f"{module} stands twice in {TABLE}: keep one line"


def test_every_module_is_covered_by_a_test_file_that_can_be_named() -> None:
    found = list(faults(ROOT))
    assert not found, "\n" + "\n".join(found)


# -- controls --------------------------------------------------------------------------------------


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A tree in order: `deck` has a test of its name, `mast` and `boom` are reached, `keel` is
    driven."""
    for file, text in {
        "events/deck.py": "from rutter.events import mast",
        "events/mast.py": "",
        "actors/boom.py": "",
        "pipeline/keel.py": "",
        "tests/events/test_deck.py": "from rutter.events.deck import plank",
        "tests/support/rig.py": "from rutter.actors.boom import spar",
        "tests/actors/test_rig.py": "from tests.support.rig import rig",
        "tests/test_voyage.py": "",
        TABLE: """
            [imported]
            "events/mast.py" = "tests/events/test_deck.py"
            "actors/boom.py" = "tests/actors/test_rig.py"
            [driven]
            "pipeline/keel.py" = "tests/test_voyage.py"
        """,
    }.items():
        write(tmp_path / file, text)
    return tmp_path


def write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def test_a_tree_in_order_has_no_faults(tree: Path) -> None:
    assert list(faults(tree)) == []


@pytest.mark.parametrize(
    ("file", "fault"),
    [
        ("replay/log.py", "replay/log.py has no tests/replay/test_log.py: write it, or add"),
        ("replay/deck.py", "replay/deck.py has no tests/replay/test_deck.py"),  # one elsewhere
        ("tests/events/test_mast.py", "events/mast.py has a test of its name"),
        ("events/deck.py", "tests/events/test_deck.py imports neither events/mast.py nor"),
    ],
)
def test_what_is_not_covered_or_named_too_often_is_found(tree: Path, file: str, fault: str) -> None:
    write(tree / file, "")
    [found] = faults(tree)
    assert found.startswith(fault)


def test_a_line_for_a_module_that_is_gone_is_found(tree: Path) -> None:
    (tree / "pipeline/keel.py").unlink()
    [fault] = faults(tree)
    assert fault.startswith("pipeline/keel.py is gone")


@pytest.mark.parametrize("test", ["tests/test_voyage.py", "tests/actors/test_rig.py"])
def test_a_line_with_a_test_file_that_is_gone_is_found(tree: Path, test: str) -> None:
    (tree / test).unlink()
    [fault] = faults(tree)
    assert fault.startswith(f"{test} is gone")


def test_a_module_that_stands_twice_is_found(tree: Path) -> None:
    table = tree / TABLE
    table.write_text(table.read_text() + '"actors/boom.py" = "tests/actors/test_rig.py"')
    [fault] = faults(tree)
    assert fault == f"actors/boom.py stands twice in {TABLE}: keep one line"
