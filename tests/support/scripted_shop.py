"""Tests run in this shop, in the scripted world that is part of the product."""

from collections.abc import Mapping, Sequence

from rutter.events.action import Action, ByCss, ByRole, Fingerprint, Parameter, Target, Text
from rutter.events.page import PageElement
from rutter.events.workflow import Step
from rutter.pipeline.rehearsal import world
from rutter.pipeline.rehearsal.effectors import ScriptedExecutor, ScriptedObserver, effectors
from rutter.pipeline.rehearsal.sheets import ScriptedElement, ScriptedPage
from rutter.pipeline.rehearsal.troubles import Becomes, Fails, Raises, Trouble, Waits
from rutter.pipeline.rehearsal.world import ORIGIN

__all__ = [
    "AURORA",
    "FAIRLEAD",
    "ORDER",
    "ORIGIN",
    "SHOP",
    "Becomes",
    "Fails",
    "Raises",
    "ScriptedElement",
    "ScriptedExecutor",
    "ScriptedObserver",
    "ScriptedPage",
    "Trouble",
    "Waits",
    "World",
    "by_css",
    "effectors",
    "shop",
]


class World(world.ScriptedWorld):
    """The world's pages are in no state. Tests that are about something else need not care what a
    few words alone make of a page (a single `Place order` is a final confirmation)."""

    def _elements(self, sheet: ScriptedPage) -> tuple[PageElement, ...]:
        return ()

    def phrases(self, wanted: Sequence[str]) -> tuple[str, ...]:
        return ()

    def _fingerprint(self, selector: str, thing: ScriptedElement) -> Fingerprint:
        """Nor is anything healed in them."""
        return Fingerprint()


# -- a shop to sail in -----------------------------------------------------------------------------

SHOP: Mapping[str, ScriptedPage] = {
    "/": ScriptedPage(
        "Shop",
        {
            "#q": ScriptedElement("input", "textbox", "Search"),
            "#find": ScriptedElement(name="Find", leads_to="/results"),
            "#decoration": ScriptedElement(name="Decoration", inert=True),
        },
    ),
    "/results": ScriptedPage(
        "Results",
        {
            "li:nth-child(1) a": ScriptedElement(
                "a", "link", "Aurora Shipping", leads_to="/customers/1"
            ),
            "li:nth-child(2) a": ScriptedElement(
                "a", "link", "Fairlead Offshore", leads_to="/customers/2"
            ),
        },
    ),
    **{
        f"/customers/{number}": ScriptedPage(
            name,
            {
                "#qty": ScriptedElement("input", "spinbutton", "Quantity"),
                "#place": ScriptedElement(
                    name="Place order",
                    leads_to=f"/orders/{1000 + number}",
                    submits=True,
                    method="post",
                ),
            },
        )
        for number, name in ((1, "Aurora Shipping"), (2, "Fairlead Offshore"))
    },
    "/orders/1001": ScriptedPage("Order 1001 for Aurora Shipping"),
    "/orders/1002": ScriptedPage("Order 1002 for Fairlead Offshore"),
}


def shop() -> World:
    return World(SHOP)


def by_css(selector: str) -> Target:
    return Target((ByCss(selector),))


ORDER: tuple[Step, ...] = tuple(
    Step(action=action)
    for action in (
        Action("navigate", url=ORIGIN + "/"),
        Action("type", target=by_css("#q"), value=Parameter("customer")),
        Action("click", target=by_css("#find")),
        Action("click", target=Target((ByRole("link", "Aurora Shipping"),))),
        Action("type", target=by_css("#qty"), value=Text("3")),
        Action("click", target=by_css("#place")),
    )
)
AURORA = {"customer": "Aurora Shipping"}
FAIRLEAD = {"customer": "Fairlead Offshore"}
