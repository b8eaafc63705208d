"""A proposal is a call of `browser_action` (S1 5.3), checked by its schema. Pure.

A model's numbers end here: certainty goes on in millionths. So does what it types: a proposal
holds the number of a text, or a bound name.
"""

import re
from collections.abc import Iterator
from typing import Annotated, Any, Literal, NamedTuple, get_args

import msgspec

from rutter.actors.rules.text.untrusted import on_one_line
from rutter.actors.rules.tools.arguments import MAX_BYTES, BoundNames
from rutter.actors.rules.tools.tool_table import MAX_TEXT, MAX_WAIT_MS
from rutter.actors.world.models.messages import ToolSpec
from rutter.events.action import (
    Action,
    ActionType,
    ByCss,
    ByPoint,
    ByRole,
    ByText,
    Parameter,
    Secret,
    Strategy,
    Target,
    Typed,
    Untrusted,
    Value,
)
from rutter.events.advisor import Proposal
from rutter.events.checks import PageState
from rutter.events.run_settings import MILLION

NAME = "browser_action"
MAX_FALLBACKS = 3
MAX_REASONING = 500  # characters that the log keeps of it
DEFAULT_SCROLL = 300  # pixels, as the tool browser_scroll has it
STATES = tuple(state for state in get_args(PageState) if state != "START")
_NAMED = re.compile(r"\$\{(\w+)\}")
_WAIT = re.compile(r"\s*(\d{1,5})\s*(?:ms)?\s*")

_TARGET: dict[str, Any] = {
    "type": "object",
    "properties": {
        "css": {"type": "string"},
        "aria_role": {"type": "string"},
        "aria_name": {"type": "string"},
        "text": {"type": "string"},
        "coordinates": {
            "type": "array",
            "items": {"type": "integer"},
            "minItems": 2,
            "maxItems": 2,
        },
    },
}
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "state": {"type": "string", "description": "Detected page state", "enum": list(STATES)},
        "action_type": {
            "type": "string",
            "enum": ["click", "fill", "select", "scroll", "wait", "navigate"],
        },
        "target": _TARGET,
        "value": {
            "type": "string",
            "description": "What to fill or select; for scroll up, down, top or bottom; for wait "
            "milliseconds; for navigate the URL",
        },
        "reasoning": {"type": "string"},
        "confidence": {"type": "number", "minimum": 0, "maximum": 1},
        "expected_state": {
            "type": "string",
            "description": "Page state after the action",
            "enum": list(STATES),
        },
        "fallback_targets": {"type": "array", "items": _TARGET, "maxItems": MAX_FALLBACKS},
    },
    "required": ["state", "action_type", "target", "reasoning", "confidence"],
}
_DOES_STEP = {
    "type": "boolean",
    "description": "true: this does what the recorded step did. false: it only leads to a page "
    "where that step can be done",
}


def action_spec(*, repairs: bool) -> ToolSpec:
    """The tool as a model is told of it; `repairs`: it is asked about a recorded step."""
    schema = _SCHEMA
    if repairs:
        schema = {**_SCHEMA, "properties": {**_SCHEMA["properties"], "does_step": _DOES_STEP}}
    return ToolSpec(NAME, "Execute a browser action to progress toward the goal", schema)


class ParsedProposal(NamedTuple):
    """A call came to a proposal, with the text that it types beside it, or to what is wrong."""

    proposal: Proposal | None = None
    invalid: str = ""
    typed: str | None = None


Short = Annotated[str, msgspec.Meta(max_length=2_000)]
Pixel = Annotated[int, msgspec.Meta(ge=-100_000, le=100_000)]
Share = Annotated[float, msgspec.Meta(ge=0, le=1)]


class _Target(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    css: Short | None = None
    aria_role: Short | None = None
    aria_name: Short | None = None
    text: Short | None = None
    coordinates: tuple[Pixel, Pixel] | None = None


class _ProposalCall(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    state: PageState
    action_type: Literal["click", "fill", "select", "scroll", "wait", "navigate"]
    target: _Target
    reasoning: str
    confidence: Share
    value: Annotated[str, msgspec.Meta(max_length=MAX_TEXT)] | None = None
    expected_state: PageState | None = None
    fallback_targets: Annotated[tuple[_Target, ...], msgspec.Meta(max_length=MAX_FALLBACKS)] = ()
    does_step: bool = True


def proposal_of(arguments: str, *, number: int, names: BoundNames) -> ParsedProposal:
    """`number` is what the text to be typed is called in the log."""
    if len(arguments) > MAX_BYTES:
        return ParsedProposal(invalid="the arguments are too long")
    try:
        call = msgspec.json.decode(arguments, type=_ProposalCall)
    except msgspec.ValidationError as error:
        return ParsedProposal(invalid=_wrong(error))
    except (msgspec.DecodeError, ValueError, RecursionError):
        return ParsedProposal(invalid="the arguments are not JSON, or were cut off")
    made = _action(call, number, names)
    if isinstance(made, str):
        return ParsedProposal(invalid=made)
    typed = call.value if isinstance(made.value, Typed) else None
    proposal = Proposal(
        action=made,
        certainty=round(call.confidence * MILLION),
        state=call.state,
        leads_to=call.expected_state,
        instead=call.does_step,
        reasoning=Untrusted(on_one_line(call.reasoning)[:MAX_REASONING]),
    )
    return ParsedProposal(proposal, typed=typed)


def _wrong(error: msgspec.ValidationError) -> str:
    """What is wrong, without the value that is: it may be somebody's secret."""
    said = str(error)
    if "enum value" in said:
        place = said.rpartition("`$.")[2].rstrip("`")
        return f"{place} is none of its schema"
    return said[:200]


def _action(call: _ProposalCall, number: int, names: BoundNames) -> Action | str:
    """The action, or what it lacks."""
    target = _found_by(call)
    match call.action_type:
        case "click":
            return Action("click", target=target) if target else _no_target(call)
        case "fill" | "select" as kind:
            type_: ActionType = "type" if kind == "fill" else "select"
            if target is None:
                return _no_target(call)
            if call.value is None:
                return f"{kind} needs a value"
            return Action(type_, target=target, value=_value(call.value, number, names))
        case "navigate":
            url = (call.value or "").strip()
            return Action("navigate", url=url) if url else "navigate needs the URL as its value"
        case "scroll":
            return Action("scroll", target=target) if target else _scrolled(call.value)
        case "wait":
            return Action("wait_for", target=target) if target else _waited(call.value)


def _no_target(call: _ProposalCall) -> str:
    given = call.target
    if (given.aria_role is None) != (given.aria_name is None):
        lacks = "aria_name" if given.aria_name is None else "aria_role"
        return f"target lacks {lacks}: role and name go together"
    return f"{call.action_type} needs a target: css, aria_role and aria_name, text or coordinates"


def _scrolled(value: str | None) -> Action | str:
    match (value or "").strip().lower():
        case ("up" | "down" | "top" | "bottom") as direction:
            return Action("scroll", direction=direction, amount=DEFAULT_SCROLL)
        case _:
            return "scroll needs a target, or up, down, top or bottom as its value"


def _waited(value: str | None) -> Action | str:
    found = _WAIT.fullmatch(value or "")
    if found is None:
        return "wait needs a target, or milliseconds as its value"
    return Action("wait", ms=min(int(found[1]), MAX_WAIT_MS))


def _value(value: str, number: int, names: BoundNames) -> Value:
    found = _NAMED.fullmatch(value)
    if found and found[1] in names.secrets:
        return Secret(found[1])
    if found and found[1] in names.values:
        return Parameter(found[1])
    return Typed(number)


def _found_by(call: _ProposalCall) -> Target | None:
    """Each target's own locators in A3's order; those of the fallbacks behind them."""
    locators: dict[Strategy, None] = {}
    for given in (call.target, *call.fallback_targets):
        locators.update(dict.fromkeys(_locators(given)))
    return Target(tuple(locators)) if locators else None


def _locators(given: _Target) -> Iterator[Strategy]:
    if given.css and given.css.strip():
        yield ByCss(given.css)
    if given.aria_role and given.aria_name:
        yield ByRole(given.aria_role, given.aria_name)
    if given.text and given.text.strip():
        yield ByText(given.text)
    if given.coordinates is not None:
        yield ByPoint(*given.coordinates)
