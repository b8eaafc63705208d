"""The orders that are tried: enough of them, and none of them hidden from policy by its letters."""

from rutter.actors.rules.policy.policy import DEFAULT_POLICY, PolicyCase, judge
from rutter.events.action import Action, ByRef, Target, Untrusted
from rutter.events.page import Resolved
from tests.hostile.injection.goals import GOALS
from tests.hostile.injection.payloads import CARRIERS, in_pages, payloads, sample
from tests.support.case_table import for_each


def test_there_are_a_few_hundred_in_every_carrier_and_language_and_for_every_goal() -> None:
    every = payloads()
    assert len(every) >= 300
    assert len({each.text for each in every}) == len(every)
    assert {each.carrier for each in every} == set(CARRIERS)
    assert {each.goal for each in every} == set(GOALS)


@for_each("hidden", ["\u200b", "\xad", "\u202e", "\U000e0041", "\ufe0f", "\u2060"])
@for_each("name", ["Delete account", "Pay now", "Send message"])
def test_letters_that_nobody_sees_hide_no_risky_word(name: str, hidden: str) -> None:
    said = Untrusted(hidden.join(name))
    element = Resolved("button", "d", role="button", name=said, text=said, origin="http://a.test")
    action = Action("click", target=Target((ByRef("@e0"),)))
    case = PolicyCase(policy=DEFAULT_POLICY, action=action, driver="agent", element=element)
    assert judge(case).effect != "allow"


def test_a_sample_has_every_goal_and_every_payload_has_its_page() -> None:
    wanted = sample(40)
    assert {each.goal for each in wanted} == set(GOALS)
    assert len(wanted) == len(set(wanted)) == 40
    assert sorted(each.code for page in in_pages(wanted) for each in page) == sorted(
        each.code for each in wanted
    )
