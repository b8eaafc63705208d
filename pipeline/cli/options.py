"""Flags that several commands take, and the run request that they come to: the one place where a
command line becomes one."""

import os
import re
from pathlib import Path
from typing import Any

from rutter.events.errors import BadInput
from rutter.events.run_settings import MILLION, PredictorName
from rutter.pipeline.cli.terminal import Options
from rutter.pipeline.config.reader import Config
from rutter.pipeline.config.secret_sources import read_pairs
from rutter.pipeline.config.thresholds import THRESHOLD, Thresholds
from rutter.pipeline.sessions.request import RunRequest

SHORTEST_MS, LONGEST_MS = 100, 60_000  # as in the configuration
UNITS = {"": 1_000, "s": 1_000, "ms": 1}


# -- reading them ----------------------------------------------------------------------------------


def read_request(options: Options, config: Config) -> RunRequest:
    """What the flags of a command ask for: most are called as what they say is in the request."""
    said = {name: flag for name, flag in vars(options).items() if flag is not None}
    alike: dict[str, Any] = {
        name: tuple(flag) if isinstance(flag, list) else flag
        for name, flag in said.items()
        if name in RunRequest.__struct_fields__
    }
    files = [said["files"]] if "files" in said else []
    alike["service"] = str(said.get("service", ""))
    return RunRequest(
        **alike,
        values=read_pairs(said.get("set", ()), "--set"),
        folders=(*map(_looked_in, files), *map(_folder, said.get("folder", ()))),
        secrets=tuple(said.get("secret", ())),
        patience_ms=read_patience(said.get("patience")),
        sure=read_sureness(options, config) if "predictor" in options else None,
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


def read_sureness(options: Options, config: Config) -> Thresholds:
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


def share(options: Options, name: str) -> int | None:
    """What the flag says, in millionths; nothing, where it is not there."""
    said: float | None = getattr(options, name)
    if said is None:
        return None
    if not 0 <= said <= 1:  # which nan and infinity are not either
        what = "least that is suggested" if name == "suggest" else name
        raise BadInput(f"the {what} is a probability", f"give --{name} from 0 to 1")
    return round(said * MILLION)


def _looked_in(path: Path) -> str:
    """A folder as it was named, links and all, from wherever the session is run."""
    if not path.is_dir():
        raise BadInput(f"{path} is no directory", "check --files")
    return str(path.absolute())


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
