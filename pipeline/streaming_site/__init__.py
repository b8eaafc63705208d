"""Gaffsail: the second bundled site, a small streaming service whose membership can be ended."""

from pipeline.streaming_site.server import DEFAULT_PASSWORD, EMAIL, StreamingSite
from pipeline.streaming_site.switches import VARIANTS, Switches, Variant

__all__ = ["DEFAULT_PASSWORD", "EMAIL", "VARIANTS", "StreamingSite", "Switches", "Variant"]
