"""A page is what one observation saw; a resolved element is what a target turned out to be."""

from typing import Literal

import msgspec

from rutter.events.action import Box, Fingerprint, Strategy, Untrusted


class PageElement(msgspec.Struct, frozen=True, omit_defaults=True):
    """An element of an observation has its place in it as its ref (D1): `@e0` is the first.

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
    """A page holds at most 16 KB of what one look saw; it counts what was dropped.

    `tab` is which of the session's pages it is, of `tabs` that are open. `truncated` says that the
    page was too large to be walked to its end. `been` are addresses that this document gave itself
    in this place, before the one that it has.
    """

    url: str
    title: Untrusted = Untrusted()
    ready: str = ""
    viewport: tuple[int, int] = (0, 0)
    scroll: tuple[int, int] = (0, 0)
    headings: tuple[Untrusted, ...] = ()
    alerts: tuple[Untrusted, ...] = ()
    elements: tuple[PageElement, ...] = ()
    focused: str = ""
    digest: str = ""
    modal: bool = False
    dropped: int = 0
    tab: int = 0
    tabs: int = 1
    truncated: bool = False
    been: tuple[str, ...] = ()


class PageMark(msgspec.Struct, frozen=True, omit_defaults=True):
    """A document has this mark of the table of barriers. `area` is the part of the view that it
    takes, in hundredths, 1 at least; 0 where it is not shown."""

    what: Literal["frame", "script", "inline", "element", "mount", "text"]
    name: str
    area: int = 0


class Makeup(msgspec.Struct, frozen=True, omit_defaults=True):
    """A document is made of so much: characters of text that it shows, elements that were walked,
    scripts. `frames` are the hosts of those that show what cannot be read.

    Of one that says little it is told besides what part of the view is drawn, in hundredths:
    `canvas`, `pictures` without a word, and `named` ones; and whether its scripts have anything
    left to do (`busy`). `answered`: its captcha was.
    """

    text: int = 0
    nodes: int = 0
    scripts: int = 0
    frames: tuple[str, ...] = ()
    marks: tuple[PageMark, ...] = ()
    canvas: int = 0
    pictures: int = 0
    named: int = 0
    age_ms: int = 0
    busy: bool = False
    answered: bool = False


class Resolved(msgspec.Struct, frozen=True, omit_defaults=True):
    """A target turned out to be this element. Policy judges it, not the selector text.

    `icon` is what it shows in place of words: the names of its picture, its symbol, its classes.
    `identity` is its digest without where its form is sent to the letter; empty when that is all
    that tells it from others. `home` is the same of what sends its form to the page that it is on,
    whatever that is called.
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
    identity: str = ""
    home: str = ""


class Lookalike(msgspec.Struct, frozen=True, omit_defaults=True):
    """A lookalike may be the recorded element; its score is in millionths. `first` must be pressed
    to get there: it opens what the element is in, or closes what lies over it. Without an
    `element` that is the recorded one, where it was."""

    element: Resolved | None = None
    first: Resolved | None = None
    score: int = 0


class Exchange(msgspec.Struct, frozen=True, omit_defaults=True):
    """The page sent a request that was to change something, and the server may have answered.

    `to` is method and address, without what varies. `number` counts those of a page, so that an
    answer is known for its request; `step` is the one that was being done when it began, 0 where
    nobody knows. `status` is 0 as long as there is no answer; `failed`: there will be none. By a
    `socket` something was said, once or more in that step, and answers are not known.
    """

    number: int
    to: str
    step: int = 0
    status: int = 0
    failed: bool = False
    document: bool = False
    beacon: bool = False
    socket: bool = False


class Resting(msgspec.Struct, frozen=True, omit_defaults=True):
    """A step waits until the page has nothing left to do, at most `within_ms`. Then `quiet_ms` have
    passed since the last input, and one request of each of the kinds in `awaits` has begun."""

    within_ms: int
    quiet_ms: int = 0
    awaits: tuple[str, ...] = ()


class Rest(msgspec.Struct, frozen=True, omit_defaults=True):
    """The page took so long to come to rest, and was waited for because of this. `restless`: what
    was not over when the time was up."""

    took_us: int = 0
    waited_for: tuple[str, ...] = ()
    restless: tuple[str, ...] = ()


class Try(msgspec.Struct, frozen=True, omit_defaults=True):
    """A locator was probed, and this came of it (A3)."""

    strategy: int
    matches: int
    result: Literal["taken", "none", "ambiguous", "invalid", "not_visible", "not_needed"]


class Artifact(msgspec.Struct, frozen=True, omit_defaults=True):
    """An artifact is a body kept outside the log, named by its content."""

    sha256: str
    size: int
    media: str = "application/octet-stream"
