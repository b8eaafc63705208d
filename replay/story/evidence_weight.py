"""The weight of evidence says what a verdict rests on, and how sure it is over all sources
(S2 4 and 6)."""

from collections.abc import Sequence

from rutter.events.critic import ActionJudged, Evidence


def deciding(evidence: Sequence[Evidence]) -> Evidence | None:
    """What the authority said: vision decides nothing, and what failed decides over what held."""
    primary = [each for each in evidence if each.source != "VISION"] or list(evidence)
    return min(reversed(primary), key=lambda each: each.confidence, default=None)


def overall(judged: ActionJudged) -> int:
    """In millionths. Logs from before it was counted say that of their one evidence."""
    decided = deciding(judged.evidence)
    return judged.confidence or (decided.confidence if decided is not None else 0)


def confidence_shown(evidence: Evidence, judged: ActionJudged) -> int:
    """Of the deciding evidence the confidence over all; of any other its own."""
    decided = evidence is deciding(judged.evidence)
    return overall(judged) if decided else evidence.confidence
