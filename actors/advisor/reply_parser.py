"""The parser checks what a model's reply asks for and makes it fit for the log. Pure.

What it types never leaves here inside an event: it goes beside it, under a number.
"""

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import msgspec

from rutter.actors.advisor.proposal import NAME, proposal_of
from rutter.actors.rules.tools.arguments import BoundNames, LoggedCall, order
from rutter.actors.rules.tools.tool_table import TOOLS
from rutter.actors.world.models.messages import ModelCall, Reply
from rutter.events.advisor import Proposal, WantedCall

MAX_CALLS = 20  # of one reply: the first is taken, the others are only told of


class ParsedReply(NamedTuple):
    """A reply asks for this. `typed` are the texts that it types, in the order of their numbers;
    `recorded` are its calls as the record may hold them: without those."""

    calls: tuple[WantedCall, ...] = ()
    proposal: Proposal | None = None
    invalid: str = ""
    typed: tuple[str, ...] = ()
    recorded: tuple[ModelCall, ...] = ()


def calls_of(
    reply: Reply, request: str, *, number: int, names: BoundNames, allowed: Collection[str]
) -> ParsedReply:
    """Every call of a turn. `number` is what the first text that it types is called in the log."""
    asked: list[WantedCall] = []
    recorded: list[ModelCall] = []
    typed: list[str] = []
    for place, call in enumerate(reply.calls[:MAX_CALLS]):
        wanted = _order(call, number + len(typed), names, allowed)
        asked.append(
            WantedCall(f"{request}.{place}", wanted.tool, wanted.arguments, wanted.invalid)
        )
        recorded.append(
            ModelCall(call.id, wanted.tool, _recorded(call, wanted, number + len(typed)))
        )
        if wanted.typed is not None:
            typed.append(wanted.typed)
    return ParsedReply(
        tuple(asked), invalid=_silent(reply), typed=tuple(typed), recorded=tuple(recorded)
    )


def proposal_in(reply: Reply, *, number: int, names: BoundNames) -> ParsedReply:
    """The one action that was asked for; `invalid` says why there is none."""
    if not reply.calls:
        return ParsedReply(invalid=_silent(reply) or f"it did not call {NAME}")
    first = reply.calls[0]
    if first.tool != NAME:
        return ParsedReply(invalid=f"it called something else than {NAME}")
    made = proposal_of(first.arguments, number=number, names=names)
    typed = (made.typed,) if made.typed is not None else ()
    return ParsedReply(proposal=made.proposal, invalid=made.invalid, typed=typed)


def _silent(reply: Reply) -> str:
    if reply.ending == "refused":
        return "it refused"
    cut = reply.ending == "cut" and not reply.calls
    return "it was cut off before it called anything" if cut else ""


def _order(call: ModelCall, number: int, names: BoundNames, allowed: Collection[str]) -> LoggedCall:
    given = object_in(call.arguments)
    if given is None:
        wanted = order(call.tool, {}, number=number, names=names)
        return LoggedCall(wanted.tool, "{}", "the arguments are not a JSON object, or were cut off")
    wanted = order(call.tool, given, number=number, names=names)
    if call.tool in allowed or call.tool not in TOOLS:
        return wanted
    return LoggedCall(wanted.tool, "{}", f"{call.tool} is not allowed here")


def _recorded(call: ModelCall, wanted: LoggedCall, number: int) -> str:
    """The arguments without a text that is typed; of those that do not fit, what is harmless."""
    given = object_in(call.arguments)
    if given is None or wanted.invalid:
        return wanted.arguments
    if wanted.typed is not None:
        given = {**given, "value": f"<typed {number}>"}
    return msgspec.json.encode(given).decode()


def object_in(arguments: str) -> dict[str, Any] | None:
    try:
        return msgspec.json.decode(arguments, type=dict[str, Any])
    except (msgspec.DecodeError, ValueError, RecursionError):
        return None


def numbered(typed: Sequence[str]) -> list[tuple[str, str]]:
    """What was typed in the session, each text under what the record calls it."""
    return [(f"typed {number}", text) for number, text in enumerate(typed)]
