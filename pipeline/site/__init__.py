"""Chandlery: the bundled web site, a ship's chandler's back office served on loopback."""

from pipeline.site.scripts import find_order_script, order_script
from pipeline.site.server import Site
from pipeline.site.store import Customer, Draft, Order, Product
from pipeline.site.switches import Switches

__all__ = [
    "Customer",
    "Draft",
    "Order",
    "Product",
    "Site",
    "Switches",
    "find_order_script",
    "order_script",
]
