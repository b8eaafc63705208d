"""Where a secret's value comes from: `env:NAME`, `file:PATH`, `prompt`; not the command line."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from events.errors import BadInput


def read_pairs(pairs: Sequence[str], flag: str) -> dict[str, str]:
    """`name=value` arguments as a mapping; each name once."""
    found: dict[str, str] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name.isidentifier():
            # Not repeated: it may be a secret that was put there by mistake.
            raise BadInput(f"one {flag} is not name=value", f"write {flag} name=value")
        if name in found:
            raise BadInput(f"{flag} {name} is given twice", "give it once")
        found[name] = value
    return found


def read_secrets(
    pairs: Sequence[str], env: Mapping[str, str], prompt: Callable[[str], str]
) -> dict[str, str]:
    """The values of `--secret name=SOURCE`."""
    return {
        name: _value(name, source, env, prompt)
        for name, source in read_pairs(pairs, "--secret").items()
    }


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
    if source == "prompt":
        return prompt(f"{name}: ")
    raise BadInput(
        f"secret {name!r}: a value does not belong on the command line",
        f"write --secret {name}=env:VARIABLE, file:PATH or prompt",
    )
