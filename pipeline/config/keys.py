"""The table of keys holds every key of the configuration: its name, type, default, range and
variable (H6), as `keys.toml` has them.

The dotted names and their defaults are those of S4 and of S2 10, and our own beside
them. A value is checked here whether a file or a variable says it.
"""

import re
import sys
from collections.abc import Iterator, Mapping
from importlib.resources import files
from typing import Literal

import msgspec

from rutter.actors.rules.policy.risky_words import DENYLIST
from rutter.actors.rules.tools.tool_table import TOOLS
from rutter.actors.world.models.defaults import DEFAULTS
from rutter.events.advisor import TESSERACT
from rutter.events.errors import BadInput
from rutter.events.run_settings import MILLION
from rutter.pipeline.config.thresholds import PREDICTOR, PREDICTORS, SUGGEST, THRESHOLD

Kind = Literal["flag", "number", "share", "seconds", "dollars", "text", "list"]
Value = bool | int | float | str | tuple[str, ...] | None
DEAREST = 10_000  # dollars for a million tokens: far above any, and still no overflow
PROVIDERS = tuple(DEFAULTS)
BROKEN_DOWN = ("share", "seconds", "dollars")  # kinds that may have a fraction
FORMS = {
    "flag": "true or false",
    "number": "a whole number",
    "share": "a number from 0 to 1",
    "seconds": "a number of seconds",
    "dollars": "a number of dollars",
    "text": "a text",
    "list": "a list of texts",
}
TYPES = {"flag": bool, "number": int, "text": str, "list": tuple[str, ...]}  # float: the others


class ConfigKey(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A key of the configuration is a row of keys.toml, whose head says what each field is for."""

    kind: Kind
    about: str
    default: Value = None
    low: int = 0
    high: int = 1
    choices: tuple[str, ...] = ()
    variable: str = ""
    always: str = ""
    name: str = ""

    @property
    def env(self) -> str:
        ours = "" if self.name.startswith(("agent.", "browser.")) else "RUTTER_"
        return self.variable or ours + self.name.replace(".", "_").upper()


def _of_provider(name: str) -> tuple[ConfigKey, ...]:
    """What is said of one provider of language models. What is not set is known of its model."""
    known, table = DEFAULTS[name], f"models.{name}"
    key = f"env:{known.key_env}" if known.key_env else ""
    million = "dollars for a million tokens"
    said: tuple[tuple[str, Kind, str, Value], ...] = (
        ("model", "text", "which model is asked", known.model),
        *((("key", "text", "env:, file: or keyring:, never itself", key),) * bool(key)),
        ("base_url", "text", "where it is asked; empty: its own address", ""),
        ("input_price", "dollars", f"{million} it reads", None),
        ("output_price", "dollars", f"{million} it writes", None),
        ("cached_price", "dollars", f"{million} it had kept", None),
        ("kept_price", "dollars", f"{million} it keeps", None),
        ("pictures", "flag", "whether it can look at pictures", known.pictures),
    )
    return tuple(
        ConfigKey(kind, about, default, high=DEAREST, name=f"{table}.{each}")
        for each, kind, about, default in said
    )


# What the program knows by itself.
BY_ITSELF: Mapping[str, Mapping[str, Value]] = {
    "agent.provider": {"choices": PROVIDERS},
    "agent.fallbacks": {"choices": PROVIDERS},
    "agent.internal.allowed_tools": {"choices": tuple(TOOLS)},
    "agent.ghost.vision_provider": {"choices": (*PROVIDERS, TESSERACT)},
    "policy.denylist": {"default": DENYLIST},
    "run.predictor": {"default": PREDICTOR, "choices": PREDICTORS},
    "run.threshold": {"default": THRESHOLD[PREDICTOR] / MILLION},
    "run.suggest": {"default": SUGGEST / MILLION},
}


def _as_one(value: Value) -> Value:
    """One object for one word: what is as usual is left out of an event by its identity, and the
    event is the same bytes whenever it is written."""
    return sys.intern(value) if isinstance(value, str) else value


def _keys() -> Iterator[ConfigKey]:
    text = (files(__package__) / "keys.toml").read_bytes()
    for name, key in msgspec.toml.decode(text, type=dict[str, ConfigKey]).items():
        said = {"default": _as_one(key.default), **BY_ITSELF.get(name, {})}
        yield msgspec.structs.replace(key, name=name, **said)
    for name in PROVIDERS:
        yield from _of_provider(name)


KEYS = tuple(_keys())
NAMES = {key.name: key for key in KEYS}
VARIABLES = {key.env: key for key in KEYS}
# What the seeds call a thing that has another name here.
ELSEWHERE = {"policy.whitelist_file": "policy.allowed_domains"}


def from_file(key: ConfigKey, value: object, place: str) -> Value:
    """The value of a key as TOML gives it; never one type for another."""
    try:
        read: Value = msgspec.convert(value, TYPES.get(key.kind, float))
    except msgspec.ValidationError:
        wrong = f"{place}: {key.name} is {FORMS[key.kind]}"
        raise BadInput(wrong, f"write {example(key)}") from None
    return checked(key, read, place)


def from_variable(key: ConfigKey, said: str, place: str, fix: str = "") -> Value:
    """The value of a key as a variable says it: written as in the file, a list with commas."""
    value: Value = said
    try:
        if key.kind == "flag":
            value = {"true": True, "false": False}[said]
        elif key.kind == "number":
            value = int(_matching(r"-?[0-9]{1,15}", said))
        elif key.kind in BROKEN_DOWN:
            value = float(_matching(r"-?[0-9]{1,15}(\.[0-9]{1,15})?", said))
        elif key.kind == "list":
            value = tuple(each.strip() for each in _matching(r".*\S.*", said).split(","))
    except (KeyError, ValueError):
        form = "texts with commas between them" if key.kind == "list" else FORMS[key.kind]
        fix = fix or f"export {key.env}=..., or unset it"
        raise BadInput(f"{place} is not {form}", fix) from None
    return checked(key, value, place)


def checked(key: ConfigKey, value: Value, place: str) -> Value:
    """The value, if it is in the range of its key."""
    at = place if place.endswith(key.env) else f"{place}: {key.name}"
    if key.always and value != key.default:
        raise BadInput(f"{at} cannot be {str(value).lower()}", key.always)
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float) and not key.low <= value <= key.high:  # nan is not either
        raise BadInput(f"{at} is {value}", f"it is from {key.low} to {key.high}")
    unsaid = not value and not key.default  # where nothing said is a choice of its own
    if isinstance(value, str) and key.choices and value not in key.choices and not unsaid:
        raise BadInput(f"{at}: there is no {value!r}", f"it is one of {', '.join(key.choices)}")
    if isinstance(value, tuple):
        _check_list(key, value, at)
    return _as_one(value)


def example(key: ConfigKey) -> str:
    """The key with its default, as it is written in the file."""
    value = 3.0 if key.kind == "dollars" and key.default is None else key.default
    return f"{key.name.rpartition('.')[2]} = {written(value)}"


def written(value: object) -> str:
    """A value as TOML."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{escaped}"'
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(written, value))}]"
    return "[...]" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def _check_list(key: ConfigKey, value: tuple[str, ...], at: str) -> None:
    for each in value:
        if not any(map(str.isalnum, each)) and each != "*":
            raise BadInput(f"{at} has an entry that says nothing", "take it out")
        if value.count(each) > 1:
            raise BadInput(f"{at} has {each!r} twice", "once is enough")
        if key.choices and each not in key.choices:
            raise BadInput(f"{at}: there is no {each!r}", f"it is of {', '.join(key.choices)}")


def _matching(pattern: str, text: str) -> str:
    if re.fullmatch(pattern, text) is None:
        raise ValueError
    return text
