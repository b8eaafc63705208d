"""The brain that plays the model cancels by reading, on every variant of the service."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest

from rutter.actors.world.models.messages import UserTurn
from rutter.pipeline.demo_sites.gaffsail import StreamingSite, Switches
from rutter.pipeline.demo_sites.gaffsail.wording import path_to
from tests.support.model_brain import Quirks, Reader
from tests.support.provider_server import Answer, Heard
from tests.support.service_variants import VARIANTS, Variant
from tests.support.site_client import Client
from tests.support.text_browser import NONCE, Talk, TextBrowser

GOAL = "Cancel the membership of this streaming service."
TURNS = 20
OVERLAY = Switches(overlay=True)
ALIKE = Switches(look_alikes=True)


@pytest.fixture(scope="module")
def served() -> Iterator[StreamingSite]:
    with StreamingSite() as site:
        yield site


@pytest.fixture
def site(served: StreamingSite) -> Iterator[StreamingSite]:
    served.reset()
    yield served
    Client.hang_up()


def sail(
    site: StreamingSite, quirks: Quirks | None = None, refuse: Mapping[str, str] | None = None
) -> tuple[TextBrowser, Talk, Reader]:
    """Signs in as the pack does, then lets the brain lead until it says that it is done."""
    browser = TextBrowser(site, path_to("login", site.switches), refuse)
    prefix = "fld_" if site.switches.moved else ""
    form = {f"{prefix}email": site.email, f"{prefix}password": site.password}
    browser.go("post", path_to("login", site.switches), form)
    talk, brain = Talk(browser, GOAL), Reader(quirks or Quirks())
    for _ in range(TURNS):
        answer = brain(talk.heard())
        talk.say(answer.text, answer.calls)
        if browser.ended:
            break
    return browser, talk, brain


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda each: each.name)
def test_it_comes_to_the_right_end_of_every_variant(site: StreamingSite, variant: Variant) -> None:
    site.switches = replace(variant.switches, slow_ms=0)
    browser, talk, _ = sail(site)

    cancelled = variant.ends == "cancelled"
    assert browser.ended == ("success" if cancelled else "failed"), browser.said
    assert site.cancelled == int(cancelled)
    assert site.membership.offers_taken == site.membership.paused == 0
    assert len(talk.calls) <= 9
    reasons = {"third_party_billing": "partner", "already_cancelled": "already", "failed": "not"}
    assert reasons.get(variant.ends, "") in browser.said


def test_it_closes_what_covers_the_page_after_it_was_told_so(site: StreamingSite) -> None:
    site.switches = OVERLAY
    browser, talk, _ = sail(site)

    tools = [each.tool for each in talk.calls]
    assert tools[:3] == ["browser_click"] * 3
    assert talk.calls[0] == talk.calls[2] != talk.calls[1]
    assert browser.ended == "success"


def test_it_does_what_the_person_says_in_place_of_the_last_step(site: StreamingSite) -> None:
    browser, _, brain = sail(site, refuse={"Finish cancellation": "Choose pause instead."})

    assert (brain.aim, site.membership.paused, site.cancelled) == ("pause", 1, 0)
    assert (browser.ended, "paused" in browser.said) == ("failed", True)


def test_it_gives_up_when_a_person_says_no(site: StreamingSite) -> None:
    browser, _, _ = sail(site, refuse={"Finish cancellation": "Do not."})

    assert (browser.ended, browser.said) == ("failed", "a person said no: Do not.")
    assert site.cancelled == 0


@pytest.mark.parametrize(
    "quirks",
    [
        Quirks(wrong_first=True),
        Quirks(too_early=True),
        Quirks(several_calls=True),
        Quirks(skips_confirmation=True),
        Quirks(says_only=1),
    ],
    ids=str,
)
def test_it_finds_its_way_in_spite_of_what_it_does_wrong(
    site: StreamingSite, quirks: Quirks
) -> None:
    site.switches = ALIKE
    browser, talk, brain = sail(site, quirks)

    assert (browser.ended, site.cancelled) == ("success", 1)
    plain = sail_plain(site)
    wrong = quirks.wrong_first or quirks.too_early or quirks.skips_confirmation
    assert (len(talk.calls) > plain) == wrong
    assert brain.asked == len(talk.calls) + quirks.says_only


def sail_plain(site: StreamingSite) -> int:
    site.reset()
    site.switches = ALIKE
    return len(sail(site)[1].calls)


# -- one action by browser_action ----------------------------------------------------------------

ELEMENTS = """@e0 link "Account"
@e1 heading 1 "Account"
@e2 button "Cancel changes"
@e3 button "End my plan"
"""
HTML = '<a id="nav" href="/account">Account</a>\n<button id="end" class="b">End my plan</button>'


def asks(elements: str = ELEMENTS, html: str = HTML, **marked: str) -> Heard:
    parts = {
        "the address of the page": "http://127.0.0.1/account",
        "its elements": elements,
        "its controls as HTML": html,
    }
    said = [
        f"{what.replace('_', ' ')}:\n<untrusted-{NONCE}>\n{text}\n</untrusted-{NONCE}>"
        for what, text in (marked | {"The page now": ""} | parts).items()
        if text
    ]
    system = f"CURRENT GOAL: {GOAL}"
    return Heard(
        "anthropic", "m", system, (UserTurn("\n\n".join(said)),), ("browser_action",), {}, {}
    )


def proposed(answer: Answer) -> dict[str, Any]:
    assert answer.calls[0].tool == "browser_action"
    said: dict[str, Any] = json.loads(answer.calls[0].text)
    return said


STEP = 'step 2 of 6: click link "Cancel membership" or css #cancel-membership, on /account'
TRIED = "What was tried, and must not be tried again"
WRONG = "What went wrong"


def test_a_proposal_names_the_element_by_several_locators() -> None:
    said = proposed(Reader()(asks(**{"The recorded step": STEP})))

    assert (said["state"], said["action_type"]) == ("ACCOUNT_ACTIVE", "click")
    assert said["target"] == {"aria_role": "button", "aria_name": "End my plan"}
    assert said["fallback_targets"] == [{"css": 'button[id="end"]'}, {"text": "End my plan"}]
    assert said["confidence"] > 0.6
    assert said["does_step"] is True


def test_what_is_not_found_is_looked_for_by_another_strategy_each_time() -> None:
    brain = Reader()
    leads = [proposed(brain(asks()))["target"]]
    tried = [f"click aria button/{leads[0]['aria_name']}"]
    for _ in range(2):
        target = proposed(brain(asks(**{WRONG: "element not found", TRIED: "\n".join(tried)})))[
            "target"
        ]
        tried.append(f"click {next(iter(target))} {next(iter(target.values()))}")
        leads.append(target)

    assert [next(iter(each)) for each in leads] == ["aria_role", "css", "text"]


def test_an_element_that_did_not_do_is_not_proposed_again() -> None:
    elements = ELEMENTS + '@e4 button "End it now"\n'
    brain = Reader()
    first = proposed(brain(asks(elements)))
    tried = "click aria button/End my plan"
    then = proposed(brain(asks(elements, **{WRONG: "no effect", TRIED: tried})))

    assert first["target"]["aria_name"] == "End my plan"
    assert then["target"] == {"text": "End it now"}


def test_what_covers_the_step_is_closed_and_is_not_the_step() -> None:
    elements = ELEMENTS + '@e4 dialog "Before you go"\n  @e5 button "Close"\n'
    told = {WRONG: "element_obscured: covered by the dialog", "The recorded step": STEP}
    said = proposed(Reader()(asks(elements, **told)))

    assert said["target"]["aria_name"] == "Close"
    assert said["does_step"] is False


def test_it_may_be_unsure_once_and_is_never_sure_where_there_is_nothing_to_do() -> None:
    brain = Reader(Quirks(unsure_first=True))
    assert [proposed(brain(asks()))["confidence"] > 0.6 for _ in range(2)] == [False, True]
    done = proposed(Reader()(asks('@e0 heading 1 "Your membership is cancelled"')))
    assert (done["state"], done["action_type"]) == ("COMPLETE", "wait")
    assert done["confidence"] < 0.6
