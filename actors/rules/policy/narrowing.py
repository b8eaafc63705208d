"""A run may narrow the policy it starts from, never widen it (design 8). Pure.

Whatever the result allows, the base allows too: a wish for more is refused by its name, and what
only restricts (limits, words, rules that ask or deny) is taken from both.
"""

import ipaddress
from collections.abc import Hashable, Iterable
from typing import TypeVar

import msgspec

from rutter.actors.rules.policy.hosts import HostPattern, is_private, read_pattern
from rutter.events.errors import BadInput
from rutter.events.policy import Policy

Each = TypeVar("Each", bound=Hashable)
LISTED = "it must be in policy.allowed_domains of the configuration"


def narrowed(base: Policy, wish: Policy) -> Policy:
    """The base with what the run wishes for, and no more. `public_hosts` and `public_resources` of
    the wish mean: whatever the base has."""
    return msgspec.structs.replace(
        base,
        denylist=_together(base.denylist, wish.denylist),
        hosts=_hosts(base, wish),
        public_hosts=base.public_hosts and wish.public_hosts,
        folders=_folders(base.folders, wish.folders),
        resources=_resources(base, wish),
        public_resources=base.public_resources and wish.public_resources,
        rules=_together(base.rules, (rule for rule in wish.rules if rule.effect != "allow")),
        secret_origins=_secret_origins(base, wish),
        approval_ms=_sooner(base.approval_ms, wish.approval_ms),
        upload_mb=min(base.upload_mb, wish.upload_mb),
        download_mb=min(base.download_mb, wish.download_mb),
        detect_secrets=base.detect_secrets or wish.detect_secrets,
    )


def may_go_to(policy: Policy, pattern: str) -> bool:
    """Whether everything that the pattern means may be gone to."""
    wanted = read_pattern(pattern)
    if wanted is None:
        return False
    return _named(policy.hosts, wanted) or (policy.public_hosts and _is_public(wanted))


def may_load(base: Policy, pattern: str) -> bool:
    """Whether everything that the pattern means may be among a run's resources. That every public
    host may be gone to does not make a list of resources another one."""
    wanted = read_pattern(pattern)
    if wanted is None:
        return False
    public = base.public_resources and _is_public(wanted)
    return public or _named((*base.hosts, *base.resources), wanted)


def covered(patterns: Iterable[str], pattern: str) -> bool:
    """Whether these patterns mean everything that this one does."""
    wanted = read_pattern(pattern)
    return wanted is not None and _named(patterns, wanted)


def _hosts(base: Policy, wish: Policy) -> tuple[str, ...]:
    for host in wish.hosts:
        if not may_go_to(base, host):
            raise BadInput(f"{host} is not among the allowed hosts", LISTED)
    return _together(base.hosts if wish.public_hosts else (), wish.hosts)


def _resources(base: Policy, wish: Policy) -> tuple[str, ...]:
    for host in wish.resources:
        if not may_load(base, host):
            raise BadInput(
                f"{host} is not among the hosts that may be loaded from",
                "it must be in policy.allowed_resources of the configuration",
            )
    return _together(base.resources if wish.public_resources else (), wish.resources)


def _folders(base: tuple[str, ...], wish: tuple[str, ...]) -> tuple[str, ...]:
    """A base without folders says nothing of files: they are named by who starts the run."""
    for folder in wish if base else ():
        inside = any(f"{folder}/".startswith(f"{each.rstrip('/')}/") for each in base)
        if not inside or ".." in folder.split("/"):
            raise BadInput(f"{folder} is in none of the allowed folders", "leave it out")
    return wish


def _secret_origins(base: Policy, wish: Policy) -> tuple[tuple[str, str], ...]:
    """A secret that has no origin in one of them has those of the other."""
    pairs = list(base.secret_origins)
    at_home = {name for name, _ in base.secret_origins}
    wished = {name for name, _ in wish.secret_origins}
    for name in wished & at_home:
        if not set(base.secret_origins) & {each for each in wish.secret_origins if each[0] == name}:
            raise BadInput(
                f"the secret {name!r} belongs to other origins by the configuration",
                f"see secrets.{name}.origins in: rutter config show",
            )
    pairs = [each for each in pairs if each[0] not in wished or each in wish.secret_origins]
    return _together(pairs, (each for each in wish.secret_origins if each[0] not in at_home))


def _sooner(one: int, other: int) -> int:
    """Of two limits the nearer one; 0 is none."""
    return min(one, other) if one and other else one or other


def _together(first: Iterable[Each], second: Iterable[Each]) -> tuple[Each, ...]:
    return tuple(dict.fromkeys((*first, *second)))


def _named(patterns: Iterable[str], wanted: HostPattern) -> bool:
    return any(_holds(read_pattern(pattern), wanted) for pattern in patterns)


def _holds(wide: HostPattern | None, narrow: HostPattern) -> bool:
    """Whether one pattern means everything that another does."""
    if wide is None or wide.port not in (None, narrow.port):
        return False
    if wide.network is not None:
        inside = narrow.network or _network_of(narrow)
        # `subnet_of` is for two of one version; mypy cannot see that they are.
        return (
            inside is not None
            and inside.version == wide.network.version
            and int(inside.network_address) >= int(wide.network.network_address)
            and int(inside.broadcast_address) <= int(wide.network.broadcast_address)
        )
    if narrow.network is not None:
        return False
    if wide.below:
        below = _network_of(narrow) is None and narrow.host.endswith("." + wide.host)
        return below or (narrow.below and narrow.host == wide.host)
    return not narrow.below and narrow.host == wide.host


def _network_of(pattern: HostPattern) -> ipaddress.IPv4Network | ipaddress.IPv6Network | None:
    """Of one address, if it is one."""
    if pattern.below:
        return None
    try:
        return ipaddress.ip_network(pattern.host)
    except ValueError:
        return None


def _is_public(wanted: HostPattern) -> bool:
    if wanted.network is not None:
        return False  # a network is named for the sake of what is not public in it
    return not is_private(f"any.{wanted.host}" if wanted.below else wanted.host)
