"""Given the values of one session: what is typed and looked for, and what is never shown."""

import pytest

from rutter.actors.world.secrets.bindings import Bindings
from rutter.events.action import ByCss, ByPoint, ByRole, ByText, Parameter, Secret, Strategy, Text
from rutter.events.errors import BadInput
from tests.support.case_table import for_each

BOUND = Bindings({"customer": "Aurora"}, {"password": "hunter2"})


def test_a_literal_is_itself() -> None:
    assert BOUND.value(Text("rope")) == "rope"


def test_a_parameter_is_its_value() -> None:
    assert BOUND.value(Parameter("customer")) == "Aurora"


def test_a_secret_is_its_value() -> None:
    assert BOUND.value(Secret("password")) == "hunter2"


def test_parameters_and_secrets_are_not_mixed_up() -> None:
    with pytest.raises(BadInput, match=r"'password' has no value; bind it with --set password="):
        BOUND.value(Parameter("password"))
    with pytest.raises(BadInput, match=r"'customer' has no value; bind it with --secret customer="):
        BOUND.value(Secret("customer"))


@for_each(
    "recorded, looked_for",
    [
        (ByRole("link", "${customer}"), ByRole("link", "Aurora")),
        (ByText("${customer}"), ByText("Aurora")),
        (ByRole("link", "Orders"), ByRole("link", "Orders")),
        (ByText("costs ${customer}"), ByText("costs Aurora")),
        (ByCss("#${customer}"), ByCss("#${customer}")),
        (ByPoint(1, 2), ByPoint(1, 2)),
    ],
)
def test_a_locator_that_is_a_parameter_is_looked_for_by_its_value(
    recorded: Strategy, looked_for: Strategy
) -> None:
    assert BOUND.strategy(recorded) == looked_for


@for_each("name", ["supplier", "password"])
def test_what_is_no_parameter_is_the_pages_own_text_and_a_secret_is_never_looked_for(
    name: str,
) -> None:
    assert BOUND.strategy(ByText(f"${{{name}}}")) == ByText(f"${{{name}}}")


def test_shown_by_accident_it_shows_names_only() -> None:
    assert repr(BOUND) == "Bindings(['customer'], secrets ['password'])"
    assert "hunter2" not in f"{BOUND} {BOUND!r}"


def test_what_it_was_made_from_can_change_without_it() -> None:
    values = {"a": "1"}
    bound = Bindings(values, {})
    values["a"] = "2"
    assert bound.value(Parameter("a")) == "1"
