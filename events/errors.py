"""The tree of errors says what can be broken. A refusal or a failed action is an event instead.

RutterError                 every error says what is wrong and what to do next
|-- BadInput                the person's input cannot be used as it is
|-- PolicyDenied            what was asked for is not allowed here; nothing was begun
|-- WorldBroken             the machine, the browser or the disk does not do its part
|   |-- DirectoryInUse      another process writes this data directory
|   |-- LogWriteFailed      a commit failed; its outcome is unknown until the log is reopened
|   |   |-- LogFull         no space left for the log
|   |   `-- LogLocked       another process holds the database
|   |-- LoginCorrupt        a kept login is not what was kept
|   `-- BrowserGone         the browser died or does not answer
`-- LogCorrupt              what is on disk is not what was written
    |-- LogForeign          not a log of ours, or of a version this program cannot read
    `-- EventUnknown        an event of a type this program does not know
"""

from typing import ClassVar


class RutterError(Exception):
    """An error tells people in one line what is wrong, in another what to do. `code` is its row
    among the `requests` of faults.toml: its exit code, its status, its type."""

    code: ClassVar[str] = "failed"

    def __init__(self, what: str, fix: str = "") -> None:
        super().__init__(f"{what}; {fix}" if fix else what)
        self.what = what
        self.fix = fix


class BadInput(RutterError):
    """A person's input cannot be used as it is; nothing was done with it."""

    code = "bad_input"


class PolicyDenied(RutterError):
    """The configuration forbids this, though it could be done; nothing was begun."""

    code = "policy_denied"


class WorldBroken(RutterError):
    """Something outside our code does not do its part."""

    code = "unavailable"


class DirectoryInUse(WorldBroken):
    """Another process is the one writer of this data directory."""


class LogWriteFailed(WorldBroken):
    """A commit failed. Whether it is on disk is unknown: stop, reopen, fold what is there."""


class LogFull(LogWriteFailed):
    """The disk has no room for the next commit."""


class LogLocked(LogWriteFailed):
    """A process that is not ours has locked the database."""


class LoginCorrupt(WorldBroken):
    """A kept login is damaged, was changed, or belongs to another site."""


class BrowserGone(WorldBroken):
    """The browser died, was closed, or passed our deadline in a call."""


class LogCorrupt(RutterError):
    """The disk does not hold what was written."""

    code = "log_corrupt"


class LogForeign(LogCorrupt):
    """A log is not ours, or has a format version that this program cannot read."""


class EventUnknown(LogCorrupt):
    """A payload has an event type that this program does not know."""
