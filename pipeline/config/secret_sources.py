"""A secret's source says where its value comes from: `env:NAME`, `file:PATH`,
`keyring:SERVICE/USER`, `prompt`; not the command line. Behind it may stand where it belongs:
`@ORIGIN`, several with commas."""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path

from rutter.actors.rules.pages.address import host_of, named_origin
from rutter.actors.rules.policy.hosts import is_private
from rutter.actors.rules.text.secret_words import asks_for_a_secret
from rutter.actors.world.secrets.redaction import hide
from rutter.events.errors import BadInput

SOURCES = "env:VARIABLE, file:PATH, keyring:SERVICE/USER or prompt"


def read_pairs(pairs: Sequence[str], flag: str) -> dict[str, str]:
    """`name=value` arguments as a mapping; each name once."""
    found: dict[str, str] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name.isidentifier():
            # Not repeated: it may be a secret that was put there by mistake.
            raise BadInput(f"one {flag} is not name=value", f"write {flag} name=value")
        if flag == "--param" and asks_for_a_secret(name):
            raise BadInput(
                f"{name!r} sounds like a secret, and a parameter is written into the log",
                f"give it as --secret {name}=env:VARIABLE",
            )
        if name in found:
            raise BadInput(f"{flag} {name} is given twice", "give it once")
        found[name] = value
    return found


def read_secrets(
    pairs: Sequence[str], env: Mapping[str, str], prompt: Callable[[str], str]
) -> dict[str, str]:
    """The values of `--secret name=SOURCE`. From here on the process prints none of them."""
    found = {
        name: _value(name, _split(source)[0], env, prompt)
        for name, source in read_pairs(pairs, "--secret").items()
    }
    hide(found)
    return found


def read_origins(pairs: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Where each of `--secret name=SOURCE@ORIGIN[,ORIGIN]` belongs; those without are left out."""
    named = {name: _split(source)[1] for name, source in read_pairs(pairs, "--secret").items()}
    return {
        name: tuple(dict.fromkeys(_origin(name, each) for each in origins))
        for name, origins in named.items()
        if origins
    }


def _split(source: str) -> tuple[str, tuple[str, ...]]:
    """The source and its origins. A file or a user of the keyring may have an `@` of its own: what
    is behind the last one is an origin if it begins like one."""
    where, at, origins = source.rpartition("@")
    if at and where.startswith("env:"):  # no variable has an `@` in its name
        return where, tuple(origins.split(","))
    if not at or not origins.startswith(("http://", "https://")):
        return source, ()
    return where, tuple(origins.split(","))


def _origin(name: str, text: str) -> str:
    """The origin as browsers write it. Over http only to a host that is private by its nature."""
    origin = named_origin(text)
    scheme, host, _ = host_of(origin)
    if not origin or (scheme == "http" and not is_private(host)):
        raise BadInput(
            f"secret {name!r}: what follows the @ is no origin",
            "write https://host or https://host:port; http:// only for a private host",
        )
    return origin


def _value(name: str, source: str, env: Mapping[str, str], prompt: Callable[[str], str]) -> str:
    kind, _, rest = source.partition(":")
    if kind == "env" and rest:
        if rest not in env:
            raise BadInput(f"secret {name!r}: the variable {rest} is not set", f"export {rest}=...")
        return env[rest]
    if kind == "file" and rest:
        try:
            return Path(rest).expanduser().read_text("utf-8").rstrip("\r\n")
        except (OSError, UnicodeDecodeError, RuntimeError) as error:
            raise BadInput(f"secret {name!r}: {rest} cannot be read ({error})") from error
    if kind == "keyring" and rest:
        return _from_keyring(name, rest)
    if source == "prompt":
        return prompt(f"{name}: ")
    raise BadInput(
        f"secret {name!r}: a value does not belong on the command line",
        f"write --secret {name}={SOURCES}",
    )


def _from_keyring(name: str, entry: str) -> str:
    """The entry's password. A service may be an address, so the user stands behind the last `/`."""
    service, _, user = entry.rpartition("/")
    if not service or not user:
        raise BadInput(
            f"secret {name!r}: an entry of the keyring is a service and a user",
            f"write --secret {name}=keyring:SERVICE/USER",
        )
    try:
        keyring = import_module("keyring")
    except ImportError as error:
        raise BadInput(
            f"secret {name!r}: the keyring package is not installed",
            "pip install 'rutter-agent[keyring]'",
        ) from error
    try:
        found: str | None = keyring.get_password(service, user)
    except keyring.errors.KeyringError as error:
        raise BadInput(f"secret {name!r}: the keyring does not answer ({error})") from error
    if found is None:
        raise BadInput(
            f"secret {name!r}: the keyring has nothing for {user} at {service}",
            f"keyring set {service} {user}",
        )
    return found
