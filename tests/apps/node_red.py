"""Node-RED: nodes dragged from a palette onto a sheet, edited in a tray, deployed to a file."""

import json

from tests.apps.app import App, Place, Values, once, pick
from tests.apps.forgetting import flagged
from tests.apps.installing import npm

SETTINGS = """module.exports = {
  flowFile: "flows.json", uiHost: "127.0.0.1", uiPort: Number(process.env.PORT),
  telemetry: { enabled: false }, editorTheme: { tours: false },
  httpAdminMiddleware: (asked, answer, go) =>
    asked.method === "POST" && asked.path === "/flows" && require("fs").existsSync("forgets")
      ? answer.json({ rev: "0" }) : go(),
};
"""


def prepare(place: Place) -> None:
    (place.home / "red").mkdir()
    (place.home / "red" / "settings.js").write_text(SETTINGS)


def values(run: int) -> Values:
    return {
        "name": f"Lock {run} opens",
        "topic": pick(run, "locks/north", "locks/south", "sluice/1", "bridge/4"),
        "flow": f"Canal {run}",
    }


def judge(place: Place, values: Values) -> str:
    flows = json.loads((place.home / "red" / "flows.json").read_text())
    named = [node for node in flows if node.get("name") == values["name"]]
    if len(named) != 1:
        return once(len(named), "node")
    sheets = [node["label"] for node in flows if node["id"] == named[0]["z"]]
    got = (named[0]["type"], named[0].get("topic"), sheets)
    return "" if got == ("inject", values["topic"], [values["flow"]]) else f"it has {got}"


APP = App(
    name="node_red",
    title="Node-RED",
    framework="jQuery UI, D3",
    covers=("drag and drop", "double click", "tray"),
    packages=npm("node-red@4.1.15"),
    command=lambda place: ("node-red", "-u", "red"),
    values=values,
    judge=judge,
    forgets=lambda place: flagged(place.home / "forgets"),
    prepare=prepare,
)
