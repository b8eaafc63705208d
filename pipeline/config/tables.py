"""The configuration's tables hold rules of policy, and where secrets come from.

A row that can never hold is refused: who wrote it believes that it protects something.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import get_args

import msgspec

from rutter.actors.rules.pages.address import host_of, named_origin, origin_of
from rutter.actors.rules.policy.hosts import EVERYWHERE, is_private, read_pattern
from rutter.actors.rules.policy.policy import CALLERS, READING
from rutter.actors.rules.policy.public_suffixes import names_strangers
from rutter.actors.rules.tools.tool_table import TOOLS
from rutter.events.action import OBSERVATIONS, ActionType
from rutter.events.errors import BadInput
from rutter.events.policy import Effect, PolicyRule, SideEffect
from rutter.events.workflow import Driver
from rutter.pipeline.config.secret_sources import SOURCES, read_origins

SEE = "see docs/configuration.md"
KEY_SOURCES = "env:VARIABLE, file:PATH or keyring:SERVICE/USER"
WITHOUT_ELEMENT = frozenset({"navigate", "wait"})
MOST_RULES = 200  # each is asked about at every step
COLUMNS: dict[str, tuple[str, ...]] = {
    "actions": get_args(ActionType),
    "drivers": get_args(Driver),
    "tools": tuple(TOOLS),
    "side_effects": get_args(SideEffect),
}


class SecretGiven(msgspec.Struct, frozen=True):
    """A secret's value comes from here, and may be typed on these origins; on any if none."""

    source: str
    origins: tuple[str, ...] = ()


Place = Callable[[str], str]  # where a key of a table stands, for what is said of it


def read_rule(row: object, place: Place) -> PolicyRule:
    """One `[[policy.rules]]`."""
    if not isinstance(row, dict):
        raise BadInput(f"{place('')}: policy.rules are tables", "write [[policy.rules]] above each")
    known = {field.name for field in msgspec.structs.fields(PolicyRule)}
    for column, value in row.items():
        if column not in known:
            raise BadInput(
                f"{place(column)}: a rule has no {column!r}", f"it has {', '.join(sorted(known))}"
            )
        if value in ([], ""):
            raise BadInput(
                f"{place(column)}: {column} is empty", "leave it out if it holds for everything"
            )
        _check_known(column, value, place)
    try:
        rule = msgspec.convert(row, PolicyRule)
    except msgspec.ValidationError as error:
        effects = ", ".join(get_args(Effect))
        raise BadInput(f"{place('')}: {error}", f"an effect is one of {effects}") from error
    _check_columns(rule, place)
    _check_holds(rule, place)
    return rule


def check_rules(rules: Iterable[PolicyRule], place: str) -> None:
    names = [rule.name for rule in rules]
    for name in names:
        if names.count(name) > 1:
            raise BadInput(
                f"{place}: two rules are named {name!r}", "a verdict says which one it is"
            )
    if len(names) > MOST_RULES:
        raise BadInput(f"{place}: there are {len(names)} rules", f"{MOST_RULES} is the most")


def read_secret(name: str, row: object, place: Place) -> SecretGiven:
    """One `[secrets.NAME]`. The value itself has no place in a file that is shown."""
    if not name.isidentifier() or not isinstance(row, dict):
        raise BadInput(f"{place('')}: {name!r} is no secret's table", "write [secrets.name]")
    for key in row:
        if key not in ("source", "origins"):
            raise BadInput(f"{place(key)}: a secret has no {key!r}", "it has source and origins")
    source, origins = row.get("source"), row.get("origins")
    if not isinstance(source, str) or not is_source(source):
        raise BadInput(
            f"{place('source')}: the source of {name} is not one", f"it is {SOURCES}, not the value"
        )
    if origins is None:
        return SecretGiven(source)
    if not isinstance(origins, list) or not all(isinstance(each, str) for each in origins):
        raise BadInput(f"{place('origins')}: origins are a list of texts", SEE)
    if not origins:
        raise BadInput(
            f"{place('origins')}: with no origins {name} could be typed nowhere",
            "name them, or leave origins out",
        )
    return SecretGiven(source, tuple(_home(name, each, place("origins")) for each in origins))


def is_source(source: str) -> bool:
    """One of ours; where it may be typed has a key of its own."""
    kind, _, rest = source.partition(":")
    known = source == "prompt" or (kind in ("env", "file", "keyring") and bool(rest.strip()))
    return known and "@http" not in source


def check_value(name: str, value: object, place: str) -> None:
    """What no key may say: a secret as it is, what is sent in the clear, a host that is none."""
    at = place if place.startswith("the variable") else f"{place}: {name}"
    if name.startswith("models.") and isinstance(value, str):
        _check_model(name.rpartition(".")[2], value, at)
    elif name == "notify.secret" and value and not _is_lasting(value):
        # Not repeated, here and below: it may be the secret.
        raise BadInput(f"{at} says no place", f"it is {KEY_SOURCES}, not the secret itself")
    elif name == "logins.key" and value and not (isinstance(value, str) and is_source(value)):
        raise BadInput(f"{at} says no place", f"it is {KEY_SOURCES}, or prompt")
    elif name == "network.proxy" and "@" in str(value) and not _is_lasting(value):
        raise BadInput(f"{at} holds a password", f"say where it is: {KEY_SOURCES}")
    for each in value if isinstance(value, tuple) else ():
        if name == "notify.urls" and not _is_lasting(each):
            check_address(each, at)
        if name in ("policy.allowed_domains", "policy.allowed_resources") and each != EVERYWHERE:
            host_pattern(each, place)


def _check_model(last: str, value: str, at: str) -> None:
    if last == "key" and (not is_source(value) or value == "prompt"):
        raise BadInput(f"{at} says no place", f"it is {KEY_SOURCES}, not the key itself")
    if last == "model" and not value.strip():
        raise BadInput(f"{at} says nothing", "name a model, or leave the key out")
    if last == "base_url" and value:
        scheme, host, _ = host_of(value)
        if not host or scheme not in ("http", "https") or "@" in value:
            raise BadInput(f"{at} is no address", "write https://host, and nothing else before it")
        if scheme == "http" and not is_private(host):
            raise BadInput(f"{at} is not private and has no https", "write https://host")


def _is_lasting(source: object) -> bool:
    """One that can be read where nobody is."""
    return isinstance(source, str) and is_source(source) and source != "prompt"


def check_address(url: str, at: str) -> None:
    """An address that something can be sent to. A password in it would be shown with it."""
    scheme, host, _ = host_of(url)
    if not host or scheme not in ("http", "https") or "@" in url or "#" in url:
        raise BadInput(
            f"{at} has an entry that is no address",  # not repeated: some are secrets themselves
            f"write https://host/path, or {KEY_SOURCES} of one",
        )


def _home(name: str, origin: str, place: str) -> str:
    """The same rules as behind the `@` of `--secret`."""
    try:
        [found] = read_origins([f"{name}=prompt@{origin}"])[name]
    except (BadInput, KeyError, ValueError) as error:
        raise BadInput(
            f"{place}: {origin!r} is no origin for a secret",
            "write https://host or https://host:port; http:// only for a private host",
        ) from error
    return found


def _check_origin(text: str, place: str) -> None:
    """An origin as a browser writes it, for it is compared with that."""
    origin, meant = named_origin(text), origin_of(text)
    if not meant or "*" in meant:
        raise BadInput(f"{place}: {text!r} is no origin", "write https://host or https://host:port")
    if not origin:
        raise BadInput(f"{place}: {text!r} is more than an origin", f"write {meant}")
    if origin != text:
        raise BadInput(f"{place}: {text!r} is written otherwise by browsers", f"write {origin}")


def host_pattern(text: str, place: str) -> str:
    """A host as it is compared; what could never match is refused."""
    if read_pattern(text) is None:
        raise BadInput(
            f"{place}: {text!r} is no host",
            "write host, host:port, *.host or a network (10.0.0.0/8)",
        )
    if names_strangers(text):
        raise BadInput(
            f"{place}: {text!r} is every site whose name ends so, whoever it belongs to",
            "name the site: *.shop.example",
        )
    return text


def _check_known(column: str, value: object, place: Place) -> None:
    known = COLUMNS.get(column, ())
    for each in value if known and isinstance(value, list) else ():
        if each not in known:
            raise BadInput(
                f"{place(column)}: there is no {each!r} among the {column}",
                f"it is one of {', '.join(known)}",
            )


def _check_columns(rule: PolicyRule, place: Place) -> None:
    for text in (rule.name, *rule.says):
        if not any(map(str.isalnum, text)):
            raise BadInput(f"{place('')}: a name or a word says nothing", "write what it means")
    for origin in rule.origins:
        _check_origin(origin, place("origins"))
    for role in rule.roles:
        if not role.isascii() or not role.isalpha() or not role.islower():
            raise BadInput(f"{place('roles')}: {role!r} is no role", 'write "button", for instance')


def _check_holds(rule: PolicyRule, place: Place) -> None:
    """Whether there can be a step for which every column agrees."""
    actions = set(rule.actions or get_args(ActionType)) - OBSERVATIONS
    if rule.roles or rule.says:
        actions -= {"wait"}
    if rule.roles:
        actions -= WITHOUT_ELEMENT
    if rule.side_effects and "read" not in rule.side_effects:
        actions -= READING
    elif rule.side_effects == ("read",):
        actions &= READING
    called = not rule.tools or not rule.drivers or set(rule.drivers) & CALLERS
    if not actions or not called:
        why = "reading is not judged" if set(rule.actions) <= OBSERVATIONS else "its columns clash"
        who = why if called else "only an agent or a model calls tools"
        raise BadInput(
            f"{place('')}: the rule {rule.name!r} could never hold", f"{who}: take one column out"
        )


def configured_pairs(
    pairs: Iterable[str], secrets: Mapping[str, SecretGiven], needed: Iterable[str] = ()
) -> list[str]:
    """`--secret` arguments with what the configuration knows: a bare NAME takes its source from
    there, and so does every secret that is needed and was not given."""
    given = [_expanded(pair, secrets) for pair in pairs]
    named = {pair.partition("=")[0] for pair in given}
    missing = [name for name in needed if name in secrets and name not in named]
    return [*given, *(f"{name}={secrets[name].source}" for name in missing)]


def _expanded(pair: str, secrets: Mapping[str, SecretGiven]) -> str:
    if "=" in pair or not pair.isidentifier():
        return pair
    if pair not in secrets:
        raise BadInput(
            f"the configuration has no secret {pair!r}", f"write --secret {pair}=env:VARIABLE"
        )
    return f"{pair}={secrets[pair].source}"
