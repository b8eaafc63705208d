"""A step that reads, put into a workflow by hand."""

import msgspec
import pytest

from rutter.events.action import Action, ByBeside, ByCss, ByRole, ByText, Parameter, Target
from rutter.events.checks import TextVisible
from rutter.events.errors import BadInput
from rutter.events.workflow import Expectation, Place, Step, Workflow
from rutter.pipeline.workflows.edit import Edit, edited
from rutter.pipeline.workflows.read_steps import (
    Extraction,
    extracting,
    read_extraction,
    read_page_reading,
)
from tests.support.case_table import for_each
from tests.support.shop_facts import ORIGIN, click, css, fill, go_to

DESK = Place(ORIGIN, "/desk")
FLOW = Workflow(
    "order",
    1,
    (
        Step(go_to("/"), after=Expectation(moved=True, place=Place(ORIGIN, "/"))),
        Step(fill("#name", Parameter("customer")), after=Expectation(place=Place(ORIGIN, "/"))),
        Step(click("#go"), after=Expectation(moved=True, place=DESK)),
    ),
    parameters=("customer",),
    secrets=("password",),
)


def edit(*said: tuple[int, str], **more: object) -> Workflow:
    wanted = tuple(read_extraction(number, text) for number, text in said)
    return edited(FLOW, Edit(extracted=wanted, **more), 2)  # type: ignore[arg-type]


def test_it_stands_behind_its_step_and_reads_by_a_name() -> None:
    changed = edit((3, "order_number #number"), (1, "greeting h1"))
    assert [step.action.type for step in changed.steps] == [
        "navigate", "extract", "type", "click", "extract",
    ]  # fmt: skip
    action = changed.steps[-1].action
    assert (action.name, action.target) == ("order_number", css("#number"))
    assert changed.steps[-1] == extracting(
        Extraction(3, "order_number", css("#number")), FLOW.steps
    )
    assert (changed.steps[1].before, changed.steps[-1].before) == (Place(ORIGIN, "/"), DESK)
    assert changed.end == msgspec.structs.replace(FLOW.end)
    assert changed.parameters == FLOW.parameters


@for_each(
    "selector, ways",
    [
        ("table.orders tr > td", (ByCss("table.orders tr > td"),)),
        ('aria/Total[role="status"]', (ByRole("status", "Total"),)),
        ("aria/Total", (ByRole("", "Total"),)),
        ("text/Order number", (ByText("Order number"),)),
        ("#n | text/Order number", (ByCss("#n"), ByText("Order number"))),
        ("label/Order number", (ByBeside("Order number"),)),
        ("near/was sent", (ByBeside("was sent", "near"),)),
    ],
)
def test_a_selector_is_one_of_those_that_scripts_have(
    selector: str, ways: tuple[object, ...]
) -> None:
    assert read_extraction(1, f"n {selector}").target == Target(ways)  # type: ignore[arg-type]


@for_each(
    "number, said, complaint",
    [
        (3, "", "is not STEP=NAME SELECTOR"),
        (3, "name", "is not STEP=NAME SELECTOR"),
        (3, "name ", "is not STEP=NAME SELECTOR"),
        (3, "na\x07me #n", "is no name of a value"),
        (3, "n" * 61 + " #n", "is no name of a value"),
        (3, "n //table/tr", "an XPath is not supported"),
        (3, "n xpath//table", "an XPath is not supported"),
        (4, "n #n", "none can stand behind 4"),
        (0, "n #n", "before the first step there is nothing to read"),
        (3, "n aria/${who}", r"holds \$\{who\}, which nothing binds"),
        (3, "n aria/${password}", "holds the secret 'password'"),
    ],
)
def test_what_says_nothing_that_could_be_read_is_refused(
    number: int, said: str, complaint: str
) -> None:
    with pytest.raises(BadInput, match=complaint):
        edit((number, said))


def test_all_that_the_page_says_is_read_or_a_part_of_it() -> None:
    wanted = read_page_reading(3, "terms"), read_page_reading(3, "advice main | aria/Advice")
    changed = edited(FLOW, Edit(extracted=wanted), 2)
    assert [step.action for step in changed.steps[3:]] == [
        Action("read_page", name="terms"),
        Action("read_page", target=Target((ByCss("main"), ByRole("", "Advice"))), name="advice"),
    ]
    assert changed.steps[-1].before == DESK
    with pytest.raises(BadInput, match=r"--read-page 3= is not STEP=NAME \[SELECTOR\]"):
        read_page_reading(3, "")
    with pytest.raises(BadInput, match="'terms' is read already"):
        edited(changed, Edit(extracted=(read_extraction(3, "terms #n"),)), 3)


def test_two_values_have_two_names() -> None:
    with pytest.raises(BadInput, match="'n' is read already"):
        edit((3, "n #a"), (3, "n #b"))
    known = edited(FLOW, Edit(extracted=(read_extraction(3, "n #a"),)), 2)
    with pytest.raises(BadInput, match="'n' is read already"):
        edited(known, Edit(extracted=(read_extraction(3, "n #b"),)), 3)
    moved = edited(known, Edit(extracted=(read_extraction(1, "n #b"),), dropped=frozenset({4})), 3)
    assert moved.steps[1].action.type == "extract"


def test_a_parameter_may_say_which_element_it_is() -> None:
    changed = edit((3, "row aria/${customer}"), (3, "line near/for ${customer}"))
    assert changed.steps[-2].action.target == Target((ByRole("", "${customer}"),))
    assert changed.steps[-1].action.target == Target((ByBeside("for ${customer}", "near"),))


def test_without_its_last_step_a_workflow_ends_where_the_one_before_led() -> None:
    changed = edit((2, "n #n"), dropped=frozenset({3}))
    assert [step.action.type for step in changed.steps] == ["navigate", "type", "extract"]
    assert changed.end.place == Place(ORIGIN, "/")


def test_behind_a_look_it_is_due_where_the_step_before_that_led() -> None:
    looked = edited(FLOW, Edit(verified=((3, TextVisible("Desk")),)), 2)
    read = edited(looked, Edit(extracted=(read_extraction(4, "n #n"),)), 3)
    assert [step.action.type for step in read.steps[3:]] == ["check", "extract"]
    assert read.steps[-1].before == DESK


def test_reading_alone_is_no_workflow() -> None:
    with pytest.raises(BadInput, match="that would leave no step"):
        edit((1, "n #n"), dropped=frozenset({1, 2, 3}))
    assert Action("extract", name="n") != Action("extract")
