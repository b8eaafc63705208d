"""The table of who hears what: complete, and true to what the actors really look at."""

import ast
import importlib
from pathlib import Path
from types import ModuleType
from typing import get_args

from rutter.actors.topology import DECIDERS, EFFECTORS, HEARD, Hearers, row
from rutter.events.critic import FilesRequested, PageAssessed
from rutter.events.envelope import Actor, kind
from rutter.events.event import Event
from rutter.events.executor import ActionDone, ActionFailed, QueryAnswered, QueryFailed
from rutter.events.observer import ScreenshotTaken
from rutter.events.person import ApprovalAnswered
from rutter.events.planner import (
    LookalikesRequested,
    ObservationRequested,
    PersonAwaited,
    RunStopped,
)
from rutter.events.runtime import SessionPaused, SessionResumed, SessionStarted
from rutter.events.tools import ToolAnswered, ToolCalled
from rutter.events.validator import ActionStarted, ApprovalRequested, PlanAdmitted, QueryStarted
from rutter.events.vocabulary import AnyEvent
from tests.support.case_table import for_each

# Facts of the world that nobody decides on yet; they are in the log for people.
UNHEARD = {
    *("ProcessStarted", "ProcessStopped", "LogSealed", "PayloadErased", "PayloadGone"),
    *(
        "ArtifactsExpired",
        "BarDisturbed",
        "QuestionPictured",
        "ScreenshotTaken",
        "DialogOpened",
        "PopupOpened",
        "RequestBlocked",
    ),
    *("HostsContacted", "LoginKept", "LoginNotKept", "JobQueued", "JobStarted", "JobEnded"),
    *("ScheduleSet", "ScheduleDropped", "HookSet", "HookDropped"),
}
MODULES: dict[Actor, tuple[str, ...]] = {
    "critic": ("rutter.actors.critic.actor",),
    "planner": (
        "rutter.actors.planner.actor",
        "rutter.actors.planner.run",
        "rutter.actors.planner.tool_led",
        "rutter.actors.planner.tool_progress",
        "rutter.actors.rules.steps.pause",
    ),
    "validator": ("rutter.actors.validator.actor", "rutter.actors.rules.steps.pause"),
    "predictor": (
        "rutter.actors.predictor.actor",
        "rutter.actors.predictor.knowledge",
        "rutter.actors.rules.steps.pause",
    ),
}


def matched_in(module: ModuleType) -> set[type[Event]]:
    """The events that this module matches on."""
    assert module.__file__ is not None
    tree = ast.parse(Path(module.__file__).read_text())
    classes = [node.cls for node in ast.walk(tree) if isinstance(node, ast.MatchClass)]
    named = [getattr(module, node.id) for node in classes if isinstance(node, ast.Name)]
    return {each for each in named if isinstance(each, type) and issubclass(each, Event)}


def test_every_event_is_in_the_table_or_known_to_be_heard_by_nobody() -> None:
    in_table = {kind(event) for event in HEARD}
    assert in_table | UNHEARD == {kind(event) for event in get_args(AnyEvent)}
    assert in_table & UNHEARD == set()


@for_each("decider", DECIDERS)
def test_what_a_decider_matches_on_it_hears(decider: Actor) -> None:
    matched = set[type[Event]]()
    for name in MODULES[decider]:
        matched |= matched_in(importlib.import_module(name))
    deaf = {kind(event) for event in matched if decider not in row(event).deciders}
    assert deaf == set()


@for_each("name", ["observer", "executor", "timer"])
def test_what_an_effector_matches_on_it_hears(name: str) -> None:
    module = importlib.import_module(f"rutter.actors.{name}.actor")
    actor = "clock" if name == "timer" else name
    deaf = {
        kind(event)
        for event in matched_in(module)
        if actor not in (*row(event).at_once, *row(event).when_durable)
    }
    assert deaf == set()


@for_each("event", list(HEARD))
def test_deciders_decide_and_effectors_act(event: type[Event]) -> None:
    heard = row(event)
    assert set(heard.deciders) <= set(DECIDERS)
    assert {*heard.at_once, *heard.when_durable} <= set(EFFECTORS)
    assert not set(heard.at_once) & set(heard.when_durable)


def test_nothing_touches_the_page_before_its_intent_is_on_disk() -> None:
    assert row(ActionStarted).at_once == ()
    assert "executor" in row(ActionStarted).when_durable
    assert row(ApprovalRequested).at_once == ()
    assert "person" in row(ApprovalRequested).when_durable


def test_only_reading_and_stopping_a_clock_need_not_wait_for_the_disk() -> None:
    at_once = {event: row(event).at_once for event in HEARD if row(event).at_once}
    assert at_once == {
        ObservationRequested: ("observer",),
        PersonAwaited: ("observer", "clock"),
        LookalikesRequested: ("executor",),
        PlanAdmitted: ("executor",),
        ActionDone: ("observer",),
        ActionFailed: ("observer",),
        QueryStarted: ("executor", "clock"),
        QueryAnswered: ("observer",),
        QueryFailed: ("observer",),
        FilesRequested: ("observer",),
        ApprovalAnswered: ("clock",),
        ToolCalled: ("clock",),
        ToolAnswered: ("clock",),
        SessionPaused: ("clock",),
        SessionResumed: ("clock",),
    }


def test_every_decider_hears_of_the_beginning_and_the_end() -> None:
    assert row(SessionStarted).deciders == DECIDERS
    assert row(RunStopped).deciders == DECIDERS


def test_an_event_and_its_type_have_the_same_row() -> None:
    assert row(PageAssessed()) is row(PageAssessed)


def test_what_the_table_does_not_name_nobody_hears() -> None:
    assert row(ScreenshotTaken) == Hearers()
