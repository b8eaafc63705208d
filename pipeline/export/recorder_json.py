"""An export writes a workflow as Chrome DevTools Recorder JSON. What the Recorder cannot say is
refused.

A parameter without a value is written `${name}`, and so is every secret: `rutter record` reads
that back, and a person who replays the file in Chrome sees what to fill in.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from rutter.actors.rules.steps.check_results import bound_back
from rutter.actors.rules.steps.pace import CAREFUL_MS
from rutter.actors.rules.steps.placeholders import PLACEHOLDER
from rutter.actors.rules.workflows.literals import mapped
from rutter.actors.rules.workflows.templates import template
from rutter.events.action import (
    DOUBLE,
    Action,
    ByBeside,
    ByCss,
    ByRole,
    ByText,
    Count,
    Fingerprint,
    Parameter,
    Secret,
    Strategy,
    Target,
    Text,
    Typed,
)
from rutter.events.checks import HERE, Check, ReadBack
from rutter.events.errors import BadInput
from rutter.events.workflow import Step, Workflow
from rutter.pipeline.export.wait_conditions import (
    LEAVING,
    LONGEST_HELD,
    NOT_DONE,
    answered_expression,
    check_expression,
    enter_expression,
    held_expression,
    is_ours,
    left_expression,
    mark_expression,
    notices_of,
    place_expression,
    read_at_the_end,
    rest_expression,
)
from rutter.pipeline.export.wait_points import is_led, pacing_of
from rutter.pipeline.workflows.locator_syntax import read_locator
from rutter.pipeline.workflows.recorder_import import BUTTONS, FRAME, INTO, MODIFIERS, READ_PAGE

Json = dict[str, Any]
LONGEST_MS = 30_000  # the Recorder takes no longer timeout
VIEWPORT = {"width": 1280, "height": 900, "deviceScaleFactor": 1}  # that of a run
PATIENCE_MS = 10_000  # for each step, as exported scripts have
Alternative = tuple[list[str], list[int]]  # a path of selectors, and the frames it lies in
SHADOW = "s"  # of the roots around an element: any other is the number of a frame
PIERCE = "pierce/"
FIELDS = frozenset({"", "input", "textarea", "select"})
NEAR_PX = 8  # from the corner of what may be shorter the next time


def recorder_script(workflow: Workflow, values: Mapping[str, str]) -> str:
    """The workflow with these values for its parameters."""
    writer = _Writer(workflow, values)
    steps = [said for number, step in enumerate(workflow.steps, 1) for said in writer(number, step)]
    steps += writer.end()
    script = {"title": writer.title(), "timeout": PATIENCE_MS, "steps": [_viewport(), *steps]}
    return json.dumps(script, indent=2) + "\n"


def _viewport() -> Json:
    phone = dict.fromkeys(("isMobile", "hasTouch", "isLandscape"), False)
    return {"type": "setViewport", "target": "main", **VIEWPORT, **phone}


class _Writer:
    def __init__(self, workflow: Workflow, values: Mapping[str, str]) -> None:
        self._workflow = workflow
        self._values = {name: template(name) for name in workflow.parameters} | dict(values)
        self._pacing = pacing_of(workflow)
        self._owed: list[tuple[int, str]] = []

    def title(self) -> str:
        bound = {name for name, value in self._values.items() if value != template(name)}
        left = [name for name in self._workflow.parameters if name not in bound]
        left += self._workflow.secrets
        name = self._workflow.name
        notes = [f"fill in {', '.join(map(template, left))}"] if left else []
        ours = [n for n, step in enumerate(self._workflow.steps, 1) if is_ours(step.action)]
        notes += [f"not done here: step {', '.join(map(str, ours))}"] if ours else []
        return f"{name} ({'; '.join(notes)})" if notes else name

    def __call__(self, number: int, step: Step) -> Iterator[Json]:
        try:
            yield from self._before(number, step)
            yield from self._said(number, step)
        except BadInput as error:
            raise BadInput(
                f"step {number} ({step.action.type}): {error.what}",
                "drop it with rutter workflows edit, or export with --format playwright",
            ) from error

    def _before(self, number: int, step: Step) -> Iterator[Json]:
        """Until the page has come to rest, and what it sends from now on can be told apart."""
        paced = self._pacing[number - 1]
        if paced.quiet_ms is not None:
            yield from self._rest(number, paced.quiet_ms)
        if paced.owes or paced.answered:
            yield _wait(mark_expression(number))
        if paced.owes:
            self._owed.append((number, paced.owes))

    def _rest(self, number: int, quiet_ms: int) -> Iterator[Json]:
        """What is owed is waited for once: before what takes it."""
        owed = self._owed if quiet_ms >= CAREFUL_MS else []
        yield _wait(rest_expression(number, quiet_ms, owed))
        self._owed = [] if owed else self._owed

    def end(self) -> Iterator[Json]:
        """Chrome closes the page behind the last step; then the result is read back, where that
        can be done by going there."""
        steps = self._workflow.steps
        yield from self._rest(len(steps) + 1, CAREFUL_MS)
        if (number := read_at_the_end(self._workflow)) is None:
            return
        back = steps[number - 1].after.read_back
        assert back is not None
        yield _wait(LEAVING)
        url = "" if back.url == HERE else self._bound_address(back.url)
        yield _wait(left_expression(url))
        for check in back.checks:
            if expression := check_expression(mapped(check, self._bound)):
                yield _wait(expression)

    def _said(self, number: int, step: Step) -> Iterator[Json]:
        """The step, where its result is read back, and what must be so after it: read again, that
        is a step of its own."""
        if what := _unsaid(step):
            raise BadInput(what)
        if step.action.type != "check":
            yield from self._typing(number, step, done=False)
            yield from self._done(step)
            yield from self._typing(number, step, done=True)
            yield from map(_wait, self._awaited(step))
        if answered := self._pacing[number - 1].answered:
            yield _wait(answered_expression(number, answered))
        if is_ours(step.action):
            yield {**_wait(NOT_DONE), "timeout": 1}
        if (back := step.after.read_back) is not None:
            url = back.url if back.url == HERE else self._bound_address(back.url)
            yield _custom("read_back", {"url": url, "checks": list(map(self._check, back.checks))})
        for check in (*step.action.verify, *step.after.checks):
            yield _custom("verify", self._check(check))
            if expression := check_expression(mapped(check, self._bound)):
                yield _wait(expression)

    def _typing(self, number: int, step: Step, *, done: bool) -> Iterator[Json]:
        """Around a step that types: Chrome types into whatever has the focus, and into an editor
        only where it is emptied first, which some do not survive."""
        action = step.action
        if action.type not in ("type", "select") or action.pasted:
            return
        typed = None if isinstance(action.value, Secret) else self._value(action)
        said = self._target(action)
        paths = [path for path in said.pop("selectors") if path[0].startswith(PIERCE)]
        if not paths or len(typed or "") > LONGEST_HELD:
            return
        plain = [[path[0].removeprefix(PIERCE), *path[1:]] for path in paths]
        if done:
            yield {**_wait(held_expression(number, plain, typed)), **said}
        elif _is_editor(action) and typed is not None:
            yield {**_wait(enter_expression(number, plain, typed)), **said}

    def _awaited(self, step: Step) -> Iterator[str]:
        """Where the step led, and what the page said then."""
        if step.after.moved and (expression := place_expression(step.after.place)):
            yield expression
        for said in notices_of(step):
            yield check_expression(mapped(said, self._bound))

    def _check(self, check: Check) -> Json:
        said: Json = msgspec.to_builtins(mapped(check, self._bound))
        return said

    def _done(self, step: Step) -> Iterator[Json]:
        action = step.action
        match action.type:
            case "press":
                yield from self._press(step)
                return
            case "navigate":
                said: Json = {"type": "navigate", "target": "main", "url": action.url}
            case "click":
                yield from self._click(step)
                return
            case "hover":
                said = {"type": "hover", **self._target(action)}
            case "drag" | "wheel":
                said = self._ours(action)
            case "type" if action.pasted:
                said = self._ours(action)
            case "type" | "select":
                said = {"type": "change", **self._target(action), "value": self._value(action)}
            case "wait_for":
                said = {"type": "waitForElement", **self._target(action)}
                said |= {} if action.ms is None else {"timeout": action.ms}
                said |= _counted(action.wanted)
            case "scroll":
                said = {"type": "scroll", **self._scrolled(action)}
            case "extract" | "read_page":
                said = self._reading(action)
            case _:
                raise BadInput(f"the Recorder has no step that does {action.type}")
        yield _asserting(said, step)

    def _click(self, step: Step) -> Iterator[Json]:
        """Keys are held around it, as around a key."""
        action = step.action
        kind = "doubleClick" if action.count == DOUBLE else "click"
        button = next(name for name, ours in BUTTONS.items() if ours == action.button)
        said = {"type": kind, **self._target(action), **_point(action)}
        said |= {"deviceType": "mouse", "button": button}
        said |= {} if action.ms is None else {"duration": action.ms}
        yield from (_key("keyDown", held) for held in action.modifiers)
        yield _asserting(said, step)
        yield from (_key("keyUp", held) for held in reversed(action.modifiers))

    def _ours(self, action: Action) -> Json:
        """What the Recorder has no step for, and `rutter record` reads as it was."""
        found = self._target(action)
        parameters: Json = {"selectors": found.pop("selectors")}
        name: str = action.type
        match action.type:
            case "drag":
                to = self._target(Action("drag", target=action.to))
                if to.get("frame") != found.get("frame"):
                    raise BadInput("it is dragged from one frame into another")
                parameters["to"] = to["selectors"]
                if action.drop is not None:
                    parameters["position"] = dict(zip("xy", action.drop, strict=True))
            case "wheel":
                parameters |= dict(zip("xy", action.by or (0, 0), strict=True))
            case _:
                name, parameters["value"] = "paste", self._value(action)
        step: Json = {"type": "customStep", **found, "name": f"rutter.{name}"}
        return {**step, "parameters": parameters}

    def _press(self, step: Step) -> Iterator[Json]:
        """Modifiers are held around the key."""
        *held, key = keys_of(step.action.key or "")
        if any(modifier not in MODIFIERS for modifier in held) or key in MODIFIERS:
            raise BadInput(f"the Recorder cannot press {step.action.key}")
        down: list[Json] = [_key("keyDown", modifier) for modifier in held]
        up: list[Json] = [_key("keyUp", modifier) for modifier in reversed(held)]
        yield from [*down, _asserting(_key("keyDown", key), step), _key("keyUp", key), *up]

    def _reading(self, action: Action) -> Json:
        """What Chrome passes over: nothing else depends on it."""
        parameters: Json = {"name": action.name or "text"}
        if action.type == "read_page" and action.page:
            parameters["page"] = action.page
        if action.target is None:
            return _custom(READ_PAGE, parameters)
        if isinstance(beside := action.target.primary, ByBeside):
            return _custom("extract", {**parameters, beside.how: self._bound(beside.text)})
        target = self._target(action)
        parameters["selectors"] = target.pop("selectors")
        name = READ_PAGE if action.type == "read_page" else "extract"
        return {**_custom(name, parameters), **target}

    def _scrolled(self, action: Action) -> Json:
        if action.target is not None:
            return self._target(action)
        if action.direction not in ("to", "top"):
            raise BadInput(f"the Recorder cannot scroll {action.direction}")
        y = action.amount or 0 if action.direction == "to" else 0
        return {"target": "main", "x": 0, "y": y}

    def _value(self, action: Action) -> str:
        match action.value:
            case Text(text):
                return text
            case Parameter(name):
                return self._values[name]
            case Secret(name):
                return template(name)
            case Typed() | None:
                raise BadInput("what it types is not known")

    def _target(self, action: Action) -> Json:
        """Every locator that the Recorder can say; all of them in the same frame."""
        known_by = _known_by(action)
        within = dict(known_by.attributes).get("within", "").split()
        found = [
            said
            for locator in _telling(_looked_for(action).strategies)
            if (said := self._selector(locator, known_by.tag, within)) is not None
        ]
        if not found:
            raise BadInput("no way to find its element can be said in the Recorder's words")
        where = found[0][1]
        selectors = [path for path, frames in found if frames == where]
        frame = {"frame": where} if where else {}
        return {"target": "main", **frame, "selectors": selectors}

    def _selector(self, locator: Strategy, tag: str, within: list[str]) -> Alternative | None:
        frames = [int(each) for each in within if each.isdigit()]
        match locator:
            case ByCss(selector):
                return _path(selector.split(INTO), within)
            case ByRole(role, name):
                bound: Strategy = ByRole(role, self._bound(name))
                said = f"aria/{self._bound(name)}" + (f'[role="{role}"]' if role else "")
            case ByText(text):
                bound = ByText(words := self._bound(text))
                quoted = json.dumps(words, ensure_ascii=False)
                said = f"{tag}::-p-text({quoted})" if tag else f"text/{words}"
            case _:
                return None
        # What would be read as something else is better not said.
        return ([said], frames) if read_locator(said) == bound else None

    def _bound_address(self, url: str) -> str:
        """A value in an address is one part of it; a name that is left stays one."""
        bound = {name: value for name, value in self._values.items() if value != template(name)}
        return bound_back(ReadBack(url, ()), bound).url

    def _bound(self, text: str) -> str:
        return PLACEHOLDER.sub(lambda found: self._values.get(found[1], found[0]), text)


def _telling(locators: Sequence[Strategy]) -> list[Strategy]:
    """The Recorder takes whichever finds something first: what a text alone finds may be the field
    that it was typed into, and a name alone may be anything's. They are said where nothing else is.
    """

    def tells(locator: Strategy) -> bool:
        return isinstance(locator, ByCss) or (isinstance(locator, ByRole) and bool(locator.role))

    return list(filter(tells, locators)) or list(locators)


def _path(path: list[str], within: list[str]) -> Alternative | None:
    """The frames of a path apart: the Recorder numbers them. `within` are all roots around the
    element, from outside, a frame by its number; where they are not known, only the first frame of
    a page has a number. Each selector is looked for in shadow roots too, as ours are."""
    *hosts, last = path
    if within:
        known = within[len(within) - len(hosts) :] if len(hosts) <= len(within) else []
        inner = max((at + 1 for at, each in enumerate(known) if each != SHADOW), default=0)
        frames = [int(each) for each in within if each != SHADOW]
    else:
        inner = 0
        while inner < len(hosts) and hosts[inner] == FRAME:
            inner += 1
        frames = [0] * inner
        if any(part.startswith(FRAME) for part in hosts[inner:]):
            return None
    first, *others = [*hosts[inner:], last]
    return [f"{PIERCE}{first}", *others], frames


def _unsaid(step: Step) -> str:
    """What a step of ours can be and none of the Recorder's can."""
    action = step.action
    if step.optional:
        return "the Recorder has no optional steps"
    if action.dialogs:
        return "the Recorder does not answer dialogs"
    if action.tab is not None:
        return "the Recorder knows other pages by their address alone"
    if action.append:
        return "the Recorder does not type behind what a field holds"
    if is_upload(action):
        return "the Recorder cannot choose a file"
    if action.type == "press" and action.target is not None:
        return "the Recorder presses keys where the focus is"
    if action.type == "wait_for" and not 1 <= (action.ms or 1) <= LONGEST_MS:
        return f"the Recorder waits {LONGEST_MS} ms at most"
    return ""


def is_upload(action: Action) -> bool:
    return ("type", "file") in _known_by(action).attributes


def _looked_for(action: Action) -> Target:
    return action.target or Target(())


def _known_by(action: Action) -> Fingerprint:
    return _looked_for(action).fingerprint or Fingerprint()


def keys_of(key: str) -> list[str]:
    """`Control+a` as its keys; the plus itself may be one."""
    if key.endswith("+"):
        return [*key[:-1].removesuffix("+").split("+"), "+"] if len(key) > 1 else [key]
    return key.split("+")


def _point(action: Action) -> Json:
    """The middle of the element as it was, from its corner; near that where its name varies, and
    its width with it."""
    box = _known_by(action).box
    if box is None:
        return {"offsetX": 1, "offsetY": 1}
    across = min(box.width // 2, NEAR_PX) if _varies(action) else box.width // 2
    return {"offsetX": max(across, 1), "offsetY": max(box.height // 2, 1)}


def _is_editor(action: Action) -> bool:
    """Neither a field nor a list: its text is the page's own."""
    return action.type == "type" and _known_by(action).tag not in FIELDS


def _varies(action: Action) -> bool:
    return any("${" in str(locator) for locator in _looked_for(action).strategies)


def _wait(expression: str) -> Json:
    return {"type": "waitForExpression", "target": "main", "expression": expression}


def _custom(name: str, parameters: Json) -> Json:
    return {"type": "customStep", "target": "main", "name": name, "parameters": parameters}


def _key(kind: str, key: str) -> Json:
    return {"type": kind, "target": "main", "key": key}


def _counted(count: Count | None) -> Json:
    if count is None:
        return {}
    if count.operator == "!=":
        return {"operator": "==", "count": count.number, "visible": False}
    return {"operator": count.operator, "count": count.number}


def _asserting(said: Json, step: Step) -> Json:
    """A step that led to another page is waited for until it has."""
    if is_led(step) or step.action.type == "navigate":
        said["assertedEvents"] = [{"type": "navigation"}]
    return said
