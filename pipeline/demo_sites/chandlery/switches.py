"""Switches make the bundled site go wrong, or look different."""

from dataclasses import dataclass

from rutter.pipeline.demo_sites.site import SiteSwitches


@dataclass(frozen=True)
class Switches(SiteSwitches):
    """All off is the site as it was recorded; any combination may be on.

    slow_ms            every page comes this much later (redirects do not, so one click waits once)
    moved              ids, classes and test ids renamed, blocks and columns reordered and wrapped
    expired_login      no session is accepted, and those opened so far stay lost afterwards
    slow_estimate_ms   the live price estimate comes this much later
    relabelled         some buttons renamed, look-alikes put in front of them
    swapped            look-alikes too, and ids and test ids each on the wrong one of two elements
    covered            a consent overlay lies over the review page until it is dismissed
    dialog             placing an order asks window.confirm first
    dead_button        the button that places an order does nothing
    silent_fail        placing leads to a thank-you page and stores nothing
    lying_toast        placing stays on the review page, says "Order placed" and stores nothing
    banner             a dismissible notice on the desk
    cookies            a question about cookies lies over the desk until it is answered
    survey_ms          a survey comes over the list of all orders, this much later than the list
    """

    slow_estimate_ms: int = 0
    relabelled: bool = False
    swapped: bool = False
    covered: bool = False
    dialog: bool = False
    dead_button: bool = False
    silent_fail: bool = False
    lying_toast: bool = False
    banner: bool = False
    cookies: bool = False
    survey_ms: int = 0

    @property
    def look_alikes(self) -> bool:
        """Buttons that sound like the ones that are wanted, in front of them."""
        return self.relabelled or self.swapped
