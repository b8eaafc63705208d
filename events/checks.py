"""A check is data on what must be so after a step: `{"type": "text_visible", "value": "..."}` (S2).

It names what must be so, never how to find out. `${name}` in a value is a parameter.
"""

from typing import Literal

import msgspec

# S1 2.7 and 5.3 together (F6).
PageState = Literal[
    "START",
    "LOGIN_REQUIRED",
    "ACCOUNT_ACTIVE",
    "ACCOUNT_CANCELLED",
    "THIRD_PARTY_BILLING",
    "RETENTION_OFFER",
    "EXIT_SURVEY",
    "FINAL_CONFIRMATION",
    "COMPLETE",
    "FAILED",
    "UNKNOWN",
]


class _Check(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="type"):
    """Every check has a type, which says what `value` is."""


class TextVisible(_Check, frozen=True, tag="text_visible"):
    """The page shows this text, in any case and across elements."""

    value: str


class TextGone(_Check, frozen=True, tag="text_gone"):
    value: str


class UrlHas(_Check, frozen=True, tag="url"):
    """The address of the page holds this text."""

    value: str


class AlertSaid(_Check, frozen=True, tag="alert"):
    """The page says this in an alert or a status of its own: `*` is what varies, `#` a number.

    What was learned is the `whole` of a notice that was not there before.
    """

    value: str
    whole: bool = False


class ValueSet(_Check, frozen=True, tag="value_set"):
    """The field of this name holds the value."""

    value: str
    name: str
    role: str = ""


class ElementState(_Check, frozen=True, tag="element_state"):
    """The element of this name is `checked`, `disabled`, `expanded`; `not checked`; or `gone`."""

    value: str
    name: str
    role: str = ""


class StateIs(_Check, frozen=True, tag="page_state"):
    """The page is in this state, by the rules of F6."""

    value: PageState


class Downloaded(_Check, frozen=True, tag="download"):
    """The page sent a file whose name holds this; any file, when it is empty."""

    value: str = ""


class ServerAnswered(_Check, frozen=True, tag="answered"):
    """The server took what the page sent: it answered one of these requests well, each written as
    `METHOD address` with ` | ` between them. Runs learn it; nobody states it."""

    value: str


class FileExists(_Check, frozen=True, tag="file_exists"):
    """A file of this path exists in one of the allowed folders."""

    value: str


class FileContains(_Check, frozen=True, tag="file_contains"):
    value: str
    path: str


class FileSize(_Check, frozen=True, tag="file_size"):
    """The file of this path has so many bytes; without an upper bound, at least so many."""

    value: str
    at_least: int = 1
    at_most: int | None = None


FileCheck = FileExists | FileContains | FileSize
PageCheck = (
    TextVisible
    | TextGone
    | UrlHas
    | AlertSaid
    | ValueSet
    | ElementState
    | StateIs
    | Downloaded
    | ServerAnswered
)
Check = PageCheck | FileCheck


HERE = "here"  # in place of an address: wherever the step led


class ReadBack(msgspec.Struct, frozen=True):
    """A read-back looks where the result must show: at an address, or `here`, for these checks."""

    url: str
    checks: tuple[Check, ...]

    @property
    def where(self) -> str:
        """In words."""
        return HERE if self.url == HERE else f"at {self.url}"


def path_of(check: FileCheck) -> str:
    return check.path if isinstance(check, FileContains) else check.value


def texts_of(check: Check) -> tuple[str, ...]:
    """Every text in it: where a parameter may stand, and a secret may not."""
    fields = (getattr(check, name) for name in check.__struct_fields__)
    return tuple(each for each in fields if isinstance(each, str))
