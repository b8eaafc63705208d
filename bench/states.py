"""The states bench finds the state of pages of 100 elements, with 300 rules of a service besides.

S1 allows 100 ms for it; it is told beside that, and never asserted.
"""

from time import perf_counter

from bench.tables import Cell, middle, print_table
from rutter.actors.rules.pages.page_state import detect, phrases_for
from rutter.actors.rules.pages.state_rules import state_rules
from rutter.events.action import Untrusted
from rutter.events.page import Page, PageElement
from rutter.events.run_settings import RunSettings
from rutter.events.service_pack import Service, Sign, StateRule

ROUNDS = 51
LIMIT_MS = 100


def _page(elements: int) -> Page:
    names = [f"An element that is called number {each} of a long page" for each in range(elements)]
    roles = ("button", "link", "textbox", "heading")
    return Page(
        url="https://shop.example/account/plan?tab=billing",
        title=Untrusted("A page"),
        headings=tuple(Untrusted(name) for name in names[:12]),
        elements=tuple(
            PageElement(roles[each % 4], Untrusted(name)) for each, name in enumerate(names)
        ),
    )


def _service(rules: int) -> Service:
    signs = (Sign("button", "no such words"), Sign("text", "nor these"))
    return Service("any", states=(StateRule("COMPLETE", signs),) * rules)


def _took_ms(page: Page, phrases: tuple[str, ...], service: Service) -> float:
    began = perf_counter()
    detect(page, phrases, service)
    return (perf_counter() - began) * 1_000


def main() -> None:
    phrases = phrases_for(RunSettings())[::50]  # more than a page says
    rows: list[tuple[Cell, ...]] = []
    for elements, rules in ((10, 0), (100, 0), (100, 300)):
        page, service = _page(elements), _service(rules)
        took = [_took_ms(page, phrases, service) for _ in range(ROUNDS)]
        known = len(state_rules().generic) + rules
        rows.append((f"{elements} elements", known, middle(took), LIMIT_MS))
    print_table("one page, all rules", ("page", "rules", "ms", "limit ms"), rows)
