"""What is said of logins that are kept: whose they are and when they were kept, never what is in
them. A digest is of the encrypted file: it says which one it was, and nothing else."""

from rutter.events.event import Event


class LoginUsed(Event, frozen=True, tag="LoginUsed"):
    """A kept login was put into the session's browser, before its first page."""

    origin: str
    digest: str
    kept_at_ns: int


class LoginKept(Event, frozen=True, tag="LoginKept"):
    """What the browser knew of this origin at the end was kept, in place of what was before."""

    origin: str
    digest: str


class LoginNotKept(Event, frozen=True, tag="LoginNotKept"):
    """It was not kept, and why; what was kept before stays."""

    origin: str
    why: str
