"""Every route shares what is here: the daemon it speaks for, who asks, and names that are one
thing."""

from functools import partial
from typing import Annotated, Any

import litestar
import msgspec
from litestar import Request
from litestar.datastructures import State
from litestar.exceptions import ValidationException
from litestar.params import PathParameter, QueryParameter

from rutter.pipeline.config.settings import Settings
from rutter.pipeline.daemon.daemon import Daemon
from rutter.pipeline.daemon.http.errors import PROBLEMS, NotThere
from rutter.pipeline.daemon.http.guard import caller_of
from rutter.pipeline.queries.workflows_and_sessions import project

# What is wrong is said in one form by every route.
get = partial(litestar.get, responses=PROBLEMS)
post = partial(litestar.post, responses=PROBLEMS)
put = partial(litestar.put, responses=PROBLEMS)
delete = partial(litestar.delete, responses=PROBLEMS)

Asked = Request[Any, Any, State]
NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$"
Session = Annotated[str, PathParameter(pattern=NAME, description="the name of a session")]
JobName = Annotated[str, PathParameter(pattern=NAME, description="the name of a job")]
Approval = Annotated[str, PathParameter(pattern=NAME, description="which question")]
Tool = Annotated[str, PathParameter(pattern=NAME, description="which tool: see GET /tools")]
AnyName = Annotated[str, PathParameter(min_length=1, max_length=200)]
Flag = Annotated[bool, QueryParameter()]
HowMany = Annotated[int, QueryParameter(ge=1, le=1_000, description="how many at most")]


class Strict(Request[Any, Any, State]):
    """A request's body is read as what the route says, and as nothing else.

    The framework takes "true" and 1 for yes where a yes is meant. What answers for a person, or
    bounds a run, is not guessed at.
    """

    async def json(self) -> Any:
        field = self.route_handler.parsed_data_field
        wanted = field.annotation if field is not None else Any
        try:
            body = await self.body() or b"null"
            read = msgspec.json.decode(body, type=wanted)
            if unknown := unknown_field(msgspec.json.decode(body), read):
                raise ValidationException(f"Object contains unknown field `{unknown}`")
            # As it would come from the log: by what is left out as usual, the two differ, and an
            # event must be the same bytes whenever it is written.
            return msgspec.msgpack.decode(msgspec.msgpack.encode(read), type=wanted)
        except msgspec.MsgspecError as error:
            raise ValidationException(str(error)) from error
        except OverflowError as error:
            raise ValidationException("a number that is too large") from error
        except RecursionError as error:
            raise ValidationException("JSON that is nested too deeply") from error


def unknown_field(said: Any, read: Any) -> str:
    """The first field that was said and that nobody reads: what events are made of takes any, so
    that a log of tomorrow can be read, and whoever asks for a `dryrun` must not get a run."""
    parts: list[tuple[Any, Any]] = []
    if isinstance(read, msgspec.Struct) and isinstance(said, dict):
        names = dict(zip(read.__struct_encode_fields__, read.__struct_fields__, strict=True))
        for name in said:
            if name not in names and name != read.__struct_config__.tag_field:
                return str(name)
        parts = [(name, getattr(read, names[name])) for name in said if name in names]
    elif isinstance(read, msgspec.Struct):  # one that is written as a list, without names
        values = [getattr(read, name) for name in read.__struct_fields__]
        parts = list(zip(range(len(said)), values, strict=False))
    elif isinstance(read, dict):
        parts = [(each, read[each]) for each in said if each in read]
    elif isinstance(read, list | tuple):
        parts = list(enumerate(read))
    fields = ((key, unknown_field(said[key], value)) for key, value in parts)
    return next((f"{key}.{inner}" for key, inner in fields if inner), "")


def daemon_of(request: Asked) -> Daemon:
    daemon: Daemon = request.app.state.daemon
    return daemon


def running_daemon(request: Asked, session: str) -> Daemon:
    """Where this session runs."""
    daemon = daemon_of(request)
    if session not in daemon.app.running():
        raise NotThere(f"no session {session!r} is running", "see: GET /sessions")
    return daemon


def by_agent(request: Asked) -> bool:
    """Whether whoever asks has no more than the agent's token."""
    return caller_of(request.scope) != "person"


def check_session(settings: Settings, session: str) -> None:
    """By its whole name: a program does not abbreviate."""
    with project(settings) as store:
        row = store.db.execute("SELECT 1 FROM sessions WHERE session = ?", (session,)).fetchone()
    if row is None:
        raise NotThere(f"there is no session {session!r}", "see: GET /sessions")
