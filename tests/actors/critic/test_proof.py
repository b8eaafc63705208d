"""What bears a step out: values that were entered, where they show, and what the server said."""

from typing import Any

import msgspec

from rutter.actors.critic.proof import (
    EnteredValue,
    SessionProof,
    found,
    grade_of,
    is_passing,
    proven,
    remember,
    sends,
    shown_there,
    to_look_for,
    trial_of,
    unanswered,
)
from rutter.actors.critic.verdict import Judgement, VerdictCase
from rutter.actors.rules.steps.check_results import AfterStep, CheckResult
from rutter.actors.rules.steps.proof_grades import lacking, overall
from rutter.events.action import (
    Action,
    ByRole,
    ByText,
    Parameter,
    Secret,
    Target,
    Typed,
    Untrusted,
    Value,
)
from rutter.events.checks import HERE, ReadBack, ServerAnswered, TextVisible, ValueSet
from rutter.events.critic import Grade, Proof
from rutter.events.executor import ActionDone, ActionFailed
from rutter.events.page import Exchange, Page, PageElement
from rutter.events.run_settings import RunSettings
from rutter.events.validator import ActionStarted
from rutter.events.workflow import Expectation
from tests.support.case_table import for_each
from tests.support.shop_facts import ORIGIN, click, done, element, failed, fill, page, place

VALUES = {"customer": "Aurora Shipping", "n": "3"}
AURORA = EnteredValue("${customer}", "Aurora Shipping")
NOTE = EnteredValue("by the back door", "by the back door")
SENT = f"POST {ORIGIN}/orders"


def by_name(name: str) -> Action:
    return Action("click", target=Target((ByRole("link", name),)))


# -- what was entered ------------------------------------------------------------------------------


@for_each(
    "value, typed, remembered",
    [
        (Parameter("customer"), None, (AURORA,)),
        (Parameter("n"), None, ()),  # too short: it is everywhere
        (Parameter("unbound"), None, ()),
        (" by the back door ", None, (NOTE,)),
        ("two\nlines", None, ()),
        ("x" * 201, None, ()),
        (Secret("password"), None, ()),
        (Typed(0), "by the back door", (NOTE,)),
    ],
)
def test_what_is_typed_is_remembered(
    value: Value | str, typed: str | None, remembered: tuple[EnteredValue, ...]
) -> None:
    proving = remember(SessionProof(), fill(value=value), typed, None, VALUES)
    assert proving.entered == remembered
    again = remember(proving, fill(value=value), typed, None, VALUES)
    assert again == proving


@for_each("role", ["searchbox", "combobox"])
def test_what_is_searched_for_was_there_before(role: str) -> None:
    field = element("input", role=role)
    typing = fill(value=Parameter("customer"))
    assert remember(SessionProof(), typing, None, field, VALUES) == SessionProof()
    assert remember(SessionProof(), click(), None, None, VALUES) == SessionProof()


def test_a_step_makes_what_was_entered_before_it_and_not_known() -> None:
    proving = SessionProof(entered=(AURORA, NOTE), known=("${customer}",))
    assert to_look_for(proving) == (NOTE,)
    sent = proven(proving, Proof(5, 4, "acknowledged", "the server's answer"))
    assert sent.made == ((5, (NOTE.written,)),)
    again = proven(sent, Proof(5, 4, "stored", "the read-back"))
    assert [each.grade for each in again.proofs] == ["stored"]


@for_each("way", [ByRole("link", "${customer}"), ByText("Order of ${customer}")])
def test_a_later_step_that_finds_what_was_made_proves_it(way: ByRole | ByText) -> None:
    sent = proven(
        SessionProof(entered=(AURORA,)), Proof(5, 4, "acknowledged", "the server's answer")
    )
    opening = Action("click", target=Target((way,)))
    assert found(sent, opening, 7).proofs == (Proof(5, 4, "stored", "step 7 found it"),)
    assert found(sent, by_name("Orders"), 7) == sent


def test_what_was_found_before_anything_was_sent_proves_nothing() -> None:
    known = found(SessionProof(entered=(AURORA,)), by_name("${customer}"), 2)
    sent = proven(known, Proof(5, 4, "acknowledged"))
    assert found(sent, by_name("${customer}"), 7).proofs == (Proof(5, 4, "acknowledged"),)


# -- what a verdict proves -------------------------------------------------------------------------


def case(
    *exchanges: Exchange,
    irreversible: bool = True,
    outcome: ActionDone | ActionFailed | None = None,
    **more: Any,
) -> VerdictCase:
    running = ActionStarted(1, 1, click(), irreversible=irreversible)
    seen = AfterStep(page("/orders/7"), exchanges=exchanges)
    return VerdictCase(running, outcome or done(), page("/orders/new"), seen, **more)


LEARNED = Expectation(learned=(ServerAnswered(SENT),))
OWN = Exchange(1, SENT, status=201)
COUNTER = Exchange(1, "POST https://count.example/hit", status=200)


@for_each(
    "one, does",
    [
        (case(OWN), True),
        (case(), False),
        (case(COUNTER), False),
        (case(outcome=done(navigated=True)), True),
        (case(expects=LEARNED), True),  # it sent something when it was recorded
        (case(Exchange(1, "SOCKET", socket=True)), True),
        (case(Exchange(1, "SOCKET", socket=True), irreversible=False), False),
        (case(OWN, irreversible=False), False),
        (case(OWN, outcome=failed("timeout", dispatched=True)), False),
    ],
)
def test_a_step_sends_something(one: VerdictCase, does: bool) -> None:
    assert sends(one, SessionProof()) == does


def test_what_is_known_of_by_a_socket_alone_may_be_a_part_of_what_comes_later() -> None:
    said = Exchange(1, "SOCKET", socket=True)
    assert [is_passing(each) for each in (case(said), case(said, OWN))] == [True, False]
    assert [is_passing(each) for each in (case(OWN, irreversible=False), case(OWN))] == [
        True,
        False,
    ]


@for_each(
    "one, does",
    [
        (case(OWN, irreversible=False), True),  # a wizard's "Next" that saves
        (case(irreversible=False), False),
        (case(COUNTER, irreversible=False), False),
        (case(Exchange(1, SENT, status=404), irreversible=False), False),
    ],
)
def test_what_can_be_undone_sends_what_was_entered_if_the_site_took_it(
    one: VerdictCase, does: bool
) -> None:
    assert sends(one, SessionProof(entered=(EnteredValue("${customer}", "Aurora"),))) == does
    known = SessionProof(entered=(EnteredValue("${customer}", "Aurora"),), known=("${customer}",))
    assert not sends(one, known)


SHOWN = Judgement(
    "confirmed", "observed", results=(CheckResult(TextVisible("Sent"), True, "Sent"),)
)
BARE = Judgement("confirmed", "observed")
MOVED = Expectation(moved=True, place=place("/orders/7"))


@for_each(
    "one, judgement, grade",
    [
        (case(OWN), BARE, "acknowledged"),
        (case(Exchange(1, SENT)), BARE, ""),
        (case(Exchange(1, SENT)), SHOWN, "acknowledged"),
        (case(Exchange(1, SENT), expects=MOVED), BARE, "acknowledged"),
        (case(outcome=done(navigated=True)), BARE, "acknowledged"),
        (case(outcome=done(navigated=True), status=500), BARE, ""),
        (case(element=element(signs_in=True)), BARE, "stored"),
        (case(COUNTER), BARE, ""),
    ],
)
def test_how_far_a_step_is_proven(one: VerdictCase, judgement: Judgement, grade: Grade) -> None:
    assert grade_of(one, judgement)[0] == grade


# -- where it shows --------------------------------------------------------------------------------


def field(name: str, value: str) -> PageElement:
    return PageElement("textbox", Untrusted(name), "input", value=Untrusted(value))


def seen(*fields: PageElement, shows: str = "") -> AfterStep:
    texts = (AURORA.value, NOTE.value)
    shown = {text: Untrusted(shows) if text in shows else None for text in texts}
    return AfterStep(Page(f"{ORIGIN}/orders/7", elements=fields), shown=shown)


def test_a_trial_looks_for_the_values_of_this_run() -> None:
    url = f"{ORIGIN}/orders/7"
    back = trial_of((AURORA, NOTE), url)
    assert back == ReadBack(url, (TextVisible(AURORA.value), TextVisible(NOTE.value)))


@for_each(
    "there, checks",
    [
        (seen(shows="For Aurora Shipping"), (TextVisible("${customer}"),)),
        (seen(shows="Aurora Shipping by the back door"), (
            TextVisible("${customer}"), TextVisible(NOTE.written))),
        (seen(field("For", AURORA.value)), (ValueSet("${customer}", "For", "textbox"),)),
        (seen(field("For", AURORA.value), field("For", "")), ()),  # which of them is not known
        (seen(field("", AURORA.value)), ()),
        (seen(), ()),
    ],
)  # fmt: skip
def test_what_shows_is_said_as_a_workflow_says_it(
    there: AfterStep, checks: tuple[Any, ...]
) -> None:
    back = shown_there((AURORA, NOTE), there)
    assert back == (ReadBack(HERE, checks) if checks else None)


# -- the end ---------------------------------------------------------------------------------------


@for_each(
    "exchanges, missing",
    [
        ((OWN,), ""),
        ((), SENT),
        ((Exchange(1, SENT),), SENT),
        ((Exchange(1, SENT, status=500),), SENT),
        ((Exchange(1, SENT, status=500), Exchange(2, SENT, status=200)), ""),
        ((Exchange(1, SENT, step=1, status=200),), ""),
        ((Exchange(1, SENT, step=2, status=200),), ""),
    ],
)
def test_what_is_owed_and_was_not_answered(exchanges: tuple[Exchange, ...], missing: str) -> None:
    assert unanswered(((1, SENT),), exchanges) == missing
    assert unanswered((), exchanges) == ""


def test_what_an_earlier_field_sent_does_not_pay_for_a_later_one() -> None:
    earlier = (Exchange(1, SENT, step=2, status=200),)
    assert unanswered(((2, SENT), (4, SENT)), earlier) == SENT


PASSING = Proof(1, passing=True)
NONE, SAID, KEPT = Proof(1), Proof(2, grade="acknowledged"), Proof(3, grade="stored")


@for_each(
    "proofs, whole, lax, strict",
    [
        ((), None, (), ()),
        ((KEPT,), "stored", (), ()),
        ((SAID, KEPT), "acknowledged", (), (SAID,)),
        ((NONE, SAID, KEPT), "", (NONE,), (NONE, SAID)),
        ((PASSING, SAID), "acknowledged", (), (SAID,)),  # what is sent later takes its place
        ((PASSING,), "", (PASSING,), (PASSING,)),
    ],
)
def test_a_run_is_proven_as_far_as_its_weakest_step(
    proofs: tuple[Proof, ...],
    whole: Grade | None,
    lax: tuple[Proof, ...],
    strict: tuple[Proof, ...],
) -> None:
    assert overall(proofs) == whole
    assert lacking(proofs, RunSettings()) == lax
    assert lacking(proofs, msgspec.structs.replace(RunSettings(), proof="stored")) == strict
