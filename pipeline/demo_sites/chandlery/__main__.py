"""This runs the bundled site on its own, to try things on: `python -m
rutter.pipeline.demo_sites.chandlery`."""

from pathlib import Path

import msgspec

from rutter.pipeline.demo_sites.chandlery.scripts import order_script
from rutter.pipeline.demo_sites.chandlery.server import Site
from rutter.pipeline.demo_sites.chandlery.switches import Switches
from rutter.pipeline.demo_sites.serve_command import serve_until_interrupted, site_command
from rutter.pipeline.demo_sites.sign_ins import USER


def main() -> None:
    it = site_command(__package__, __doc__, Switches)
    it.add_argument(
        "--script", type=Path, metavar="FILE", help="writes the order as a script there"
    )
    options = vars(it.parse_args())
    script = options.pop("script")
    site = Site(port=options.pop("port"), switches=Switches(**options))

    def write_script() -> None:
        if script is not None:
            script.write_bytes(msgspec.json.encode(order_script(site.base_url)))

    serve_until_interrupted(site, f"user {USER}", it, once_up=write_script)


if __name__ == "__main__":
    main()
