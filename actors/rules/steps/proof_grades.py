"""Proof grades say how far it is proven that the server has what a run sent."""

from collections.abc import Iterable

from rutter.events.critic import Grade, Proof
from rutter.events.run_settings import RunSettings


def lasting(proofs: Iterable[Proof]) -> tuple[Proof, ...]:
    """Without those that are only passing and not the last."""
    known = tuple(proofs)
    last = max((each.step for each in known), default=0)
    return tuple(each for each in known if not each.passing or each.step == last)


def overall(proofs: Iterable[Proof]) -> Grade | None:
    """The weakest of them; nothing where nothing was sent."""
    grades = [each.grade for each in lasting(proofs)]
    if not grades:
        return None
    return "" if "" in grades else "acknowledged" if "acknowledged" in grades else "stored"


def lacking(proofs: Iterable[Proof], settings: RunSettings) -> tuple[Proof, ...]:
    """Those steps whose proof is too weak for this run to call itself done."""
    wanted = ("stored",) if settings.proof == "stored" else ("acknowledged", "stored")
    return tuple(each for each in lasting(proofs) if each.grade not in wanted)
