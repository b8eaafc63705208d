"""The mapping turns events into spans: names, kinds and attributes, under one version.

`rutter.*` says what the log says. Beside it stand the GenAI conventions for model calls and tools,
and OpenInference's kinds, by which Phoenix draws them. Page text and messages go out bounded, URLs
without their query; parameter values and secrets do not go out at all. The table of the
events is `mapping.toml`: change a row and count `MAPPING` up, which is in every export, so that
whoever reads spans knows by which table.
"""

from collections.abc import Callable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Final, NamedTuple

import msgspec

import rutter.replay.traces.event_attributes as event_attributes
from rutter.events import planner, runtime
from rutter.events.action import Action, Kind
from rutter.events.critic import ActionJudged, OutcomeUnknown
from rutter.events.event import Event
from rutter.events.executor import QueryAnswered, QueryFailed
from rutter.events.validator import ActionRejected, ActionWithheld
from rutter.replay.traces.attributes import FieldsTaken
from rutter.replay.traces.outgoing_text import said
from rutter.replay.traces.span import Attributes

MAPPING: Final = "5"

RESOURCE: Final[Attributes] = {
    "service.name": "rutter",
    "openinference.project.name": "rutter",
    "rutter.mapping": MAPPING,
}
SCOPE: Final = "rutter.replay.traces"

# By the name of a span: its kind in OpenInference.
KINDS: Final[Mapping[str, str]] = {
    "run": "AGENT",
    "step": "CHAIN",
    "observe": "RETRIEVER",
    "predict": "CHAIN",
    "learn": "CHAIN",
    "plan": "CHAIN",
    "validate": "GUARDRAIL",
    "ask person": "GUARDRAIL",
    "resolve": "RETRIEVER",
    "act": "TOOL",
    "judge": "EVALUATOR",
    "chat": "LLM",
    "runtime": "CHAIN",
}
# What an actor's work is called where the event alone does not tell.
WORK_OF: Final[Mapping[str, str]] = {
    "observer": "observe",
    "predictor": "predict",
    "planner": "plan",
    "validator": "validate",
    "executor": "act",
    "critic": "judge",
    "person": "ask person",
    "advisor": "chat",
}
# What says what a step came to, and in which word where that is no verdict.
StepEnd = (
    ActionJudged | ActionRejected | ActionWithheld | OutcomeUnknown | QueryAnswered | QueryFailed
)
ENDED_AS: Final[Mapping[type[Event], str]] = {
    ActionRejected: "rejected",
    ActionWithheld: "withheld",
    OutcomeUnknown: "unknown",
    QueryAnswered: "answered",
    QueryFailed: "failed",
}
# Counted over a run, and told on its span.
TOTALS: Final = (
    "rutter.event_count",
    "rutter.steps",
    "rutter.steps.confirmed",
    "rutter.steps.answered",
    "rutter.model_calls",
    "rutter.model_calls.failed",
    "rutter.model_calls.unpriced",
    "rutter.tokens.input",
    "rutter.tokens.output",
    "rutter.tokens.cached",
    "rutter.cost_microdollars",
)


# -- the table -------------------------------------------------------------------------------------

_ASKED = FieldsTaken(
    maybe="gen_ai.provider.name=provider llm.provider=provider gen_ai.request.model=model "
    "llm.model_name=model"
)
BY_ACTOR: Final = "?"  # named after whose work it is, see `WORK_OF`


class SpanRule(NamedTuple):
    """A rule names the span that an event is part of (none: a moment in the one around it), and
    says what the event adds."""

    span: str
    adds: Callable[[Any], Attributes]


MOMENT: Final = SpanRule("", FieldsTaken())  # an event newer than the table still shows, by name


class _Row(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A row of mapping.toml, whose head says what each field is for."""

    span: str = ""
    adds: str = ""
    takes: str = ""
    text: str = ""
    maybe: str = ""
    shares: str = ""
    counts: str = ""
    error: str = ""

    def rule(self) -> SpanRule:
        taken = FieldsTaken(
            self.takes,
            text=self.text,
            maybe=self.maybe,
            shares=self.shares,
            counts=self.counts,
            error=self.error,
        )
        if not self.adds:
            return SpanRule(self.span, taken)
        more = getattr(event_attributes, self.adds)
        return SpanRule(self.span, lambda event: taken(event) | more(event))


@cache
def span_rules() -> Mapping[str, SpanRule]:
    """The rule of each event, by its name. Only who makes spans reads the file."""
    text = (files(__package__) / "mapping.toml").read_bytes()
    rows = msgspec.toml.decode(text, type=dict[str, _Row])
    return {name: row.rule() for name, row in rows.items()}


def rule_of(event: Event) -> SpanRule:
    return span_rules().get(type(event).__name__, MOMENT)


# -- what a span knows from more than one event ----------------------------------------------------


def run_attributes(
    session: str, started: runtime.SessionStarted, ended: runtime.SessionEnded | None
) -> Attributes:
    """How a run began and how it ended, unless that was erased."""
    found: Attributes = {
        "openinference.span.kind": KINDS["run"],
        "session.id": session,
        "rutter.session": session,
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "rutter",
        **rule_of(started).adds(started),
    }
    if started.workflow is not None:
        found["rutter.workflow.version"] = started.workflow.version
        found["rutter.workflow.steps"] = len(started.workflow.steps)
    if started.values:
        found["rutter.parameters"] = tuple(sorted(started.values))
    wanted = started.goal or started.url or started.name
    if wanted:
        found["input.value"] = said(wanted)
    return found if ended is None else found | rule_of(ended).adds(ended)


def step_attributes(
    number: int, driver: str, kind: Kind, action: Action, words: str, url: str
) -> Attributes:
    """What a step is known by when it opens; verdict and attempts follow."""
    return {
        "openinference.span.kind": KINDS["step"],
        "rutter.step": number,
        "rutter.driver": driver,
        "rutter.kind": kind,
        "rutter.action": action.type,
        "rutter.page.url": url,
        "input.value": words,
    }


def verdict_of(end: StepEnd) -> str:
    """What a step is told to have come to, in one word."""
    return end.verdict if isinstance(end, ActionJudged) else ENDED_AS[type(end)]


def request_attributes(event: planner.AdviceRequested) -> Attributes:
    """What was asked of a model, on the span of the call itself."""
    return {"gen_ai.operation.name": "chat", **rule_of(event).adds(event), **_ASKED(event)}
