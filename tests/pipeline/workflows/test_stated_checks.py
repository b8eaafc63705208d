"""Given a workflow and what its steps must lead to: the next version, or what cannot be stated."""

from typing import Any

import msgspec
import pytest

from rutter.events.action import Action
from rutter.events.checks import (
    AlertSaid,
    Check,
    ElementState,
    FileExists,
    ReadBack,
    TextVisible,
    UrlHas,
    ValueSet,
)
from rutter.events.errors import BadInput
from rutter.events.workflow import Expectation, Step, Workflow
from rutter.pipeline.workflows.edit import Edit, edited
from tests.support.case_table import for_each
from tests.support.shop_facts import ORIGIN, click, css, fill, go_to, place, step, workflow

SENT = TextVisible("Order sent")


def expecting(action: Action, leads_to: str | None = None, **more: Any) -> Step:
    made = step(action, leads_to=leads_to)
    return msgspec.structs.replace(made, after=msgspec.structs.replace(made.after, **more))


def flow(*more: Step) -> Workflow:
    return workflow(
        step(go_to("/")),
        step(fill("#q", "Aurora Shipping")),
        step(fill("#qty", "3")),
        step(click("#place"), leads_to="/orders/*"),
        step(Action("extract", target=css("#number"), name="number")),
        *more,
        hosts=("shop.example",),
        end=Expectation(place=place("/orders/*"), headings=("order #",)),
    )


def changed(before: Workflow | None = None, **asked: Any) -> Workflow:
    return edited(before or flow(), Edit(**asked), 2)


def refusal(before: Workflow | None = None, **asked: Any) -> BadInput:
    with pytest.raises(BadInput) as caught:
        changed(before, **asked)
    return caught.value


# -- stating ---------------------------------------------------------------------------------------


def test_what_is_stated_stands_beside_what_was_recorded() -> None:
    after = changed(expected={4: (SENT, SENT, UrlHas("/orders"))}).steps[3].after

    assert after.checks == (SENT, UrlHas("/orders"))
    assert (after.moved, after.place) == (True, place("/orders/*"))


def test_what_is_stated_again_is_added() -> None:
    once = changed(expected={4: (SENT,)})
    assert changed(once, expected={4: (UrlHas("x"),)}).steps[3].after.checks == (SENT, UrlHas("x"))


def test_a_path_is_read_back_on_the_site_of_the_step() -> None:
    back = ReadBack("/orders", (SENT,))
    after = changed(read_backs={4: back})

    assert after.steps[3].after.read_back == ReadBack(ORIGIN + "/orders", (SENT,))
    assert after.hosts == ("shop.example",)


def test_another_site_that_is_read_back_is_one_that_runs_may_go_to() -> None:
    back = ReadBack("http://127.0.0.1:8000/orders", (SENT,))
    after = changed(read_backs={4: back})

    assert after.steps[3].after.read_back == back
    assert after.hosts == ("shop.example", "127.0.0.1:8000")


@for_each("url", ["orders", "//shop.example/x", "file:///etc/passwd", "javascript:1"])
def test_what_is_no_web_address_is_not_read_back(url: str) -> None:
    assert "is not a web address" in refusal(read_backs={4: ReadBack(url, (SENT,))}).what


def test_a_path_needs_a_site() -> None:
    nowhere = workflow(Step(action=click("#go")))
    assert "is not known" in refusal(nowhere, read_backs={1: ReadBack("/x", (SENT,))}).what


def test_what_was_stated_and_learned_is_dropped_and_where_it_led_is_kept() -> None:
    back = ReadBack(ORIGIN + "/orders", (SENT,))
    known = {"learned": (AlertSaid("saved"),), "checks": (SENT,), "read_back": back}
    before = workflow(expecting(click("#go"), "/next", **known))

    assert changed(before, unexpected={1}).steps[0].after == step(click(), leads_to="/next").after
    again = changed(before, unexpected={1}, expected={1: (UrlHas("x"),)}).steps[0].after
    assert (again.learned, again.checks, again.read_back) == ((), (UrlHas("x"),), None)
    assert "nothing that can be dropped" in refusal(unexpected={1}).what


def test_a_step_that_only_looks_is_put_behind_another_or_first() -> None:
    after = changed(verified=((0, UrlHas("a")), (4, SENT), (4, UrlHas("b")), (5, UrlHas("c"))))
    looks = {at: each.action for at, each in enumerate(after.steps) if each.action.verify}

    assert looks == {
        0: Action("check", verify=(UrlHas("a"),)),
        5: Action("check", verify=(SENT,)),
        6: Action("check", verify=(UrlHas("b"),)),
        8: Action("check", verify=(UrlHas("c"),)),
    }
    assert not after.steps[5].after.effect
    assert after.end == flow().end


def test_numbers_are_those_of_the_version_before() -> None:
    after = changed(verified=((1, SENT),), dropped={2}, expected={4: (SENT,)})

    kinds = [each.action.type for each in after.steps]
    assert kinds == ["navigate", "check", "type", "click", "extract"]
    assert after.steps[3].after.checks == (SENT,)


def test_a_workflow_whose_last_step_is_dropped_ends_where_the_one_before_led() -> None:
    assert changed(dropped={5}, verified=((5, SENT),)).end == Expectation(place=place("/orders/*"))


def test_looks_alone_are_no_workflow() -> None:
    assert "no step" in refusal(dropped={1, 2, 3, 4, 5}, verified=((0, SENT),)).what


@for_each(
    "asked, what, fix",
    [
        ({"expected": {9: (SENT,)}}, "has steps 1 to 5, not 9", "workflows show"),
        ({"expected": {0: (SENT,)}}, "not 0", "workflows show"),
        ({"verified": ((6, SENT),)}, "none can stand behind 6", "workflows show"),
        ({"expected": {4: (SENT,)}, "dropped": {4}}, "dropped and changed", "one of them"),
        ({"expected": {5: (SENT,)}}, "step 5 is no action but an observation", "--verify 5=CHECK"),
        ({"expected": {4: (TextVisible("${x}"),)}}, "${x}, which nothing binds", "none"),
        ({"verified": ((1, FileExists("${x}")),)}, "${x}, which nothing binds", "none"),
        ({"read_backs": {4: ReadBack("/${x}", (SENT,))}}, "${x}, which nothing binds", "none"),
    ],
)
def test_what_cannot_be_stated_is_refused(asked: Any, what: str, fix: str) -> None:
    said = refusal(**asked)
    assert what in said.what
    assert fix in said.fix


# -- names and secrets -----------------------------------------------------------------------------


def test_a_parameter_in_a_check_is_bound_like_any_other() -> None:
    named = changed(parameters={2: "customer", 3: "quantity"})
    back = ReadBack("/find?q=${customer}", (TextVisible("${quantity}"),))
    after = changed(named, expected={4: (AlertSaid("for ${customer}"),)}, read_backs={4: back})
    assert after.parameters == ("customer", "quantity")

    only_checked = changed(after, dropped={2, 3})
    assert only_checked.parameters == ("customer", "quantity")


def test_a_literal_that_is_named_varies_in_checks_and_read_backs_too() -> None:
    checks: tuple[Check, ...] = (
        TextVisible("For Aurora Shipping"),
        UrlHas("q=Aurora+Shipping"),
        ValueSet("Aurora Shipping", "Customer"),
        ElementState("checked", "aurora shipping"),
        AlertSaid("order # for aurora shipping"),
        TextVisible("3 days"),
    )
    back = ReadBack("/find/Aurora%20Shipping?is=aurora+shipping", checks[:1])
    stated = changed(
        expected={4: checks}, read_backs={4: back}, verified=((5, TextVisible("Aurora Shipping")),)
    )
    after = changed(stated, parameters={2: "customer"})

    found = after.steps[3].after
    assert found.checks == (
        TextVisible("For ${customer}"),
        UrlHas("q=${customer}"),
        ValueSet("${customer}", "Customer"),
        ElementState("checked", "${customer}"),
        AlertSaid("order # for ${customer}"),
        TextVisible("3 days"),
    )
    url = ORIGIN + "/find/${customer}?is=${customer}"
    assert found.read_back == ReadBack(url, (TextVisible("For ${customer}"),))
    assert after.steps[5].action.verify == (TextVisible("${customer}"),)


def test_what_is_stated_and_named_at_once_means_the_version_before() -> None:
    after = changed(parameters={2: "customer"}, expected={4: (TextVisible("Aurora Shipping"),)})
    assert after.steps[3].after.checks == (TextVisible("${customer}"),)


def test_a_field_holds_what_its_own_step_types_however_short() -> None:
    filled = expecting(fill("#floor", "3"), learned=(ValueSet("3", "Floor"),))
    other = expecting(fill("#qty", "3"), learned=(ValueSet("3", "Quantity"),))
    after = changed(workflow(filled, other), parameters={1: "floor"})

    assert after.steps[0].after.learned == (ValueSet("${floor}", "Floor"),)
    assert after.steps[1].after.learned == (ValueSet("3", "Quantity"),)


def test_what_a_page_said_without_its_numbers_varies_where_the_value_was() -> None:
    said = expecting(
        fill("#berth", "Berth 12 north"), learned=(AlertSaid("moved to berth # north"),)
    )
    after = changed(workflow(said), parameters={1: "berth"})
    assert after.steps[0].after.learned == (AlertSaid("moved to *"),)


def test_what_was_learned_by_a_secret_goes_and_the_rest_stays() -> None:
    learned = (
        ValueSet("Aurora Shipping", "Code"),
        AlertSaid("hello aurora shipping"),
        AlertSaid("saved"),
    )
    before = workflow(expecting(fill("#code", "Aurora Shipping"), learned=learned))
    assert changed(before, secrets={1: "code"}).steps[0].after.learned == (AlertSaid("saved"),)

    short = workflow(expecting(fill("#pin", "123"), learned=(ValueSet("123", "Pin"),)))
    assert changed(short, secrets={1: "pin"}).steps[0].after.learned == ()


def test_a_check_that_was_stated_by_a_secret_is_refused_until_it_is_taken_back() -> None:
    before = changed(expected={4: (TextVisible("for aurora shipping"),)})

    said = refusal(before, secrets={2: "code"})
    assert "step 4 is checked by a text that holds it" in said.what
    assert "--no-expect 4" in said.fix
    after = changed(before, secrets={2: "code"}, unexpected={4})
    assert "urora" not in msgspec.json.encode(after).decode()


def test_a_look_or_a_read_back_by_a_secret_is_refused() -> None:
    looking = changed(verified=((4, TextVisible("Aurora Shipping")),))
    assert "step 5 checks a text that holds it" in refusal(looking, secrets={2: "code"}).what
    back = changed(read_backs={4: ReadBack("/find?q=Aurora%20Shipping", (SENT,))})
    assert "step 4 is checked by" in refusal(back, secrets={2: "code"}).what


def test_a_secret_is_stated_by_neither_its_value_nor_its_name() -> None:
    value: Any = {"secrets": {2: "code"}, "expected": {4: (TextVisible("Aurora Shipping"),)}}
    assert "step 4 holds a secret" in refusal(**value).what
    name: Any = {"secrets": {2: "code"}, "expected": {4: (TextVisible("${code}"),)}}
    assert "holds the secret 'code'" in refusal(**name).what


def test_a_step_before_an_optional_page_keeps_what_was_stated_of_itself_alone() -> None:
    back = ReadBack(ORIGIN + "/orders", (SENT,))
    known = {"learned": (AlertSaid("saved"),), "checks": (SENT,), "read_back": back}
    before = workflow(
        expecting(click("#go"), "/banner", **known),
        step(click("#dismiss"), at="/banner", leads_to="/desk"),
    )
    after = changed(before, optional={2}).steps[0].after
    assert after == Expectation(checks=(SENT,), read_back=back)
