"""Sessions start here: a run request becomes a `SessionStarted` and what it needs."""
