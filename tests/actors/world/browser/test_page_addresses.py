"""Addresses of a page: what it rewrites by itself is told from where a step led."""

from rutter.actors.world.browser.page_addresses import Addresses, leads_on
from tests.support.case_table import for_each


@for_each(
    "kind, role, been",
    [
        ("click", "button", ()),  # it led there
        ("press", "textbox", ()),
        ("type", "textbox", ("https://shop.example/add",)),  # saved while it was written
        ("click", "textbox", ("https://shop.example/add",)),  # the cursor was put there
    ],
)
def test_what_a_page_calls_itself_while_it_is_written_in_is_the_same_place(
    kind: str, role: str, been: tuple[str, ...]
) -> None:
    addresses = Addresses()
    addresses.on_document("https://shop.example/add")
    addresses.arm(leads=leads_on(kind, role))
    addresses.on_input()
    addresses.on_rewritten("https://shop.example/7/edit")
    assert addresses.been == been
