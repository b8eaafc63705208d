"""The bundled site over plain HTTP: every page, every refusal, every switch."""

import json
import re
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from html.parser import HTMLParser
from urllib.parse import urlencode, urlsplit

import pytest

import tests.support.site_client as client
from rutter.pipeline.demo_sites.chandlery import Order, Site, Switches
from rutter.pipeline.demo_sites.chandlery.seed import CUSTOMERS, ORDERS, PRODUCTS
from tests.support.case_table import for_each

GOOD_ORDER = {
    "product": "mooring-rope",
    "quantity": "3",
    "delivery": "2026-03-20",
    "berth": "Waalhaven pier 7",
    "priority": "urgent",
    "note": "Call the bosun.",
}


@dataclass
class Client(client.Client):
    """Somebody at the shop."""

    site: Site

    def sign_in(self) -> client.Answer:
        return self.post("/login", user="mate", password=self.site.password)

    def review(self, **changed: str) -> str:
        """Fills the form in for Aurora Shipping; the path of the draft."""
        return self.post("/orders/new?customer=201", **GOOD_ORDER | changed).location


@pytest.fixture(autouse=True)
def _hang_up() -> Iterator[None]:
    yield
    Client.hang_up()


NEVER_MS = 60_000  # longer than a client waits


@pytest.fixture(scope="module")
def served() -> Iterator[Site]:
    with Site() as site:
        yield site


@pytest.fixture
def site(served: Site) -> Site:
    served.reset()
    return served


@pytest.fixture
def guest(site: Site) -> Client:
    return Client(site)


@pytest.fixture
def clerk(site: Site) -> Client:
    client = Client(site)
    assert client.sign_in().status == 303
    return client


def new_orders(site: Site) -> tuple[Order, ...]:
    return site.orders[len(ORDERS) :]


def attribute_values(html: str, name: str) -> list[str]:
    return re.findall(rf'\s{name}="([^"]*)"', html.partition("</style>")[2])


# Signing in and out


@for_each("path", ["/", "/desk", "/customers", "/orders/1001", "/nowhere"])
def test_a_guest_is_sent_to_the_login_page(guest: Client, path: str) -> None:
    answer = guest.get(path)
    assert (answer.status, answer.location) == (303, "/login")


def test_the_right_password_opens_the_desk(guest: Client) -> None:
    answer = guest.sign_in()
    assert (answer.status, answer.location) == (303, "/desk")
    cookie = answer.headers["Set-Cookie"]
    assert "; HttpOnly" in cookie
    assert "; SameSite=Lax" in cookie
    assert "<h1>Desk</h1>" in guest.get("/desk").body


@pytest.mark.parametrize(
    ("user", "password"), [("mate", "granny"), ("cook", "bowline-7"), ("", "")]
)
def test_a_wrong_password_shows_the_form_again(guest: Client, user: str, password: str) -> None:
    answer = guest.post("/login", user=user, password=password)
    assert answer.status == 422
    assert 'role="alert"' in answer.body
    assert f'value="{user}"' in answer.body
    assert "granny" not in answer.body
    assert guest.get("/desk").location == "/login"


def test_the_password_can_be_chosen() -> None:
    with Site(password="sheepshank-2") as site:
        assert Client(site).post("/login", user="mate", password="bowline-7").status == 422
        assert Client(site).sign_in().status == 303


def test_logging_out_ends_the_session_on_the_server(clerk: Client) -> None:
    stolen = clerk.cookie
    assert clerk.get("/logout").location == "/login"
    clerk.cookie = stolen
    assert clerk.get("/desk").location == "/login"


def test_one_site_does_not_accept_the_session_of_another(clerk: Client) -> None:
    with Site() as other:
        Client(other).sign_in()
        stranger = Client(other, cookie=clerk.cookie)
        assert stranger.get("/desk").location == "/login"


# Customers


def test_all_customers_are_listed(clerk: Client) -> None:
    body = clerk.get("/customers").body
    assert all(customer.name in body for customer in CUSTOMERS)


@for_each("customer", CUSTOMERS)
def test_a_search_by_name_finds_exactly_that_customer(clerk: Client, customer: object) -> None:
    name = str(getattr(customer, "name", ""))
    body = clerk.get("/customers?" + urlencode({"q": name.upper()})).body
    assert body.count('data-testid="customer-link"') == 1
    assert f">{name}</a>" in body


def test_a_search_that_finds_nobody_says_so(clerk: Client) -> None:
    assert "No customer matches" in clerk.get("/customers?q=zzz").body


def test_what_was_searched_for_comes_back_escaped(clerk: Client) -> None:
    body = clerk.get("/customers?" + urlencode({"q": '"><script>alert(1)</script>'})).body
    assert "<script>alert(1)" not in body
    assert "&#34;&gt;&lt;script&gt;" in body


def test_a_customer_page_leads_to_a_new_order(clerk: Client) -> None:
    body = clerk.get("/customers/202").body
    assert "<h1>Baltic Tern Lines</h1>" in body
    assert 'href="/orders/new?customer=202"' in body
    assert 'href="/orders/1003"' in body


@for_each(
    "path",
    ["/customers/999", "/orders/999", "/drafts/999", "/orders/new", "/orders/new?customer=x", "/x"],
)
def test_what_is_not_there_is_not_found(clerk: Client, path: str) -> None:
    assert clerk.get(path).status == 404


@pytest.mark.parametrize("path", ["/desk", "/customers/201"])
def test_a_page_that_takes_no_post_says_so(clerk: Client, path: str) -> None:
    assert clerk.post(path).status == 405


# Orders


def test_an_order_is_drafted_reviewed_and_placed(site: Site, clerk: Client) -> None:
    draft = clerk.review()
    assert draft == "/drafts/501"
    review = clerk.get(draft).body
    for shown in ("Aurora Shipping", "Mooring rope", "2026-03-20", "Urgent", "1,237.50 EUR"):
        assert shown in review
    assert new_orders(site) == ()

    placed = clerk.post(f"{draft}/place")
    assert (placed.status, placed.location) == (303, "/orders/1007")
    body = clerk.get(placed.location).body
    assert "<h1>Order 1007 placed</h1>" in body
    assert 'data-testid="order-number">1007<' in body
    assert new_orders(site) == (
        Order(
            1007, "Aurora Shipping", "mooring-rope", 3, "2026-03-20", "Waalhaven pier 7",
            "urgent", "Call the bosun.", placed=True,
        ),
    )  # fmt: skip
    assert ">1007</a>" in clerk.get("/orders").body


def test_an_order_placed_twice_is_stored_twice(site: Site, clerk: Client) -> None:
    draft = clerk.review()
    clerk.post(f"{draft}/place")
    clerk.post(f"{draft}/place")
    assert [order.number for order in new_orders(site)] == [1007, 1008]


def test_a_draft_can_be_changed(clerk: Client) -> None:
    draft = clerk.review(note="two\r\nlines")
    assert 'href="/orders/new?customer=201&amp;draft=501"' in clerk.get(draft).body
    form = clerk.get("/orders/new?customer=201&draft=501").body
    assert '<option value="mooring-rope" selected>' in form
    assert 'value="Waalhaven pier 7"' in form
    assert ">\ntwo\nlines</textarea>" in form


@for_each(
    "name, value, message",
    [
        ("product", "", "Choose a product."),
        ("product", "gold", "Choose a product."),
        ("quantity", "0", "Enter a whole number from 1 to 999."),
        ("quantity", "1000", "Enter a whole number from 1 to 999."),
        ("quantity", "1.5", "Enter a whole number from 1 to 999."),
        ("quantity", "٣", "Enter a whole number from 1 to 999."),
        ("delivery", "", "Enter a delivery date."),
        ("delivery", "20/03/2026", "Enter a delivery date."),
        ("delivery", "2026-02-30", "Enter a date that exists."),
        ("delivery", "2026-03-01", "Choose 2026-03-02 or later."),
        ("berth", "   ", "Say where the vessel lies."),
        ("berth", "b" * 61, "Use at most 60 characters."),
        ("priority", "whenever", "Choose a priority."),
        ("note", "n" * 501, "Use at most 500 characters."),
    ],
)
def test_a_wrong_field_is_named_and_nothing_else_is_lost(
    site: Site, clerk: Client, name: str, value: str, message: str
) -> None:
    answer = clerk.post("/orders/new?customer=201", **GOOD_ORDER | {name: value})
    assert answer.status == 422
    assert 'role="alert"' in answer.body
    assert re.findall(r'<p class="mistake"[^>]*>([^<]*)</p>', answer.body) == [message]
    kept = "Waalhaven pier 7" if name != "berth" else "Call the bosun."
    assert kept in answer.body
    assert clerk.get("/drafts/501").status == 404


def test_today_is_not_too_early(clerk: Client) -> None:
    assert clerk.review(delivery="2026-03-02") == "/drafts/501"


def test_the_estimate_follows_product_and_quantity(clerk: Client) -> None:
    answer = clerk.get("/api/estimate?product=chart-pencils&quantity=12")
    assert answer.headers["Content-Type"] == "application/json"
    assert json.loads(answer.body) == {"estimate": "106.80 EUR"}


@pytest.mark.parametrize("query", ["", "product=gold&quantity=1", "product=fire-hose&quantity=-1"])
def test_an_estimate_of_nothing_is_refused(clerk: Client, query: str) -> None:
    assert clerk.get(f"/api/estimate?{query}").status == 400


def test_an_estimate_is_for_those_signed_in(guest: Client) -> None:
    assert guest.get("/api/estimate?product=fire-hose&quantity=1").status == 401


def test_the_list_is_filtered_by_number(clerk: Client) -> None:
    assert clerk.get("/orders").body.count('data-testid="order-link"') == len(ORDERS)
    body = clerk.get("/orders?number=1003").body
    assert body.count('data-testid="order-link"') == 1
    assert "No order has this number" in clerk.get("/orders?number=77").body


def test_an_order_shows_its_status(clerk: Client) -> None:
    assert "<h1>Order 1003 packed</h1>" in clerk.get("/orders/1003").body
    assert "<h1>Order 1005 on hold</h1>" in clerk.get("/orders/1005").body


def test_a_long_list_is_cut(site: Site, clerk: Client) -> None:
    draft = clerk.review()
    for _ in range(30):
        clerk.post(f"{draft}/place")
    body = clerk.get("/orders").body
    assert body.count('data-testid="order-link"') == 25
    assert "Showing 25 of 36." in body


# Every page as a document


class Outline(HTMLParser):
    """Collects what a page must be consistent about."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.pointed_at: set[str] = set()
        self.controls: set[str] = set()
        self.labelled: set[str] = set()
        self.outside: list[str] = []
        self.tags: list[str] = []
        self.open: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.tags.append(tag)
        if tag not in ("meta", "input", "path", "circle"):
            self.open.append(tag)
        if "id" in values:
            self.ids.append(values["id"])
        for name in ("for", "aria-labelledby", "aria-describedby"):
            self.pointed_at.update(values.get(name, "").split())
        if tag in ("input", "select", "textarea"):
            self.controls.add(values["id"])
        if tag == "label":
            self.labelled.add(values["for"])
        for name in ("src", "href", "action"):
            if values.get(name, "/").partition("/")[0]:
                self.outside.append(values[name])

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


LOOKS = [
    Switches(),
    Switches(moved=True),
    Switches(relabelled=True, covered=True, dialog=True, banner=True, lying_toast=True),
    Switches(moved=True, relabelled=True, covered=True, dead_button=True, banner=True),
]
PAGES = [
    "/login", "/desk", "/customers", "/customers?q=tern", "/customers?q=zzz", "/customers/202",
    "/orders/new?customer=201", "/drafts/501", "/drafts/501?placed=1", "/orders", "/orders/1002",
    "/orders?number=9", "/orders/received", "/nowhere",
]  # fmt: skip


@for_each("look", range(len(LOOKS)))
@for_each("path", PAGES)
def test_every_page_is_well_formed_and_labelled(
    site: Site, clerk: Client, path: str, look: int
) -> None:
    site.switches = Switches()
    clerk.review()
    site.switches = LOOKS[look]
    answer = clerk.get(path)
    page = Outline(answer.body)
    assert page.open == ["html"] or page.open == []
    assert page.tags.count("h1") == page.tags.count("main") == page.tags.count("title") == 1
    assert len(page.ids) == len(set(page.ids))
    assert page.pointed_at <= set(page.ids)
    assert page.controls <= page.labelled
    assert page.outside == []
    assert clerk.get(path).body == answer.body


# Switches


def test_the_switches_start_as_given_and_reset_brings_them_back() -> None:
    with Site(switches=Switches(banner=True)) as site:
        clerk = Client(site)
        clerk.sign_in()
        clerk.post(f"{clerk.review()}/place")
        site.switches = Switches(moved=True)
        site.reset()
        assert site.switches == Switches(banner=True)
        assert site.orders == ORDERS
        assert site.requests == []
        assert clerk.get("/desk").location == "/login"


def test_slow_delays_pages_but_not_redirects(site: Site, clerk: Client) -> None:
    site.switches = Switches(slow_ms=NEVER_MS)
    clerk.get("/")
    clerk.get("/favicon.ico")
    clerk.get("/api/estimate?product=fire-hose&quantity=1")
    assert is_waited_for(site, clerk, "/desk")


def test_slow_estimate_delays_only_the_estimate(site: Site, clerk: Client) -> None:
    site.switches = Switches(slow_estimate_ms=NEVER_MS)
    clerk.get("/desk")
    assert is_waited_for(site, clerk, "/api/estimate?product=fire-hose&quantity=1")


def test_a_slow_page_stops_nobody_else(site: Site, clerk: Client) -> None:
    site.switches = Switches(slow_ms=NEVER_MS)
    assert is_waited_for(site, clerk, "/desk")
    assert ("GET", "/desk") in site.requests
    clerk.get("/favicon.ico")


def is_waited_for(site: Site, client: Client, path: str) -> bool:
    """Whether nothing comes for a while: what comes at once is asked for with more patience."""
    impatient = Client(site, cookie=client.cookie)
    impatient.connection.timeout = 0.2
    try:
        impatient.get(path)
    except TimeoutError:
        return True
    return False


@for_each("path", PAGES)
def test_moved_renames_every_id_class_and_test_id(site: Site, clerk: Client, path: str) -> None:
    site.switches = Switches()
    clerk.review()
    before = clerk.get(path).body
    site.switches = Switches(moved=True)
    after = clerk.get(path).body
    wrapper = set(re.findall(r'<div class="([^"]*)"><div>', after))
    for name in ("id", "class", "data-testid"):
        was = {part for value in attribute_values(before, name) for part in value.split()}
        now = {part for value in attribute_values(after, name) for part in value.split()}
        assert was
        assert not was & now
        assert len(was) == len(now if name != "class" else now - wrapper)
    assert after.count("<div") > before.count("<div")


def test_moved_classes_still_have_their_style(site: Site, clerk: Client) -> None:
    site.switches = Switches(moved=True)
    body = clerk.get("/desk").body
    style = body.partition("</style>")[0]
    styled = {part for value in attribute_values(body, "class") for part in value.split()}
    unstyled = [name for name in styled if f".{name}" not in style]
    assert ".masthead" not in style
    assert len(unstyled) <= 2  # the wrapper, and a status without a colour of its own


def test_moved_reorders_fields_and_keeps_most_labels(site: Site, clerk: Client) -> None:
    before = labels(clerk.get("/orders/new?customer=201").body)
    site.switches = Switches(moved=True)
    after = labels(clerk.get("/orders/new?customer=201").body)
    assert before == [
        "Product", "Quantity", "Delivery date", "Berth", "Routine", "Urgent", "Note",
    ]  # fmt: skip
    assert after == [
        "Note to the desk", "Routine", "Urgent", "Delivery date", "Berth or quay",
        "Product", "Quantity",
    ]  # fmt: skip


def labels(html: str) -> list[str]:
    return re.findall(r"<label[^>]*>(?:<input[^>]*>)?([^<]*)</label>", html)


def test_a_moved_site_still_takes_orders(site: Site, clerk: Client) -> None:
    site.switches = Switches(moved=True, relabelled=True)
    assert clerk.post(f"{clerk.review()}/place").location == "/orders/1007"
    assert len(new_orders(site)) == 1


def test_relabelled_renames_buttons_and_adds_look_alikes(site: Site, clerk: Client) -> None:
    draft = clerk.review()
    site.switches = Switches(relabelled=True)
    review = clerk.get(draft).body
    assert "Place order" not in review
    assert review.index("Place on hold") < review.index("Submit purchase")
    customer = clerk.get("/customers/201").body
    assert customer.index(">New orders</a>") < customer.index(">Start an order</a>")
    form = clerk.get("/orders/new?customer=201").body
    assert form.index("Review order later") < form.index("Continue to check")


def test_the_look_alikes_do_something_else(site: Site, clerk: Client) -> None:
    held = clerk.post(f"{clerk.review()}/hold").location
    assert "<h1>Order 1007 on hold</h1>" in clerk.get(held).body
    assert [order.placed for order in new_orders(site)] == [False]
    assert clerk.review(then="later") == "/customers/201"
    assert "No order has this number" in clerk.get("/orders?customer=205").body


def test_covered_lays_an_overlay_over_the_review(site: Site, clerk: Client) -> None:
    draft = clerk.review()
    assert "Accept cookies" not in clerk.get(draft).body
    site.switches = Switches(covered=True)
    assert 'role="dialog"' in clerk.get(draft).body
    assert "Accept cookies" not in clerk.get("/desk").body


def test_cookies_are_asked_about_on_the_desk_alone(site: Site, clerk: Client) -> None:
    assert "Accept all cookies" not in clerk.get("/desk").body
    site.switches = Switches(cookies=True)
    assert "Accept all cookies" in clerk.get("/desk").body
    assert "Accept all cookies" not in clerk.get("/orders").body


def test_a_survey_comes_late_over_the_list_of_all_orders(site: Site, clerk: Client) -> None:
    assert "Tell us what you think" not in clerk.get("/orders").body
    site.switches = Switches(survey_ms=250)
    assert "hidden = false, 250)" in clerk.get("/orders").body
    assert "Tell us what you think" not in clerk.get("/orders?number=1003").body
    assert "Tell us what you think" not in clerk.get("/desk").body


def test_dialog_asks_before_placing(site: Site, clerk: Client) -> None:
    draft = clerk.review()
    assert "confirm(" not in clerk.get(draft).body
    site.switches = Switches(dialog=True)
    assert "return confirm('Place this order?')" in clerk.get(draft).body


def test_a_dead_button_submits_nothing(site: Site, clerk: Client) -> None:
    draft = clerk.review()
    assert 'data-testid="place-order" type="submit"' in clerk.get(draft).body
    site.switches = Switches(dead_button=True)
    assert 'data-testid="place-order" type="button"' in clerk.get(draft).body


def test_a_silent_failure_thanks_and_stores_nothing(site: Site, clerk: Client) -> None:
    site.switches = Switches(silent_fail=True)
    answer = clerk.post(f"{clerk.review()}/place")
    body = clerk.get(answer.location).body
    assert "<h1>Thank you</h1>" in body
    assert "order-number" not in body
    assert new_orders(site) == ()


def test_a_lying_toast_says_placed_and_stores_nothing(site: Site, clerk: Client) -> None:
    draft = clerk.review()
    site.switches = Switches(lying_toast=True)
    assert 'role="status"' not in clerk.get(draft).body
    answer = clerk.post(f"{draft}/place")
    assert answer.location.startswith(draft)
    body = clerk.get(answer.location).body
    assert "Order placed</div>" in body
    assert "<h1>Review</h1>" in body
    assert new_orders(site) == ()


def test_the_banner_is_on_the_desk_only(site: Site, clerk: Client) -> None:
    assert "Dismiss" not in clerk.get("/desk").body
    site.switches = Switches(banner=True)
    assert "Dismiss" in clerk.get("/desk").body
    assert "Dismiss" not in clerk.get("/customers").body


def test_an_expired_login_leads_back_and_stays_lost(site: Site, clerk: Client) -> None:
    site.switches = Switches(expired_login=True)
    assert clerk.get("/desk").location == "/login"
    clerk.sign_in()
    assert clerk.get("/desk").location == "/login"
    site.switches = replace(site.switches, expired_login=False)
    newcomer = Client(site)
    newcomer.sign_in()
    assert newcomer.get("/desk").status == 200


def test_expired_sessions_can_be_opened_again(site: Site, clerk: Client) -> None:
    site.expire_sessions()
    assert clerk.get("/desk").location == "/login"
    clerk.sign_in()
    assert clerk.get("/desk").status == 200


# The server itself


def test_requests_are_remembered_without_the_favicon(site: Site, clerk: Client) -> None:
    assert clerk.get("/favicon.ico").status == 204
    clerk.get("/customers?q=tern")
    assert site.requests == [("POST", "/login"), ("GET", "/customers?q=tern")]


def test_two_sites_know_nothing_of_each_other(site: Site, clerk: Client) -> None:
    with Site() as other:
        clerk.post(f"{clerk.review()}/place")
        assert other.orders == ORDERS
        assert other.base_url != site.base_url


def test_the_same_requests_give_the_same_bytes() -> None:
    def walk() -> list[str]:
        with Site() as site:
            clerk = Client(site)
            clerk.sign_in()
            clerk.post(f"{clerk.review()}/place")
            return [clerk.cookie.partition("=")[2], *(clerk.get(path).body for path in PAGES)]

    assert walk() == walk()


def test_kept_alive_requests_do_not_stall(clerk: Client) -> None:
    # Five tries: a machine that is busy stalls them as well, but not each time.
    assert any(usual_seconds(clerk) < 0.03 for _ in range(5)), "a delayed ack would cost 40 ms"


def usual_seconds(client: Client) -> float:
    return sorted(seconds(client, "/desk") for _ in range(50))[25]


def seconds(client: Client, path: str) -> float:
    start = time.perf_counter()
    client.get(path)
    return time.perf_counter() - start


def test_stop_is_quick_with_a_slow_page_and_an_idle_connection_open() -> None:
    site = Site(switches=Switches(slow_ms=60_000))
    site.start()
    address = urlsplit(site.base_url)
    idle = socket.create_connection((str(address.hostname), address.port or 0))
    slow = socket.create_connection((str(address.hostname), address.port or 0))
    slow.sendall(b"GET /login HTTP/1.1\r\nHost: x\r\n\r\n")
    while not site.requests:
        time.sleep(0.005)
    start = time.perf_counter()
    site.stop()
    assert time.perf_counter() - start < 30
    idle.settimeout(20)
    assert idle.recv(1) == b""
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((str(address.hostname), address.port or 0), timeout=20)
    idle.close()
    slow.close()


def test_started_again_it_has_its_port_and_its_orders() -> None:
    site = Site()
    with site:
        first = site.base_url
        clerk = Client(site)
        clerk.sign_in()
        clerk.post(f"{clerk.review()}/place")
    with site:
        assert site.base_url == first
        assert len(new_orders(site)) == 1


def test_it_is_started_once_and_has_no_address_before() -> None:
    site = Site()
    with pytest.raises(RuntimeError, match="before it is started"):
        _ = site.base_url
    with site, pytest.raises(RuntimeError, match="already started"):
        site.start()
    site.stop()


@pytest.mark.parametrize(
    ("head", "status"),
    [
        ("POST /login HTTP/1.1\r\nHost: x\r\n", "411"),
        ("POST /login HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n", "411"),
        ("POST /login HTTP/1.1\r\nHost: x\r\nContent-Length: 9999999\r\n", "413"),
        ("POST /login HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n", "411"),
        ("GET /login?" + "a&" * 60 + " HTTP/1.1\r\nHost: x\r\n", "400"),
        ("GET http://[/ HTTP/1.1\r\nHost: x\r\n", "400"),
    ],
)
def test_a_malformed_request_is_refused_and_hung_up_on(site: Site, head: str, status: str) -> None:
    address = urlsplit(site.base_url)
    with socket.create_connection((str(address.hostname), address.port or 0), timeout=5) as raw:
        raw.sendall(head.encode() + b"\r\n")
        answer = b"".join(iter(lambda: raw.recv(4096), b""))
    assert answer.startswith(f"HTTP/1.1 {status} ".encode())


def test_many_browsers_at_once_lose_no_order(site: Site) -> None:
    def work() -> None:
        clerk = Client(site)
        clerk.sign_in()
        for _ in range(10):
            clerk.post(f"{clerk.review()}/place")

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [order.number for order in new_orders(site)] == list(range(1007, 1087))


def test_the_seed_is_large_enough_and_consistent() -> None:
    assert len(CUSTOMERS) == 12
    assert len(PRODUCTS) == 15
    skus = {product.sku for product in PRODUCTS}
    assert {order.product for order in ORDERS} <= skus
    assert {order.customer for order in ORDERS} <= {customer.name for customer in CUSTOMERS}
    assert [order.number for order in ORDERS] == list(range(1001, 1007))
