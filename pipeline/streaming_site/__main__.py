"""The streaming service on its own, to try things on: `python -m pipeline.streaming_site`."""

import argparse

from pipeline.site.command import add_switches, serve_until_interrupted
from pipeline.streaming_site.server import StreamingSite
from pipeline.streaming_site.switches import Switches
from pipeline.streaming_site.wording import RELABELLED


def main() -> None:
    it = argparse.ArgumentParser(prog="python -m pipeline.streaming_site", description=__doc__)
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
