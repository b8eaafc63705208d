"""The API says what is wrong in one form, by one table from errors to statuses (E5)."""

from typing import Any

import msgspec
from litestar import Request, Response
from litestar.exceptions import HTTPException
from litestar.openapi.datastructures import ResponseSpec

from rutter.events.errors import BadInput, LogCorrupt, PolicyDenied, RutterError, WorldBroken
from rutter.events.tools import ErrorType
from rutter.pipeline.daemon.http.refusals import Problem, problem_of
from rutter.pipeline.daemon.jobs.approvals import NoSuchQuestion
from rutter.pipeline.daemon.jobs.hooks import HookDenied, NoSuchHook
from rutter.pipeline.daemon.jobs.jobs import Conflict, NoSuchJob, QueueFull
from rutter.pipeline.daemon.jobs.schedules import NoSuchSchedule
from rutter.pipeline.tools.tool_sessions import NoSuchSession, TooMany


class NotThere(BadInput):
    """A path names what is not known."""


class ProblemKind(msgspec.Struct, frozen=True):
    status: int
    error: str
    error_code: ErrorType
    retriable: bool = False


# The first that fits.
KINDS: tuple[tuple[type[RutterError], ProblemKind], ...] = (
    (NoSuchJob, ProblemKind(404, "no_such_job", "validation_error")),
    (NoSuchSession, ProblemKind(404, "no_such_session", "validation_error")),
    (NoSuchSchedule, ProblemKind(404, "no_such_schedule", "validation_error")),
    (NoSuchHook, ProblemKind(404, "no_such_hook", "validation_error")),
    (HookDenied, ProblemKind(401, "hook_token_needed", "policy_denied")),
    (NoSuchQuestion, ProblemKind(404, "no_such_question", "validation_error")),
    (NotThere, ProblemKind(404, "not_there", "validation_error")),
    (Conflict, ProblemKind(409, "conflict", "validation_error")),
    (QueueFull, ProblemKind(429, "busy", "tool_unavailable", retriable=True)),
    (TooMany, ProblemKind(429, "busy", "tool_unavailable", retriable=True)),
    (BadInput, ProblemKind(400, "bad_input", "validation_error")),
    (PolicyDenied, ProblemKind(403, "policy_denied", "policy_denied")),
    (WorldBroken, ProblemKind(503, "unavailable", "tool_unavailable", retriable=True)),
    (LogCorrupt, ProblemKind(500, "log_corrupt", "execution_error")),
    (RutterError, ProblemKind(500, "failed", "execution_error")),
)
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


def of_error(error: RutterError) -> tuple[int, Problem]:
    kind = next(kind for cls, kind in KINDS if isinstance(error, cls))
    return kind.status, Problem(kind.error, str(error), kind.error_code, kind.retriable)


def refuse(request: Request[Any, Any, Any], error: RutterError) -> Response[Problem]:
    status, problem = of_error(error)
    return Response(problem, status_code=status)


def refuse_http(request: Request[Any, Any, Any], error: HTTPException) -> Response[Problem]:
    """What the framework refuses: a route that is not there, a body that does not fit."""
    said = error.detail
    extra = getattr(error, "extra", None)
    if isinstance(extra, list):
        parts = [f"{each.get('key', '')}: {each.get('message', '')}" for each in extra]
        said = "; ".join([said, *parts])
    name = {404: "not_there", 405: "unknown_method"}.get(error.status_code, "bad_input")
    return Response(
        problem_of(error.status_code, name, said),
        status_code=error.status_code,
        headers=dict(error.headers or {}),
    )


def fail(request: Request[Any, Any, Any], error: Exception) -> Response[Problem]:
    """A defect of ours. Whoever asks learns that it is none of theirs; the log has the rest."""
    request.app.state.daemon.report("a request failed", error)
    said = "something broke in here; the daemon's own log says what"
    return Response(problem_of(500, "failed", said), status_code=500)
