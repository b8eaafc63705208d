"""A recording becomes a workflow that can be run: pure assembly.

Each step keeps what it was done to (every locator, and its fingerprint), where it was due and what
it changed. What varies from run to run is taken out: typed parameters, ids in paths, and names of
elements that are a parameter's value.
"""

from collections.abc import Mapping

import msgspec

from rutter.actors.rules.pages.address import place_of_page
from rutter.actors.rules.pages.changes import PageMoment, effects
from rutter.actors.rules.pages.expected_changes import ending, expectation
from rutter.actors.rules.workflows.templates import hosts_of, named_target, names_used
from rutter.events.action import (
    CLICKS,
    Action,
    ByBeside,
    ByCss,
    ByPoint,
    ByRef,
    ByRole,
    ByText,
    Parameter,
    Strategy,
    Target,
    Text,
)
from rutter.events.page import Artifact, Page, Resolved
from rutter.events.service_pack import Service
from rutter.events.workflow import Criteria, Expectation, StandingApproval, Step, Workflow

# A3's order of preference. CSS by test id or id comes first because it survives a new wording.
_RANK: dict[type[Strategy], int] = {
    **{ByCss: 0, ByRole: 1, ByText: 2},
    **{ByPoint: 3, ByRef: 4, ByBeside: 5},
}


class PerformedStep(msgspec.Struct, frozen=True):
    """A performed step was proposed, resolved and judged, with the page before and after."""

    action: Action
    element: Resolved | None
    before: PageMoment
    after: PageMoment
    approved: bool = False
    downloads: tuple[str, ...] = ()
    stated: Expectation | None = None
    irreversible: bool = False
    picture: Artifact | None = None


def canonical(action: Action, element: Resolved | None, values: Mapping[str, str]) -> Action:
    """The action with its target as the page itself names it, whoever found it first.

    So the same step has the same signature recorded by hand, from a script or by a model.
    """
    if element is None or action.target is None:
        return action
    if isinstance(action.target.primary, ByBeside):  # what it says is another in each run
        beside = named_target(Target(action.target.strategies), values)
        return msgspec.structs.replace(action, target=beside)
    locators = list(element.ways) + [s for s in action.target.strategies if s not in element.ways]
    locators.sort(key=lambda strategy: _RANK[type(strategy)])
    target = named_target(Target(tuple(locators), element.fingerprint), values)
    if not target.strategies:
        target = msgspec.structs.replace(target, strategies=action.target.strategies)
    to = named_target(action.to, values) if action.to is not None else None
    return msgspec.structs.replace(action, target=target, to=to)


def standing_approval_of(element: Resolved) -> StandingApproval:
    return StandingApproval(element.origin, element.digest, element.identity, element.home)


def recorded_step(performed: PerformedStep, values: Mapping[str, str]) -> Step:
    action = canonical(performed.action, performed.element, values)
    element = performed.element
    standing_approval = standing_approval_of(element) if element is not None else None
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
        standing_approval=standing_approval if performed.approved else None,
        state=before.state,
        irreversible=performed.irreversible,
        picture=performed.picture,
    )


def healed_step(step: Step, action: Action, element: Resolved | None, *, approved: bool) -> Step:
    """The recorded step on the element that it was healed to. What approved the old element does
    not approve this one; a person who was asked about it does."""
    standing_approval = None
    if approved and element is not None:
        standing_approval = standing_approval_of(element)
    return msgspec.structs.replace(step, action=action, standing_approval=standing_approval)


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


class ModelRepair(msgspec.Struct, frozen=True):
    """A model did this when the step `at` was due. The next one is due then when it stood for that
    step, the same one when it only led there, a later one when it went ahead. Without a step those
    in between were not needed. `helped`: a model or the service script did it."""

    at: int
    step: Step | None
    to: int
    helped: bool = False


def mended_workflow(
    workflow: Workflow, mends: tuple[ModelRepair, ...], last: Page, values: Mapping[str, str]
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
