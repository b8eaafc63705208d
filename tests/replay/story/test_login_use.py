"""What a session did with kept logins, in words."""

from rutter.events.logins import LoginKept, LoginNotKept, LoginUsed
from rutter.replay.story.login_use import login_in_words

SHOP = "https://shop.example"


def test_each_is_told_in_a_line() -> None:
    used = login_in_words(LoginUsed(SHOP, "d" * 64, 1_773_619_200_000_000_000))
    assert used == f"signed in by the login for {SHOP}, kept 2026-03-16 00:00 UTC"
    assert SHOP in login_in_words(LoginKept(SHOP, "d" * 64))
    left = login_in_words(LoginNotKept(SHOP, "the disk is full\x1b[2J"))
    assert left.startswith(f"the login for {SHOP} was not kept again: the disk is full")
    assert left.isprintable()
