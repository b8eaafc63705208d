"""A decider cannot wait, read a clock, roll dice or touch a file: it does not import them."""

import ast
import tomllib
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

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


@dataclass
class Found:
    """What a module imports, calls, waits for and changes outside of itself."""

    imports: set[str] = field(default_factory=set)
    calls: set[str] = field(default_factory=set)
    waits: list[str] = field(default_factory=list)
    globals: list[str] = field(default_factory=list)

    def take(self, node: ast.AST) -> None:
        match node:
            case ast.Import():
                self.imports |= {alias.name for alias in node.names}
            case ast.ImportFrom():
                assert node.level == 0, "an absolute import says where it comes from"
                self.imports.add(node.module or "")
            case ast.Call(func=ast.Name(id=name)):
                self.calls.add(name)
            case ast.Global():
                self.globals += node.names
            case ast.Await() | ast.AsyncFunctionDef() | ast.AsyncFor() | ast.AsyncWith():
                self.waits.append(type(node).__name__)
            case _:
                pass


@cache
def found() -> dict[str, Found]:
    modules = {module: Found() for module in PURE}
    for module, its in modules.items():
        for node in ast.walk(ast.parse((ROOT / f"{module}.py").read_text())):
            its.take(node)
    return modules


def test_they_import_nothing_that_differs_from_run_to_run() -> None:
    for module, its in found().items():
        names = its.imports - READS_PACKAGE.get(module, set())
        assert {name.partition(".")[0] for name in names} & FORBIDDEN == set(), module


def test_they_import_only_what_is_pure_itself() -> None:
    ours = ("rutter.actors", "rutter.replay", "rutter.pipeline")
    for module, its in found().items():
        reached = {name for name in its.imports if name.startswith(ours)}
        assert {name for name in reached if not name.startswith(tuple(DECIDERS))} == set(), module


def test_they_never_wait() -> None:
    assert {module: its.waits for module, its in found().items() if its.waits} == {}


def test_they_call_nothing_that_reaches_outside() -> None:
    reach = {module: its.calls & IMPURE_CALLS for module, its in found().items()}
    assert {module: calls for module, calls in reach.items() if calls} == {}


def test_they_keep_no_state_in_globals() -> None:
    assert {module: its.globals for module, its in found().items() if its.globals} == {}


def test_every_decider_folder_is_looked_at() -> None:
    assert set(FOLDERS) == {"critic", "planner", "predictor", "validator", "rules"}
    assert {folder: any(m.startswith(f"{folder}/") for m in PURE) for folder in FOLDERS} == (
        dict.fromkeys(FOLDERS, True)
    )
    assert {"predictor/model/markov2", "rules/policy/hosts", "critic/actor"} <= set(PURE)
