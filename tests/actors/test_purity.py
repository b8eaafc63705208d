"""A decider cannot wait, read a clock, roll dice or touch a file: it does not import them."""

import ast
import tomllib
from functools import cache
from pathlib import Path

import pytest

from rutter import actors

ROOT = Path(actors.__file__).resolve().parent
[DECIDERS] = [
    contract["source_modules"]
    for contract in tomllib.loads((ROOT.parent / "pyproject.toml").read_text())["tool"][
        "importlinter"
    ]["contracts"]
    if contract["id"] == "deciders"
]
FOLDERS = tuple(name.partition("actors.")[2] for name in DECIDERS)
PURE = (
    *(
        file.relative_to(ROOT).with_suffix("").as_posix()
        for folder in FOLDERS
        for file in sorted((ROOT / folder).rglob("*.py"))
    ),
    *("decider", "topology", "logic_version"),  # above the folders: every decider goes by them
)
FORBIDDEN = {
    "aiosqlite",
    "anthropic",
    "anyio",
    "asyncio",
    "builtins",
    "contextvars",
    "datetime",
    "importlib",
    "io",
    "locale",
    "math",  # its functions differ between machines (design 4)
    "multiprocessing",
    "numpy",
    "os",
    "pathlib",
    "pkgutil",
    "playwright",
    "random",
    "secrets",
    "shutil",
    "socket",
    "sqlite3",
    "subprocess",
    "sys",
    "tempfile",
    "threading",
    "time",
    "uuid",
    "weakref",
    "zoneinfo",
}
IMPURE_CALLS = {"open", "input", "print", "eval", "exec", "id", "hash", "__import__"}
# Phrases in TOML are part of the program as its modules are: this one reads them from the package.
READS_PACKAGE = {"rules/text/phrase_file": {"importlib.resources"}}
WAITING = (ast.Await, ast.AsyncFunctionDef, ast.AsyncFor, ast.AsyncWith)


@cache
def tree_of(module: str) -> ast.Module:
    return ast.parse((ROOT / f"{module}.py").read_text())


def imported(tree: ast.Module) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "an absolute import says where it comes from"
            names.add(node.module or "")
    return names


def called(tree: ast.Module) -> set[str]:
    calls = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return {function.id for function in calls if isinstance(function, ast.Name)}


@pytest.mark.parametrize("module", PURE)
def test_it_imports_nothing_that_differs_from_run_to_run(module: str) -> None:
    names = imported(tree_of(module)) - READS_PACKAGE.get(module, set())
    roots = {name.partition(".")[0] for name in names}
    assert roots & FORBIDDEN == set()


@pytest.mark.parametrize("module", PURE)
def test_it_imports_only_what_is_pure_itself(module: str) -> None:
    ours = {
        name
        for name in imported(tree_of(module))
        if name.startswith(("rutter.actors", "rutter.replay", "rutter.pipeline"))
    }
    assert all(name.startswith(tuple(DECIDERS)) for name in ours), ours


@pytest.mark.parametrize("module", PURE)
def test_it_never_waits(module: str) -> None:
    waits = [node for node in ast.walk(tree_of(module)) if isinstance(node, WAITING)]
    assert [type(node).__name__ for node in waits] == []


@pytest.mark.parametrize("module", PURE)
def test_it_calls_nothing_that_reaches_outside(module: str) -> None:
    assert called(tree_of(module)) & IMPURE_CALLS == set()


@pytest.mark.parametrize("module", PURE)
def test_it_keeps_no_state_in_globals(module: str) -> None:
    changes = [node for node in ast.walk(tree_of(module)) if isinstance(node, ast.Global)]
    assert changes == []


def test_every_decider_folder_is_looked_at() -> None:
    assert set(FOLDERS) == {"critic", "planner", "predictor", "validator", "rules"}
    assert {folder: any(m.startswith(f"{folder}/") for m in PURE) for folder in FOLDERS} == (
        dict.fromkeys(FOLDERS, True)
    )
    assert {"predictor/model/markov2", "rules/policy/hosts", "critic/actor"} <= set(PURE)
