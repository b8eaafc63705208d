"""Thresholds say which model a session goes by and how sure of the next step it must be, if nobody
says otherwise.

The thresholds are of the measured calibration of each model (decision 015): what foresight says
with 0.7 or more was right 84 times in 100, with 0.5 or more 77 times. That of `markov2` is S0's: it
does not know better where it is wrong.
"""

from collections.abc import Mapping
from typing import Final

import msgspec

from rutter.events.run_settings import PredictorName
from rutter.events.runtime import SessionStarted

PREDICTOR: Final[PredictorName] = "foresight"
PREDICTORS: Final[tuple[PredictorName, ...]] = ("foresight", "markov2")
THRESHOLD: Final[Mapping[PredictorName, int]] = {"foresight": 700_000, "markov2": 500_000}
SUGGEST: Final = 500_000


class Thresholds(msgspec.Struct, frozen=True):
    """A session acts alone from `threshold` on, in millionths; from `suggest` on if a person
    agrees."""

    predictor: PredictorName = PREDICTOR
    threshold: int = THRESHOLD[PREDICTOR]
    suggest: int = SUGGEST


def going_by(started: SessionStarted, sure: Thresholds) -> SessionStarted:
    """The start of a session that goes by this model. One that follows a workflow too: what it
    teaches is what its model asks for."""
    settings = msgspec.structs.replace(started.settings, **msgspec.structs.asdict(sure))
    return msgspec.structs.replace(started, settings=settings)
