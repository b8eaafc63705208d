"""The Observer says what the page shows, and what it did on its own."""

from typing import Literal

import msgspec

from rutter.events.action import Untrusted
from rutter.events.event import Event, StepEvent
from rutter.events.page import Artifact, Exchange, Makeup, Page, Rest


class Shown(msgspec.Struct, frozen=True, omit_defaults=True):
    """The page shows this text, among about 200 characters around it; of a page aside it is said
    whether the browser itself keeps it for the site."""

    text: str
    around: Untrusted | None = None
    kept: bool = False


class PageObserved(Event, frozen=True, tag="PageObserved"):
    """The Observer looked at the page, in one round trip. `look` counts those of the session: refs
    are of one look, in whatever page it was.

    `shown` answers for every text that was asked for. `phrases` are those of the state rules and
    criteria that the page says. `pending` requests of its scripts, made since the last input, have
    no answer yet; `sent`, answered or not, were to change something. `status` is the document's, 0
    when it is not known. `unread`: not all of its text could be read, what was not found may be
    there. `suspicious` names the patterns by which what it says looks like an order to a model: no
    decider reads it. `exchanges` were begun or answered since the look before. `rest` is how the
    page was waited for, where that was asked for. `made` is what the document is made of.
    """

    page: Page
    why: Literal["start", "after_action", "requested", "before_input"]
    took_us: int = 0
    screenshot: Artifact | None = None
    look: int = 0
    shown: tuple[Shown, ...] = ()
    phrases: tuple[str, ...] = ()
    pending: int = 0
    sent: int = 0
    status: int = 0
    unread: bool = False
    suspicious: tuple[str, ...] = ()
    exchanges: tuple[Exchange, ...] = ()
    rest: Rest | None = None
    made: Makeup | None = None


class ObservationFailed(Event, frozen=True, tag="ObservationFailed"):
    """The Observer could not read the page within the deadline."""

    code: Literal["timeout", "page_crashed", "action_failed"]
    message: str = ""


class ScreenshotTaken(Event, frozen=True, tag="ScreenshotTaken"):
    artifact: Artifact
    why: str = ""


class BrowserLost(Event, frozen=True, tag="BrowserLost"):
    """The browser or its page died under the session."""

    why: str


class BarDisturbed(Event, frozen=True, tag="BarDisturbed"):
    """The bar of a recording is not before the person: a window of the page lay over it, the page
    fills the screen, or the bar was closed. `restored`: it is in front again."""

    by: Literal["window", "full_screen", "closed"]
    restored: bool = False


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
    """A page sent a file. Without an artifact it was not kept, and `failure` says why. `step` is
    the one that was being done when the browser announced it; 0 when that is not known."""

    name: Untrusted
    artifact: Artifact | None = None
    failure: str = ""
    step: int = 0


class FileSeen(msgspec.Struct, frozen=True, omit_defaults=True):
    """The Observer looked at a file for a check. `holds` is of `file_contains` alone; `error` says
    why it was not looked at."""

    path: str
    exists: bool = False
    size: int = 0
    holds: bool | None = None
    error: Literal["", "policy_denied", "too_large", "unreadable"] = ""
    message: str = ""


class FilesSeen(StepEvent, frozen=True, tag="FilesSeen"):
    """The Observer answers each check of files that was asked about, in the same order."""

    files: tuple[FileSeen, ...]


class RequestBlocked(Event, frozen=True, tag="RequestBlocked"):
    """A page wanted to reach what it may not. `channel` is how, where the browser can tell; `rule`
    and `reason` are the policy's, of the version `policy`."""

    host: str
    port: int
    channel: str = ""
    repeats: int = 1
    rule: str = ""
    reason: str = ""
    policy: str = ""


class Contact(msgspec.Struct, frozen=True, omit_defaults=True):
    """The session reached this host. `top_level`: the person or the run was on a page of it;
    `by_name`: it was judged by its name alone, since the company's proxy looked it up."""

    host: str
    port: int
    top_level: bool = False
    requests: int = 1
    by_name: bool = False


class HostsContacted(Event, frozen=True, tag="HostsContacted"):
    """The proxy counted which hosts the session spoke to; said once, before it ends. `others` are
    as many more as one fact does not hold."""

    contacts: tuple[Contact, ...]
    others: int = 0
