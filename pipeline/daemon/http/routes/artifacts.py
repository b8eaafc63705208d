"""Routes give what is looked at: artifacts by their name, and tickets for the live view."""

from typing import Annotated

from litestar import Response
from litestar.openapi.datastructures import ResponseSpec
from litestar.params import PathParameter

from rutter.events.errors import LogCorrupt
from rutter.events.page import Artifact
from rutter.events.sqlite_reader import SqliteReader
from rutter.pipeline.config.data_directory import DataDirectory
from rutter.pipeline.daemon.http.errors import PROBLEMS, NotThere
from rutter.pipeline.daemon.http.routes.common import (
    Asked,
    Session,
    daemon_of,
    get,
    post,
    running_daemon,
)
from rutter.pipeline.daemon.http.tokens import Tickets
from rutter.pipeline.upkeep.artifact_survey import expired_digests

Digest = Annotated[
    str, PathParameter(pattern="^[0-9a-f]{64}$", description="the SHA-256 of its content")
]
BODY = ResponseSpec(
    data_container=bytes,
    description="as it was kept; never shown as a page",
    media_type="application/octet-stream",
    generate_examples=False,
)


@get(
    "/artifacts/{digest:str}",
    summary="A picture or file",
    responses={**PROBLEMS, 200: BODY},
    sync_to_thread=True,
)
def artifact(request: Asked, digest: Digest) -> Response[bytes]:
    """What came from a page is not to be run here: it is sent as a file."""
    directory = daemon_of(request).settings.directory
    try:
        body = directory.artifacts.get(Artifact(digest, 0, ""))
    except (LogCorrupt, OSError) as error:
        raise NotThere(_gone(directory, digest), "see: GET /sessions/{session}") from error
    headers = {"content-disposition": f'attachment; filename="{digest}"'}
    return Response(body, media_type="application/octet-stream", headers=headers)


def _gone(directory: DataDirectory, digest: str) -> str:
    """What went by a rule is told from what never was."""
    with SqliteReader(directory.log) as reader:
        said = expired_digests(reader).get(digest)
    if said is None:
        return f"there is no artifact {digest}"
    return f"artifact {digest} has expired ({said[0]})"


@post(
    "/sessions/{session:str}/ticket", summary="A cookie that opens its live view", status_code=204
)
async def ticket(request: Asked, session: Session) -> Response[None]:
    """For a browser, which sends no token with a picture: HttpOnly, for one path, for a while."""
    running_daemon(request, session)
    tickets: Tickets = request.app.state.tickets
    value = tickets.issue(session)
    return Response(None, headers={"set-cookie": tickets.cookie(value, session)}, status_code=204)


ROUTES = [artifact, ticket]
