"""What a session starts with: everything it depends on, pinned into `SessionStarted`."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path, PurePosixPath

import msgspec

from actors.checking import files_in, filled
from actors.logic import LOGIC
from actors.place import host_of
from actors.policy import DEFAULT_POLICY
from events.action import Action
from events.checks import path_of
from events.errors import BadInput
from events.runtime import SessionStarted
from events.service import Service
from events.workflow import MILLION, Criteria, Limits, Policy, RunSettings, Step, Workflow

WORKFLOW_WALL_MS = 300_000  # E6: a named workflow has five minutes
TOOLS_WALL_MS = 300_000  # of work on calls; how long the caller thinks is not counted
TOOLS_RESOLVE_MS = 500  # a ref is there or it is not; a second try looks for what it was
TOOLS_SETTLE_MS = 500  # S3 2.2.1: a scroll has a second in all, also one that moves nothing
TOOLS_PLACE_MS = 1_000
MAX_TURNS = 20  # E6: of a conversation that an agent or a model leads


class Given(msgspec.Struct, frozen=True):
    """What is known of the service, by what its pages show an end, and where files may be."""

    service: Service | None = None
    criteria: Criteria | None = None
    folders: tuple[str, ...] = ()


NOTHING = Given()


def recording(
    name: str,
    script: tuple[Step, ...],
    values: Mapping[str, str],
    secrets: Iterable[str],
    *,
    allow: Iterable[str] = (),
    policy: Policy = DEFAULT_POLICY,
    screenshots: bool = False,
    given: Given = NOTHING,
) -> SessionStarted:
    """A recording from a script."""
    check_folders(script, values, given.folders)
    return SessionStarted(
        purpose="record",
        driver="script",
        logic=LOGIC,
        settings=RunSettings(
            limits=limits_for(len(script)),
            screenshots=screenshots,
            criteria=given.criteria,
            service=given.service,
        ),
        policy=_policy(policy, allow, given),
        name=name,
        script=script,
        values=dict(values),
        secrets=tuple(secrets),
    )


def watching(
    name: str,
    url: str,
    values: Mapping[str, str],
    *,
    allow: Iterable[str] = (),
    policy: Policy = DEFAULT_POLICY,
    screenshots: bool = False,
    given: Given = NOTHING,
) -> SessionStarted:
    """A recording of a person. It begins with going to `url`; from there on they act."""
    scheme, host, port = host_of(url)
    if scheme not in ("http", "https") or not host:
        raise BadInput(f"{url!r} is not a web address", "give --url https://...")
    return SessionStarted(
        purpose="record",
        driver="person",
        logic=LOGIC,
        settings=RunSettings(
            limits=limits_for(1),
            screenshots=screenshots,
            criteria=given.criteria,
            service=given.service,
        ),
        # Whoever types an address has named its host.
        policy=_policy(policy, (f"{host}:{port}" if port else host, *allow), given),
        name=name,
        url=url,
        script=(Step(action=Action("navigate", url=url)),),
        values=dict(values),
    )


def run_of(
    workflow: Workflow,
    values: Mapping[str, str],
    secrets: Iterable[str],
    *,
    allow: Iterable[str] = (),
    policy: Policy = DEFAULT_POLICY,
    dry_run: bool = False,
    screenshots: bool = False,
    given: Given = NOTHING,
) -> SessionStarted:
    """A run of a named workflow: it is followed step by step."""
    bound = set(secrets)
    check_bound(workflow, values, bound)
    check_folders(workflow.steps, values, given.folders)
    settings = RunSettings(
        limits=limits_for(len(workflow.steps)),
        dry_run=dry_run,
        screenshots=screenshots,
        criteria=given.criteria,
        service=given.service or workflow.service,
    )
    return SessionStarted(
        purpose="run",
        driver="workflow",
        logic=LOGIC,
        settings=settings,
        policy=_policy(policy, (*workflow.hosts, *allow), given),
        name=workflow.name,
        workflow=workflow,
        values=dict(values),
        secrets=tuple(sorted(bound)),
    )


def free_run(
    url: str,
    values: Mapping[str, str],
    secrets: Iterable[str],
    *,
    threshold: int,
    allow: Iterable[str] = (),
    policy: Policy = DEFAULT_POLICY,
    dry_run: bool = False,
    screenshots: bool = False,
    given: Given = NOTHING,
) -> SessionStarted:
    """A run with no workflow named: only where the learned probability clears the threshold."""
    if not 0 <= threshold <= MILLION:
        raise BadInput("the threshold is a probability", "give --threshold from 0 to 1")
    return SessionStarted(
        purpose="free",
        driver="prediction",
        logic=LOGIC,
        settings=RunSettings(
            threshold=threshold,
            dry_run=dry_run,
            screenshots=screenshots,
            criteria=given.criteria,
            service=given.service,
        ),
        policy=_policy(policy, allow, given),
        url=url,
        script=(Step(action=Action("navigate", url=url)),),
        values=dict(values),
        secrets=tuple(secrets),
    )


def tool_session(
    url: str = "",
    values: Mapping[str, str] | None = None,
    secrets: Iterable[str] = (),
    *,
    allow: Iterable[str] = (),
    policy: Policy = DEFAULT_POLICY,
    criteria: Criteria | None = None,
    folders: Iterable[Path] = (),
    goal: str = "",
    max_turns: int = MAX_TURNS,
    screenshots: bool = True,
    given: Given = NOTHING,
) -> SessionStarted:
    """A session that is driven by calls of tools, beginning at `url` if one is given."""
    if max_turns < 1:
        raise BadInput("a session needs at least one turn", "give a larger number")
    settings = RunSettings(
        limits=Limits(max_wall_ms=TOOLS_WALL_MS, max_turns=max_turns),
        resolve_ms=TOOLS_RESOLVE_MS,
        settle_ms=TOOLS_SETTLE_MS,
        place_ms=TOOLS_PLACE_MS,
        answer_ms=TOOLS_PLACE_MS,
        screenshots=screenshots,
        criteria=criteria or given.criteria,
        service=given.service,
    )
    return SessionStarted(
        purpose="tools",
        driver="agent",
        logic=LOGIC,
        settings=settings,
        policy=_policy(with_folders(policy, folders), allow, given),
        url=url,
        script=(Step(action=Action("navigate", url=url)),) if url else (),
        values=dict(values or {}),
        secrets=tuple(secrets),
        goal=goal,
    )


def limits_for(steps: int) -> Limits:
    """E6: five minutes and twice its length in steps."""
    return Limits(max_steps=2 * steps, max_wall_ms=WORKFLOW_WALL_MS)


def with_hosts(policy: Policy, hosts: Iterable[str]) -> Policy:
    return msgspec.structs.replace(policy, hosts=tuple(dict.fromkeys((*policy.hosts, *hosts))))


def with_folders(policy: Policy, folders: Iterable[Path]) -> Policy:
    """A folder as it was named, links and all, from wherever the session is run."""
    named = (*policy.folders, *(str(folder.absolute()) for folder in folders))
    return msgspec.structs.replace(policy, folders=tuple(dict.fromkeys(named)))


def _policy(policy: Policy, hosts: Iterable[str], given: Given) -> Policy:
    return with_folders(with_hosts(policy, hosts), map(Path, given.folders))


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
    unknown = sorted(set(values) - set(workflow.parameters))
    if unknown:
        known = ", ".join(workflow.parameters) or "none"
        raise BadInput(f"{workflow.name!r} has no parameter {unknown[0]!r}", f"it has: {known}")
    unbound = [name for name in workflow.parameters if name not in values]
    if unbound:
        flags = " ".join(f"--set {name}=..." for name in unbound)
        raise BadInput(f"{workflow.name!r} needs {', '.join(unbound)}", f"bind with {flags}")
    locked = [name for name in workflow.secrets if name not in secrets]
    if locked:
        flags = " ".join(f"--secret {name}=env:VARIABLE" for name in locked)
        raise BadInput(f"{workflow.name!r} needs the secret {', '.join(locked)}", f"add {flags}")
