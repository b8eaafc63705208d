"""Scripts hold flows on the site as Chrome DevTools Recorder writes them, ready to be recorded
from: a document for each, with `${name}` where a value goes."""

import json
from importlib.resources import files
from string import Template

from rutter.pipeline.demo_sites.sign_ins import DEFAULT_PASSWORD, USER

SIGN_IN = {"user": USER, "password": DEFAULT_PASSWORD}
ORDER = {
    "customer": "Aurora Shipping",
    "product": "mooring-rope",
    "quantity": "3",
    "delivery": "2026-03-20",
    "berth": "Waalhaven pier 7",
    "note": "Call the bosun on arrival.",
}


def order_script(base_url: str, **values: str) -> dict[str, object]:
    """From the login to an urgent order placed, its number read, and the list of orders.

    `product` is the value of an option, a sku. The customer is opened as the only one found.
    """
    return _filled("order.json", base_url, ORDER | values)


def find_order_script(base_url: str, **values: str) -> dict[str, object]:
    """From the login to one order found by its `number`, and its status read."""
    return _filled("find_order.json", base_url, {"number": "1003"} | values)


def _filled(document: str, base_url: str, values: dict[str, str]) -> dict[str, object]:
    text = Template(files(__package__).joinpath(document).read_text("utf-8"))
    given = {"base_url": base_url} | SIGN_IN | values
    filled = text.substitute({name: json.dumps(value)[1:-1] for name, value in given.items()})
    script: dict[str, object] = json.loads(filled)
    return script
