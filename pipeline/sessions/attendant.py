"""The attendant is who is there while a session is started: a person at a terminal, who is asked
for the values and secrets that it still needs (A4), or nobody."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from rutter.events.errors import BadInput
from rutter.events.workflow import Workflow
from rutter.pipeline.config.secret_sources import read_origins, read_secrets
from rutter.pipeline.config.settings import Settings, environment
from rutter.pipeline.config.tables import configured_pairs
from rutter.pipeline.logins.sealing_key import Ask


def _nobody(question: str) -> str:
    raise BadInput(f"nobody is here to type {question}", "give the secret another source")


class Attendant(NamedTuple):
    """An attendant is asked for a value, a secret, and the passphrase of kept logins, and hears of
    what is left out."""

    ask: Ask | None = None
    ask_secret: Ask = _nobody
    passphrase: Ask | None = None
    warn: Callable[[str], None] = lambda _: None


NOBODY = Attendant()


class BoundSecrets(NamedTuple):
    """Secrets are bound by name, with the origins that were given with them."""

    secrets: dict[str, str]
    origins: tuple[tuple[str, str], ...] = ()


def bind_secrets(
    pairs: Sequence[str], settings: Settings, who: Attendant = NOBODY, needed: Iterable[str] = ()
) -> BoundSecrets:
    """What `--secret` says; what it leaves out and is needed comes from the configuration."""
    given = configured_pairs(pairs, settings.config.secrets, needed)
    homes = read_origins(given)
    return BoundSecrets(
        read_secrets(given, environment(), who.ask_secret),
        tuple((name, origin) for name, origins in homes.items() for origin in origins),
    )


def bind_configured(settings: Settings, needed: Iterable[str]) -> BoundSecrets:
    """Secrets as the configuration says where they are: nobody is there to type one."""
    names = tuple(needed)
    unknown = sorted(set(names) - settings.config.secrets.keys())
    if unknown:
        raise BadInput(
            f"the configuration does not say where the secret {unknown[0]!r} is",
            f"add [secrets.{unknown[0]}] with its source to the configuration",
        )
    return bind_secrets((), settings, needed=names)


def ask_unbound(
    workflow: Workflow, values: Mapping[str, str], secrets: Mapping[str, str], who: Attendant
) -> tuple[dict[str, str], dict[str, str]]:
    """The values and secrets with what the person who is there adds, each by its name.

    With nobody there, or with something else wrong, they come back as they are: what is missing is
    then refused by name.
    """
    given, locked = dict(values), dict(secrets)
    if who.ask is None or not workflow.complete or set(values) - set(workflow.parameters):
        return given, locked
    for name in workflow.parameters:
        if name not in given:
            given[name] = typed(name, who.ask, f"{name}: ")
    for name in workflow.secrets:
        if name not in locked:
            locked[name] = typed(name, who.ask_secret, f"{name} (secret): ")
    return given, locked


def typed(name: str, ask: Ask, question: str) -> str:
    try:
        return ask(question)
    except EOFError as error:
        raise BadInput(f"it needs {name}", "type it, or give it as a flag") from error
