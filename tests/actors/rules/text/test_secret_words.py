"""What sounds secret: the same to us and to the page's own script."""

import re
from pathlib import Path

from rutter.actors.rules.text import secret_words
from rutter.actors.rules.text.secret_words import asks_for_a_secret, safe_url
from tests.support.case_table import for_each

PAGE = Path(secret_words.__file__).parents[2] / "world" / "browser" / "page" / "reading.js"
SECRET = [
    *("password", "Passwort", "user_passwd", "passphrase", "PIN", "card-pin", "otp", "app_totp"),
    *(
        *("One-time code", "verification code", "SMS code", "securityCode", "cvc", "CVV2"),
        *("pwd", "csc"),
    ),
    *("card number", "cardNumber", "credit card", "creditCard", "ccnum", "cc-number", "cc_csc"),
    *("2fa", "mfa_code", "auth code", "csc"),
]
PLAIN = [
    *("name", "shipping", "spinner", "opinion", "note", "quantity", "postcode", "company", "topic"),
    *("discard", "cardboard", "customer number", "pinned", "description", "laptop", "option"),
]


@for_each("words", SECRET)
def test_it_asks_for_a_secret(words: str) -> None:
    assert asks_for_a_secret(words)


@for_each("words", PLAIN)
def test_it_asks_for_nothing_secret(words: str) -> None:
    assert not asks_for_a_secret(words)


def test_the_page_has_the_same_words() -> None:
    [script] = re.findall(r"const SECRET_WORDS = /(.*)/i;", PAGE.read_text("utf-8"))
    assert script == secret_words._ASKS.pattern


@for_each(
    "url, safe",
    [
        ("https://a.example/x?page=2", "https://a.example/x?page=2"),
        ("https://a.example/x?token=1&page=2", "https://a.example/x?token=(secret)&page=2"),
        ("https://a.example/#access_token=1", "https://a.example/#access_token=(secret)"),
        ("https://a.example/x?pass%77ord=1", "https://a.example/x?pass%77ord=(secret)"),
        ("https://a.example/x?password=", "https://a.example/x?password="),
        ("https://a.example/x", "https://a.example/x"),
    ],
)
def test_an_address_is_told_without_what_sounds_secret(url: str, safe: str) -> None:
    assert safe_url(url) == safe
