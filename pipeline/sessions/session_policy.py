"""A session's policy says what it may reach: the configured one, narrowed to the hosts it names."""

from collections.abc import Iterable, Iterator

import msgspec

from rutter.actors.rules.pages.address import host_of
from rutter.actors.rules.policy.hosts import EVERYWHERE
from rutter.actors.rules.policy.narrowing import LISTED, may_go_to, narrowed
from rutter.events.action import Secret
from rutter.events.errors import BadInput
from rutter.events.policy import Policy
from rutter.events.runtime import SessionStarted
from rutter.events.workflow import Step, Workflow
from rutter.pipeline.config.tables import host_pattern

Origins = Iterable[tuple[str, str]]


def names_hosts_freely(policy: Policy) -> bool:
    """Whether nobody configured which hosts may be gone to."""
    return policy.public_hosts and EVERYWHERE not in policy.hosts


def patterns(hosts: Iterable[str]) -> tuple[str, ...]:
    """What of them is compared with a host: all but what says everywhere."""
    return tuple(each for each in hosts if each != EVERYWHERE)


def with_hosts(policy: Policy, hosts: Iterable[str]) -> Policy:
    return msgspec.structs.replace(policy, hosts=tuple(dict.fromkeys((*policy.hosts, *hosts))))


def host_typed(url: str) -> str:
    """The host that a typed address names."""
    scheme, host, port = host_of(url)
    if scheme not in ("http", "https") or not host:
        raise BadInput(f"{url!r} is not a web address", "give --url https://...")
    return f"{host}:{port}" if port else host


def secret_origins(workflow: Workflow) -> tuple[tuple[str, str], ...]:
    """Where each secret of the workflow was typed when it was recorded: on the origin of its
    element, which may lie in a frame, else of the page. A step of which nobody knows that any more
    adds none, and takes none away."""
    found: dict[tuple[str, str], None] = {}
    for name, step in _typed_secrets(workflow.steps):
        places = [
            step.standing_approval.origin if step.standing_approval else "",
            step.before.origin,
        ]
        known = [each for each in places if each.startswith(("http://", "https://"))]
        found |= dict.fromkeys((name, each) for each in known[:1])
    return tuple(found)


def fork_policy(policy: Policy, old: SessionStarted, allow: Iterable[str], *, free: bool) -> Policy:
    """What a session that goes on from an old one may reach: what that one could, and where it
    was sent. What goes on freely is not let into every public host because a recording was."""
    public = old.policy.public_hosts and not free
    went = [step.action.url for step in old.script if step.action.url]
    hosts = (*old.policy.hosts, *map(host_typed, went), *allow)
    resources = None if old.policy.public_resources else old.policy.resources
    homes = not_told(old.policy.secret_origins, policy.secret_origins)
    return policy_for(policy, hosts, old.policy.folders, homes, public=public, resources=resources)


def policy_for(
    policy: Policy,
    hosts: Iterable[str],
    folders: tuple[str, ...],
    origins: Origins = (),
    *,
    public: bool = False,
    resources: tuple[str, ...] | None = None,
) -> Policy:
    """The configured policy, narrowed to these hosts; to all that it has, if `public`. Without
    `resources` a page may load from wherever the configuration lets it.

    Where no allowlist is configured, who names a host allows it. One that says `*` is one: what
    is private is not in it.
    """
    named = tuple(dict.fromkeys(hosts))
    everywhere = EVERYWHERE in named
    named = tuple(host_pattern(each, "--allow") for each in patterns(named))
    listed = not policy.public_hosts and resources is None
    base = with_hosts(policy, named) if names_hosts_freely(policy) else policy
    if policy.public_resources and EVERYWHERE not in policy.resources and resources:
        base = msgspec.structs.replace(base, resources=(*base.resources, *resources))
    base = msgspec.structs.replace(
        base, hosts=patterns(base.hosts), resources=patterns(base.resources)
    )
    wish = msgspec.structs.replace(
        policy,
        hosts=named,
        public_hosts=public or everywhere or listed,
        folders=tuple(dict.fromkeys((*policy.folders, *folders))),
        resources=resources or (),
        public_resources=resources is None,
        secret_origins=tuple(origins),
    )
    return narrowed(base, wish)


def check_script(steps: Iterable[Step], policy: Policy) -> None:
    """With an allowlist, a script that leaves it is refused before anything is done."""
    for number, step in enumerate(steps, 1):
        if policy.public_hosts or step.action.type != "navigate" or not step.action.url:
            continue
        scheme, host, port = host_of(step.action.url)
        where = f"{host}:{port}" if port else host
        if scheme in ("http", "https") and not may_go_to(policy, where):
            raise BadInput(
                f"step {number} goes to {where}, which is not among the allowed hosts", LISTED
            )


def _typed_secrets(steps: Iterable[Step]) -> Iterator[tuple[str, Step]]:
    for step in steps:
        if isinstance(step.action.value, Secret):
            yield step.action.value.name, step
        for said in step.action.dialogs:
            if said.secret:
                yield said.secret, step


def not_told(origins: Origins, told: Origins) -> list[tuple[str, str]]:
    names = {name for name, _ in told}
    return [each for each in origins if each[0] not in names]
