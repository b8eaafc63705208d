"""Routes give the web pages, what they load, and the links that open them."""

from collections.abc import AsyncIterator
from functools import partial
from importlib.resources import files
from typing import Annotated, Any, Literal

import anyio
import anyio.to_thread
from litestar import MediaType, Request, Response, Router
from litestar.exceptions import HTTPException
from litestar.params import HeaderParameter, PathParameter, QueryParameter
from litestar.response import Redirect, Stream

from rutter.events.errors import RutterError
from rutter.pipeline.daemon.http.access import AccessRule
from rutter.pipeline.daemon.http.errors import NotThere, fail, refuse, refuse_http
from rutter.pipeline.daemon.http.refusals import PLAIN_PAGE, HttpRefusal
from rutter.pipeline.daemon.http.routes.artifacts import Digest
from rutter.pipeline.daemon.http.routes.common import (
    AnyName,
    Asked,
    JobName,
    Session,
    daemon_of,
    delete,
    get,
    post,
)
from rutter.pipeline.web import figure_pages, run_pages, workflow_pages
from rutter.pipeline.web.asked_questions import asked_questions
from rutter.pipeline.web.found_runs import RunFilter
from rutter.pipeline.web.now import now_of
from rutter.pipeline.web.rendering import page, refusal_page

WAIT_S = 20.0  # for a run to begin that was just asked for
# What a web session opens; what is in no row wants a token. The pages are the person's alone, but
# for what is there before anybody is known: the link, and what pages are drawn with.
WEB_TABLE = (
    AccessRule("GET", "/web/open/*", "nobody"),
    AccessRule("GET", "/web/static/*", "nobody"),
    AccessRule("GET", "/web/**", "person", web=True),
    AccessRule("POST", "/approvals/*/*", "person", web=True),
    AccessRule("POST", "/sessions/*/stop", "person", web=True),
    AccessRule("POST", "/sessions/*/pause", "person", web=True),
    AccessRule("POST", "/sessions/*/resume", "person", web=True),
    AccessRule("DELETE", "/jobs/*", "person", web=True),
    AccessRule("DELETE", "/web/sessions", "person", web=True),
)
STATIC = {
    "style.css": "text/css; charset=utf-8",
    "pages.js": "text/javascript; charset=utf-8",
    "live.js": "text/javascript; charset=utf-8",
    "forms.js": "text/javascript; charset=utf-8",
    "icon.svg": "image/svg+xml",
}
Width = Annotated[Literal[320, 1280], QueryParameter(description="how wide")]
AnyText = Annotated[str, QueryParameter(max_length=200)]
At = Annotated[int | None, QueryParameter(ge=1, description="as it was after this event")]
Version = Annotated[int, QueryParameter(ge=0)]
Share = Annotated[float, QueryParameter(ge=0, le=1)]
Key = Annotated[int, QueryParameter(ge=0, description="goes on behind this position")]


# -- opening ---------------------------------------------------------------------------------------


@post("/links", summary="A link that opens the web pages, once", status_code=201)
async def make_link(request: Asked) -> dict[str, Any]:
    """For the person alone. It becomes a cookie at once, and is in no address that is kept."""
    web = daemon_of(request).web
    return {"path": web.link(), "works_s": round(web.link_s)}


@delete("/sessions", summary="Ends every web session and link", status_code=200)
async def revoke(request: Asked) -> dict[str, int]:
    return {"ended": daemon_of(request).web.revoke()}


@get("/open/{code:str}", sync_to_thread=False)
def open_link(request: Asked, code: Annotated[str, PathParameter(max_length=200)]) -> Response[Any]:
    web, authority = daemon_of(request).web, request.headers["host"]
    value = web.open(code)
    if value is None:
        return _refused(
            HttpRefusal("link_spent", "this link was opened already, or is too old: rutter open")
        )
    tls = request.app.state.addresses[authority].startswith("https")
    cookie = web.set_cookie(value, authority, tls=tls)
    return Redirect("/web/now", status_code=303, headers={"set-cookie": cookie})


@get("/static/{name:str}", sync_to_thread=False)
def static(request: Asked, name: AnyName) -> Response[bytes]:
    if name not in STATIC:
        raise NotThere(f"there is no {name!r}", "see: GET /")
    body = (files(__package__) / "static" / name).read_bytes()
    return Response(body, media_type=STATIC[name])


# -- pages -----------------------------------------------------------------------------------------


@get("/")
async def home(request: Asked) -> Redirect:
    return Redirect("/web/now", status_code=303)


@get("/now")
async def now(request: Asked) -> Response[str]:
    return await page(request, "now.html", lambda: now_of(daemon_of(request)))


@get("/approvals")
async def approvals(request: Asked) -> Response[str]:
    daemon = daemon_of(request)
    return await page(request, "approvals.html", lambda: {"questions": asked_questions(daemon)})


@get("/runs")
async def runs(
    request: Asked,
    value: AnyText = "",
    workflow: AnyText = "",
    outcome: AnyText = "",
    driver: AnyText = "",
    day: AnyText = "",
    before: Key = 0,
) -> Response[str]:
    asked = {"value": value, "workflow": workflow, "outcome": outcome, "driver": driver}
    wanted = RunFilter(**asked, day=day, before=before)
    settings = daemon_of(request).settings
    return await page(request, "runs.html", lambda: run_pages.runs_of(settings, wanted))


@get("/runs/{session:str}")
async def run(request: Asked, session: Session, at: At = None) -> Response[str]:
    settings = daemon_of(request).settings
    return await page(request, "run.html", lambda: run_pages.run_of(settings, session, at))


@get("/runs/{session:str}/again")
async def again(request: Asked, session: Session) -> Response[str]:
    settings = daemon_of(request).settings
    return await page(request, "again.html", lambda: run_pages.decided_again(settings, session))


@get("/runs/{session:str}/what-if")
async def what_if(request: Asked, session: Session, threshold: Share = 0.7) -> Response[str]:
    settings = daemon_of(request).settings
    return await page(
        request, "what_if.html", lambda: run_pages.asked_what_if(settings, session, threshold)
    )


@get("/runs/{session:str}/report")
async def report(request: Asked, session: Session) -> Response[str]:
    daemon = daemon_of(request)
    html = await anyio.to_thread.run_sync(
        run_pages.report_of, daemon.settings, session, limiter=daemon.looking_back
    )
    headers = {"content-disposition": f'attachment; filename="rutter-{session}.html"'}
    return Response(html, media_type=MediaType.HTML, headers=headers)


@get("/workflows")
async def workflows(request: Asked) -> Response[str]:
    settings = daemon_of(request).settings
    return await page(request, "workflows.html", lambda: workflow_pages.workflows_of(settings))


@get("/workflows/one")
async def workflow(request: Asked, name: AnyText, version: Version = 0) -> Response[str]:
    settings = daemon_of(request).settings
    read = partial(workflow_pages.workflow_of, settings, name, version)
    return await page(request, "workflow.html", read)


@get("/workflows/compare")
async def compare(request: Asked, name: AnyText, old: Version, new: Version) -> Response[str]:
    settings = daemon_of(request).settings
    read = partial(workflow_pages.compared, settings, name, old, new)
    return await page(request, "compare.html", read)


@get("/learned")
async def learned(request: Asked) -> Response[str]:
    settings = daemon_of(request).settings
    return await page(request, "learned.html", partial(figure_pages.learned_of, settings))


@get("/learned/chart", sync_to_thread=True)
def chart(request: Asked) -> Response[str]:
    drawn = figure_pages.chart_of(daemon_of(request).settings)
    return Response(drawn, media_type="image/svg+xml")


@get("/learned/habits")
async def habits(request: Asked) -> Response[str]:
    settings = daemon_of(request).settings
    return await page(request, "habits.html", partial(figure_pages.habits_of, settings))


@get("/models")
async def models(request: Asked) -> Response[str]:
    settings = daemon_of(request).settings
    return await page(request, "models.html", partial(figure_pages.models_of, settings))


@get("/log")
async def log(request: Asked) -> Response[str]:
    settings = daemon_of(request).settings
    return await page(request, "log.html", partial(figure_pages.log_of, settings))


@get("/log/verify")
async def verify_log(request: Asked) -> Response[str]:
    settings = daemon_of(request).settings
    return await page(request, "verified.html", partial(figure_pages.verified_log, settings))


@get("/jobs/{job:str}")
async def job(request: Asked, job: JobName) -> Redirect:
    """To the run that it became, once it is one."""
    daemon = daemon_of(request)
    with anyio.move_on_after(WAIT_S):
        begun = await daemon.jobs.begun(job)
        if begun.session:
            async for _ in daemon.feed.follow(begun.session):
                return Redirect(f"/web/runs/{begun.session}", status_code=303)
    return Redirect("/web/now", status_code=303)


@get("/events")
async def events(
    request: Asked,
    after: Key = 0,
    session: AnyText = "",
    again: Annotated[int, HeaderParameter(name="Last-Event-ID", ge=0)] = 0,
) -> Stream:
    """That something happened, for whoever shows it: what it was, the page itself says."""
    return Stream(_moved(request, session, max(after, again)), media_type="text/event-stream")


async def _moved(request: Asked, session: str, after: int) -> AsyncIterator[bytes]:
    yield b"retry: 1000\n\n"
    async for envelope in daemon_of(request).feed.follow(session, after):
        said = b": nothing new" if envelope is None else b"data: moved\nid: %d" % envelope.seq
        yield said + b"\n\n"


@get("/pictures/{digest:str}", sync_to_thread=True)
def picture(request: Asked, digest: Digest, w: Width = 320) -> Response[bytes]:
    drawn = request.app.state.thumbnails.of(daemon_of(request).settings.directory, digest, w)
    return Response(drawn, media_type="image/webp")


# -- refusals --------------------------------------------------------------------------------------


def _refused(refusal: HttpRefusal) -> Response[Any]:
    return Response(
        refusal_page(refusal),
        media_type=MediaType.HTML,
        status_code=refusal.status,
        headers={"content-security-policy": PLAIN_PAGE.decode()},
    )


def _shown(request: Request[Any, Any, Any], error: RutterError) -> Response[Any]:
    if "text/html" not in request.headers.get("accept", ""):
        return refuse(request, error)
    return _refused(HttpRefusal(error.code, str(error)))


def _shown_http(request: Request[Any, Any, Any], error: HTTPException) -> Response[Any]:
    if "text/html" not in request.headers.get("accept", ""):
        return refuse_http(request, error)
    code = "not_there" if error.status_code == 404 else "bad_input"
    return _refused(HttpRefusal(code, error.detail))


def _failed(request: Request[Any, Any, Any], error: Exception) -> Response[Any]:
    told = fail(request, error)
    if "text/html" not in request.headers.get("accept", ""):
        return told
    return _refused(HttpRefusal("failed", told.content.message))


def web_routes() -> Router:
    return Router(
        "/web",
        route_handlers=[
            *(make_link, revoke, open_link, static, home, now, events, picture),
            *(approvals, runs, run, again, what_if, report, job, workflows, workflow, compare),
            *(learned, chart, habits, models, log, verify_log),
        ],
        include_in_schema=False,
        exception_handlers={RutterError: _shown, HTTPException: _shown_http, Exception: _failed},
    )
