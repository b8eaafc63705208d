"""What a reply asks for: every call under a name of its own, and nothing typed in any of them."""

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from rutter.actors.advisor.reply_parser import MAX_CALLS, ParsedReply, calls_of, proposal_in
from rutter.actors.rules.tools.arguments import BoundNames
from rutter.actors.rules.tools.tool_table import TOOLS
from rutter.actors.world.models.messages import ModelCall, Reply
from rutter.events.advisor import Ending, WantedCall
from tests.support.case_table import for_each

NAMES = BoundNames({"customer": "Ann"}, ("password",))


def used(tool: str, arguments: str = "{}") -> ModelCall:
    return ModelCall("toolu_1", tool, arguments)


def heard(
    *calls: ModelCall, ending: Ending = "called", allowed: tuple[str, ...] = ()
) -> ParsedReply:
    reply = Reply("m", ending, calls=calls)
    return calls_of(reply, "a4", number=2, names=NAMES, allowed=allowed or tuple(TOOLS))


def test_every_call_has_a_name_that_stays() -> None:
    said = heard(used("browser_click", '{"ref":"@e1"}'), used("get_snapshot"))
    assert said.calls == (
        WantedCall("a4.0", "browser_click", '{"ref":"@e1"}'),
        WantedCall("a4.1", "get_snapshot"),
    )
    assert said == heard(used("browser_click", '{"ref":"@e1"}'), used("get_snapshot"))


def test_what_is_typed_has_a_number_and_stands_beside() -> None:
    fill = used("browser_fill", '{"ref":"@e1","value":"hunter2"}')
    more = used("browser_fill", '{"ref":"@e2","value":"hunter3"}')
    said = heard(fill, more)
    assert [msgspec.json.decode(call.arguments)["value"] for call in said.calls] == [
        {"typed": 2},
        {"typed": 3},
    ]
    assert said.typed == ("hunter2", "hunter3")
    assert [msgspec.json.decode(call.arguments)["value"] for call in said.recorded] == [
        "<typed 2>",
        "<typed 3>",
    ]


def test_a_bound_name_is_told_by_name() -> None:
    said = heard(used("browser_fill", '{"ref":"@e1","value":"${password}"}'))
    assert msgspec.json.decode(said.calls[0].arguments)["value"] == {"secret": "password"}
    assert msgspec.json.decode(said.recorded[0].arguments)["value"] == "${password}"
    assert said.typed == ()


@for_each(
    "call, tool, wrong",
    [
        (used("browser_click", '{"ref":"@e1'), "browser_click", "the arguments are not a JSON"),
        (used("browser_click", "[1]"), "browser_click", "the arguments are not a JSON object"),
        (used("browser_click", ""), "browser_click", "the arguments are not a JSON object"),
        (used("browser_click", "{}"), "browser_click", "Object missing required field `ref`"),
        (used("browser_hover", "{}"), "browser_hover", "there is no such tool"),
        (used("rm -rf /", "{}"), "?", "there is no such tool"),
        (used("press", '{"key":"Enter"}'), "press", "press is not allowed here"),
    ],
)
def test_a_call_that_does_not_fit_says_why(call: ModelCall, tool: str, wrong: str) -> None:
    (asked,) = heard(call, allowed=("browser_click", "browser_fill")).calls
    assert asked.tool == tool
    assert asked.invalid.startswith(wrong)


def test_of_what_does_not_fit_nothing_is_kept_that_may_be_a_secret() -> None:
    said = heard(
        used("browser_fill", '{"ref":"@e1","value":"hunter2","and":"hunter2"}'),
        used("browser_fill", '{"ref":"@e1","value":"hunter2"'),
        used("press", '{"key":"hunter2"}'),
    )
    assert all(call.invalid for call in said.calls)
    assert "hunter2" not in str((said.calls, said.recorded))


def test_calls_without_end_are_not_all_told() -> None:
    assert len(heard(*[used("get_snapshot")] * 99).calls) == MAX_CALLS


def test_why_nothing_was_called_is_said() -> None:
    assert heard(ending="said").invalid == ""
    assert heard(ending="cut").invalid == "it was cut off before it called anything"
    assert heard(ending="refused").invalid == "it refused"


def test_a_proposal_is_the_first_call_or_there_is_none() -> None:
    def proposed(*calls: ModelCall, ending: Ending = "called") -> ParsedReply:
        return proposal_in(Reply("m", ending, calls=calls), number=0, names=NAMES)

    good = msgspec.json.encode(
        {
            "state": "UNKNOWN",
            "action_type": "fill",
            "target": {"css": "#a"},
            "value": "hunter2",
            "reasoning": "",
            "confidence": 0.9,
        }
    ).decode()
    made = proposed(used("browser_action", good), used("browser_action", "{}"))
    assert made.proposal is not None
    assert made.typed == ("hunter2",)
    assert "hunter2" not in str(made.proposal)
    assert proposed().invalid == "it did not call browser_action"
    assert proposed(ending="refused").invalid == "it refused"
    assert proposed(used("press")).invalid == "it called something else than browser_action"
    assert proposed(used("browser_action", good[:40])).invalid.startswith("the arguments are not")


@given(
    st.lists(
        st.builds(used, st.sampled_from(sorted(TOOLS)) | st.text(max_size=9), st.text(max_size=30)),
        max_size=5,
    )
)
def test_whatever_a_model_says_it_can_be_logged(calls: list[ModelCall]) -> None:
    said = heard(*calls)
    assert [call.call for call in said.calls] == [f"a4.{place}" for place in range(len(calls))]
    for call in said.calls:
        assert isinstance(msgspec.json.decode(call.arguments), dict)
