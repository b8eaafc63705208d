# mypy: ignore-errors
"""A small wizard on NiceGUI: a ship, its day and berth, a confirmation."""

import json
import os
from pathlib import Path

from nicegui import ui

STORE = Path("berths.jsonl")
HARBOURS = [f"Harbour {n:03}" for n in range(1, 601)]


@ui.page("/")
def wizard():
    kept = {"ship": "", "harbour": None, "day": "2027-06-01", "note": "", "pilot": False}
    ui.label("Berths").classes("text-h4")
    with ui.stepper().props("vertical").classes("w-full") as stepper:
        with ui.step("Ship"):
            ui.input("Name of the ship").bind_value(kept, "ship")
            ui.select(HARBOURS, label="Harbour", with_input=True).bind_value(kept, "harbour")
            with ui.stepper_navigation():
                ui.button("Next", on_click=stepper.next)
        with ui.step("Day"):
            ui.date().bind_value(kept, "day")
            ui.switch("Pilot wanted").bind_value(kept, "pilot")
            with ui.stepper_navigation():
                ui.button("Next", on_click=stepper.next)
        with ui.step("Remarks"):
            ui.editor(placeholder="Remarks").bind_value(kept, "note")

            def book():
                with STORE.open("a") as store:
                    store.write(json.dumps(kept) + "\n")
                ui.notify(f"booked for {kept['ship']}")

            with ui.stepper_navigation():
                ui.button("Book", on_click=book)


ui.run(host="127.0.0.1", port=int(os.environ["PORT"]), show=False, reload=False)
