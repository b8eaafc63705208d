"""The Predictor says what comes next, and learns from what was confirmed."""

from rutter.actors.predictor.actor import Predictor
from rutter.actors.predictor.knowledge import Knowledge
from rutter.actors.predictor.state import PredictorState

__all__ = ["Knowledge", "Predictor", "PredictorState"]
