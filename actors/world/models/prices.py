"""Prices say what tokens cost. They are configuration: without one, the cost is not known."""

from typing import NamedTuple

import msgspec

from rutter.actors.world.models.messages import ModelClient, ReadsPictures
from rutter.events.advisor import TokenUsage

MILLION = 1_000_000


class Price(msgspec.Struct, frozen=True):
    """A price is microdollars for a million tokens, for each kind of `TokenUsage`."""

    input: int
    output: int
    cached: int = 0
    kept: int = 0


class PricedModel(NamedTuple):
    """A language model has a price, if it is known."""

    client: ModelClient
    price: Price | None = None


class PricedReader(NamedTuple):
    """A reader of pictures has a price, if it is known."""

    client: ReadsPictures
    price: Price | None = None


def cost_microdollars(usage: TokenUsage, price: Price | None) -> int:
    """Rounded up: what was spent is never told too low."""
    if price is None:
        return 0
    fresh = usage.input - usage.cached - usage.kept
    spent = (
        fresh * price.input
        + usage.cached * price.cached
        + usage.kept * price.kept
        + usage.output * price.output
    )
    return -(-spent // MILLION)
