"""NiceGUI: a wizard in steps with a combobox, a calendar, a switch and a rich-text editor."""

import json
from pathlib import Path

from tests.apps.app import App, Place, Values, pick
from tests.apps.forgetting import taken_away
from tests.apps.installing import pip

PAGE = Path(__file__).with_name("served") / "nicegui_berths.py"


def values(run: int) -> Values:
    return {
        "ship": pick(run, "Aurora", "Zeemeeuw", "Nordstjernen", "Sea Lily") + f" {run}",
        "harbour": f"Harbour {400 + 7 * run:03}",
        "note": pick(run, "Two lines aft.", "No bunkers needed.", "Crew change.", "Late arrival."),
    }


def judge(place: Place, values: Values) -> str:
    store = place.home / "berths.jsonl"
    lines = store.read_text().splitlines() if store.exists() else []
    booked = [each for each in map(json.loads, lines) if each["ship"] == values["ship"]]
    wanted = {**values, "day": "2027-06-17", "pilot": True}
    return "" if booked == [wanted] else f"booked: {booked}"


APP = App(
    name="nicegui_berths",
    title="NiceGUI",
    framework="Vue, Quasar",
    covers=("wizard", "date picker and combobox", "rich text"),
    packages=pip("nicegui==3.18.0"),
    command=lambda place: ("python", str(PAGE)),
    values=values,
    judge=judge,
    forgets=lambda place: taken_away(place.home, "berths.jsonl"),
    shipped=False,
)
