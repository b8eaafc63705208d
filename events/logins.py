"""Login events say whose kept logins were used and from when, never what is in them. A digest is of
the encrypted file: it says which one it was, and nothing else."""

from rutter.events.event import Event


class LoginUsed(Event, frozen=True, tag="LoginUsed"):
    """A session's browser got this kept login before its first page."""

    origin: str
    digest: str
    kept_at_ns: int


class LoginKept(Event, frozen=True, tag="LoginKept"):
    """The session kept what its browser knew of this origin at the end, in place of the last
    one."""

    origin: str
    digest: str


class LoginNotKept(Event, frozen=True, tag="LoginNotKept"):
    """The session could not keep a login, and says why; what was kept before stays."""

    origin: str
    why: str
