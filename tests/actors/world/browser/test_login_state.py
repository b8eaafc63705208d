"""Of all that a browser knows, a login is what is sent to one origin and what that one stored."""

import traceback
from typing import Any

import pytest
from playwright.async_api import Error as PlaywrightError

from rutter.actors.world.browser.login_state import (
    BrowserState,
    is_signed_out,
    of_origin,
    state_of,
    together,
    tokens_in,
)
from rutter.actors.world.browser.window import Window
from rutter.actors.world.browser.window_load import WindowLoad
from rutter.events.errors import BrowserGone
from tests.support.case_table import for_each

SHOP = "https://app.shop.example"
TOKEN = "4f9a0c77b1e2d3a4c5b6978812345678"


def cookie(domain: str, name: str = "sid", value: str = TOKEN, **more: Any) -> dict[str, Any]:
    told = {"name": name, "value": value, "domain": domain, "path": "/", "httpOnly": True}
    return {**told, "secure": False, **more}


def stored(origin: str, **items: str) -> dict[str, Any]:
    listed = [{"name": name, "value": value} for name, value in items.items()]
    return {"origin": origin, "localStorage": listed}


def known(*cookies: dict[str, Any], origins: tuple[dict[str, Any], ...] = ()) -> BrowserState:
    return BrowserState(cookies, origins)


@for_each(
    "domain, sent",
    [
        ("app.shop.example", True),
        (".app.shop.example", True),
        (".shop.example", True),
        ("shop.example", False),  # of that host alone
        (".example", True),  # which no browser would have taken
        (".op.example", False),
        ("op.example", False),
        (".other.example", False),
        ("www.app.shop.example", False),
        (".www.app.shop.example", False),
        ("ads.example", False),
        ("", False),
        (".", False),
    ],
)
def test_a_cookie_is_kept_if_it_would_be_sent_there(domain: str, sent: bool) -> None:
    found = of_origin(known(cookie(domain)), SHOP)

    assert bool(found.cookies) is sent


def test_a_secure_cookie_is_not_kept_for_a_place_where_others_can_listen() -> None:
    secure = known(cookie("nas.local", secure=True), cookie("127.0.0.1", secure=True))

    assert not of_origin(secure, "http://nas.local")
    assert of_origin(secure, "https://nas.local")
    assert of_origin(secure, "http://127.0.0.1:8000")  # nobody is between


def test_what_is_stored_is_of_one_origin_with_its_port() -> None:
    everything = known(
        origins=(stored(SHOP, a="1"), stored(f"{SHOP}:8443", b="2"), stored("https://ads.example"))
    )

    assert of_origin(everything, SHOP).origins == (stored(SHOP, a="1"),)
    assert not of_origin(everything, "http://app.shop.example")


def test_of_two_logins_with_the_same_cookie_the_later_one_holds() -> None:
    old, new = cookie(".shop.example", value="old"), cookie(".shop.example", value="new")
    other = cookie(".shop.example", name="lang", value="en")

    both = together([known(old, other), known(new)])

    assert both.cookies == (new, other)


def test_it_is_what_the_browser_told_and_nothing_of_it_is_printed() -> None:
    state = state_of({"cookies": [cookie("a.example")], "origins": [stored(SHOP, t=TOKEN)]})

    assert TOKEN in str(state.cookies)
    assert repr(state) == "BrowserState(1 cookies, 1 origins)"
    assert TOKEN not in f"{state} {state!r}"


@pytest.mark.anyio
async def test_a_browser_that_does_not_take_it_is_told_of_without_its_words() -> None:
    """They may hold what it was given, and a traceback tells what an error came from."""

    class Refusing:
        async def set_storage_state(self, given: object) -> None:
            raise PlaywrightError(f"cannot take {given}")

    nobody: Any = None
    refusing: Any = Refusing()
    window = Window(refusing, nobody, nobody, 1, nobody, WindowLoad())

    with pytest.raises(BrowserGone) as gone:
        await window.restore(known(cookie("a.example")))

    assert TOKEN not in "".join(traceback.format_exception(gone.value))


def test_tokens_are_what_scripts_are_not_shown_and_what_calls_itself_so() -> None:
    jwt = "eyJhbGciOi.eyJzdWIiOjF9.c2lnbmF0dXJl1"
    deep = '{"user": {"name": "Ann Example"}, "auth": {"access": "zz11yy22xx33ww44vv55"}}'
    state = known(
        cookie("a.example", value=TOKEN),
        cookie("a.example", name="csrf_token", value="c" * 15 + "9", httpOnly=False),
        cookie("a.example", name="visitor", value="v" * 15 + "9", httpOnly=False),
        origins=(stored(SHOP, session=jwt, profile=deep, theme="dark-mode-number-2"),),
    )

    assert set(tokens_in(state)) == {TOKEN, "c" * 15 + "9", jwt, "zz11yy22xx33ww44vv55"}


@for_each("value", ["{ab!cd*ef(gh)}&kl", "abcdefghijklmnop", "1234567890123456"])
def test_what_scripts_are_not_shown_may_be_of_any_make(value: str) -> None:
    assert tokens_in(known(cookie("a.example", value=value))) == (value,)
    assert tokens_in(known(cookie("a.example", value=value, httpOnly=False))) == ()


SIGNED_IN = known(cookie("a.example"), cookie("a.example", name="csrftoken"))


@for_each(
    "now, out",
    [
        (known(cookie("a.example", value="renewed")), False),
        (known(cookie("a.example", value="")), True),
        (known(cookie("a.example", name="csrftoken")), True),  # which anybody gets
        (known(cookie("a.example", name="lang", httpOnly=False)), True),
        (known(), True),
    ],
)
def test_whoever_has_nothing_left_to_be_known_by_is_signed_out(
    now: BrowserState, out: bool
) -> None:
    assert is_signed_out(SIGNED_IN, now) is out


def test_a_site_may_know_somebody_by_what_it_stored() -> None:
    lang = cookie("a.example", name="lang", value="en", httpOnly=False)
    before = known(lang, origins=(stored(SHOP, session=TOKEN),))

    assert not is_signed_out(before, known(origins=(stored(SHOP, session="renewed"),)))
    assert is_signed_out(before, known(lang, origins=(stored(SHOP, theme="dark"),)))
    assert not is_signed_out(known(lang), known())  # where nothing said so, nothing is known


@for_each(
    "value",
    [
        *("1", "en-GB", "ann@shop.example", "true", "a word or two 99", ""),
        *("/account/settings/", "https://shop.example/desk/"),
    ],
)
def test_what_may_stand_on_a_page_for_other_reasons_is_no_token(value: str) -> None:
    assert tokens_in(known(cookie("a.example", value=value))) == ()
