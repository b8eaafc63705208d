"""Every bench that is listed is there, every bench that is there is listed."""

import re
from importlib.util import find_spec
from pathlib import Path

from bench.__main__ import BENCHES

ROOT = Path(__file__).resolve().parents[2]
# They run benches, and have no figures of their own.
TOOLS = {"__main__", "compare"}
MAIN = re.compile(r"^def main\(", re.MULTILINE)
NAMED = re.compile(r"`python -m bench[ .](\w+)")


def test_the_list_that_is_printed_names_all_benches_and_nothing_else() -> None:
    modules = [path for path in (ROOT / "bench").glob("*.py") if path.stem not in TOOLS]

    here = {path.stem for path in modules if MAIN.search(path.read_text())}

    assert here == set(BENCHES)


def test_documents_name_benches_that_there_are() -> None:
    documents = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]

    named = {name for path in documents for name in NAMED.findall(path.read_text())}

    assert named
    assert {name for name in named if find_spec(f"bench.{name}") is None} == set()
