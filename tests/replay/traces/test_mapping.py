"""The table: it knows every event, says what it says in the docs, and lets no secret out."""

import re
from pathlib import Path
from typing import get_args

from rutter.events.action import Action, Secret, Untrusted
from rutter.events.event import Event
from rutter.events.executor import ActionDone
from rutter.events.observer import PageObserved
from rutter.events.page import Artifact, Page, PageElement
from rutter.events.person import QuestionPictured
from rutter.events.vocabulary import AnyEvent
from rutter.replay.traces import SpanFold, spans_of
from rutter.replay.traces.mapping import BY_ACTOR, KINDS, MAPPING, RESOURCE, WORK_OF, span_rules
from tests.support import golden_logs, step_kinds
from tests.support.case_table import for_each
from tests.support.otlp_forms import sent_bytes
from tests.support.shop_facts import css
from tests.support.trail_sessions import (
    act,
    advised,
    approve,
    begin,
    end,
    judge,
    propose,
    resolve,
    under_way,
)
from tests.support.trails import Trail, Tree

DOCS = Path(__file__).parents[3] / "docs" / "traces.md"
# What OpenInference knows; Phoenix draws nothing else.
OPENINFERENCE = {"AGENT", "CHAIN", "TOOL", "LLM", "RETRIEVER", "GUARDRAIL", "EVALUATOR"}


class TideTurned(Event, frozen=True, tag="TideTurned"):
    """An event that no table knows yet."""

    metres: int


def test_every_event_has_its_row() -> None:
    assert set(span_rules()) == {each.__name__ for each in get_args(AnyEvent)}


def test_every_span_has_a_kind_that_phoenix_draws() -> None:
    named = {row.span for row in span_rules().values()} - {"", BY_ACTOR}
    assert named | set(WORK_OF.values()) <= set(KINDS)
    assert set(KINDS.values()) == OPENINFERENCE


def test_the_version_of_the_table_is_in_every_export() -> None:
    assert RESOURCE["rutter.mapping"] == MAPPING


def test_an_event_that_the_table_does_not_know_still_shows() -> None:
    trail = under_way()
    trail.tell("observer", TideTurned(3))  # type: ignore[arg-type]
    end(trail)
    assert [event.name for event in Tree(trail.events).run.events] == ["TideTurned"]


@for_each("picture, shown", [(None, None), (Artifact("f00d", 9), "f00d")])
def test_a_question_names_its_picture_where_it_has_one(
    picture: Artifact | None, shown: str | None
) -> None:
    trail = under_way()
    trail.tell("person", QuestionPictured("a1", picture))
    end(trail)
    [moment] = Tree(trail.events).run.events
    assert moment.attributes.get("rutter.artifact") == shown
    assert moment.attributes["rutter.approval"] == "a1"


def test_the_docs_name_every_attribute() -> None:
    told = set(re.findall(r"`([a-z_]+(?:\.[a-z_]+)+)`", DOCS.read_text("utf-8")))
    made: set[str] = set(RESOURCE)
    logs = [golden_logs.envelopes(name) for name in (*golden_logs.names(), *golden_logs.older())]
    for events in (*logs, advised().events, every_kind().events):
        for span in spans_of(events):
            made |= set(span.attributes)
            made |= {key for event in span.events for key in event.attributes}
    assert made - told == set()


def every_kind() -> Trail:
    """A session with a step of each kind, all that they say told."""
    trail = under_way()
    for told in (
        step_kinds.read_back(1),
        step_kinds.read(3),
        step_kinds.waited_in_vain(4),
        step_kinds.checked(5),
    ):
        trail.tell("critic", *told)
    trail.tell("executor", *step_kinds.file_read("policy_denied"))
    end(trail)
    return trail


def test_the_docs_say_by_which_version_of_the_table() -> None:
    assert f"(mapping version {MAPPING})" in DOCS.read_text("utf-8")


# -- what must not leave ---------------------------------------------------------------------------


def test_page_text_goes_out_bounded() -> None:
    trail = under_way(propose, resolve, approve)
    trail.tell("executor", ActionDone(1, 1, 5, extracted=Untrusted("e" * 5_000)))
    long = Page("https://shop.example/" + "p" * 5_000, Untrusted("t" * 5_000))
    trail.tell("observer", PageObserved(long, "after_action"))
    judge(trail)
    end(trail, detail="d" * 5_000)
    for span in Tree(trail.events).spans:
        longest = max(len(value) for value in span.attributes.values() if isinstance(value, str))
        assert longest <= 200
        assert len(span.message) <= 200


def test_what_is_on_a_page_stays_in_the_log() -> None:
    trail = under_way()
    shown = PageElement("textbox", Untrusted("IBAN"), value=Untrusted("NL91ABNA0417164300"))
    page = Page("https://shop.example/?session=s3cret", elements=(shown,))
    trail.tell("observer", PageObserved(page, "requested"))
    end(trail)
    sent = sent_bytes(Tree(trail.events).spans)
    for hidden in (b"NL91ABNA0417164300", b"s3cret", b"IBAN"):
        assert hidden not in sent


def test_values_and_secrets_go_out_by_name_alone() -> None:
    trail = Trail()
    typed = Action("type", target=css("#pin"), value=Secret("password"))
    begin(trail)
    propose(trail, action=typed)
    resolve(trail)
    approve(trail)
    act(trail)
    judge(trail)
    end(trail)
    tree = Tree(trail.events)
    assert tree.run.attributes["rutter.parameters"] == ("customer",)
    assert tree.steps()[0].attributes["input.value"] == "type <secret password> into #pin"
    assert b"Aurora Shipping" not in sent_bytes(tree.spans)


def test_no_secret_of_a_real_run_is_in_its_trace() -> None:
    for name in golden_logs.names():
        fold = SpanFold()
        for told in golden_logs.envelopes(name):
            assert b"bowline-7" not in sent_bytes(fold.take(told))
