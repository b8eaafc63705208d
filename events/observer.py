"""What the Observer says: the page as it was seen, and what the page did on its own."""

from typing import Literal

from events.action import Untrusted
from events.event import Event
from events.page import Artifact, Page


class PageObserved(Event, frozen=True, tag="PageObserved"):
    """One look at the page, taken in one round trip. `look` counts those of the session: refs are
    of one look, in whatever page it was."""

    page: Page
    why: Literal["start", "after_action", "requested", "before_input"]
    took_us: int = 0
    screenshot: Artifact | None = None
    look: int = 0


class ObservationFailed(Event, frozen=True, tag="ObservationFailed"):
    """The page could not be read within the deadline."""

    code: Literal["timeout", "page_crashed", "action_failed"]
    message: str = ""


class ScreenshotTaken(Event, frozen=True, tag="ScreenshotTaken"):
    artifact: Artifact
    why: str = ""


class BrowserLost(Event, frozen=True, tag="BrowserLost"):
    """The browser or its page died under the session."""

    why: str


class DialogOpened(Event, frozen=True, tag="DialogOpened"):
    """The page opened a dialog. It is answered at once, or the page hangs for ever."""

    kind: str
    message: Untrusted
    answer: Literal["accepted", "dismissed"]
    repeats: int = 1


class PopupOpened(Event, frozen=True, tag="PopupOpened"):
    """A page opened another one. `tab` is its number; -1: one too many, it was closed."""

    url: str
    repeats: int = 1
    tab: int = -1


class DownloadFinished(Event, frozen=True, tag="DownloadFinished"):
    """A page sent a file. Without an artifact it was not kept, and `failure` says why."""

    name: Untrusted
    artifact: Artifact | None = None
    failure: str = ""


class RequestBlocked(Event, frozen=True, tag="RequestBlocked"):
    host: str
    port: int
    channel: str = ""
    repeats: int = 1
