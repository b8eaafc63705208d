"""A call of `browser_action` is a checked action, or it is said what is wrong with it."""

import json
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from rutter.actors.advisor.proposal import NAME, ParsedProposal, action_spec, proposal_of
from rutter.actors.rules.policy.policy import missing_field
from rutter.actors.rules.tools.arguments import BoundNames
from rutter.events.action import (
    Action,
    ByCss,
    ByPoint,
    ByRole,
    ByText,
    Parameter,
    Secret,
    Target,
    Typed,
)
from tests.support.case_table import for_each

NAMES = BoundNames({"customer": "Ann"}, ("password",))
BASE: dict[str, Any] = {
    "state": "ACCOUNT_ACTIVE",
    "action_type": "click",
    "target": {"css": "#cancel"},
    "reasoning": "it says cancel",
    "confidence": 0.8,
}


def read(**changes: Any) -> ParsedProposal:
    said = {name: value for name, value in (BASE | changes).items() if value is not ...}
    return proposal_of(json.dumps(said), number=7, names=NAMES)


def action(**changes: Any) -> Action:
    made = read(**changes)
    assert made.proposal is not None, made.invalid
    return made.proposal.action


def test_the_schema_is_the_seeds_with_what_the_spec_adds() -> None:
    schema = action_spec(repairs=False).schema
    assert action_spec(repairs=False).name == NAME == "browser_action"
    assert schema["required"] == ["state", "action_type", "target", "reasoning", "confidence"]
    assert schema["properties"]["action_type"]["enum"] == [
        *("click", "fill", "select", "scroll", "wait", "navigate")
    ]
    assert schema["properties"]["state"]["enum"] == [
        *("LOGIN_REQUIRED", "ACCOUNT_ACTIVE", "ACCOUNT_CANCELLED", "THIRD_PARTY_BILLING"),
        *("RETENTION_OFFER", "EXIT_SURVEY", "FINAL_CONFIRMATION", "COMPLETE", "FAILED", "UNKNOWN"),
    ]
    assert schema["properties"]["target"]["properties"]["coordinates"] == {
        "type": "array",
        "items": {"type": "integer"},
        "minItems": 2,
        "maxItems": 2,
    }
    assert set(schema["properties"]) == {*BASE, "value", "expected_state", "fallback_targets"}
    assert schema["properties"]["fallback_targets"]["maxItems"] == 3


def test_only_a_repair_is_asked_whether_it_does_the_step() -> None:
    assert "does_step" in action_spec(repairs=True).schema["properties"]
    assert read().proposal is not None
    for does in (True, False):
        proposal = read(does_step=does).proposal
        assert proposal is not None
        assert proposal.instead == does


def test_a_proposal_holds_all_that_was_said_in_integers() -> None:
    proposal = read(expected_state="COMPLETE", reasoning="two\nlines").proposal
    assert proposal is not None
    assert proposal.action == Action("click", target=Target((ByCss("#cancel"),)))
    assert (proposal.certainty, proposal.state, proposal.leads_to) == (
        800_000,
        "ACCOUNT_ACTIVE",
        "COMPLETE",
    )
    assert proposal.instead
    assert proposal.reasoning.text == "two lines"


@for_each("said, millionths", [(0, 0), (1, 1_000_000), (0.6, 600_000)])
def test_certainty_is_exact_at_its_threshold(said: float, millionths: int) -> None:
    proposal = read(confidence=said).proposal
    assert proposal is not None
    assert proposal.certainty == millionths


def test_ways_are_in_the_order_of_preference_with_fallbacks_behind() -> None:
    target = {
        "coordinates": [10, 20],
        "text": "Cancel",
        "aria_name": "Cancel",
        "aria_role": "button",
        "css": "#cancel",
    }
    more = [{"css": ".cancel"}, {"text": "Cancel"}, {"text": "End"}]
    made = action(target=target, fallback_targets=more).target
    assert made is not None
    assert made.strategies == (
        ByCss("#cancel"),
        ByRole("button", "Cancel"),
        ByText("Cancel"),
        ByPoint(10, 20),
        ByCss(".cancel"),
        ByText("End"),
    )


@for_each(
    "changes, wanted",
    [
        (
            {"action_type": "fill", "value": "Ann"},
            Action("type", target=Target((ByCss("#cancel"),)), value=Typed(7)),
        ),
        (
            {"action_type": "fill", "value": "${password}"},
            Action("type", target=Target((ByCss("#cancel"),)), value=Secret("password")),
        ),
        (
            {"action_type": "select", "value": "${customer}"},
            Action("select", target=Target((ByCss("#cancel"),)), value=Parameter("customer")),
        ),
        (
            {"action_type": "navigate", "target": {}, "value": "https://shop.example/"},
            Action("navigate", url="https://shop.example/"),
        ),
        (
            {"action_type": "scroll", "target": {}, "value": "Down"},
            Action("scroll", direction="down", amount=300),
        ),
        ({"action_type": "scroll"}, Action("scroll", target=Target((ByCss("#cancel"),)))),
        ({"action_type": "wait"}, Action("wait_for", target=Target((ByCss("#cancel"),)))),
        ({"action_type": "wait", "target": {}, "value": "500"}, Action("wait", ms=500)),
        ({"action_type": "wait", "target": {}, "value": "99999 ms"}, Action("wait", ms=10_000)),
    ],
)
def test_every_type_carries_what_it_needs(changes: dict[str, Any], wanted: Action) -> None:
    assert action(**changes) == wanted
    assert missing_field(wanted) == ""


def test_what_is_typed_goes_beside_the_proposal_and_never_into_it() -> None:
    made = read(action_type="fill", value="hunter2")
    assert made.typed == "hunter2"
    assert "hunter2" not in str(made.proposal)
    assert read(action_type="fill", value="${customer}").typed is None
    assert read(action_type="fill", value="${nobody}").typed == "${nobody}"
    assert read(value="not used by a click").typed is None


@for_each(
    "changes, wrong",
    [
        ({"target": {}}, "click needs a target: css, aria_role and aria_name, text or coordinates"),
        ({"target": {"aria_role": "button"}}, "target lacks aria_name: role and name go together"),
        ({"target": {"aria_name": "Go"}}, "target lacks aria_role: role and name go together"),
        ({"target": {"css": "  "}}, "click needs a target"),
        ({"action_type": "fill"}, "fill needs a value"),
        ({"action_type": "select"}, "select needs a value"),
        ({"action_type": "navigate"}, "navigate needs the URL as its value"),
        ({"action_type": "scroll", "target": {}}, "scroll needs a target, or up, down, top"),
        ({"action_type": "scroll", "target": {}, "value": "left"}, "scroll needs a target, or up"),
        ({"action_type": "wait", "target": {}, "value": "a while"}, "wait needs a target, or mil"),
        ({"action_type": "wait", "target": {}, "value": "1e3"}, "wait needs a target, or mil"),
        ({"target": ...}, "Object missing required field `target`"),
        ({"state": ...}, "Object missing required field `state`"),
        ({"reasoning": ...}, "Object missing required field `reasoning`"),
        ({"confidence": ...}, "Object missing required field `confidence`"),
        ({"confidence": 1.2}, "Expected `float` <= 1.0 - at `$.confidence`"),
        ({"confidence": -0.1}, "Expected `float` >= 0.0 - at `$.confidence`"),
        ({"confidence": "0.9"}, "Expected `float`, got `str` - at `$.confidence`"),
        ({"action_type": "hover"}, "action_type is none of its schema"),
        ({"state": "SINKING"}, "state is none of its schema"),
        ({"expected_state": "SUNK"}, "expected_state is none of its schema"),
        ({"target": {"xpath": "//a"}}, "Object contains unknown field `xpath` - at `$.target`"),
        ({"selector": "#a"}, "Object contains unknown field `selector`"),
        ({"target": {"coordinates": [1]}}, "Expected `array` of length 2"),
        ({"fallback_targets": [{}] * 4}, "Expected `array` of length <= 3"),
        ({"target": "#cancel"}, "Expected `object`, got `str` - at `$.target`"),
    ],
)
def test_what_is_wrong_is_named(changes: dict[str, Any], wrong: str) -> None:
    made = read(**changes)
    assert made.proposal is None
    assert made.invalid.startswith(wrong)


@for_each(
    "arguments",
    ["", "{", '{"state": "UNKNOWN", "ta', "click it", '{"state":"UNKNOWN","value":"\\ud8'],
)
def test_arguments_that_were_cut_off_or_are_no_json_are_invalid(arguments: str) -> None:
    made = proposal_of(arguments, number=0, names=NAMES)
    assert made == ParsedProposal(invalid="the arguments are not JSON, or were cut off")


def test_arguments_without_end_are_not_read() -> None:
    made = proposal_of('{"a": "' + "x" * 70_000, number=0, names=NAMES)
    assert made.invalid == "the arguments are too long"


def test_what_is_wrong_never_holds_the_value() -> None:
    for changes in ({"state": "hunter2"}, {"confidence": "hunter2"}, {"value": ["hunter2"]}):
        assert "hunter2" not in read(**changes).invalid


VALUES = st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(max_size=8)
ANYTHING = st.dictionaries(
    st.sampled_from([*BASE, "value", "expected_state", "fallback_targets", "does_step"]),
    VALUES
    | st.dictionaries(st.sampled_from(["css", "text", "aria_role", "coordinates"]), VALUES)
    | st.sampled_from(["click", "fill", "wait", "scroll", "navigate", "UNKNOWN"]),
)


@given(ANYTHING)
def test_whatever_is_said_is_a_whole_action_or_invalid(changes: dict[str, Any]) -> None:
    made = proposal_of(json.dumps(BASE | changes), number=0, names=NAMES)
    assert (made.proposal is None) == bool(made.invalid)
    if made.proposal is not None:
        assert 0 <= made.proposal.certainty <= 1_000_000
        assert missing_field(made.proposal.action) == ""
        msgspec.json.decode(msgspec.json.encode(made.proposal.action), type=Action)
