"""The Predictor: what comes next, and what is learned from what was confirmed."""

from actors.predictor.actor import Predictor
from actors.predictor.knowledge import Knowledge
from actors.predictor.state import PredictorState

__all__ = ["Knowledge", "Predictor", "PredictorState"]
