"""This runs the streaming service on its own, to try things on: `python -m
rutter.pipeline.demo_sites.gaffsail`."""

from rutter.pipeline.demo_sites.gaffsail.server import StreamingSite
from rutter.pipeline.demo_sites.gaffsail.switches import Switches
from rutter.pipeline.demo_sites.gaffsail.wording import RELABELLED
from rutter.pipeline.demo_sites.serve_command import serve_until_interrupted, site_command


def main() -> None:
    it = site_command(__package__, __doc__, Switches)
    options = vars(it.parse_args())
    if options["relabelled"] not in ("", *RELABELLED):
        it.error(f"--relabelled is one of {', '.join(RELABELLED)}")
    site = StreamingSite(port=options.pop("port"), switches=Switches(**options))
    serve_until_interrupted(site, f"email {site.email}", it)


if __name__ == "__main__":
    main()
