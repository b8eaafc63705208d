"""A service file is written by a person and says what is known of a service. It has the states,
where a person is asked for leave, signs of an end, what a model is told of it and how it goes
without one.

Nothing in it is passed over: a key that is misspelt would be a rule that never holds.
"""

import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple, get_args

import msgspec

from rutter.events.checks import PageState
from rutter.events.errors import BadInput
from rutter.events.service_pack import Checkpoint, Service, ServiceScript, Sign, StateRule, Where
from rutter.events.workflow import Criteria, Indicator
from rutter.pipeline.sessions.service_script_file import ActionEntry, read_action

LARGEST = 262_144  # bytes of a file; each of its texts is looked for on every page
HEAVIEST = 1_000
# Both are part of every prompt, whose fixed part has room for some hundred words (S3 2.1.1).
LONGEST = {"goal": 500, "guidance": 1_000}
PACKS = Path(__file__).with_name("packs")
# What is in no state that is known is a sign of nothing.
KNOWN_STATES = tuple(each for each in get_args(PageState) if each != "UNKNOWN")
PLACES: tuple[str, ...] = get_args(msgspec.structs.fields(Indicator)[0].type)


class _SignEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    where: str
    says: str


class _Rule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    state: PageState
    signs: tuple[_SignEntry, ...]
    weight: int = 1
    unless: tuple[_SignEntry, ...] = ()


class _Checkpoint(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    signs: tuple[_SignEntry, ...]
    always: bool = False


class _Ends(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    success: tuple[_SignEntry, ...] = ()
    failure: tuple[_SignEntry, ...] = ()


class _ScriptEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    state: PageState
    actions: tuple[ActionEntry, ...] = ()
    signs: tuple[_SignEntry, ...] = ()
    why: str = ""


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    version: str = "1"
    states: tuple[_Rule, ...] = ()
    checkpoints: tuple[_Checkpoint, ...] = ()
    criteria: _Ends | None = None
    goal: str = ""
    guidance: str = ""
    ways: tuple[_ScriptEntry, ...] = ()


class KnownService(NamedTuple):
    """A service and by what its pages show that a task is at its end."""

    service: Service
    criteria: Criteria | None


def read_service(path: Path) -> KnownService:
    """The service that the file describes; what is wrong is said with its place in the file. A
    plain name, where no such file is, is that of a bundled one."""
    if str(path) in bundled() and not path.exists():
        path = PACKS / f"{path}.toml"
    try:
        with path.open("rb") as file:
            body = file.read(LARGEST + 1)
        if len(body) > LARGEST:
            raise BadInput(f"{path} has more than {LARGEST} bytes", "a service is a few rules")
        raw = tomllib.loads(body.decode("utf-8"))
    except OSError as error:
        raise BadInput(
            f"{path} cannot be read ({error.strerror})",
            f"check --service; bundled are {', '.join(bundled())}",
        ) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadInput(f"{path} is not TOML: {error}", "see docs/services.md") from error
    try:
        said = msgspec.convert(raw, _File)
    except msgspec.ValidationError as error:
        raise BadInput(f"{path}: {error}", "see docs/services.md") from error
    return _known(said, str(path))


def bundled() -> list[str]:
    """The names by which `--service` knows the services that come along."""
    return sorted(path.stem for path in PACKS.glob("*.toml"))


def indicator(where: str, says: str, at: str) -> Indicator:
    """A sign of an end. `at` is where it was written, for what is said when it is none."""
    if where not in PLACES:
        raise BadInput(
            f"{at}: there is no such place on a page", f"it is one of {', '.join(PLACES)}"
        )
    if not says.strip():
        raise BadInput(f"{at} has no text", "say what the page says there")
    if where == "state" and says not in KNOWN_STATES:
        raise BadInput(f"{at}: no page is {says!r}", f"it is one of {', '.join(KNOWN_STATES)}")
    return msgspec.convert({"where": where, "says": says}, Indicator)


def _known(file: _File, path: str) -> KnownService:
    if not file.name.strip():
        raise BadInput(f"{path}: the service has no name", 'write name = "..."')
    rules = tuple(_rule(rule, f"{path}: states[{i}]") for i, rule in enumerate(file.states))
    said = {"goal": file.goal.strip(), "guidance": file.guidance.strip()}
    for key, text in said.items():
        if len(text) > LONGEST[key]:
            raise BadInput(
                f"{path}: the {key} has more than {LONGEST[key]} characters",
                "a model is told it with every question",
            )
    service = Service(
        file.name,
        file.version,
        rules,
        _checkpoints(file.checkpoints, path),
        ways=tuple(_script(way, f"{path}: ways[{i}]") for i, way in enumerate(file.ways)),
        **said,
    )
    return KnownService(service, _criteria(file.criteria, path))


def _rule(rule: _Rule, at: str) -> StateRule:
    if not rule.signs:
        raise BadInput(f"{at} has no signs", "a rule without any would hold on every page")
    if not 1 <= rule.weight <= HEAVIEST:
        raise BadInput(f"{at}: a weight is from 1 to {HEAVIEST}", "more speaks louder")
    return StateRule(
        rule.state,
        _signs(rule.signs, f"{at}.signs"),
        rule.weight,
        _signs(rule.unless, f"{at}.unless"),
    )


def _checkpoints(said: Iterable[_Checkpoint], path: str) -> tuple[Checkpoint, ...]:
    """Each with a name of its own: it is what the person who is asked is told."""
    made: dict[str, Checkpoint] = {}
    for number, each in enumerate(said):
        at, name = f"{path}: checkpoints[{number}]", " ".join(each.name.split())
        if not name:
            raise BadInput(f"{at} has no name", "say what a person is asked about there")
        if name in made:
            raise BadInput(f"{at}: {name!r} is there twice", "give each a name of its own")
        if not each.signs:
            raise BadInput(f"{at} has no signs", "one without any would stop on every page")
        made[name] = Checkpoint(name, _signs(each.signs, f"{at}.signs"), each.always)
    return tuple(made.values())


def _script(way: _ScriptEntry, at: str) -> ServiceScript:
    """The first whose signs are there is gone, so one may be plain and come last."""
    if way.state == "UNKNOWN" and not way.signs:
        raise BadInput(f"{at} has no signs", "nothing else tells an UNKNOWN page from any other")
    if not way.actions and not way.why.strip():
        raise BadInput(f"{at} has neither actions nor why", "say why the run ends there")
    actions = (read_action(act, f"{at}.actions[{i}]") for i, act in enumerate(way.actions))
    why = " ".join(way.why.split())
    return ServiceScript(way.state, tuple(actions), _signs(way.signs, f"{at}.signs"), why)


def _signs(said: Iterable[_SignEntry], at: str) -> tuple[Sign, ...]:
    signs = []
    for number, each in enumerate(said):
        if each.where not in get_args(Where):
            raise BadInput(
                f"{at}[{number}]: there is no such place on a page: {each.where!r}",
                f"it is one of {', '.join(get_args(Where))}",
            )
        if not any(map(str.isalnum, each.says)):  # words are compared, whole ones
            raise BadInput(f"{at}[{number}] has no text", "say what the page says there")
        signs.append(msgspec.convert({"where": each.where, "says": each.says}, Sign))
    return tuple(signs)


def _criteria(ends: _Ends | None, path: str) -> Criteria | None:
    if ends is None:
        return None
    success, failure = (
        tuple(
            indicator(each.where, each.says, f"{path}: criteria.{status}[{number}]")
            for number, each in enumerate(said)
        )
        for status, said in (("success", ends.success), ("failure", ends.failure))
    )
    if not success and not failure:
        raise BadInput(f"{path}: criteria are empty", "give success or failure, or leave them out")
    return Criteria(success, failure)
