"""Flags say by which model a run goes, and how sure it must be: `--predictor`, `--threshold`,
`--suggest`. What they leave open is as configured."""

import argparse

from rutter.events.errors import BadInput
from rutter.events.run_settings import MILLION, PredictorName
from rutter.pipeline.config.reader import Config
from rutter.pipeline.config.thresholds import PREDICTORS, THRESHOLD, Thresholds


def add_options(it: argparse.ArgumentParser, prefix: str = "") -> None:
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


WORDS = {"threshold": "threshold", "suggest": "least that is suggested"}
