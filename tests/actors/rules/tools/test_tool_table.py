"""The table of tools: the seeds' seven word for word, and what every descriptor promises."""

import json
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest

from rutter.actors.rules.tools.tool_table import (
    MAX_WAIT_MS,
    SEVEN,
    TOOLS,
    Descriptor,
    Filled,
    Kind,
    Logged,
    RetryProfile,
    SideEffect,
    action_of,
    place_of_ref,
)
from rutter.events.action import Action, ByBeside, ByRef, Parameter, Secret, Target, Typed
from rutter.events.tools import ToolError
from tests.support.case_table import for_each

# S3 1.1.3, as it is written there.
SEEDS = (Path(__file__).parent / "seven_tools.json").read_text()
SEED: dict[str, Any] = {each["name"]: each for each in json.loads(SEEDS)}
# S3 2.2.1, the Max column.
SEED_MS = {
    "get_snapshot": 3_000,
    "browser_click": 2_000,
    "browser_fill": 2_000,
    "browser_select": 2_000,
    "browser_scroll": 1_000,
}
every_tool = for_each("tool", TOOLS.values())


@for_each("name", SEED)
def test_the_seven_are_the_seeds_word_for_word(name: str) -> None:
    tool = TOOLS[name]
    said = {"name": tool.name, "description": tool.description, "input_schema": tool.input_schema}
    assert json.dumps(said) == json.dumps(SEED[name])


def test_the_seven_are_seven_and_the_others_stand_beside_them() -> None:
    assert [tool.name for tool in SEVEN] == list(SEED)
    others = ["navigate", "press", "wait", "extract", "read_page", "read_file", "ghost_extract"]
    assert list(TOOLS) == [*SEED, *others]


@for_each("name", SEED_MS)
def test_a_call_may_take_what_the_seeds_say_and_no_longer(name: str) -> None:
    assert TOOLS[name].timeout_ms == SEED_MS[name]


@every_tool
def test_a_descriptor_is_one_of_each_class(tool: Descriptor) -> None:
    assert tool.retry_profile in get_args(RetryProfile)
    assert tool.side_effect_class in get_args(SideEffect)
    assert tool.kind in get_args(Kind)
    assert tool.timeout_ms > 0


@every_tool
def test_only_the_network_is_tried_three_times_and_observations_once(tool: Descriptor) -> None:
    assert (tool.retry_profile == "network") == (tool.name == "navigate")
    if tool.kind != "action":
        assert tool.retry_profile == "none"


@every_tool
def test_a_descriptor_says_everything_that_a_model_should_know(tool: Descriptor) -> None:
    said = tool.guidance
    assert all((said.purpose, said.refs, said.when, said.patterns, said.example))
    assert set(said.errors) <= set(get_args(ToolError))


@every_tool
def test_what_is_checked_is_what_the_schema_says(tool: Descriptor) -> None:
    checked = {field.name: field for field in msgspec.structs.fields(tool.args)}
    properties = tool.input_schema["properties"]
    assert set(checked) == set(properties)
    required = {name for name, field in checked.items() if field.required}
    assert required == set(tool.input_schema.get("required", []))
    for name, said in properties.items():
        if "default" in said:
            assert checked[name].default == said["default"]


@every_tool
def test_an_argument_that_nobody_knows_is_refused(tool: Descriptor) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"surprise": 1}, tool.args)


@for_each(
    "tool, arguments",
    [
        ("browser_click", {"ref": "e7"}),
        ("browser_click", {"ref": "@e"}),
        ("browser_click", {"ref": "@e7\n"}),
        ("browser_click", {"ref": "@e٣"}),
        ("browser_click", {"ref": 7}),
        ("browser_fill", {"ref": "@e1"}),
        ("browser_scroll", {"direction": "left"}),
        ("browser_scroll", {"direction": "down", "amount": 10**9}),
        ("complete_task", {"status": "maybe", "reason": "x"}),
        ("wait", {"ms": MAX_WAIT_MS + 1}),
        ("wait", {"ms": -1}),
        ("get_snapshot", {"viewport_only": "yes"}),
    ],
)
def test_arguments_that_do_not_fit_are_refused(tool: str, arguments: dict[str, Any]) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(arguments, TOOLS[tool].args)


AT_7 = Target((ByRef("@e7"),))


@for_each(
    "tool, given, action",
    [
        ("browser_click", Logged(ref="@e7"), Action("click", target=AT_7)),
        (
            "browser_fill",
            Logged(ref="@e7", value=Filled(typed=2)),
            Action("type", target=AT_7, value=Typed(2)),
        ),
        (
            "browser_fill",
            Logged(ref="@e7", value=Filled(secret="pin"), clear_first=False),
            Action("type", target=AT_7, value=Secret("pin"), append=True),
        ),
        (
            "browser_select",
            Logged(ref="@e7", value=Filled(param="size")),
            Action("select", target=AT_7, value=Parameter("size")),
        ),
        (
            "browser_scroll",
            Logged(direction="down", amount=50),
            Action("scroll", direction="down", amount=50),
        ),
        (
            "browser_scroll",
            Logged(ref="@e7", direction="down"),
            Action("scroll", target=AT_7),
        ),
        (
            "navigate",
            Logged(url="https://a.example/"),
            Action("navigate", url="https://a.example/"),
        ),
        ("press", Logged(key="Enter"), Action("press", key="Enter")),
        ("wait", Logged(ms=5), Action("wait", ms=5)),
        ("extract", Logged(ref="@e7"), Action("extract", target=AT_7)),
        ("extract", Logged(label="No."), Action("extract", target=Target((ByBeside("No."),)))),
        (
            "extract",
            Logged(near="No. 1"),
            Action("extract", target=Target((ByBeside("No. 1", "near"),))),
        ),
        ("read_page", Logged(), Action("read_page", page=1)),
        ("read_page", Logged(ref="@e7", page=2), Action("read_page", target=AT_7, page=2)),
        (
            "ghost_extract",
            Logged(prompt="Prices?", viewport_only=True),
            Action("ghost_extract", prompt="Prices?", viewport_only=True),
        ),
        ("get_snapshot", Logged(), None),
        ("complete_task", Logged(), None),
        ("read_file", Logged(), None),
    ],
)
def test_a_call_becomes_one_action_or_none(tool: str, given: Logged, action: Action | None) -> None:
    assert action_of(tool, given) == action


@for_each(
    "ref, place",
    [("@e0", 0), ("@e42", 42), ("@e007", 7), ("@e" + "9" * 18, -1), ("e1", -1), ("", -1)],
)
def test_a_ref_is_a_place_among_the_elements(ref: str, place: int) -> None:
    assert place_of_ref(ref) == place
