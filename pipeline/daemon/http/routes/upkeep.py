"""Routes say what is kept, and let go of it by rule."""

from rutter.pipeline.daemon.http.routes.common import Asked, daemon_of, post
from rutter.pipeline.upkeep.expiry import ExpiryDone


@post("/log/tidy", summary="Deletes the artifacts that have expired", status_code=200)
async def tidy(request: Asked) -> ExpiryDone:
    """For the person alone. That they go is a fact in the log before any of them does."""
    return await daemon_of(request).tidying.now()


ROUTES = [tidy]
