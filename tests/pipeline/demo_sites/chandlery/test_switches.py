"""The bundled site with ids on the wrong elements: still a site that works, whatever else is on."""

import itertools
import re
from collections.abc import Iterator

import pytest

from rutter.pipeline.demo_sites.chandlery import Site
from rutter.pipeline.demo_sites.chandlery.switches import Switches
from rutter.pipeline.demo_sites.markup import SWAPPED
from tests.pipeline.demo_sites.chandlery.test_server import PAGES, Client, Outline
from tests.support.case_table import for_each

LOOKS = [
    Switches(moved=moved, relabelled=relabelled, swapped=swapped)
    for moved, relabelled, swapped in itertools.product((False, True), repeat=3)
]


@pytest.fixture
def site() -> Iterator[Site]:
    with Site() as running:
        yield running


@pytest.fixture
def clerk(site: Site) -> Iterator[Client]:
    client = Client(site)
    client.sign_in()
    yield client
    client.connection.close()


def control(body: str, mark: str) -> str:
    """The start tag that has this test id, and the text behind it."""
    found = re.search(rf'<[^<>]*data-testid="{mark}"[^<>]*>[^<]*', body)
    assert found is not None, mark
    return found[0]


@for_each("switches", LOOKS)
def test_every_page_is_well_formed_in_every_combination(
    site: Site, clerk: Client, switches: Switches
) -> None:
    clerk.review()
    site.switches = switches
    for path in PAGES:
        page = Outline(clerk.get(path).body)
        assert page.open in (["html"], [])
        assert len(page.ids) == len(set(page.ids))
        assert page.pointed_at <= set(page.ids)
        assert page.controls <= page.labelled


@for_each("switches", LOOKS)
def test_it_still_takes_orders_in_every_combination(
    site: Site, clerk: Client, switches: Switches
) -> None:
    site.switches = switches
    before = len(site.orders)
    clerk.post(f"{clerk.review()}/place")
    assert [order.placed for order in site.orders[before:]] == [True]


def test_swapped_puts_an_id_on_the_look_alike(site: Site, clerk: Client) -> None:
    draft = clerk.review()
    assert "Place order" in control(clerk.get(draft).body, "place-order")
    site.switches = Switches(swapped=True)
    assert "Place on hold" in control(clerk.get(draft).body, "place-order")
    assert "Place order" in control(clerk.get(draft).body, "place-hold")


def test_a_swapped_field_keeps_its_label_and_its_name(site: Site, clerk: Client) -> None:
    site.switches = Switches(swapped=True)
    body = clerk.get("/orders/new?customer=201").body
    assert 'name="note"' in control(body, "order-berth")
    assert re.search(r'<label for="order-berth">Note</label>', body)


def test_every_pair_is_on_some_page_together(site: Site, clerk: Client) -> None:
    clerk.review()
    site.switches = Switches(swapped=True)
    bodies = [clerk.get(path).body for path in PAGES]
    for pair in SWAPPED:
        assert any(all(f'id="{name}"' in body for name in pair) for body in bodies), pair
