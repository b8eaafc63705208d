"""A run that continues another looks whether it was done before, and asks where it cannot tell."""

import msgspec
import pytest

from rutter.actors.answers import ScriptedPerson
from rutter.actors.rules.steps.already_done import EarlierRunLooks, look_for
from rutter.events.action import Action, ByCss, ByRole, Target, Text
from rutter.events.causes import Cause
from rutter.events.checks import ReadBack, TextVisible
from rutter.events.critic import OutcomeUnknown
from rutter.events.envelope import Envelope
from rutter.events.errors import BrowserGone
from rutter.events.log import EventLog
from rutter.events.planner import PlanProposed, StepSettled
from rutter.events.predictor import StepDue, WorkflowLearned
from rutter.events.runtime import SessionEnded, SessionStarted
from rutter.events.validator import ActionStarted, ApprovalRequested
from rutter.events.workflow import Expectation, Step, Workflow
from rutter.pipeline.app import App
from rutter.pipeline.sessions import session_started
from rutter.pipeline.sessions.fork import continuing
from rutter.replay.steps import steps_in
from tests.support.given_when_then import only
from tests.support.log_checks import Replayed, events_of
from tests.support.scripted_shop import (
    ORIGIN,
    Fails,
    Raises,
    ScriptedElement,
    ScriptedPage,
    World,
    by_css,
)
from tests.support.shop_sessions import YES, NextClock, kinds, open_app, sail, with_settings

pytestmark = pytest.mark.anyio

SAVE = ScriptedElement(
    name="Save", stores=("/records", "Ann Bonny"), submits=True, method="post", leads_to="/saved"
)
OPEN = Action("navigate", url=f"{ORIGIN}/edit")
NAME = Action("type", target=by_css("#name"), value=Text("Ann Bonny"))
CLICK = Action("click", target=by_css("#save"))
READ = Action("extract", target=by_css("#number"), name="number")
HELP = Action("click", target=Target((ByRole("link", "Help"),)))
TELL = Action("click", target=by_css("#tell"))
BACK = ReadBack(f"{ORIGIN}/records", (TextVisible("Ann Bonny"),))
DIED = Raises(BrowserGone("the browser died"))


def office(*, done: bool = False) -> World:
    """`done`: the record is there already, whoever saved it."""
    records = ScriptedPage("Records", shows=("Ann Bonny",) if done else ("none",))
    return World(
        {
            "/edit": ScriptedPage(
                "Edit", {"#name": ScriptedElement("input", "textbox", "Name"), "#save": SAVE}
            ),
            "/saved": ScriptedPage(
                "Saved",
                {
                    "#number": ScriptedElement("output", "status", "A-1042"),
                    "#help": ScriptedElement("a", "link", "Help", leads_to="/help"),
                    "#tell": ScriptedElement(name="Tell everybody"),
                },
            ),
            "/records": records,
            "/help": ScriptedPage("Help"),
        }
    )


async def record(app: App, log: EventLog, *more: Action, back: ReadBack | None = BACK) -> Workflow:
    steps = tuple(Step(action=action) for action in (OPEN, NAME, CLICK, *more))
    started = with_settings(session_started.recording("save", steps, {}, ()))
    ended = await sail(app, started, office(), answers=ScriptedPerson(otherwise=YES), name="rec")
    assert ended.reason == "completed", ended
    [lesson] = [e for e in await events_of(log, "rec") if isinstance(e, WorkflowLearned)]
    flow, saved = lesson.workflow, lesson.workflow.steps[2]
    assert saved.irreversible
    after = msgspec.structs.replace(saved.after, read_back=back)
    saved = msgspec.structs.replace(saved, after=after)
    return msgspec.structs.replace(flow, steps=(*flow.steps[:2], saved, *flow.steps[3:]))


async def envelopes_of(log: EventLog, session: str) -> list[Envelope]:
    return [envelope async for envelope in log.read(session=session)]


async def broken_off(app: App, log: EventLog, flow: Workflow) -> SessionStarted:
    """A run whose browser died under the click that counts; and the run that continues it."""
    started = with_settings(session_started.run_of(flow, {}, ()))
    ended = await sail(app, started, office().trouble("#save", DIED), name="first")
    assert (ended.reason, ended.failure) == ("interrupted", "browser_lost")
    events = await envelopes_of(log, "first")
    assert steps_in(events).left_open
    assert [e.event.step for e in events if isinstance(e.event, OutcomeUnknown)] == [3]
    return continuing(started, events)


def clicks(world: World) -> int:
    """How often it was saved."""
    saves = [
        each for each in world.done if each.target and ByCss("#save") in each.target.strategies
    ]
    return len(saves)


async def test_what_is_seen_to_be_done_is_not_done_again_and_the_run_is_complete(
    replayed: Replayed,
) -> None:
    log = replayed.memory()
    async with open_app(log) as app:
        started = await broken_off(app, log, await record(app, log))
        world = office(done=True)
        ended = await sail(app, started, world, name="second")
    assert ended == SessionEnded(
        "completed",
        detail=f"step 3 of 3 was done by first: {ORIGIN}/records shows it",
        cause=Cause("done_before"),
    )
    assert clicks(world) == 0
    events = await events_of(log, "second")
    assert only(events, StepSettled) == StepSettled(2, True, f"{ORIGIN}/records shows it")
    look = next(e for e in events if isinstance(e, PlanProposed) and e.settles == 2)
    assert (look.action.aside, look.index, look.kind) == (True, -1, "verification")
    assert not [e for e in events if isinstance(e, OutcomeUnknown | ApprovalRequested)]
    assert not steps_in(await envelopes_of(log, "second")).left_open


@pytest.mark.parametrize("trouble", [None, Fails("navigation_failed", dispatched=True)])
async def test_what_is_not_seen_there_is_asked_and_nobody_means_no(
    replayed: Replayed, trouble: Fails | None
) -> None:
    log = replayed.memory()
    async with open_app(log) as app:
        started = await broken_off(app, log, await record(app, log))
        world = office()
        if trouble is not None:
            world.trouble(BACK.url, trouble)
        ended = await sail(app, started, world, name="second")
    assert (ended.reason, ended.failure) == ("policy_denied", "needs_person")
    assert clicks(world) == 0
    events = await events_of(log, "second")
    assert not only(events, StepSettled).done
    question = only(events, ApprovalRequested).question
    assert "first may have done it already; the outcome of its step " in question
    assert f"{ORIGIN}/records does not show it" in question


async def test_a_person_who_knows_that_it_was_not_done_lets_it_be_done_once(
    replayed: Replayed,
) -> None:
    log = replayed.memory()
    async with open_app(log) as app:
        started = await broken_off(app, log, await record(app, log))
        world = office()
        ended = await sail(
            app, started, world, answers=ScriptedPerson(otherwise=YES), name="second"
        )
    assert ended.reason == "completed"
    assert clicks(world) == 1


async def test_without_a_read_back_a_person_is_asked_as_before(replayed: Replayed) -> None:
    log = replayed.memory()
    async with open_app(log) as app:
        started = await broken_off(app, log, await record(app, log, back=None))
        world = office(done=True)
        ended = await sail(app, started, world, name="second")
    assert ended.failure == "needs_person"
    assert clicks(world) == 0
    assert "StepSettled" not in kinds(await events_of(log, "second"))


async def test_the_control_that_forgets_what_was_done_before_does_it_again(
    replayed: Replayed,
) -> None:
    log = replayed.memory()
    async with open_app(log) as app:
        started = await broken_off(app, log, await record(app, log))
        world = office(done=True)
        forgetful = msgspec.structs.replace(started, done_before=0)
        await sail(app, forgetful, world, name="second")
    assert clicks(world) == 1


async def test_other_values_are_another_matter_and_are_asked_about(replayed: Replayed) -> None:
    log = replayed.memory()
    async with open_app(log) as app:
        started = await broken_off(app, log, await record(app, log))
        world = office(done=True)
        other = msgspec.structs.replace(started, same_values=False)
        ended = await sail(app, other, world, name="second")
    assert ended.failure == "needs_person"
    assert clicks(world) == 0


async def test_steps_that_only_look_are_left_out_when_their_page_is_not_there(
    replayed: Replayed,
) -> None:
    log = replayed.memory()
    async with open_app(log) as app:
        started = await broken_off(app, log, await record(app, log, READ, HELP))
        world = office(done=True)
        ended = await sail(app, started, world, name="second")
    assert ended.reason == "completed"
    assert ended.detail.startswith("step 3 of 5 was done by first: ")
    assert ended.detail.endswith("; not repeated: steps 4 to 5")
    assert clicks(world) == 0


async def test_a_step_that_may_do_something_is_not_left_out_in_silence(replayed: Replayed) -> None:
    log = replayed.memory()
    async with open_app(log) as app:
        started = await broken_off(app, log, await record(app, log, TELL))
        world = office(done=True)
        ended = await sail(app, started, world, name="second")
    assert (ended.reason, ended.failure) == ("failed", "lost")
    assert ended.detail.startswith("step 3 of 4 was done by first: ")
    assert "; step 4 of 4: recorded at " in ended.detail
    assert clicks(world) == 0


async def test_it_goes_on_where_the_next_step_can_be_done(replayed: Replayed) -> None:
    log = replayed.memory()
    again = Action("navigate", url=f"{ORIGIN}/saved")
    async with open_app(log) as app:
        started = await broken_off(app, log, await record(app, log, again, TELL))
        world = office(done=True)
        ended = await sail(app, started, world, name="second")
    assert ended.reason == "completed", ended
    assert [action.type for action in world.done] == [
        "navigate",
        "type",
        "navigate",  # the look aside
        "navigate",
        "click",
    ]
    assert clicks(world) == 0


async def test_one_that_dies_on_the_way_or_while_it_looks_forgets_nothing(
    replayed: Replayed,
) -> None:
    """What the first may have done, the third must still be asked about."""
    log = replayed.memory()
    async with open_app(log) as app:
        flow = await record(app, log)
        started = await broken_off(app, log, flow)
        for number, where in enumerate(("#name", BACK.url), 2):
            name = f"run-{number}"
            ended = await sail(app, started, office().trouble(where, DIED), name=name)
            assert ended.reason == "interrupted"
            started = continuing(
                with_settings(session_started.run_of(flow, {}, ())), await envelopes_of(log, name)
            )
            assert (started.continues, started.done_before) == (name, 3)
        looks = [e for e in await events_of(log, "run-3") if isinstance(e, OutcomeUnknown)]
        assert looks == [], "a look leaves nothing behind"
        world = office()
        assert (await sail(app, started, world, name="last")).failure == "needs_person"
    assert clicks(world) == 0


async def test_what_was_confirmed_before_the_process_died_is_told_in_the_question(
    replayed: Replayed,
) -> None:
    log = replayed.memory()
    async with open_app(log) as app:
        flow = await record(app, log, TELL, back=None)
        begun = with_settings(session_started.run_of(flow, {}, ()))
        await sail(app, begun, office().trouble("#tell", DIED), name="first")
        started = continuing(begun, await envelopes_of(log, "first"))
        assert started.left_off == (
            "its step 3 was judged confirmed, its last page was where the workflow ends"
        )
        ended = await sail(app, started, office(), name="second")
    assert ended.failure == "needs_person"
    question = only(await events_of(log, "second"), ApprovalRequested).question
    assert started.left_off in question


async def test_a_session_that_a_dead_process_left_is_continued_as_well(replayed: Replayed) -> None:
    """Nothing of its end is on record before the next process closes it."""
    log = replayed.memory()
    async with open_app(log) as app:
        flow = await record(app, log)
        await broken_off(app, log, flow)
        whole = await envelopes_of(log, "first")
    begun = next(n for n, each in enumerate(whole) if _starts(each, 3))
    started = continuing(with_settings(session_started.run_of(flow, {}, ())), whole[: begun + 1])
    assert steps_in(whole[: begun + 1]).left_open
    assert (started.done_before, started.same_values) == (3, True)
    async with open_app(replayed.memory(), clock=NextClock()) as app:
        world = office(done=True)
        assert (await sail(app, started, world, name="second")).reason == "completed"
    assert clicks(world) == 0


def _starts(envelope: Envelope, step: int) -> bool:
    return isinstance(envelope.event, ActionStarted) and envelope.event.step == step


def test_the_last_step_that_says_how_it_shows_is_looked_for_first() -> None:
    """What came before it was done with it: nobody need be asked about each."""
    back = ReadBack(f"{ORIGIN}/records", (TextVisible("Ann Bonny"),))
    review = Step(Action("click", target=by_css("#review")), irreversible=True)
    place = Step(
        Action("click", target=by_css("#place")),
        after=Expectation(read_back=back),
        irreversible=True,
    )
    flow = Workflow("order", 1, (review, place))
    started = msgspec.structs.replace(
        session_started.run_of(flow, {}, ()), continues="first", done_before=2, same_values=True
    )
    due = StepDue(0, 2, review)
    look = look_for(started, due, EarlierRunLooks(), 1)
    assert look is not None
    assert look.settles == 1
    looked = EarlierRunLooks(settled=(StepSettled(1, False, "not there"),))
    assert look_for(started, due, looked, 1) is None
    begun = msgspec.structs.replace(started, done_before=1)
    assert look_for(begun, due, EarlierRunLooks(), 1) is None
