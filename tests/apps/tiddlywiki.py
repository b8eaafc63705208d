"""TiddlyWiki on Node.js: a note in a framed editor, saved by itself, one file for each."""

from contextlib import AbstractContextManager
from urllib.parse import quote

import httpx

from tests.apps.app import App, Place, Values, once, pick
from tests.apps.forgetting import withdrawn
from tests.apps.installing import npm


def prepare(place: Place) -> None:
    place.run("tiddlywiki", "wiki", "--init", "server")


def values(run: int) -> Values:
    return {
        "title": f"Berth plan {run}",
        "text": pick(
            run,
            "Moor at pier 7 & keep clear of the crane.",
            "Two tugs at 06:30 'sharp'.",
            "Fuel: 40 t; water: 12 t.",
            "Pilot leaves at buoy 3.",
        ),
        "tag": pick(run, "harbour", "tugs", "bunkers", "pilots"),
        "berth": f"B{run}-{run + 7}",
    }


def judge(place: Place, values: Values) -> str:
    found = 0
    for note in (place.home / "wiki" / "tiddlers").glob("*.tid"):
        head, _, text = note.read_text().partition("\n\n")
        fields = dict(line.split(": ", 1) for line in head.splitlines() if ": " in line)
        if fields.get("title") == values["title"] and "draft.of" not in fields:
            found += 1
            got = (text.strip(), fields.get("tags"), fields.get("berth"))
            if got != (values["text"], values["tag"], values["berth"]):
                return f"another text, tag or field: {got}"
    return once(found, "note")


def forgets(place: Place) -> AbstractContextManager[None]:
    door = httpx.Client(base_url=place.base, headers={"X-Requested-With": "TiddlyWiki"})

    def names() -> set[str]:
        return {note["title"] for note in door.get("/recipes/default/tiddlers.json").json()}

    return withdrawn(names, lambda name: door.delete(f"/bags/default/tiddlers/{quote(name, '')}"))


APP = App(
    name="tiddlywiki",
    title="TiddlyWiki",
    framework="TiddlyWiki widgets",
    covers=("autosave", "editor in a frame", "combobox"),
    packages=npm("tiddlywiki@5.4.1"),
    command=lambda place: ("tiddlywiki", "wiki", "--listen", f"port={place.port}"),
    values=values,
    judge=judge,
    forgets=forgets,
    prepare=prepare,
)
