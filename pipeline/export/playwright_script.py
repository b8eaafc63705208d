"""An export writes a workflow as a Python script for Playwright that needs nothing of ours.

Everything that came from a page or a person is a literal or an escaped comment: what a page says
cannot become code.
"""

import inspect
import re
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from rutter.actors.rules.steps.pace import CAREFUL_MS
from rutter.actors.rules.steps.placeholders import PLACEHOLDER
from rutter.actors.rules.workflows.literals import mapped
from rutter.events.action import (
    DOUBLE,
    OBSERVATIONS,
    Action,
    ByBeside,
    ByCss,
    ByPoint,
    ByRef,
    ByRole,
    ByText,
    DialogAnswer,
    Parameter,
    Secret,
    Strategy,
    Target,
    Text,
    Typed,
)
from rutter.events.checks import HERE, Check, FileSize
from rutter.events.errors import BadInput
from rutter.events.workflow import Step, Workflow
from rutter.pipeline.export import script_runtime
from rutter.pipeline.export.recorder_json import is_upload
from rutter.pipeline.export.wait_conditions import notices_of, place_pattern
from rutter.pipeline.export.wait_points import Paced, is_led, pacing_of
from rutter.pipeline.workflows.check_syntax import write_check
from rutter.pipeline.workflows.recorder_import import INTO
from rutter.replay.story.wording import ascii_only, in_words

INDENT = "    "
# After these the page in front is the one that was.
STAYING = frozenset({*OBSERVATIONS, "type", "select", "scroll", "check", "hover", "wheel"})
RESERVED = frozenset({"help", "headed", "chromium"})
_TEST_ID = re.compile(r'\[data-testid="([\w-]+)"\]')
_FRAME = re.compile(r"i?frame\b")


def playwright_script(workflow: Workflow, values: Mapping[str, str]) -> str:
    """The script. Values given here are the defaults of its flags."""
    _check_names(workflow)
    variables = {name: f"SECRET_{name.upper()}" for name in workflow.secrets}
    parameters = {name: values.get(name) for name in workflow.parameters}
    flow = "\n".join(_flow(workflow))
    return (
        f"{_head(workflow, variables)}\n\n{_hands()}\n\n{flow}\n\n\n"
        f'if __name__ == "__main__":\n'
        f"{INDENT}run_flow(flow, {_mapping(parameters)}, {_mapping(variables)})\n"
    )


def _check_names(workflow: Workflow) -> None:
    for name in (*workflow.parameters, *workflow.secrets):
        if not name.isidentifier():
            raise BadInput(f"{name!a} cannot be a flag", "record it with another name")
    for name in workflow.parameters:
        if name in RESERVED:
            raise BadInput(f"--{name} is a flag of every such script", "give it another name")
    if len({name.upper() for name in workflow.secrets}) < len(workflow.secrets):
        raise BadInput("two secrets differ in their case alone", "give them other names")


def _head(workflow: Workflow, variables: Mapping[str, str]) -> str:
    """What it is and how to run it, as comments: each is one line, whatever the name holds."""
    secrets = "".join(f"{ascii_only(variable)}=... " for variable in variables.values())
    flags = "".join(f" --{ascii_only(name)} VALUE" for name in workflow.parameters)
    lines = (
        f"The workflow {workflow.name!r}, version {workflow.version}, as it was recorded.",
        "It asks nobody: what the recording sent, this sends.",
        "",
        f"    {secrets}python FILE{flags}",
    )
    return "\n".join(f"# {ascii_only(line)}".rstrip() for line in lines)


def _hands() -> str:
    """Their source, without the docstring of their file."""
    source = inspect.getsource(script_runtime)
    return source[source.index("import argparse") :].rstrip() + "\n"


def _mapping(entries: Mapping[str, str | None]) -> str:
    return "{" + ", ".join(f"{key!a}: {value!a}" for key, value in entries.items()) + "}"


# -- the flow, step by step ------------------------------------------------------------------------


def _flow(workflow: Workflow) -> Iterator[str]:
    yield "def flow("
    yield f"{INDENT}pages: Pages, values: Mapping[str, str], secrets: Mapping[str, str]"
    yield ") -> Mapping[str, str]:"
    yield f"{INDENT}results: dict[str, str] = {{}}"
    opened = True
    pacing = pacing_of(workflow)
    for number, step in enumerate(workflow.steps, 1):
        following = workflow.steps[number].action.tab if number < len(workflow.steps) else None
        elsewhere = following is not None and following != step.action.tab
        try:
            paced = pacing[number - 1]
            lines = [
                *_page(step.action, opened),
                *_before(paced),
                *_step(step, workflow, paced, elsewhere=elsewhere),
            ]
            opened = step.action.type not in STAYING
        except BadInput as error:
            said = f"step {number} ({step.action.type}): {error.what}"
            raise BadInput(
                said, "record it again, or drop it with rutter workflows edit"
            ) from error
        note = " (optional)" if step.optional else ""
        yield f"{INDENT}# {number}. {ascii_only(in_words(step.action))}{note}"
        yield from (INDENT + line for line in lines)
    yield f"{INDENT}# the end, as it was recorded"
    yield f"{INDENT}pages.rest({CAREFUL_MS / 1000})"
    yield from (INDENT + line for line in _end(workflow))
    yield f"{INDENT}return results"


def _page(action: Action, opened: bool) -> Iterator[str]:
    """Which page the step is done on, where it may be another than that of the step before."""
    if action.tab is not None:
        yield f"page = pages.tab({action.tab})"
    elif opened:
        yield "page = pages.front()"


def _before(paced: Paced) -> Iterator[str]:
    """What waits for the page, and what is owed by it afterwards."""
    if paced.quiet_ms is not None:
        yield f"pages.rest({paced.quiet_ms / 1000})"
    if paced.owes:
        yield f"pages.owe({paced.owes!a})"


def _step(step: Step, workflow: Workflow, paced: Paced, *, elsewhere: bool) -> Iterator[str]:
    """One step. `elsewhere` says that the next one is done on another page."""
    action = step.action
    if step.fork is not None:
        raise BadInput("it is one of several ways, and a script goes one")
    deep = ""
    if action.target is not None:
        yield from _found(step, workflow)
        deep = INDENT if step.optional else ""
    if deep:
        yield "if element is not None:"
    around = [f"pages.answered({paced.answered!a})"] if paced.answered else []
    around += _around(step, elsewhere=elsewhere)
    if around:
        yield f"{deep}with {', '.join(around)}:"
        deep += INDENT
    if done := _done(action):
        yield deep + done
    by_itself = step.after.moved and not is_led(step) and not elsewhere
    deep = INDENT if step.optional and action.target is not None else ""
    there = place_pattern(step.after.place)
    if there and (action.type == "navigate" or by_itself):
        yield f"{deep}check_place(page, {there!a})"
    yield from (deep + line for line in _checked(step, workflow))


# -- what must be so afterwards --------------------------------------------------------------------


def _checked(step: Step, workflow: Workflow) -> Iterator[str]:
    """What was stated of the step, and what the page says once it is done. Where it led is waited
    for already."""
    checks = (*step.action.verify, *step.after.checks, *notices_of(step))
    if checks and step.action.type not in STAYING:
        yield "page = pages.front()"
    yield from (_asserted(check, workflow) for check in checks)
    if (back := step.after.read_back) is not None:
        asserted = [_asserted(check, workflow) for check in back.checks]
        yield f"pages.rest({CAREFUL_MS / 1000})"
        if all(line.startswith("#") for line in asserted):
            asserted.append("pass")
        url = "page.url" if back.url == HERE else _address(back.url, workflow)
        yield f"with pages.aside({url}) as page:"
        yield from (INDENT + line for line in asserted)
        yield "page = pages.front()"


def _address(url: str, workflow: Workflow) -> str:
    return _text(url, workflow, "in_address(values[{}])")


def _asserted(check: Check, workflow: Workflow) -> str:
    """One check in Playwright's words, or a comment that there are none for it."""
    form = _ASSERTED.get(str(check.__struct_config__.tag))
    if form is None:
        return f"# not checked here: {ascii_only(write_check(check))}"
    if isinstance(check, FileSize) and check.at_most is not None:
        form = "check_file(page, {value}, least={at_least}, most={at_most})"
    said = mapped(check, lambda text: _text(text, workflow))
    return form.format_map(msgspec.structs.asdict(said))


_ASSERTED: Mapping[str, str] = {
    "text_visible": "check_text(page, {value})",
    "text_gone": "check_no_text(page, {value})",
    "url": "check_url(page, {value})",
    "value_set": "check_value(page, {role!a}, {name}, {value})",
    "element_state": "check_state(page, {role!a}, {name}, {value!a})",
    "download": "check_download(pages, {value})",
    "file_exists": "check_file(page, {value})",
    "file_contains": "check_file(page, {path}, text={value})",
    "file_size": "check_file(page, {value}, least={at_least})",
    "alert": "check_said(page, {value})",
}


def _found(step: Step, workflow: Workflow) -> Iterator[str]:
    action = step.action
    assert action.target is not None
    if action.to is not None:
        yield from _looking("onto = one_of", _said_locators(action.to, workflow))
    locators = _said_locators(action.target, workflow)
    if step.optional:
        place = place_pattern(step.before) or ".*"
        yield from _looking("element = if_there", locators, place=place)
    elif action.type == "wait_for":
        wanted = action.wanted
        enough = [f"lambda seen: seen {wanted.operator} {wanted.number}"] if wanted else []
        within = [f"within_s={action.ms / 1000}"] if action.ms is not None else []
        yield from _looking("wait_for", locators, *enough, *within)
    else:
        sure = sum(not _doubt(locator) for locator in locators)
        doubted = [f"sure={sure}"] if 0 < sure < len(locators) else []
        hidden = ["hidden=True"] if is_upload(action) else []
        yield from _looking("element = one_of", locators, *doubted, *hidden)


def _looking(call: str, locators: Sequence[str], *more: str, place: str = "") -> Iterator[str]:
    """A call that looks for an element by these, an argument a line."""
    yield f"{call}("
    yield f"{INDENT}page,"
    if place:
        yield f"{INDENT}{place!a},"
    yield f"{INDENT}lambda at: ["
    yield from (f"{INDENT * 2}{locator}," for locator in locators)
    yield f"{INDENT}],"
    yield from (f"{INDENT}{each}," for each in more)
    yield ")"


def _said_locators(target: Target, workflow: Workflow) -> list[str]:
    if not (locators := _kept_locators(target, workflow)):
        raise BadInput("no way to find its element can be said in Playwright's words")
    return locators


def _around(step: Step, *, elsewhere: bool) -> Iterator[str]:
    """What is listened to and waited for while the step is done."""
    if step.action.dialogs:
        yield f"answering(page, {', '.join(map(_answer, step.action.dialogs))})"
    place = place_pattern(step.after.place)
    if is_led(step) and place and not elsewhere and step.action.type != "navigate":
        yield f"arriving(page, {place!a})"


def _answer(answer: DialogAnswer) -> str:
    if answer.secret:
        return f"({answer.accept!a}, secrets[{answer.secret!a}])"
    named = PLACEHOLDER.fullmatch(answer.text or "")
    return f"({answer.accept!a}, {f'values[{named[1]!a}]' if named else ascii(answer.text)})"


def _done(action: Action) -> str:
    match action.type:
        case "navigate":
            return f'page.goto({action.url!a}, wait_until="domcontentloaded")'
        case "click" | "hover" | "drag" | "wheel":
            return _pointed(action)
        case "type":
            return _typed(action)
        case "select":
            return f"element.select_option({_value(action)})"
        case "press":
            where = "page.keyboard" if action.target is None else "element"
            return f"{where}.press({action.key!a})"
        case "scroll":
            return _scroll(action)
        case "wait_for":
            return "pass  # it is there"
        case "wait":
            return f"page.wait_for_timeout({action.ms or 0})"
        case "extract" | "read_page" | "ghost_extract":
            return _read(action)
        case "check":
            return ""


def _read(action: Action) -> str:
    if action.type == "ghost_extract":
        raise BadInput("a script of its own has nobody who reads pictures")
    part = "element" if action.target is not None else 'page.locator("body")'
    return f"results[{action.name or 'text'!a}] = read({part})"


def _pointed(action: Action) -> str:
    match action.type:
        case "hover":
            return "element.hover()"
        case "drag":
            x, y = action.drop or (None, None)
            at = "" if x is None else f', target_position={{"x": {x}, "y": {y}}}'
            return f"element.drag_to(onto{at})"
        case "wheel":
            return f"turn_wheel(element, {action.by or (0, 0)!a})"
        case _:
            return _clicked(action)


def _clicked(action: Action) -> str:
    given = [f"button={action.button!a}"] if action.button else []
    given += [f"modifiers={list(action.modifiers)!a}"] if action.modifiers else []
    given += [f"delay={action.ms}"] if action.ms is not None else []
    return f"element.{'dblclick' if action.count == DOUBLE else 'click'}({', '.join(given)})"


def _typed(action: Action) -> str:
    if isinstance(action.value, Secret):
        return f"type_secret(element, {_value(action)})"
    if action.pasted:
        return f"paste(element, {_value(action)}, behind={action.append!a})"
    if action.append:
        return f"type_behind(element, {_value(action)})"
    if is_upload(action):
        return f"element.set_input_files({_value(action)})"
    return f"type_in(element, {_value(action)})"


def _scroll(action: Action) -> str:
    if action.target is not None:
        return "element.scroll_into_view_if_needed()"
    amount = action.amount or 300
    match action.direction:
        case "to":
            return f'page.evaluate("scrollTo(0, {amount})")'
        case "bottom":
            return 'page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")'
        case "up" | "down":
            return (
                f'page.evaluate("scrollBy(0, {-amount if action.direction == "up" else amount})")'
            )
        case _:
            return 'page.evaluate("scrollTo(0, 0)")'


def _value(action: Action) -> str:
    match action.value:
        case Text(text):
            return ascii(text)
        case Parameter(name):
            return f"values[{name!a}]"
        case Secret(name):
            return f"secrets[{name!a}]"
        case Typed() | None:
            raise BadInput("what it types is not known")


# -- where things are ------------------------------------------------------------------------------


def _kept_locators(target: Target, workflow: Workflow) -> list[str]:
    """A name whose role is known need not be looked for among all roles as well."""
    roles = {
        locator.name
        for locator in target.strategies
        if isinstance(locator, ByRole) and locator.role
    }
    loose = [ByRole("", name) for name in roles]
    kept = [locator for locator in target.strategies if locator not in loose]
    said = dict.fromkeys(
        each for locator in kept for each in _playwright_locators(locator, workflow)
    )
    return sorted(said, key=_doubt)


def _doubt(locator: str) -> int:
    """Where it lies, something else may lie before or after; what it says, others may say too."""
    return 2 if locator.startswith("at.get_by_text(") else int(":nth-" in locator)


def _playwright_locators(locator: Strategy, workflow: Workflow) -> Iterator[str]:
    match locator:
        case ByCss(selector):
            yield from _by_css(selector)
        case ByRole("", name):
            yield f"at.get_by_label({_text(name, workflow)}, exact=True)"
        case ByRole(role, name):
            yield f"at.get_by_role({role!a}, name={_text(name, workflow)}, exact=True)"
        case ByText(text):
            yield f"at.get_by_text({_text(text, workflow)})"
        case ByPoint() | ByRef() | ByBeside():
            return


def _by_css(selector: str) -> Iterator[str]:
    """Playwright sees through shadow roots by itself, but must be told of frames: a part that does
    not say whether it is one may be either."""
    if test_id := _TEST_ID.fullmatch(selector):
        yield f"at.get_by_test_id({test_id[1]!a})"
        return
    *outer, last = selector.split(INTO)
    for unsaid in ("locator", "frame_locator"):
        steps = ["frame_locator" if _FRAME.match(part) else unsaid for part in outer]
        path = "".join(f".{step}({part!a})" for step, part in zip(steps, outer, strict=True))
        yield f"at{path}.locator({last!a})"


def _text(text: str, workflow: Workflow, bound: str = "values[{}]") -> str:
    """An expression for a text with parameters in it; what is not one of ours is the page's own."""
    parts: list[str] = []
    for number, part in enumerate(PLACEHOLDER.split(text)):
        if number % 2 == 0:
            parts += [ascii(part)] if part else []
        elif part in workflow.parameters:
            parts.append(bound.format(ascii(part)))
        else:
            parts.append(ascii("${" + part + "}"))
    return " + ".join(parts) or "''"


def _end(workflow: Workflow) -> Iterator[str]:
    yield "page = pages.front()"
    if place := place_pattern(workflow.end.place):
        yield f"check_place(page, {place!a})"
    for heading in workflow.end.headings:
        pattern = ".+".join(re.escape(part) for part in re.split(r"[*#]+", heading))
        yield f"check_heading(page, {pattern!a})"
