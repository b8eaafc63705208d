"""Facts tell deciders of one made-up shop: short to write, complete enough to be judged."""

from typing import Any

from rutter.actors.logic_version import LOGIC
from rutter.actors.rules.policy.policy import DEFAULT_POLICY
from rutter.events.action import Action, ActionType, ByCss, Target, Text, Untrusted, Value
from rutter.events.checks import TextVisible
from rutter.events.critic import ActionJudged, Verdict
from rutter.events.executor import ActionDone, ActionFailed, ErrorCode, TargetResolved
from rutter.events.observer import PageObserved
from rutter.events.page import Page, Resolved
from rutter.events.planner import PlanProposed
from rutter.events.policy import Policy
from rutter.events.run_settings import Limits, RunSettings
from rutter.events.runtime import SessionStarted
from rutter.events.validator import ActionStarted
from rutter.events.workflow import Driver, Expectation, Place, Step, Workflow

ORIGIN = "https://shop.example"


def css(*selectors: str) -> Target:
    return Target(tuple(ByCss(selector) for selector in selectors))


def go_to(path: str = "/", origin: str = ORIGIN) -> Action:
    return Action("navigate", url=origin + path)


def click(selector: str = "#go") -> Action:
    return Action("click", target=css(selector))


def fill(selector: str = "#name", value: Value | str = "Ann") -> Action:
    bound = Text(value) if isinstance(value, str) else value
    return Action("type", target=css(selector), value=bound)


def any_action(kind: ActionType) -> Action:
    """A well-formed action of this type."""
    match kind:
        case "navigate":
            return go_to("/")
        case "type" | "select":
            return Action(kind, target=css("#field"), value=Text("one"))
        case "press":
            return Action(kind, key="Enter")
        case "scroll":
            return Action(kind, direction="down", amount=300)
        case "wait":
            return Action(kind, ms=10)
        case "check":
            return Action(kind, verify=(TextVisible("Done"),))
        case "drag":
            return Action(kind, target=css("#it"), to=css("#there"))
        case "wheel":
            return Action(kind, target=css("#it"), by=(0, 100))
        case "read_page" | "ghost_extract":
            return Action(kind)
        case "click" | "wait_for" | "extract" | "hover":
            return Action(kind, target=css("#it"))


def page(path: str = "/", digest: str = "", heading: str = "", **more: Any) -> Page:
    """A page of the shop. Its digest is its path unless something on it changed."""
    if heading:
        more["headings"] = (Untrusted(heading),)
    return Page(url=ORIGIN + path, digest=digest or path, **more)


def saw(seen: Page) -> PageObserved:
    return PageObserved(page=seen, why="after_action")


def element(tag: str = "button", digest: str = "e1", name: str = "Next", **more: Any) -> Resolved:
    return Resolved(tag=tag, digest=digest, name=Untrusted(name), origin=ORIGIN, **more)


def found(what: Resolved, step: int = 1, attempt: int = 1) -> TargetResolved:
    return TargetResolved(step, attempt, what)


def place(path: str = "/") -> Place:
    return Place(ORIGIN, path)


def step(action: Action, at: str = "/", leads_to: str | None = None, **more: Any) -> Step:
    """A recorded step on page `at` that led to page `leads_to`, or else changed its own."""
    moved = leads_to is not None and leads_to != at
    after = Expectation(moved=moved, place=place(leads_to or at))
    return Step(action=action, before=place(at), after=after, **more)


def workflow(*steps: Step, **more: Any) -> Workflow:
    return Workflow(name="order", version=1, steps=steps, **more)


def settings(**more: Any) -> RunSettings:
    """Run settings; `max_steps` and its like go to the limits."""
    limits = {key: more.pop(key) for key in list(more) if key.startswith("max_")}
    return RunSettings(limits=Limits(**limits), **more)


def run_of(
    flow: Workflow | None, *, policy: Policy = DEFAULT_POLICY, values: Any = None, **more: Any
) -> SessionStarted:
    """A named run: `more` are settings."""
    return SessionStarted(
        purpose="run",
        driver="workflow",
        logic=LOGIC,
        settings=settings(**more),
        policy=policy,
        name=flow.name if flow else "",
        workflow=flow,
        values=values or {},
    )


def recording_of(
    *script: Action, policy: Policy = DEFAULT_POLICY, values: Any = None, **more: Any
) -> SessionStarted:
    return SessionStarted(
        purpose="record",
        driver="script",
        logic=LOGIC,
        settings=settings(**more),
        policy=policy,
        name="order",
        script=tuple(Step(action=action) for action in script),
        values=values or {},
    )


def free_run(*script: Action, policy: Policy = DEFAULT_POLICY, **more: Any) -> SessionStarted:
    return SessionStarted(
        purpose="free",
        driver="prediction",
        logic=LOGIC,
        settings=settings(**more),
        policy=policy,
        script=tuple(Step(action=action) for action in script),
    )


def plan(
    action: Action, driver: Driver = "script", *, number: int = 1, attempt: int = 1, **more: Any
) -> PlanProposed:
    return PlanProposed(number, attempt, driver, action, "because", **more)


def intent(
    action: Action, number: int = 1, attempt: int = 1, *, irreversible: bool = False
) -> ActionStarted:
    return ActionStarted(number, attempt, action, irreversible=irreversible)


def done(number: int = 1, attempt: int = 1, **more: Any) -> ActionDone:
    return ActionDone(number, attempt, took_us=1, **more)


def failed(code: ErrorCode, *, dispatched: bool, number: int = 1, attempt: int = 1) -> ActionFailed:
    return ActionFailed(number, attempt, code, dispatched)


def judged(verdict: Verdict = "confirmed", number: int = 1, attempt: int = 1) -> ActionJudged:
    return ActionJudged(number, attempt, verdict, "seen")
