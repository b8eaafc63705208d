"""The chandler's store knows customers, products, drafts and orders, all in memory."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import TypeVar

TODAY = date(2026, 3, 2)
TODAY_IN_WORDS = "Monday 2 March 2026"
END_OF_WEEK = "2026-03-08"
FIRST_DRAFT = 501
T = TypeVar("T")
# Abandoned drafts of a long soak are forgotten; no flow looks back further than a few.
DRAFTS_KEPT = 4096


@dataclass(frozen=True)
class Customer:
    id: int
    name: str
    vessel: str
    port: str
    terms: str


@dataclass(frozen=True)
class Product:
    sku: str
    name: str
    unit: str
    price_cents: int


@dataclass(frozen=True)
class Draft:
    """A draft is an order as reviewed, not placed. `product` is the sku, `delivery` an ISO date."""

    number: int
    customer: str
    product: str
    quantity: int
    delivery: str
    berth: str
    priority: str
    note: str


@dataclass(frozen=True)
class Order(Draft):
    """An order is stored like this. One that was put on hold has a number but is not placed."""

    placed: bool
    stage: str = "Placed"

    @property
    def status(self) -> str:
        return self.stage if self.placed else "On hold"


class NotStored(LookupError):
    """Nothing has this number."""


@dataclass
class Store:
    """The store is the single copy of the truth; whoever calls holds the site's lock."""

    customers: Sequence[Customer]
    products: Sequence[Product]
    orders: list[Order]
    drafts: dict[int, Draft] = field(default_factory=dict)
    next_draft: int = FIRST_DRAFT

    def find_customer(self, customer_id: int) -> Customer:
        return _the_one(c for c in self.customers if c.id == customer_id)

    def find_draft(self, number: int) -> Draft:
        return _the_one(d for d in self.drafts.values() if d.number == number)

    def find_order(self, number: int) -> Order:
        return _the_one(o for o in self.orders if o.number == number)

    def search_customers(self, text: str) -> list[Customer]:
        wanted = " ".join(text.split()).casefold()
        return [
            customer
            for customer in self.customers
            if wanted in f"{customer.name}\n{customer.vessel}\n{customer.port}".casefold()
        ]

    def find_product(self, sku: str) -> Product | None:
        return next((p for p in self.products if p.sku == sku), None)

    def name_of(self, order: Draft) -> str:
        product = self.find_product(order.product)
        return product.name if product else order.product

    def price_of(self, order: Draft) -> str:
        product = self.find_product(order.product)
        return money(product.price_cents * order.quantity) if product else "-"

    def search_orders(self, number: str = "", customer: str = "") -> list[Order]:
        """Newest first; `number` matches from the left, as a clerk types it."""
        wanted = number.strip()
        return [
            order
            for order in reversed(self.orders)
            if str(order.number).startswith(wanted) and customer in ("", order.customer)
        ]

    def add_draft(self, draft: Draft) -> None:
        self.drafts[draft.number] = draft
        self.next_draft = draft.number + 1
        if len(self.drafts) > DRAFTS_KEPT:
            del self.drafts[min(self.drafts)]

    def add_order(self, draft: Draft, *, placed: bool) -> Order:
        """Deliberately not idempotent: an order sent twice shows as two."""
        number = self.orders[-1].number + 1
        order = Order(**{**vars(draft), "number": number}, placed=placed)
        self.orders.append(order)
        return order


def money(cents: int) -> str:
    return f"{cents // 100:,}.{cents % 100:02d} EUR"


def _the_one(found: Iterable[T]) -> T:
    for each in found:
        return each
    raise NotStored
