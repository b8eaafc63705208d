"""A log of many sessions is decided again in one pass."""

import os
from collections.abc import Iterator

import msgspec
import pytest

from rutter.events.envelope import Envelope
from rutter.events.runtime import SessionEnded
from rutter.replay.verify import verify
from tests.support.golden_logs import envelopes

SESSIONS = 1_000 if os.environ.get("RUTTER_SOAK") else 40


def many(sessions: int) -> Iterator[Envelope]:
    """A golden log, then its last run again and again under other names."""
    log = envelopes("side_by_side")
    yield from log
    last = next(e.session for e in reversed(log) if isinstance(e.event, SessionEnded))
    run = [envelope for envelope in log if envelope.session == last]
    seq = log[-1].seq
    for copy in range(sessions):
        for envelope in run:
            seq += 1
            yield msgspec.structs.replace(envelope, seq=seq, session=f"{last}-{copy}")


@pytest.mark.slow
@pytest.mark.soak
@pytest.mark.timeout(300)
def test_a_log_of_many_sessions_has_no_divergence() -> None:
    report = verify(many(SESSIONS))
    assert report.divergence is None
    assert report.sessions > SESSIONS
