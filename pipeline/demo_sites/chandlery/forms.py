"""The order form says what it holds, what is wrong with it, and the draft it becomes."""

import re
from collections.abc import Mapping
from datetime import date

import msgspec

from rutter.pipeline.demo_sites.chandlery.store import TODAY, Customer, Draft, Store

PRIORITIES = ("routine", "urgent")
BLANK_ORDER = {
    "product": "",
    "quantity": "",
    "delivery": "",
    "berth": "",
    "priority": "routine",
    "note": "",
}
QUANTITY_MAX = 999
BERTH_MAX_CHARS = 60
NOTE_MAX_CHARS = 500


def read_order(form: Mapping[str, str]) -> dict[str, str]:
    """The fields of the form and nothing else, trimmed, with the line ends of text files."""
    return {name: form.get(name, "").replace("\r\n", "\n").strip() for name in BLANK_ORDER}


def draft_values(draft: Draft) -> dict[str, str]:
    return {name: str(getattr(draft, name)) for name in BLANK_ORDER}


def parse_quantity(text: str) -> int | None:
    if not re.fullmatch(r"[0-9]{1,3}", text):
        return None
    return int(text) if 1 <= int(text) <= QUANTITY_MAX else None


def check_order(values: Mapping[str, str], store: Store) -> dict[str, str]:
    """One message for each field that cannot be accepted."""
    errors = {}
    if store.find_product(values["product"]) is None:
        errors["product"] = "Choose a product."
    if parse_quantity(values["quantity"]) is None:
        errors["quantity"] = f"Enter a whole number from 1 to {QUANTITY_MAX}."
    if message := check_delivery(values["delivery"]):
        errors["delivery"] = message
    if not values["berth"]:
        errors["berth"] = "Say where the vessel lies."
    elif len(values["berth"]) > BERTH_MAX_CHARS:
        errors["berth"] = f"Use at most {BERTH_MAX_CHARS} characters."
    if values["priority"] not in PRIORITIES:
        errors["priority"] = "Choose a priority."
    if len(values["note"]) > NOTE_MAX_CHARS:
        errors["note"] = f"Use at most {NOTE_MAX_CHARS} characters."
    return errors


def check_delivery(text: str) -> str:
    if not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
        return "Enter a delivery date."
    try:
        delivery = date.fromisoformat(text)
    except ValueError:
        return "Enter a date that exists."
    return f"Choose {TODAY} or later." if delivery < TODAY else ""


def draft_order(values: Mapping[str, str], customer: Customer, store: Store) -> Draft:
    """Only for values that `check_order` found nothing wrong with."""
    given = {**values, "number": store.next_draft, "customer": customer.name}
    return msgspec.convert(given, Draft, strict=False)  # a quantity comes as text
