"""The pages around an order show sign-in, desk, customers, and what is not there."""

from collections.abc import Sequence
from html import escape

from rutter.pipeline.demo_sites.chandlery.overlays import cookies
from rutter.pipeline.demo_sites.chandlery.store import (
    END_OF_WEEK,
    TODAY_IN_WORDS,
    Customer,
    Order,
    Store,
)
from rutter.pipeline.demo_sites.chandlery.view import BRAND, View
from rutter.pipeline.demo_sites.markup import link, mark, tag, text_input

RECENT_ORDERS = 5


def login_page(view: View, user: str = "", error: str = "") -> str:
    alert = f'<div class="alert" role="alert" {mark("login-error")}>{escape(error)}</div>'
    user_field = text_input(
        "login-user", "User name", "text", user, 'name="user" autocomplete="username"'
    )
    password_field = text_input(
        "login-password", "Password", "password", "",
        'name="password" autocomplete="current-password"',
    )  # fmt: skip
    button = (
        f'<button {mark("login-submit")} class="button primary">{view.word("sign_in")}</button>'
    )
    fields = view.arrange(user_field + password_field + button)
    return view.document(
        "Sign in",
        f'<main class="gate" id="content">{BRAND}<div class="card"><h1>Welcome aboard</h1>'
        f'<p class="lead">The back office is for staff only.</p>{alert if error else ""}'
        f'<form method="post" action="/login" {mark("login-form")}>{fields}</form></div></main>',
    )


def desk_page(view: View, store: Store) -> str:
    return view.page(
        "Desk",
        "nav-desk",
        (_banner() if view.switches.banner else "")
        + f'<h1>Desk</h1><p class="lead">{TODAY_IN_WORDS}</p>',
        _tiles(view, store),
        f'<section class="card" aria-labelledby="recent"><h2 id="recent">Latest orders</h2>'
        f"{orders_table(view, store, store.search_orders()[:RECENT_ORDERS])}</section>"
        f"{cookies(asked=view.switches.cookies)}",
    )


def _banner() -> str:
    return (
        f'<aside class="banner" aria-label="Notice" {mark("desk-banner")}>'
        "<span>The price list changes on Monday 9 March. Quotes given before then stand.</span>"
        f'<button type="button" class="button" {mark("desk-banner-dismiss")} '
        "onclick=\"this.closest('aside').remove()\">Dismiss</button></aside>"
    )


def _tiles(view: View, store: Store) -> str:
    waiting = [order for order in store.orders if order.status not in ("Delivered", "On hold")]
    held = [order for order in store.orders if not order.placed]
    due = [order for order in waiting if order.delivery <= END_OF_WEEK]
    tiles = (
        f'<div class="tile"><b>{count}</b><span>{text}</span></div>'
        for count, text in (
            (len(waiting), "waiting for delivery"),
            (len(due), "due this week"),
            (len(held), "on hold"),
        )
    )
    return f'<div class="tiles">{view.arrange(*tiles)}</div>'


def orders_table(view: View, store: Store, orders: Sequence[Order]) -> str:
    rows = []
    for order in orders:
        product = store.find_product(order.product)
        rows.append((
            link(f"/orders/{order.number}", str(order.number), 'data-testid="order-link"'),
            escape(order.customer),
            escape(product.name if product else order.product),
            str(order.quantity),
            order.delivery,
            tag(order.status),
        ))  # fmt: skip
    columns = ("Number", "Customer", "Product", "Quantity", "Delivery", "Status")
    return view.table("Newest first", columns, rows)


def customers_page(view: View, found: Sequence[Customer], query: str) -> str:
    search = text_input("customer-search", "Customer search", "search", query, 'name="q"')
    button = view.word("search")
    return view.page(
        "Customers",
        "nav-customers",
        '<h1>Customers</h1><p class="lead">Search by company, vessel or port.</p>',
        f'<form class="searchbar" role="search" action="/customers">{search}'
        f'<button {mark("customer-search-submit")} class="button">{button}</button></form>',
        f'<section class="card" aria-label="Search results">{_customers_table(view, found)}'
        "</section>",
    )


def _customers_table(view: View, found: Sequence[Customer]) -> str:
    if not found:
        return f'<p role="status" {mark("customer-none")}>No customer matches this search.</p>'
    rows = [
        (
            link(f"/customers/{customer.id}", customer.name, 'data-testid="customer-link"'),
            escape(customer.vessel),
            escape(customer.port),
            escape(customer.terms),
        )
        for customer in found
    ]
    caption = "1 customer" if len(found) == 1 else f"{len(found)} customers"
    return view.table(caption, ("Company", "Vessel", "Home port", "Terms"), rows)


def customer_page(view: View, store: Store, customer: Customer) -> str:
    orders = store.search_orders(customer=customer.name)[:RECENT_ORDERS]
    history = orders_table(view, store, orders) if orders else "<p>No orders yet.</p>"
    facts = {
        "Account": str(customer.id),
        "Vessel": escape(customer.vessel),
        "Home port": escape(customer.port),
        "Terms": escape(customer.terms),
    }
    return view.page(
        customer.name,
        "nav-customers",
        f"<h1>{escape(customer.name)}</h1>"
        f'<p class="lead">{escape(customer.vessel)}, {escape(customer.port)}</p>',
        f'<div class="actions">{_customer_actions(view, customer)}</div>',
        f'<section class="card" aria-label="Account">{view.facts(facts)}</section>',
        f'<section class="card" aria-labelledby="history"><h2 id="history">Order history</h2>'
        f"{history}</section>",
    )


def _customer_actions(view: View, customer: Customer) -> str:
    look_alike = link(
        f"/orders?customer={customer.id}", "New orders", f'class="button" {mark("recent-orders")}'
    )
    new_order = link(
        f"/orders/new?customer={customer.id}",
        view.word("new_order"),
        f'class="button primary" {mark("new-order")}',
    )
    return (look_alike if view.switches.look_alikes else "") + new_order


def message_page(view: View, title: str, text: str) -> str:
    """A page that only says something, such as that nothing is there."""
    return view.page(
        title, "", f'<h1>{escape(title)}</h1><p class="lead" role="status">{escape(text)}</p>'
    )
