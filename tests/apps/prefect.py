"""Prefect's own page: a variable with a JSON value and tags, kept in the server's database."""

import json
import sqlite3

from tests.apps.app import App, Place, Values, pick
from tests.apps.forgetting import undone
from tests.apps.installing import pip

DELETED = "AFTER INSERT ON variable BEGIN DELETE FROM variable WHERE rowid = NEW.rowid; END"


def values(run: int) -> Values:
    return {
        "name": f"tide_gauge_{run}",
        "value": pick(run, '"Vlissingen"', '"Delfzijl & Eems"', '"Harlingen"', '"IJmuiden"'),
        "tag": pick(run, "north", "east", "south", "west") + str(run),
    }


def judge(place: Place, values: Values) -> str:
    with sqlite3.connect(place.home / ".prefect" / "prefect.db") as store:
        rows = store.execute(
            "SELECT value, tags FROM variable WHERE name = ?", (values["name"],)
        ).fetchall()
    got = [(json.loads(value), json.loads(tags)) for value, tags in rows]
    wanted = [(json.loads(values["value"]), [values["tag"]])]
    return "" if got == wanted else f"variables of that name: {got}"


APP = App(
    name="prefect",
    title="Prefect",
    framework="React, Radix, CodeMirror",
    covers=("code editor in a dialog", "tags"),
    packages=pip("prefect==3.8.8", "fastapi==0.139.0"),
    command=lambda place: (
        "env",
        f"PREFECT_UI_API_URL={place.base}/api",
        "DO_NOT_TRACK=1",
        "prefect",
        "server",
        "start",
        "--host",
        "127.0.0.1",
        "--port",
        str(place.port),
    ),
    values=values,
    judge=judge,
    forgets=lambda place: undone(place.home / ".prefect" / "prefect.db", DELETED),
    opens="/api/health",
)
