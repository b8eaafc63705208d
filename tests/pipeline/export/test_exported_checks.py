"""What is stated of a workflow holds in the exported script as well, or stops it."""

from pathlib import Path

import pytest

from rutter.events.action import Action, Parameter, Text
from rutter.events.checks import (
    Check,
    Downloaded,
    ElementState,
    FileContains,
    FileSize,
    ReadBack,
    TextGone,
    TextVisible,
    UrlHas,
    ValueSet,
)
from rutter.events.workflow import Expectation, Step, Workflow
from rutter.pipeline.export.playwright_script import playwright_script
from tests.pipeline.export.test_exported_scripts import Ran
from tests.support.page_server import PageServer
from tests.support.shop_facts import css as at

pytestmark = pytest.mark.browser

HOME = """<h1>Home</h1><p id=wait>Loading</p><p>Order <b>for</b> Ann</p>
<label>Name <input id=name></label><label><input type=checkbox checked>Send me news</label>
<select aria-label=Port><option value=1 selected>Malmo</option></select>
<button id=go disabled onclick="wait.remove(); this.textContent = 'Gone on'">Go</button>
<details><summary>More</summary></details><a id=file href=/file download>File</a>
<script>setTimeout(() => document.querySelector("#go").disabled = false, 50)</script>"""


def doing(action: Action, *checks: Check, read_back: ReadBack | None = None) -> Step:
    return Step(action=action, after=Expectation(checks=checks, read_back=read_back))


def ran(tmp_path: Path, steps: tuple[Step, ...], *flags: str, within_s: float = 10) -> Ran:
    flow = Workflow("checked", 1, steps, parameters=("name",))
    script = tmp_path / "checked.py"
    source = playwright_script(flow, {"name": "Ann"})
    script.write_text(source.replace("WITHIN_S = 10.0", f"WITHIN_S = {within_s}"))
    return Ran(script, *flags)


def test_everything_that_is_so_lets_the_script_go_on(server: PageServer, tmp_path: Path) -> None:
    kept = tmp_path / "kept.txt"
    kept.write_text("total 3")
    home = server.show(HOME)
    looks: tuple[Check, ...] = (
        TextVisible("order for ${name}"),
        UrlHas("/page/"),
        ElementState("checked", "send me news"),
        ElementState("not expanded", "More"),
        ElementState("gone", "Gone on"),
        ElementState("not disabled", "Go", "button"),
        ValueSet("Malmo", "Port"),
        FileContains("total", str(kept)),
        FileSize(str(kept), 7, 7),
    )
    back = ReadBack(f"{server.url}/another?for=${{name}}", (TextVisible("Another"), UrlHas("=Ann")))
    typed = Action("type", target=at("#name"), value=Parameter("name"))
    done = ran(
        tmp_path,
        (
            doing(Action("navigate", url=home)),
            doing(Action("check", verify=looks)),
            doing(typed, ValueSet("${name}", "Name")),
            doing(Action("click", target=at("#go")), TextGone("Loading"), read_back=back),
            doing(Action("click", target=at("#file")), Downloaded()),
        ),
    )
    assert done.code == 0, done.err


def test_what_is_not_so_stops_it(server: PageServer, tmp_path: Path) -> None:
    """A save that says it worked, and where it must show it does not."""
    home = server.show("<h1>Home</h1><button id=go onclick=\"said.textContent = 'Saved'\">Save"
                       "</button><p id=said role=status></p>")  # fmt: skip
    back = ReadBack(f"{server.url}/another", (TextVisible("a rope"),))
    save = doing(Action("click", target=at("#go")), TextVisible("saved"), read_back=back)
    never = Action("type", target=at("#never"), value=Text("x"))
    steps = (doing(Action("navigate", url=home)), save, doing(never))
    failed = ran(tmp_path, steps, within_s=4)

    assert failed.code == 1
    assert f"the page does not show 'a rope' (at {server.url}/another)" in failed.err
