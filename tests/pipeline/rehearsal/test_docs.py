"""The guide for users' own tests: its example runs as it is printed."""

import re
from pathlib import Path

from rutter.pipeline.rehearsal import fixtures, scripted_model, stage, troubles
from tests.support.case_table import for_each

GUIDE = (Path(__file__).parents[3] / "docs" / "testing.md").read_text()


def example() -> dict[str, object]:
    code = "\n".join(re.findall(r"^```python\n(.*?)^```", GUIDE, re.MULTILINE | re.DOTALL))
    names: dict[str, object] = {}
    exec(compile(code, "docs/testing.md", "exec"), names)
    return names


EXAMPLE = example()


@for_each("name", [name for name in EXAMPLE if name.startswith("test_")])
def test_the_guide_holds(name: str) -> None:
    run = EXAMPLE[name]
    assert callable(run)
    run()


def test_the_guide_has_an_example_of_each_and_names_what_there_is() -> None:
    assert len([name for name in EXAMPLE if name.startswith("test_")]) == 4
    for word in ("calls", "says", "together", "proposes", "calls_badly", "cut", "refuses", "fails"):
        assert callable(getattr(scripted_model, word))
        assert f"`{word}(" in GUIDE
    for word in ("Fails", "Raises", "Waits", "Becomes"):
        assert hasattr(troubles, word)
        assert f"`{word}(" in GUIDE
    assert callable(stage.rehearsing_tools)
    for name in ("login", "form", "list", "search_results", "dialog", "error"):
        assert name in fixtures.names()
        assert f"`{name}`" in GUIDE
