"""This runs the bundled site on its own, to try things on: `python -m
rutter.pipeline.demo_sites.chandlery`."""

import argparse
from pathlib import Path

import msgspec

from rutter.pipeline.demo_sites.chandlery.scripts import order_script
from rutter.pipeline.demo_sites.chandlery.server import Site
from rutter.pipeline.demo_sites.chandlery.switches import Switches
from rutter.pipeline.demo_sites.serve_command import add_switches, serve_until_interrupted
from rutter.pipeline.demo_sites.sign_ins import USER


def main() -> None:
    it = argparse.ArgumentParser(
        prog="python -m rutter.pipeline.demo_sites.chandlery", description=__doc__
    )
    it.add_argument("--port", type=int, default=0, help="on 127.0.0.1 (default: any that is free)")
    it.add_argument(
        "--script", type=Path, metavar="FILE", help="writes the order as a script there"
    )
    add_switches(it, Switches)
    options = vars(it.parse_args())
    port, script = options.pop("port"), options.pop("script")
    site = Site(port=port, switches=Switches(**options))
    try:
        site.start()
    except OSError as error:
        it.error(f"port {port} cannot be had ({error.strerror}): name another, or none for any")
    try:
        if script is not None:
            script.write_bytes(msgspec.json.encode(order_script(site.base_url)))
        host = site.base_url.removeprefix("http://")
        said = f"{site.base_url}/login  user {USER}, password {site.password}, --allow {host}\n"
        serve_until_interrupted(said)
    finally:
        site.stop()


if __name__ == "__main__":
    main()
