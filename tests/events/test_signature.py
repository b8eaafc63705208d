"""Signatures (A2): equal if and only if the actions are; tokens: what the model learns on."""

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from rutter.events.action import (
    Action,
    ByCss,
    ByPoint,
    ByRef,
    ByRole,
    ByText,
    DialogAnswer,
    Fingerprint,
    Parameter,
    Secret,
    Strategy,
    Target,
    Text,
    Typed,
)
from rutter.events.signature import signature, token
from tests.support.any_values import from_few_values, from_struct
from tests.support.example_counts import examples

# Few values, so that actions are often equal in part; some look like a piece of a signature.
TEXTS = ["", "a", '"', '","type":"click', '{"text":"a"}', "é"]
actions = from_few_values(Action, TEXTS, [0, 1, 10])
any_action = from_struct(Action)


def css(selector: str, *fallbacks: Strategy) -> Target:
    return Target((ByCss(selector), *fallbacks))


def identity(action: Action) -> tuple[object, ...]:
    """What makes two actions the same."""
    return (
        *(action.type, primary(action.target), action.url, action.key, action.value),
        *(action.direction, action.amount, action.ms, action.name, action.tab, action.dialogs),
        *(action.append, action.verify, action.aside, action.wanted),
        *(action.pasted, action.button, action.count, action.modifiers),
        *(primary(action.to), action.by, action.page, action.prompt, action.viewport_only),
    )


def primary(target: Target | None) -> object:
    first = target.primary if target else None
    # In which look it was numbered is no part of it.
    return ("ref", first.ref) if isinstance(first, ByRef) else first


@examples(500)
@given(actions, actions)
def test_signatures_are_equal_if_and_only_if_the_actions_are(one: Action, other: Action) -> None:
    assert (signature(one) == signature(other)) == (identity(one) == identity(other))


@examples(500)
@given(actions, actions, st.sampled_from([f.name for f in msgspec.structs.fields(Action)]))
def test_one_other_field_is_another_signature_unless_it_says_the_same(
    one: Action, other: Action, field: str
) -> None:
    changed = msgspec.structs.replace(one, **{field: getattr(other, field)})
    assert (signature(one) == signature(changed)) == (identity(one) == identity(changed))


@given(any_action, st.lists(from_struct(ByText), max_size=3), from_struct(Fingerprint))
def test_fallback_strategies_and_the_fingerprint_do_not_change_it(
    action: Action, fallbacks: list[ByText], fingerprint: Fingerprint
) -> None:
    if action.target is None or not action.target.strategies:
        return
    target = Target((action.target.strategies[0], *fallbacks), fingerprint)
    assert signature(msgspec.structs.replace(action, target=target)) == signature(action)
    assert token(msgspec.structs.replace(action, target=target)) == token(action)


@given(any_action)
def test_it_is_compact_json_with_sorted_keys(action: Action) -> None:
    fields = msgspec.json.decode(signature(action))
    assert list(fields) == sorted(fields)
    assert signature(action).encode() == msgspec.json.encode(fields)


def test_the_examples_of_the_first_seed() -> None:
    navigate = Action("navigate", url="https://example.com")
    click = Action("click", css("#button"))
    fill = Action("type", css("#input"), value=Text("hello"))
    assert signature(navigate) == '{"type":"navigate","url":"https://example.com"}'
    assert signature(click) == '{"selector":"#button","type":"click"}'
    assert signature(fill) == '{"selector":"#input","text":"hello","type":"type"}'


def test_a_selector_is_never_taken_for_one_of_another_kind() -> None:
    ways: list[Strategy] = [
        *(ByCss('{"text":"Pay"}'), ByCss("Pay"), ByText("Pay")),
        *(ByRole("button", "Pay"), ByRole("Pay", "button"), ByPoint(1, 2), ByPoint(2, 1)),
    ]
    assert len({signature(Action("click", Target((way,)))) for way in ways}) == len(ways)


def test_text_a_parameter_and_a_secret_of_one_name_are_three_signatures() -> None:
    values = (Text("pin"), Parameter("pin"), Secret("pin"), None)
    assert len({signature(Action("type", css("#pin"), value=value)) for value in values}) == 4


def test_a_secret_has_a_name_and_no_place_for_its_value() -> None:
    assert [field.name for field in msgspec.structs.fields(Secret)] == ["name"]
    action = Action("type", css("#pin"), value=Secret("pin"))
    assert signature(action) == '{"secret":"pin","selector":"#pin","type":"type"}'


@given(any_action, st.text())
def test_the_token_does_not_know_literal_text(action: Action, text: str) -> None:
    bare = msgspec.structs.replace(action, value=None)
    assert token(msgspec.structs.replace(action, value=Text(text))) == token(bare)


@given(any_action, st.text(), st.text())
def test_the_token_keeps_the_names_of_parameters(action: Action, one: str, other: str) -> None:
    def with_parameter(name: str) -> Action:
        return msgspec.structs.replace(action, value=Parameter(name))

    assert (token(with_parameter(one)) == token(with_parameter(other))) == (one == other)
    assert token(with_parameter(one)) != token(msgspec.structs.replace(action, value=None))


def test_to_the_token_a_secret_is_a_parameter_like_any_other() -> None:
    values = (Parameter("pin"), Secret("pin"))
    assert len({token(Action("type", css("#pin"), value=value)) for value in values}) == 1


@given(any_action)
def test_without_literal_text_equal_signatures_are_equal_tokens(action: Action) -> None:
    if not isinstance(action.value, Text | Secret | Typed) and not action.dialogs:
        assert token(action) == signature(action)


def test_what_is_said_to_a_dialog_is_not_in_the_token() -> None:
    def answering(text: str) -> Action:
        return Action("click", css("#go"), dialogs=(DialogAnswer(True, text, "prompt", "who?"),))

    assert token(answering("Ann")) == token(answering("Bea"))
    assert signature(answering("Ann")) != signature(answering("Bea"))
