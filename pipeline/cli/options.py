"""Flags that several commands take, and the run request that they come to: the one place where a
command line becomes one."""

import argparse
import os
import re
from pathlib import Path

from rutter.events.errors import BadInput
from rutter.events.run_settings import MILLION, PredictorName
from rutter.pipeline.config.reader import Config
from rutter.pipeline.config.secret_sources import SOURCES, read_pairs
from rutter.pipeline.config.thresholds import PREDICTORS, THRESHOLD, Thresholds
from rutter.pipeline.sessions.request import RunRequest
from rutter.pipeline.sessions.service_file import PLACES, bundled
from rutter.pipeline.sessions.session_started import MAX_TURNS

SHORTEST_MS, LONGEST_MS = 100, 60_000  # as in the configuration
UNITS = {"": 1_000, "s": 1_000, "ms": 1}
PACKS = ", ".join(bundled())
WORDS = {"threshold": "threshold", "suggest": "least that is suggested"}
SESSION = "its name, the end of it, or 'last'"
BINDS = "binds a parameter"


def add_many(it: argparse._ActionsContainer, flag: str, metavar: str, text: str) -> None:
    """A flag that may be given several times."""
    it.add_argument(flag, action="append", default=[], metavar=metavar, help=text)


def add_set(it: argparse.ArgumentParser, text: str = BINDS, metavar: str = "NAME=VALUE") -> None:
    add_many(it, "--set", metavar, text)


def add_secret(it: argparse.ArgumentParser, text: str) -> None:
    add_many(it, "--secret", "NAME=SOURCE[@ORIGIN]", text.format(SOURCES))


def add_allow(it: argparse.ArgumentParser, text: str) -> None:
    add_many(it, "--allow", "HOST[:PORT]", text)


def add_answers(it: argparse.ArgumentParser, text: str) -> None:
    it.add_argument("--answers", type=Path, metavar="FILE", help=text)


def add_run_flags(it: argparse.ArgumentParser) -> None:
    """What every command takes that starts a session."""
    add_secret(
        it,
        "a secret from {}, typed on ORIGIN alone; never stored. "
        "NAME by itself: as the configuration says",
    )
    add_allow(
        it,
        "names a host for this workflow, loopback and private ones included; '*' for every "
        "public one",
    )
    add_answers(
        it, "a scripted person, recorded as such: a JSON list of {approved, message, phrase}"
    )
    it.add_argument("--screenshots", action="store_true", help="a picture of the page at each step")
    it.add_argument("--headed", action="store_true", help="in a window that you can watch")


def add_without_login(it: argparse.ArgumentParser) -> None:
    it.add_argument("--no-login", action="store_true", help="as nobody: no kept login is used")


def add_patience(it: argparse.ArgumentParser) -> None:
    it.add_argument(
        "--patience",
        metavar="TIME",
        help="how long an element is waited for until it can be used, such as 10s (default 3s); "
        "longer while the page itself waits for its server",
    )


def add_thresholds(it: argparse.ArgumentParser, prefix: str = "") -> None:
    """By which model a run goes, and how sure it must be."""
    it.add_argument(
        "--predictor",
        choices=PREDICTORS,
        help=f"{prefix}the model that says what is next: {PREDICTORS[0]} (default), or "
        f"{PREDICTORS[1]}, which only counts",
    )
    it.add_argument(
        "--threshold",
        type=float,
        metavar="P",
        help=f"{prefix}least probability a free run acts on alone: 0.3 aggressive, 0.5 balanced "
        "(default of markov2), 0.7 conservative (default of foresight)",
    )
    it.add_argument(
        "--suggest",
        type=float,
        metavar="P",
        help=f"{prefix}least probability of what it asks a person about (default 0.5; 1: never)",
    )


def add_service(it: argparse.ArgumentParser, *, ends: bool = True) -> None:
    """The service that it works on and the files that it may look at. `ends`: whether it can be
    said by what a page shows the end of the work."""
    it.add_argument(
        "--service",
        type=Path,
        metavar="FILE.toml|NAME",
        help="what is known of the site: its states, the signs of its ends, its own ways; a file, "
        f"or by name one that comes along: {PACKS}",
    )
    it.add_argument(
        "--folder",
        action="append",
        default=[],
        type=Path,
        metavar="DIR",
        help="files are checked in it and below, and nowhere else",
    )
    for status in ("success", "failure") if ends else ():
        text = f"a sign of {status} on the page; WHERE is one of {', '.join(PLACES)}"
        add_many(it, f"--{status}", "WHERE=TEXT", text)


# -- reading them ----------------------------------------------------------------------------------


def read_request(options: argparse.Namespace, config: Config) -> RunRequest:
    """What the flags of a command ask for."""
    said = vars(options)
    files = said.get("files")
    return RunRequest(
        name=said.get("name") or "",
        goal=said.get("goal"),
        url=said.get("url") or "",
        free=said.get("free", False),
        values=read_pairs(said.get("set", ()), "--set"),
        dry_run=said.get("dry_run", False),
        service=str(said.get("service") or ""),
        success=tuple(said.get("success", ())),
        failure=tuple(said.get("failure", ())),
        folders=(*_looked_in(files, "--files"), *map(_folder, said.get("folder", ()))),
        secrets=tuple(said.get("secret", ())),
        allow=tuple(said.get("allow", ())),
        after=said.get("after") or "",
        screenshots=said.get("screenshots", False),
        headed=said.get("headed", False),
        patience_ms=read_patience(said.get("patience")),
        no_model=said.get("no_model", False),
        no_login=said.get("no_login", False),
        sure=read_sureness(options, config) if "predictor" in said else None,
        max_turns=said.get("max_turns", MAX_TURNS),
        flags=True,
    )


def read_patience(said: str | None) -> int:
    """In milliseconds; 0, where nothing is said."""
    if said is None:
        return 0
    found = re.fullmatch(r"(\d{1,6}(?:\.\d{1,3})?) ?(s|ms|)", said.strip())
    ms = round(float(found[1]) * UNITS[found[2]]) if found else 0
    if not SHORTEST_MS <= ms <= LONGEST_MS:
        raise BadInput(f"--patience {said!r} is no time from 0.1s to 60s", "give --patience 10s")
    return ms


def read_sureness(options: argparse.Namespace, config: Config) -> Thresholds:
    """A threshold that nobody set is that of the model, whoever chose it."""
    predictor: PredictorName = options.predictor or config.predictor
    threshold, suggest = share(options, "threshold"), share(options, "suggest")
    if threshold is None and "run.threshold" not in config.values:
        threshold = THRESHOLD[predictor]
    said = config.sureness
    return Thresholds(
        predictor=predictor,
        threshold=said.threshold if threshold is None else threshold,
        suggest=said.suggest if suggest is None else suggest,
    )


def share(options: argparse.Namespace, name: str) -> int | None:
    """What the flag says, in millionths; nothing, where it is not there."""
    said: float | None = getattr(options, name)
    if said is None:
        return None
    if not 0 <= said <= 1:  # which nan and infinity are not either
        raise BadInput(f"the {WORDS[name]} is a probability", f"give --{name} from 0 to 1")
    return round(said * MILLION)


def _looked_in(path: Path | None, flag: str) -> tuple[str, ...]:
    """A folder as it was named, links and all, from wherever the session is run."""
    if path is None:
        return ()
    if not path.is_dir():
        raise BadInput(f"{path} is no directory", f"check {flag}")
    return (str(path.absolute()),)


def _folder(path: Path) -> str:
    """Where the folder is from wherever one looks. Links in it are kept: a check names its files
    as the person does."""
    try:
        place = Path(os.path.abspath(path.expanduser()))  # noqa: PTH100 - without following links
        there = place.is_dir()
    except (OSError, RuntimeError, ValueError) as error:
        raise BadInput(f"{path} cannot be found ({error})", "check --folder") from error
    if not there:
        raise BadInput(f"{path} is no directory", "check --folder")
    return str(place)
