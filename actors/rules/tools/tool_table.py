"""The tool table says what can be asked for from outside, and how (D3). Pure data.

The first seven are S3's, word for word; whoever drives - the command line, a language model, an
outside agent - is given this table and no other.
"""

import re
from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, Literal

import msgspec

from rutter.actors.rules.text.phrase_file import check_names, load_table
from rutter.actors.rules.tools.picture_prompts import ALL_TEXT
from rutter.events.action import (
    Action,
    ActionType,
    ByBeside,
    ByRef,
    Parameter,
    Secret,
    Target,
    Typed,
    Value,
)

WITHOUT_SNAPSHOT = frozenset({"request_human_approval", "complete_task"})


RetryProfile = Literal["none", "once", "network"]
SideEffect = Literal["read", "write", "auth"]
Kind = Literal["action", "observation", "verification", "control"]

GHOST_MS = 90_000  # to go there, to take the pictures, and for a model to read them (C2)
MAX_WAIT_MS = 10_000  # longer than that, and the caller should look what is wrong
MAX_SCROLL = 100_000
MAX_PAGES = 1_000  # of a page's text: more than may be read of one (markdown.js)
MAX_TEXT = 20_000  # characters of one argument: what a person would type, and far more

# What a property is told by, in S3's order. Where S3 says less than what is checked, or in another
# way, `s3` says it as S3 does.
TOLD = ("type", "pattern", "enum", "default", "minimum", "maximum")


def _as_s3(**said: object) -> msgspec.Meta:
    return msgspec.Meta(extra_json_schema={"s3": said})


Ref = Annotated[
    str, msgspec.Meta(pattern=r"^@e[0-9]+\Z", max_length=20), _as_s3(pattern="^@e\\d+$")
]
Direction = Annotated[
    Literal["up", "down", "top", "bottom"], _as_s3(enum=["up", "down", "top", "bottom"])
]
Status = Annotated[Literal["success", "failed"], _as_s3(enum=["success", "failed"])]
Said = Annotated[str, msgspec.Meta(min_length=1, max_length=2_000)]
Words = Annotated[str, msgspec.Meta(min_length=1, max_length=200)]  # of a page: a line of it
Url = Annotated[str, msgspec.Meta(min_length=1, max_length=2_000)]
Written = Annotated[str, msgspec.Meta(max_length=MAX_TEXT)]


class Arguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A tool takes the arguments that it knows, and no other."""


class GetSnapshot(Arguments, frozen=True):
    viewport_only: bool = True


class Click(Arguments, frozen=True):
    ref: Ref


class Fill(Arguments, frozen=True):
    ref: Ref
    value: Written
    clear_first: bool = True


class Select(Arguments, frozen=True):
    ref: Ref
    value: Written


class Scroll(Arguments, frozen=True):
    ref: Ref | None = None
    direction: Direction | None = None
    amount: Annotated[
        int, msgspec.Meta(ge=1, le=MAX_SCROLL), _as_s3(minimum=None, maximum=None)
    ] = 300


class RequestHumanApproval(Arguments, frozen=True):
    action: Said
    reason: Said


class CompleteTask(Arguments, frozen=True):
    status: Status
    reason: Said


class Navigate(Arguments, frozen=True):
    url: Url


class Press(Arguments, frozen=True):
    key: Annotated[str, msgspec.Meta(min_length=1, max_length=40)]


class Wait(Arguments, frozen=True):
    ms: Annotated[int, msgspec.Meta(ge=0, le=MAX_WAIT_MS)] = 1_000


class Extract(Arguments, frozen=True):
    ref: Ref | None = None
    label: Words | None = None
    near: Words | None = None


class ReadPage(Arguments, frozen=True):
    ref: Ref | None = None
    page: Annotated[int, msgspec.Meta(ge=1, le=MAX_PAGES)] = 1


class ReadFile(Arguments, frozen=True):
    path: Annotated[str, msgspec.Meta(min_length=1, max_length=1_000)]


class GhostExtract(Arguments, frozen=True):
    url: Url | None = None
    prompt: Annotated[str, msgspec.Meta(max_length=2_000)] = ALL_TEXT
    viewport_only: bool = False


class Guidance(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Guidance tells a model more than the seeds' own sentence (S3 1.5.1)."""

    purpose: str
    refs: str
    when: str
    patterns: tuple[str, ...]
    errors: tuple[str, ...]
    example: str


class Wording(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A tool's wording describes it and each of its arguments."""

    description: str
    arguments: dict[str, str]
    guidance: Guidance


class Descriptor(msgspec.Struct, frozen=True):
    """A descriptor is one tool. `timeout_ms` is for the whole call, but a person's time to
    answer."""

    name: str
    args: type[Arguments]
    kind: Kind
    side_effect_class: SideEffect
    timeout_ms: int
    retry_profile: RetryProfile = "none"

    @property
    def description(self) -> str:
        return wording()[self.name].description

    @property
    def guidance(self) -> Guidance:
        return wording()[self.name].guidance

    @property
    def input_schema(self) -> dict[str, Any]:
        """What the arguments are, without the limits of ours that S3 does not name."""
        [schema] = msgspec.json.schema(self.args)["$defs"].values()
        said = wording()[self.name].arguments
        properties = {
            name: _property(each, said[name]) for name, each in schema["properties"].items()
        }
        told = {"type": "object", "properties": properties}
        return {**told, "required": schema["required"]} if schema["required"] else told


def _property(schema: dict[str, Any], description: str) -> dict[str, Any]:
    kind = schema["anyOf"][0] if "anyOf" in schema else schema  # optional is what is not required
    plain = {"type": "string", **kind, **kind.get("s3", {}), "default": schema.get("default")}
    told = {name: plain[name] for name in TOLD if plain.get(name) is not None}
    return {**told, "description": description}


@cache
def wording() -> dict[str, Wording]:
    """Read when a tool is first described: most commands describe none."""
    found = load_table(__package__, "tools.toml", dict[str, Wording])
    check_names(found, set(TOOLS), "tools.toml")
    for tool in TOOLS.values():
        check_names(found[tool.name].arguments, set(tool.args.__struct_fields__), tool.name)
    return found


class Filled(msgspec.Struct, frozen=True):
    """A filled value is typed: the log may hold the number of a literal, or a bound name."""

    typed: int | None = None
    param: str | None = None
    secret: str | None = None


class Logged(msgspec.Struct, frozen=True):
    """The log holds arguments of any tool like this in `ToolCalled`, once they fit."""

    ref: str | None = None
    value: Filled | None = None
    clear_first: bool = True
    direction: Direction | None = None
    amount: int = 300
    url: str | None = None
    key: str | None = None
    ms: int = 1_000
    page: int = 1
    label: str | None = None
    near: str | None = None
    prompt: str = ALL_TEXT
    viewport_only: bool | None = None
    action: str = ""
    reason: str = ""
    status: Status = "failed"


_ACTIONS: Mapping[str, ActionType] = {
    "browser_click": "click",
    "browser_fill": "type",
    "browser_select": "select",
    "browser_scroll": "scroll",
    "navigate": "navigate",
    "press": "press",
    "wait": "wait",
    "extract": "extract",
    "read_page": "read_page",
    "ghost_extract": "ghost_extract",
}


_TOOLS: Mapping[str, str] = {action: tool for tool, action in _ACTIONS.items()}


def tool_of(action: ActionType) -> str:
    """The name of the tool by which such an action is called for, whoever wants it done."""
    return _TOOLS.get(action, action)


def action_of(tool: str, given: Logged, look: int = 0) -> Action | None:
    """The action that a call asks for, on a ref of this look; `None` for what is no action."""
    kind = _ACTIONS.get(tool)
    if kind is None:
        return None
    target = _target(given, look)
    match kind:
        case "scroll" if target is None:
            return Action(kind, direction=given.direction, amount=given.amount)
        case "navigate":
            return Action(kind, url=given.url)
        case "press":
            return Action(kind, key=given.key)
        case "wait":
            return Action(kind, ms=given.ms)
        case "read_page":
            return Action(kind, target=target, page=given.page)
        case "ghost_extract":
            return Action(kind, prompt=given.prompt, viewport_only=bool(given.viewport_only))
        case "type":
            value = _value(given.value)
            return Action(kind, target=target, value=value, append=not given.clear_first)
        case "select":
            return Action(kind, target=target, value=_value(given.value))
        case _:
            return Action(kind, target=target)


def _target(given: Logged, look: int) -> Target | None:
    if given.ref is not None:
        return Target((ByRef(given.ref, look),))
    if given.label is not None:
        return Target((ByBeside(given.label),))
    return Target((ByBeside(given.near, "near"),)) if given.near is not None else None


def _value(filled: Filled | None) -> Value | None:
    if filled is None:
        return None
    if filled.secret is not None:
        return Secret(filled.secret)
    if filled.param is not None:
        return Parameter(filled.param)
    return Typed(filled.typed or 0)


def place_of_ref(ref: str) -> int:
    """The place of `@eN` among the elements; -1 for what is no ref at all."""
    found = re.fullmatch(r"@e0*([0-9]{1,6})", ref)
    return int(found[1]) if found else -1


SEVEN = (
    Descriptor("get_snapshot", GetSnapshot, "observation", "read", 3_000),
    Descriptor("browser_click", Click, "action", "write", 2_000, "once"),
    Descriptor("browser_fill", Fill, "action", "write", 2_000, "once"),
    Descriptor("browser_select", Select, "action", "write", 2_000, "once"),
    Descriptor("browser_scroll", Scroll, "action", "read", 1_000, "once"),
    Descriptor("request_human_approval", RequestHumanApproval, "control", "auth", 3_000),
    Descriptor("complete_task", CompleteTask, "verification", "read", 5_000),
)
OTHERS = (
    Descriptor("navigate", Navigate, "action", "write", 30_000, "network"),
    Descriptor("press", Press, "action", "write", 2_000),
    Descriptor("wait", Wait, "action", "read", MAX_WAIT_MS + 3_000),
    Descriptor("extract", Extract, "observation", "read", 2_000),
    Descriptor("read_page", ReadPage, "observation", "read", 5_000),
    Descriptor("read_file", ReadFile, "observation", "read", 2_000),
    Descriptor("ghost_extract", GhostExtract, "observation", "read", GHOST_MS),
)
TOOLS: Mapping[str, Descriptor] = {each.name: each for each in (*SEVEN, *OTHERS)}


def described(tool: Descriptor) -> dict[str, Any]:
    """A descriptor as JSON: everything but the type that its arguments are checked with."""
    return {
        "name": tool.name,
        "description": tool.description,
        "input_schema": tool.input_schema,
        "timeout_ms": tool.timeout_ms,
        "retry_profile": tool.retry_profile,
        "side_effect_class": tool.side_effect_class,
        "kind": tool.kind,
        "guidance": msgspec.structs.asdict(tool.guidance),
    }
