"""What may be done: a pure function over a table of rules. Deny beats ask beats allow (E1, E2).

A rule looks at the action, the element as it was resolved, and who proposed it. The first verdict
of the highest rank wins and names its rule; nothing matched means allowed. Standing approval is
not a rule: it answers an `ask` that the recording itself has answered before (design 8).
"""

import ipaddress
from collections.abc import Callable
from typing import Literal
from urllib.parse import unquote

import msgspec

from actors.place import host_of, path_of
from events.action import Action, ByCss, ByRole, ByText, Parameter, Secret, Text, Typed
from events.page import Resolved
from events.workflow import Driver, Policy, Standing

Effect = Literal["allow", "ask", "deny"]
RECORDED: frozenset[Driver] = frozenset({"person", "script", "workflow"})
# These choose by themselves, from a snapshot that they were given.
CALLERS: frozenset[Driver] = frozenset({"agent", "model"})

# S0's list. Matched on what the element says it is as well as on its selectors.
DENYLIST = (
    "logout",
    "log-out",
    "log out",
    "sign-out",
    "signout",
    "sign out",
    "delete",
    "remove",
    "submit",
    "purchase",
    "buy",
    "payment",
    "checkout",
    "account",
    "settings",
    "preferences",
)
# A form with a password in it is a door only if its button says so.
SIGNS_IN = ("sign in", "sign-in", "signin", "log in", "log-in", "login", "anmelden", "connexion")
DEFAULT_POLICY = Policy(version="1", denylist=DENYLIST)

# What each action type cannot do without (E1).
REQUIRED: dict[str, tuple[str, ...]] = {
    "navigate": ("url",),
    "click": ("target",),
    "type": ("target", "value"),
    "press": ("key",),
    "select": ("target", "value"),
    "scroll": (),
    "wait_for": ("target",),
    "wait": ("ms",),
    "extract": ("target",),
    "check": ("verify",),
}
IMPLIED_PORTS = {"http": "80", "https": "443"}
# Reading changes nothing: no rule about what an element says applies to it (F2).
READING = frozenset({"extract", "wait_for", "wait", "scroll", "check"})


# A table of our own: what `ipaddress` calls global differs between Python versions, and a verdict
# must be the same in every replay. IPv4 inside IPv6 is not public either way: name it by IPv4.
NOT_PUBLIC = tuple(
    ipaddress.ip_network(network)
    for network in [
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",
        "127.0.0.0/8",
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.88.99.0/24",
        "192.168.0.0/16",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/4",
        "240.0.0.0/4",
        "::/96",
        "::ffff:0:0/96",
        "64:ff9b::/96",
        "64:ff9b:1::/48",
        "100::/64",
        "2001::/23",
        "2001:db8::/32",
        "2002::/16",
        "3fff::/20",
        "5f00::/16",
        "fc00::/7",
        "fe80::/9",
        "ff00::/8",
    ]
)


class Verdict(msgspec.Struct, frozen=True):
    effect: Effect
    rule: str
    reason: str


class Case(msgspec.Struct, frozen=True):
    """Everything that a rule may look at."""

    policy: Policy
    action: Action
    driver: Driver
    element: Resolved | None = None


def missing_field(action: Action) -> str:
    """The first field that this type of action needs and does not have."""
    for field in REQUIRED[action.type]:
        if getattr(action, field) in (None, ()):
            return field
    if action.target is not None and not action.target.strategies:
        return "target"
    if action.type == "scroll" and action.target is None and action.direction is None:
        return "direction"
    return ""


def judge(case: Case) -> Verdict:
    """The verdict of the table. A rule that breaks is a denial, never an opening."""
    verdicts = []
    for rule in RULES:
        try:
            verdict = rule(case)
        except (ValueError, TypeError, AttributeError, KeyError, IndexError) as error:
            verdict = Verdict("deny", rule.__name__, f"the rule failed: {type(error).__name__}")
        if verdict is not None:
            verdicts.append(verdict)
    for effect in ("deny", "ask"):
        for verdict in verdicts:
            if verdict.effect == effect:
                return verdict
    return Verdict("allow", "nothing_matched", "no rule is against it")


def is_irreversible(case: Case) -> bool:
    """What a dry run stops before, and what is never repeated once dispatched.

    Signing in sends a form but leaves nothing behind: a dry run must get past the door. A form
    that asks for the password to pay or to delete something is no door.
    """
    if accepts_a_dialog(case) is not None:
        return True
    element = case.element
    if element is not None and element.signs_in:
        says = f"{element.name.text} {element.text.text}".casefold()
        if any(word in says for word in SIGNS_IN):
            return False
    return any(rule(case) is not None for rule in (denylist, sends_a_form))


def stands(standing: Standing | None, element: Resolved | None) -> bool:
    """Whether the recording's own approval covers this very element on this origin."""
    if standing is None or element is None:
        return False
    return standing == Standing(origin=element.origin, digest=element.digest)


def host_allowed(case: Case) -> Verdict | None:
    """Only http and https, private networks only by name, others as the policy says."""
    if case.action.type != "navigate" or case.action.url is None:
        return None
    if case.action.url == "about:blank":
        return None
    scheme, host, port = host_of(case.action.url)
    if scheme not in ("http", "https") or not host:
        return Verdict("deny", "scheme", f"{scheme or 'that'} is not a web address")
    named = {host, f"{host}:{port or IMPLIED_PORTS[scheme]}"}
    if not named.isdisjoint(case.policy.hosts):
        return None
    where = f"{host}:{port}" if port else host
    if is_private(host):
        return Verdict(
            "deny", "private_network", f"{where} is private; name it with --allow {where}"
        )
    if not case.policy.public_hosts:
        return Verdict("deny", "host", f"{where} is not among the allowed hosts")
    return None


def secret_in_clear(case: Case) -> Verdict | None:
    """A literal never goes into a secret field, and a secret never into a plain one."""
    element = case.element
    if element is None or case.action.type != "type":
        return None
    if element.secret and isinstance(case.action.value, Text | Typed | Parameter):
        return Verdict("deny", "secret_in_clear", "a secret field takes a --secret, not a literal")
    if not element.secret and isinstance(case.action.value, Secret):
        return Verdict("ask", "secret_in_plain_field", "a secret would be typed in a plain field")
    return None


def secret_by_agent(case: Case) -> Verdict | None:
    """Where a bound secret goes was learned from a recording, or a person says so: a page can talk
    an agent into signing in somewhere else."""
    value = case.action.value
    if case.driver not in CALLERS or not isinstance(value, Secret):
        return None
    where = case.element.origin if case.element is not None else "this page"
    reason = f"the secret {value.name!r} would be typed on {where}, and nobody recorded that"
    return Verdict("ask", "secret_by_agent", reason)


def denylist(case: Case) -> Verdict | None:
    """S0's risky words, in what the element says it is, in how it is found, or in the address that
    whoever recorded nothing wants to go to: a link there would be refused as well."""
    if case.action.type in READING:
        return None
    said = _said(case)
    what = "address" if case.action.type == "navigate" else "element"
    for word in case.policy.denylist:
        if word.casefold() in said:
            effect: Effect = "ask" if case.driver in RECORDED else "deny"
            return Verdict(effect, "denylist", f"the {what} says {word!r}")
    return None


def sends_a_form(case: Case) -> Verdict | None:
    """A form that is not a plain GET changes something on the other side."""
    element = case.element
    if element is None or case.action.type not in ("click", "press"):
        return None
    if not element.submits:
        return None
    if element.form_method not in ("", "get"):
        return Verdict("ask", "sends_a_form", f"it sends a form ({element.form_method.upper()})")
    if case.driver not in RECORDED:
        return Verdict("ask", "sends_a_form", "it sends a form, and nobody recorded that")
    return None


def accepts_a_dialog(case: Case) -> Verdict | None:
    """What a page asks before it goes on is asked for a reason."""
    if not any(answer.accept for answer in case.action.dialogs):
        return None
    return Verdict("ask", "accepts_a_dialog", "it says yes to what the page asks")


def uploads_a_file(case: Case) -> Verdict | None:
    """A file of this machine leaves it; a recording says which one by a parameter of its own."""
    element = case.element
    if element is None or case.action.type != "type" or element.kind != "file":
        return None
    if case.driver in RECORDED:
        return None
    return Verdict("ask", "uploads_a_file", "a file would be sent, and nobody recorded that")


Rule = Callable[[Case], Verdict | None]
RULES: tuple[Rule, ...] = (
    host_allowed,
    secret_in_clear,
    secret_by_agent,
    denylist,
    sends_a_form,
    accepts_a_dialog,
    uploads_a_file,
)


def is_private(host: str) -> bool:
    """Loopback, private, link-local and other addresses that are not the public internet."""
    bare = host.strip("[]").rstrip(".").casefold()
    if bare == "localhost" or bare.endswith((".localhost", ".local", ".internal")):
        return True
    try:
        address = ipaddress.ip_address(bare.partition("%")[0])
    except ValueError:
        return False
    return any(address in network for network in NOT_PUBLIC if network.version == address.version)


def _said(case: Case) -> str:
    parts: list[str] = []
    for strategy in case.action.target.strategies if case.action.target else ():
        match strategy:
            case ByCss(selector):
                parts.append(selector)
            case ByRole(_, name):
                parts.append(name)
            case ByText(text):
                parts.append(text)
            case _:
                pass
    if case.action.url is not None and case.driver not in RECORDED:
        parts.append(unquote(path_of(case.action.url)))
    if case.element is not None:
        element = case.element
        parts += [element.name.text, element.text.text[:200], element.href, element.form_action]
    return " ".join(parts).casefold()
