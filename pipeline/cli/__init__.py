"""The command line: `rutter`. Parsing in `parser`, one module a group of commands."""

from pipeline.cli.main import main

__all__ = ["main"]
