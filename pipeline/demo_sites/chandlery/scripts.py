"""Scripts hold flows on the site as Chrome DevTools Recorder writes them, ready to be recorded
from."""

from rutter.pipeline.demo_sites.sign_ins import DEFAULT_PASSWORD, USER

Step = dict[str, object]


def order_script(
    base_url: str,
    *,
    customer: str = "Aurora Shipping",
    product: str = "mooring-rope",
    quantity: str = "3",
    delivery: str = "2026-03-20",
    berth: str = "Waalhaven pier 7",
    note: str = "Call the bosun on arrival.",
    user: str = USER,
    password: str = DEFAULT_PASSWORD,
) -> dict[str, object]:
    """From the login to an urgent order placed, its number read, and the list of orders.

    `product` is the value of an option, a sku. The customer is opened as the only one found.
    """
    return {
        "title": "Place an order",
        "steps": [
            *_sign_in(base_url, user, password),
            _click("nav-customers", "Customers", to=f"{base_url}/customers", title="Customers"),
            _change("customer-search", "Customer search", customer),
            _key("keyDown", "Enter", navigates=True),
            _key("keyUp", "Enter"),
            _click_row("customer-link", customer),
            _click("new-order", "New order", navigates=True),
            _change("order-product", "Product", product),
            _change("order-quantity", "Quantity", quantity),
            _change("order-delivery", "Delivery date", delivery),
            _change("order-berth", "Berth", berth),
            _choose("priority-urgent", "Urgent"),
            _change("order-note", "Note", note),
            _click("review-order", "Review order", navigates=True),
            _click("place-order", "Place order", navigates=True),
            _extract("order_number", "order-number"),
            _click("nav-orders", "Orders", to=f"{base_url}/orders", title="Orders"),
        ],
    }


def find_order_script(
    base_url: str,
    *,
    number: str = "1003",
    user: str = USER,
    password: str = DEFAULT_PASSWORD,
) -> dict[str, object]:
    """From the login to one order found by its number, and its status read."""
    return {
        "title": "Find an order",
        "steps": [
            *_sign_in(base_url, user, password),
            _click("nav-orders", "Orders", to=f"{base_url}/orders", title="Orders"),
            _change("order-filter", "Order number", number),
            _click("order-filter-submit", "Filter", navigates=True),
            _click_row("order-link", number),
            _extract("order_status", "order-status"),
        ],
    }


def _sign_in(base_url: str, user: str, password: str) -> list[Step]:
    return [
        {
            "type": "setViewport",
            "width": 1280,
            "height": 900,
            "deviceScaleFactor": 1,
            "isMobile": False,
            "hasTouch": False,
            "isLandscape": False,
        },
        {
            "type": "navigate",
            "url": f"{base_url}/login",
            "assertedEvents": [_navigation(f"{base_url}/login", "Sign in")],
        },
        _change("login-user", "User name", user),
        _change("login-password", "Password", password),
        _click("login-submit", "Sign in", to=f"{base_url}/desk", title="Desk"),
    ]


def _selectors(name: str, label: str) -> list[list[str]]:
    return [
        [f"aria/{label}"],
        [f'[data-testid="{name}"]'],
        [f"#{name}"],
        [f'xpath///*[@data-testid="{name}"]'],
        [f"pierce/#{name}"],
    ]


def _change(name: str, label: str, value: str) -> Step:
    return {
        "type": "change",
        "target": "main",
        "value": value,
        "selectors": _selectors(name, label),
    }


def _click(
    name: str, label: str, *, to: str = "", title: str = "", navigates: bool = False
) -> Step:
    step: Step = {
        "type": "click",
        "target": "main",
        "selectors": [*_selectors(name, label), [f"text/{label}"]],
        "offsetX": 8,
        "offsetY": 8,
    }
    if to or navigates:
        step["assertedEvents"] = [_navigation(to, title)]
    return step


def _choose(name: str, label: str) -> Step:
    """A radio button, which has no text of its own."""
    return {
        "type": "click",
        "target": "main",
        "selectors": _selectors(name, label),
        "offsetX": 6,
        "offsetY": 6,
    }


def _click_row(name: str, text: str) -> Step:
    """The link in the first row: by its text, or by a mark that every row has.

    The cell around the link has the same accessible name, hence the role.
    """
    return {
        "type": "click",
        "target": "main",
        "selectors": [
            [f'aria/{text}[role="link"]'],
            [f'[data-testid="{name}"]'],
            [f'xpath///*[@data-testid="{name}"]'],
            [f"text/{text}"],
        ],
        "offsetX": 8,
        "offsetY": 8,
        "assertedEvents": [_navigation()],
    }


def _key(kind: str, key: str, *, navigates: bool = False) -> Step:
    step: Step = {"type": kind, "target": "main", "key": key}
    if navigates:
        step["assertedEvents"] = [_navigation()]
    return step


def _extract(name: str, mark: str) -> Step:
    selectors = [[f'[data-testid="{mark}"]'], [f"#{mark}"]]
    return {
        "type": "customStep",
        "target": "main",
        "name": "extract",
        "parameters": {"name": name, "selectors": selectors},
    }


def _navigation(url: str = "", title: str = "") -> Step:
    """Address and title only where they do not depend on what was typed or stored."""
    if not url:
        return {"type": "navigation"}
    return {"type": "navigation", "url": url, "title": f"{title} - Chandlery"}
