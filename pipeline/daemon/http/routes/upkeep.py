"""Routes say what is kept, and let go of it by rule."""

from litestar import post

from rutter.pipeline.daemon.http.errors import PROBLEMS
from rutter.pipeline.daemon.http.routes.common import Asked, daemon_of
from rutter.pipeline.upkeep.expiry import ExpiryDone


@post(
    "/log/tidy",
    operation_id="tidy",
    summary="Deletes the artifacts that have expired",
    status_code=200,
    responses=PROBLEMS,
)
async def tidy(request: Asked) -> ExpiryDone:
    """For the person alone. That they go is a fact in the log before any of them does."""
    return await daemon_of(request).tidying.now()


ROUTES = [tidy]
