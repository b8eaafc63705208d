"""Given steps as they went: the workflow that can be sailed again with other values."""

from rutter.actors.predictor.learning.recording import (
    PerformedStep,
    assemble,
    canonical,
    recorded_step,
)
from rutter.actors.rules.pages.changes import PageMoment
from rutter.actors.rules.workflows.templates import hosts_of, names_used, template
from rutter.events.action import (
    Action,
    ByBeside,
    ByCss,
    ByPoint,
    ByRole,
    ByText,
    Fingerprint,
    Parameter,
    Secret,
    Strategy,
    Target,
    Untrusted,
)
from rutter.events.page import Resolved
from rutter.events.workflow import Expectation, Place, StandingApproval, Step, Workflow
from tests.support.case_table import for_each
from tests.support.shop_facts import ORIGIN, click, css, fill, go_to, page, place, step

PRINT = Fingerprint(tag="a", role="link", name=Untrusted("Aurora"))


def seen(*ways: Strategy) -> Resolved:
    return Resolved(tag="a", digest="e1", origin=ORIGIN, ways=ways, fingerprint=PRINT)


def ways_of(action: Action) -> tuple[Strategy, ...]:
    assert action.target is not None
    return action.target.strategies


# -- the target as the page names it -------------------------------------------------------------


def test_an_action_keeps_every_locator_in_the_order_of_preference() -> None:
    scripted = Action("click", target=Target((ByText("Go"), ByCss("#go"))))
    what = seen(ByPoint(1, 2), ByRole("button", "Go"), ByCss("[data-testid=go]"))
    assert ways_of(canonical(scripted, what, {})) == (
        ByCss("[data-testid=go]"),
        ByCss("#go"),
        ByRole("button", "Go"),
        ByText("Go"),
        ByPoint(1, 2),
    )


def test_what_stands_beside_words_is_found_by_them_alone_whatever_it_says() -> None:
    read = Action("extract", target=Target((ByBeside("Order of Aurora Shipping"), ByCss("#n"))))
    told = canonical(read, seen(ByCss("p:nth-of-type(2)")), VALUES)
    assert told.target == Target((ByBeside("Order of ${customer}"),))


def test_the_same_element_is_the_same_target_whoever_found_it_first() -> None:
    what = seen(ByCss("#go"), ByRole("button", "Go"))
    by_role = Action("click", target=Target((ByRole("button", "Go"),)))
    assert canonical(by_role, what, {}) == canonical(click("#go"), what, {})


def test_a_locator_is_kept_once() -> None:
    assert ways_of(canonical(click("#go"), seen(ByCss("#go"), ByCss("#go")), {})) == (ByCss("#go"),)


def test_the_fingerprint_is_kept_with_it() -> None:
    target = canonical(click("#go"), seen(ByCss("#go")), {}).target
    assert target is not None
    assert target.fingerprint == PRINT


@for_each("action", [go_to("/"), Action("press", key="Enter")])
def test_an_action_without_a_target_stays_as_it_is(action: Action) -> None:
    assert canonical(action, seen(ByCss("#focused")), {}) == action


def test_an_action_that_was_never_resolved_stays_as_it_is() -> None:
    assert canonical(click("#go"), None, {}) == click("#go")


# -- elements chosen by their data ---------------------------------------------------------------

VALUES = {"customer": "Aurora Shipping"}
ROW = seen(
    ByCss("table tr:nth-child(3) a"),
    ByRole("link", "Aurora Shipping"),
    ByText("aurora shipping"),
    ByPoint(10, 20),
)


def test_an_element_named_by_a_parameter_is_found_by_the_parameter_and_nothing_else() -> None:
    assert ways_of(canonical(click("tr:nth-child(3) a"), ROW, VALUES)) == (
        ByRole("link", "${customer}"),
        ByText("${customer}"),
    )


def test_a_selector_that_holds_the_value_is_dropped() -> None:
    what = seen(ByCss("[data-name='Aurora Shipping']"), ByCss("#row"))
    assert ways_of(canonical(click("#row"), what, VALUES)) == (ByCss("#row"),)


def test_a_name_that_contains_the_value_is_found_by_the_parameter_in_it() -> None:
    what = seen(ByRole("link", "Open aurora shipping now"), ByCss("#open"))
    assert ways_of(canonical(click("#open"), what, VALUES)) == (
        ByRole("link", "Open ${customer} now"),
    )


def test_part_of_a_word_is_no_value() -> None:
    what = seen(ByRole("link", "Aurora Shippings"), ByCss("#open"))
    assert ways_of(canonical(click("#open"), what, VALUES)) == (
        ByCss("#open"),
        ByRole("link", "Aurora Shippings"),
    )


def test_the_parameter_that_is_the_whole_name_wins_over_one_that_is_a_part_of_it() -> None:
    both = {"short": "Aurora", "long": "Aurora Shipping"}
    assert ways_of(canonical(click("#row"), ROW, both)) == (
        ByRole("link", "${long}"),
        ByText("${long}"),
    )


def test_a_value_of_two_letters_is_too_short_to_be_recognised() -> None:
    what = seen(ByRole("button", "OK"), ByCss("#ok"))
    assert ByRole("button", "OK") in ways_of(canonical(click("#ok"), what, {"answer": "ok"}))
    ann = seen(ByRole("link", "Ann"), ByCss("#ann"))
    assert ways_of(canonical(click("#row"), ann, {"who": "Ann"})) == (ByRole("link", "${who}"),)


def test_when_no_locator_is_left_the_scripts_own_is_kept() -> None:
    tied = ByCss('[title="Aurora Shipping"]')
    scripted = Action("click", target=Target((tied,)))
    assert canonical(scripted, seen(tied), VALUES).target == Target((tied,), PRINT)


# -- one step ------------------------------------------------------------------------------------


def test_a_step_keeps_where_it_was_due_and_what_it_changed() -> None:
    performed = PerformedStep(
        click("#go"),
        seen(ByCss("#go")),
        PageMoment(page("/customers/aurora%20shipping")),
        PageMoment(page("/orders/7")),
    )
    assert recorded_step(performed, VALUES) == Step(
        action=Action("click", target=Target((ByCss("#go"),), PRINT)),
        before=place("/customers/*"),
        after=Expectation(moved=True, place=place("/orders/*"), state="UNKNOWN"),
        state="UNKNOWN",
    )


def test_only_what_a_person_approved_has_standing_approval() -> None:
    before, after, what = PageMoment(page("/")), PageMoment(page("/done")), seen(ByCss("#go"))
    harmless = PerformedStep(click("#go"), what, before, after)
    sending = PerformedStep(click("#go"), what, before, after, approved=True)
    assert recorded_step(harmless, {}).standing_approval is None
    assert recorded_step(sending, {}).standing_approval == StandingApproval(ORIGIN, "e1")


def test_a_step_without_an_element_has_no_standing_approval() -> None:
    performed = PerformedStep(
        go_to("/"), None, PageMoment(page("/")), PageMoment(page("/x")), approved=True
    )
    assert recorded_step(performed, {}).standing_approval is None


# -- the whole workflow --------------------------------------------------------------------------


def test_names_are_collected_in_the_order_of_their_first_use() -> None:
    row = Action("click", target=Target((ByText(template("customer")),)))
    steps = (
        step(fill("#user", Parameter("user"))),
        step(fill("#pw", Secret("password"))),
        step(row),
        step(fill("#again", Parameter("user"))),
        step(fill("#note", "a literal")),
        step(go_to("/")),
    )
    assert names_used(steps, {"customer"}) == (("user", "customer"), ("password",))


@for_each("text", ["${half", "half}", "costs ${half} a piece"])
def test_what_only_looks_like_a_parameter_is_none(text: str) -> None:
    assert names_used((step(Action("click", target=Target((ByText(text),)))),), {}) == ((), ())


def test_hosts_are_collected_with_their_ports() -> None:
    steps = (
        Step(
            action=Action("navigate", url="http://127.0.0.1:8000/start"),
            after=Expectation(place=Place("https://sso.example", "/")),
        ),
        Step(action=click(), before=Place("https://sso.example", "/")),
        Step(action=click(), before=Place("http://127.0.0.1:8000", "/home")),
        Step(action=click(), before=Place("about:", "blank")),
    )
    assert hosts_of(steps) == ("127.0.0.1:8000", "sso.example")


def test_a_workflow_is_its_steps_its_end_and_what_it_needs() -> None:
    steps = (step(fill("#user", Parameter("user"))), step(fill("#pw", Secret("pw"))))
    last = page("/orders/7", heading="Order 7 for Ann")
    assembled = assemble(
        "order", 3, steps, last, {"user": "Ann"}, complete=True, session="record-1"
    )
    assert assembled == Workflow(
        name="order",
        version=3,
        steps=steps,
        end=Expectation(place=place("/orders/*"), headings=("order # for *",)),
        parameters=("user",),
        secrets=("pw",),
        hosts=("shop.example",),
        complete=True,
        session="record-1",
    )


def test_a_workflow_of_which_no_page_was_seen_has_an_end_that_says_nothing() -> None:
    assert assemble("x", 1, (), None, {}, complete=False, session="s").end == Expectation()


def test_an_extract_is_no_use_of_a_parameter() -> None:
    assert names_used((step(Action("extract", target=css("#a"), name="number")),), {}) == ((), ())
