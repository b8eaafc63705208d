"""An event's attributes say on a span what the names of its fields alone do not say.

They are part of the mapping: whoever changes one counts its version up.
"""

from collections.abc import Mapping
from typing import Final

from rutter.events import advisor, critic, executor, observer, person, planner, predictor
from rutter.events.action import Action
from rutter.events.run_settings import MILLION
from rutter.replay.story.cost import is_call
from rutter.replay.story.evidence_weight import deciding, overall
from rutter.replay.story.wording import advice_in_words, in_words
from rutter.replay.traces.attributes import FieldsTaken
from rutter.replay.traces.outgoing_text import said
from rutter.replay.traces.span import Attributes

# How an answer ended, in the words of the GenAI conventions.
FINISHED: Final[Mapping[str, str]] = {
    "called": "tool_call",
    "said": "stop",
    "cut": "length",
    "refused": "content_filter",
}

_USAGE = FieldsTaken(
    "gen_ai.usage.input_tokens=usage.input gen_ai.usage.output_tokens=usage.output "
    "gen_ai.usage.cache_read.input_tokens=usage.cached "
    "gen_ai.usage.cache_creation.input_tokens=usage.kept "
    "llm.token_count.prompt=usage.input llm.token_count.completion=usage.output "
    "llm.token_count.prompt_details.cache_read=usage.cached "
    "llm.token_count.prompt_details.cache_write=usage.kept "
    "rutter.advice.priced=priced"
)
_SEEN = FieldsTaken(maybe="gen_ai.response.model=model")
_PROPOSAL = FieldsTaken(
    "rutter.action=action.type rutter.state=state rutter.advice.instead=instead",
    maybe="rutter.state.expected=leads_to",
    shares="certainty",
)


def words_of(action: Action) -> str:
    return said(in_words(action))


def tool_attributes(action: Action, words: str) -> Attributes:
    """An act is a tool call, whoever asked for it."""
    return {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": action.type,
        "tool.name": action.type,
        "input.value": words,
    }


def prediction_made(event: predictor.PredictionMade) -> Attributes:
    found: Attributes = {}
    if event.candidates:
        top = event.candidates[0]
        found["rutter.probability"] = top.probability / MILLION
        found["rutter.source"] = top.source
        found["output.value"] = said(top.token)
    if event.within:
        found["rutter.workflow"] = event.within[0].workflow
        found["rutter.workflow.step"] = event.within[0].step
    return found


def download_finished(event: observer.DownloadFinished) -> Attributes:
    return {} if event.artifact is None else {"rutter.artifact": event.artifact.sha256}


def target_resolved(event: executor.TargetResolved) -> Attributes:
    return {"rutter.found_by": event.tries[-1].strategy} if event.tries else {}


def action_done(event: executor.ActionDone) -> Attributes:
    return {} if event.extracted is None else {"output.value": said(event.extracted.text)}


def query_answered(event: executor.QueryAnswered) -> Attributes:
    found: Attributes = {} if event.text is None else {"output.value": said(event.text.text)}
    return found if event.render_mode == "dom" else {**found, "rutter.render_mode": "ghost"}


def hosts_contacted(event: observer.HostsContacted) -> Attributes:
    return {"rutter.hosts": len(event.contacts) + event.others}


def read_back_due(event: critic.ReadBackDue) -> Attributes:
    """Where it is looked: an address that is not whole loses its query all the same."""
    address = event.read_back.url.partition("?")[0].partition("#")[0]
    return {"rutter.read_back.url": said(address)}


def action_judged(event: critic.ActionJudged) -> Attributes:
    found: Attributes = {}
    if event.evidence:
        found["rutter.evidence.sources"] = tuple(each.source for each in event.evidence)
        found["rutter.confidence"] = overall(event) / MILLION
    decided = deciding(event.evidence)
    if decided is not None:
        found["rutter.evidence"] = said(decided.checked)
    return found


def approval_answered(event: person.ApprovalAnswered) -> Attributes:
    return {"output.value": said(event.message) or ("yes" if event.approved else "no")}


def question_pictured(event: person.QuestionPictured) -> Attributes:
    return {} if event.artifact is None else {"rutter.artifact": event.artifact.sha256}


def advice_requested(event: planner.AdviceRequested) -> Attributes:
    numbers = (
        ("rutter.step", event.step, 0),
        ("rutter.index", event.index, -1),
        ("rutter.advice.correction", event.correction, 0),
    )
    return {key: value for key, value, none in numbers if value != none}


def advice_prepared(event: advisor.AdvicePrepared) -> Attributes:
    """What was asked, by its hash alone: prompts stay in the log."""
    found: Attributes = {}
    if event.prompt is not None:
        found["rutter.advice.prompt"] = event.prompt.sha256
    if event.missing:
        found["rutter.advice.missing"] = tuple(map(said, event.missing))
    return found


def advice_received(event: advisor.AdviceReceived) -> Attributes:
    found: Attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.response.finish_reasons": (FINISHED[event.ending],),
        "output.value": said(event.text.text or advice_in_words(event)),
        **_spent(event),
    }
    if event.invalid:
        found["error.type"] = "invalid"
    return found | _called(event.calls) | _proposed(event.proposal)


def vision_given(event: advisor.VisionGiven) -> Attributes:
    if not is_call(event):
        return {}
    found: Attributes = {"gen_ai.operation.name": "chat", "rutter.advice.purpose": "vision"}
    return found if event.error is not None else {**found, **_SEEN(event), **_spent(event)}


def _spent(event: advisor.AdviceReceived | advisor.VisionGiven) -> Attributes:
    found: Attributes = {
        **_USAGE(event),
        "llm.token_count.total": event.usage.input + event.usage.output,
    }
    if event.priced:
        found["rutter.cost_microdollars"] = event.cost_microdollars
        found["llm.cost.total"] = event.cost_microdollars / MILLION
    return found


def _called(calls: tuple[advisor.WantedCall, ...]) -> Attributes:
    """All that it wants used; the first alone is."""
    if not calls:
        return {}
    found: Attributes = {
        "gen_ai.tool.call.id": said(calls[0].call),
        "rutter.advice.tool": said(calls[0].tool),
        "rutter.advice.tools": tuple(said(call.tool) for call in calls),
        "rutter.advice.ignored": len(calls) - 1,
    }
    if calls[0].invalid:
        found["rutter.advice.invalid"] = said(calls[0].invalid)
    return found


def _proposed(proposal: advisor.Proposal | None) -> Attributes:
    return {} if proposal is None else _PROPOSAL(proposal)


def person_acted(event: executor.PersonActed) -> Attributes:
    return {"rutter.driver": "person", **tool_attributes(event.action, words_of(event.action))}
