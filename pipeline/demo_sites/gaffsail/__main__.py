"""This runs the streaming service on its own, to try things on: `python -m
rutter.pipeline.demo_sites.gaffsail`."""

import argparse

from rutter.pipeline.demo_sites.gaffsail.server import StreamingSite
from rutter.pipeline.demo_sites.gaffsail.switches import Switches
from rutter.pipeline.demo_sites.gaffsail.wording import RELABELLED
from rutter.pipeline.demo_sites.serve_command import add_switches, serve_until_interrupted


def main() -> None:
    it = argparse.ArgumentParser(
        prog="python -m rutter.pipeline.demo_sites.gaffsail", description=__doc__
    )
    it.add_argument("--port", type=int, default=0, help="on 127.0.0.1 (default: any that is free)")
    add_switches(it, Switches)
    options = vars(it.parse_args())
    if options["relabelled"] not in ("", *RELABELLED):
        it.error(f"--relabelled is one of {', '.join(RELABELLED)}")
    with StreamingSite(port=options.pop("port"), switches=Switches(**options)) as site:
        host = site.base_url.removeprefix("http://")
        serve_until_interrupted(
            f"{site.base_url}/login  email {site.email}, password {site.password}, --allow {host}\n"
        )


if __name__ == "__main__":
    main()
