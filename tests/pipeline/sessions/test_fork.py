"""A fork names its origin, sails the first steps again, and asks before doing anything twice."""

import msgspec
import pytest

from rutter.events.action import Action
from rutter.events.critic import ActionJudged, OutcomeUnknown, Verdict
from rutter.events.envelope import Envelope
from rutter.events.errors import BadInput
from rutter.events.executor import ActionDone, ActionFailed, QueryAnswered, TargetResolved
from rutter.events.planner import PlanProposed, RunStopped, StepSettled
from rutter.events.runtime import SessionEnded, SessionStarted
from rutter.events.validator import ActionStarted, ApprovalRequested
from rutter.events.vocabulary import AnyEvent
from rutter.pipeline.sessions.fork import (
    check_continued,
    confirmed,
    continuing,
    done_before,
    fork_of,
    started_before,
)
from rutter.replay.steps import steps_in
from rutter.replay.verify import fresh_deciders
from tests.support.case_table import for_each
from tests.support.golden_logs import envelopes

SECRETS = ("password",)


def session(name: str, purpose: str) -> list[Envelope]:
    log = envelopes(name)
    first = next(
        e.session for e in log if isinstance(e.event, SessionStarted) and e.event.purpose == purpose
    )
    return [envelope for envelope in log if envelope.session == first]


def test_a_run_goes_on_along_its_workflow_under_its_own_name() -> None:
    old = session("order", "run")
    started = fork_of(old, 7, values={"customer": "Aurora Shipping"}, secrets=SECRETS)
    assert (started.forked_from, started.forked_at) == (old[0].session, 7)
    assert started.purpose == "run"
    assert started.workflow is not None
    assert started.values["customer"] == "Aurora Shipping"
    assert started.values["quantity"] == "12"


def test_a_recording_goes_on_freely_from_what_was_confirmed() -> None:
    old = session("order", "record")
    started = fork_of(old, 3, values={}, secrets=SECRETS)
    assert started.purpose == "free"
    assert [step.action for step in started.script] == confirmed(steps_in(old))[:3]
    assert started.settings.limits.max_steps == 15


def test_a_dry_run_is_forked_for_real() -> None:
    log = envelopes("trouble")
    dry = next(
        e.session for e in log if isinstance(e.event, SessionStarted) and e.event.settings.dry_run
    )
    old = [envelope for envelope in log if envelope.session == dry]
    assert not fork_of(old, 1, values={}, secrets=SECRETS).settings.dry_run


@for_each("at", [0, 20, -1])
def test_only_steps_that_were_confirmed_can_be_repeated(at: int) -> None:
    with pytest.raises(BadInput, match="19 confirmed steps"):
        fork_of(session("order", "run"), at, values={}, secrets=SECRETS)


def test_an_unbound_secret_is_asked_for_by_name() -> None:
    with pytest.raises(BadInput, match="password"):
        fork_of(session("order", "run"), 3, values={}, secrets=())


def test_whatever_the_old_session_sent_is_asked_about_also_behind_the_fork() -> None:
    """The same facts to a fork at step 10: 'Place order' is asked about, signing in is not."""
    old = session("order", "run")
    started = fork_of(old, 10, values={}, secrets=SECRETS)
    (validator,) = [actor for actor in fresh_deciders() if actor.name == "validator"]
    answers = {}
    step = 0
    for envelope in old:
        event = started if isinstance(envelope.event, SessionStarted) else envelope.event
        if isinstance(event, PlanProposed):
            step = event.step
        heard = msgspec.structs.replace(envelope, event=event)
        decided = validator.step(heard)
        if isinstance(event, TargetResolved):
            answers[step] = {type(decision) for decision in decided}
    assert ActionStarted in answers[4]
    assert ApprovalRequested in answers[18]
    assert ActionStarted in answers[2]


# -- what may have happened ------------------------------------------------------------------------


def left(*events: AnyEvent) -> bool:
    told = (Envelope(n, "s", n, n, "runtime", 0, e, b"") for n, e in enumerate(events, 1))
    return steps_in(told).left_open


def started(*, irreversible: bool) -> ActionStarted:
    return ActionStarted(1, 1, Action("press", key="Enter"), irreversible=irreversible)


@for_each("verdict", ["failed", "wrong_target", "no_effect", "unknown"])
def test_what_cannot_be_undone_may_have_happened_unless_it_was_confirmed(verdict: Verdict) -> None:
    judged = ActionJudged(1, 1, verdict, "seen")
    assert left(started(irreversible=True), ActionDone(1, 1, 1), judged)
    assert not left(started(irreversible=False), ActionDone(1, 1, 1), judged)
    assert not left(started(irreversible=True), ActionDone(1, 1, 1), CONFIRMED)


def test_what_never_reached_the_page_did_not_happen() -> None:
    missed = ActionFailed(1, 1, "element_obscured", dispatched=False)
    assert not left(started(irreversible=True), missed, ActionJudged(1, 1, "failed", "seen"))
    assert left(started(irreversible=True))


CONFIRMED = ActionJudged(1, 1, "confirmed", "seen")


def test_a_look_at_a_result_is_not_repeated_and_what_was_read_is() -> None:
    read = Action("extract", target=None, name="number")
    back = Action("navigate", url="https://a.example/", aside=True)
    events: list[AnyEvent] = [
        PlanProposed(1, 1, "workflow", Action("press", key="Enter"), "why"),
        PlanProposed(2, 1, "workflow", back, "why", read_back_of=1),
        ActionJudged(2, 1, "confirmed", "seen"),
        CONFIRMED,
        PlanProposed(3, 1, "workflow", read, "why"),
        QueryAnswered(3, 1, 1),
    ]
    told = [Envelope(n, "s", n, n, "runtime", 0, e, b"") for n, e in enumerate(events, 1)]
    assert [action.type for action in confirmed(steps_in(told))] == ["press", "extract"]


BACK = Action("navigate", url="https://a.example/", aside=True)


@for_each("verdict, open_", [("confirmed", False), ("failed", True)])
def test_the_look_at_its_result_does_not_hide_what_was_sent(verdict: Verdict, open_: bool) -> None:
    """The look starts and ends between the click and the last word on it."""
    looked = ActionJudged(2, 1, verdict, "seen")
    last = ActionJudged(1, 1, verdict, "read_back")
    assert left(started(irreversible=True), ActionStarted(2, 1, BACK), looked, last) is open_


def test_a_look_that_was_cut_short_leaves_nothing_open() -> None:
    assert not left(ActionStarted(2, 1, BACK))
    assert left(ActionStarted(2, 1, BACK), OutcomeUnknown(1, 1, "died"))


def test_something_was_sent_unless_it_never_reached_the_page() -> None:
    missed = ActionFailed(1, 1, "element_obscured", dispatched=False)
    assert steps_in(told_by("s", started(irreversible=True), CONFIRMED)).sent
    assert not steps_in(told_by("s", started(irreversible=True), missed)).sent
    assert not steps_in(told_by("s", started(irreversible=False), CONFIRMED)).sent


def told_by(name: str, *events: AnyEvent) -> list[Envelope]:
    return [Envelope(n, name, n, n, "runtime", 0, e, b"") for n, e in enumerate(events, 1)]


# -- a run that continues another ------------------------------------------------------------------


def cut_short(at: int) -> list[Envelope]:
    """The golden run, up to the intent of the step of this number."""
    events = session("order", "run")
    place = next(
        n for n, e in enumerate(events) if isinstance(e.event, ActionStarted) and e.event.step == at
    )
    return events[: place + 1]


def begun(events: list[Envelope]) -> SessionStarted:
    start = events[0].event
    assert isinstance(start, SessionStarted)
    return start


def test_a_run_that_continues_another_names_it_and_all_that_it_may_have_done() -> None:
    events = cut_short(18)
    after = continuing(begun(events), events)
    assert (after.continues, after.done_before) == (events[0].session, 17)
    assert (after.same_values, after.left_off) == (True, "the outcome of its step 17 is unknown")
    other = msgspec.structs.replace(begun(events), values={"customer": "Aurora Shipping"})
    assert not continuing(other, events).same_values


def test_what_the_session_before_it_may_have_done_is_never_forgotten() -> None:
    """A chain of runs that die earlier and earlier."""
    first = cut_short(18)
    second = [msgspec.structs.replace(first[0], event=continuing(begun(first), first))]
    assert started_before(steps_in(second)) == 17
    third = [*second, *cut_short(3)[1:]]
    assert continuing(begun(third), third).done_before == 17


def test_where_its_steps_were_changed_it_may_have_done_any_of_them() -> None:
    events = cut_short(18)
    flow = begun(events).workflow
    assert flow is not None
    assert done_before(flow, events) == 17
    healed = msgspec.structs.replace(flow, version=9, steps=(*flow.steps[:17], flow.steps[0]))
    assert done_before(healed, events) == 17
    longer = msgspec.structs.replace(flow, steps=(flow.steps[0], *flow.steps))
    assert done_before(longer, events) == len(longer.steps)
    assert done_before(longer, events[:1]) == 0


def test_only_a_run_of_that_workflow_that_was_not_completed_is_continued() -> None:
    events = cut_short(18)
    flow = begun(events).workflow
    assert flow is not None
    assert check_continued(events, ["order"], flow) == begun(events)
    with pytest.raises(BadInput, match="is no run of 'order'"):
        check_continued(events, ["others"], flow)
    with pytest.raises(BadInput, match="is no run of 'order'"):
        check_continued(session("order", "record"), ["order"], flow)
    for end in (RunStopped("completed"), SessionEnded("completed")):
        with pytest.raises(BadInput, match="run it without --from"):
            check_continued([*events, *told_by("s", end)], ["order"], flow)
    stopped = told_by("s", RunStopped("failed", "lost"), SessionEnded("failed", "lost"))
    assert check_continued([*events, *stopped], ["order"], flow) == begun(events)
    with pytest.raises(BadInput, match="has no start"):
        check_continued(told_by("s", StepSettled(1, True, "seen")), ["order"], flow)
