"""A bundled site sees one request and its answer as they are here: no sockets, no pages."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Pace = Literal["page", "estimate", "at once"]


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    form: Mapping[str, str] = field(default_factory=dict)
    token: str = ""


@dataclass(frozen=True)
class Response:
    """`token` is the session cookie to set: None leaves it, an empty one takes it away."""

    status: int
    body: str = ""
    content_type: str = "text/html; charset=utf-8"
    location: str = ""
    token: str | None = None
    pace: Pace = "at once"
