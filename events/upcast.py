"""Reading lifts old events into today's shape; the log is never rewritten.

A tag names one shape, for ever: that is the schema version, and it needs no field of its own. A new
field with a default is the same shape. Any other change (a field renamed, split, of another type)
is a new type with a new tag; the old tag retires to the table below, beside the function that turns
one shape into the next. So a payload of a newer program is an unknown tag, told as `EventUnknown`,
and is never misread; and reading what is not retired costs nothing.

The stored bytes stay as they are: the chain is over them. Only what is read is lifted, here.

Logs of before say in sentences alone what has a type today. They are read here and nowhere else, by
closed tables; what those do not know is `other`, and its text is kept.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, cast, get_args

import msgspec

from rutter.events.causes import CHECKS, Cause, CauseKind, PlanSource, VerdictCode
from rutter.events.critic import ActionJudged, CompletionChecked
from rutter.events.errors import LogCorrupt
from rutter.events.faults import faults
from rutter.events.jobs import JobEnded
from rutter.events.observer import RequestBlocked
from rutter.events.planner import PlanProposed, RunStopped
from rutter.events.run_settings import MILLION
from rutter.events.runtime import SessionEnded
from rutter.events.vocabulary import AnyEvent

Raw = dict[str, Any]


class Successor(NamedTuple):
    """A successor names the tag of the next shape, and turns this one's fields into its own."""

    tag: str
    lift: Callable[[Raw], Raw]


def _look_requested(raw: Raw) -> Raw:
    """`wait_ms` became `within_ms` (it is a limit, not a wait), and `why` got its full words."""
    words = {"place": "place_unmet", "effect": "effect_awaited", "end": "end_awaited"}
    return {"why": words[raw["why"]], "within_ms": raw["wait_ms"]}


# Retired tags. Entries are added, never removed or changed: logs that hold them are read for ever.
RETIRED: Mapping[str, Successor] = {
    # No release wrote this one: it is the pattern, and keeps the way of all that follow it open.
    "LookRequested": Successor("ObservationRequested", _look_requested),
}


def current_tag(tag: str) -> str:
    """What an event stored under `tag` is called today."""
    while tag in RETIRED:
        tag = RETIRED[tag].tag
    return tag


def stored_tags(tags: Iterable[str]) -> list[str]:
    """Every tag that events called `tags` today may be stored under."""
    wanted = set(tags)
    return [*wanted, *(old for old in RETIRED if current_tag(old) in wanted - {old})]


def upcast(raw: Raw) -> Raw:
    """The fields of an event in their current shape, step by step."""
    tag = str(raw["event"])
    while (successor := RETIRED.get(tag)) is not None:
        try:
            raw = successor.lift(raw)
        except (KeyError, TypeError, ValueError) as error:
            raise LogCorrupt(f"event {tag!r} does not fit its type: {error!r}") from error
        tag = successor.tag
    return {"event": tag, **{name: raw[name] for name in raw if name != "event"}}


# -- sentences of before ---------------------------------------------------------------------------

# How the reason of a step begins.
SOURCES: Mapping[str, PlanSource] = {
    "opening": "opening",
    "script_step_": "script",
    "workflow_step_": "workflow",
    "read_back_of_step_": "read_back",
    "whether_step_": "earlier_run",
    "way_": "service_script",
    "confidence_above_threshold_": "prediction",
    "confidence_to_suggest_": "suggestion",
    "advice_": "advice",
    "tool_": "tool",
    "done by a person": "person",
}
# What the reason of a verdict is, where it is more than a word.
VERDICTS: Mapping[str, VerdictCode] = {
    r"answered_with_\d+": "answered_with",
    r"text_read": "observed",
    r"page_state: it says that it failed": "says_failed",
    r"page_state \w+: it is .*": "page_state",
    r"read_back: .*": "read_back",
}
CHECKED = re.compile(r"(?:\w+: ){0,2}([a-z_]+) ['\"]")


class EndSentence(NamedTuple):
    """A detail of an end begins so, of which reason or failure; its groups are fields of the
    cause."""

    kind: CauseKind
    of: str
    says: str


UNVERIFIED = "completed_unverified"
ENDS = (
    EndSentence("dry_run", UNVERIFIED, "dry run: (?P<why>.*)"),
    EndSentence("unproven", UNVERIFIED, "nothing shows that the application has what"),
    EndSentence("unsent", UNVERIFIED, "the page has not sent what it sent when"),
    EndSentence("unanswered", UNVERIFIED, "something that was sent has no answer yet"),
    EndSentence("no_criteria", UNVERIFIED, "no criteria "),
    EndSentence("no_sign", UNVERIFIED, "none of "),
    EndSentence("done_before", "completed", "step .* was done by "),
    EndSentence("person_done", "completed", r"the person was done \((?P<by>\w+)\)$"),
    EndSentence("requested", "cancelled", "stopped by (?P<by>.*?)(?:: |$)"),
    EndSentence(
        "login_expired",
        "needs_person",
        r"the login for (?P<origin>https?://\S+) has expired(?::|$)",
    ),
    EndSentence("signed_out", "needs_person", ".*asks to sign in"),
    EndSentence("unrecorded", "", ".*which is in none of the recordings"),
    EndSentence("no_predictions", "lost", "no_predictions_available$"),
    EndSentence("unsure", "lost", r"confidence_too_low_(?P<share>[\d.]+)$"),
    EndSentence("value_unknown", "lost", "value_unknown_"),
    EndSentence("no_model", "lost", "no model may be asked"),
)
_STEP = re.compile(r"step (\d+)")
_MET = re.compile(r"(?:\w+: )?([a-z_]+)(?:[:,]|$)")
_NOWHERE = re.compile(r" resolves to (?:0\.0\.0\.0|::),")
_CODES = frozenset(code for words in get_args(VerdictCode) for code in get_args(words))
TAGGED = frozenset(
    {
        PlanProposed,
        ActionJudged,
        RunStopped,
        SessionEnded,
        JobEnded,
        CompletionChecked,
        RequestBlocked,
    }
)


def with_causes(event: AnyEvent) -> AnyEvent:
    """The event with its tags, where it was written before there were any."""
    change = msgspec.structs.replace
    match event:
        case PlanProposed(source="", reason=reason):
            known = (SOURCES[each] for each in SOURCES if reason.startswith(each))
            return change(event, source=next(known, "other"))
        case ActionJudged(code="", reason=reason):
            return change(event, code=_code(reason))
        case RunStopped(cause=None) | SessionEnded(cause=None) | JobEnded(cause=None):
            return change(event, cause=_cause((event.reason, event.failure), event.detail))
        case CompletionChecked(cause=None, verified=verified, reason=reason):
            return change(event, cause=_cause(() if verified else (UNVERIFIED,), reason))
        case RequestBlocked(rule="private_address", reason=reason) if _NOWHERE.search(reason):
            return change(event, rule="unspecified_address")
        case _:
            return event


def _code(reason: str) -> VerdictCode:
    found = _check(reason) or reason
    if found in _CODES:
        return cast(VerdictCode, found)
    known = (VERDICTS[each] for each in VERDICTS if re.fullmatch(each, reason, re.DOTALL))
    return next(known, "other")


def _check(text: str) -> str:
    """The check that a text names first: `failed: alert 'Sent': it is not there`."""
    found = CHECKED.match(text)
    return found[1] if found is not None and found[1] in CHECKS else ""


def _cause(ends: tuple[str, ...], detail: str) -> Cause:
    """What an end came from. Whatever it was, it may name a step, and what that met."""
    step, met = _STEP.search(detail), _MET.match(detail)
    code = _check(detail) or (met[1] if met is not None and met[1] in faults().codes else "")
    told: dict[str, Any] = {"code": code, "index": int(step[1]) - 1 if step is not None else -1}
    for each in ENDS:
        found = re.match(each.says, detail, re.DOTALL) if each.of in ("", *ends) else None
        if found is not None:
            told |= {"kind": each.kind, **found.groupdict()}
            break
    if "share" in told:
        told["share"] = round(float(told["share"]) * MILLION)
    return Cause(**told)
