"""A prediction model says what comes next; there are two of them.

A model is a fold: `observe` takes in one event of the log at a time, `predict` changes nothing.
Whoever folds the same events in the same order has the same model and the same probabilities, on
any machine (design 4): they are integers in millionths.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from rutter.actors.predictor.model.foresight import Foresight
from rutter.actors.predictor.model.markov2 import Markov2


class PredictionModel(Protocol):
    """A model predicts from `history`, the tokens of a session so far, `""` where a step did not
    come about: what follows did not follow from what was before. `place` is the page that one is on
    then, as one name for all pages like it; empty if that is not known."""

    def observe(
        self, history: Sequence[str], token: str, *, place: str = "", measured: bool = True
    ) -> None:
        """`token` came after `history`. What a model of ours brought about itself is not
        `measured`: it says nothing about how often we are right."""

    def doubt(self, history: Sequence[str], token: str, *, place: str = "") -> None:
        """A person took `token` back: it counts against what was observed before."""

    def predict(self, history: Sequence[str], k: int, *, place: str = "") -> list[tuple[str, int]]:
        """At most `k` tokens with their probability in millionths, the best first; together no
        more than one million. Nothing where there is nothing to go by."""


class SeedModel:
    """The seeds' model (B2, B3), `markov2`, is a model among others. It knows no pages."""

    def __init__(self) -> None:
        self.counts = Markov2()

    def observe(
        self, history: Sequence[str], token: str, *, place: str = "", measured: bool = True
    ) -> None:
        self.counts.observe(history, token)

    def doubt(self, history: Sequence[str], token: str, *, place: str = "") -> None:
        """It only ever counts up."""

    def predict(self, history: Sequence[str], k: int, *, place: str = "") -> list[tuple[str, int]]:
        found = self.counts.predict(history)
        return [] if found is None else found[1][:k]


MODELS: Mapping[str, Callable[[], PredictionModel]] = {"foresight": Foresight, "markov2": SeedModel}
DEFAULT_MODEL = "foresight"
