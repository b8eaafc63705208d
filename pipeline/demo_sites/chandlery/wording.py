"""The wording holds the words on controls, and which of them change when the site is moved or
relabelled."""

from rutter.pipeline.demo_sites.chandlery.switches import Switches

AS_RECORDED = {
    "sign_in": "Sign in",
    "search": "Search",
    "new_order": "New order",
    "product": "Product",
    "quantity": "Quantity",
    "delivery": "Delivery date",
    "berth": "Berth",
    "priority": "Priority",
    "note": "Note",
    "review": "Review order",
    "change": "Change details",
    "place": "Place order",
    "filter": "Filter",
}
# A redesign that keeps its words, but for two.
MOVED = {
    "berth": "Berth or quay",
    "note": "Note to the desk",
}
RELABELLED = {
    "new_order": "Start an order",
    "review": "Continue to check",
    "place": "Submit purchase",
}


def word(key: str, switches: Switches) -> str:
    if switches.relabelled and key in RELABELLED:
        return RELABELLED[key]
    if switches.moved and key in MOVED:
        return MOVED[key]
    return AS_RECORDED[key]
