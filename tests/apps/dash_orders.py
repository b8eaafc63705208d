"""Dash: a virtual grid with a filter and an edited cell, a long combobox, a date picker."""

import sqlite3
from pathlib import Path

from tests.apps.app import App, Place, Values
from tests.apps.forgetting import undone
from tests.apps.installing import pip

PAGE = Path(__file__).with_name("served") / "dash_orders.py"


def values(run: int) -> Values:
    return {
        "customer": f"Company {1200 + 13 * run:04}",
        "part": f"P-{1500 + 21 * run:04}",
        "stock": str(400 + run),
        "note": f"Deliver to berth {run}, 'north' side",
    }


def judge(place: Place, values: Values) -> str:
    with sqlite3.connect(place.home / "orders.db") as store:
        orders = store.execute(
            "SELECT customer, due, part FROM orders WHERE note = ?", (values["note"],)
        ).fetchall()
        counted = store.execute(
            "SELECT stock FROM counted WHERE part = ?", (values["part"],)
        ).fetchall()
    if orders != [(values["customer"], "2027-05-20", values["part"])]:
        return f"orders of that note: {orders}"
    return "" if [str(row[0]) for row in counted] == [values["stock"]] else f"counted: {counted}"


APP = App(
    name="dash_orders",
    title="Dash",
    framework="React, AG Grid",
    covers=("grid", "virtual lists", "date picker and combobox", "debounced field"),
    packages=pip("dash==4.4.1", "dash-ag-grid==35.3.0"),
    command=lambda place: ("python", str(PAGE)),
    values=values,
    judge=judge,
    forgets=lambda place: undone(
        place.home / "orders.db",
        *(
            f"AFTER INSERT ON {t} BEGIN DELETE FROM {t} WHERE rowid = NEW.rowid; END"
            for t in ("orders", "counted")
        ),
    ),
    shipped=False,
)
