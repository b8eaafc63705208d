"""An agent's token opens no private host that nobody configured.

On the command line whoever names a host allows it, because it is a person who types. An agent that
was talked into naming this machine or the router beside it is refused before anything is opened.
"""

from collections.abc import Iterable

from rutter.actors.rules.pages.address import host_of
from rutter.actors.rules.policy.hosts import EVERYWHERE, is_private, names, read_pattern
from rutter.events.errors import PolicyDenied
from rutter.events.policy import Policy
from rutter.pipeline.config.tables import host_pattern
from rutter.pipeline.sessions.session_policy import host_typed

PORT_OF = {"http": 80, "https": 443}


def check_agents_reach(policy: Policy, url: str = "", allow: Iterable[str] = ()) -> None:
    """Raises `PolicyDenied` for a private host, a network or `*` that the configuration does not
    name."""
    if url:
        scheme, host, port = host_of(url)
        host_typed(url)  # what is no web address is refused as such
        if is_private(host) and not names(policy.hosts, host, int(port or PORT_OF.get(scheme, 0))):
            raise _denied(host)
    for each in allow:
        if each == EVERYWHERE:
            raise _denied("every public host")
        host_pattern(each, "allow")
        if each in policy.hosts:
            continue
        pattern = read_pattern(each)
        if pattern is None or pattern.network is not None:
            raise _denied(each)
        if is_private(pattern.host) or is_private(f"x.{pattern.host}"):  # names below it count too
            raise _denied(each)


def _denied(what: str) -> PolicyDenied:
    return PolicyDenied(
        f"an agent may not name {what}",
        "whoever runs this can put it in policy.allowed_domains, or ask with the person's token",
    )
