"""The ten invariants of S2 11. Each is run twice: as it is, and broken on purpose, and notices.

A test of an invariant that holds whatever one does says nothing.
"""

from collections.abc import Awaitable, Callable, Iterable
from typing import Any

import msgspec
import pytest

from rutter.actors.advisor.picture_advice import VisionAdvisor
from rutter.actors.critic import actor as critic
from rutter.actors.critic import verdict_event
from rutter.actors.critic.state import CriticState
from rutter.actors.planner import actor as planner
from rutter.actors.planner import state as planning
from rutter.actors.planner import tool_led, workflow_led
from rutter.actors.planner.tool_desk import Desk
from rutter.actors.validator import actor as validator
from rutter.actors.vision import ScriptedVision, VisionSaid
from rutter.events.action import Action, Untrusted
from rutter.events.checks import TextVisible
from rutter.events.critic import ActionJudged, Evidence, PageAssessed, VisionSought
from rutter.events.executor import ActionFailed
from rutter.events.observer import PageObserved
from rutter.events.page import Page
from rutter.events.planner import PlanProposed, RunStopped
from rutter.events.runtime import SessionStarted
from rutter.events.tools import FileRead, ToolAnswered, ToolCalled
from rutter.events.validator import ActionApproved, ActionRejected, ActionStarted, ApprovalRequested
from rutter.events.vocabulary import AnyEvent
from rutter.events.workflow import Step
from rutter.pipeline.output import verbose
from rutter.pipeline.output.verbose import Narrator
from rutter.pipeline.sessions import session_started
from tests.support.given_when_then import Story
from tests.support.log_checks import Replayed, envelopes_of, events_of
from tests.support.scripted_shop import (
    ORIGIN,
    Fails,
    ScriptedElement,
    ScriptedPage,
    World,
    by_css,
    effectors,
)
from tests.support.shop_sessions import open_app, with_settings

pytestmark = pytest.mark.anyio

Breaks = Callable[[pytest.MonkeyPatch], None]
Check = Callable[[Replayed], Awaitable[None]]


def invariant(breaks: Breaks) -> Callable[[Check], Callable[..., Awaitable[None]]]:
    """The test as it is; and, with this broken, that it fails."""

    def decorate(check: Check) -> Callable[..., Awaitable[None]]:
        @pytest.mark.parametrize("broken", [False, True], ids=["holds", "is_missed_when_broken"])
        async def run(broken: bool, replayed: Replayed, monkeypatch: pytest.MonkeyPatch) -> None:
            if not broken:
                await check(replayed)
                return
            with monkeypatch.context() as broken_here:
                breaks(broken_here)
                with pytest.raises(AssertionError):
                    await check(replayed)
                await replayed.check_now()  # what is broken is broken in every replay too

        run.__name__ = check.__name__
        run.__doc__ = check.__doc__
        return run

    return decorate


def patch(where: Any, name: str, instead: Any) -> Breaks:
    return lambda monkeypatch: monkeypatch.setattr(where, name, instead)


# -- runs to look at -------------------------------------------------------------------------------

OPEN = Action("navigate", url=f"{ORIGIN}/")
READ = Action("extract", target=by_css("#delete"), name="label")
CHECK = Action("check", verify=(TextVisible("no such thing"),))
CLICK = Action("click", target=by_css("#more"))
DELETE = Action("click", target=by_css("#delete"))


def desk() -> World:
    things = {
        "#delete": ScriptedElement(name="Delete the accoünt", submits=True, method="post"),
        "#more": ScriptedElement(name="More \N{RIGHTWARDS ARROW}"),
    }
    return World({"/": ScriptedPage("Désk", things)})


async def sailed(
    replayed: Replayed,
    *actions: Action,
    world: World | None = None,
    eyes: ScriptedVision | None = None,
    **more: Any,
) -> list[AnyEvent]:
    """The events of a run through these actions, with nobody to ask."""
    steps = tuple(Step(action=action) for action in actions)
    started = with_settings(session_started.recording("flow", steps, {}, ()), **more)
    return await run_in(replayed, started, world or desk(), eyes)


async def run_in(
    replayed: Replayed, started: SessionStarted, world: World, eyes: ScriptedVision | None
) -> list[AnyEvent]:
    log = replayed.memory()
    hands = effectors(world, started)
    if eyes is not None:
        hands.append(VisionAdvisor(PictureOnly(), None, eyes))  # type: ignore[arg-type]
    async with open_app(log) as app:
        await app.run_session(started, hands, name="s")
    return await events_of(log, "s")


class PictureOnly:
    """A screen of which there is a picture and nothing else."""

    @property
    def tab(self) -> "PictureOnly":
        return self

    async def picture(self, *, max_width: int, within_ms: int) -> bytes:
        return b"picture"


def of(kind: type[Any] | tuple[type[Any], ...], events: Iterable[AnyEvent], step: int = 2) -> Any:
    """The events of these kinds that are about this step."""
    return [e for e in events if isinstance(e, kind) and getattr(e, "step", step) == step]


# -- 1 and 2 ---------------------------------------------------------------------------------------


@invariant(patch(validator, "kind_of", lambda action: "action"))
async def test_1_observations_never_require_policy_validation(replayed: Replayed) -> None:
    events = await sailed(replayed, OPEN, READ)
    policy = (ActionApproved, ActionRejected, ApprovalRequested, ActionStarted)
    assert of(policy, events) == []


def _judges_observations(state: CriticState, now_ns: int) -> Iterable[AnyEvent]:
    if state.plan is not None and state.plan.kind == "observation":
        yield ActionJudged(state.plan.step, 1, "confirmed", "observed", code="observed")
    yield from _LOOKED(state, now_ns)


_LOOKED = critic._looked


@invariant(patch(critic, "_looked", _judges_observations))
async def test_2_observations_never_require_verification(replayed: Replayed) -> None:
    events = await sailed(replayed, OPEN, READ)
    assert of(ActionJudged, events) == []


# -- 3 ---------------------------------------------------------------------------------------------


def _tries_again(plan: PlanProposed, *_: Any, **__: Any) -> bool:
    return plan.attempt == 1


@invariant(patch(planning, "may_repeat", _tries_again))
async def test_3_verification_failures_never_retry(replayed: Replayed) -> None:
    events = await sailed(replayed, OPEN, CHECK)
    assert [started.attempt for started in of(ActionStarted, events)] == [1]
    [stopped] = of(RunStopped, events)
    assert (stopped.reason, stopped.failure) == ("failed", "verification_failed")


# -- 4 ---------------------------------------------------------------------------------------------


def _believes_pictures(running: Any, judgement: Any, evidence: Any, vision: Any) -> ActionJudged:
    seen = vision is not None and vision.said == "VERIFIED"
    verdict = "confirmed" if seen else judgement.verdict
    believed = msgspec.structs.replace(judgement, verdict=verdict)
    return _VERDICT(running, believed, evidence, vision)


_VERDICT = verdict_event.verdict_event


@invariant(patch(critic, "verdict_event", _believes_pictures))
async def test_4_vision_results_never_override_primary_authority(replayed: Replayed) -> None:
    blind = await sailed(replayed, OPEN, CHECK)
    for said, confidence in (
        (VisionSaid("VERIFIED"), 650_000),
        (VisionSaid("UNKNOWN"), 400_000),
        (VisionSaid("NOT_VERIFIED"), 300_000),
    ):
        eyes = ScriptedVision(said)
        events = await sailed(replayed, OPEN, CHECK, eyes=eyes, vision=True)
        assert len(of(VisionSought, events)) == 1
        [judged], [without] = of(ActionJudged, events), of(ActionJudged, blind)
        assert (judged.verdict, judged.reason) == (without.verdict, without.reason)
        assert judged.confidence == confidence
        assert of(RunStopped, events) == of(RunStopped, blind)


# -- 5 and 6 ---------------------------------------------------------------------------------------


def _trusts_confidence(plan: PlanProposed, judged: ActionJudged, *_: Any, **__: Any) -> bool:
    return plan.attempt == 1 and judged.confidence > 500_000


def _wants_evidence(plan: PlanProposed, judged: ActionJudged, *_: Any, **__: Any) -> bool:
    return plan.attempt == 1 and len(judged.evidence) > 1


def _bare(event: AnyEvent) -> AnyEvent:
    if isinstance(event, ActionJudged):
        return msgspec.structs.replace(event, evidence=(), confidence=0)
    return event


@invariant(patch(planning, "may_repeat", _trusts_confidence))
async def test_5_confidence_scores_never_affect_control_flow(replayed: Replayed) -> None:
    runs = []
    for anything in (0, 1_000_000):
        with pytest.MonkeyPatch.context() as monkeypatch:
            monkeypatch.setattr(verdict_event, "confidence", lambda *_, said=anything: said)
            events = await sailed(replayed, OPEN, CHECK)
            await replayed.check_now()
        runs.append([_bare(event) for event in events])
    assert runs[0] == runs[1]


@invariant(patch(planning, "may_repeat", _wants_evidence))
async def test_6_evidence_collection_never_affects_execution(replayed: Replayed) -> None:
    runs = []
    much = tuple(Evidence("DOM", str(number), 1, Untrusted("x")) for number in range(9))
    for collected in ((), much):
        with pytest.MonkeyPatch.context() as monkeypatch:
            monkeypatch.setattr(critic, "account_of", lambda *_, said=collected: said)
            events = await sailed(replayed, OPEN, CHECK)
            await replayed.check_now()
        runs.append([_bare(event) for event in events])
    assert runs[0] == runs[1]


# -- 7 ---------------------------------------------------------------------------------------------


def _acts_on_files(desk: Desk, call: ToolCalled) -> Iterable[AnyEvent]:
    if call.tool == "read_file":
        yield PlanProposed(desk.step + 1, 1, "agent", CLICK, "tool_read_file")
    else:
        yield from _BEGIN(desk, call)


_BEGIN = tool_led._begin


@invariant(patch(tool_led, "_begin", _acts_on_files))
async def test_7_file_reads_are_observations_not_actions(replayed: Replayed) -> None:
    story = Story(planner.Planner())
    for event in (session_started.tool_session(), *_a_look()):
        story.tell(event)
    said = [
        *story.tell(ToolCalled("c1", "read_file", '{"path": "notes.txt"}')),
        *story.tell(FileRead("c1", Untrusted("what it says"))),
    ]
    assert [type(event) for event in said] == [ToolAnswered]


def _a_look() -> tuple[AnyEvent, ...]:
    return PageObserved(Page(url="about:blank"), "start"), PageAssessed()


# -- 8 and 9 ---------------------------------------------------------------------------------------


def _insists(state: planning.PlannedRun, rejected: ActionRejected) -> AnyEvent:
    if state.plan is not None and state.plan.attempt < 2:
        return msgspec.structs.replace(state.plan, attempt=state.plan.attempt + 1)
    return _AFTER_REFUSAL(state, rejected)


_AFTER_REFUSAL = workflow_led.after_refusal


@invariant(patch(planner, "after_refusal", _insists))
async def test_8_policy_denials_are_terminal(replayed: Replayed) -> None:
    nowhere = Action("navigate", url="http://10.0.0.1/")
    events = await sailed(replayed, OPEN, nowhere)
    assert len(of(PlanProposed, events)) == len(of(ActionRejected, events)) == 1
    [stopped] = of(RunStopped, events)
    assert (stopped.reason, stopped.failure) == ("policy_denied", "policy_denied")


def _never_gives_up(plan: PlanProposed, *_: Any, **__: Any) -> bool:
    return plan.attempt < 3


@invariant(patch(planning, "may_repeat", _never_gives_up))
async def test_9_retry_exhaustion_is_terminal(replayed: Replayed) -> None:
    world = desk().trouble("#more", *(Fails("timeout") for _ in range(5)))
    events = await sailed(replayed, OPEN, CLICK, world=world, max_failures=9, max_steps=9)
    assert [failed.attempt for failed in of(ActionFailed, events)] == [1, 2]
    [stopped] = of(RunStopped, events)
    assert (stopped.reason, stopped.failure) == ("failed", "retry_exhausted")


# -- 10 --------------------------------------------------------------------------------------------


@invariant(patch(verbose, "ascii_only", lambda text: text))
async def test_10_all_logs_are_ascii_only(replayed: Replayed) -> None:
    log = replayed.memory()
    steps = tuple(Step(action=action) for action in (OPEN, CLICK, READ, DELETE))
    started = with_settings(session_started.recording("flow", steps, {}, ()))
    async with open_app(log) as app:
        await app.run_session(started, effectors(desk(), started), name="s")
    narrator = Narrator()
    lines = [line for envelope in await envelopes_of(log, "s") for line in narrator.lines(envelope)]
    assert any("PHASE 4: VERIFY" in line for line in lines)
    assert all(line.isascii() for line in lines)
    for line in lines:
        line.encode("cp1252")
