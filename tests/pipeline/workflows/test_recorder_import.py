"""Given a script of the Chrome DevTools Recorder: our steps, or what is wrong with it and where."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from rutter.events.action import (
    Action,
    ByCss,
    ByRole,
    ByText,
    Count,
    Parameter,
    Secret,
    Strategy,
    Target,
    Text,
    Typed,
)
from rutter.events.checks import ReadBack, TextVisible, UrlHas
from rutter.events.errors import BadInput
from rutter.pipeline.demo_sites.chandlery import find_order_script, order_script
from rutter.pipeline.workflows.recorder_import import RecorderScript, prepare, read_script
from tests.support.case_table import for_each

Json = dict[str, Any]


def actions(
    *steps: Json, parameters: dict[str, str] | None = None, secrets: dict[str, str] | None = None
) -> list[Action]:
    script = msgspec.convert({"title": "t", "steps": list(steps)}, RecorderScript)
    prepared = prepare(script, parameters or {}, secrets or {})
    return [_told(step.action, prepared.typed) for step in prepared.steps]


def _told(action: Action, typed: tuple[str, ...]) -> Action:
    """The action with what it types put back, as the Executor finds it."""
    if not isinstance(action.value, Typed):
        return action
    return msgspec.structs.replace(action, value=Text(typed[action.value.number]))


def action(step: Json, **bound: Any) -> Action:
    [only] = actions(step, **bound)
    return only


def refusal(*steps: Json, **bound: Any) -> str:
    with pytest.raises(BadInput) as caught:
        actions(*steps, **bound)
    return str(caught.value)


def ways(*selectors: Any) -> tuple[Strategy, ...]:
    target = action({"type": "click", "selectors": list(selectors)}).target
    assert target is not None
    return target.strategies


NAVIGATE: Json = {"type": "navigate", "url": "https://shop.example/"}
CLICK: Json = {"type": "click", "selectors": [["#go"]], "offsetX": 3, "offsetY": 4}


# -- types of steps ------------------------------------------------------------------------------


# How the Recorder says how many elements it waits for; one or more, without.
COUNTS: list[tuple[Json, Count | None]] = [
    ({}, None),
    ({"count": 3}, Count(">=", 3)),
    ({"operator": "==", "count": 1}, Count("==", 1)),
    ({"operator": "<=", "count": 0}, Count("<=", 0)),
    ({"visible": True}, None),
    ({"visible": False}, Count("<=", 0)),
    ({"visible": False, "operator": "<=", "count": 2}, Count(">=", 3)),
    ({"visible": False, "operator": "==", "count": 2}, Count("!=", 2)),
]


@for_each(
    "step, expected",
    [
        (NAVIGATE, Action("navigate", url="https://shop.example/")),
        (CLICK, Action("click", target=Target((ByCss("#go"),)))),
        (
            {"type": "change", "selectors": ["#name"], "value": "Ann"},
            Action("type", target=Target((ByCss("#name"),)), value=Text("Ann")),
        ),
        (
            {"type": "change", "selectors": ["#name"], "value": ""},
            Action("type", target=Target((ByCss("#name"),)), value=Text("")),
        ),
        ({"type": "keyDown", "key": "Enter"}, Action("press", key="Enter")),
        ({"type": "scroll", "x": 0, "y": 240.7}, Action("scroll", direction="to", amount=240)),
        ({"type": "scroll", "y": 0}, Action("scroll", direction="top")),
        ({"type": "scroll"}, Action("scroll", direction="top")),
        (
            {"type": "scroll", "selectors": ["#list"], "y": 9},
            Action("scroll", target=Target((ByCss("#list"),))),
        ),
        (
            {"type": "waitForElement", "selectors": ["#done"], "timeout": 5000},
            Action("wait_for", target=Target((ByCss("#done"),)), ms=5000),
        ),
        (
            {"type": "waitForElement", "selectors": ["#done"], "operator": ">=", "count": 1},
            Action("wait_for", target=Target((ByCss("#done"),))),
        ),
        *(
            (
                {"type": "waitForElement", "selectors": ["#done"], **said},
                Action("wait_for", target=Target((ByCss("#done"),)), wanted=count),
            )
            for said, count in COUNTS
        ),
        (
            {
                "type": "customStep",
                "name": "extract",
                "parameters": {"name": "number", "selectors": ["#number"]},
            },
            Action("extract", target=Target((ByCss("#number"),)), name="number"),
        ),
    ],
)
def test_a_step_becomes_an_action(step: Json, expected: Action) -> None:
    assert action(step) == expected


def test_what_is_no_action_of_ours_is_passed_over() -> None:
    passed: list[Json] = [
        {"type": "setViewport", "width": 1280, "height": 900},
        {"type": "keyUp", "key": "Enter"},
        {"type": "emulateNetworkConditions", "download": 1, "upload": 1, "latency": 1},
        {"type": "close"},
    ]
    assert actions(passed[0], NAVIGATE, *passed[1:]) == [action(NAVIGATE)]


@for_each("kind", ["waitForExpression", "customStep", "?"])
def test_what_cannot_be_kept_is_refused_with_the_number_of_the_step(kind: str) -> None:
    assert refusal(NAVIGATE, {"type": kind}) == (
        f"step 2 ({kind}): this step is not supported; remove it "
        "(supported: navigate, click, doubleClick, hover, change, keyDown, keyUp, scroll,"
        " waitForElement)"
    )


@for_each(
    "more, what",
    [
        ({"button": "back"}, "it uses the back mouse button"),
        ({"frame": [1]}, "it is in one of several frames"),
        ({"frame": [0, 2]}, "it is in one of several frames"),
    ],
)
def test_a_click_that_would_become_another_click_is_refused(more: Json, what: str) -> None:
    assert refusal(NAVIGATE, {**CLICK, **more}).startswith(f"step 2 (click): {what}")


@for_each("more", [{"attributes": {"class": "done"}}, {"properties": {"checked": True}}])
def test_waiting_for_more_than_an_element_is_refused(more: Json) -> None:
    wait: Json = {"type": "waitForElement", "selectors": ["#row"], **more}
    assert "step 1 (waitForElement): it waits for more than elements" in refusal(wait)


def test_scrolling_a_frame_is_refused() -> None:
    assert "it scrolls a frame" in refusal({"type": "scroll", "frame": [0], "y": 40})


def test_an_asserted_navigation_is_seen_for_itself_when_it_is_recorded() -> None:
    asserted: Json = {"assertedEvents": [{"type": "navigation", "url": "https://x.example/"}]}
    assert action({**CLICK, **asserted}) == action(CLICK)


def test_a_click_on_the_main_page_with_the_main_button_is_a_click() -> None:
    plain = {**CLICK, "button": "primary", "target": "main", "frame": [], "deviceType": "mouse"}
    assert action(plain) == action(CLICK)


# -- selectors -----------------------------------------------------------------------------------


@for_each(
    "selector, strategy",
    [
        ("#go", ByCss("#go")),
        (["#go"], ByCss("#go")),
        ("css/main > a", ByCss("main > a")),
        ("pierce/#go", ByCss("#go")),
        ('a[href="/orders/new"]', ByCss('a[href="/orders/new"]')),
        ('aria/Go on[role="button"]', ByRole("button", "Go on")),
        ("aria/Go on", ByRole("", "Go on")),
        ("aria/1/2 price", ByRole("", "1/2 price")),
        ("text/Go on", ByText("Go on")),
        ("text/a/b", ByText("a/b")),
    ],
)
def test_a_selector_is_a_locator(selector: Any, strategy: Strategy) -> None:
    assert ways(selector) == (strategy,)


def test_the_best_locator_comes_first() -> None:
    assert ways(
        ["text/Go"],
        ['aria/Go[role="button"]'],
        ["main > button"],
        ["xpath///*[@id='go']"],
        ["#go"],
        ["[data-testid=go]"],
        ["pierce/#go"],
    ) == (
        ByCss("[data-testid=go]"),
        ByCss("#go"),
        ByCss("main > button"),
        ByRole("button", "Go"),
        ByText("Go"),
    )


@for_each(
    "path, selector",
    [
        (["my-app", "#go"], "my-app >>> #go"),
        (["my-app", "my-bar", "css/button"], "my-app >>> my-bar >>> button"),
        (["pierce/my-app", "pierce/#go"], "my-app >>> #go"),
    ],
)
def test_a_path_through_shadow_roots_is_one_selector(path: list[str], selector: str) -> None:
    assert ways(path) == (ByCss(selector),)


@for_each("last", ["aria/Go", "text/Go", "xpath///button"])
def test_a_path_that_ends_in_a_name_is_left_out(last: str) -> None:
    """The name is looked for in the whole page: without its path it may be another element's."""
    assert ways(["my-app", last], ["my-app", "#go"]) == (ByCss("my-app >>> #go"),)


@for_each("frame, selector", [([0], "iframe >>> #go"), ([0, 0], "iframe >>> iframe >>> #go")])
def test_an_element_in_a_frame_is_found_through_it(frame: list[int], selector: str) -> None:
    inside = {**CLICK, "frame": frame, "selectors": [["#go"], ["aria/Go"]]}
    assert action(inside) == Action("click", target=Target((ByCss(selector),)))


def test_other_pages_are_counted_as_the_script_comes_to_them() -> None:
    def on(target: str) -> Json:
        return {**CLICK, "target": target}

    done = actions(NAVIGATE, on("main"), on("https://a/"), on("main"), on("https://b/"), CLICK)
    assert [each.tab for each in done] == [None, None, 1, 0, 2, 0]


@for_each("selectors", [[], [["xpath///a"]], [["my-app", "aria/Go"]], [[]]])
def test_a_step_that_cannot_be_found_again_is_refused(selectors: list[Any]) -> None:
    assert refusal({"type": "click", "selectors": selectors}) == (
        "step 1 (click): no selector of it is supported; in the Recorder, switch on CSS, ARIA or "
        "text selectors and record it again"
    )


# -- keys ----------------------------------------------------------------------------------------


def key(name: str, *, up: bool = False) -> Json:
    return {"type": "keyUp" if up else "keyDown", "key": name}


def test_modifiers_are_held_until_they_are_let_go() -> None:
    pressed = actions(
        key("Control"),
        key("a"),
        key("a", up=True),
        key("Shift"),
        key("ArrowLeft"),
        key("Control", up=True),
        key("ArrowRight"),
        key("Shift", up=True),
        key("Enter"),
    )
    assert [each.key for each in pressed] == [
        "Control+a",
        "Control+Shift+ArrowLeft",
        "Shift+ArrowRight",
        "Enter",
    ]


def test_a_click_has_its_button_its_length_and_the_keys_that_are_held() -> None:
    plain = action(CLICK)
    clicks = actions(
        key("Control"),
        CLICK,
        key("Shift"),
        {**CLICK, "type": "doubleClick", "button": "auxiliary"},
        key("Shift", up=True),
        key("Control", up=True),
        {**CLICK, "button": "secondary", "duration": 800},
    )
    assert clicks == [
        msgspec.structs.replace(plain, modifiers=("Control",)),
        msgspec.structs.replace(plain, modifiers=("Control", "Shift"), count=2, button="middle"),
        msgspec.structs.replace(plain, button="right", ms=800),
    ]


def test_typing_with_a_key_held_is_refused() -> None:
    assert refusal(key("Control"), change("x")).startswith(
        "step 2 (change): it is done while Control is held"
    )


@for_each("step", [{"type": "keyDown"}, {"type": "keyDown", "key": ""}])
def test_a_key_without_a_name_is_refused(step: Json) -> None:
    assert refusal(step) == "step 1 (keyDown): it has no key; record it again"


# -- values --------------------------------------------------------------------------------------


def change(value: str, *selectors: str) -> Json:
    return {"type": "change", "selectors": list(selectors) or ["#field"], "value": value}


def test_a_typed_value_becomes_the_parameter_of_its_name() -> None:
    typed = actions(change("Aurora"), change("rope"), parameters={"customer": "Aurora"})
    assert [each.value for each in typed] == [Parameter("customer"), Text("rope")]


def test_a_parameter_may_be_typed_more_than_once() -> None:
    typed = actions(change("Ann"), change("Ann"), parameters={"name": "Ann"})
    assert [each.value for each in typed] == [Parameter("name")] * 2


def test_a_typed_secret_becomes_its_name_and_is_nowhere_else() -> None:
    typed = action(change("hunter2", "#password"), secrets={"pw": "hunter2"})
    assert typed.value == Secret("pw")
    assert b"hunter2" not in msgspec.json.encode(typed)


def test_a_placeholder_is_the_parameter_or_secret_of_its_name() -> None:
    typed = actions(
        change("${customer}"),
        change("${pw}", "#password"),
        change("${customer} Ltd"),
        parameters={"customer": "Aurora"},
        secrets={"pw": "hunter2"},
    )
    assert [each.value for each in typed] == [
        Parameter("customer"),
        Secret("pw"),
        Text("${customer} Ltd"),
    ]


def test_a_placeholder_without_a_value_is_refused() -> None:
    assert refusal(NAVIGATE, change("${customer}")) == (
        "step 2 (change): it types the parameter or secret 'customer', which has no value; "
        "add --param customer=VALUE or --secret customer=SOURCE"
    )


def test_what_looks_like_a_placeholder_may_be_typed_as_it_is() -> None:
    assert action(change("${x}"), parameters={"x": "${x}"}).value == Parameter("x")


def test_a_value_that_is_both_is_a_secret() -> None:
    both = {"parameters": {"a": "same"}, "secrets": {"b": "same"}}
    with pytest.raises(BadInput, match="no step of the script types the value of --param a"):
        action(change("same"), **both)


def test_a_value_must_be_exactly_what_was_typed() -> None:
    assert refusal(change("Aurora "), parameters={"customer": "Aurora"}) == (
        "no step of the script types the value of --param customer; "
        "give the value exactly as the script types it"
    )
    assert "--secret pw" in refusal(change("x"), secrets={"pw": "y"})


@for_each(
    "selector",
    [
        *("#password", "[name=Passwd]", 'aria/Password[role="textbox"]', "text/Your PIN"),
        *("input[autocomplete=one-time-code]", "#cvc", "aria/CVV", "#otp", "#passcode"),
    ],
)
def test_a_literal_for_what_looks_like_a_secret_is_refused_and_not_repeated(selector: str) -> None:
    said = refusal(NAVIGATE, change("hunter2", selector))
    assert said == (
        "step 2 (change): it types into what looks like a secret field; "
        "name it with --secret password=env:VARIABLE, so that it is never stored"
    )


@for_each("selector", ["#shipping", "#pinboard", "#opinion", "text/Recovery"])
def test_a_word_that_merely_contains_such_a_word_is_no_secret(selector: str) -> None:
    assert action(change("x", selector)).value == Text("x")


# -- malformed scripts ---------------------------------------------------------------------------


def test_a_navigation_without_an_address_is_refused() -> None:
    assert refusal({"type": "navigate"}) == "step 1 (navigate): it has no url; record it again"


def test_an_extract_without_a_name_is_refused() -> None:
    said = refusal(
        NAVIGATE, {"type": "customStep", "name": "extract", "parameters": {"selectors": ["#a"]}}
    )
    assert said.startswith("step 2 (customStep): its parameters do not fit: ")
    assert said.endswith("give name and selectors")


@for_each("steps", [[], [{"type": "setViewport"}]])
def test_a_script_with_nothing_to_do_is_refused(steps: list[Json]) -> None:
    assert refusal(*steps) == ("the script has no step to do; record one in the DevTools Recorder")


@for_each(
    "body, what",
    [
        (b"", "Input data was truncated"),
        (b"{", "Input data was truncated"),
        (b"[]", "Expected `object`, got `array`"),
        (b'{"title": "x"}', "missing required field `steps`"),
        (b'{"steps": [{"url": "x"}]}', "missing required field `type` - at `$.steps[0]`"),
        (b'{"steps": [{"type": 3}]}', "Expected `str`, got `int` - at `$.steps[0].type`"),
        (b"\xff\xfe", "malformed"),
    ],
)
def test_a_file_that_is_no_script_says_where(tmp_path: Path, body: bytes, what: str) -> None:
    file = tmp_path / "script.json"
    file.write_bytes(body)
    with pytest.raises(BadInput) as caught:
        read_script(file)
    assert caught.value.what.startswith(f"{file} is not a DevTools Recorder script: ")
    assert what in caught.value.what
    assert caught.value.fix == "export it from the Recorder panel as JSON"


def test_a_file_that_is_not_there_says_so(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"cannot be read \(No such file or directory\); check --s"):
        read_script(tmp_path / "nothing.json")


def test_a_file_that_is_a_script_is_read(tmp_path: Path) -> None:
    file = tmp_path / "script.json"
    file.write_bytes(msgspec.json.encode({"title": "Order", "steps": [NAVIGATE], "timeout": 3}))
    script = read_script(file)
    assert script.title == "Order"
    assert [step.action for step in prepare(script, {}, {}).steps] == [action(NAVIGATE)]


@for_each("made", [order_script, find_order_script])
def test_the_scripts_of_the_bundled_site_are_read(made: Any) -> None:
    script = msgspec.convert(made("http://127.0.0.1:8000"), RecorderScript)
    steps = prepare(script, {}, {"password": "bowline-7"}).steps
    assert len(steps) >= 8
    assert all(step.standing_approval is None for step in steps)


def test_what_a_script_types_is_kept_apart_from_its_steps() -> None:
    """A literal may be a password in a field that nobody called one: it is logged once seen."""
    steps = [{"type": "change", "selectors": ["#x"], "value": said} for said in ("one", "two")]
    script = prepare(msgspec.convert({"steps": steps}, RecorderScript), {}, {})
    assert script.typed == ("one", "two")
    assert [step.action.value for step in script.steps] == [Typed(0), Typed(1)]
    assert b"two" not in msgspec.msgpack.encode(script.steps)


# -- what must be so -------------------------------------------------------------------------------


def custom(name: str, **parameters: Any) -> Json:
    return {"type": "customStep", "name": name, "parameters": parameters}


def verify(value: str, kind: str = "text_visible") -> Json:
    return custom("verify", type=kind, value=value)


def read_back(url: str, *values: str) -> Json:
    checks = [{"type": "text_visible", "value": value} for value in values]
    return custom("read_back", url=url, checks=checks)


def stated(*steps: Json, **bound: Any) -> ReadBack | None:
    """The read-back of the last step."""
    script = msgspec.convert({"title": "t", "steps": list(steps)}, RecorderScript)
    prepared = prepare(script, bound.get("parameters", {}), bound.get("secrets", {}))
    return prepared.steps[-1].after.read_back


def test_a_verification_is_a_step_that_only_looks() -> None:
    assert action(verify("Order sent")) == Action("check", verify=(TextVisible("Order sent"),))


def test_a_value_in_a_check_becomes_the_parameter_of_its_name() -> None:
    bound = {"parameters": {"customer": "Aurora Shipping"}}
    wanted = Action("check", verify=(TextVisible("For ${customer}"),))

    assert action(verify("For Aurora Shipping"), **bound) == wanted
    assert action(verify("For ${customer}"), **bound) == wanted


def test_a_read_back_is_of_the_step_before_it() -> None:
    wanted = ReadBack("https://shop.example/orders", (TextVisible("1008"), TextVisible("placed")))
    assert stated(NAVIGATE, CLICK, read_back(wanted.url, "1008", "placed")) == wanted
    assert stated(NAVIGATE, CLICK, read_back("/orders", "1008", "placed")) == wanted


def test_a_value_in_where_to_look_becomes_the_parameter_of_its_name() -> None:
    bound = {"parameters": {"customer": "Aurora Shipping"}}
    back = stated(NAVIGATE, CLICK, read_back("/find?q=Aurora+Shipping", "1008"), **bound)
    assert back == ReadBack("https://shop.example/find?q=${customer}", (TextVisible("1008"),))


@for_each(
    "steps, what",
    [
        ([verify("x", "text_seen")], "step 1 (customStep): there is no check 'text_seen'"),
        ([CLICK, verify("")], "step 2 (customStep): the check 'text_visible' has an empty value"),
        ([verify("${who}")], "the parameter 'who', which has no value"),
        ([verify("so 0451-abc it is")], "it holds a secret"),
        ([verify("${pin}")], "it holds the secret 'pin'"),
        ([read_back("/orders", "x")], "no action stands before it"),
        ([verify("x"), read_back("/orders", "x")], "no action stands before it"),
        ([CLICK, read_back("/orders", "x")], "which site its path is on is not known"),
        ([CLICK, read_back("ftp://shop.example/", "x")], "is not a web address"),
        ([NAVIGATE, read_back("/orders")], "step 2 (customStep): a read-back checks nothing"),
        ([NAVIGATE, read_back("/${who}", "x")], "the parameter 'who', which has no value"),
        ([NAVIGATE, read_back("/a", "x"), read_back("/b", "x")], "has a read-back"),
        ([NAVIGATE, custom("read_back", url="/a")], "its parameters do not fit"),
        ([NAVIGATE, custom("read_back", url="/a", checks=[], chekcs=[])], "do not fit"),
        ([NAVIGATE, custom("read_back", url="/a", checks=[{}])], "there is no check"),
    ],
)
def test_what_cannot_be_stated_is_refused_with_the_number_of_the_step(
    steps: list[Json], what: str
) -> None:
    typed: Json = {"type": "change", "selectors": ["#pin"], "value": "0451-abc"}
    said = refusal(*steps, typed, secrets={"pin": "0451-abc"})
    assert what in said


def test_other_custom_steps_are_refused() -> None:
    assert "not supported" in refusal(custom("dance"))


def test_a_parameter_that_is_only_looked_for_is_used() -> None:
    [looked] = actions(verify("aurora", "url"), parameters={"customer": "aurora"})
    assert looked.verify == (UrlHas("${customer}"),)
