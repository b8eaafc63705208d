"""What was sent and how it was answered: known again in the next run."""

from rutter.actors.rules.pages.address import place_of
from rutter.actors.rules.pages.server_exchanges import (
    folded,
    is_one_of,
    is_own,
    learned_answer,
    matching,
    refused,
    taken,
    worst,
)
from rutter.events.checks import ServerAnswered
from rutter.events.page import Exchange
from rutter.events.workflow import Place
from tests.support.case_table import for_each
from tests.support.shop_facts import ORIGIN

AT = f"{ORIGIN}/orders/new"
SENT = f"POST {ORIGIN}/orders"
SAVED = f"PUT {ORIGIN}/drafts/7"


@for_each(
    "exchange, was_taken, was_refused",
    [
        (Exchange(1, SENT, status=200), True, False),
        (Exchange(1, SENT, status=303), True, False),
        (Exchange(1, SENT), False, False),  # not answered yet
        (Exchange(1, SENT, failed=True), False, False),
        (Exchange(1, SENT, status=200, failed=True), False, False),
        (Exchange(1, SENT, status=404), False, True),
        (Exchange(1, SENT, status=500), False, True),
    ],
)
def test_what_an_answer_says(exchange: Exchange, was_taken: bool, was_refused: bool) -> None:
    assert (taken(exchange), refused(exchange)) == (was_taken, was_refused)
    assert worst([Exchange(9, SAVED, status=200), exchange]) == (exchange if was_refused else None)


@for_each(
    "exchange, own",
    [
        (Exchange(1, SENT), True),
        (Exchange(1, SENT, beacon=True), False),
        (Exchange(1, "POST https://count.example/hit"), False),
        (Exchange(1, "POST http://shop.example/orders"), False),  # another scheme, another site
    ],
)
def test_what_went_to_the_site_of_the_page_is_its_own(exchange: Exchange, own: bool) -> None:
    assert is_own(exchange, AT) == own


def test_an_answer_is_known_for_its_request() -> None:
    first, other = Exchange(1, SENT), Exchange(2, SAVED, status=200)
    answered = Exchange(1, SENT, status=201)
    assert folded((first, other), [answered]) == (answered, other)
    assert folded((first,), [other], most=1) == (other,)


def test_what_was_answered_well_is_learned_without_what_was_typed() -> None:
    sent = [
        Exchange(1, f"PUT {ORIGIN}/drafts/Aurora-Shipping/text", status=200),
        Exchange(2, f"PUT {ORIGIN}/drafts/aurora-shipping/text", status=204),
        Exchange(3, SENT, status=201),
        Exchange(4, SAVED, status=500),
        Exchange(5, "POST https://count.example/hit", status=200),
        Exchange(6, f"POST {ORIGIN}/seen", status=200, beacon=True),
    ]
    learned = learned_answer(sent, place_of(AT), {"customer": "Aurora Shipping", "n": "3"})
    assert learned == ServerAnswered(f"PUT {ORIGIN}/drafts/*/text | {SENT}")
    assert learned_answer(sent[3:], place_of(AT), {}) is None


def test_what_a_page_sends_to_its_own_address_goes_to_whichever_it_has() -> None:
    page = Place(ORIGIN, "/notes/*/edit/", also=("/notes/add/",))
    saved = Exchange(1, f"POST {ORIGIN}/notes/add/", status=200)
    seen = Exchange(2, f"POST {ORIGIN}/seen/", status=200)
    learned = learned_answer([saved, seen], page, {})
    assert learned is not None
    assert matching(learned, [Exchange(3, f"POST {ORIGIN}/notes/17/edit/")])
    assert not matching(learned, [Exchange(3, f"DELETE {ORIGIN}/notes/17/edit/")])
    assert not matching(learned, [Exchange(3, f"POST {ORIGIN}/users/add/")])
    assert learned_answer([seen], page, {}) == ServerAnswered(f"POST {ORIGIN}/seen/")


@for_each(
    "kinds, to, same",
    [
        (SENT, SENT, True),
        (f"{SAVED} | {SENT}", SENT, True),
        (f"PUT {ORIGIN}/drafts/*/text", f"PUT {ORIGIN}/drafts/new/text", True),
        (f"PUT {ORIGIN}/drafts/*", f"PUT {ORIGIN}/drafts/new/text", False),
        (f"PUT {ORIGIN}/drafts/*", f"POST {ORIGIN}/drafts/new", False),
        (SENT, f"POST {ORIGIN}/orders/7", False),
    ],
)
def test_a_request_of_a_kind(kinds: str, to: str, same: bool) -> None:
    assert is_one_of(kinds, to) == same
    exchange = Exchange(1, to)
    assert matching(ServerAnswered(kinds), [exchange]) == ((exchange,) if same else ())
