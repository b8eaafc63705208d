"""Given a learned workflow: the file that others can run, or the step that it cannot say."""

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as some

from rutter.events.action import (
    Action,
    Box,
    ByBeside,
    ByCss,
    ByPoint,
    ByRole,
    ByText,
    Count,
    DialogAnswer,
    Fingerprint,
    Parameter,
    Secret,
    Strategy,
    Target,
    Text,
    Typed,
)
from rutter.events.checks import (
    HERE,
    AlertSaid,
    Check,
    Downloaded,
    ElementState,
    FileContains,
    FileExists,
    FileSize,
    ReadBack,
    ServerAnswered,
    StateIs,
    TextGone,
    TextVisible,
    UrlHas,
    ValueSet,
)
from rutter.events.errors import BadInput
from rutter.events.signature import signature
from rutter.events.workflow import Expectation, Fork, Place, Step, Workflow
from rutter.pipeline.cli.export import FORMATS
from rutter.pipeline.export import script_runtime
from rutter.pipeline.export.playwright_script import playwright_script
from rutter.pipeline.export.recorder_json import keys_of, recorder_script
from rutter.pipeline.export.wait_conditions import (
    ANSWERED,
    ENTER,
    HOLDS,
    NOT_DONE,
    REST,
    SAID,
    not_done,
    notice_pattern,
    unchecked,
)
from rutter.pipeline.workflows.check_syntax import write_check
from rutter.pipeline.workflows.recorder_import import WRITTEN, RecorderScript, prepare
from tests.support.case_table import for_each
from tests.support.shop_facts import any_action, click, css, fill, go_to, place, step, workflow

FILE = Fingerprint(tag="input", attributes=(("id", "scan"), ("type", "file")))
HOSTILE = [
    "'); import os; os._exit(3); ('",
    '"""\nimport os\nos._exit(3)\n"""',
    "\\'\\\"\\\n\r\u2028\u2029\x00\x85",
    "${half} \ud800 %(prog)s {values} # x",
    "caf\u00e9 \u202e\U0001f6a2",
]


def flow(*steps: Action | Step, **more: Any) -> Workflow:
    made = [each if isinstance(each, Step) else step(each) for each in steps]
    values = [each.action.value for each in made]
    parameters = tuple(dict.fromkeys(v.name for v in values if isinstance(v, Parameter)))
    secrets = tuple(dict.fromkeys(v.name for v in values if isinstance(v, Secret)))
    return workflow(*made, **{"parameters": parameters, "secrets": secrets, **more})


def aimed(*ways: Strategy, **more: Any) -> Action:
    return Action("click", target=Target(ways, **more))


def stating(action: Action, *checks: Check, read_back: ReadBack | None = None) -> Step:
    made = step(action)
    after = msgspec.structs.replace(made.after, checks=checks, read_back=read_back)
    return msgspec.structs.replace(made, after=after)


def saying(text: str) -> tuple[Check, ...]:
    """Every kind of check that a text can be put into."""
    return (
        TextVisible(text), TextGone(text), UrlHas(text), AlertSaid(text),
        ValueSet(text, text, text),
        ElementState("checked", text, text), Downloaded(text), FileExists(text),
        FileContains(text, text), FileSize(text, 3, 9),
    )  # fmt: skip


# -- Recorder JSON ---------------------------------------------------------------------------------


def recorded(*steps: Action | Step, **values: str) -> list[dict[str, Any]]:
    return done_in(recorder_script(flow(*steps), values))


def done_in(script: str) -> list[dict[str, Any]]:
    """The steps that do something, without how large the page is and what is waited for."""
    steps = [dict(each) for each in json.loads(script)["steps"]]
    return [each for each in steps if each["type"] not in ("setViewport", "waitForExpression")]


def read_back(text: str, parameters: dict[str, str], secrets: dict[str, str]) -> list[Action]:
    script = prepare(msgspec.json.decode(text, type=RecorderScript), parameters, secrets)
    return [_told(each.action, script.typed) for each in script.steps]


def _told(action: Action, typed: tuple[str, ...]) -> Action:
    if not isinstance(action.value, Typed):
        return action
    return msgspec.structs.replace(action, value=Text(typed[action.value.number]))


EVERYTHING = (
    go_to("/"),
    fill("#q", Parameter("customer")),
    fill("#pin", Secret("pin")),
    fill("#note", "as it is"),
    Action("press", key="Enter"),
    Action("press", key="Control+Shift+a"),
    Action("press", key="Control++"),
    aimed(ByCss("#go"), ByRole("button", "Go on"), ByText("Go"), ByPoint(3, 4)),
    aimed(ByCss("my-app >>> my-bar >>> #go")),
    aimed(ByCss("iframe >>> #go")),
    aimed(ByRole("", "Search")),
    Action("wait_for", target=css("#done"), ms=5000),
    Action("wait_for", target=css("li"), wanted=Count("==", 3)),
    Action("wait_for", target=css("#spinner"), wanted=Count("<=", 0)),
    Action("wait_for", target=css("li"), wanted=Count("!=", 1)),
    Action("scroll", target=css("#list")),
    Action("scroll", direction="to", amount=240),
    Action("scroll", direction="top"),
    Action("extract", target=css("#number"), name="number"),
    Action("extract", target=Target((ByBeside("Order number"),)), name="number"),
    Action("extract", target=Target((ByBeside("was sent", "near"),)), name="number"),
    Action("read_page", name="terms"),
    Action("read_page", target=css("iframe >>> #terms"), name="terms", page=2),
    Action("click", target=css("#row"), count=2),
    Action("click", target=css("#row"), button="right", ms=700),
    Action("click", target=css("#row"), button="middle", modifiers=("Control", "Shift")),
    Action("hover", target=css("#menu")),
    Action("drag", target=css("#card"), to=css("#column")),
    Action("drag", target=css("iframe >>> #card"), to=css("iframe >>> #column")),
    Action("wheel", target=css("#list"), by=(0, 240)),
    Action("type", target=css("#q"), value=Text("from elsewhere"), pasted=True),
)


@for_each("values", [{}, {"customer": "Aurora Shipping"}])
def test_what_is_exported_is_read_back_as_the_same_steps(values: dict[str, str]) -> None:
    text = recorder_script(flow(*EVERYTHING), values)
    bound = {"customer": "Aurora Shipping"}
    again = read_back(text, bound, {"pin": "0000"})

    assert list(map(signature, again)) == list(map(signature, EVERYTHING))


@given(name=some.text(min_size=1, max_size=20), text=some.text(min_size=1, max_size=20))
def test_a_name_is_read_back_as_it_is_or_is_not_said(name: str, text: str) -> None:
    action = aimed(ByCss("#go"), ByRole("link", name), ByText(text))
    [again] = read_back(recorder_script(flow(action), {}), {}, {})

    assert again.target is not None
    assert action.target is not None
    assert set(again.target.strategies) <= set(action.target.strategies)


def test_checks_and_read_backs_are_read_back_as_they_were_stated() -> None:
    checks = (*saying("for ${customer}"), StateIs("COMPLETE"), Downloaded())
    back = ReadBack("https://shop.example/find?q=${customer}", checks)
    made = flow(
        go_to("/"),
        fill("#q", Parameter("customer")),
        stating(click("#go"), TextGone("Loading"), read_back=back),
        Action("check", verify=checks[:1]),
    )
    script = msgspec.json.decode(recorder_script(made, {}), type=RecorderScript)
    again = prepare(script, {"customer": "Aurora Shipping"}, {}).steps

    assert [each.action.verify for each in again[3:]] == [(TextGone("Loading"),), checks[:1]]
    assert again[2].after.read_back == back
    assert again[2].action == made.steps[2].action


def test_values_that_are_set_stand_in_checks_and_are_one_part_of_an_address() -> None:
    back = ReadBack("https://shop.example/find?q=${customer}", (TextVisible("${customer}"),))
    made = flow(fill("#q", Parameter("customer")), stating(click("#go"), read_back=back))
    assert done_in(recorder_script(made, {"customer": "Aurora & Co"}))[-1] == {
        "type": "customStep",
        "target": "main",
        "name": "read_back",
        "parameters": {
            "url": "https://shop.example/find?q=Aurora%20%26%20Co",
            "checks": [{"type": "text_visible", "value": "Aurora & Co"}],
        },
    }


def test_the_steps_are_the_recorders_own() -> None:
    box = Fingerprint(tag="button", box=Box(10, 10, 80, 30))
    steps = recorded(
        step(go_to("/")),
        step(aimed(ByCss("#go"), ByRole("button", "Go"), fingerprint=box), leads_to="/next"),
        fill("#q", "rope"),
    )
    assert steps == [
        {
            "type": "navigate",
            "target": "main",
            "url": "https://shop.example/",
            "assertedEvents": [{"type": "navigation"}],
        },
        {
            "type": "click",
            "target": "main",
            "selectors": [["pierce/#go"], ['aria/Go[role="button"]']],
            "offsetX": 40,
            "offsetY": 15,
            "deviceType": "mouse",
            "button": "primary",
            "assertedEvents": [{"type": "navigation"}],
        },
        {"type": "change", "target": "main", "selectors": [["pierce/#q"]], "value": "rope"},
    ]


def test_parameters_are_written_by_value_or_by_name_and_the_title_says_what_is_left() -> None:
    typed = (fill("#q", Parameter("customer")), aimed(ByRole("link", "Open ${customer}")))
    made = flow(*typed, fill("#pin", Secret("pin")))
    plain = json.loads(recorder_script(made, {}))
    bound = json.loads(recorder_script(made, {"customer": "Ann"}))

    assert plain["title"] == "order (fill in ${customer}, ${pin})"
    assert bound["title"] == "order (fill in ${pin})"
    ours, theirs = (done_in(recorder_script(made, each)) for each in ({}, {"customer": "Ann"}))
    assert [each[0]["value"] for each in (ours, theirs)] == ["${customer}", "Ann"]
    assert theirs[1]["selectors"] == [['aria/Open Ann[role="link"]']]
    assert theirs[2]["value"] == "${pin}"


def within(*roots: str, tag: str = "button") -> Fingerprint:
    return Fingerprint(tag=tag, attributes=(("within", " ".join(roots)),))


TANKERS = ByRole("link", "${customer}"), ByText("${customer}")


@for_each(
    "action, frame, selectors",
    [
        # What a parameter is typed into holds its value as well: no text alone beside others.
        (aimed(*TANKERS), None, [['aria/Ann[role="link"]']]),
        (aimed(ByText("${customer}"), fingerprint=within(tag="a")), None, [['a::-p-text("Ann")']]),
        (aimed(ByText("Go")), None, [["text/Go"]]),
        (aimed(ByCss("#x"), fingerprint=within("1")), [1], [["pierce/#x"]]),
        (
            aimed(ByCss("#pay >>> #x"), ByRole("button", "Pay"), fingerprint=within("1")),
            [1],
            [["pierce/#x"], ['aria/Pay[role="button"]']],
        ),
        (aimed(ByCss("#x"), fingerprint=within("0", "s", "2")), [0, 2], [["pierce/#x"]]),
        (
            aimed(ByCss("iframe >>> my-box >>> #x"), fingerprint=within("0", "s")),
            [0],
            [["pierce/my-box", "#x"]],
        ),
        (aimed(ByCss("my-box >>> #x"), fingerprint=within("s")), None, [["pierce/my-box", "#x"]]),
    ],
)
def test_frames_and_shadow_roots_are_said_and_no_text_that_finds_the_field(
    action: Action, frame: list[int] | None, selectors: list[list[str]]
) -> None:
    made = flow(fill("#q", Parameter("customer")), action)
    said = done_in(recorder_script(made, {"customer": "Ann"}))[1]
    assert (said.get("frame"), said["selectors"]) == (frame, selectors)


def test_what_is_waited_for_is_said_and_what_only_rutter_does_is_told() -> None:
    moved = step(click("#go"), leads_to="/orders/*", irreversible=True)
    after = msgspec.structs.replace(
        moved.after,
        learned=(AlertSaid("order # placed", whole=True),),
        checks=(StateIs("COMPLETE"),),
    )
    reads, drags = css("#number"), Action("drag", target=css("#card"), to=css("#column"))
    read = Action("extract", target=reads, name="number")
    made = flow(go_to("/"), msgspec.structs.replace(moved, after=after), read, drags)
    steps = json.loads(recorder_script(made, {}))["steps"]
    [clicked] = [number for number, each in enumerate(steps) if each["type"] == "click"]
    arrived, told = (each["expression"] for each in steps[clicked + 1 : clicked + 3])

    assert "orders" in arrived
    assert "placed" in told
    assert read_back(recorder_script(made, {}), {}, {})[1] == moved.action
    assert "check_said(page, 'order # placed')" in playwright_script(made, {})
    assert list(unchecked(made, "recorder")) == [
        "step 2: only Rutter checks page_state:COMPLETE",
        "step 3: only Rutter reads 'number'",
    ]
    said = "step 4: only Rutter does this: drag #card onto #column"
    assert list(not_done(made, "recorder")) == [said]
    assert list(not_done(made, "playwright")) == []
    assert list(unchecked(made, "playwright")) == ["step 2: only Rutter checks page_state:COMPLETE"]


@for_each(
    "what, said",
    [
        (Step(click(), optional=True), "(click): the Recorder has no optional steps"),
        (Action("click", target=css("#go"), dialogs=(DialogAnswer(True),)), "answer dialogs"),
        (Action("click", target=css("#go"), tab=1), "other pages by their address alone"),
        (Action("type", target=Target((ByCss("#scan"),), FILE), value=Text("x")), "choose a file"),
        (Action("type", target=css("#q"), value=Text("x"), append=True), "behind what a field"),
        (Action("press", key="Enter", target=css("#q")), "where the focus is"),
        (Action("press", key="Control"), "cannot press Control"),
        (Action("press", key="ControlOrMeta+a"), "cannot press ControlOrMeta+a"),
        (Action("wait", ms=10), "(wait): the Recorder has no step that does wait"),
        (Action("wait_for", target=css("#x"), ms=60_000), "waits 30000 ms at most"),
        (Action("scroll", direction="down", amount=3), "cannot scroll down"),
        (aimed(ByPoint(1, 2)), "no way to find its element"),
        (aimed(ByCss('iframe[name="pay"] >>> #go')), "no way to find its element"),
    ],
)
def test_what_the_recorder_cannot_say_is_refused_with_its_number(
    what: Action | Step, said: str
) -> None:
    with pytest.raises(BadInput) as refused:
        recorder_script(flow(go_to("/"), what), {})

    assert refused.value.what.startswith("step 2 (")
    assert said in refused.value.what
    assert "--format playwright" in refused.value.fix


@for_each(
    "key, keys",
    [
        ("a", ["a"]),
        ("+", ["+"]),
        ("Control++", ["Control", "+"]),
        ("Alt+Shift+F1", ["Alt", "Shift", "F1"]),
    ],
)
def test_a_chord_is_its_keys(key: str, keys: list[str]) -> None:
    assert keys_of(key) == keys


# -- the Playwright script -------------------------------------------------------------------------


def lines(*steps: Action | Step, **more: Any) -> str:
    """The flow of the script, past its hands."""
    script = playwright_script(flow(*steps, **more), {})
    return script[script.index("def flow(") :]


def test_elements_are_found_by_every_locator_that_is_known_best_first() -> None:
    said = lines(
        aimed(
            ByCss('[data-testid="go"]'),
            ByCss("#go"),
            ByCss("my-app >>> #go"),
            ByCss("iframe >>> #go"),
            ByRole("button", "Go"),
            ByText("Go"),
            ByPoint(1, 2),
        )
    )
    found = re.findall(r"^            (at\..*),$", said, re.MULTILINE)

    assert found == [
        "at.get_by_test_id('go')",
        "at.locator('#go')",
        "at.locator('my-app').locator('#go')",
        "at.frame_locator('my-app').locator('#go')",
        "at.frame_locator('iframe').locator('#go')",
        "at.get_by_role('button', name='Go', exact=True)",
        "at.get_by_text('Go')",
    ]


def test_a_step_that_led_elsewhere_is_waited_for() -> None:
    said = lines(step(go_to("/")), step(click("#open"), leads_to="/customers/*"))

    assert r"with arriving(page, '^https://shop\\.example/customers/[^/?#]*/?([?#].*)?$'):" in said
    assert r"check_place(page, '^https://shop\\.example/?([?#].*)?$')" in said


def test_the_end_is_checked_as_it_was_recorded() -> None:
    end = Expectation(place=place("/orders/*"), headings=("order # for *",))
    said = lines(click(), end=end)

    assert r"check_heading(page, 'order\\ .+\\ for\\ .+')" in said
    assert said.index("check_place(") < said.index("check_heading(") < said.index("return results")


@for_each(
    "action, line",
    [
        (fill("#q", "rope"), "type_in(element, 'rope')"),
        (fill("#q", Parameter("customer")), "type_in(element, values['customer'])"),
        (fill("#q", Secret("pin")), "type_secret(element, secrets['pin'])"),
        (
            Action("type", target=Target((ByCss("#scan"),), FILE), value=Parameter("scan")),
            "element.set_input_files(values['scan'])",
        ),
        (
            Action("type", target=css("#q"), value=Text("x"), append=True),
            "type_behind(element, 'x')",
        ),
        (Action("select", target=css("#s"), value=Text("x")), "element.select_option('x')"),
        (Action("press", key="Control+a"), "page.keyboard.press('Control+a')"),
        (Action("press", key="Enter", target=css("#q")), "element.press('Enter')"),
        (Action("wait", ms=10), "page.wait_for_timeout(10)"),
        (Action("wait_for", target=css("#x"), ms=1500), "within_s=1.5,"),
        (Action("wait_for", target=css("#x"), wanted=Count("<=", 0)), "lambda seen: seen <= 0,"),
        (Action("scroll", direction="up", amount=5), 'page.evaluate("scrollBy(0, -5)")'),
        (Action("scroll", target=css("#x")), "element.scroll_into_view_if_needed()"),
        (Action("extract", target=css("#x"), name="n"), "results['n'] = read(element)"),
        (Action("read_page", name="n"), "results['n'] = read(page.locator(\"body\"))"),
        (Action("read_page", target=css("main"), name="n"), "results['n'] = read(element)"),
        (Action("click", target=css("#x"), tab=2), "page = pages.tab(2)"),
        (Action("click", target=css("#x"), count=2), "element.dblclick()"),
        (
            Action("click", target=css("#x"), button="right", modifiers=("Shift",), ms=9),
            "element.click(button='right', modifiers=['Shift'], delay=9)",
        ),
        (Action("hover", target=css("#x")), "element.hover()"),
        (Action("drag", target=css("#x"), to=css("#y")), "element.drag_to(onto)"),
        (Action("wheel", target=css("#x"), by=(0, 9)), "turn_wheel(element, (0, 9))"),
        (
            Action("type", target=css("#x"), value=Text("a"), pasted=True),
            "paste(element, 'a', behind=False)",
        ),
        (
            Action("click", target=css("#x"), dialogs=(DialogAnswer(True, "yes"), DialogAnswer())),
            "with answering(page, (True, 'yes'), (False, None)):",
        ),
    ],
)
def test_an_action_is_a_line(action: Action, line: str) -> None:
    assert line in lines(action)


def test_a_step_that_opens_another_page_is_not_expected_to_lead_this_one_there() -> None:
    opening = step(click("#open"), leads_to="/popup")
    beside = Action("click", target=css("#x"), tab=1)

    assert "arriving" in lines(opening, click())
    assert "arriving" not in lines(opening, beside)


def body(*steps: Action | Step) -> list[str]:
    """The lines of the flow, without their first indentation."""
    text = lines(*steps).partition("results: dict")[2].partition("    return results")[0]
    return [line.removeprefix("    ") for line in text.splitlines()[1:]]


def test_what_was_stated_is_asserted_behind_its_step() -> None:
    checks = (*saying("x ${customer}"), StateIs("COMPLETE"), Downloaded())
    script = body(fill("#q", Parameter("customer")), stating(click("#go"), *checks))

    said = "'x ' + values['customer']"
    assert script[script.index("element.click()") + 1 : -3] == [
        "page = pages.front()",
        f"check_text(page, {said})",
        f"check_no_text(page, {said})",
        f"check_url(page, {said})",
        f"check_said(page, {said})",
        f"check_value(page, 'x ${{customer}}', {said}, {said})",
        f"check_state(page, 'x ${{customer}}', {said}, 'checked')",
        f"check_download(pages, {said})",
        f"check_file(page, {said})",
        f"check_file(page, {said}, text={said})",
        f"check_file(page, {said}, least=3, most=9)",
        "# not checked here: page_state:COMPLETE",
        "check_download(pages, '')",
    ]


def test_a_result_is_read_back_in_a_page_of_its_own() -> None:
    back = ReadBack("https://shop.example/find?q=${customer}", (UrlHas("find"),))
    script = body(
        fill("#q", Parameter("customer")),
        stating(click("#go"), read_back=back),
        stating(click("#on"), read_back=ReadBack("https://shop.example/", (StateIs("COMPLETE"),))),
    )
    at = "'https://shop.example/find?q=' + in_address(values['customer'])"
    first, second = (number for number, line in enumerate(script) if "aside" in line)
    assert script[first : first + 3] == [
        f"with pages.aside({at}) as page:",
        "    check_url(page, 'find')",
        "page = pages.front()",
    ]
    lost = f"    # not checked here: {write_check(StateIs('COMPLETE'))}"
    assert script[second + 1 : second + 3] == [lost, "    pass"]


def test_a_step_that_only_looks_is_its_checks() -> None:
    script = body(click("#go"), Action("check", verify=(TextVisible("Order"),)))
    assert script[-5:-3] == ["page = pages.front()", "check_text(page, 'Order')"]


def test_an_optional_step_is_done_where_it_is_there() -> None:
    said = lines(step(click("#accept"), optional=True))

    assert "element = if_there(" in said
    assert "    if element is not None:\n        element.click()" in said


def test_a_script_takes_one_branch_alone() -> None:
    forked = msgspec.structs.replace(step(click("#pick"), optional=True), fork=Fork(1, 2))
    with pytest.raises(BadInput, match=r"step 1 \(click\): it is one of several ways"):
        playwright_script(flow(forked), {})


def test_values_are_flags_and_may_have_defaults() -> None:
    made = flow(fill("#q", Parameter("customer")), fill("#pin", Secret("pin")))
    script = playwright_script(made, {"customer": "Ann"})

    assert "run_flow(flow, {'customer': 'Ann'}, {'pin': 'SECRET_PIN'})" in script
    assert "#     SECRET_PIN=... python FILE --customer VALUE" in script


@for_each("kind", ["navigate", "click", "type", "press", "select", "scroll",
                                  "wait_for", "wait", "extract", "read_page",
                                  "check"])  # fmt: skip
def test_every_kind_of_step_makes_a_script_that_compiles(kind: Any) -> None:
    compile(playwright_script(flow(any_action(kind)), {}), "flow.py", "exec")


@for_each(
    "more, said",
    [
        ({"parameters": ("help",)}, "--help is a flag of every such script"),
        ({"parameters": ("a-b",)}, "'a-b' cannot be a flag"),
        ({"secrets": ("pin", "PIN")}, "differ in their case alone"),
    ],
)
def test_names_that_cannot_be_flags_are_refused(more: Any, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        playwright_script(flow(click(), **more), {})


def test_an_element_that_is_known_by_its_place_alone_is_refused() -> None:
    with pytest.raises(BadInput, match=r"step 1 \(click\): no way to find its element"):
        playwright_script(flow(aimed(ByPoint(1, 2))), {})


@for_each("said", HOSTILE)
def test_nothing_that_a_page_or_a_person_said_becomes_code(said: str) -> None:
    made = flow(
        step(Action("navigate", url=f"https://x.example/{said}")),
        Action("type", target=Target((ByCss(said), ByRole(said, said), ByText(said))),
               value=Text(said)),
        Action("extract", target=css("#x"), name=said),
        Action("click", target=css(f"{said} >>> {said}"), dialogs=(DialogAnswer(True, said),)),
        Action("press", key=said),
        *(Action("check", verify=(check,)) for check in saying(said)),
        stating(click(), *saying(said), read_back=ReadBack(f"https://x.example/{said}",
                                                           saying(said))),
        end=Expectation(place=place("/" + said), headings=(said,)),
    )  # fmt: skip
    assert_harmless(playwright_script(msgspec.structs.replace(made, name=said), {}))
    json.loads(recorder_script(flow(aimed(ByRole(said, said), ByText(said), ByCss("#x"))), {}))


@given(some.text())
def test_no_text_becomes_code(said: str) -> None:
    made = flow(Action("type", target=Target((ByText(said), ByCss("#x"))), value=Text(said)))
    assert_harmless(playwright_script(msgspec.structs.replace(made, name=said), {}))


def assert_harmless(script: str) -> None:
    """The flow calls what an exported flow calls, with literals, and does nothing else."""
    assert script.isascii()
    tree = ast.parse(script)
    [body] = [each for each in tree.body if getattr(each, "name", "") == "flow"]
    called = {ast.unparse(each.func) for each in ast.walk(body) if isinstance(each, ast.Call)}
    roots = {re.match(r"\w+", name)[0] for name in called}  # type: ignore[index]
    assert roots <= {
        "at", "page", "pages", "element", "one_of", "read", "check_place", "check_heading",
        "answering", "arriving", "type_secret", "check_text", "check_no_text", "check_url",
        "check_value", "check_state", "check_download", "check_file", "in_address", "values",
        "check_said", "type_in",
    }  # fmt: skip
    assert not any(isinstance(each, ast.Import | ast.ImportFrom) for each in ast.walk(body))


def test_the_script_needs_nothing_of_ours(tmp_path: Path) -> None:
    file = tmp_path / "flow.py"
    file.write_text(playwright_script(flow(fill("#q", Parameter("customer"))), {}))
    assert not re.search(r"\b(pipeline|actors|events|replay)\b", file.read_text())

    bare = {**os.environ, "PYTHONPATH": ""}
    ran = subprocess.run(
        [sys.executable, file], capture_output=True, text=True, env=bare, cwd=tmp_path, check=False
    )
    assert ran.returncode == 2
    assert "the following arguments are required: --customer" in ran.stderr


def test_every_format_has_its_writer() -> None:
    assert sorted(FORMATS) == ["playwright", "recorder"]


# -- what exported scripts wait for ----------------------------------------------------------------

SAVED = ServerAnswered("PUT http://shop.example/notes/* | POST http://shop.example/save")


def learning(action: Action, *learned: Check, **more: Any) -> Step:
    return Step(action=action, after=Expectation(learned=learned), **more)


def waits(script: str) -> list[str]:
    """What each step of the file is or waits for, in a word."""
    names = {REST: "rest", HOLDS: "held", ENTER: "enter", ANSWERED: "answered"}
    names |= {"rutterMarks ??=": "mark", SAID: "text", "rutterStale": "leave"}
    said = []
    for each in json.loads(script)["steps"]:
        expression = each.get("expression", "")
        said.append(next((n for js, n in names.items() if js in expression), each["type"]))
    return said


def test_what_was_learned_to_follow_is_waited_for_before_what_takes_it_and_must_be_answered() -> (
    None
):
    typed = learning(fill("#q", "rope"), SAVED)
    made = flow(go_to("/"), typed, learning(click("#save"), SAVED, irreversible=True))
    script = playwright_script(made, {})
    kinds = ascii(SAVED.value)

    order = (
        "pages.rest(0.1)",
        f"pages.owe({kinds})",
        "type_in(element, 'rope')",
        "pages.rest(0.5)",
        f"with pages.answered({kinds}):",
        "element.click()",
        "pages.rest(0.5)\n    page = pages.front()\n    return results",
    )
    places = [script.index(each) for each in order]
    assert places == sorted(places)
    assert waits(recorder_script(made, {}))[2:] == [
        *("rest", "mark", "change", "held"),
        *("rest", "mark", "click", "answered", "rest"),
    ]


def test_what_is_owed_is_named_to_the_wait_that_comes_before_what_takes_it() -> None:
    typed = learning(fill("#q", "rope"), SAVED)
    made = flow(typed, click("#more"), learning(click("#save"), irreversible=True))
    rests = [
        each["expression"]
        for each in json.loads(recorder_script(made, {}))["steps"]
        if REST in each.get("expression", "")
    ]
    owed = [json.loads(f"[{each.partition(REST)[2][1:-1]}]") for each in rests]
    pattern = r"^(?:http://shop\.example/notes/[^/?#]*|http://shop\.example/save)(?:[?#]|$)"
    assert owed == [[2, 100, []], [3, 500, [[1, pattern]]], [4, 500, []]]


def test_nothing_typed_is_nothing_to_wait_long_for() -> None:
    script = playwright_script(flow(learning(click("#save"), irreversible=True)), {})
    assert script.count("pages.rest(0.5)") == 1  # before the browser is closed
    assert "pages.rest(0.1)" in script


def test_a_field_is_asked_whether_it_holds_what_was_typed_a_secret_one_whether_it_holds_any() -> (
    None
):
    made = flow(fill("#q", "rope"), fill("#pin", Secret("pin")), aimed(ByRole("link", "x")))
    held = [
        each["expression"].removeprefix(f"{WRITTEN}{HOLDS}")
        for each in json.loads(recorder_script(made, {}))["steps"]
        if HOLDS in each.get("expression", "")
    ]
    assert held == ['(1, [["#q"]], "rope")', '(2, [["#pin"]], null)']


def test_an_editor_in_a_frame_has_its_text_before_chrome_would_empty_it() -> None:
    target = Target((ByCss("iframe >>> .editor"),), within("0", tag="div"))
    made = flow(Action("type", target=target, value=Text("rope")))
    assert waits(recorder_script(made, {}))[1:5] == ["enter", "change", "held", "rest"]
    entered = json.loads(recorder_script(made, {}))["steps"][1]
    assert entered["frame"] == [0]
    assert entered["expression"].endswith('(1, [[".editor"]], "rope")')


def test_the_last_result_that_is_read_back_is_looked_for_at_the_end() -> None:
    back = ReadBack(HERE, (TextVisible("${customer}"), ValueSet("1", "Number")))
    typed = fill("#q", Parameter("customer"))
    made = flow(stating(typed, read_back=back), stating(click("#go"), read_back=back))
    script = recorder_script(made, {"customer": "Ann"})

    assert waits(script)[-4:] == ["rest", "leave", "leave", "text"]
    assert '"ann"' in json.loads(script)["steps"][-1]["expression"]
    assert list(unchecked(made, "recorder")) == [
        "step 1: only Rutter looks at here afterwards",
        "step 2: only Rutter checks value_set:Number=1",
    ]
    assert len(read_back(script, {"customer": "Ann"}, {})) == 2


def test_what_is_shown_on_a_page_that_is_left_again_is_not_looked_for_at_the_end() -> None:
    back = ReadBack(HERE, (TextVisible("rope"),))
    made = flow(stating(click("#go"), read_back=back), go_to("/elsewhere"))
    assert "leave" not in waits(recorder_script(made, {}))
    assert list(unchecked(made, "recorder")) == ["step 1: only Rutter looks at here afterwards"]


def test_chrome_stops_where_only_rutter_goes_on_and_the_title_says_so() -> None:
    drags = Action("drag", target=css("#card"), to=css("#column"))
    script = recorder_script(flow(click("#go"), drags), {})

    assert json.loads(script)["title"] == "order (not done here: step 2)"
    steps = json.loads(script)["steps"]
    [at] = [number for number, each in enumerate(steps) if each["type"] == "customStep"]
    assert (steps[at + 1]["expression"], steps[at + 1]["timeout"]) == (NOT_DONE, 1)
    assert len(read_back(script, {}, {})) == 2


def test_what_was_blurred_in_a_notice_is_any_word() -> None:
    """A number, and a word that is also the name of a month."""
    pattern = notice_pattern(AlertSaid("user “*” was added. you # edit it below.", whole=True))
    assert re.search(pattern, "the user “ann” was added. you may edit it below.")
    assert not re.search(pattern, "the user “ann” was not added. you may edit it below.")


def test_a_locator_that_tells_only_where_something_lies_is_tried_last() -> None:
    ways = (ByCss("div > b:nth-of-type(2)"), ByRole("button", "Skip"), ByText("Skip"))
    script = lines(aimed(*ways))
    order = [script.index(each) for each in ("get_by_role", "nth-of-type", "get_by_text", "sure=1")]
    assert order == sorted(order)
    assert "sure=" not in lines(aimed(ByCss("div > b:nth-of-type(2)")))


@for_each(
    "sent, fits",
    [
        ("PUT http://shop.example/notes/7", True),
        ("POST http://shop.example/save", True),
        ("GET http://shop.example/save", False),
        ("PUT http://shop.example/notes/7/more", False),
    ],
)
def test_a_request_is_known_again(sent: str, fits: bool) -> None:
    assert script_runtime.is_to(SAVED.value, sent) is fits


@for_each(
    "typed, shown, same",
    [("1000", "1,000", True), ("3/1/2027", "03/01/2027", True), ("berth", "berht", False)],
)
def test_a_field_may_write_it_otherwise(typed: str, shown: str, same: bool) -> None:
    assert (script_runtime.same(typed) == script_runtime.same(shown)) is same


def test_an_address_that_a_page_gives_itself_is_looked_at_and_not_waited_for_to_change() -> None:
    """It may have it already, by a request that followed what was typed before."""
    both = Place("https://shop.example", "/add", also=("/7/edit",))
    typed = Step(action=fill("#q", "rope"), after=Expectation(moved=True, place=both))
    clicked = Step(action=click("#save"), after=Expectation(moved=True, place=both))
    script, file = lines(typed, clicked), recorder_script(flow(typed, clicked), {})

    assert "arriving(" not in script
    assert script.count("check_place(") == 2
    assert not any("assertedEvents" in each for each in json.loads(file)["steps"])
