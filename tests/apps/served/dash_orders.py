# mypy: ignore-errors
"""A small order desk on Dash: a grid of 2000 parts, a list of 1500 customers, a date picker."""

import os
import sqlite3

import dash_ag_grid as grid
from dash import Dash, Input, Output, State, ctx, dcc, html

STORE = "orders.db"
PARTS = [{"part": f"P-{n:04}", "name": f"Shackle {n} mm", "stock": n % 37} for n in range(1, 2001)]
CUSTOMERS = [f"Company {n:04}" for n in range(1, 1501)]

with sqlite3.connect(STORE) as store:
    store.execute("CREATE TABLE IF NOT EXISTS orders (customer, due, part, note)")
    store.execute("CREATE TABLE IF NOT EXISTS counted (part, stock)")

app = Dash(__name__)
app.layout = html.Div(
    [
        html.H1("Order desk"),
        html.Label(["Customer", dcc.Dropdown(CUSTOMERS, id="customer")]),
        html.Label(["Due", dcc.DatePickerSingle(id="due", initial_visible_month="2027-05-01")]),
        html.Label(["Note", dcc.Input(id="note", debounce=0.4, type="text")]),
        grid.AgGrid(
            id="parts",
            rowData=PARTS,
            columnDefs=[
                {"field": "part", "filter": True, "floatingFilter": True},
                {"field": "name"},
                {"field": "stock", "editable": True},
            ],
            dashGridOptions={"rowSelection": {"mode": "singleRow"}},
        ),
        html.Button("Place order", id="place", disabled=True),
        html.P(id="said"),
    ]
)


@app.callback(
    Output("place", "disabled"),
    Input("customer", "value"),
    Input("due", "date"),
    Input("note", "value"),
    Input("parts", "selectedRows"),
)
def may_be_placed(customer, due, note, rows):
    return not (customer and due and note and rows)


@app.callback(
    Output("said", "children"),
    Input("place", "n_clicks"),
    Input("parts", "cellValueChanged"),
    State("customer", "value"),
    State("due", "date"),
    State("note", "value"),
    State("parts", "selectedRows"),
    prevent_initial_call=True,
)
def keep(clicks, counted, customer, due, note, rows):
    with sqlite3.connect(STORE) as store:
        if ctx.triggered_id == "parts":
            for each in counted:
                row = (each["data"]["part"], each["value"])
                store.execute("INSERT INTO counted VALUES (?, ?)", row)
            return "counted"
        row = (customer, due, rows[0]["part"], note)
        store.execute("INSERT INTO orders VALUES (?, ?, ?, ?)", row)
    return f"ordered {rows[0]['part']} for {customer}"


app.run(host="127.0.0.1", port=int(os.environ["PORT"]))
