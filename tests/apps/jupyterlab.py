"""JupyterLab: a notebook of several cells, renamed and saved to its file."""

import json

from tests.apps.app import App, Place, Values, pick
from tests.apps.forgetting import taken_away
from tests.apps.installing import pip


def values(run: int) -> Values:
    return {
        "name": f"tides-{run}.ipynb",
        "heading": pick(run, "# Tides at Vlissingen", "# Tides at Delfzijl", "# Neap", "# Springs"),
        "code": pick(run, "6 * 7", "sum(range(11))", "max(3, 8)", "len('anchor')"),
    }


def judge(place: Place, values: Values) -> str:
    notebook = place.home / "work" / values["name"]
    if not notebook.exists():
        there = sorted(each.name for each in notebook.parent.glob("*.ipynb"))
        return f"no {values['name']} among {there}"
    cells = json.loads(notebook.read_text())["cells"]
    kept = [(cell["cell_type"], "".join(cell["source"])) for cell in cells if cell["source"]]
    if kept != [("markdown", values["heading"]), ("code", values["code"])]:
        return f"other cells: {kept}"
    return "" if cells[1]["outputs"] else "the second cell has no output"


def prepare(place: Place) -> None:
    (place.home / "work").mkdir()


APP = App(
    name="jupyterlab",
    title="JupyterLab",
    framework="Lumino, React, CodeMirror",
    covers=("autosave", "windowed list of cells", "editor", "menus"),
    packages=pip("jupyterlab==4.6.6"),
    command=lambda place: (
        "jupyter",
        "lab",
        "--no-browser",
        "--allow-root",
        "--IdentityProvider.token=",
        f"--port={place.port}",
        "--ServerApp.port_retries=0",
        "--ServerApp.root_dir=work",
    ),
    values=values,
    judge=judge,
    forgets=lambda place: taken_away(place.home / "work", "*.ipynb"),
    prepare=prepare,
    opens="/lab",
)
