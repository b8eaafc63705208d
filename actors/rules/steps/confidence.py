"""Confidence decides in a free run whether to act alone, or to suggest a step to a person (C1)."""

from collections.abc import Mapping

from rutter.events.action import Action, Parameter, Secret, Text
from rutter.events.planner import PlanProposed
from rutter.events.run_settings import MILLION, RunSettings

RULE = "suggested"  # the Validator's: what was predicted is not sure enough to be done alone
LONGEST = 60  # characters of what would be typed, in a question
LEAST, MOST = 2, 6  # decimals of a probability in words; there are no more than millionths


def is_suggested(plan: PlanProposed, settings: RunSettings) -> bool:
    """Whether it was put forward although it is not sure enough to be done without a person."""
    probability = plan.probability
    if plan.driver != "prediction" or probability is None:
        return False
    return settings.suggest <= probability < settings.threshold


def why_suggested(
    plan: PlanProposed, settings: RunSettings, values: Mapping[str, str] | None = None
) -> str:
    sure, needed = apart(plan.probability or 0, settings.threshold)
    what = _with(plan.action, values or {})
    told = f" ({what})" if what else ""
    said = f"it is {sure} sure that this comes next{told}"
    return f"{said}, less than the {needed} that it acts on alone"


def _with(action: Action, values: Mapping[str, str]) -> str:
    """What a person must know to say yes, beside the element: where to, which key, what is typed.
    Nothing of it is secret: what was predicted was recorded."""
    match action.value:
        case Text(text):
            return _quoted(text)
        case Parameter(name):
            return _quoted(values[name]) if name in values else f"${{{name}}}"
        case Secret(name):
            return f"the secret {name}"
        case _:
            return action.url or action.key or ""


def _quoted(text: str) -> str:
    more = len(text) - LONGEST
    return repr(text[:LONGEST]) + (f" and {more} characters more" if more > 0 else "")


def hundredths(millionths: int) -> str:
    """S0's two decimals, rounded by integers: 0.825 is 0.83 on every machine."""
    return _rounded(millionths, LEAST)


def apart(less: int, more: int) -> tuple[str, str]:
    """Two probabilities in as few decimals as tell them apart: never 0.70 below 0.70."""
    for decimals in range(LEAST, MOST):
        said = _rounded(less, decimals), _rounded(more, decimals)
        if said[0] != said[1]:
            return said
    return _rounded(less, MOST), _rounded(more, MOST)


def _rounded(millionths: int, decimals: int) -> str:
    unit = MILLION // 10**decimals
    rounded = (millionths + unit // 2) // unit
    return f"{rounded // 10**decimals}.{rounded % 10**decimals:0{decimals}d}"
