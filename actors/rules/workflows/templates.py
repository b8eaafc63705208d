"""Templates put parameters in place of their values in recorded steps, and say what steps need."""

import re
from collections.abc import Container, Iterator, Mapping

import msgspec

from rutter.actors.rules.pages.address import host_of
from rutter.actors.rules.steps.likeness import mapped
from rutter.actors.rules.steps.placeholders import PLACEHOLDER
from rutter.events.action import (
    ByBeside,
    ByCss,
    ByPoint,
    ByRef,
    ByRole,
    ByText,
    Parameter,
    Secret,
    Strategy,
    Target,
    Text,
    locator_text,
)
from rutter.events.checks import texts_of
from rutter.events.planner import PlanProposed
from rutter.events.workflow import Step


def template(name: str) -> str:
    """How a parameter is written inside a selector."""
    return "${" + name + "}"


def told(plan: PlanProposed | None, typed: str | None) -> PlanProposed | None:
    """The plan with what the script typed, once that was told: a literal of every later run."""
    if plan is None or typed is None:
        return plan
    action = msgspec.structs.replace(plan.action, value=Text(typed))
    return msgspec.structs.replace(plan, action=action)


def named_target(target: Target, values: Mapping[str, str]) -> Target:
    """The target with parameters in place of their values, in its locators and fingerprint.

    An element chosen by its data is found by its data alone: anything else on the page that
    happens to match would be another customer's row.
    """
    found = (_parametrised(each, values) for each in target.strategies)
    locators = [each for each in found if each is not None]
    by_data = [each for each in locators if "${" in locator_text(each)]
    known_by = target.fingerprint
    if known_by is not None:
        known_by = mapped(known_by, lambda text: templated(text, values))
    return Target(tuple(dict.fromkeys(by_data or locators)), known_by)


def names_used(
    steps: tuple[Step, ...], known: Container[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Parameters and secrets that the steps need bound, in the order of their first use.

    A page may say `${half}` for reasons of its own: only known names are parameters.
    """
    parameters: dict[str, None] = {}
    secrets: dict[str, None] = {}
    for step in steps:
        match step.action.value:
            case Parameter(name):
                parameters[name] = None
            case Secret(name):
                secrets[name] = None
            case _:
                pass
        secrets |= dict.fromkeys(said.secret for said in step.action.dialogs if said.secret)
        texts = [
            *map(locator_text, step.action.locators),
            *(said.text or "" for said in step.action.dialogs),
        ]
        for text in (*texts, *_checked(step)):
            parameters |= dict.fromkeys(name for name in PLACEHOLDER.findall(text) if name in known)
    return tuple(parameters), tuple(secrets)


def _checked(step: Step) -> Iterator[str]:
    """Every text in what is checked after the step, here or where its result is read back."""
    after = step.after
    checks = [*step.action.verify, *after.checks, *after.learned]
    if after.read_back is not None:
        yield after.read_back.url
        checks += after.read_back.checks
    for check in checks:
        yield from texts_of(check)


def hosts_of(steps: tuple[Step, ...]) -> tuple[str, ...]:
    """Every host:port that the workflow navigates to or stands on, in order."""
    hosts: dict[str, None] = {}
    for step in steps:
        places: list[str] = [step.action.url or "", step.before.origin]
        places.append(step.after.place.origin if step.after.place else "")
        places.append(step.after.read_back.url if step.after.read_back else "")
        for url in places:
            _, host, port = host_of(url)
            if host:
                hosts[f"{host}:{port}" if port else host] = None
    return tuple(hosts)


def _parametrised(strategy: Strategy, values: Mapping[str, str]) -> Strategy | None:
    """The strategy with parameters in place of their values; `None` for a selector that holds
    one, because it is tied to that one run."""
    match strategy:
        case ByRole(role, name):
            return ByRole(role, templated(name, values))
        case ByText(text):
            return ByText(templated(text, values))
        case ByBeside(text, how):
            return ByBeside(templated(text, values), how)
        case ByCss(selector):
            folded = selector.casefold()
            tied = any(value.casefold() in folded for value in _telling(values))
            return None if tied else strategy
        case ByPoint():
            return strategy
        case ByRef():
            return None  # good for one action of one session


def templated(text: str, values: Mapping[str, str]) -> str:
    """`Open Aurora Shipping` as `Open ${customer}`: whole words only, the longest value first."""
    names = {value.strip().casefold(): name for name, value in values.items()}
    telling = sorted(_telling(values), key=len, reverse=True)
    if not telling:
        return text
    either = "|".join(re.escape(value) for value in telling)
    return re.sub(
        rf"(?<!\w)(?:{either})(?!\w)",
        lambda found: template(names[found[0].casefold()]),
        text,
        flags=re.IGNORECASE,
    )


def _telling(values: Mapping[str, str]) -> list[str]:
    """Values long enough to be told from an accident."""
    return [value.strip() for value in values.values() if len(value.strip()) > 2]
