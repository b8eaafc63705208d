"""Given a URL: which place it is, in a form that is the same in the next run."""

from hypothesis import given
from hypothesis import strategies as st

from rutter.actors.rules.pages.address import (
    ada_url_decode,
    blur,
    host_of,
    is_at,
    named_origin,
    origin_of,
    place_of,
    place_of_page,
    same_address,
    same_document,
    stands_at,
)
from rutter.events.page import Page
from rutter.events.workflow import Place
from tests.support.case_table import for_each


@for_each(
    "url, path",
    [
        ("https://shop.example", "/"),
        ("https://shop.example/orders/new", "/orders/new"),
        ("https://shop.example/orders/1042", "/orders/*"),
        ("https://shop.example/orders/A-7/lines", "/orders/*/lines"),
        ("https://shop.example/find?q=rope#top", "/find"),
    ],
)
def test_a_place_is_origin_and_path_with_ids_as_stars(url: str, path: str) -> None:
    assert place_of(url) == Place("https://shop.example", path)


def test_a_parameters_value_in_the_path_becomes_a_star() -> None:
    url = "https://shop.example/customers/Aurora%20Shipping/edit"
    assert place_of(url, ["aurora shipping"]).path == "/customers/*/edit"
    assert place_of(url, ["Fairlead"]).path == "/customers/Aurora%20Shipping/edit"


def test_a_value_of_two_letters_is_too_short_to_be_recognised() -> None:
    assert place_of("https://shop.example/uk/orders", ["uk"]).path == "/uk/orders"
    assert place_of("https://shop.example/ann/orders", ["Ann"]).path == "/*/orders"


def test_the_origin_has_no_default_port_and_no_capitals() -> None:
    assert place_of("HTTPS://Shop.Example:443/A").origin == "https://shop.example"
    assert place_of("http://shop.example:8080/").origin == "http://shop.example:8080"


def test_what_has_no_origin_has_its_scheme() -> None:
    assert place_of("about:blank") == Place("about:", "blank")
    assert place_of("chrome-error://chromewebdata/").origin == "chrome-error:"


@for_each("nowhere", ["", "not a url", "http://", "//x"])
def test_what_is_no_url_is_no_place(nowhere: str) -> None:
    assert place_of(nowhere) == Place()


def test_a_star_stands_for_one_segment() -> None:
    order = Place("https://shop.example", "/orders/*")
    assert is_at(order, "https://shop.example/orders/7?x=1#y")
    assert is_at(order, "https://shop.example/orders/new")
    assert not is_at(order, "https://shop.example/orders")
    assert not is_at(order, "https://shop.example/orders/7/lines")
    assert not is_at(order, "https://shop.example/customers/7")
    assert not is_at(order, "http://shop.example/orders/7")
    assert not is_at(order, "https://shop.example:444/orders/7")


def test_a_plain_segment_stands_for_itself() -> None:
    assert not is_at(Place("https://shop.example", "/orders/new"), "https://shop.example/orders/7")


segments = st.lists(st.text("abcxyz019-", min_size=1, max_size=6), max_size=4)


@given(segments, st.sampled_from(["", "?q=1", "#frag"]))
def test_every_url_is_at_the_place_that_it_names(path: list[str], rest: str) -> None:
    url = "https://shop.example/" + "/".join(path) + rest
    assert is_at(place_of(url), url)
    assert is_at(place_of(url, path), url)


def test_a_fragment_does_not_make_another_document() -> None:
    assert same_document("https://a.example/x#1", "https://a.example/x#2")
    assert not same_document("https://a.example/x", "https://a.example/x?1")


@for_each(
    "url, parts",
    [
        ("http://Example.com:8080/x", ("http", "example.com", "8080")),
        ("https://example.com:443/", ("https", "example.com", "")),
        ("http://[::1]:9/", ("http", "[::1]", "9")),
        ("file:///etc/passwd", ("file", "", "")),
        ("nonsense", ("", "", "")),
    ],
)
def test_host_and_port_are_read_as_browsers_read_them(
    url: str, parts: tuple[str, str, str]
) -> None:
    assert host_of(url) == parts


@for_each(
    "text, origin, named",
    [
        ("https://Shop.example:443", "https://shop.example", True),
        ("https://shop.example/", "https://shop.example", True),
        ("http://[::1]:80", "http://[::1]", True),
        ("https://shop.example/x", "https://shop.example", False),
        ("https://shop.example//", "https://shop.example", False),
        ("https://shop.example/?", "https://shop.example", False),
        ("https://ann@shop.example", "https://shop.example", False),
        ("blob:https://shop.example/1", "https://shop.example", False),
        ("https://*.shop.example", "https://*.shop.example", False),
        ("about:blank", "", False),
        ("file:///etc", "", False),
        ("shop.example", "", False),
        ("", "", False),
    ],
)
def test_an_origin_is_read_as_browsers_write_it(text: str, origin: str, named: bool) -> None:
    assert origin_of(text) == origin
    assert named_origin(text) == (origin if named else "")


def test_page_text_is_blurred_to_what_does_not_vary() -> None:
    values = ["Aurora Shipping", "Aurora", "no"]
    assert blur("Order  1042 for AURORA shipping", values) == "order # for *"
    assert blur("Aurora's order no 3", values) == "*'s order no #"
    assert blur("Hello Ann", ["Ann"]) == "hello *"
    assert blur("") == ""


def test_a_percent_sign_that_is_not_utf8_stays_readable() -> None:
    assert ada_url_decode("caf%C3%A9") == "café"
    assert ada_url_decode("100%") == "100%"
    assert ada_url_decode("%FF") == "�"


SHOP = "https://shop.example"


@for_each(
    "path, found",
    [
        ("/notes/aBqXyzRtKm", "/notes/*"),
        ("/notes/bcdfghjk", "/notes/*"),
        ("/notes/deadbeef", "/notes/*"),
        ("/notes/PurchaseOrders", "/notes/PurchaseOrders"),
        ("/notes/settings", "/notes/settings"),
        ("/notes/my-first-note", "/notes/*"),
        ("/notes/My_first%20Note!", "/notes/*"),
    ],
)
def test_what_was_made_up_or_made_of_a_value_varies(path: str, found: str) -> None:
    assert place_of(SHOP + path, ["My first note!"]).path == found


def test_a_slash_at_the_end_and_an_empty_query_are_no_difference() -> None:
    assert is_at(Place(SHOP, "/orders/"), f"{SHOP}/orders")
    assert is_at(Place(SHOP, "/orders"), f"{SHOP}/orders/?")
    assert same_address(f"{SHOP}/orders?", f"{SHOP}/orders/#top")
    assert not same_address(f"{SHOP}/orders", f"{SHOP}/orders?page=2")
    assert not is_at(Place(SHOP, "/orders/*"), f"{SHOP}/orders/")


@for_each(
    "url, been, there",
    [
        ("/notes", (), True),
        ("/notes/list", ("/notes",), True),
        ("/draft", (), True),  # recorded as another name of it
        ("/notes/list", (), False),
        ("/error", ("/notes",), False),
        ("/", ("/notes",), False),
    ],
)
def test_a_page_is_where_it_named_itself_more_exactly(
    url: str, been: tuple[str, ...], there: bool
) -> None:
    page = Page(SHOP + url, been=tuple(SHOP + each for each in been))
    assert stands_at(Place(SHOP, "/notes", ("/draft",)), page) is there


def test_another_site_is_no_other_name_of_a_place() -> None:
    page = Page(f"{SHOP}/a/b", been=("https://other.example/x", f"{SHOP}/a", f"{SHOP}/a/b/"))
    assert place_of_page(page) == Place(SHOP, "/a/b", ("/a",))
