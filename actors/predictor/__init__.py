"""The Predictor: what comes next, and what is learned from what was confirmed."""

from actors.predictor.actor import Predictor, PredictorState
from actors.predictor.knowledge import Knowledge

__all__ = ["Knowledge", "Predictor", "PredictorState"]
