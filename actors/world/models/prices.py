"""What tokens cost. Prices are configuration: without one, what was spent is not known."""

from typing import NamedTuple

import msgspec

from rutter.actors.world.models.messages import Mind
from rutter.events.advisor import Usage

MILLION = 1_000_000


class Price(msgspec.Struct, frozen=True):
    """Microdollars for a million tokens: of each kind of `Usage`."""

    input: int
    output: int
    cached: int = 0
    kept: int = 0


class Counsel(NamedTuple):
    """A language model and what it costs, if that is known."""

    mind: Mind
    price: Price | None = None


def cost_microdollars(usage: Usage, price: Price | None) -> int:
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
