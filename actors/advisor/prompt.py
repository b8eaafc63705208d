"""The prompt asks for one action (S1 2.2, 2.6) at the step where a run is lost. Pure.

What the page says comes from `actors/advisor/page_context.py`, already between its marks.
"""

from collections.abc import Sequence

import msgspec

from rutter.actors.advisor.conversation import DATA, GOAL, GUIDANCE, NOTE, Task, names_told
from rutter.actors.advisor.proposal import NAME, action_spec
from rutter.actors.advisor.token_budget import clipped, line
from rutter.actors.rules.pages.text_form import estimate_tokens, quoted
from rutter.actors.rules.text.untrusted import wrapped
from rutter.actors.world.models.messages import Prompt, UserTurn
from rutter.events.action import (
    DOUBLE,
    Action,
    ByBeside,
    ByCss,
    ByPoint,
    ByRef,
    ByRole,
    ByText,
    Parameter,
    Secret,
    Strategy,
    Text,
    Value,
)
from rutter.events.planner import AdviceRequested
from rutter.events.workflow import Step, Workflow

MAX_LINES = 12  # errors and tries that are told, the newest
LINE = 120
SYSTEM = """You are controlling a web browser to accomplish a task.
You propose ONE action by calling browser_action.

IMPORTANT RULES:
1. Name the element by what you see in the page: css, aria_role and aria_name, text; coordinates
only as a last resort. Give fallback_targets that find it another way.
2. Say honestly how sure you are. Below {least} your proposal is not taken.
3. Nothing irreversible is done without a person; propose it all the same when it is the way.

CURRENT GOAL: {goal}

{guidance}"""
REPAIR = (
    "A recorded way is being followed. Its step below cannot be done any more as it was recorded: "
    "the page has changed. Propose the action that does now what this step did, with does_step "
    "true. If the page must first be brought to where the step can be done, propose that action, "
    "with does_step false."
)
PLAN = "Propose the next action toward the goal."
CORRECT = (
    "What was tried did not work. Reflect on why it failed. You MUST take a fundamentally "
    "different approach: another way to find the element than all that were tried, another "
    "element, or another action."
)


class ActionQuestion(msgspec.Struct, frozen=True):
    """A question has its request, what it is about, and how sure an answer must be (millionths)."""

    request: AdviceRequested
    task: Task
    workflow: Workflow | None = None
    least: int = 600_000


def prompt_for(question: ActionQuestion, context: str, picture: bytes, *, nonce: str) -> Prompt:
    """One question, with the page as `context` has it."""
    request = question.request
    parts = [
        CORRECT if request.purpose == "correct" else "",
        REPAIR if request.index >= 0 else PLAN,
        DATA,
        names_told(question.task.bound),
        _step_told(question.workflow, request.index, nonce),
        _why_told(request.told, nonce),
        _listed("What went wrong", request.errors, nonce),
        _listed("What was tried, and must not be tried again", request.tried, nonce),
        f"The page now:\n{context}",
    ]
    return Prompt(
        system=_system(question),
        turns=(UserTurn("\n\n".join(filter(None, parts)), (picture,) if picture else ()),),
        tools=(action_spec(repairs=request.index >= 0),),
        must_call=NAME,
    )


def prompt_tokens(prompt: Prompt) -> int:
    """The estimate for the texts of a question; tools are counted apart."""
    told = sum(estimate_tokens(each.text) for each in prompt.turns if isinstance(each, UserTurn))
    return estimate_tokens(prompt.system) + told


def _system(question: ActionQuestion) -> str:
    task = question.task
    goal = line(task.goal, GOAL) or "do what the recorded steps do"
    least = f"0.{question.least // 100_000}"
    guidance = clipped(task.guidance, GUIDANCE)
    return SYSTEM.format(goal=goal, guidance=guidance, least=least).rstrip()


def _why_told(note: str, nonce: str) -> str:
    """Between marks: why a step cannot be done quotes what stands on the page in its place."""
    return f"Why you are asked:\n{wrapped(clipped(note, NOTE), nonce)}" if note else ""


def _listed(what: str, lines: Sequence[str], nonce: str) -> str:
    """The newest of them, between marks: an error tells what a page said."""
    if not lines:
        return ""
    told = "\n".join(f"- {line(each, LINE)}" for each in lines[-MAX_LINES:])
    return f"{what}:\n{wrapped(told, nonce)}"


# -- the recorded step in words ------------------------------------------------------------------


def _step_told(workflow: Workflow | None, index: int, nonce: str) -> str:
    """The step with what it was found by then, and the one behind it."""
    if workflow is None or not 0 <= index < len(workflow.steps):
        return ""
    told = [f"step {index + 1} of {len(workflow.steps)}: {step_in_words(workflow.steps[index])}"]
    if index + 1 < len(workflow.steps):
        told.append(f"then comes: {in_words(workflow.steps[index + 1].action)}")
    return f"The recorded step:\n{wrapped(chr(10).join(told), nonce)}"


def step_in_words(step: Step) -> str:
    """`click button "Save" on /orders/*, which led to /orders`"""
    said = in_words(step.action)
    if step.before.path:
        said += f", on {line(step.before.path, LINE)}"
    if step.after.moved and step.after.place is not None:
        said += f", which led to {line(step.after.place.path, LINE)}"
    fingerprint = step.action.target.fingerprint if step.action.target else None
    near = [each.text for each in fingerprint.near if each.text] if fingerprint else []
    if near:
        said += f"; beside it stood {', '.join(quoted(line(each, 30)) for each in near[:3])}"
    return said


def in_words(action: Action) -> str:
    locators = action.locators
    where = " or ".join(_locator(locator) for locator in locators[:4])
    value = _value(action.value)
    match action.type:
        case "navigate":
            return f"go to {line(action.url or '', LINE)}"
        case "type":
            return f"type {value} into {where}"
        case "select":
            return f"select {value} in {where}"
        case "press":
            return f"press {action.key}"
        case "wait":
            return f"wait {action.ms} ms"
        case "scroll" if not locators:
            return f"scroll {action.direction}"
        case "ghost_extract":
            return "read the page from a picture of it"
        case "drag":
            over = action.to.primary if action.to is not None else None
            return f"drag {where} onto {_locator(over) if over is not None else 'nothing'}"
        case "click" if action.count == DOUBLE:
            return f"double click {where}"
        case (
            "click" | "scroll" | "wait_for" | "extract" | "read_page" | "check" | "hover" | "wheel"
        ) as kind:
            return f"{kind.replace('_', ' ')} {where}".strip()


def _locator(locator: Strategy) -> str:
    match locator:
        case ByCss(selector):
            return f"css {line(selector, LINE)}"
        case ByRole(role, name):
            return f"{role} {quoted(line(name, LINE))}"
        case ByText(text):
            return f"text {quoted(line(text, LINE))}"
        case ByBeside(text, how):
            return f"{how} {quoted(line(text, LINE))}"
        case ByPoint(x, y):
            return f"point {x},{y}"
        case ByRef(ref):
            return ref


def _value(value: Value | None) -> str:
    match value:
        case Text(text):
            return quoted(line(text, LINE))
        case Parameter(name) | Secret(name):
            return f"${{{name}}}"
        case _:
            return "a text"
