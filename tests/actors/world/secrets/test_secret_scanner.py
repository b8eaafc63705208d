"""What looks like a secret is found by its shape, and what only resembles one is left alone."""

import re
from collections.abc import Iterator

import msgspec

from rutter.actors.world.secrets.redaction import Redactor, redactor_of
from rutter.actors.world.secrets.secret_scanner import MAX_WORD, Detector
from rutter.events.action import Untrusted
from rutter.events.executor import ActionFailed
from rutter.events.observer import PageObserved
from rutter.events.page import Page, PageElement
from rutter.events.policy import Policy
from tests.support.case_table import for_each
from tests.support.golden_logs import envelopes, names, older
from tests.support.shop_facts import recording_of

DETECT = Detector()
# Put together here: a scanner of sources need not find them.
JWT = (
    "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9"
    + ".eyJzdWIiOiIxMjM0NTY3ODkwIn0."
    + "dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"
)
KEY = "-----BEGIN RSA " + "PRIVATE KEY-----\nMIIEabc/+=\nMIIEdef\n-----END RSA PRIVATE KEY-----"
FINDS = [
    ("card", "4111 1111 1111 1111"),
    ("card", "5555-5555-5555-4444"),
    ("card", "3782 822463 10005"),
    ("card", "6011\u00a01111\u00a01111\u00a01117"),
    ("card", "6304 0000 0000 0000"),
    ("iban", "DE89 3704 0044 0532 0130 00"),
    ("iban", "GB82WEST12345698765432"),
    ("iban", "FR14 2004 1010 0505 0001 3M02 606"),
    ("jwt", JWT),
    ("private key", KEY),
    ("aws key", "AKIA" + "IOSFODNN7EXAMPLE"),
    ("github token", "ghp_" + "a1B2" * 9),
    ("gitlab token", "glpat-" + "a1B2" * 6),
    ("stripe key", "sk_live_" + "a1B2" * 20),
    ("slack token", "xoxb-" + "123456789012-abcdefABCDEF"),
    ("google key", "AIza" + "x1" * 17 + "y"),
    ("api key", "sk-ant-" + "api03-" + "a1B2" * 10),
    ("sendgrid key", "SG." + "a" * 22 + "." + "b" * 43),
    ("telegram token", "123456789:AA" + "x1" * 16 + "y"),
]
# Said by the words around them.
CARDS = [
    *("Card number: 378282246310005", "30569309025904 (Diners, exp 09/29)"),
    *("Kreditkarte 2223003122003222", "MasterCard 5555555555554444"),
    *("Carte bancaire n\u00b0 4111111111111111", "n\u00famero de tarjeta: 4111111111111111"),
    *("PAN=x 4111111111111111", "4111111111111111 CVV 123", "cc: 4111111111111111"),
]
HARMLESS = [
    "Order 4111111111111111 is in your cart",
    "Invoice 378282246310005, postcards and discarded panels",
    "Card orders" + " and others" * 6 + ": 4111111111111111",
    "Order 4111111111111112, placed 2024-11-14 22:13:20",  # the last digit is wrong
    "Order 1234567890123456 of 2024",
    "EAN 4006381333931 and ISBN 978-3-16-148410-0",
    "1731622400000 and 1731622400000123 are times",
    "+49 4111 1111 1111, +4941111111111111 and +1 (555) 010-9999 are called",
    "IMEI 356938035643809, VIN 1HGCM82633A004352, UPS 1Z999AA10123456784",
    "Invoice #4111-1111-1111-1111-22 / 4111 1111 1111 11112",
    "0000 0000 0000 0000 and 4444 4444 4444 4444",
    "1.234.567.890.123,45 EUR; 4,111,111,111,111,111",
    "DE89 3704 0044 0532 0130 01, GB82 is a room, IT60 too",
    "6ba7b810-9dad-11d1-80b4-00c04fd430c8, d41d8cd98f00b204e9800998ecf8427e",
    "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
    "Write to ann@shop.example or https://shop.example:8080/@ann?at=12:30",
    "eyJ is how JSON begins in base64; see the PRIVATE beach, -us and -them",
    "risk-averse task-force desk-top sk-8ers, xoxo, ghp_short, AKIA",
    "SG.1 and SG.2 met at 12:AA; AIza is a name; hf_and npm_ are prefixes",
    "APARTMENT, APERITIF, AC and DC, SKU SK0123456789",
    "4111 1111 1111",
    "Sendungsnummer 00340434161094042557",
]


@for_each("kind, text", FINDS)
@for_each("around", ["{}", "it is {}, or was", 'key="{}"', "({})", "is:{}."])
def test_it_is_replaced_by_its_kind(kind: str, text: str, around: str) -> None:
    shown = around.format(text)
    if kind in ("card", "iban") and "=" in around:
        shown = shown.replace("=", " ")
    assert DETECT.may_hold(shown.encode())
    cleaned = DETECT.clean(shown)
    assert f"<secret? {kind}>" in cleaned
    assert text[6:] not in cleaned
    assert cleaned.startswith(shown.partition(text)[0])


@for_each("text", CARDS)
def test_digits_without_groups_are_a_card_where_something_near_says_so(text: str) -> None:
    cleaned = DETECT.clean(text)
    assert "<secret? card>" in cleaned
    assert not re.search(r"\d{14}", cleaned)


def test_few_numbers_of_orders_are_taken_for_cards() -> None:
    numbers = [f"Order number {4000_0000_0000_0000 + 7_919_000_003 * at}" for at in range(2_000)]
    assert [text for text in numbers if DETECT.clean(text) != text] == []


def test_the_name_of_a_field_says_what_its_value_is() -> None:
    redact = Redactor({}, DETECT)
    digits, find = Untrusted("4111111111111111"), Untrusted("<secret? card>")
    for name, kept in (("Card number", find), ("Order number", digits)):
        field = PageElement("textbox", Untrusted(name), value=digits)
        cells = (PageElement("cell", Untrusted(name)), PageElement("cell", digits))
        cleaned = redact(
            PageObserved(Page("https://a/", elements=(field, *cells)), why="requested")
        )
        assert isinstance(cleaned, PageObserved)
        first, _, last = cleaned.page.elements
        assert (first.value, last.name) == (kept, kept)


def test_of_an_address_only_the_password_goes() -> None:
    shown = "see https://ann:hunter2hunter@shop.example/x"
    assert DETECT.clean(shown) == "see https://ann:<secret? password>@shop.example/x"


@for_each("text", HARMLESS)
def test_what_only_resembles_one_stays(text: str) -> None:
    assert DETECT.clean(text) == text


def strings(value: object) -> Iterator[str]:
    match value:
        case str():
            yield value
        case list():
            for each in value:
                yield from strings(each)
        case dict():
            for each in value.values():
                yield from strings(each)
        case _:
            return


def test_nothing_is_found_in_the_logs_of_real_runs() -> None:
    told = (each.event for name in (*names(), *older()) for each in envelopes(name))
    texts = {text for event in told for text in strings(msgspec.to_builtins(event))}
    assert len(texts) > 1_000
    assert [text for text in texts if DETECT.clean(text) != text] == []


def page(text: str, url: str = "https://shop.example/") -> PageObserved:
    return PageObserved(
        Page(url, elements=(PageElement("cell", Untrusted(text)),)), why="requested"
    )


def test_a_find_is_in_no_event_and_all_else_is_as_it_was() -> None:
    redact = Redactor({}, DETECT)
    assert redact(page("Card 4111 1111 1111 1111 ok")) == page("Card <secret? card> ok")
    harmless = page("Order 4111111111111112")
    assert redact(harmless) is harmless


def test_the_number_in_an_address_and_a_digest_stay() -> None:
    redact = Redactor({}, DETECT)
    url = "https://shop.example/orders/4111111111111111"
    cleaned = redact(page(f"4111-1111-1111-1111 token {JWT}", url + "?t=" + JWT))
    assert isinstance(cleaned, PageObserved)
    assert cleaned.page.url == url + "?t=<secret? jwt>"
    assert cleaned.page.elements[0].name.text == "<secret? card> token <secret? jwt>"


def test_what_the_session_was_started_with_is_no_find() -> None:
    begun = recording_of(values={"account": "DE89370400440532013000", "card": "4111111111111111"})
    redact = redactor_of(begun, {})
    assert redact(begun) is begun
    echoed = page("DE89370400440532013000 and 4111 1111 1111 1111, 5555-5555-5555-4444")
    assert redact(echoed) == page("DE89370400440532013000 and 4111 1111 1111 1111, <secret? card>")


def test_it_can_be_switched_off() -> None:
    begun = recording_of(policy=Policy("1", detect_secrets=False))
    seen = page("4111 1111 1111 1111")
    assert redactor_of(begun, {})(seen) is seen


def test_a_failure_that_repeats_one_is_cleaned_too() -> None:
    failed = Redactor({}, DETECT)(ActionFailed(1, 1, "action_failed", False, f"bad token {JWT}"))
    assert isinstance(failed, ActionFailed)
    assert failed.message == "bad token <secret? jwt>"


def test_a_word_without_end_is_looked_at_in_pieces() -> None:
    word = "eyJ" * MAX_WORD
    assert DETECT.clean(word) == word
    assert DETECT.clean(f"{word} {JWT}") == f"{word} <secret? jwt>"
