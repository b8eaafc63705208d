"""Given signs of success and of failure: what the page bears out, and what the Critic says."""

from typing import Literal

from msgspec.structs import replace

from rutter.actors.critic.actor import Critic
from rutter.actors.rules.pages.end_signs import first_met
from rutter.events.action import Untrusted
from rutter.events.critic import CompletionChecked, OutcomeUnknown, PageAssessed
from rutter.events.observer import PageObserved
from rutter.events.page import Page, PageElement
from rutter.events.planner import ObservationRequested
from rutter.events.tools import CompletionClaimed
from rutter.events.vocabulary import AnyEvent
from rutter.events.workflow import Criteria, Indicator
from rutter.pipeline.sessions import session_started
from rutter.pipeline.sessions.session_started import Given
from tests.support.case_table import for_each
from tests.support.given_when_then import Story, at
from tests.support.shop_facts import click, done, intent, page, plan

Where = Literal["url", "title", "heading", "name", "alert", "text", "state"]
SHOWN = Page(
    url="https://shop.example/Plan/Error",
    title=Untrusted("Your plan was CANCELLED"),
    headings=(Untrusted("Goodbye"),),
    elements=(
        PageElement("heading", Untrusted("All is over")),
        PageElement("button", Untrusted("We could not do it")),
    ),
)


@for_each(
    "indicator, met",
    [
        (Indicator("title", "cancelled"), True),
        (Indicator("title", "renewed"), False),
        (Indicator("url", "error"), True),
        (Indicator("heading", "goodbye"), True),
        (Indicator("heading", "over"), True),
        (Indicator("heading", "could not"), False),
        (Indicator("name", "COULD NOT"), True),
    ],
)
def test_a_sign_is_words_in_a_place_in_any_case(indicator: Indicator, met: bool) -> None:
    assert (first_met([indicator], SHOWN) is not None) == met


def test_an_alert_is_what_the_page_says_of_its_own() -> None:
    told = replace(SHOWN, alerts=(Untrusted("Your  plan\nwas ended"),))
    assert first_met([Indicator("alert", "plan was ENDED")], told) is not None
    assert first_met([Indicator("alert", "goodbye")], told) is None
    asked = Page(url="", elements=(PageElement("alertdialog", Untrusted("Really?")),))
    assert first_met([Indicator("alert", "really")], asked) is not None


def test_a_text_is_met_if_the_page_was_found_to_say_it() -> None:
    text = Indicator("text", "You  won't be charged")
    assert first_met([text], SHOWN) is None
    assert first_met([text], SHOWN, ("all is over",)) is None
    assert first_met([text], SHOWN, ("you won\u2019t be charged",)) == text
    assert first_met([Indicator("text", "be charged")], SHOWN, ("you won't be charged",)) is None


def test_a_state_is_met_by_that_state_and_unknown_by_none() -> None:
    state = Indicator("state", "complete")
    assert first_met([state], SHOWN, (), "COMPLETE") == state
    assert first_met([state], SHOWN, (), "FINAL_CONFIRMATION") is None
    assert first_met([state], SHOWN) is None
    assert first_met([Indicator("state", "UNKNOWN")], SHOWN, (), "UNKNOWN") is None


@for_each("where", ["url", "title", "heading", "name", "alert", "text", "state"])
def test_a_sign_without_words_is_never_met(where: Where) -> None:
    told = replace(SHOWN, alerts=(Untrusted("Done"),))
    assert first_met([Indicator(where, " ")], told, ("done",), "COMPLETE") is None


def test_one_sign_is_enough_and_the_first_is_named() -> None:
    signs = [Indicator("title", "renewed"), Indicator("url", "plan"), Indicator("url", "error")]
    assert first_met(signs, SHOWN) == signs[1]
    assert first_met([], SHOWN) is None


CRITERIA = Criteria((Indicator("title", "cancelled"),), (Indicator("url", "error"),))
SUCCESS = CompletionClaimed("c1", "success", "done")
LOOK = ObservationRequested("end_awaited", 0)


def saw(seen: Page) -> PageObserved:
    return PageObserved(seen, "requested")


def claimed(claim: CompletionClaimed, criteria: Criteria | None = CRITERIA) -> Story:
    story = Story(Critic())
    story.tell(session_started.tool_session(given=Given(criteria=criteria)))
    story.tell(saw(page()))
    assert story.tell(claim) == (LOOK,)
    return story


def verdict(said: tuple[AnyEvent, ...]) -> tuple[bool, str]:
    checked, assessed = said
    assert isinstance(checked, CompletionChecked)
    assert assessed == PageAssessed()
    return checked.verified, checked.reason


OVER = replace(SHOWN, url="https://shop.example/plan")


def test_a_success_that_the_page_shows_is_verified() -> None:
    assert verdict(claimed(SUCCESS).tell(saw(OVER))) == (True, "the title says 'cancelled'")


def test_a_success_beside_a_sign_of_failure_is_none() -> None:
    said = claimed(SUCCESS).tell(at(1_000, saw(SHOWN)))
    assert verdict(said) == (False, "the url says 'error', which is a sign of failure")


def test_a_success_is_waited_for_as_long_as_the_session_is_patient() -> None:
    story = claimed(SUCCESS)
    assert story.tell(at(400, saw(page()))) == (ObservationRequested("end_awaited", 600),)
    said = story.tell(at(1_000, saw(page())))
    assert verdict(said) == (False, "none of 1 signs of success is on the page")


def test_without_criteria_nothing_can_be_verified() -> None:
    said = claimed(SUCCESS, None).tell(saw(SHOWN))
    assert verdict(said) == (False, "no criteria of success are configured: it cannot be verified")


def test_giving_up_is_looked_at_once_and_not_waited_for() -> None:
    given_up = CompletionClaimed("c1", "failed", "no")
    assert verdict(claimed(given_up).tell(saw(SHOWN))) == (True, "the url says 'error'")
    assert verdict(claimed(given_up).tell(saw(page())))[0] is False


def test_a_claim_is_checked_once() -> None:
    story = claimed(SUCCESS)
    story.tell(saw(OVER))
    assert story.tell(saw(OVER)) == (PageAssessed(),)


def test_a_step_whose_outcome_was_never_seen_is_unknown_when_the_next_is_proposed() -> None:
    story = Story(Critic())
    story.tell(session_started.tool_session())
    story.tell(saw(page()))
    story.tell(plan(click(), "agent"))
    story.tell(intent(click()))
    story.tell(done())
    [unknown] = story.tell(plan(click(), "agent", number=2))
    assert isinstance(unknown, OutcomeUnknown)
    assert (unknown.step, unknown.attempt) == (1, 1)
    assert story.tell(saw(page())) == (PageAssessed(),)
