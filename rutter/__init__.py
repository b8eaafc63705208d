"""Rutter is a browser agent that learns a workflow by watching it once. Its public names load
when they are asked for: a small process, such as the proxy, loads nothing else."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rutter.events.sqlite_log import SqliteLog
    from rutter.pipeline.app import App
    from rutter.pipeline.rehearsal.stage import rehearse
    from rutter.replay.verify import verify

__all__ = ["App", "SqliteLog", "rehearse", "verify"]

HOMES = {
    "App": "rutter.pipeline.app",
    "SqliteLog": "rutter.events.sqlite_log",
    "rehearse": "rutter.pipeline.rehearsal.stage",
    "verify": "rutter.replay.verify",
}

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name in HOMES:
            return getattr(import_module(HOMES[name]), name)
        raise AttributeError(f"module 'rutter' has no attribute {name!r}")
