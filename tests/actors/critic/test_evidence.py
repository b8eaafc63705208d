"""Evidence describes: the whole table of S2 4.2, and the proof that nothing follows from it."""

from collections.abc import Callable, Sequence
from functools import cache
from itertools import cycle
from typing import Any, NamedTuple

import anyio
import msgspec
from hypothesis import given
from hypothesis import strategies as st

from rutter.actors.critic.evidence import Primary, Vision, confidence, evidence_of, vision_evidence
from rutter.actors.decider import DecidingActor
from rutter.actors.planner.actor import Planner
from rutter.actors.planner.state import PlannerState
from rutter.actors.topology import row
from rutter.actors.vision import ScriptedVision, VisionSaid
from rutter.events.action import Untrusted
from rutter.events.advisor import VisionGiven
from rutter.events.critic import ActionJudged, CompletionChecked, Evidence, Source
from rutter.events.envelope import Envelope
from rutter.events.memory_log import MemoryLog
from rutter.events.planner import RunStopped
from rutter.events.vocabulary import AnyEvent
from rutter.replay.verify import fresh_deciders
from tests.pipeline.test_vision import check_in_vain
from tests.support import golden_logs
from tests.support.any_values import from_struct
from tests.support.case_table import for_each
from tests.support.example_counts import examples

# -- the table -------------------------------------------------------------------------------------


@for_each(
    "primary, vision, millionths",
    [
        ("passed", None, 1_000_000),  # pure success
        ("passed", "VERIFIED", 1_000_000),  # a success needs no vision
        ("passed", "NOT_VERIFIED", 1_000_000),  # and vision takes nothing from it
        ("passed", "UNKNOWN", 1_000_000),  # whatever it says
        ("failed", "VERIFIED", 650_000),  # failed, vision verified
        ("failed", "UNKNOWN", 400_000),  # failed, vision unknown
        ("failed", "NOT_VERIFIED", 300_000),  # failed, vision not verified
        ("failed", None, 200_000),  # failed, no vision
        (None, "VERIFIED", 500_000),  # vision only, verified
        (None, "NOT_VERIFIED", 200_000),  # vision only, not verified
        (None, "UNKNOWN", 200_000),  # vision only, unknown
        (None, None, 0),  # no evidence
    ],
)
def test_confidence_is_that_of_the_table(
    primary: Primary | None, vision: Vision | None, millionths: int
) -> None:
    assert confidence(primary, vision) == millionths


@for_each(
    "source, passed, millionths",
    [
        ("DOM", True, 1_000_000),
        ("UIA", True, 1_000_000),
        ("FILE", True, 1_000_000),
        ("DOM", False, 200_000),
        ("UIA", False, 200_000),
        ("FILE", False, 200_000),
        ("VISION", True, 500_000),
        ("VISION", False, 200_000),
    ],
)
def test_a_source_has_the_confidence_that_it_has_alone(
    source: Source, passed: bool, millionths: int
) -> None:
    assert evidence_of(source, "Order saved", None, passed).confidence == millionths


@for_each(
    "said, millionths", [("VERIFIED", 500_000), ("NOT_VERIFIED", 200_000), ("UNKNOWN", 200_000)]
)
def test_what_vision_said_is_evidence_without_a_sample(said: Vision, millionths: int) -> None:
    found = vision_evidence(VisionGiven(1, 1, said, message="I see a list"), "Order saved" * 40)
    assert found == Evidence("VISION", ("Order saved" * 40)[:200], millionths)


@for_each("source", ["DOM", "UIA"])
def test_the_text_around_what_was_found_is_kept_to_200_characters(source: Source) -> None:
    found = evidence_of(source, "c" * 900, "s" * 900, True)
    assert (found.checked, found.sample) == ("c" * 200, Untrusted("s" * 200))
    assert evidence_of(source, "saved", Untrusted("is saved"), True).sample == Untrusted("is saved")


@for_each("source", ["FILE", "VISION"])
def test_nothing_that_a_file_holds_or_a_picture_shows_is_quoted(source: Source) -> None:
    assert evidence_of(source, "report.csv", "account 4711", True).sample is None


# -- nothing follows from it -----------------------------------------------------------------------


class Decided(NamedTuple):
    """What one decider said to one event, without its evidence."""

    seq: int
    actor: str
    said: tuple[AnyEvent, ...] | str


SAYINGS: tuple[Vision, ...] = ("VERIFIED", "NOT_VERIFIED", "UNKNOWN")
Given = tuple[tuple[Evidence, ...], int]
Deciders = Callable[[], list[DecidingActor[Any]]]


def with_evidence(event: AnyEvent, evidence: tuple[Evidence, ...], sure: int) -> AnyEvent:
    match event:
        case ActionJudged():
            return msgspec.structs.replace(event, evidence=evidence, confidence=sure)
        case CompletionChecked():
            return msgspec.structs.replace(event, evidence=evidence)
        case VisionGiven():  # advice is evidence too
            return msgspec.structs.replace(event, said=SAYINGS[sure % 3], message=str(sure))
        case _:
            return event


def decisions(log: Sequence[Envelope], made: Deciders = fresh_deciders) -> list[Decided]:
    """What fresh deciders say to these events. One that fails on them must fail alike."""
    deciders = {actor.name: actor for actor in made()}
    decided = []
    for envelope in log:
        for name in row(envelope.event).deciders:
            said: tuple[AnyEvent, ...] | str
            try:
                said = tuple(with_evidence(e, (), 0) for e in deciders[name].step(envelope))
            except Exception as error:  # noqa: BLE001 - this logic may not be the log's own
                said = repr(error)
            decided.append(Decided(envelope.seq, name, said))
    return decided


async def advised() -> list[Envelope]:
    """A session in which vision was asked."""
    log = MemoryLog()
    await check_in_vain(log, ScriptedVision(VisionSaid("VERIFIED")))
    return [envelope async for envelope in log.read()]


@cache
def judged_sessions() -> list[tuple[Envelope, ...]]:
    """Every session of the golden logs in which anything was judged, and the one with vision."""
    newest = [
        name for name in (*golden_logs.names(), *golden_logs.older()) if not name.startswith("1/")
    ]
    sessions: dict[tuple[str, str], list[Envelope]] = {}
    for name in newest:
        for envelope in golden_logs.envelopes(name):
            sessions.setdefault((name, envelope.session), []).append(envelope)
    everything = [*sessions.values(), anyio.run(advised)]
    return [tuple(log) for log in everything if any(_judges(each) for each in log)]


@cache
def decisions_of(index: int) -> list[Decided]:
    return decisions(judged_sessions()[index])


def _judges(envelope: Envelope) -> bool:
    return isinstance(envelope.event, ActionJudged | CompletionChecked)


def changed(log: Sequence[Envelope], others: Sequence[Given]) -> list[Envelope]:
    """The same log, with other evidence of everything that was judged."""
    pool = cycle(others)
    return [
        msgspec.structs.replace(each, event=with_evidence(each.event, *next(pool))) for each in log
    ]


EVIDENCE = st.tuples(
    st.lists(from_struct(Evidence), max_size=2).map(tuple), st.integers(-1_000_000, 2_000_000)
)


@examples(20)
@given(data=st.data(), others=st.lists(EVIDENCE, min_size=1, max_size=7))
def test_whatever_the_evidence_says_the_same_is_decided(
    data: st.DataObject, others: list[Given]
) -> None:
    index = data.draw(st.integers(0, len(judged_sessions()) - 1))
    assert decisions(changed(judged_sessions()[index], others)) == decisions_of(index)


class Credulous(Planner):
    """Stops when the evidence is weak: what must not be."""

    def decide(self, state: PlannerState, envelope: Envelope) -> Any:
        if isinstance(envelope.event, ActionJudged) and envelope.event.confidence < 500_000:
            return (RunStopped("failed", detail="the evidence is weak"),)
        return super().decide(state, envelope)


def test_a_decider_that_read_the_evidence_would_be_found() -> None:
    def credulous() -> list[DecidingActor[Any]]:
        return [each for each in fresh_deciders() if each.name != "planner"] + [
            DecidingActor(Credulous())
        ]

    log = judged_sessions()[0]
    weak = changed(log, [((), 0)])
    assert decisions(weak, credulous) != decisions(changed(log, [((), 900_000)]), credulous)
