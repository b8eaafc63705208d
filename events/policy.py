"""Policy says what a run may do: rules, hosts, folders and origins, pinned when it starts."""

from typing import Literal

import msgspec

from rutter.events.workflow import Driver

Effect = Literal["allow", "ask", "deny"]
SideEffect = Literal["read", "write", "auth"]


class PolicyRule(msgspec.Struct, frozen=True, omit_defaults=True):
    """A person wrote this row of the policy table. A column that is empty holds for everything;
    several entries of one column mean any of them."""

    name: str
    effect: Effect
    actions: tuple[str, ...] = ()
    says: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    drivers: tuple[Driver, ...] = ()
    tools: tuple[str, ...] = ()
    side_effects: tuple[SideEffect, ...] = ()
    reason: str = ""


class Policy(msgspec.Struct, frozen=True, omit_defaults=True):
    """A policy says what may be done.

    `hosts` may be gone to, `resources` only be loaded from: `host`, `host:port`, `*.host` for what
    is below it, or a network (`10.0.0.0/8`). Private ones only when named; public ones all, where
    `public_hosts` or `public_resources` says so. Files are read in `folders` and below alone; a
    path that is not absolute is in the first of them. `rules` stand beside those that are built
    in. A secret is typed on its own `secret_origins` alone, where it has any. A question that
    nobody answers within `approval_ms` is answered with no; 0 waits for ever.
    """

    version: str
    denylist: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    public_hosts: bool = True
    folders: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()
    public_resources: bool = True
    rules: tuple[PolicyRule, ...] = ()
    secret_origins: tuple[tuple[str, str], ...] = ()
    approval_ms: int = 0
    upload_mb: int = 50
    download_mb: int = 50
    detect_secrets: bool = True
