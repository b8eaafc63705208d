"""What was seen: the page as one observation, and the element that a target turned out to be."""

from typing import Literal

import msgspec

from events.action import Box, Fingerprint, Strategy, Untrusted


class Element(msgspec.Struct, frozen=True, omit_defaults=True):
    """One element of an observation (D1). Its ref is its place among them: `@e0` is the first.

    `children` are the refs of those inside it, as numbers.
    """

    role: str
    name: Untrusted = Untrusted()
    tag: str = ""
    state: tuple[str, ...] = ()
    value: Untrusted | None = None
    level: int | None = None
    box: Box = Box()
    children: tuple[int, ...] = ()


class Page(msgspec.Struct, frozen=True, omit_defaults=True):
    """One look at the page. At most 16 KB inline: what was dropped is counted.

    `tab` is which of the session's pages it is, of `tabs` that are open. `truncated` says that the
    page was too large to be walked to its end.
    """

    url: str
    title: Untrusted = Untrusted()
    ready: str = ""
    viewport: tuple[int, int] = (0, 0)
    scroll: tuple[int, int] = (0, 0)
    headings: tuple[Untrusted, ...] = ()
    alerts: tuple[Untrusted, ...] = ()
    elements: tuple[Element, ...] = ()
    focused: str = ""
    digest: str = ""
    modal: bool = False
    dropped: int = 0
    tab: int = 0
    tabs: int = 1
    truncated: bool = False


class Resolved(msgspec.Struct, frozen=True, omit_defaults=True):
    """The element that a target turned out to be. Policy judges this, not the selector text.

    `icon` is what it shows in place of words: the names of its picture, its symbol, its classes.
    """

    tag: str
    digest: str
    role: str = ""
    name: Untrusted = Untrusted()
    text: Untrusted = Untrusted()
    kind: str = ""
    href: str = ""
    form_action: str = ""
    form_method: str = ""
    submits: bool = False
    signs_in: bool = False
    secret: bool = False
    origin: str = ""
    ways: tuple[Strategy, ...] = ()
    fingerprint: Fingerprint = Fingerprint()
    exact: str = ""
    icon: Untrusted = Untrusted()


class Try(msgspec.Struct, frozen=True, omit_defaults=True):
    """One strategy that was probed and what came of it (A3)."""

    strategy: int
    matches: int
    result: Literal["taken", "none", "ambiguous", "invalid", "not_visible", "not_needed"]


class Artifact(msgspec.Struct, frozen=True, omit_defaults=True):
    """A body kept outside the log, named by its content."""

    sha256: str
    size: int
    media: str = "application/octet-stream"
