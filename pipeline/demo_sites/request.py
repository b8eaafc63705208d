"""A bundled site sees one request and its answer as they are here: no sockets, no pages."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class SiteRequest:
    """A request's `key` is the number in its path, where a route has one."""

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    form: Mapping[str, str] = field(default_factory=dict)
    token: str = ""
    key: int = 0


@dataclass(frozen=True)
class SiteResponse:
    """A response's `token` is the session cookie to set: None leaves it, empty takes it away."""

    status: int
    body: str = ""
    content_type: str = "text/html; charset=utf-8"
    location: str = ""
    token: str | None = None
    delay_ms: int = 0


def redirect(location: str, token: str | None = None) -> SiteResponse:
    return SiteResponse(303, location=location, token=token)
