"""A person puts a step that reads into a workflow by hand: what the page shows behind a step, by a
name.

`'17=order_number #order-number'` reads one element behind step 17. The selector is one of those
that a script has: CSS, `aria/NAME[role="ROLE"]` or `text/TEXT`; several of them for an element
are parted by ` | `. `label/TEXT` reads the value that is labelled so, `near/TEXT` all that is said
around these words. A table is read as rows. `'17=terms'` reads all that the page says, and with a
selector a part of it.
"""

from collections.abc import Sequence
from typing import Literal

import msgspec

from rutter.events.action import READS, Action, ByBeside, Target, locator_text
from rutter.events.errors import BadInput
from rutter.events.workflow import Expectation, Place, Step
from rutter.pipeline.workflows.locator_syntax import beside_of, read_locator

FORM = "STEP=NAME SELECTOR"
PAGE_FORM = "STEP=NAME [SELECTOR]"
EXAMPLE = "--extract '17=order_number #order-number'"
PAGE_EXAMPLE = "--read-page '17=terms'"
LONGEST = 60  # characters of a name: it is the head of a column


class Extraction(msgspec.Struct, frozen=True):
    """An extraction reads this behind its step: an element, or all that the page or a part of it
    says."""

    behind: int
    name: str
    target: Target | None
    type: Literal["extract", "read_page"] = "extract"

    @property
    def texts(self) -> list[str]:
        """What in its locators may hold a parameter, or must not hold a secret."""
        locators = self.target.strategies if self.target is not None else ()
        return [locator_text(locator) for locator in locators]


def read_extraction(number: int, said: str) -> Extraction:
    """From what stands behind `STEP=`."""
    name, selector = _named(said)
    if not name or not selector:
        raise BadInput(f"--extract {number}={said} is not {FORM}", f"write {EXAMPLE}")
    return Extraction(number, name, _found(selector, f"--extract {number}={said}"))


def read_page_reading(number: int, said: str) -> Extraction:
    """The same of a step that reads the page: without a selector all of it."""
    name, selector = _named(said)
    if not name:
        raise BadInput(f"--read-page {number}={said} is not {PAGE_FORM}", f"write {PAGE_EXAMPLE}")
    part = _found(selector, f"--read-page {number}={said}") if selector else None
    return Extraction(number, name, part, "read_page")


def _named(said: str) -> tuple[str, str]:
    name, _, selector = said.strip().partition(" ")
    if not name.isprintable() or len(name) > LONGEST:
        raise BadInput(f"{name[:LONGEST]!r} is no name of a value", f"at most {LONGEST} letters")
    return name, selector.strip()


def _found(selector: str, flag: str) -> Target:
    said_locators = [each.strip() for each in selector.split(" | ") if each.strip()]
    locators = [_beside(each) or read_locator(each) for each in said_locators]
    if None in locators or any(each.startswith(("/", "(/")) for each in said_locators):
        raise BadInput(
            f"{flag}: an XPath is not supported",
            "give a CSS selector, aria/NAME, text/TEXT or label/TEXT",
        )
    found = dict.fromkeys(locator for locator in locators if locator is not None)
    return Target(tuple(found))


def _beside(said: str) -> ByBeside | None:
    kind, _, words = said.partition("/")
    return beside_of(words if kind == "label" else "", words if kind == "near" else "")


def extracting(extraction: Extraction, before: Sequence[Step]) -> Step:
    """Due where the steps before it led: a look that was put in by hand led nowhere."""
    action = Action(extraction.type, target=extraction.target, name=extraction.name)
    places = [step.after.place or step.before for step in before]
    here = next((place for place in reversed(places) if place.origin), Place())
    return Step(action=action, before=here, after=Expectation(effect=False, place=here))


def check_extractions(wanted: Sequence[Extraction], known: Sequence[Step]) -> None:
    """Of two values by one name nobody could tell which is which; before the first step there is no
    page to read."""
    names = [step.action.name for step in known if step.action.type in READS]
    for extraction in wanted:
        if not extraction.behind:
            raise BadInput("before the first step there is nothing to read", f"write {EXAMPLE}")
        if extraction.name in names:
            raise BadInput(f"{extraction.name!r} is read already", "give it another name")
        names.append(extraction.name)
