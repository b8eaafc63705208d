"""Pauses tell who held a session, for how long, and who let it go on."""

from rutter.events.runtime import SessionPaused, SessionResumed
from rutter.replay.story.wording import paused_in_words, printable


class PausesFold:
    """The fold hears pauses and their ends; one that was not resumed has no end."""

    def __init__(self) -> None:
        self._paused: tuple[list[str], str, int] = ([], "", 0)

    def hear(self, said: SessionPaused | SessionResumed, told: list[str], at_ns: int) -> None:
        """A pause is told in `told`; its end there where it began."""
        if isinstance(said, SessionPaused):
            told.append(printable(f"paused by {said.by}"))
            self._paused = told, said.by, at_ns
            return
        told, by, since_ns = self._paused
        if told:
            told[-1] = paused_in_words(by, (at_ns - since_ns) / 1e6, said.by)
