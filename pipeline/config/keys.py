"""The table of keys holds every key of the configuration: its name, type, default, range and
variable (H6).

The dotted names and their defaults are those of S4 and of S2 10, and our own beside
them. A value is checked here whether a file or a variable says it.
"""

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

from rutter.actors.rules.policy.risky_words import DENYLIST
from rutter.actors.rules.tools.tool_table import TOOLS
from rutter.actors.world.models.defaults import DEFAULTS
from rutter.events.errors import BadInput
from rutter.events.run_settings import MILLION
from rutter.pipeline.config.thresholds import PREDICTOR, PREDICTORS, SUGGEST, THRESHOLD

Kind = Literal["flag", "number", "share", "seconds", "dollars", "text", "list"]
Value = bool | int | float | str | tuple[str, ...] | None
DAY_MS = 86_400_000
FOR_EVER = 36_500  # days: who wants more says 0
WIDEST = 4_096  # pixels of a picture, and megabytes of a transfer
DEAREST = 10_000  # dollars for a million tokens: far above any, and still no overflow
PROVIDERS = tuple(DEFAULTS)
# What others can be told of while the daemon runs; of the first two they are unless said otherwise.
NOTICES = ("person_needed", "job_failed", "job_skipped", "job_done", "session_failed")
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


class ConfigKey(NamedTuple):
    """A key of the configuration may have one value alone, its default: `always` says why."""

    name: str
    kind: Kind
    default: Value
    about: str
    low: int = 0
    high: int = 1
    choices: Sequence[str] = ()
    variable: str = ""
    always: str = ""

    @property
    def env(self) -> str:
        ours = "" if self.name.startswith(("agent.", "browser.")) else "RUTTER_"
        return self.variable or ours + self.name.replace(".", "_").upper()


def _of_provider(name: str) -> tuple[ConfigKey, ...]:
    """What is said of one provider of language models. What is not set is known of its model."""
    known, table = DEFAULTS[name], f"models.{name}"
    key = f"env:{known.key_env}" if known.key_env else ""
    million = "dollars for a million tokens"
    return (
        ConfigKey(f"{table}.model", "text", known.model, "which model is asked"),
        *(
            (ConfigKey(f"{table}.key", "text", key, "env:, file: or keyring:, never itself"),)
            * bool(key)
        ),
        ConfigKey(f"{table}.base_url", "text", "", "where it is asked; empty: its own address"),
        ConfigKey(f"{table}.input_price", "dollars", None, f"{million} it reads", 0, DEAREST),
        ConfigKey(f"{table}.output_price", "dollars", None, f"{million} it writes", 0, DEAREST),
        ConfigKey(f"{table}.cached_price", "dollars", None, f"{million} it had kept", 0, DEAREST),
        ConfigKey(f"{table}.kept_price", "dollars", None, f"{million} it keeps", 0, DEAREST),
        ConfigKey(f"{table}.pictures", "flag", known.pictures, "whether it can look at pictures"),
    )


KEYS = (
    ConfigKey(
        "agent.provider",
        "text",
        "",
        f"who is asked first, where a model is; empty: {PROVIDERS[0]}",
        choices=PROVIDERS,
    ),
    ConfigKey("agent.fallbacks", "list", (), "who is asked when that one fails", choices=PROVIDERS),
    ConfigKey(
        "agent.internal.enabled", "flag", False, "whether a language model may lead a run (Mode B)"
    ),
    ConfigKey(
        "agent.internal.max_steps", "number", 12, "of a free run, or one that a model leads", 1, 999
    ),
    ConfigKey("agent.internal.max_wall_time_ms", "number", 90_000, "of the same", 1_000, DAY_MS),
    ConfigKey("agent.internal.max_failures", "number", 3, "of the same", 1, 100),
    ConfigKey(
        "agent.internal.allowed_tools", "list", (), "what such a model may call", choices=[*TOOLS]
    ),
    ConfigKey(
        "agent.ghost.enabled", "flag", False, "whether a picture may be read where a page is shut"
    ),
    ConfigKey(
        "agent.ghost.auto_trigger", "flag", True, "without being asked to, where it is enabled"
    ),
    ConfigKey(
        "agent.ghost.vision_provider",
        "text",
        "",
        "who reads it; empty: agent.provider",
        choices=PROVIDERS,
    ),
    ConfigKey("agent.ghost.max_image_width", "number", 1_280, "pixels", 64, WIDEST),
    ConfigKey("browser.chromium", "text", "", "the browser's path", variable="RUTTER_CHROMIUM"),
    ConfigKey("browser.pool_size", "number", 1, "browsers that are kept warm", 1, 64),
    ConfigKey("browser.max_windows", "number", 20, "in all of them at once; more wait", 1, 1_000),
    ConfigKey(
        "browser.recycle_after", "number", 200, "windows; then another is started", 1, 1_000_000
    ),
    ConfigKey("browser.max_mb", "number", 2_048, "of memory; then the same", 512, 1 << 20),
    ConfigKey(
        "browser.check_s", "seconds", 5.0, "between looks whether each of them is well", 1, 3_600
    ),
    ConfigKey("browser.stream.enabled", "flag", False, "whether a session can be watched live"),
    ConfigKey("browser.stream.quality", "number", 25, "of its JPEG pictures", 1, 100),
    ConfigKey("browser.stream.max_width", "number", 854, "pixels", 64, WIDEST),
    ConfigKey("planner.use_llm", "flag", True, "as far as agent.internal.enabled lets it"),
    ConfigKey("controller.execution_delay", "seconds", 0.0, "before each action", 0, 60),
    ConfigKey(
        "critic.vision_enabled", "flag", False, "whether a picture is described after a failure"
    ),
    ConfigKey(
        "policy.allowed_domains", "list", None, "hosts that may be gone to; '*' for public ones"
    ),
    ConfigKey("policy.allowed_resources", "list", None, "hosts that may also be loaded from"),
    ConfigKey("policy.denylist", "list", DENYLIST, "words that deny a step nobody recorded"),
    ConfigKey(
        "policy.block_private_ranges",
        "flag",
        True,
        "private addresses only where named",
        always="a private host is reached by its name: put it in policy.allowed_domains",
    ),
    ConfigKey(
        "policy.redaction",
        "flag",
        True,
        "known secrets are taken out of everything",
        always="secrets are always taken out",
    ),
    ConfigKey(
        "policy.persist_raw_html",
        "flag",
        False,
        "whether pages are kept as they came",
        always="pages are never kept as they came",
    ),
    ConfigKey(
        "policy.approval_time_limit_ms", "number", 0, "then it is a no; 0: none", 0, 7 * DAY_MS
    ),
    ConfigKey("policy.upload_mb", "number", 50, "the largest request", 1, WIDEST),
    ConfigKey("policy.download_mb", "number", 50, "the largest answer that is a file", 1, WIDEST),
    ConfigKey("policy.detect_secrets", "flag", True, "whether unknown secrets are looked for"),
    ConfigKey("keep.screenshots_days", "number", 30, "pictures of pages; 0: for ever", 0, FOR_EVER),
    ConfigKey(
        "keep.downloads_days", "number", 90, "files that pages sent; 0: for ever", 0, FOR_EVER
    ),
    ConfigKey("keep.prompts_days", "number", 30, "what models were asked and said", 0, FOR_EVER),
    ConfigKey(
        "keep.max_mb", "number", 2_000, "of all of them; the oldest go; 0: no limit", 0, 1 << 20
    ),
    ConfigKey(
        "logins.key",
        "text",
        "",
        "env:, file:, keyring: of a passphrase; prompt; empty: keyring",
    ),
    ConfigKey("logins.refresh", "flag", True, "a login is kept again after a run that ended well"),
    ConfigKey("serve.host", "text", "127.0.0.1", "the address that rutter serve listens on"),
    ConfigKey("serve.port", "number", 8_080, "its port; 0: any that is free", 0, 65_535),
    ConfigKey("serve.names", "list", (), "further names that it may be reached by"),
    ConfigKey("tools.sessions", "number", 20, "driven by calls at once, in the daemon", 1, 1_000),
    ConfigKey("tools.idle_s", "seconds", 900.0, "without a call; then one is closed", 1, 86_400),
    ConfigKey("jobs.running", "number", 4, "jobs that the daemon runs at once", 1, 1_000),
    ConfigKey("jobs.waiting", "number", 100, "that may wait; more are refused", 1, 9_999),
    ConfigKey("jobs.per_workflow", "number", 1, "of one workflow at once; more wait", 1, 1_000),
    ConfigKey(
        "notify.urls", "list", (), "who is told, by POST; env:, file: or keyring: where secret"
    ),
    ConfigKey("notify.events", "list", NOTICES[:2], "and of what", choices=NOTICES),
    ConfigKey(
        "notify.secret", "text", "", "env:, file: or keyring: of what signs it; empty: nothing"
    ),
    ConfigKey("record.pictures", "flag", True, "a small picture of each recorded step"),
    ConfigKey(
        "run.predictor", "text", PREDICTOR, "which model says what is next", choices=PREDICTORS
    ),
    ConfigKey(
        "run.threshold",
        "share",
        THRESHOLD[PREDICTOR] / MILLION,
        "least probability a free run acts on alone; not set: 0.7 for foresight, 0.5 for markov2",
    ),
    ConfigKey("run.suggest", "share", SUGGEST / MILLION, "least one that it asks a person about"),
    ConfigKey(
        "run.proof",
        "text",
        "acknowledged",
        "what must bear out that a run is done: the server's answer, or that it was read back",
        choices=("acknowledged", "stored"),
    ),
    ConfigKey("run.screenshots", "flag", False, "a picture of the page at each step"),
    ConfigKey("run.resolve_ms", "number", 3_000, "how long an element is waited for", 100, 60_000),
    ConfigKey("run.settle_ms", "number", 1_000, "how long any effect is", 100, 60_000),
    ConfigKey("run.place_ms", "number", 3_000, "how long one that is known is", 100, 60_000),
    ConfigKey("run.answer_ms", "number", 10_000, "how long the site's own answer is", 100, 120_000),
    ConfigKey(
        "traces.exporter",
        "text",
        "",
        "otlp, otlp_proto_grpc, console or none",
    ),
    ConfigKey("traces.endpoint", "text", "", "where OTLP goes; empty: OTEL_EXPORTER_OTLP_ENDPOINT"),
    *(key for name in PROVIDERS for key in _of_provider(name)),
)
NAMES = {key.name: key for key in KEYS}
VARIABLES = {key.env: key for key in KEYS}
# What the seeds call a thing that has another name here.
ELSEWHERE = {"policy.whitelist_file": "policy.allowed_domains"}


def from_file(key: ConfigKey, value: object, place: str) -> Value:
    """The value of a key as TOML gives it; never one type for another."""
    if key.kind == "list" and isinstance(value, list):
        if all(isinstance(each, str) for each in value):
            return checked(key, tuple(map(str, value)), place)
    elif key.kind == "flag" and isinstance(value, bool):
        return checked(key, value, place)
    elif isinstance(value, bool):
        pass  # which Python takes for a number
    elif key.kind == "number" and isinstance(value, int):
        return checked(key, value, place)
    elif key.kind in BROKEN_DOWN and isinstance(value, int | float):
        return checked(key, float(value), place)
    elif key.kind == "text" and isinstance(value, str):
        return checked(key, value, place)
    raise BadInput(f"{place}: {key.name} is {FORMS[key.kind]}", f"write {example(key)}")


def from_variable(key: ConfigKey, said: str, place: str) -> Value:
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
        raise BadInput(f"{place} is not {form}", f"export {key.env}=..., or unset it") from None
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
    return value


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
