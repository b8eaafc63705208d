"""Trails are sessions: the plain one, and those with trouble in them."""

from collections.abc import Callable

from rutter.events.action import Action, Untrusted
from rutter.events.advisor import AdvicePrepared, AdviceReceived, Proposal, TokenUsage
from rutter.events.critic import ActionJudged, Evidence, PageAssessed
from rutter.events.executor import ActionDone, TargetResolved
from rutter.events.observer import PageObserved
from rutter.events.page import Artifact, Page, PageElement, Try
from rutter.events.planner import AdviceRequested, PlanProposed, RunStopped
from rutter.events.predictor import StepDue, TransitionLearned
from rutter.events.runtime import Failure, SessionEnded, StopReason
from rutter.events.validator import ActionApproved, ActionStarted, PlanAdmitted
from tests.support.shop_facts import click, element, judged, plan, run_of, step, workflow
from tests.support.trails import Trail

CLICK = click("#go")
PROMPT = Artifact("5e" * 32, 4_400, "application/json")


def observed(path: str = "/", **more: object) -> PageObserved:
    page = Page(
        url=f"https://shop.example{path}",
        title=Untrusted("Shop"),
        elements=(PageElement("button"),),
    )
    return PageObserved(page, "after_action", took_us=500, **more)  # type: ignore[arg-type]


def begin(trail: Trail, *, steps: int = 1) -> None:
    """The session starts and the page is looked at."""
    flow = workflow(*[step(CLICK)] * steps)
    trail.tell("runtime", run_of(flow, values={"customer": "Aurora Shipping"}), cause=0)
    trail.later(20)
    trail.tell("observer", observed())
    trail.tell("critic", PageAssessed())


def propose(trail: Trail, number: int = 1, attempt: int = 1, action: Action = CLICK) -> None:
    """The workflow's next step is due and planned."""
    trail.tell("predictor", StepDue(number - 1, 1, step(action)), cause=_assessed(trail))
    proposed = plan(action, "workflow", number=number, attempt=attempt, index=number - 1)
    trail.tell("planner", proposed)


def resolve(trail: Trail, number: int = 1, attempt: int = 1) -> None:
    trail.tell("validator", PlanAdmitted(number, attempt, CLICK, 3_000))
    found = TargetResolved(
        number, attempt, element(name="Go"), (Try(0, 1, "taken"),), took_us=2_000
    )
    trail.tell("executor", found, ms=3)


def approve(trail: Trail, number: int = 1, attempt: int = 1) -> None:
    approved = ActionApproved(number, "nothing_matched", "no rule is against it", "1")
    trail.tell("validator", approved, ActionStarted(number, attempt, CLICK, "e1"))


def act(trail: Trail, number: int = 1, attempt: int = 1) -> None:
    trail.tell("executor", ActionDone(number, attempt, took_us=10_000), ms=12)


def judge(trail: Trail, verdict: ActionJudged | None = None) -> None:
    """The page is looked at again and the Critic says what it was; learning follows."""
    seen = trail.tell("observer", observed("/done"), ms=2)
    said = verdict or ActionJudged(
        1, 1, "confirmed", "as_recorded", (Evidence("DOM", "the page moved", 1_000_000),)
    )
    trail.tell("critic", said, PageAssessed(), cause=seen)
    if said.verdict == "confirmed":
        learned = TransitionLearned("t", "s", CLICK)
        trail.tell("predictor", learned, cause=trail.n - 1)


def _assessed(trail: Trail) -> int:
    """Where the page was last found fit to go on from."""
    return [told.n for told in trail.events if isinstance(told.event, PageAssessed)][-1]


def whole_step(trail: Trail, number: int = 1) -> None:
    propose(trail, number)
    resolve(trail, number)
    approve(trail, number)
    act(trail, number)
    judge(trail, judged(number=number))


def under_way(*done: Callable[[Trail], None]) -> Trail:
    """A session that has begun, and got so far."""
    trail = Trail()
    for each in (begin, *done):
        each(trail)
    return trail


def end(
    trail: Trail, reason: StopReason = "completed", failure: Failure = "", detail: str = "done"
) -> None:
    trail.tell("planner", RunStopped(reason, failure, detail, step=1))
    trail.tell("runtime", SessionEnded(reason, failure, detail))


def plain(session: str = "run-1", *, steps: int = 1, seq: int = 0) -> Trail:
    """A run that goes well."""
    trail = Trail(session, seq=seq)
    begin(trail, steps=steps)
    for number in range(1, steps + 1):
        whole_step(trail, number)
    end(trail)
    return trail


def advised(session: str = "run-1") -> Trail:
    """Lost, so that a model is asked, which proposes the step."""
    trail = Trail(session)
    begin(trail)
    trail.tell("planner", AdviceRequested("a1", "plan", "anthropic", "claude-sonnet-5", step=1))
    trail.tell("advisor", AdvicePrepared("a1", PROMPT, 1_100, 1, ("picture",), 2), ms=20)
    answer = AdviceReceived(
        "a1",
        "anthropic",
        "claude-sonnet-5",
        proposal=Proposal(CLICK, 900_000, "RETENTION_OFFER", "COMPLETE"),
        text=Untrusted("The button leads on."),
        usage=TokenUsage(1_200, 80, 1_000, 150),
        cost_microdollars=4_800,
        took_ms=700,
    )
    trail.tell("advisor", answer, ms=750)
    trail.tell("planner", PlanProposed(1, 1, "model", CLICK, "advised", certainty=900_000))
    resolve(trail)
    approve(trail)
    act(trail)
    judge(trail)
    end(trail)
    return trail
