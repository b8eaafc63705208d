"""Given the places of a log in its order: which parts of an address vary."""

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rutter.actors.predictor.model import places as places_module
from rutter.actors.predictor.model.places import DEEP, MANY, MANY_AT_TOP, ROOM, WIDE, Node, Places
from tests.support.case_table import for_each

SITE = "https://crm.example"
CUSTOMERS = [
    "aurora-shipping", "borealis-ltd", "cirrus-air", "delta-boats", "echo-media", "fjord-fish",
    "gale-wind", "hull-works", "isle-ferry", "jib-sails",
]  # fmt: skip

words = st.text("abcXYZ-*", min_size=0, max_size=4)
paths = st.lists(words, max_size=5).map(lambda parts: f"{SITE}/" + "/".join(parts))
anywhere = st.one_of(
    st.builds(lambda path, state: path + state, paths, st.sampled_from(["", " DONE"])),
    st.text(max_size=20),
)


def seen(log: Iterable[str]) -> Places:
    places = Places()
    for place in log:
        places.see(place)
    return places


def at(*paths: str) -> list[str]:
    return [SITE + path for path in paths]


def days_at_work() -> list[str]:
    """Everybody's customer is another one; what is around them is the same every day."""
    log: list[str] = []
    for name in CUSTOMERS:
        log += at("/orders", "/customers", f"/customers/{name}", f"/customers/{name}")
        log += at(f"/customers/{name}/edit", f"/customers/{name}", "/customers/new", "/settings")
    return log


def nodes_in(node: Node) -> int:
    return 1 + sum(nodes_in(child) for child in node.children.values())


@for_each(
    "path, pattern",
    [
        ("/customers/aurora-shipping", "/customers/*"),
        ("/customers/never-seen", "/customers/*"),
        ("/customers/aurora-shipping/edit", "/customers/*/edit"),
        ("/customers/never-seen/edit", "/customers/*/edit"),
        ("/customers/aurora-shipping SUCCESS", "/customers/* SUCCESS"),
        ("/customers/new", "/customers/new"),
        ("/customers", "/customers"),
        ("/orders", "/orders"),
        ("/settings", "/settings"),
        ("/never-seen", "/never-seen"),
    ],
)
def test_names_of_things_vary_and_parts_of_the_site_do_not(path: str, pattern: str) -> None:
    assert seen(days_at_work()).pattern(SITE + path) == SITE + pattern


def test_few_names_are_left_as_they_are() -> None:
    places = seen(at("/customers/aurora-shipping", "/customers/borealis-ltd"))
    for place in at("/customers/aurora-shipping", "/customers/cirrus-air"):
        assert places.pattern(place) == place


def test_parts_that_are_visited_again_and_again_stay_however_many_they_are() -> None:
    parts = [f"/admin/{first}{second}" for first in "abcde" for second in "fghij"]
    log = at(*parts[:12], *parts[:12], *parts[12:], *parts, *parts)
    assert [seen(log).pattern(place) for place in at(*parts)] == at(*parts)


def test_words_vary_as_names_do_but_it_takes_more_of_them() -> None:
    words = [f"/wares/{first}{second}" for first in "abcdefgh" for second in "ijkl"]
    names = [f"/wares/{first}-{second}" for first in "abcdefgh" for second in "ijkl"]
    enough = {}
    for kind, paths in (("words", words), ("names", names)):
        places = Places()
        for visits, place in enumerate(at(*paths), 1):
            places.see(place)
            if places.pattern(place) == f"{SITE}/wares/*":
                enough[kind] = visits
                break
    assert enough == {"words": MANY, "names": MANY // 2}


def test_right_below_the_host_it_takes_twice_as_many() -> None:
    log = at(*(f"/{first}-{second}" for first in "abcdefgh" for second in "ijkl"))
    assert seen(log[: MANY_AT_TOP // 2 - 1]).pattern(log[0]) == log[0]
    assert seen(log[: MANY_AT_TOP // 2]).pattern(log[0]) == f"{SITE}/*"


def test_many_steps_on_one_page_are_one_visit() -> None:
    busy = [place for name in CUSTOMERS for place in at(f"/customers/{name}", "/customers") * 9]
    assert seen(busy).pattern(busy[0]) == f"{SITE}/customers/*"


def test_what_is_below_things_is_learned_from_all_of_them() -> None:
    log = [
        f"{SITE}/customers/{name}/{part}"
        for name in CUSTOMERS
        for part in ("edit", "orders", f"{name}-contract")
    ]
    places = seen(log)
    assert places.pattern(f"{SITE}/customers/x/edit") == f"{SITE}/customers/*/edit"
    assert places.pattern(f"{SITE}/customers/x/other") == f"{SITE}/customers/*/*"


def test_one_site_tells_nothing_about_another() -> None:
    elsewhere = "https://other.example/customers/aurora-shipping"
    assert seen(days_at_work()).pattern(elsewhere) == elsewhere


def test_no_menu_has_more_than_a_hundred_items() -> None:
    letters = "abcdefghijklm"
    pages = at(*(f"/help/{first}{second}" for first in letters for second in letters))
    often = [each for page in pages for each in (page, pages[0]) * 3]
    assert seen(often).pattern(pages[-1]) == f"{SITE}/help/*"
    assert seen(often).pattern(pages[1]) == pages[1]


def test_what_is_longer_than_any_part_of_a_site_is_no_part_of_it() -> None:
    assert Places().pattern(f"{SITE}/find/{'a' * 101}/x") == f"{SITE}/find/*/x"


@for_each("place", ["", "about:blank", "file:/etc/hosts", "nonsense", " DONE"])
def test_what_has_no_host_stays_as_it_is(place: str) -> None:
    assert seen([place] * 3).pattern(place) == place


@given(st.lists(anywhere, max_size=60), anywhere)
def test_a_pattern_has_the_parts_of_its_place_or_stars(log: list[str], place: str) -> None:
    places = seen([*log, *days_at_work()])
    pattern = places.pattern(place)
    address, _, state = place.partition(" ")
    known, _, kept = pattern.partition(" ")
    assert state == kept
    parts, others = address.split("/"), known.split("/")
    assert len(parts) == len(others)
    assert all(other in (part, "*") for part, other in zip(parts, others, strict=True))
    assert places.pattern(pattern) == pattern


@given(st.lists(anywhere, max_size=80))
def test_the_same_log_teaches_the_same_and_asking_changes_nothing(log: list[str]) -> None:
    quiet, asked = seen(log), Places()
    for place in log:
        asked.pattern(place)
        asked.see(place)
        asked.pattern(place[::-1])
    assert [quiet.pattern(place) for place in log] == [asked.pattern(place) for place in log]
    assert quiet.size == asked.size


@given(st.lists(anywhere, max_size=200))
def test_it_knows_how_much_it_holds(log: list[str]) -> None:
    places = seen([*log, *days_at_work(), *log])
    assert places.size == sum(nodes_in(site) for site in places.sites.values())


def test_whatever_is_seen_it_holds_no_more_than_it_has_room_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(places_module, "ROOM", 500)
    places = Places()
    for number in range(3000):
        host, deep = number % 40, "/x" * (number % (DEEP + 9))
        places.see(f"https://{host}.example/{number % 7}{deep}/{number}")
        places.see(f"https://{host}.example/{number % 7}{deep}/{number}")
    assert places.size == sum(nodes_in(site) for site in places.sites.values()) <= 501
    assert places.pattern("https://new.example/a/b") == "https://new.example/a/b"


def test_one_parent_holds_no_more_than_a_menu() -> None:
    places = Places()
    for number in range(ROOM):
        places.see(f"{SITE}/a/{number}")
    assert places.size <= WIDE + 3
