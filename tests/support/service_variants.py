"""Variants of the streaming service to try things on."""

from typing import Literal, NamedTuple

from rutter.pipeline.demo_sites.gaffsail import Switches

Ends = Literal["cancelled", "already_cancelled", "third_party_billing", "failed"]


class Variant(NamedTuple):
    """A variant is a service to try things on, and how ending the membership ends there."""

    name: str
    switches: Switches
    ends: Ends = "cancelled"


VARIANTS = (
    Variant("as built", Switches()),
    Variant("altered", Switches(moved=True)),
    Variant("cancel relabelled", Switches(relabelled="cancel")),
    Variant("decline relabelled", Switches(relabelled="decline")),
    Variant("finish relabelled", Switches(relabelled="finish")),
    Variant("redesigned", Switches(redesigned=True)),
    Variant("redesigned and altered", Switches(redesigned=True, moved=True)),
    Variant("overlay", Switches(overlay=True)),
    Variant("look-alikes", Switches(look_alikes=True)),
    Variant("altered look-alikes", Switches(look_alikes=True, moved=True)),
    Variant("redesigned look-alikes", Switches(look_alikes=True, redesigned=True)),
    Variant("altered overlay", Switches(overlay=True, moved=True)),
    Variant("slow", Switches(slow_ms=300)),
    Variant("third-party billing", Switches(third_party_billing=True), "third_party_billing"),
    Variant("already cancelled", Switches(already_cancelled=True), "already_cancelled"),
    Variant("failing", Switches(failing=True), "failed"),
)
