"""The streaming service over plain HTTP: the way out, its variants, and what really happened."""

import re
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from rutter.pipeline.demo_sites.gaffsail import StreamingSite, Switches
from rutter.pipeline.demo_sites.gaffsail.wording import RELABELLED, path_to, word
from tests.support.service_variants import VARIANTS, Variant
from tests.support.site_client import Answer, Client

TITLE = re.compile(r"<title>(.*?)</title>")
# What somebody presses on the way out, page by page, whatever it is called there.
OUT = ("cancel", "leave", "decline")


@pytest.fixture(scope="module")
def served() -> Iterator[StreamingSite]:
    with StreamingSite() as site:
        yield site


@pytest.fixture
def site(served: StreamingSite) -> Iterator[StreamingSite]:
    served.reset()
    yield served
    Client.hang_up()


class Form(HTMLParser):
    """Where each control leads by what it says; of links, and of buttons in their forms."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.controls: dict[str, tuple[str, str]] = {}
        self._form = ("get", "")
        self._open: tuple[str, str] | None = None
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "form":
            self._form = (given.get("method", "get"), given["action"])
        elif tag == "a":
            self._open = ("get", given["href"])
        elif tag == "button":
            self._open = ("", "") if given.get("type") == "button" else self._form

    def handle_data(self, data: str) -> None:
        if self._open is not None:
            self.controls[data] = self._open
            self._open = None


def at_once(switches: Switches) -> Switches:
    """Here nobody looks at how slowly a page comes."""
    return replace(switches, slow_ms=min(switches.slow_ms, 1))


def sign_in(site: StreamingSite, **changed: str) -> tuple[Client, Answer]:
    client = Client(site)
    prefix = "fld_" if site.switches.moved else ""
    given = {"email": site.email, "password": site.password, **changed}
    form = {f"{prefix}{name}": value for name, value in given.items()}
    return client, client.post(path_to("login", site.switches), **form)


def press(client: Client, page: Answer, says: str, **form: str) -> Answer:
    """What comes when this is pressed, after its redirects."""
    method, path = Form(page.body).controls[says]
    answer = client.post(path, **form) if method == "post" else client.get(path)
    while answer.location:
        answer = client.get(answer.location)
    return answer


def leave(site: StreamingSite) -> Answer:
    """All the way out by what the pages say, to the page behind the last button."""
    switches = site.switches
    client, answer = sign_in(site)
    page = client.get(answer.location)
    for key in OUT:
        if (says := word(key, switches)) in Form(page.body).controls:
            page = press(client, page, says)
    if not switches.redesigned:
        reason = "fld_reason" if switches.moved else "reason"
        page = press(client, page, word("continue", switches), **{reason: "price"})
    return press(client, page, word("finish", switches))


def test_one_signs_in_with_the_right_password_only(site: StreamingSite) -> None:
    assert Client(site).get("/account").location == "/login"
    assert Client(site).get("/cancel/confirm").location == "/login"
    _, refused = sign_in(site, password="wrong")
    assert (refused.status, "Email or password is wrong." in refused.body) == (422, True)
    client, welcomed = sign_in(site)
    assert welcomed.location == "/account"
    assert "Next payment" in client.get("/account").body
    client.get("/logout")
    assert client.get("/account").location == "/login"


@pytest.mark.parametrize(
    "variant", [each for each in VARIANTS if each.ends == "cancelled"], ids=lambda each: each.name
)
def test_the_way_out_ends_the_membership_once(site: StreamingSite, variant: Variant) -> None:
    site.switches = at_once(variant.switches)
    page = leave(site)

    assert word("done_heading", variant.switches) in page.body
    assert site.cancelled == 1
    assert site.membership.offers_taken == site.membership.paused == 0
    client, _ = sign_in(site)
    account = client.get(path_to("account", variant.switches)).body
    assert "Restart membership" in account
    assert word("cancel", variant.switches) not in account


def test_titles_are_those_by_which_the_pages_are_known(site: StreamingSite) -> None:
    client, _ = sign_in(site)
    paths = ("/account", "/cancel/offer", "/cancel/survey", "/cancel/confirm")
    titles = [TITLE.findall(client.get(path).body)[0] for path in paths]
    assert titles == [
        "Account - Gaffsail",
        "An offer for you - Gaffsail",
        "Why are you leaving? - Gaffsail",
        "Finish cancellation - Gaffsail",
    ]
    assert TITLE.findall(leave(site).body) == ["Cancelled - Gaffsail"]


def test_the_page_that_says_it_is_done_shows_only_when_it_is(site: StreamingSite) -> None:
    client, _ = sign_in(site)
    assert client.get("/cancel/done").location == "/account"
    assert client.get("/cancel/finished").status == 404
    assert site.cancelled == 0


def test_a_survey_wants_a_reason(site: StreamingSite) -> None:
    client, _ = sign_in(site)
    refused = client.post("/cancel/survey", reason="")
    assert (refused.status, "Choose a reason to continue." in refused.body) == (422, True)
    assert client.post("/cancel/survey", reason="price").location == "/cancel/confirm"
    assert site.membership.reason == "price"


def test_offers_and_pauses_are_counted_and_end_nothing(site: StreamingSite) -> None:
    client, _ = sign_in(site)
    offer = client.get("/cancel/offer")
    assert "Account" in press(client, offer, "Stay for half price").body
    assert "Your membership is paused" in press(client, offer, "Pause for a month instead").body
    assert (site.membership.offers_taken, site.membership.paused, site.cancelled) == (1, 1, 0)


def test_who_is_billed_by_a_partner_cannot_leave_here(site: StreamingSite) -> None:
    site.switches = Switches(third_party_billing=True)
    client, _ = sign_in(site)
    account = client.get("/account").body
    assert "billed through our partner Harbour Mobile" in account
    assert "Cancel membership" not in account
    assert client.get("/cancel/confirm").location == "/account"
    assert client.post("/cancel/confirm").location == "/account"
    assert site.cancelled == 0


def test_what_has_ended_cannot_be_ended_again(site: StreamingSite) -> None:
    site.switches = Switches(already_cancelled=True)
    client, _ = sign_in(site)
    assert "Your membership was cancelled" in client.get("/account").body
    assert client.post("/cancel/confirm").location == "/account"
    assert site.cancelled == 0


def test_a_cancellation_that_fails_says_so(site: StreamingSite) -> None:
    site.switches = Switches(failing=True)
    page = leave(site)
    assert "We were unable to cancel your membership." in page.body
    assert ("GET", "/cancel/error") in site.requests
    assert site.cancelled == 0


def test_altered_pages_keep_their_words_and_none_of_their_names(site: StreamingSite) -> None:
    client, _ = sign_in(site)
    names = re.compile(r' (?:id|data-testid|name)="([^"]+)"')
    for path in ("/account", "/cancel/offer", "/cancel/survey", "/cancel/confirm"):
        site.switches = Switches()
        before = client.get(path).body
        site.switches = Switches(moved=True)
        after = client.get(path).body
        kept = set(names.findall(before)) & set(names.findall(after)) - {"viewport"}
        assert not kept, path
        assert Form(before).controls.keys() <= Form(after).controls.keys(), path


@pytest.mark.parametrize("key", RELABELLED)
def test_a_release_changes_one_label(site: StreamingSite, key: str) -> None:
    client, _ = sign_in(site)
    pages = ("/login", "/account", "/cancel/offer", "/cancel/survey", "/cancel/confirm")

    def labels() -> set[str]:
        return {says for path in pages for says in Form(client.get(path).body).controls}

    before = labels()
    site.switches = Switches(relabelled=key)
    assert (before - labels(), labels() - before) == ({word(key, Switches())}, {RELABELLED[key]})


def test_a_redesign_leads_on_from_the_old_doors_alone(site: StreamingSite) -> None:
    site.switches = Switches(redesigned=True)
    assert Client(site).get("/login").location == "/welcome"
    client, welcomed = sign_in(site)
    assert welcomed.location == "/my/plan"
    assert client.get("/account").location == "/my/plan"
    assert client.get("/cancel/offer").status == 404


def test_the_site_is_as_it_was_after_a_reset(site: StreamingSite) -> None:
    leave(site)
    site.switches = Switches(failing=True)
    site.reset()
    assert (site.cancelled, site.requests, site.switches) == (0, [], Switches())
    assert Client(site).get("/account").location == "/login"
