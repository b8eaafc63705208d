"""An element that a step found keeps the page that it is on, until the step's input is over.

Right before input its page is asked about it once more: if it is not the one that was judged,
nothing is done.
"""

from collections.abc import Awaitable, Callable
from typing import Any

from rutter.actors.executor.outcome import ActionOutcome
from rutter.actors.executor.patience import StepPatience
from rutter.actors.world.browser.page_session import PageClosed
from rutter.actors.world.browser.screen import Screen
from rutter.actors.world.browser.tab import Tab
from rutter.actors.world.secrets.bindings import Bindings
from rutter.events.action import Action, Strategy

INPUT_MS = 2_000  # S3 2.2.1: the most that a click, fill or select may take
ANSWER_MS = 1_000  # what a script in the page has on top of the time it was given
# These act on the page as a whole, not on an element that was found on one.
WHOLE_PAGE = frozenset({"navigate", "wait", "wait_for", "check"})


Call = Callable[..., Awaitable[Any]]  # of a function in the page


class HeldElement:
    """A step holds one element after the other. `dispatched`: input may have reached the page."""

    def __init__(self, screen: Screen, bindings: Bindings) -> None:
        self.screen = screen
        self.bindings = bindings
        self.dispatched = False
        self.pinned: Tab | None = None  # the page that the element is on
        self.patience: StepPatience | None = None  # of the step whose element that is

    @property
    def tab(self) -> Tab:
        return self.pinned or self.screen.tab

    def locators(self, action: Action) -> list[Strategy]:
        found = action.target.strategies if action.target is not None else ()
        return [self.bindings.strategy(strategy) for strategy in found]

    async def come_to_front(self, action: Action) -> bool:
        """To the page that the element was found on, whatever came to the front since.

        False if it is gone: what another page has in its place was not judged.
        """
        window = self.screen.window
        front = window.tab  # raises if no page is left
        if action.type in WHOLE_PAGE and action.tab is not None:
            await window.show(action.tab, within_ms=INPUT_MS)
            front = window.tab
        aimless = action.target is None
        if aimless and action.type == "scroll" and self.pinned not in window.tabs:
            self.pinned = front
        if action.type in WHOLE_PAGE or (aimless and action.type == "read_page"):
            self.pinned = front
        if self.pinned is None or self.pinned not in window.tabs:
            return False
        await window.bring(self.pinned, within_ms=INPUT_MS)
        return True

    async def checked(
        self, function: str, digest: str, *more: object, call: Call | None = None
    ) -> dict[str, Any]:
        """What the page says right before input. As long as what it minds may pass, and the step
        has patience, it is asked again; an element that took the place of the one that was judged
        is told from it by its digest."""
        tab, patience = self.tab, self.patience
        call = call or tab.call
        locators = self.locators(patience.action) if patience is not None else []
        use = patience.action.type if patience is not None else ""

        async def recover(ms: int) -> Any:
            return await tab.call("recover", locators, ms, use, within_ms=ms + ANSWER_MS)

        while True:
            asking = call(function, digest, *more, within_ms=INPUT_MS)
            checked: dict[str, Any] = await (patience.count(asking) if patience else asking)
            code = checked.get("code")
            if not code or patience is None or not patience.waits_for(code):
                return checked
            if not await patience.spend(tab, recover):
                return checked

    async def leaves_others(self, closed: PageClosed) -> bool:
        """Whether the session has other pages, now that this one was closed."""
        return closed.tab is not None and await self.screen.window.survives(closed.tab)

    def outcome_of_close(self) -> ActionOutcome:
        """A page that closes itself under the input took it; before it, nothing was done."""
        if self.dispatched:
            return ActionOutcome(navigated=True)
        return ActionOutcome("ref_invalid", "the page was closed", dispatched=False)
