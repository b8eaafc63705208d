"""From what happened in a recording to a workflow that can be sailed: pure assembly.

Each step keeps what it was done to (every way to find it, and its fingerprint), where it was due
and what it changed. What varies from run to run is taken out: typed parameters, ids in paths,
and names of elements that are a parameter's value.
"""

import re
from collections.abc import Container, Iterator, Mapping

import msgspec

from actors.bindings import PLACEHOLDER
from actors.effects import Look, effects
from actors.expecting import ending, expectation
from actors.likeness import mapped
from actors.place import host_of, place_of_page
from events.action import (
    CLICKS,
    Action,
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
)
from events.checks import texts_of
from events.page import Artifact, Page, Resolved
from events.planner import PlanProposed
from events.service_pack import Service
from events.workflow import Criteria, Expectation, Standing, Step, Workflow

# A3's order of preference. CSS by test id or id comes first because it survives a new wording.
_RANK: dict[type[Strategy], int] = {ByCss: 0, ByRole: 1, ByText: 2, ByPoint: 3, ByRef: 4}


class Performed(msgspec.Struct, frozen=True):
    """One step as it went: proposed, resolved, judged, with the page before and after."""

    action: Action
    element: Resolved | None
    before: Look
    after: Look
    approved: bool = False
    downloads: tuple[str, ...] = ()
    stated: Expectation | None = None
    irreversible: bool = False
    picture: Artifact | None = None


def template(name: str) -> str:
    """How a parameter is written inside a selector."""
    return "${" + name + "}"


def told(plan: PlanProposed | None, typed: str | None) -> PlanProposed | None:
    """The plan with what the script typed, once that was told: a literal of every later run."""
    if plan is None or typed is None:
        return plan
    action = msgspec.structs.replace(plan.action, value=Text(typed))
    return msgspec.structs.replace(plan, action=action)


def canonical(action: Action, element: Resolved | None, values: Mapping[str, str]) -> Action:
    """The action with its target as the page itself names it, whoever found it first.

    So the same step has the same signature recorded by hand, from a script or by a model.
    """
    if element is None or action.target is None:
        return action
    ways = list(element.ways) + [s for s in action.target.strategies if s not in element.ways]
    ways.sort(key=lambda strategy: _RANK[type(strategy)])
    target = named_target(Target(tuple(ways), element.fingerprint), values)
    if not target.strategies:
        target = msgspec.structs.replace(target, strategies=action.target.strategies)
    to = named_target(action.to, values) if action.to is not None else None
    return msgspec.structs.replace(action, target=target, to=to)


def named_target(target: Target, values: Mapping[str, str]) -> Target:
    """The target with parameters in place of their values, in its ways and in its fingerprint.

    An element chosen by its data is found by its data alone: anything else on the page that
    happens to match would be another customer's row.
    """
    ways = [each for way in target.strategies if (each := _parametrised(way, values)) is not None]
    by_data = [way for way in ways if _is_template(way)]
    known_by = target.fingerprint
    if known_by is not None:
        known_by = mapped(known_by, lambda text: templated(text, values))
    return Target(tuple(dict.fromkeys(by_data or ways)), known_by)


def standing_of(element: Resolved) -> Standing:
    return Standing(element.origin, element.digest, element.identity, element.home)


def recorded_step(performed: Performed, values: Mapping[str, str]) -> Step:
    action = canonical(performed.action, performed.element, values)
    element = performed.element
    standing = standing_of(element) if element is not None else None
    before, after = performed.before, performed.after
    clicked = action.type in CLICKS
    expects = expectation(before.page, after.page, values, element, clicked=clicked)
    learned = effects(action, element, before, after, performed.downloads, values)
    stated = performed.stated or Expectation()
    return Step(
        action=action,
        before=place_of_page(before.page, values.values()),
        after=msgspec.structs.replace(
            expects,
            state=after.state,
            learned=learned,
            checks=stated.checks,
            read_back=stated.read_back,
        ),
        standing=standing if performed.approved else None,
        state=before.state,
        irreversible=performed.irreversible,
        picture=performed.picture,
    )


def healed_step(step: Step, action: Action, element: Resolved | None, *, approved: bool) -> Step:
    """The recorded step on the element that it was healed to. What approved the old element does
    not approve this one; a person who was asked about it does."""
    standing = None
    if approved and element is not None:
        standing = standing_of(element)
    return msgspec.structs.replace(step, action=action, standing=standing)


def healed_workflow(
    workflow: Workflow, steps: Mapping[int, Step], version: int, session: str
) -> Workflow:
    """The next version: these steps as they were healed, everything else as it was."""
    mended = tuple(
        msgspec.structs.replace(steps[index], picture=step.picture) if index in steps else step
        for index, step in enumerate(workflow.steps)
    )
    return msgspec.structs.replace(workflow, version=version, steps=mended, session=session)


def pictured_as(workflow: Workflow, newest: Workflow | None) -> Workflow:
    """With the pictures of its steps, which a run leaves out."""
    if newest is None or len(newest.steps) != len(workflow.steps):
        return workflow
    pairs = zip(workflow.steps, newest.steps, strict=True)
    steps = tuple(msgspec.structs.replace(step, picture=of.picture) for step, of in pairs)
    return msgspec.structs.replace(workflow, steps=steps)


class Mend(msgspec.Struct, frozen=True):
    """What a model did when the step `at` was due, and which one was due then: the next one when
    it stood for that step, the same one when it only led there, a later one when it went ahead.
    Without a step those in between were not needed. `helped`: a model or the service's way did it.
    """

    at: int
    step: Step | None
    to: int
    helped: bool = False


def mended_workflow(
    workflow: Workflow, mends: tuple[Mend, ...], last: Page, values: Mapping[str, str]
) -> Workflow:
    """The workflow as it went this time: steps replaced, put in and left out. Its end is the page
    that it ended on, which was verified."""
    steps: list[Step] = []
    due = 0
    replaced = {mend.at for mend in mends if mend.step is not None and mend.to == mend.at}
    for mend in mends:
        steps += workflow.steps[due : max(due, mend.at)]
        if mend.step is not None:
            steps.append(mend.step)
        elif mend.at not in replaced:
            # Whoever was signed in already has not unlearned how to sign in.
            passed = workflow.steps[max(due, mend.at) : mend.to]
            steps += [step for step in passed if step.state == "LOGIN_REQUIRED"]
        due = max(due, mend.to)
    steps += workflow.steps[due:]
    made = tuple(steps)
    parameters, secrets = names_used(made, values)
    return msgspec.structs.replace(
        workflow,
        steps=made,
        end=ending(last, values),
        parameters=parameters,
        secrets=secrets,
        hosts=tuple(dict.fromkeys((*workflow.hosts, *hosts_of(made)))),
    )


def named_value(action: Action, values: Mapping[str, str]) -> Action:
    """What a model typed and is a bound value is that parameter."""
    if not isinstance(action.value, Text):
        return action
    for name, value in values.items():
        if value and value == action.value.text:
            return msgspec.structs.replace(action, value=Parameter(name))
    return action


def assemble(
    name: str,
    version: int,
    steps: tuple[Step, ...],
    last: Page | None,
    values: Mapping[str, str],
    *,
    complete: bool,
    session: str,
    service: Service | None = None,
    goal: str = "",
    criteria: Criteria | None = None,
) -> Workflow:
    parameters, secrets = names_used(steps, values)
    return Workflow(
        name=name,
        version=version,
        steps=steps,
        end=ending(last, values) if last is not None else Expectation(),
        parameters=parameters,
        secrets=secrets,
        hosts=hosts_of(steps),
        complete=complete,
        session=session,
        service=service,
        goal=goal,
        criteria=criteria,
    )


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
        ways = step.action.target.strategies if step.action.target else ()
        texts = [*map(_text_of, ways), *(said.text or "" for said in step.action.dialogs)]
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


def _is_template(strategy: Strategy) -> bool:
    return "${" in _text_of(strategy)


def _text_of(strategy: Strategy) -> str:
    match strategy:
        case ByRole(_, name):
            return name
        case ByText(text):
            return text
        case ByCss(selector):
            return selector
        case ByPoint() | ByRef():
            return ""
