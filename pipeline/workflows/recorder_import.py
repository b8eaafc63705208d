"""The importer turns Chrome DevTools Recorder JSON into steps of ours. What cannot be kept
faithfully is refused.

A typed `${name}` is the parameter or secret of that name, as `rutter export` writes it. The custom
steps `extract`, `verify`, `read_back` and those whose name begins with `rutter.` are ours.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal, NamedTuple, TypeVar

import msgspec

from rutter.actors.rules.pages.address import place_of
from rutter.actors.rules.steps.placeholders import PLACEHOLDER
from rutter.actors.rules.text.secret_words import asks_for_a_secret
from rutter.actors.rules.tools.tool_table import MAX_PAGES
from rutter.actors.rules.workflows.literals import named_checks, named_read_back
from rutter.actors.rules.workflows.templates import template
from rutter.events.action import (
    DOUBLE,
    ONE_OR_MORE,
    Action,
    Button,
    ByCss,
    ByRole,
    Count,
    Modifier,
    Parameter,
    Secret,
    Strategy,
    Target,
    Typed,
    Value,
    kind_of,
    locator_text,
)
from rutter.events.checks import HERE, Check, texts_of
from rutter.events.errors import BadInput
from rutter.events.workflow import Step
from rutter.pipeline.workflows.check_syntax import check_from, read_back_from, shows_something
from rutter.pipeline.workflows.locator_syntax import beside_of, read_locator
from rutter.pipeline.workflows.secret_literals import Literals
from rutter.pipeline.workflows.stated_checks import web_address

MAIN = "main"  # the page that the script starts in
# The Recorder numbers a page's frames. A selector cannot count them, so `iframe` stands for the
# first: with several, an element that more than one of them holds is ambiguous, and refused.
FRAME = "iframe"
INTO = " >>> "  # into a shadow root or a frame
MODIFIERS: tuple[Modifier, ...] = ("Control", "Alt", "Shift", "Meta")
BUTTONS: dict[str, Button | None] = {"primary": None, "secondary": "right", "auxiliary": "middle"}
CLICKED = frozenset({"click", "doubleClick"})
WRITTEN = "/* rutter */ "  # an expression that our export wrote: a run waits for that by itself
# No action of ours, and nothing is lost by passing them over.
PASSED_OVER = frozenset({"setViewport", "keyUp", "close", "emulateNetworkConditions"})
Wanted = TypeVar("Wanted", bound=msgspec.Struct)
_PART = re.compile(r"(?:Otp|Pin)(?![a-z])")  # of a name that is written in one: userOtp


class RecorderStep(msgspec.Struct):
    type: str
    url: str | None = None
    selectors: list[str | list[str]] = []
    value: str | None = None
    key: str | None = None
    expression: str | None = None
    x: float | None = None
    y: float | None = None
    timeout: int | None = None
    button: str = "primary"
    duration: float | None = None
    target: str = "main"
    frame: list[int] = []
    operator: Literal[">=", "==", "<="] = ">="
    count: int = 1
    visible: bool = True
    attributes: dict[str, object] = {}
    properties: dict[str, object] = {}
    name: str | None = None
    parameters: dict[str, object] = {}


class RecorderScript(msgspec.Struct):
    steps: list[RecorderStep]
    title: str = ""


def read_script(path: Path) -> RecorderScript:
    try:
        body = path.read_bytes()
    except OSError as error:
        raise BadInput(f"{path} cannot be read ({error.strerror})", "check --script") from error
    try:
        return msgspec.json.decode(body, type=RecorderScript)
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        raise BadInput(
            f"{path} is not a DevTools Recorder script: {error}",
            "export it from the Recorder panel as JSON",
        ) from error


class Script(NamedTuple):
    """A script has steps that can be logged as they are, and apart from them what they type.

    A literal goes into the log only once the field it went into was seen to be no secret one.
    """

    steps: tuple[Step, ...]
    typed: tuple[str, ...]


def prepare(
    script: RecorderScript, parameters: Mapping[str, str], secrets: Mapping[str, str]
) -> Script:
    """The script's steps, with every typed VALUE as the parameter or secret of its name."""
    reader = _Reader(parameters, secrets, script.steps)
    for number, step in enumerate(script.steps, 1):
        reader.read(number, step)
    reader.check_all_used()
    if not reader.steps:
        raise BadInput("the script has no step to do", "record one in the DevTools Recorder")
    return Script(tuple(reader.steps), tuple(reader.typed))


class _Reader:
    def __init__(
        self,
        parameters: Mapping[str, str],
        secrets: Mapping[str, str],
        steps: Sequence[RecorderStep],
    ) -> None:
        self._parameters = parameters
        self._secrets = secrets
        self._tabs = _tabs(steps)
        self._elsewhere = False
        self._used: set[str] = set()
        self._held: list[Modifier] = []
        self.steps: list[Step] = []
        self.typed: list[str] = []

    def read(self, number: int, step: RecorderStep) -> None:
        if step.type == "keyUp":
            self._held = [key for key in self._held if key != step.key]
        if step.type in PASSED_OVER or (step.expression or "").startswith(WRITTEN):
            return
        held = next((key for key in MODIFIERS if key == step.key), None)
        if step.type == "keyDown" and held is not None:
            self._held.append(held)
            return
        try:
            if step.type == "customStep" and step.name == "read_back":
                self._state_read_back(step)
                return
            action = self._action(step)
        except BadInput as error:
            raise BadInput(f"step {number} ({step.type}): {error.what}", error.fix) from error
        self.steps.append(Step(action=self._in_tab(action, step.target)))

    def check_all_used(self) -> None:
        for flag, bound in (("--param", self._parameters), ("--secret", self._secrets)):
            for name in bound:
                if name not in self._used:
                    raise BadInput(
                        f"no step of the script types the value of {flag} {name}",
                        "give the value exactly as the script types it",
                    )

    def _action(self, step: RecorderStep) -> Action:
        if what := _unfaithful(step) or self._unheld(step):
            raise BadInput(what, "record it again without that, or remove the step")
        match step.type:
            case "navigate":
                if not step.url:
                    raise BadInput("it has no url", "record it again")
                return Action("navigate", url=step.url)
            case "click" | "doubleClick":
                return self._click(step)
            case "hover":
                return Action("hover", target=_target(step.selectors, step.frame))
            case "change":
                target = _target(step.selectors, step.frame)
                return Action("type", target=target, value=self._value(step, target))
            case "keyDown":
                if not step.key:
                    raise BadInput("it has no key", "record it again")
                return Action("press", key="+".join([*self._held, step.key]))
            case "waitForElement":
                target = _target(step.selectors, step.frame)
                return Action("wait_for", target=target, ms=step.timeout, wanted=_count(step))
            case "scroll":
                return _scroll(step)
            case "customStep" if step.name in OURS:
                return self._ours(step)
            case _:
                known = "navigate, click, doubleClick, hover, change, keyDown, keyUp, scroll"
                known += ", waitForElement"
                raise BadInput("this step is not supported", f"remove it (supported: {known})")

    def _click(self, step: RecorderStep) -> Action:
        return Action(
            "click",
            target=_target(step.selectors, step.frame),
            button=BUTTONS[step.button],
            count=DOUBLE if step.type == "doubleClick" else 1,
            modifiers=tuple(self._held),
            ms=int(step.duration) if step.duration else None,
        )

    def _ours(self, step: RecorderStep) -> Action:
        """What the Recorder has no step for."""
        match step.name:
            case "verify":
                return Action("check", verify=self._checks([step.parameters]))
            case "rutter.drag":
                drag = _converted(step.parameters, _Drag, "give selectors and to")
                to = _target(drag.to, step.frame)
                drop = (drag.position.x, drag.position.y) if drag.position else None
                return Action("drag", target=_target(drag.selectors, step.frame), to=to, drop=drop)
            case "rutter.wheel":
                wheel = _converted(step.parameters, _Wheel, "give selectors, x and y")
                by = (wheel.x, wheel.y)
                return Action("wheel", target=_target(wheel.selectors, step.frame), by=by)
            case "rutter.paste":
                paste = _converted(step.parameters, _Paste, "give selectors and value")
                target = _target(paste.selectors, step.frame)
                value = self._value(msgspec.structs.replace(step, value=paste.value), target)
                return Action("type", target=target, value=value, pasted=True)
            case "rutter.read_page":
                return _read_page(step)
            case _:
                return _extract(step)

    def _state_read_back(self, step: RecorderStep) -> None:
        """Where the result of the step before must show."""
        if not self.steps or kind_of(self.steps[-1].action) != "action":
            raise BadInput("no action stands before it", "put it behind the step that it is about")
        before = self.steps[-1]
        if before.after.read_back is not None:
            raise BadInput("the step before it has a read-back", "put the checks into one")
        wanted = _converted(step.parameters, _ReadBack, "give url and checks")
        url = wanted.url if wanted.url == HERE else self._address(wanted.url)
        self._check_texts([url])
        said = shows_something(read_back_from(url, self._checks(wanted.checks)))
        said = named_read_back(said, self._parameters)
        self._used.update(set(PLACEHOLDER.findall(said.url)) & self._parameters.keys())
        after = msgspec.structs.replace(before.after, read_back=said)
        self.steps[-1] = msgspec.structs.replace(before, after=after)

    def _address(self, url: str) -> str:
        """A path is on the site that the script went to last."""
        if not url.startswith("/") or url.startswith("//"):
            return web_address(url)
        went = [each.action.url for each in self.steps if each.action.url is not None]
        origin = place_of(went[-1]).origin if went else ""
        if not origin.startswith("http"):
            raise BadInput("which site its path is on is not known", "give the whole address")
        return origin + url

    def _checks(self, given: Sequence[Mapping[str, object]]) -> tuple[Check, ...]:
        """Checks with parameters in place of their values, as in what is typed."""
        checks = tuple(map(check_from, given))
        self._check_texts([text for check in checks for text in texts_of(check)])
        named = named_checks(checks, self._parameters)
        for text in (text for check in named for text in texts_of(check)):
            self._used.update(set(PLACEHOLDER.findall(text)) & self._parameters.keys())
        return named

    def _check_texts(self, texts: Sequence[str]) -> None:
        if Literals(self._secrets).are_among(texts):
            raise BadInput("it holds a secret", "check something else: a secret is never stored")
        for name in (name for text in texts for name in PLACEHOLDER.findall(text)):
            if name in self._secrets:
                raise BadInput(f"it holds the secret {name!r}", "a secret is compared with nothing")
            if name not in self._parameters:
                raise BadInput(
                    f"it holds the parameter {name!r}, which has no value",
                    f"add --param {name}=VALUE",
                )
            self._used.add(name)

    def _in_tab(self, action: Action, target: str) -> Action:
        """As long as there is one page, nobody need say which."""
        self._elsewhere = self._elsewhere or target != MAIN
        if not self._elsewhere:
            return action
        return msgspec.structs.replace(action, tab=self._tabs[target])

    def _unheld(self, step: RecorderStep) -> str:
        if self._held and step.type != "keyDown" and step.type not in CLICKED:
            return f"it is done while {'+'.join(self._held)} is held"
        return ""

    def _value(self, step: RecorderStep, target: Target) -> Value:
        typed = step.value or ""
        for name, value in self._secrets.items():
            if typed in (value, template(name)):
                self._used.add(name)
                return Secret(name)
        for name, value in self._parameters.items():
            if typed in (value, template(name)):
                self._used.add(name)
                return Parameter(name)
        if unbound := PLACEHOLDER.fullmatch(typed):
            name = unbound[1]
            raise BadInput(
                f"it types the parameter or secret {name!r}, which has no value",
                f"add --secret {name}=SOURCE"
                if _asks_for_a_secret(name)
                else f"add --param {name}=VALUE or --secret {name}=SOURCE",
            )
        if any(_asks_for_a_secret(locator_text(strategy)) for strategy in target.strategies):
            raise BadInput(
                "it types into what looks like a secret field",
                "name it with --secret password=env:VARIABLE, so that it is never stored",
            )
        self.typed.append(typed)
        return Typed(len(self.typed) - 1)


def _unfaithful(step: RecorderStep) -> str:
    """What the Recorder can say and no action of ours can: it would become another step."""
    if step.button not in BUTTONS:
        return f"it uses the {step.button} mouse button"
    if any(step.frame):
        return "it is in one of several frames, which no selector of ours can tell apart"
    if step.frame and step.type == "scroll" and not step.selectors:
        return "it scrolls a frame"
    if step.attributes or step.properties:
        return "it waits for more than elements to be there or not"
    return ""


# What a step that waits until something is not so waits for: the Recorder's `visible: false`.
_NOT_SO: Mapping[str, Callable[[int], Count]] = {
    ">=": lambda number: Count("<=", number - 1),
    "<=": lambda number: Count(">=", number + 1),
    "==": lambda number: Count("!=", number),
}


def _count(step: RecorderStep) -> Count | None:
    """As the Recorder has it: one or more, if nothing else is said."""
    wanted = (
        Count(step.operator, step.count) if step.visible else _NOT_SO[step.operator](step.count)
    )
    return None if wanted == ONE_OR_MORE else wanted


def _tabs(steps: Sequence[RecorderStep]) -> dict[str, int]:
    """Pages in the order in which the script comes to them, which is taken for the order in which
    they opened: a target is the address of a page, and says no more."""
    order = [MAIN, *(step.target for step in steps if step.type not in PASSED_OVER)]
    return {target: number for number, target in enumerate(dict.fromkeys(order))}


def _target(selectors: list[str | list[str]], frame: Sequence[int] = ()) -> Target:
    """Every locator that the Recorder knows, best first; XPath not."""
    found: list[Strategy] = []
    for selector in selectors:
        path = [selector] if isinstance(selector, str) else selector
        strategy = _strategy([*(FRAME for _ in frame), *path])
        if strategy is not None:
            found.append(strategy)
    if not found:
        raise BadInput(
            "no selector of it is supported",
            "in the Recorder, switch on CSS, ARIA or text selectors and record it again",
        )
    found.sort(key=_preference)
    return Target(tuple(dict.fromkeys(found)))


def _strategy(path: Sequence[str]) -> Strategy | None:
    """One locator. A path leads into a shadow root or a frame with each part, and names and
    texts are looked for in the page as a whole: behind another part they would find too much."""
    if len(path) == 1:
        return read_locator(path[0])
    parts = [read_locator(part) for part in path]
    selectors = [part.selector for part in parts if isinstance(part, ByCss)]
    return ByCss(INTO.join(selectors)) if selectors and len(selectors) == len(parts) else None


def _preference(strategy: Strategy) -> int:
    """A3: test id, stable id, other CSS, role and name, text."""
    match strategy:
        case ByCss(selector) if "data-test" in selector or "data-cy" in selector:
            return 0
        case ByCss(selector) if selector.startswith("#"):
            return 1
        case ByCss():
            return 2
        case ByRole():
            return 3
        case _:
            return 4


def _asks_for_a_secret(said: str) -> bool:
    """As the page itself judges its fields; here before the page is there."""
    return asks_for_a_secret(said) or _PART.search(said) is not None


def _scroll(step: RecorderStep) -> Action:
    if step.selectors:
        return Action("scroll", target=_target(step.selectors, step.frame))
    amount = int(step.y or 0)
    if amount <= 0:  # the Recorder's numbers are places, not distances
        return Action("scroll", direction="top")
    return Action("scroll", direction="to", amount=amount)


class _Extract(msgspec.Struct):
    name: str
    selectors: list[str | list[str]] = []
    label: str = ""
    near: str = ""


class _Position(msgspec.Struct):
    x: int
    y: int


class _Drag(msgspec.Struct):
    selectors: list[str | list[str]]
    to: list[str | list[str]]
    position: _Position | None = None


class _Wheel(msgspec.Struct):
    selectors: list[str | list[str]]
    x: int = 0
    y: int = 0


class _Paste(msgspec.Struct):
    selectors: list[str | list[str]]
    value: str


class _ReadPage(msgspec.Struct):
    name: str = "text"
    selectors: list[str | list[str]] = []
    page: Annotated[int, msgspec.Meta(ge=0, le=MAX_PAGES)] = 0


READ_PAGE = "rutter.read_page"
OURS = frozenset({"extract", "verify", READ_PAGE, "rutter.drag", "rutter.paste", "rutter.wheel"})


class _ReadBack(msgspec.Struct, forbid_unknown_fields=True):
    url: str
    checks: list[dict[str, object]]


def _extract(step: RecorderStep) -> Action:
    wanted = _converted(step.parameters, _Extract, "give name and selectors")
    if beside := beside_of(wanted.label, wanted.near):
        return Action("extract", target=Target((beside,)), name=wanted.name)
    if not wanted.selectors:
        raise BadInput("its parameters do not fit", "give selectors, a label or a text nearby")
    return Action("extract", target=_target(wanted.selectors, step.frame), name=wanted.name)


def _read_page(step: RecorderStep) -> Action:
    wanted = _converted(step.parameters, _ReadPage, "give name, and selectors of a part of it")
    part = _target(wanted.selectors, step.frame) if wanted.selectors else None
    return Action("read_page", target=part, name=wanted.name, page=wanted.page)


def _converted(parameters: Mapping[str, object], kind: type[Wanted], fix: str) -> Wanted:
    try:
        return msgspec.convert(parameters, kind)
    except msgspec.ValidationError as error:
        raise BadInput(f"its parameters do not fit: {error}", fix) from error
