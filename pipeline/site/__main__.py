"""The bundled site on its own, to try things on: `python -m pipeline.site`."""

import argparse
import sys
import threading
from contextlib import suppress
from dataclasses import fields
from pathlib import Path

import msgspec

from pipeline.site.scripts import order_script
from pipeline.site.server import Site
from pipeline.site.sessions import USER
from pipeline.site.switches import Switches


def main() -> None:
    it = argparse.ArgumentParser(prog="python -m pipeline.site", description=__doc__)
    it.add_argument("--port", type=int, default=0, help="on 127.0.0.1 (default: any that is free)")
    it.add_argument(
        "--script", type=Path, metavar="FILE", help="writes the order as a script there"
    )
    for switch in fields(Switches):
        flag = f"--{switch.name.replace('_', '-')}"
        if switch.type is int or switch.type == "int":
            it.add_argument(flag, type=int, default=0, metavar="MS", dest=switch.name)
        else:
            it.add_argument(flag, action="store_true", dest=switch.name)
    options = vars(it.parse_args())
    port, script = options.pop("port"), options.pop("script")
    with Site(port=port, switches=Switches(**options)) as site:
        if script is not None:
            script.write_bytes(msgspec.json.encode(order_script(site.base_url)))
        host = site.base_url.removeprefix("http://")
        said = f"{site.base_url}/login  user {USER}, password {site.password}, --allow {host}\n"
        sys.stdout.write(f"{said}Ctrl-C ends it\n")
        sys.stdout.flush()
        with suppress(KeyboardInterrupt):
            threading.Event().wait()


if __name__ == "__main__":
    main()
