"""Given a log that was changed, or deciders that were: the first difference, and where it is."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import anyio
import msgspec
import pytest

from rutter.actors.decider import DecidingActor
from rutter.actors.planner.actor import Planner
from rutter.actors.planner.state import PlannerState
from rutter.actors.validator.actor import Validator
from rutter.actors.validator.state import ValidatorState
from rutter.events.causes import OTHER
from rutter.events.critic import ActionJudged, PageAssessed
from rutter.events.envelope import Envelope, kind
from rutter.events.errors import LogCorrupt
from rutter.events.event import Event
from rutter.events.memory_log import MemoryLog
from rutter.events.observer import PageObserved
from rutter.events.planner import PlanProposed, PlanWithheld, RunStopped
from rutter.events.predictor import PredictionMade, StepDue, TransitionLearned, WorkflowLearned
from rutter.events.runtime import SessionEnded, SessionStarted
from rutter.events.validator import (
    ActionApproved,
    ActionStarted,
    ActionWithheld,
    ApprovalRequested,
    PlanAdmitted,
)
from rutter.events.vocabulary import AnyEvent
from rutter.pipeline.runtime.sequencer import MAX_TURN
from rutter.replay.verify import Divergence, Verification, Verifier, fresh_deciders, verify
from tests.support.case_table import for_each
from tests.support.log_checks import read_all
from tests.support.scripted_shop import shop
from tests.support.shop_sessions import open_app, record_order, recording, run_for_fairlead, sail

Log = list[Envelope]
Deciders = Callable[[], list[DecidingActor[Any]]]


async def sailed() -> Log:
    """A recording, then two runs side by side."""
    log = MemoryLog()
    async with open_app(log) as app:
        workflow = await record_order(app, log, name="record")
        async with anyio.create_task_group() as group:
            for name in ("run-a", "run-b"):
                run = run_for_fairlead(workflow)
                group.start_soon(partial(sail, app, run, shop(), name=name))
    return [record.envelope for record in await read_all(log)]


@pytest.fixture(scope="module")
def whole() -> Log:
    return anyio.run(sailed)


def verified(log: Log, deciders: Deciders = fresh_deciders) -> Verification:
    verifier = Verifier(deciders())
    for envelope in log:
        verifier.take(envelope)
        if verifier.divergence is not None:
            break
    return verifier.report()


def difference(log: Log, deciders: Deciders = fresh_deciders) -> Divergence:
    found = verified(log, deciders).divergence
    assert found is not None
    return found


def first(log: Log, kind: type[Event], session: str = "run-a", nth: int = 0) -> int:
    """Where in the log an event of this kind is."""
    found = [
        place
        for place, envelope in enumerate(log)
        if envelope.session == session and isinstance(envelope.event, kind)
    ]
    return found[nth]


def held(log: Log, place: int, field: str) -> Any:
    return getattr(log[place].event, field)


def changed(log: Log, place: int, **fields: Any) -> Log:
    """The log with these fields of one event otherwise."""
    event = msgspec.structs.replace(log[place].event, **fields)
    return put(log, place, msgspec.structs.replace(log[place], event=event))


def put(log: Log, place: int, envelope: Envelope) -> Log:
    return [*log[:place], envelope, *log[place + 1 :]]


def renumbered(log: Log) -> Log:
    """Numbered and caused anew, as if what is there were all that ever was."""
    new: dict[tuple[str, int], int] = {}
    count: dict[str, int] = {}
    made: Log = []
    for seq, envelope in enumerate(log, 1):
        session = envelope.session
        n = count[session] = count.get(session, 0) + 1
        new[session, envelope.n] = n
        cause = new.get((session, envelope.cause), 0)
        made.append(msgspec.structs.replace(envelope, seq=seq, n=n, cause=cause))
    return made


def without(log: Log, place: int) -> Log:
    return renumbered([*log[:place], *log[place + 1 :]])


def swapped(log: Log, place: int) -> Log:
    """Two neighbours the other way round; whoever came of one still names it as its cause."""
    return renumbered([*log[:place], log[place + 1], log[place], *log[place + 2 :]])


# -- logs as they should be ----------------------------------------------------------------------


def test_interleaved_sessions_verify_in_one_pass(whole: Log) -> None:
    sessions = [envelope.session for envelope in whole]
    a = [place for place, name in enumerate(sessions) if name == "run-a"]
    b = [place for place, name in enumerate(sessions) if name == "run-b"]
    assert a[0] < b[0] < a[-1] < b[-1]
    report = verify(whole)
    assert report.ok
    assert (report.events, report.sessions) == (len(whole), 4)
    deciders = {"critic", "predictor", "planner", "validator"}
    assert report.decisions == len([e for e in whole if e.actor in deciders])


def test_an_empty_log_has_nothing_to_differ_in() -> None:
    report = verify([])
    assert (report.ok, report.events, report.decisions) == (True, 0, 0)


@pytest.mark.parametrize("session", ["record", "run-a", "run-b"])
def test_one_session_can_be_judged_alone(whole: Log, session: str) -> None:
    report = verify(whole, session)
    assert (report.ok, report.sessions) == (True, 1)


def test_numbers_on_the_log_do_not_matter_but_order_does(whole: Log) -> None:
    # Only a prediction names a position: these runs make none after the recording.
    assert verified(renumbered(whole)).ok


def test_a_session_of_another_logic_is_learned_from_and_not_judged(whole: Log) -> None:
    start = first(whole, SessionStarted, "record")
    older = changed(whole, start, logic="0")
    wrong = changed(older, first(older, PlanProposed, "record"), reason="another reason")
    report = verified(wrong)
    assert (report.ok, report.other_logic) == (True, 1)
    assert report.decisions < verify(whole).decisions


def test_what_a_session_of_another_logic_taught_is_known_to_the_next() -> None:
    log = anyio.run(recorded_twice)
    report = verified(changed(log, first(log, SessionStarted, "first"), logic="0"))
    assert (report.ok, report.other_logic) == (True, 1)


def test_an_event_that_is_gone_from_the_middle_is_an_error_and_not_a_guess(whole: Log) -> None:
    place = first(whole, PageObserved, nth=1)
    said = f"event {whole[place].n} of session run-a is missing"
    with pytest.raises(LogCorrupt, match=said):
        verify([*whole[:place], *whole[place + 1 :]])


# -- decisions that were changed -----------------------------------------------------------------


@for_each(
    "decision, actor, field, value",
    [
        (PlanProposed, "planner", "reason", "because"),
        (PlanProposed, "planner", "index", 7),
        (StepDue, "predictor", "unmet", "elsewhere"),
        (TransitionLearned, "predictor", "after", ("x",)),
        (ActionApproved, "validator", "rule", "no_rule"),
        (ActionStarted, "validator", "digest", "another element"),
        (ActionJudged, "critic", "verdict", "failed"),
        (RunStopped, "planner", "reason", "cancelled"),
    ],
)
def test_a_changed_decision_is_found_with_its_field(
    whole: Log, decision: type[Event], actor: str, field: str, value: object
) -> None:
    place = first(whole, decision)
    was = getattr(whole[place].event, field)
    found = difference(changed(whole, place, **{field: value}))
    assert (found.seq, found.session, found.n) == (place + 1, "run-a", whole[place].n)
    assert (found.actor, found.field) == (actor, field)
    assert (found.recorded, found.derived) == (repr(value), repr(was))


def test_the_first_of_several_differences_is_named(whole: Log) -> None:
    late = changed(whole, first(whole, PlanProposed, nth=4), reason="late")
    both = changed(late, first(whole, PlanProposed, nth=1), reason="early")
    assert difference(both).recorded == repr("early")


def test_a_decision_of_another_kind_is_found(whole: Log) -> None:
    place = first(whole, PlanProposed)
    other = msgspec.structs.replace(whole[place], event=PlanWithheld("not sure"))
    found = difference(put(whole, place, other))
    assert (found.field, found.recorded, found.derived) == ("event", "PlanWithheld", "PlanProposed")


def test_a_decision_under_another_name_is_found(whole: Log) -> None:
    place = first(whole, PlanProposed)
    found = difference(put(whole, place, msgspec.structs.replace(whole[place], actor="critic")))
    assert (found.n, found.field) == (whole[place].n, "actor")
    assert (found.recorded, found.derived) == ("critic", "planner")


def test_a_decision_with_another_cause_is_found(whole: Log) -> None:
    place = first(whole, PlanProposed, nth=1)
    cause = whole[place].cause - 1
    found = difference(put(whole, place, msgspec.structs.replace(whole[place], cause=cause)))
    assert (found.n, found.actor) == (whole[place].n, "planner")


def test_a_difference_says_what_led_to_it(whole: Log) -> None:
    place = first(whole, PlanProposed)
    found = difference(changed(whole, place, reason="because"))
    assert [cause.split(" ", 1)[1] for cause in found.causes] == [
        "StepDue by predictor",
        "PageAssessed by critic",
        "PageObserved by observer",
        "SessionStarted by runtime",
    ]


# -- decisions that are not there, or should not be ----------------------------------------------


def test_a_missing_decision_is_found_where_the_next_turn_begins(whole: Log) -> None:
    """The last decision of a turn: nothing stands in its place but the next fact."""
    place = first(whole, PlanAdmitted)
    cause = whole[place].cause
    found = difference(without(whole, place))
    assert (found.session, found.n, found.actor) == ("run-a", cause, "validator")
    assert (found.recorded, found.derived) == ("nothing was recorded", "PlanAdmitted")
    opened = whole[found.seq]  # without one event, what was behind it is one place further on
    assert (opened.session, opened.actor) == ("run-a", "executor")


def test_a_missing_decision_is_found_where_another_stands_in_its_place(whole: Log) -> None:
    place = first(whole, ActionApproved)
    found = difference(without(whole, place))
    assert (found.seq, found.actor, found.recorded, found.derived) == (
        place + 1,
        "validator",
        "ActionStarted",
        "ActionApproved",
    )


def test_a_log_that_ends_in_the_middle_of_a_turn_is_found(whole: Log) -> None:
    place = first(whole, PlanProposed)
    found = difference(whole[:place])
    assert (found.session, found.n, found.actor) == ("run-a", whole[place].cause, "planner")
    assert (found.recorded, found.derived) == ("nothing was recorded", "PlanProposed")


def test_an_extra_decision_is_found(whole: Log) -> None:
    place = first(whole, PlanProposed)
    extra = msgspec.structs.replace(whole[place], event=PlanWithheld("not sure"), n=10**6)
    found = difference(renumbered([*whole[: place + 1], extra, *whole[place + 1 :]]))
    assert (found.seq, found.n, found.actor) == (place + 2, whole[place].n + 1, "planner")
    assert (found.recorded, found.derived) == ("PlanWithheld", "ActionApproved")


def test_a_decision_twice_is_found(whole: Log) -> None:
    place = first(whole, ActionStarted)
    again = msgspec.structs.replace(whole[place], n=10**6)
    found = difference(renumbered([*whole[: place + 1], again, *whole[place + 1 :]]))
    assert (found.recorded, found.derived) == ("ActionStarted", "nothing was decided")


def test_decisions_of_one_actor_the_other_way_round_are_found(whole: Log) -> None:
    place = first(whole, ActionJudged)
    assert isinstance(whole[place + 1].event, PageAssessed)
    found = difference(swapped(whole, place))
    assert (found.seq, found.actor, found.field) == (place + 1, "critic", "event")
    assert (found.recorded, found.derived) == ("PageAssessed", "ActionJudged")


def test_decisions_of_a_turn_the_other_way_round_are_found(whole: Log) -> None:
    place = first(whole, TransitionLearned)
    assert kind(whole[place + 1].event) == "StepDue"
    found = difference(swapped(whole, place))
    assert (found.seq, found.recorded, found.derived) == (place + 1, "StepDue", "TransitionLearned")


# -- facts that were changed ---------------------------------------------------------------------


def test_another_policy_in_the_start_is_found_at_the_first_verdict(whole: Log) -> None:
    start = first(whole, SessionStarted)
    policy = msgspec.structs.replace(held(whole, start, "policy"), version="2")
    found = difference(changed(whole, start, policy=policy))
    assert (found.actor, found.field) == ("validator", "policy")
    assert (found.recorded, found.derived) == (repr("1"), repr("2"))
    assert found.seq == first(whole, ActionApproved) + 1


def test_another_denylist_in_the_start_is_found_where_it_matters(whole: Log) -> None:
    start = first(whole, SessionStarted)
    policy = msgspec.structs.replace(held(whole, start, "policy"), denylist=("find",))
    found = difference(changed(whole, start, policy=policy))
    assert (found.actor, found.recorded, found.derived) == (
        "validator",
        "ActionApproved",
        "ApprovalRequested",
    )


def test_another_setting_in_the_start_is_found(whole: Log) -> None:
    start = first(whole, SessionStarted)
    dry = msgspec.structs.replace(held(whole, start, "settings"), dry_run=True)
    found = difference(changed(whole, start, settings=dry))
    assert (found.recorded, found.derived) == ("ActionApproved", kind(ActionWithheld))


def test_another_page_is_found(whole: Log) -> None:
    place = first(whole, PageObserved, nth=1)
    page = msgspec.structs.replace(held(whole, place, "page"), url="https://other.example/")
    found = difference(changed(whole, place, page=page))
    assert (found.actor, found.n) == ("critic", whole[place].n + 1)


def test_an_answer_that_was_turned_round_is_found(whole: Log) -> None:
    asked = first(whole, ApprovalRequested, "record")
    found = difference(changed(whole, asked + 1, approved=False))
    assert (found.actor, found.field) == ("validator", "why")


async def recorded_twice() -> Log:
    log = MemoryLog()
    async with open_app(log) as app:
        for name in ("first", "second"):
            await record_order(app, log, name=name)
    return [record.envelope for record in await read_all(log)]


def test_what_another_session_taught_is_found_in_the_prediction() -> None:
    # A second recording predicts from what the first taught: without it, it predicts otherwise.
    log = anyio.run(recorded_twice)
    found = difference([envelope for envelope in log if envelope.session != "first"])
    assert (found.session, found.actor, found.field) == ("second", "predictor", "candidates")


# -- deciders that were changed ------------------------------------------------------------------


class Politer(Planner):
    def decide(self, state: PlannerState, envelope: Envelope) -> Iterable[AnyEvent]:
        for event in super().decide(state, envelope):
            if isinstance(event, PlanProposed) and event.step == 3:
                event = msgspec.structs.replace(event, reason=f"please {event.reason}")
            yield event


class Silent(Validator):
    def decide(self, state: ValidatorState | None, envelope: Envelope) -> Iterable[AnyEvent]:
        return ()


class Breaks(Planner):
    def decide(self, state: PlannerState, envelope: Envelope) -> Iterable[AnyEvent]:
        if isinstance(envelope.event, PredictionMade):
            raise ZeroDivisionError("a bug")
        return super().decide(state, envelope)


class BreaksQuietly(Validator):
    """Fails where it would have had nothing to say."""

    def decide(self, state: ValidatorState | None, envelope: Envelope) -> Iterable[AnyEvent]:
        if isinstance(envelope.event, PageObserved):
            raise ZeroDivisionError("a bug")
        return super().decide(state, envelope)


def using(changed: type[Any]) -> Deciders:
    def make() -> list[DecidingActor[Any]]:
        actor: DecidingActor[Any] = DecidingActor(changed())
        return [actor, *(each for each in fresh_deciders() if each.name != actor.name)]

    return make


def test_a_decider_that_says_it_otherwise_is_found(whole: Log) -> None:
    found = difference(whole, using(Politer))
    place = first(whole, PlanProposed, "record", nth=2)
    assert (found.seq, found.actor, found.field) == (place + 1, "planner", "reason")
    assert found.derived == repr("please script_step_3_of_6")


def test_a_decider_that_says_nothing_is_found(whole: Log) -> None:
    found = difference(whole, using(Silent))
    assert (found.actor, found.derived) == ("validator", "nothing was decided")


def test_a_decider_that_fails_where_it_did_not_is_found(whole: Log) -> None:
    found = difference(whole, using(Breaks))
    assert (found.actor, found.recorded, found.derived) == (
        "planner",
        "PlanProposed",
        "nothing was decided",
    )


def test_a_decider_that_fails_in_silence_is_found_when_the_next_fact_comes(whole: Log) -> None:
    found = difference(whole, using(BreaksQuietly))
    assert (found.actor, found.field) == ("validator", "error")
    assert (found.recorded, found.derived) == ("no failure", "ZeroDivisionError")


def test_a_decider_that_fails_in_silence_is_found_when_the_log_ends(whole: Log) -> None:
    seen = first(whole, PageObserved, "record")
    end = next(place for place in range(seen + 1, len(whole)) if whole[place].actor == "executor")
    assert not verified(whole[:end], using(BreaksQuietly)).ok


# -- failures on record --------------------------------------------------------------------------


async def failed() -> Log:
    log = MemoryLog()
    async with open_app(log, using(Breaks)()) as app:
        await sail(app, recording(), name="bad")
    return [record.envelope for record in await read_all(log)]


@pytest.fixture(scope="module")
def broken() -> Log:
    return anyio.run(failed)


def test_a_recorded_failure_that_fails_again_is_as_recorded(broken: Log) -> None:
    assert verified(broken, using(Breaks)).ok


def test_a_recorded_failure_that_does_not_fail_again_is_found(broken: Log) -> None:
    found = difference(broken)
    assert (found.session, found.field) == ("bad", "error")
    assert (found.recorded, found.derived) == ("ZeroDivisionError", "no failure")


def test_a_recorded_failure_that_fails_otherwise_is_found(broken: Log) -> None:
    place = next(i for i, e in enumerate(broken) if kind(e.event) == "ActorFailed")
    found = difference(changed(broken, place, error="KeyError"), using(Breaks))
    assert (found.recorded, found.derived) == ("KeyError", "ZeroDivisionError")


def test_nothing_is_decided_in_a_session_that_failed(broken: Log) -> None:
    place = next(i for i, e in enumerate(broken) if kind(e.event) == "ActorFailed")
    late = msgspec.structs.replace(
        broken[place], n=broken[place].n + 1, actor="critic", event=PageAssessed()
    )
    found = difference([*broken[: place + 1], late], using(Breaks))
    assert (found.actor, found.derived) == ("critic", "nothing was decided")


class Endless(Planner):
    def decide(self, state: PlannerState, envelope: Envelope) -> Iterable[AnyEvent]:
        if isinstance(envelope.event, SessionEnded):
            return ()
        return [RunStopped("failed", cause=OTHER)]


def test_a_turn_that_was_cut_is_as_recorded() -> None:
    async def cut() -> Log:
        log = MemoryLog()
        async with open_app(log, using(Endless)()) as app:
            await sail(app, recording(), name="endless")
        return [record.envelope for record in await read_all(log)]

    log = anyio.run(cut)
    assert len([e for e in log if e.session == "endless"]) > MAX_TURN
    assert verified(log, using(Endless)).ok


def test_what_was_learned_is_part_of_what_is_verified(whole: Log) -> None:
    lesson = first(whole, WorkflowLearned, "record")
    workflow = msgspec.structs.replace(held(whole, lesson, "workflow"), version=9)
    found = difference(changed(whole, lesson, workflow=workflow))
    assert (found.actor, found.field) == ("predictor", "workflow")
