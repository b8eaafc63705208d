"""Gaffsail is the second bundled site: a small streaming service whose membership can be ended."""

from rutter.pipeline.demo_sites.gaffsail.server import DEFAULT_PASSWORD, EMAIL, StreamingSite
from rutter.pipeline.demo_sites.gaffsail.switches import Switches

__all__ = ["DEFAULT_PASSWORD", "EMAIL", "StreamingSite", "Switches"]
