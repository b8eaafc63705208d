"""Rendering makes a web page of a template: one policy for what it may load, one nonce a page.

Whatever a site, a workflow or a person named is text here and nothing else: templates escape, and
the policy lets nothing run that this module did not name, even if escaping failed.
"""

from collections.abc import Callable
from typing import Any

import anyio
from litestar import MediaType, Response

from rutter.pipeline.clock import new_token
from rutter.pipeline.daemon.http.guard import web_session_of
from rutter.pipeline.daemon.http.refusals import HttpRefusal
from rutter.pipeline.daemon.http.routes.common import Asked, daemon_of
from rutter.pipeline.web import page_words
from rutter.replay.documents.templates import templates

CSP = (
    "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; img-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
# What stands in the navigation: the path below /web, and its name.
PLACES = {
    "now": "Now",
    "runs": "Runs",
    "workflows": "Workflows",
    "approvals": "Approvals",
    "learned": "Learned",
    "models": "Models",
    "log": "Log",
}


async def page(
    request: Asked, template: str, read: Callable[[], dict[str, Any]] = dict, *, status: int = 200
) -> Response[str]:
    """The page; `read` brings what is shown on it, beside the loop, for it reads the log."""
    daemon = daemon_of(request)
    after = daemon.feed.position  # before anything is read: what comes meanwhile is told again
    shown = await anyio.to_thread.run_sync(read, limiter=daemon.looking_back)
    session = web_session_of(request.scope)
    nonce = new_token()
    html = _filled(
        template,
        nonce=nonce,
        csrf=session.csrf if session else "",
        here=request.url.path.split("/")[2],
        waiting=len(daemon.questions.pending()),
        after=after,
        **shown,
    )
    headers = {"content-security-policy": CSP.format(nonce=nonce)}
    return Response(html, media_type=MediaType.HTML, status_code=status, headers=headers)


def refusal_page(refusal: HttpRefusal) -> bytes:
    """For a person whose request came to nothing: what it is, and what to type."""
    return _filled("refusal.html", nonce="", refusal=refusal).encode()


def _filled(template: str, **shown: Any) -> str:
    return (
        templates(__package__)
        .get_template(template)
        .render(words=page_words, places=PLACES, **shown)
    )
