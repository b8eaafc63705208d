"""`SessionStarted` pins everything that a session depends on."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any, TypedDict, Unpack

import msgspec

from rutter.actors.logic_version import LOGIC
from rutter.actors.rules.policy.policy import DEFAULT_POLICY
from rutter.actors.rules.steps.check_results import files_in, filled
from rutter.actors.rules.workflows.templates import hosts_of
from rutter.events.action import Action
from rutter.events.checks import path_of
from rutter.events.errors import BadInput
from rutter.events.policy import Policy
from rutter.events.run_settings import MILLION, Limits, ModelUse, RunSettings
from rutter.events.runtime import SessionStarted
from rutter.events.service_pack import Service
from rutter.events.workflow import Criteria, Step, Workflow
from rutter.pipeline.config.thresholds import Thresholds
from rutter.pipeline.sessions.service_script_file import sign_in_script
from rutter.pipeline.sessions.session_policy import (
    Origins,
    check_script,
    host_typed,
    not_told,
    policy_for,
    secret_origins,
)

WORKFLOW_WALL_MS = 300_000  # E6: a named workflow has five minutes
TOOLS_WALL_MS = 300_000  # of work on calls; how long the caller thinks is not counted
TOOLS_RESOLVE_MS = 500  # a ref is there or it is not; a second try looks for what it was
TOOLS_SETTLE_MS = 500  # S3 2.2.1: a scroll has a second in all, also one that moves nothing
TOOLS_PLACE_MS = 1_000
DONE_BY = "complete_task"  # how a model says that it is done
MAX_TURNS = 20  # E6: of a conversation that an agent or a model leads


class Given(msgspec.Struct, frozen=True):
    """A person gives the service, by what its pages show an end, and where files may be."""

    service: Service | None = None
    criteria: Criteria | None = None
    folders: tuple[str, ...] = ()


class SessionTerms(TypedDict, total=False):
    """Any session may be started on these terms: hosts beside its own, the configured policy, a dry
    run, what is known of the service, and where each secret belongs."""

    allow: Iterable[str]
    policy: Policy
    dry_run: bool
    screenshots: bool
    given: Given
    origins: Origins


NOTHING = Given()
# What a session has whose configuration says nothing. The event's own defaults are older: they say
# what logs mean in which a setting is left out.
NEW = RunSettings(**msgspec.structs.asdict(Thresholds()), looks_back=True)
DEFAULT_LIMITS = Limits()
RECORDS: Mapping[str, Any] = {"compares": True, "newest_first": True, "seeks_proof": True}
TOOLS_WAITS: Mapping[str, Any] = {
    "resolve_ms": TOOLS_RESOLVE_MS,
    "settle_ms": TOOLS_SETTLE_MS,
    "place_ms": TOOLS_PLACE_MS,
    "answer_ms": TOOLS_PLACE_MS,
}


def recording(
    name: str,
    script: tuple[Step, ...],
    values: Mapping[str, str],
    secrets: Iterable[str],
    **terms: Unpack[SessionTerms],
) -> SessionStarted:
    """A recording from a script. Public hosts may be gone to; private ones only when named."""
    check_folders(script, values, _given(terms).folders)
    check_script(script, terms.get("policy", DEFAULT_POLICY))
    limits = limits_for(len(script))
    said: dict[str, Any] = {"purpose": "record", "driver": "script", "name": name, "script": script}
    return _start(terms, limits, values, secrets, public=True, settings=RECORDS, **said)


def watching(
    name: str,
    url: str,
    values: Mapping[str, str],
    *,
    attended: bool = False,
    **terms: Unpack[SessionTerms],
) -> SessionStarted:
    """A recording of a person. It begins with going to `url`; from there on they act. If somebody
    reads what is said when it is over, a read-back that was found is proposed to them."""
    settings = {**RECORDS, "proposes": attended}
    said: dict[str, Any] = {"purpose": "record", "driver": "person", "name": name, "url": url}
    return _start(terms, limits_for(1), values, (), public=True, settings=settings, **said)


def run_of(
    workflow: Workflow,
    values: Mapping[str, str],
    secrets: Iterable[str],
    *,
    seeks_proof: bool = False,
    **terms: Unpack[SessionTerms],
) -> SessionStarted:
    """A run of a named workflow: it is followed step by step, among its own hosts.
    `seeks_proof`: it looks where its results show, except when it is only tried."""
    bound, given = set(secrets), _given(terms)
    check_bound(workflow, values, bound)
    check_folders(workflow.steps, values, given.folders)
    terms["given"] = msgspec.structs.replace(
        given,
        criteria=given.criteria or workflow.criteria,
        service=given.service or workflow.service,
    )
    told = tuple(terms.get("origins", ()))
    terms["origins"] = (*told, *not_told(secret_origins(workflow), told))
    # What is optional may be looked for twice.
    limits = limits_for(len(workflow.steps) + sum(step.optional for step in workflow.steps))
    return _start(
        terms,
        limits,
        values,
        sorted(bound),
        hosts=workflow.hosts or hosts_of(workflow.steps),
        resources=workflow.resources,
        settings={"seeks_proof": seeks_proof and not terms.get("dry_run")},
        purpose="run",
        driver="workflow",
        name=workflow.name,
        workflow=without_pictures(workflow),
        goal=workflow.goal,
    )


def without_pictures(workflow: Workflow) -> Workflow:
    """What a run needs to know: every step of it is in the log, and none looks at a picture."""
    steps = tuple(
        msgspec.structs.replace(step, picture=None) if step.picture is not None else step
        for step in workflow.steps
    )
    return msgspec.structs.replace(workflow, steps=steps)


def free_run(
    url: str,
    values: Mapping[str, str],
    secrets: Iterable[str],
    *,
    threshold: int = NEW.threshold,
    limits: Limits = DEFAULT_LIMITS,
    goal: str = "",
    **terms: Unpack[SessionTerms],
) -> SessionStarted:
    """A run with no workflow named: only where the learned probability clears the threshold, a
    person says yes to what is suggested, or a language model says what to do for the goal."""
    if not 0 <= threshold <= MILLION:
        raise BadInput("the threshold is a probability", "give --threshold from 0 to 1")
    settings = {"threshold": threshold}
    said: dict[str, Any] = {"purpose": "free", "driver": "prediction", "url": url, "goal": goal}
    return _start(terms, limits, values, secrets, settings=settings, **said)


def goal_run(
    name: str,
    goal: str,
    url: str,
    values: Mapping[str, str],
    secrets: Iterable[str],
    *,
    models: ModelUse | None,
    limits: Limits = DEFAULT_LIMITS,
    **terms: Unpack[SessionTerms],
) -> SessionStarted:
    """A run that a model leads to a goal by calls of tools, and that is learned as `name`. Without
    `models` it goes the way that the service knows."""
    check_goal(goal, url, models, _given(terms))
    bound = tuple(secrets)
    terms["given"] = signing_in(_given(terms), values, bound)
    turns = msgspec.structs.replace(limits, max_turns=MAX_TURNS)
    return _start(
        terms,
        turns,
        values,
        bound,
        settings=TOOLS_WAITS,
        purpose="tools",
        driver="model",
        name=name,
        url=url,
        goal=goal,
        models=models,
    )


def signing_in(given: Given, values: Mapping[str, str], secrets: Sequence[str]) -> Given:
    """No model is shown a sign-in page. Where the service does not say how it is passed, what is
    bound is put where such pages ask for it; its origin is still for the policy to judge."""
    service = given.service or Service("any")
    way = sign_in_script(values, secrets)
    if way is None or any(each.state == "LOGIN_REQUIRED" for each in service.ways):
        return given
    known = msgspec.structs.replace(service, ways=(*service.ways, way))
    return msgspec.structs.replace(given, service=known)


def check_goal(goal: str, url: str, models: ModelUse | None, given: Given) -> None:
    """What could not be led to an end, or not be known to have come to one (D5), is refused before
    anything is opened."""
    if not goal.strip():
        raise BadInput("the goal says nothing", "add --goal TEXT: what it is to come to")
    if not url:
        raise BadInput("nobody knows yet where that is done", "add --url URL: where to start")
    if given.criteria is None or not given.criteria.success:
        raise BadInput(
            "nothing says by what the page shows that the goal is reached",
            'add --success WHERE=TEXT (for instance --success text="is cancelled"), or --service',
        )
    if models is not None and DONE_BY not in models.tools:
        raise BadInput(
            f"agent.internal.allowed_tools lacks {DONE_BY}: the model could not end the run",
            "add it to the list",
        )


def tool_session(
    url: str = "",
    values: Mapping[str, str] | None = None,
    secrets: Iterable[str] = (),
    *,
    goal: str = "",
    max_turns: int = MAX_TURNS,
    **terms: Unpack[SessionTerms],
) -> SessionStarted:
    """A session that is driven by calls of tools, beginning at `url` if one is given."""
    if max_turns < 1:
        raise BadInput("a session needs at least one turn", "give a larger number")
    limits = Limits(max_wall_ms=TOOLS_WALL_MS, max_turns=max_turns)
    terms.setdefault("screenshots", True)
    said: dict[str, Any] = {"purpose": "tools", "driver": "agent", "url": url, "goal": goal}
    return _start(terms, limits, values or {}, secrets, settings=TOOLS_WAITS, **said)


def _given(terms: SessionTerms) -> Given:
    return terms.get("given", NOTHING)


def _start(
    terms: SessionTerms,
    limits: Limits,
    values: Mapping[str, str],
    secrets: Iterable[str],
    *,
    settings: Mapping[str, Any],
    hosts: Iterable[str] = (),
    public: bool = False,
    resources: tuple[str, ...] | None = None,
    **said: Any,
) -> SessionStarted:
    """What any start is made of. One with an address begins by going there: whoever types an
    address has named its host."""
    given, url = _given(terms), said.get("url", "")
    if url:
        hosts = (host_typed(url), *hosts)
        said["script"] = (Step(action=Action("navigate", url=url)),)
    return SessionStarted(
        logic=LOGIC,
        settings=msgspec.structs.replace(
            NEW,
            limits=limits,
            dry_run=terms.get("dry_run", False),
            screenshots=terms.get("screenshots", False),
            criteria=given.criteria,
            service=given.service,
            **settings,
        ),
        policy=policy_for(
            terms.get("policy", DEFAULT_POLICY),
            (*hosts, *terms.get("allow", ())),
            given.folders,
            terms.get("origins", ()),
            public=public,
            resources=resources,
        ),
        values=dict(values),
        secrets=tuple(secrets),
        **said,
    )


def limits_for(steps: int) -> Limits:
    """E6: five minutes and twice its length in steps."""
    return Limits(max_steps=2 * steps, max_wall_ms=WORKFLOW_WALL_MS)


# -- what it is given ------------------------------------------------------------------------------


def check_folders(steps: Iterable[Step], values: Mapping[str, str], folders: Sequence[str]) -> None:
    """Every file that a step looks at lies in a folder that was given: what would be refused on
    the way is refused before anything is done."""
    for number, step in enumerate(steps, 1):
        back = step.after.read_back
        checks = [*step.action.verify, *step.after.checks, *step.after.learned]
        for check in files_in([*checks, *(back.checks if back is not None else ())]):
            path = PurePosixPath(filled(path_of(check), values))
            if not _lies_in(path, folders):
                lost = "there is no folder" if not folders else "which is in none of the folders"
                raise BadInput(
                    f"step {number} looks at the file {path}: {lost} given",
                    f"add --folder {path.parent if path.is_absolute() else 'DIR'}",
                )


def _lies_in(path: PurePosixPath, folders: Sequence[str]) -> bool:
    """A path that is not absolute is in the first of them."""
    if ".." in path.parts or not folders:
        return False
    return not path.is_absolute() or any(path.is_relative_to(folder) for folder in folders)


def check_bound(workflow: Workflow, values: Mapping[str, str], secrets: set[str]) -> None:
    """Every parameter and secret has a value, and nothing is bound that the workflow lacks."""
    if not workflow.complete:
        raise BadInput(
            f"workflow {workflow.name!r} version {workflow.version} was not recorded to its end",
            f"record it again, or if it is all: rutter workflows edit {workflow.name} --complete",
        )
    check_parameters(workflow, values)
    unbound = [name for name in workflow.parameters if name not in values]
    if unbound:
        flags = " ".join(f"--set {name}=..." for name in unbound)
        raise BadInput(f"{workflow.name!r} needs {', '.join(unbound)}", f"bind with {flags}")
    locked = [name for name in workflow.secrets if name not in secrets]
    if locked:
        flags = " ".join(f"--secret {name}=env:VARIABLE" for name in locked)
        raise BadInput(f"{workflow.name!r} needs the secret {', '.join(locked)}", f"add {flags}")


def check_parameters(workflow: Workflow, values: Iterable[str]) -> None:
    if unknown := sorted(set(values) - set(workflow.parameters)):
        known = ", ".join(workflow.parameters) or "none"
        raise BadInput(f"{workflow.name!r} has no parameter {unknown[0]!r}", f"it has: {known}")
