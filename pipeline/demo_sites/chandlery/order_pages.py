"""The pages of an order show its form, its review, the order itself, and the list."""

from collections.abc import Mapping, Sequence
from html import escape

from rutter.pipeline.demo_sites.chandlery.forms import PRIORITIES, QUANTITY_MAX
from rutter.pipeline.demo_sites.chandlery.overlays import survey
from rutter.pipeline.demo_sites.chandlery.pages import orders_table
from rutter.pipeline.demo_sites.chandlery.store import TODAY, Customer, Draft, Order, Store
from rutter.pipeline.demo_sites.chandlery.view import View
from rutter.pipeline.demo_sites.markup import link, mark, money, select_options, tag, text_input

LISTED_ORDERS = 25
ASK_FIRST = "onsubmit=\"return confirm('Place this order?')\""
ESTIMATE_SCRIPT = """<script>
(() => {
  const form = document.forms.order;
  const shown = form.querySelector("output");
  let asked = 0;
  async function estimate() {
    const turn = ++asked;
    const wanted = {product: form.product.value, quantity: form.quantity.value};
    if (!wanted.product || !wanted.quantity) { shown.textContent = "-"; return; }
    const answer = await fetch("/api/estimate?" + new URLSearchParams(wanted));
    const reply = answer.ok ? await answer.json() : {};
    if (turn === asked) shown.textContent = reply.estimate || "-";
  }
  form.product.addEventListener("change", estimate);
  form.quantity.addEventListener("input", estimate);
  estimate();
})();
</script>"""


def order_form_page(
    view: View,
    store: Store,
    customer: Customer,
    values: Mapping[str, str],
    errors: Mapping[str, str],
) -> str:
    alert = (
        f'<div class="alert" role="alert" {mark("order-errors")}>'
        "The order cannot be reviewed yet. Please correct the marked fields.</div>"
    )
    fields = view.arrange(
        _goods_fields(view, store, values, errors),
        _delivery_fields(view, values, errors),
        _priority_field(view, values["priority"], errors),
        _field(view, "note", errors, "textarea", f">\n{escape(values['note'])}</textarea>"),
        _estimate_line(),
    )
    return view.page(
        "New order",
        "nav-customers",
        f'<h1>New order</h1><p class="lead">For {escape(customer.name)}, '
        f"{escape(customer.vessel)}</p>{alert if errors else ''}",
        f'<form class="card" name="order" method="post" novalidate {mark("order-form")} '
        f'action="/orders/new?customer={customer.id}">{fields}{_form_actions(view)}</form>{ESTIMATE_SCRIPT}',
    )


def _field(view: View, name: str, errors: Mapping[str, str], kind: str, rest: str) -> str:
    """A label, the element of that kind with the rest of its markup, and what is wrong with it."""
    mistake = f'<p class="mistake" id="order-{name}-error">{escape(errors.get(name, ""))}</p>'
    attributes = f'{mark(f"order-{name}")} name="{name}"'
    if name in errors:
        attributes += f' aria-invalid="true" aria-describedby="order-{name}-error"'
    return (
        f'<div class="field"><label for="order-{name}">{view.word(name)}</label>'
        f"<{kind} {attributes}{rest}{mistake if name in errors else ''}</div>"
    )


def _goods_fields(
    view: View, store: Store, values: Mapping[str, str], errors: Mapping[str, str]
) -> str:
    choices = {"": "Choose a product"} | {p.sku: f"{p.name} ({p.unit})" for p in store.products}
    options = select_options(choices, values["product"])
    quantity = f' type="number" min="1" max="{QUANTITY_MAX}" value="{escape(values["quantity"])}">'
    return (
        f'<div class="pair">{_field(view, "product", errors, "select", f">{options}</select>")}'
        f"{_field(view, 'quantity', errors, 'input', quantity)}</div>"
    )


def _delivery_fields(view: View, values: Mapping[str, str], errors: Mapping[str, str]) -> str:
    delivery = f' type="date" min="{TODAY}" value="{escape(values["delivery"])}">'
    berth = f' type="text" autocomplete="off" value="{escape(values["berth"])}">'
    return (
        f'<div class="pair">{_field(view, "delivery", errors, "input", delivery)}'
        f"{_field(view, 'berth', errors, 'input', berth)}</div>"
    )


def _priority_field(view: View, chosen: str, errors: Mapping[str, str]) -> str:
    radios = (
        f'<label for="priority-{value}"><input type="radio" name="priority" value="{value}" '
        f"{mark(f'priority-{value}')}{' checked' if value == chosen else ''}>"
        f"{value.capitalize()}</label>"
        for value in PRIORITIES
    )
    mistake = f'<p class="mistake">{escape(errors.get("priority", ""))}</p>'
    return (
        f'<fieldset class="choices"><legend>{view.word("priority")}</legend>{"".join(radios)}'
        f"{mistake if 'priority' in errors else ''}</fieldset>"
    )


def _estimate_line() -> str:
    return (
        '<div class="estimate"><span id="estimate-name">Estimated price</span>'
        f'<output {mark("order-estimate")} aria-labelledby="estimate-name">-</output></div>'
    )


def _form_actions(view: View) -> str:
    look_alike = (
        f'<button {mark("review-later")} class="button" name="then" value="later">'
        "Review order later</button>"
    )
    return (
        f'<div class="actions">{look_alike if view.switches.look_alikes else ""}'
        f'<button {mark("review-order")} class="button primary">{view.word("review")}</button>'
        "</div>"
    )


def review_page(view: View, store: Store, draft: Draft, customer_id: int, toast: bool) -> str:
    extras = (_consent() if view.switches.covered else "") + (
        f'<div class="toast" role="status" {mark("toast")}>Order placed</div>' if toast else ""
    )
    change = link(
        f"/orders/new?customer={customer_id}&draft={draft.number}",
        view.word("change"),
        f'class="button" {mark("change-order")}',
    )
    return view.page(
        "Review",
        "nav-customers",
        '<h1>Review</h1><p class="lead">Nothing is ordered until you place it.</p>',
        f'<section class="card" aria-label="Order details">'
        f"{view.facts(_order_facts(view, store, draft))}</section>",
        f'<div class="actions">{_place_forms(view, draft)}{change}</div>{extras}',
    )


def _place_forms(view: View, draft: Draft) -> str:
    look_alike = (
        f'<form method="post" action="/drafts/{draft.number}/hold">'
        f'<button {mark("place-hold")} class="button">Place on hold</button></form>'
    )
    kind = "button" if view.switches.dead_button else "submit"
    return (
        (look_alike if view.switches.look_alikes else "")
        + f'<form method="post" action="/drafts/{draft.number}/place" '
        f"{ASK_FIRST if view.switches.dialog else ''}>"
        f'<button {mark("place-order")} type="{kind}" class="button primary">'
        f"{view.word('place')}</button></form>"
    )


def _consent() -> str:
    return (
        f'<div class="overlay" role="dialog" aria-modal="true" aria-label="Cookies" '
        f'{mark("consent")}><div class="consent"><h2>Cookies on board</h2>'
        "<p>We use one cookie to keep you signed in. Please accept it to go on.</p>"
        f'<button type="button" class="button primary" {mark("consent-accept")} '
        "onclick=\"this.closest('[role=dialog]').remove()\">Accept cookies</button></div></div>"
    )


def _order_facts(view: View, store: Store, order: Draft | Order) -> dict[str, str]:
    product = store.find_product(order.product)
    facts = {
        "Customer": order.customer,
        view.word("product"): product.name if product else order.product,
        view.word("quantity"): str(order.quantity),
        view.word("delivery"): order.delivery,
        view.word("berth"): order.berth,
        view.word("priority"): order.priority.capitalize(),
        view.word("note"): order.note or "-",
        "Price": money(product.price_cents * order.quantity) if product else "-",
    }
    return {name: escape(value) for name, value in facts.items()}


def order_page(view: View, store: Store, order: Order) -> str:
    facts = {
        "Order number": f"<strong {mark('order-number')}>{order.number}</strong>",
        "Status": f"<span {mark('order-status')}>{tag(order.status)}</span>",
        **_order_facts(view, store, order),
    }
    return view.page(
        f"Order {order.number}",
        "nav-orders",
        f"<h1>Order {order.number} {order.status.lower()}</h1>"
        f'<p class="lead">{escape(order.customer)}</p>',
        f'<section class="card" aria-label="Order details">{view.facts(facts)}</section>',
    )


def orders_page(view: View, store: Store, found: Sequence[Order], number: str) -> str:
    search = text_input(
        "order-filter", "Order number", "text", number, 'name="number" inputmode="numeric"'
    )
    button = view.word("filter")
    listed = (
        orders_table(view, store, found[:LISTED_ORDERS])
        if found
        else f'<p role="status" {mark("order-none")}>No order has this number.</p>'
    )
    return view.page(
        "Orders",
        "nav-orders",
        f'<h1>Orders</h1><p class="lead">Showing {min(len(found), LISTED_ORDERS)} '
        f"of {len(found)}.</p>",
        f'<form class="searchbar" role="search" action="/orders">{search}'
        f'<button {mark("order-filter-submit")} class="button">{button}</button></form>',
        f'<section class="card" aria-label="Order list">{listed}</section>'
        f"{survey(0 if number else view.switches.survey_ms)}",
    )
