"""Flags that several commands take, and the run request that they come to: the one place where a
command line becomes one."""

import argparse
import os
import re
from pathlib import Path

from rutter.events.errors import BadInput
from rutter.events.run_settings import MILLION, PredictorName
from rutter.pipeline.config.reader import Config
from rutter.pipeline.config.secret_sources import read_pairs
from rutter.pipeline.config.thresholds import THRESHOLD, Thresholds
from rutter.pipeline.sessions.request import RunRequest
from rutter.pipeline.sessions.session_started import MAX_TURNS

SHORTEST_MS, LONGEST_MS = 100, 60_000  # as in the configuration
UNITS = {"": 1_000, "s": 1_000, "ms": 1}
WORDS = {"threshold": "threshold", "suggest": "least that is suggested"}


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
