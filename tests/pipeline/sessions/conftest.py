"""The command on a directory of its own."""

from tests.support.command_fixtures import rutter

__all__ = ["rutter"]
