"""Projections fold the log into tables. Any of them can be dropped and rebuilt to the same
content."""

from rutter.replay.projections.store import ProjectionStore

__all__ = ["ProjectionStore"]
