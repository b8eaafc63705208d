"""The reader takes the configuration from a TOML file and the environment, strictly, and says the
source of each value.

What cannot be used as it stands is refused at the start with its place; nothing is passed over
and nothing is guessed. A variable stands above the file.
"""

import difflib
import hashlib
import os
import re
import stat
import tomllib
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from rutter.actors.rules.policy.hosts import EVERYWHERE
from rutter.actors.rules.policy.policy import DEFAULT_POLICY
from rutter.actors.rules.tools.tool_table import SEVEN
from rutter.events.errors import BadInput
from rutter.events.policy import Policy, PolicyRule
from rutter.events.run_settings import MILLION, Limits, PredictorName
from rutter.pipeline.config.keys import (
    ELSEWHERE,
    NAMES,
    PROVIDERS,
    VARIABLES,
    ConfigKey,
    Value,
    from_file,
    from_variable,
    written,
)
from rutter.pipeline.config.tables import (
    SEE,
    SecretGiven,
    check_rules,
    check_value,
    read_rule,
    read_secret,
)
from rutter.pipeline.config.thresholds import PREDICTORS, THRESHOLD, Thresholds

FILE = "config.toml"
LARGEST = 262_144  # bytes; a configuration is a page or two
PLACES = ("RUTTER_DATA", "RUTTER_CONFIG")
# Of what the tests and benches are told, and of no key.
BESIDE = ("RUTTER_SOAK", "RUTTER_BENCH_SESSIONS", "RUTTER_BENCH_TRACES", "RUTTER_TEST_MARK")
OURS = "RUTTER_"  # whatever begins so can only be meant for us
SHARED = ("AGENT_", "BROWSER_")  # other programs have such variables of their own
ALIKE = 0.85  # of a misspelt name to the right one: one or two letters in ten
DEFAULT = "default"
PRICES = ("input_price", "output_price", "cached_price", "kept_price")


class SourcedValue(NamedTuple):
    """A value has a source: who said it."""

    value: Value
    source: str = DEFAULT

    @property
    def of_variable(self) -> bool:
        return self.source.startswith("the variable ")


class Config(msgspec.Struct, frozen=True):
    """The configuration is every value with its source, from `file`, sought in `looked`."""

    values: Mapping[str, SourcedValue] = {}
    rules: tuple[PolicyRule, ...] = ()
    secrets: Mapping[str, SecretGiven] = {}
    file: Path | None = None
    looked: tuple[Path, ...] = ()

    def said(self, name: str) -> SourcedValue:
        """Who says nothing of the threshold goes by that of the model."""
        said = self.values.get(name)
        if said is None and name == "run.threshold" and "run.predictor" in self.values:
            default = THRESHOLD[self.predictor] / MILLION
            return SourcedValue(default, f"{DEFAULT} of {self.predictor}")
        return said or SourcedValue(NAMES[name].default)

    def flag(self, name: str) -> bool:
        return bool(self.said(name).value)

    def number(self, name: str) -> int:
        value = self.said(name).value
        return int(value) if isinstance(value, int) else 0

    def text(self, name: str) -> str:
        return str(self.said(name).value)

    def amount(self, name: str) -> float:
        value = self.said(name).value
        return float(value) if isinstance(value, int | float) else 0.0

    def listed(self, name: str) -> tuple[str, ...] | None:
        """`None` when nobody said it; a list that is empty holds nothing."""
        value = self.said(name).value
        return value if isinstance(value, tuple) else None

    def dollars(self, name: str) -> int | None:
        """In microdollars; `None` when nobody said it."""
        value = self.said(name).value
        return round(value * MILLION) if isinstance(value, int | float) else None

    @property
    def providers(self) -> tuple[str, ...]:
        """Whose language model is asked, in this order."""
        first = self.text("agent.provider") or PROVIDERS[0]
        return (first, *(self.listed("agent.fallbacks") or ()))

    @property
    def everywhere(self) -> bool:
        """Whether every public host may be gone to because somebody wrote so."""
        return EVERYWHERE in (self.listed("policy.allowed_domains") or ())

    @property
    def predictor(self) -> PredictorName:
        return PREDICTORS[PREDICTORS.index(self.text("run.predictor"))]  # one of them: it was read

    @property
    def sureness(self) -> Thresholds:
        return Thresholds(
            predictor=self.predictor,
            threshold=round(self.amount("run.threshold") * MILLION),
            suggest=round(self.amount("run.suggest") * MILLION),
        )

    @property
    def limits(self) -> Limits:
        """Of a run that follows no workflow (E6)."""
        return Limits(
            max_steps=self.number("agent.internal.max_steps"),
            max_wall_ms=self.number("agent.internal.max_wall_time_ms"),
            max_failures=self.number("agent.internal.max_failures"),
        )

    @property
    def knobs(self) -> dict[str, Any]:
        """What somebody set of the settings that every run has."""
        waits = {
            f"{each}_ms": self.number(f"run.{each}_ms")
            for each in ("resolve", "settle", "place", "answer")
        }
        delay = round(self.amount("controller.execution_delay") * 1_000)
        return {
            **waits,
            "execution_delay_ms": delay,
            "vision": self.flag("critic.vision_enabled"),
            "proof": self.text("run.proof"),
        }


# -- from configuration to policy ------------------------------------------------------------------


def base_policy(config: Config) -> Policy:
    """What any run may do at most. Its version is another one whenever its content is."""
    domains = config.listed("policy.allowed_domains")
    resources = config.listed("policy.allowed_resources")
    policy = msgspec.structs.replace(
        DEFAULT_POLICY,
        denylist=config.listed("policy.denylist") or (),
        hosts=domains or (),  # with `*`, so that it can be told from a list that nobody wrote
        public_hosts=domains is None or EVERYWHERE in domains,
        resources=resources or (),
        public_resources=resources is None or EVERYWHERE in resources,
        rules=config.rules,
        secret_origins=tuple(
            (name, origin)
            for name, given in sorted(config.secrets.items())
            for origin in given.origins
        ),
        approval_ms=config.number("policy.approval_time_limit_ms"),
        upload_mb=config.number("policy.upload_mb"),
        download_mb=config.number("policy.download_mb"),
        detect_secrets=config.flag("policy.detect_secrets"),
    )
    return msgspec.structs.replace(policy, version=version_of(policy))


def version_of(policy: Policy) -> str:
    """That of the built-in policy, and a sum over what is different."""
    same = msgspec.structs.replace(policy, version=DEFAULT_POLICY.version)
    if same == DEFAULT_POLICY:
        return DEFAULT_POLICY.version
    content = msgspec.msgpack.encode(same)
    return f"{DEFAULT_POLICY.version}-{hashlib.sha256(content).hexdigest()[:8]}"


# -- reading ---------------------------------------------------------------------------------------


def read_config(typed: str | None, data: Path, env: Mapping[str, str]) -> Config:
    """`--config`, then RUTTER_CONFIG, then the data directory, then the platform's own place."""
    check_variables(env)
    named = typed or env.get("RUTTER_CONFIG")
    base = env.get("XDG_CONFIG_HOME")
    own = Path(base) if base else Path("~/.config").expanduser()
    looked = (Path(named).expanduser(),) if named else (data / FILE, own / "rutter" / FILE)
    found = next((each for each in looked if named or each.exists()), None)
    config = read_text(found, file_text(found)) if found is not None else Config()
    config = msgspec.structs.replace(config, looked=looked)
    return below_variables(config, _from_environment(env))


def below_variables(config: Config, variables: Mapping[str, SourcedValue]) -> Config:
    """What a file says, with the variables above it; raises `BadInput` where they do not agree."""
    config = msgspec.structs.replace(config, values={**config.values, **variables})
    _check_together(config)
    return config


def check_variables(env: Mapping[str, str]) -> None:
    """A variable that means us and is none of ours would be a setting that does nothing."""
    known = (*VARIABLES, *PLACES, *BESIDE)
    for name in sorted(env):
        if not name.startswith((OURS, *SHARED)) or name in known:
            continue
        alike = difflib.get_close_matches(name, known, 1, ALIKE)
        if alike:
            raise BadInput(f"there is no variable {name}", f"did you mean {alike[0]}?")
        if name.startswith(OURS):
            listed = ", ".join(sorted(each for each in (*VARIABLES, *PLACES) if OURS in each))
            raise BadInput(f"there is no variable {name}", f"unset it; there are {listed}")


def _from_environment(env: Mapping[str, str]) -> dict[str, SourcedValue]:
    found: dict[str, SourcedValue] = {}
    for variable, key in VARIABLES.items():
        said = env.get(variable)
        if said is None or (key.kind == "text" and not said):
            continue
        place = f"the variable {variable}"
        value = from_variable(key, said, place)
        check_value(key.name, value, place)
        found[key.name] = SourcedValue(value, place)
    return found


def read_text(path: Path, text: str) -> Config:
    """What a file says in which this is written."""
    try:
        raw = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        twice = "Cannot declare" in str(error)  # a table: what is below it goes where it is
        once = "write each [table] once; rutter config set KEY VALUE finds the place"
        raise BadInput(f"{path} is not TOML: {error}", once if twice else SEE) from error
    lines = _KeyLines(path, text)
    values: dict[str, SourcedValue] = {}
    rules: list[PolicyRule] = []
    secrets: dict[str, SecretGiven] = {}
    for name, value in _flat(raw):
        if name == "policy.rules":
            rules += _rules(value, lines)
        elif name == "secrets":
            secrets |= _secrets(value, lines)
        else:
            values[name] = _value(name, value, lines)
    return Config(values, tuple(rules), secrets, path)


def _value(name: str, value: object, lines: "_KeyLines") -> SourcedValue:
    place = lines.of(name)
    if any(known.startswith(f"{name}.") for known in NAMES):
        raise BadInput(f"{place}: {name} is a table", f"write [{name}]")
    read = from_file(known_key(name, place), value, place)
    check_value(name, read, place)
    return SourcedValue(read, place)


def known_key(name: str, place: str) -> ConfigKey:
    if name in NAMES:
        return NAMES[name]
    alike = difflib.get_close_matches(name, NAMES, 1)
    meant = ELSEWHERE.get(name) or (alike[0] if alike else "")
    raise BadInput(f"{place}: there is no key {name}", f"did you mean {meant}?" if meant else SEE)


def _rules(rows: object, lines: "_KeyLines") -> list[PolicyRule]:
    if not isinstance(rows, list):
        raise BadInput(f"{lines.of('policy.rules')}: policy.rules are tables", SEE)
    rules = [
        read_rule(row, partial(lines.of_key, f"policy.rules#{number}"))
        for number, row in enumerate(rows)
    ]
    check_rules(rules, str(lines.path))
    return rules


def _secrets(rows: object, lines: "_KeyLines") -> dict[str, SecretGiven]:
    if not isinstance(rows, dict):
        raise BadInput(f"{lines.of('secrets')}: secrets are tables", "write [secrets.name]")
    return {
        name: read_secret(name, row, partial(lines.of_key, f"secrets.{name}"))
        for name, row in rows.items()
    }


def _check_together(config: Config) -> None:
    if config.flag("agent.internal.enabled") and not config.listed("agent.internal.allowed_tools"):
        source = config.said("agent.internal.enabled").source
        tools = written(tuple(each.name for each in SEVEN))
        raise BadInput(
            f"{source}: agent.internal.enabled, and agent.internal.allowed_tools names no tool",
            f"name each tool that the model may call: allowed_tools = {tools}",
        )
    if len(set(config.providers)) < len(config.providers):
        source, first = config.said("agent.fallbacks").source, config.providers[0]
        raise BadInput(
            f"{source}: agent.fallbacks has {first!r}, which is asked first",
            "take it out, or name another agent.provider",
        )
    for name in PROVIDERS:
        _check_prices(config, f"models.{name}")


def _check_prices(config: Config, table: str) -> None:
    """A model that is not ours by default has the prices that were given, or none at all."""
    said = [each for each in PRICES if config.dollars(f"{table}.{each}") is not None]
    if not said or config.text(f"{table}.model") == NAMES[f"{table}.model"].default:
        return
    for needed in PRICES[:2]:
        if needed not in said:
            raise BadInput(
                f"{config.said(f'{table}.{said[0]}').source}: {table}.{said[0]}, and no {needed}",
                f"write {table}.{needed} as well, or no price: then what it costs is unknown",
            )


def _flat(raw: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, object]]:
    """Dotted names with their values; a table that no key lies in is a name like any other."""
    for key, value in raw.items():
        name = f"{above}{key}"
        inner = any(known.startswith(f"{name}.") for known in NAMES)
        if isinstance(value, dict) and inner:
            yield from _flat(value, f"{name}.")
        else:
            yield name, value


# -- the file itself -------------------------------------------------------------------------------


def file_text(path: Path) -> str:
    """What the file says, if nobody else can have written it."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            _check_owner(path, os.fstat(handle))
            body = os.read(handle, LARGEST + 1)
        finally:
            os.close(handle)
        if len(body) > LARGEST:
            raise BadInput(f"{path} has more than {LARGEST} bytes", "a configuration is a few keys")
        return body.decode("utf-8")
    except OSError as error:
        raise BadInput(f"{path} cannot be read ({error.strerror})", "check --config") from error
    except UnicodeDecodeError as error:
        raise BadInput(f"{path} is not UTF-8 ({error})", SEE) from error


def _check_owner(path: Path, found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise BadInput(f"{path} is no file", "check --config")
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise BadInput(f"{path} can be written by others", f"chmod go-w {path}")
    if found.st_uid not in (0, os.geteuid()):
        raise BadInput(f"{path} belongs to somebody else", "make a copy of your own")
    around = path.resolve().parent
    if around.stat().st_mode & (stat.S_IWOTH | stat.S_ISVTX) == stat.S_IWOTH:
        raise BadInput(f"{around} can be written by anybody", f"chmod o-w {around}")


_HEADER = re.compile(r"^\s*\[(\[?)\s*([^\[\]]+?)\s*\]")
_ENTRY = re.compile(r"^\s*([\w\"'.\- ]+?)\s*=")


class _KeyLines:
    """A key stands on a line of the file. TOML's own reader does not say; this finds it in any file
    that is written as people do, and says the file alone where it is not sure."""

    def __init__(self, path: Path, text: str) -> None:
        self.path = path
        self._at: dict[str, list[int]] = {}
        table, rows = "", 0
        for number, line in enumerate(text.splitlines(), 1):
            if header := _HEADER.match(line):
                table = _plain(header[2])
                if header[1]:
                    table, rows = f"{table}#{rows}", rows + 1
                self._at.setdefault(table, []).append(number)
            elif entry := _ENTRY.match(line):
                name = f"{table}.{_plain(entry[1])}" if table else _plain(entry[1])
                self._at.setdefault(name, []).append(number)

    def of(self, name: str) -> str:
        found = self._at.get(name, [])
        return f"{self.path} line {found[0]}" if len(found) == 1 else str(self.path)

    def of_key(self, table: str, key: str) -> str:
        return self.of(f"{table}.{key}" if key else table)


def _plain(name: str) -> str:
    return ".".join(part.strip().strip("\"'") for part in name.split("."))
