"""The API says what is wrong in one form, by the table of faults (E5)."""

from typing import Any

from litestar import Request, Response
from litestar.exceptions import HTTPException
from litestar.openapi.datastructures import ResponseSpec

from rutter.events.errors import BadInput, RutterError
from rutter.pipeline.daemon.http.refusals import Problem, problem_of, status_of


class NotThere(BadInput):
    """A path names what is not known."""

    code = "not_there"


# What any route may answer: the guard's refusals are among them.
SAID = {
    400: "what was sent cannot be used",
    401: "a token is needed",
    403: "it is not allowed, or not with this token",
    404: "it is not there",
    405: "not by this method",
    409: "it is in conflict with what is there",
    413: "it is too large",
    415: "it is not JSON",
    421: "another host was asked",
    429: "there is too much to do",
    503: "it cannot be done now",
}
PROBLEMS = {
    status: ResponseSpec(data_container=Problem, description=text, generate_examples=False)
    for status, text in SAID.items()
}


def refuse(request: Request[Any, Any, Any], error: RutterError) -> Response[Problem]:
    return Response(problem_of(error.code, str(error)), status_code=status_of(error.code))


def refuse_http(request: Request[Any, Any, Any], error: HTTPException) -> Response[Problem]:
    """What the framework refuses: a route that is not there, a body that does not fit."""
    said = error.detail
    extra = getattr(error, "extra", None)
    if isinstance(extra, list):
        parts = [f"{each.get('key', '')}: {each.get('message', '')}" for each in extra]
        said = "; ".join([said, *parts])
    code = {404: "not_there", 405: "unknown_method", 500: "failed"}.get(
        error.status_code, "bad_input"
    )
    return Response(
        problem_of(code, said),
        status_code=error.status_code,
        headers=dict(error.headers or {}),
    )


def fail(request: Request[Any, Any, Any], error: Exception) -> Response[Problem]:
    """A defect of ours. Whoever asks learns that it is none of theirs; the log has the rest."""
    request.app.state.daemon.report("a request failed", error)
    said = "something broke in here; the daemon's own log says what"
    return Response(problem_of("failed", said), status_code=500)
