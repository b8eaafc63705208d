"""Routes keep what sets off runs: schedules and hooks, for the person; calling a hook, with its own
token."""

from typing import Annotated, Any

import anyio
import msgspec
from litestar.params import HeaderParameter, JSONBody

from rutter.events.jobs import Run
from rutter.pipeline.daemon.http.routes.common import (
    AnyName,
    Asked,
    daemon_of,
    delete,
    get,
    post,
    put,
)
from rutter.pipeline.daemon.http.routes.jobs import KEY, JobTold, told
from rutter.pipeline.daemon.http.tokens import bearer_of
from rutter.pipeline.daemon.jobs import hooks as hooks_
from rutter.pipeline.daemon.jobs import schedules as schedules_
from rutter.pipeline.daemon.jobs.hooks import ACCESS, HookTold, HookWish
from rutter.pipeline.daemon.jobs.runner import check_run
from rutter.pipeline.daemon.jobs.scheduled_rows import check_wish
from rutter.pipeline.daemon.jobs.schedules import ScheduleTold, ScheduleWish

BY = "person"
TABLE = (ACCESS,)
Authorization = Annotated[str, HeaderParameter(name="Authorization", include_in_schema=False)]


async def _check(request: Asked, run: Run) -> None:
    """What could not be run now is not set for later."""
    settings = daemon_of(request).settings
    await anyio.to_thread.run_sync(lambda: check_run(run, settings, agent=False))


@get("/schedules", summary="What is run by the clock", sync_to_thread=False)
def schedules(request: Asked) -> list[ScheduleTold]:
    daemon = daemon_of(request)
    now = daemon.app.clock.now_ns()
    return [schedules_.told(each, now) for each in daemon.schedules.all()]


@put("/schedules/{name:str}", summary="Sets one")
async def set_schedule(request: Asked, name: AnyName, data: JSONBody[ScheduleWish]) -> ScheduleTold:
    daemon = daemon_of(request)
    await anyio.to_thread.run_sync(check_wish, data, daemon.settings)
    made = await daemon.schedules.set(name, data, by=BY)
    return schedules_.told(made, daemon.app.clock.now_ns())


@delete("/schedules/{name:str}", summary="Drops one", status_code=200)
async def drop_schedule(request: Asked, name: AnyName) -> ScheduleTold:
    daemon = daemon_of(request)
    return schedules_.told(await daemon.schedules.drop(name, BY), daemon.app.clock.now_ns())


@get("/hooks", summary="What can be called from outside", sync_to_thread=False)
def hooks(request: Asked) -> list[HookTold]:
    return [hooks_.told(each) for each in daemon_of(request).hooks.all()]


@put("/hooks/{name:str}", summary="Makes one; its token is told once")
async def set_hook(request: Asked, name: AnyName, data: JSONBody[HookWish]) -> HookTold:
    daemon = daemon_of(request)
    await _check_hook(request, data)
    token = await daemon.hooks.set(name, data, by=BY)
    return hooks_.told(daemon.hooks.find(name), token)


async def _check_hook(request: Asked, wish: HookWish) -> None:
    """What its callers are to bind is not bound yet."""
    bound = {**dict.fromkeys(wish.parameters, "x"), **wish.run.values}
    await _check(request, msgspec.structs.replace(wish.run, values=bound))


@delete("/hooks/{name:str}", summary="Drops one: its token opens nothing any more", status_code=200)
async def drop_hook(request: Asked, name: AnyName) -> HookTold:
    return hooks_.told(await daemon_of(request).hooks.drop(name, BY))


@post("/hooks/{name:str}", summary="Calls one, with its own token", status_code=202)
async def fire_hook(
    request: Asked,
    name: AnyName,
    data: JSONBody[dict[str, Any]],
    authorization: Authorization = "",
    key: KEY = "",
) -> JobTold:
    """Takes values for the parameters that it declares, and nothing else."""
    token = bearer_of(authorization)
    return told(await daemon_of(request).hooks.fire(name, token, data, key=key))


ROUTES = [schedules, set_schedule, drop_schedule, hooks, set_hook, drop_hook, fire_hook]
