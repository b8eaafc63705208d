"""Tried locators tell in words how the element of a planned step was looked for, and by which."""

from rutter.events.action import Action
from rutter.events.page import Try
from rutter.replay.story.wording import locator_in_words

CAME_OF = {
    "taken": "found",
    "none": "not there",
    "ambiguous": "several are there",
    "invalid": "not a selector",
    "not_visible": "there, but not visible",
    "not_needed": "not tried",
}


class TriedLocators:
    """The locators of the latest plan, by which what was tried is named."""

    def __init__(self) -> None:
        self._locators: tuple[str, ...] = ()

    def plan(self, action: Action) -> None:
        locators = action.target.strategies if action.target else ()
        self._locators = tuple(locator_in_words(locator) for locator in locators)

    def tried(self, tries: tuple[Try, ...]) -> list[str]:
        return [f"{self._locator(entry.strategy)}: {CAME_OF[entry.result]}" for entry in tries]

    def found_by(self, tries: tuple[Try, ...]) -> str:
        return self._locator(tries[-1].strategy) if tries else ""

    def _locator(self, index: int) -> str:
        return self._locators[index] if index < len(self._locators) else f"way {index + 1}"
