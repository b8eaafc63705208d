"""Routes make an answer of a request: a table and a handler for each. No I/O here."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import rutter.pipeline.demo_sites.chandlery.order_pages as order_pages
import rutter.pipeline.demo_sites.chandlery.pages as pages
from rutter.pipeline.demo_sites.chandlery.forms import (
    BLANK_ORDER,
    check_order,
    draft_order,
    draft_values,
    parse_quantity,
    read_order,
)
from rutter.pipeline.demo_sites.chandlery.store import Store
from rutter.pipeline.demo_sites.chandlery.switches import Switches
from rutter.pipeline.demo_sites.chandlery.view import View
from rutter.pipeline.demo_sites.markup import money
from rutter.pipeline.demo_sites.request import Request, Response
from rutter.pipeline.demo_sites.sign_ins import USER, Sessions


@dataclass(frozen=True)
class Call:
    """One request with all that a handler may look at; `key` is the number in the path."""

    request: Request
    store: Store
    sessions: Sessions
    switches: Switches
    password: str
    key: int = 0

    @property
    def view(self) -> View:
        return View(self.switches)


Handler = Callable[[Call], Response]


def answer(call: Call) -> Response:
    """The one way in: finds the route, and sends whoever is not signed in to the login page."""
    path = call.request.path
    if path == "/favicon.ico":
        return Response(204)
    if path != "/login" and not is_signed_in(call):
        if path.startswith("/api/"):
            return _json(401, {"error": "not signed in"})
        return _redirect("/login")
    matches = [(method, found, handler) for method, pattern, handler in ROUTES
               if (found := re.fullmatch(pattern, path))]  # fmt: skip
    if not matches:
        return _missing(call)
    for method, found, handler in matches:
        if method == call.request.method:
            key = int(found[1]) if found.groups() else 0
            return handler(replace(call, key=key))
    return _html(405, pages.message_page(call.view, "Not possible", "This page does not do that."))


def is_signed_in(call: Call) -> bool:
    return not call.switches.expired_login and call.sessions.is_open(call.request.token)


def _html(status: int, body: str) -> Response:
    return Response(status, body, pace="page")


def _json(status: int, value: Mapping[str, str]) -> Response:
    return Response(status, json.dumps(value), "application/json", pace="estimate")


def _redirect(location: str, token: str | None = None) -> Response:
    return Response(303, location=location, token=token)


def _missing(call: Call) -> Response:
    return _html(
        404, pages.message_page(call.view, "Not found", "There is nothing at this address.")
    )


def show_login(call: Call) -> Response:
    return _html(200, pages.login_page(call.view))


def sign_in(call: Call) -> Response:
    user = call.request.form.get("user", "")
    if user == USER and call.request.form.get("password") == call.password:
        return _redirect("/desk", call.sessions.open_session())
    return _html(422, pages.login_page(call.view, user, "User name or password is wrong."))


def sign_out(call: Call) -> Response:
    call.sessions.close_session(call.request.token)
    return _redirect("/login", "")


def show_start(call: Call) -> Response:
    return _redirect("/desk")


def show_desk(call: Call) -> Response:
    return _html(200, pages.desk_page(call.view, call.store))


def show_customers(call: Call) -> Response:
    query = call.request.query.get("q", "")
    found = call.store.search_customers(query)
    return _html(200, pages.customers_page(call.view, found, query))


def show_customer(call: Call) -> Response:
    customer = call.store.find_customer(call.key)
    if customer is None:
        return _missing(call)
    return _html(200, pages.customer_page(call.view, call.store, customer))


def show_order_form(call: Call) -> Response:
    customer = call.store.find_customer(_number(call.request.query.get("customer", "")))
    if customer is None:
        return _missing(call)
    draft = call.store.drafts.get(_number(call.request.query.get("draft", "")))
    values = draft_values(draft) if draft else BLANK_ORDER
    return _html(
        200, order_pages.order_form_page(call.view, call.store, customer, values, errors={})
    )


def save_draft(call: Call) -> Response:
    customer = call.store.find_customer(_number(call.request.query.get("customer", "")))
    if customer is None:
        return _missing(call)
    values = read_order(call.request.form)
    if errors := check_order(values, call.store):
        return _html(
            422, order_pages.order_form_page(call.view, call.store, customer, values, errors)
        )
    draft = draft_order(values, customer, call.store)
    call.store.add_draft(draft)
    if call.request.form.get("then") == "later":
        return _redirect(f"/customers/{customer.id}")
    return _redirect(f"/drafts/{draft.number}")


def show_draft(call: Call) -> Response:
    draft = call.store.drafts.get(call.key)
    if draft is None:
        return _missing(call)
    customer_id = next(c.id for c in call.store.customers if c.name == draft.customer)
    toast = call.switches.lying_toast and "placed" in call.request.query
    return _html(
        200, order_pages.review_page(call.view, call.store, draft, customer_id, toast=toast)
    )


def place_order(call: Call) -> Response:
    draft = call.store.drafts.get(call.key)
    if draft is None:
        return _missing(call)
    if call.switches.lying_toast:
        return _redirect(f"/drafts/{draft.number}?placed=1")
    if call.switches.silent_fail:
        return _redirect("/orders/received")
    return _redirect(f"/orders/{call.store.add_order(draft, placed=True).number}")


def hold_order(call: Call) -> Response:
    draft = call.store.drafts.get(call.key)
    if draft is None:
        return _missing(call)
    return _redirect(f"/orders/{call.store.add_order(draft, placed=False).number}")


def show_received(call: Call) -> Response:
    text = "We have received your order and are on it."
    return _html(200, pages.message_page(call.view, "Thank you", text))


def show_order(call: Call) -> Response:
    order = call.store.find_order(call.key)
    if order is None:
        return _missing(call)
    return _html(200, order_pages.order_page(call.view, call.store, order))


def show_orders(call: Call) -> Response:
    number = call.request.query.get("number", "")
    customer = call.store.find_customer(_number(call.request.query.get("customer", "")))
    found = call.store.search_orders(number, customer.name if customer else "")
    return _html(200, order_pages.orders_page(call.view, call.store, found, number))


def show_estimate(call: Call) -> Response:
    product = call.store.find_product(call.request.query.get("product", ""))
    quantity = parse_quantity(call.request.query.get("quantity", ""))
    if product is None or quantity is None:
        return _json(400, {"error": "a product and a quantity from 1 to 999 are needed"})
    return _json(200, {"estimate": money(product.price_cents * quantity)})


def _number(text: str) -> int:
    """Zero, which is nobody's number, for anything that is not one."""
    return int(text) if re.fullmatch(r"[0-9]{1,9}", text) else 0


ROUTES: tuple[tuple[str, str, Handler], ...] = (
    ("GET", "/login", show_login),
    ("POST", "/login", sign_in),
    ("GET", "/logout", sign_out),
    ("GET", "/", show_start),
    ("GET", "/desk", show_desk),
    ("GET", "/customers", show_customers),
    ("GET", "/customers/([0-9]{1,9})", show_customer),
    ("GET", "/orders/new", show_order_form),
    ("POST", "/orders/new", save_draft),
    ("GET", "/drafts/([0-9]{1,9})", show_draft),
    ("POST", "/drafts/([0-9]{1,9})/place", place_order),
    ("POST", "/drafts/([0-9]{1,9})/hold", hold_order),
    ("GET", "/orders/received", show_received),
    ("GET", "/orders/([0-9]{1,9})", show_order),
    ("GET", "/orders", show_orders),
    ("GET", "/api/estimate", show_estimate),
)
