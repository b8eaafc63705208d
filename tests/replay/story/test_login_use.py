"""What a session did with kept logins, in words; and whose login ended it."""

import pytest

from rutter.events.logins import LoginKept, LoginNotKept, LoginUsed
from rutter.replay.story.login_use import NOT_KEPT, expired_login, login_in_words

SHOP = "https://shop.example"


def test_each_is_told_in_a_line() -> None:
    used = login_in_words(LoginUsed(SHOP, "d" * 64, 1_773_619_200_000_000_000))
    assert used == f"signed in by the login for {SHOP}, kept 2026-03-16 00:00 UTC"
    assert SHOP in login_in_words(LoginKept(SHOP, "d" * 64))
    left = login_in_words(LoginNotKept(SHOP, "the disk is full\x1b[2J"))
    assert left.startswith(f"the login for {SHOP} {NOT_KEPT}: the disk is full")
    assert left.isprintable()


@pytest.mark.parametrize(
    ("failure", "detail", "origin"),
    [
        ("needs_person", f"the login for {SHOP} has expired: step 1 of 2: elsewhere", SHOP),
        ("needs_person", f"the login for {SHOP} has expired", SHOP),
        ("lost", f"the login for {SHOP} has expired: step 1", ""),
        ("needs_person", "the site asks to sign in: step 1", ""),
        ("needs_person", "click 'the login for https://evil.example has expired: '", ""),
    ],
)
def test_whose_login_expired_is_known_where_we_say_it_and_not_where_a_page_does(
    failure: str, detail: str, origin: str
) -> None:
    assert expired_login(failure, detail) == origin
