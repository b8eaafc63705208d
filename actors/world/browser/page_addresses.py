"""A page's addresses since the last input tell what it rewrites by itself from where a step led, by
the moment at which that was dispatched."""

from rutter.actors.rules.text.secret_words import safe_url
from rutter.actors.rules.text.untrusted import normalised

LONGEST = 4_000  # as long as the page itself tells it
MOST = 8  # of one document: some pages count in theirs
LEADING = frozenset({"navigate", "click", "press"})  # of what is done to a page
WRITTEN = frozenset({"textbox", "searchbox", "spinbutton"})  # a click there puts the cursor there


def leads_on(kind: str, role: str) -> bool:
    """Whether what was done may lead somewhere."""
    return kind in LEADING and not (kind == "click" and role in WRITTEN)


class Addresses:
    """The browser announces addresses. The first change behind a click or a key is where that led;
    any other is the page's own, and names the place once more."""

    def __init__(self) -> None:
        self.now = ""
        self.at_input = ""
        self._names: list[str] = []
        self._armed = False
        self._leads = False
        self._led = False

    def arm(self, *, leads: bool) -> None:
        """A step begins: its first input is the moment that counts. What is only entered does not
        lead anywhere."""
        self.at_input = self.now
        self._armed, self._leads = True, leads

    def on_input(self) -> None:
        if self._armed:
            self.at_input = self.now
            self._armed, self._led = False, self._leads

    def on_document(self, url: str) -> None:
        """What another document had is no address of this one."""
        self.now = told(url)
        self._names, self._led = [self.now], False

    def on_rewritten(self, url: str) -> None:
        self.now = told(url)
        known = [] if self._led else [each for each in self._names if each != self.now]
        self._names, self._led = [*known[-MOST:], self.now], False

    @property
    def been(self) -> tuple[str, ...]:
        """What this place was called before its present address."""
        return tuple(self._names[:-1])


def told(url: str) -> str:
    """As a look at the page tells it."""
    return normalised(safe_url(url)[:LONGEST])
