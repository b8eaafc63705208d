"""Evidence says what was checked, and how much that says (S2 4.2 and 5).

It describes a verdict that is fixed already. Nothing that decides may read it: a contract of the
imports and a property test hold that.
"""

from typing import Literal

from rutter.events.action import Untrusted
from rutter.events.advisor import VisionGiven
from rutter.events.critic import Evidence, Source

Primary = Literal["passed", "failed"]
Vision = Literal["VERIFIED", "NOT_VERIFIED", "UNKNOWN"]

MAX_CHARACTERS = 200  # S2 5.2: of a sample, and of what was checked
NO_SAMPLE: frozenset[Source] = frozenset({"FILE", "VISION"})  # S2 5.2: nothing that a file holds

# S2 4.2, in millionths. It has no row for what vision alone does not know: low, as its no is.
_CONFIDENCE: dict[tuple[Primary | None, Vision | None], int] = {
    ("failed", "VERIFIED"): 650_000,
    ("failed", "UNKNOWN"): 400_000,
    ("failed", "NOT_VERIFIED"): 300_000,
    ("failed", None): 200_000,
    (None, "VERIFIED"): 500_000,
    (None, "NOT_VERIFIED"): 200_000,
    (None, "UNKNOWN"): 200_000,
    (None, None): 0,
}
CERTAIN = 1_000_000


def confidence(primary: Primary | None, vision: Vision | None) -> int:
    """What DOM, UIA or FILE said, and vision beside it. A success of theirs needs no other."""
    return CERTAIN if primary == "passed" else _CONFIDENCE[primary, vision]


def evidence_of(
    source: Source, checked: str, sample: str | Untrusted | None, passed: bool
) -> Evidence:
    """What one source said, and its confidence alone."""
    if source == "VISION":
        alone = confidence(None, "VERIFIED" if passed else "NOT_VERIFIED")
    else:
        alone = confidence("passed" if passed else "failed", None)
    return Evidence(source, checked[:MAX_CHARACTERS], alone, _sample(source, sample))


def vision_evidence(given: VisionGiven, checked: str) -> Evidence:
    return Evidence("VISION", checked[:MAX_CHARACTERS], confidence(None, given.said))


def _sample(source: Source, sample: str | Untrusted | None) -> Untrusted | None:
    if sample is None or source in NO_SAMPLE:
        return None
    text = sample.text if isinstance(sample, Untrusted) else sample
    return Untrusted(text[:MAX_CHARACTERS])
