"""What was exported runs: the Playwright script by itself, the Recorder's file recorded again.

What counts is what the site has stored, not what the script said.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from rutter.events.action import (
    Action,
    ByCss,
    ByRole,
    DialogAnswer,
    Fingerprint,
    Parameter,
    Secret,
    Target,
    Text,
)
from rutter.events.signature import signature
from rutter.events.workflow import Expectation, Step, Workflow
from rutter.pipeline.cli.demo import ALONE, WATCHED
from rutter.pipeline.config.chromium_install import find_chromium
from rutter.pipeline.export.playwright_script import playwright_script
from tests.support.command_shell import Rutter, check_logs, places_of
from tests.support.page_server import PageServer
from tests.support.recorded_site import PASSWORD, Harbour, Ship, is_wanted

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]


class Ran:
    """An exported script, run as anybody would: by another Python process, with its flags."""

    def __init__(self, script: Path, *flags: str, **env: str) -> None:
        executable = find_chromium()
        assert executable is not None
        ended = subprocess.run(
            [sys.executable, script, *flags],
            cwd=script.parent,
            env={**os.environ, "CHROMIUM": str(executable), "PYTHONPATH": "", **env},
            capture_output=True,
            text=True,
            check=False,
        )
        self.code, self.err = ended.returncode, ended.stderr
        said = [line.partition(" = ") for line in ended.stdout.splitlines() if " = " in line]
        self.results = {name: value for name, _, value in said}


@pytest.fixture(scope="module")
def recorded(harbour: Harbour, tmp_path_factory: pytest.TempPathFactory) -> Path:
    rutter = Rutter(tmp_path_factory.mktemp("recorded") / "data")
    ended = rutter(*harbour.record(), "--answers", harbour.yes)
    assert ended.code == 0, ended
    return rutter.data


@pytest.fixture
def ship(harbour: Harbour, recorded: Path, tmp_path: Path) -> Iterator[Ship]:
    ship = Ship.launch(harbour, recorded, tmp_path / "data")
    yield ship
    check_logs(ship.rutter.data)
    assert places_of(PASSWORD, tmp_path) == []  # neither in the log nor in what was exported


def signatures(ship: Ship, name: str) -> list[str]:
    shown = msgspec.convert(ship.rutter.json("workflows", "show", name), Workflow)
    return [signature(step.action) for step in shown.steps]


# -- the order of the bundled site -----------------------------------------------------------------


def flags() -> list[str]:
    return [part for name, value in ALONE.items() for part in (f"--{name}", value)]


def test_the_script_places_the_order_with_other_values(ship: Ship, tmp_path: Path) -> None:
    script = tmp_path / "order.py"
    ship.rutter("export", "order", "--format", "playwright", "--out", script)
    ran = Ran(script, *flags(), SECRET_PASSWORD=PASSWORD)

    assert (ran.code, ran.err) == (0, "")
    [order] = ship.site.placed
    assert is_wanted(order)
    assert ran.results == {"order_number": str(order.number)}


def test_the_script_stops_where_the_site_is_not_as_recorded(ship: Ship, tmp_path: Path) -> None:
    script = tmp_path / "order.py"
    ship.rutter("export", "order", "--format", "playwright", "--out", script)
    script.write_text(script.read_text().replace("WITHIN_S = 10.0", "WITHIN_S = 4.0"))
    ran = Ran(script, *flags(), SECRET_PASSWORD="not it")

    assert ran.code == 1
    assert ship.site.placed == ()
    assert "not it" not in ran.err


@pytest.mark.parametrize("bound", [False, True])
def test_the_recorders_file_is_recorded_to_the_same_signatures_and_sailed(
    ship: Ship, tmp_path: Path, bound: bool
) -> None:
    script = tmp_path / "order.json"
    sets = [part for key, value in WATCHED.items() for part in ("--set", f"{key}={value}")]
    out = ("--out", str(script), *(sets if bound else ()))
    assert ship.rutter("export", "order", "--format", "recorder", *out).code == 0
    record = list(ship.harbour.record("again"))
    record[record.index("--script") + 1] = str(script)
    ended = ship.rutter(*record, "--answers", ship.harbour.yes)

    assert ended.code == 0, ended
    assert signatures(ship, "again") == signatures(ship, "order")
    assert ship.rutter(*ship.harbour.run("again")).code == 0
    assert is_wanted(ship.site.placed[-1])


# -- dialogs, other pages, files, frames, shadow roots ---------------------------------------------

HOME = """<h1>Home</h1>
<button id=drop onclick="said.textContent = confirm('Drop?') + ' ' + prompt('Why?')">Drop</button>
<p id=said></p>
<input type=file id=scan onchange="name_of.textContent = this.files[0].name"><p id=name_of></p>
<input id=name value="Ann"><input id=pin type=password>
<p id=typed></p>
<button id=read onclick="typed.textContent = document.querySelector('#name').value + ' ' +
  document.querySelector('#pin').value.length">Read</button>
<iframe srcdoc="<button id=inner onclick='this.textContent = &quot;pressed&quot;'>Inner</button>">
</iframe>
<my-box></my-box>
<script>
  const root = document.querySelector("my-box").attachShadow({ mode: "open" });
  root.innerHTML = "<button id=deep onclick=\\"this.textContent = 'reached'\\">Deep</button>";
</script>
<a id=out target=_blank href="BESIDE">Beside</a>"""
BESIDE = "<h1>Beside</h1><button id=here onclick=\"this.textContent = 'clicked'\">Here</button>"


def by(selector: str, **more: str) -> Target:
    fingerprint = Fingerprint(attributes=tuple(more.items())) if more else None
    return Target((ByCss(selector),), fingerprint)


def read(selector: str, name: str, tab: int | None = None) -> Action:
    return Action("extract", target=by(selector), name=name, tab=tab)


def test_dialogs_files_frames_shadow_roots_and_other_pages(
    server: PageServer, tmp_path: Path
) -> None:
    home = server.show(HOME.replace("BESIDE", server.show(BESIDE)))
    answers = (DialogAnswer(True), DialogAnswer(True, 'it\'s "wet"'))
    actions = (
        Action("navigate", url=home),
        Action("click", target=by("#drop"), dialogs=answers),
        read("#said", "said"),
        Action("type", target=by("#scan", type="file"), value=Parameter("scan")),
        read("#name_of", "file"),
        Action("type", target=by("#name"), value=Text(" Bolt"), append=True),
        Action("type", target=by("#pin"), value=Secret("pin")),
        Action("click", target=Target((ByCss("#gone"), ByRole("button", "Read")))),
        read("#typed", "typed"),
        Action("click", target=by("iframe >>> #inner")),
        read("#inner", "inner"),  # a frame of the page's own is looked into without being told
        Action("click", target=by("my-box >>> #deep")),
        read("my-box >>> #deep", "deep"),
        Action("click", target=by("#out")),
        Action("click", target=by("#here"), tab=1),
        read("#here", "beside"),
        read("h1", "back", tab=0),
    )
    steps = tuple(Step(action=action) for action in actions)
    steps += (Step(action=Action("click", target=by("#never")), optional=True),)
    end = Expectation(headings=("home",))
    flow = Workflow("odd", 1, steps, end, parameters=("scan",), secrets=("pin",))
    scan = tmp_path / "scan.pdf"
    scan.write_text("scanned")
    script = tmp_path / "odd.py"
    script.write_text(playwright_script(flow, {}))
    ran = Ran(script, "--scan", str(scan), SECRET_PIN="0815")

    assert (ran.code, ran.err) == (0, "")
    assert ran.results == {
        "said": 'true it\'s "wet"',
        "file": "scan.pdf",
        "typed": "Ann Bolt 4",
        "inner": "pressed",
        "deep": "reached",
        "beside": "clicked",
        "back": "Home",
    }


def test_pages_are_counted_among_those_that_are_open(server: PageServer, tmp_path: Path) -> None:
    """As in a run: the second that opened is the first beside when the one before it closed."""
    passing = server.show("<h1>Passing</h1><button id=x onclick='window.close()'>Close</button>")
    staying = server.show("<h1>Staying</h1>")
    home = server.show(
        f"<h1>Home</h1><button id=one onclick=\"window.open('{passing}')\">1</button>"
        f"<button id=two onclick=\"window.open('{staying}')\">2</button>"
    )
    actions = (
        Action("navigate", url=home),
        Action("click", target=by("#one")),
        Action("click", target=by("#x"), tab=1),
        Action("click", target=by("#two"), tab=0),
        read("h1", "second", tab=1),
        read("h1", "first", tab=0),
    )
    flow = Workflow("tabs", 1, tuple(Step(action=action) for action in actions))
    script = tmp_path / "tabs.py"
    script.write_text(playwright_script(flow, {}))
    ran = Ran(script)

    assert (ran.code, ran.err) == (0, "")
    assert ran.results == {"second": "Staying", "first": "Home"}


def test_two_that_match_are_not_guessed_between(server: PageServer, tmp_path: Path) -> None:
    home = server.show("<h1>Twice</h1><a class=x href=/another>A</a><a class=x href=/none>B</a>")
    flow = Workflow(
        "twice",
        1,
        (Step(action=Action("navigate", url=home)), Step(action=Action("click", target=by("a.x")))),
    )
    script = tmp_path / "twice.py"
    script.write_text(playwright_script(flow, {}).replace("WITHIN_S = 10.0", "WITHIN_S = 3.0"))
    ran = Ran(script)

    assert ran.code == 1
    assert "no way to find it matched exactly one visible element" in ran.err
    assert "/another" not in server.asked
