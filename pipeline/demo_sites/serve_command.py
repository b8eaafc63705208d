"""The commands that serve a bundled site share this."""

import argparse
import sys
import threading
from contextlib import suppress
from dataclasses import fields
from typing import Any


def add_switches(it: argparse.ArgumentParser, switches: type[Any]) -> None:
    """A flag for each field of the switches: milliseconds, a word, or on."""
    for switch in fields(switches):
        flag = f"--{switch.name.replace('_', '-')}"
        if isinstance(switch.default, bool):
            it.add_argument(flag, action="store_true", dest=switch.name)
        elif isinstance(switch.default, int):
            it.add_argument(flag, type=int, default=0, metavar="MS", dest=switch.name)
        else:
            it.add_argument(flag, default=switch.default, metavar="WORD", dest=switch.name)


def serve_until_interrupted(said: str) -> None:
    sys.stdout.write(f"{said}Ctrl-C ends it\n")
    sys.stdout.flush()
    with suppress(KeyboardInterrupt):
        threading.Event().wait()
