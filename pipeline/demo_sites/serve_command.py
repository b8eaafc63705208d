"""The commands that serve a bundled site share this."""

import argparse
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import fields
from typing import Any

from rutter.pipeline.demo_sites.site import DemoSite


def site_command(package: str, about: str | None, switches: type[Any]) -> argparse.ArgumentParser:
    """With a flag for each field of the switches: milliseconds, a word, or on."""
    it = argparse.ArgumentParser(prog=f"python -m {package}", description=about)
    it.add_argument("--port", type=int, default=0, help="on 127.0.0.1 (default: any that is free)")
    for switch in fields(switches):
        flag = f"--{switch.name.replace('_', '-')}"
        if isinstance(switch.default, bool):
            it.add_argument(flag, action="store_true", dest=switch.name)
        elif isinstance(switch.default, int):
            it.add_argument(flag, type=int, default=0, metavar="MS", dest=switch.name)
        else:
            it.add_argument(flag, default=switch.default, metavar="WORD", dest=switch.name)
    return it


def serve_until_interrupted(
    site: DemoSite[Any],
    user: str,
    it: argparse.ArgumentParser,
    *,
    once_up: Callable[[], None] = lambda: None,
) -> None:
    try:
        site.start()
    except OSError as error:
        it.error(
            f"port {site.port} cannot be had ({error.strerror}): name another, or none for any"
        )
    try:
        once_up()
        host = site.base_url.removeprefix("http://")
        said = f"{site.base_url}/login  {user}, password {site.password}, --allow {host}"
        sys.stdout.write(f"{said}\nCtrl-C ends it\n")
        sys.stdout.flush()
        with suppress(KeyboardInterrupt):
            threading.Event().wait()
    finally:
        site.stop()
