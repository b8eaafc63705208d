"""The choice says what a run follows: a workflow that is known, or a goal whose steps are not known
yet."""

import re
import unicodedata
from collections.abc import Iterable
from typing import NamedTuple

from rutter.actors.rules.pages.address import is_at, place_of
from rutter.actors.rules.tools.tool_table import SEVEN
from rutter.events.action import Secret
from rutter.events.errors import BadInput, PolicyDenied
from rutter.events.service_pack import Service
from rutter.events.workflow import Workflow
from rutter.pipeline.config.keys import written
from rutter.pipeline.config.reader import Config
from rutter.pipeline.queries.workflows_and_sessions import (
    Tables,
    known_workflows,
    latest_workflow,
    workflow_version,
)
from rutter.pipeline.sessions.models import is_on
from rutter.pipeline.sessions.request import RunRequest
from rutter.pipeline.sessions.session_started import Given

LONGEST = 40  # characters of a name that is made of a goal


class Course(NamedTuple):
    """A workflow, or a goal; the way to it is learned as `name`. Neither: a free run."""

    workflow: Workflow | None = None
    goal: str = ""
    name: str = ""

    @property
    def leads(self) -> bool:
        """Whether there is no way yet, and somebody has to find it."""
        return self.workflow is None and bool(self.name)


def chosen(asked: RunRequest, tables: Tables, given: Given) -> Course:
    """What is known is run; to a goal that nothing known comes to, a way is looked for."""
    if asked.goal is not None and not asked.goal.strip():
        raise BadInput("the goal says nothing", "write --goal TEXT: what it is to come to")
    goal = " ".join((asked.goal or "").split())
    if asked.free:
        if asked.name:
            raise BadInput(
                f"a free run follows no workflow, and {asked.name!r} names one",
                "leave out the name, or leave out --free to run the workflow",
            )
        return Course(goal=goal)
    meant = goal or (given.service.goal if given.service is not None else "")
    if not meant:
        return Course(_begun_at(asked.url, _named(asked, tables)))
    flows = known_workflows(tables)
    flow = _by_name(asked.name, flows) if asked.name else _by_goal(meant, asked.url, flows)
    if flow is None:
        _check_new(asked, meant, flows)
        _check_leading(asked, tables.settings.config, given.service)
        taken = {each.name for each in flows}
        return Course(None, meant, asked.name or name_for(meant, taken))
    if goal and flow.goal and not _same(goal, flow.goal):
        raise BadInput(
            f"workflow {flow.name!r} comes to another goal: {flow.goal!r}",
            "leave out --goal to run it, or give the new way a name of its own",
        )
    return Course(_begun_at(asked.url, flow), flow.goal or goal, flow.name)


def name_for(goal: str, taken: Iterable[str]) -> str:
    """A short name that no workflow has: `cancel-my-subscription`."""
    plain = unicodedata.normalize("NFKD", goal.casefold()).encode("ascii", "ignore").decode()
    words, name = re.findall(r"[a-z0-9]+", plain), ""
    for word in words:
        longer = f"{name}-{word}" if name else word[:LONGEST]
        if len(longer) > LONGEST:
            break
        name = longer
    name, known, number = name or "goal", set(taken), 1
    while (made := name if number == 1 else f"{name}-{number}") in known:
        number += 1
    return made


def has_scripts(given: Given) -> bool:
    """Whether the service says how it goes without a model."""
    return given.service is not None and bool(given.service.ways)


def secrets_in(service: Service | None) -> tuple[str, ...]:
    """The secrets that the ways of a service type."""
    actions = [each for way in (service.ways if service else ()) for each in way.actions]
    named = (each.value.name for each in actions if isinstance(each.value, Secret))
    return tuple(dict.fromkeys(named))


def _named(asked: RunRequest, tables: Tables) -> Workflow:
    if not asked.name:
        raise BadInput(
            "which workflow?", "rutter run NAME, or run --goal TEXT --url URL, or run --free"
        )
    if asked.version:
        return workflow_version(tables.now(), asked.name, asked.version)
    return latest_workflow(tables.now(), asked.name)


def _by_name(name: str, flows: list[Workflow]) -> Workflow | None:
    """One that was not done to its end is no way to any goal."""
    return next((each for each in flows if each.name == name and each.complete), None)


def _by_goal(goal: str, url: str | None, flows: list[Workflow]) -> Workflow | None:
    """The same goal elsewhere is another one: where it begins is compared, if it is said."""
    for flow in flows:
        here = not url or _begins_at(url, flow)
        if flow.complete and flow.goal and here and _same(goal, flow.goal):
            return flow
    return None


def _begins_at(url: str, flow: Workflow) -> bool:
    """Whether that is its first address, whatever the query: origin and path, with what varies."""
    begins = re.sub(r"\$\{\w+\}", "0", _first_address(flow))
    return is_at(place_of(begins), url)


def _first_address(flow: Workflow) -> str:
    return next((each.action.url for each in flow.steps if each.action.url), "") or ""


def _begun_at(url: str | None, flow: Workflow) -> Workflow:
    """The workflow, which begins where it was recorded: nobody is sent elsewhere in silence."""
    begins = _first_address(flow)
    if url and begins and not _begins_at(url, flow):
        raise BadInput(
            f"workflow {flow.name!r} begins at {begins}, not at {url}",
            "leave out --url to run it, or give the way from there a name of its own",
        )
    return flow


def _check_new(asked: RunRequest, goal: str, flows: list[Workflow]) -> None:
    """One way to a goal is enough: a second one by another name is hardly meant."""
    known = _by_goal(goal, asked.url, flows) if asked.name else None
    if known is not None:
        raise BadInput(
            f"workflow {known.name!r} comes to this goal already",
            f"rutter run {known.name}; or to have it by this name: "
            f"rutter workflows rename {known.name} {asked.name}",
        )


def _same(one: str, other: str) -> bool:
    return " ".join(one.casefold().split()) == " ".join(other.casefold().split())


def _check_leading(asked: RunRequest, config: Config, service: Service | None) -> None:
    """Nobody leads a run by itself unless it was turned on (H3); a service's own ways need none."""
    if service is not None and service.ways:
        return
    what = "policy_denied: no workflow comes to this goal yet"
    if asked.no_model:
        raise PolicyDenied(f"{what}, and no model is to be asked", "leave out --no-model")
    if not is_on(config):
        tools = written(tuple(each.name for each in SEVEN))
        raise PolicyDenied(
            f"{what}, and no language model may lead a run",
            "turn it on in the configuration: agent.internal.enabled = true and "
            f"agent.internal.allowed_tools = {tools}; or record the way: rutter record NAME",
        )
    if not config.flag("planner.use_llm"):
        raise PolicyDenied(f"{what}, and planner.use_llm is false", "set it to true")
