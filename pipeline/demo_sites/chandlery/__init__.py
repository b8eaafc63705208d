"""Chandlery is the bundled web site: a ship's chandler's back office served on loopback."""

from rutter.pipeline.demo_sites.chandlery.scripts import find_order_script, order_script
from rutter.pipeline.demo_sites.chandlery.server import Site
from rutter.pipeline.demo_sites.chandlery.store import Order
from rutter.pipeline.demo_sites.chandlery.switches import Switches

__all__ = ["Order", "Site", "Switches", "find_order_script", "order_script"]
