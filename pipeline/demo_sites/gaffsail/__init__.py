"""Gaffsail: the second bundled site, a small streaming service whose membership can be ended."""

from pipeline.demo_sites.gaffsail.server import DEFAULT_PASSWORD, EMAIL, StreamingSite
from pipeline.demo_sites.gaffsail.switches import VARIANTS, Switches, Variant

__all__ = ["DEFAULT_PASSWORD", "EMAIL", "VARIANTS", "StreamingSite", "Switches", "Variant"]
