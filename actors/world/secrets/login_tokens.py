"""Login tokens stay out of what a session says and shows, also those that are renewed."""

from collections.abc import Callable, Iterable

from rutter.actors.world.browser.login_state import BrowserState, tokens_in
from rutter.actors.world.secrets.redaction import Redactor, hide, is_no_word
from rutter.events.runtime import SessionStarted

MOST = 64  # in one session: what spells them all is made in most of a second, where one is found


class LoginTokens:
    """A login's tokens teach `redact`, which cleans the facts of the session, and `cover`, which
    cleans its pictures, what to look for."""

    def __init__(
        self,
        started: SessionStarted,
        redact: Redactor,
        cover: Callable[[Iterable[str]], object] = lambda values: None,
    ) -> None:
        self._started = started
        self._redact = redact
        self._cover = cover
        self._seen: set[str] = set()

    def take(self, state: BrowserState) -> None:
        """A value that is a word of the run itself is left: without it the run would be another."""
        fresh = [each for each in tokens_in(state) if each not in self._seen]
        fresh = fresh[: MOST - len(self._seen)]
        at = len(self._seen) + 1
        # A name with "login" or "token" in it would say to the state rules what the page did not.
        named = {f"kept_{number}": value for number, value in enumerate(fresh, at)}
        self._seen.update(fresh)
        known = {
            name: value for name, value in named.items() if is_no_word(self._started, name, value)
        }
        if known:
            hide(known)
            self._redact.learn(known)
            self._cover(known.values())
