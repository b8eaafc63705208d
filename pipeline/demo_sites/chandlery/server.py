"""The shop answers every address from its store, as its switches say."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from rutter.pipeline.demo_sites.chandlery.forms import (
    BLANK_ORDER,
    PRIORITIES,
    QUANTITY_MAX,
    check_order,
    draft_order,
    draft_values,
    parse_quantity,
    read_order,
)
from rutter.pipeline.demo_sites.chandlery.seed import CUSTOMERS, ORDERS, PRODUCTS
from rutter.pipeline.demo_sites.chandlery.store import (
    END_OF_WEEK,
    TODAY,
    TODAY_IN_WORDS,
    Customer,
    NotStored,
    Order,
    Store,
    money,
)
from rutter.pipeline.demo_sites.chandlery.switches import Switches
from rutter.pipeline.demo_sites.chandlery.wording import word
from rutter.pipeline.demo_sites.markup import swap_marks
from rutter.pipeline.demo_sites.request import SiteRequest, SiteResponse, redirect
from rutter.pipeline.demo_sites.sign_ins import DEFAULT_PASSWORD, USER
from rutter.pipeline.demo_sites.site import DemoSite

RECENT_ORDERS = 5
LISTED_ORDERS = 25


class Site(DemoSite[Switches]):
    """A site is one shop with its own state. `with Site() as site:` serves it for that long."""

    name = "chandlery"
    title = "Chandlery"
    package = __package__
    default_password = DEFAULT_PASSWORD
    default_switches = Switches()

    @property
    def orders(self) -> tuple[Order, ...]:
        """What is really stored, the seeded orders first."""
        with self._lock:
            return tuple(self._store.orders)

    def restore(self) -> None:
        self._store = Store(CUSTOMERS, PRODUCTS, list(ORDERS))

    def word(self, key: str) -> str:
        return word(key, self._switches)

    def disguise(self, html: str) -> str:
        return super().disguise(swap_marks(html) if self._switches.swapped else html)

    def page(self, name: str, status: int = 200, /, **given: object) -> SiteResponse:
        always = {"store": self._store, "user": USER, "today": TODAY_IN_WORDS}
        return super().page(name, status, **always, **given)

    def answer(self, request: SiteRequest) -> SiteResponse:
        """Whoever is not signed in is sent to the login page."""
        path = request.path
        if path != "/login" and not self.is_signed_in(request):
            if path.startswith("/api/"):
                return self._json(401, {"error": "not signed in"})
            return redirect("/login")
        matches = {method: (found, handler) for method, pattern, handler in ROUTES
                   if (found := re.fullmatch(pattern, path))}  # fmt: skip
        if request.method not in matches:
            if matches:
                return self.say("Not possible", "This page does not do that.", 405)
            return self.say("Not found", "There is nothing at this address.", 404)
        found, handler = matches[request.method]
        try:
            return handler(self, replace(request, key=int(found[1]) if found.groups() else 0))
        except NotStored:
            return self.say("Not found", "There is nothing at this address.", 404)

    def _json(self, status: int, value: Mapping[str, str]) -> SiteResponse:
        delay_ms = self._switches.slow_estimate_ms
        return SiteResponse(status, json.dumps(value), "application/json", delay_ms=delay_ms)

    def show_login(self, _: SiteRequest) -> SiteResponse:
        return self.page("login", name="", error="")

    def sign_in(self, request: SiteRequest) -> SiteResponse:
        user = request.form.get("user", "")
        if user == USER and request.form.get("password") == self.password:
            return redirect("/desk", self._sessions.open_session())
        return self.page("login", 422, name=user, error="User name or password is wrong.")

    def sign_out(self, request: SiteRequest) -> SiteResponse:
        self._sessions.close_session(request.token)
        return redirect("/login", "")

    def show_desk(self, _: SiteRequest) -> SiteResponse:
        orders = self._store.orders
        waiting = [order for order in orders if order.status not in ("Delivered", "On hold")]
        tiles = (
            (len(waiting), "waiting for delivery"),
            (sum(order.delivery <= END_OF_WEEK for order in waiting), "due this week"),
            (sum(not order.placed for order in orders), "on hold"),
        )
        return self.page("desk", tiles=tiles, orders=self._store.search_orders()[:RECENT_ORDERS])

    def show_customers(self, request: SiteRequest) -> SiteResponse:
        query = request.query.get("q", "")
        return self.page("customers", query=query, found=self._store.search_customers(query))

    def show_customer(self, request: SiteRequest) -> SiteResponse:
        customer = self._store.find_customer(request.key)
        orders = self._store.search_orders(customer=customer.name)[:RECENT_ORDERS]
        return self.page("customer", customer=customer, orders=orders)

    def show_order_form(self, request: SiteRequest) -> SiteResponse:
        customer = self._store.find_customer(_number(request, "customer"))
        draft = self._store.drafts.get(_number(request, "draft"))
        return self._order_form(customer, draft_values(draft) if draft else BLANK_ORDER, {})

    def save_draft(self, request: SiteRequest) -> SiteResponse:
        customer = self._store.find_customer(_number(request, "customer"))
        values = read_order(request.form)
        if errors := check_order(values, self._store):
            return self._order_form(customer, values, errors, 422)
        draft = draft_order(values, customer, self._store)
        self._store.add_draft(draft)
        if request.form.get("then") == "later":
            return redirect(f"/customers/{customer.id}")
        return redirect(f"/drafts/{draft.number}")

    def _order_form(
        self,
        customer: Customer,
        values: Mapping[str, str],
        errors: Mapping[str, str],
        status: int = 200,
    ) -> SiteResponse:
        return self.page(
            "order_form",
            status,
            customer=customer,
            values=values,
            errors=errors,
            products=[(each.sku, f"{each.name} ({each.unit})") for each in self._store.products],
            priorities=[(each, each.capitalize()) for each in PRIORITIES],
            quantity_max=QUANTITY_MAX,
            first_day=TODAY,
        )

    def show_draft(self, request: SiteRequest) -> SiteResponse:
        draft = self._store.find_draft(request.key)
        customer = next(each for each in self._store.customers if each.name == draft.customer)
        toast = self._switches.lying_toast and "placed" in request.query
        return self.page("review", draft=draft, customer=customer, toast=toast)

    def place_order(self, request: SiteRequest) -> SiteResponse:
        draft = self._store.find_draft(request.key)
        if self._switches.lying_toast:
            return redirect(f"/drafts/{draft.number}?placed=1")
        if self._switches.silent_fail:
            return redirect("/orders/received")
        return redirect(f"/orders/{self._store.add_order(draft, placed=True).number}")

    def hold_order(self, request: SiteRequest) -> SiteResponse:
        draft = self._store.find_draft(request.key)
        return redirect(f"/orders/{self._store.add_order(draft, placed=False).number}")

    def show_received(self, _: SiteRequest) -> SiteResponse:
        return self.say("Thank you", "We have received your order and are on it.")

    def show_order(self, request: SiteRequest) -> SiteResponse:
        return self.page("order", order=self._store.find_order(request.key))

    def show_orders(self, request: SiteRequest) -> SiteResponse:
        number = request.query.get("number", "")
        names = {customer.id: customer.name for customer in self._store.customers}
        found = self._store.search_orders(number, names.get(_number(request, "customer"), ""))
        return self.page("orders", number=number, found=len(found), orders=found[:LISTED_ORDERS])

    def show_estimate(self, request: SiteRequest) -> SiteResponse:
        quantity = parse_quantity(request.query.get("quantity", ""))
        product = self._store.find_product(request.query.get("product", ""))
        if product is None or quantity is None:
            error = "a product and a quantity from 1 to 999 are needed"
            return self._json(400, {"error": error})
        return self._json(200, {"estimate": money(product.price_cents * quantity)})


def _number(request: SiteRequest, name: str) -> int:
    """Zero, which is nobody's number, for anything that is not one."""
    text = request.query.get(name, "")
    return int(text) if re.fullmatch(r"[0-9]{1,9}", text) else 0


Handler = Callable[[Site, SiteRequest], SiteResponse]
ROUTES: tuple[tuple[str, str, Handler], ...] = (
    ("GET", "/login", Site.show_login),
    ("POST", "/login", Site.sign_in),
    ("GET", "/logout", Site.sign_out),
    ("GET", "/", lambda *_: redirect("/desk")),
    ("GET", "/desk", Site.show_desk),
    ("GET", "/customers", Site.show_customers),
    ("GET", "/customers/([0-9]{1,9})", Site.show_customer),
    ("GET", "/orders/new", Site.show_order_form),
    ("POST", "/orders/new", Site.save_draft),
    ("GET", "/drafts/([0-9]{1,9})", Site.show_draft),
    ("POST", "/drafts/([0-9]{1,9})/place", Site.place_order),
    ("POST", "/drafts/([0-9]{1,9})/hold", Site.hold_order),
    ("GET", "/orders/received", Site.show_received),
    ("GET", "/orders/([0-9]{1,9})", Site.show_order),
    ("GET", "/orders", Site.show_orders),
    ("GET", "/api/estimate", Site.show_estimate),
)
