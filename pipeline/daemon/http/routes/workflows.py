"""Routes say what is known and how well it does: the seed's server (S0), workflows, tools,
statistics."""

from importlib import metadata
from typing import Any

import anyio
from litestar import Response
from litestar.openapi.datastructures import ResponseSpec
from litestar.response import Redirect

from rutter.actors.rules.tools.tool_table import TOOLS, described
from rutter.events.errors import BadInput
from rutter.events.workflow import Workflow
from rutter.pipeline.config.settings import Settings
from rutter.pipeline.daemon.http.errors import PROBLEMS, NotThere
from rutter.pipeline.daemon.http.routes.common import AnyName, Asked, HowMany, daemon_of, get
from rutter.pipeline.daemon.notify.prometheus import KIND as PROMETHEUS
from rutter.pipeline.daemon.notify.prometheus import exposition
from rutter.pipeline.queries.workflows_and_sessions import all_workflows, latest_workflow, project
from rutter.pipeline.tools.snapshot import snapshot_schema
from rutter.replay.projections.metrics import snapshot
from rutter.replay.projections.model_calls import spending

RECENT = 10
FIGURES = ResponseSpec(
    data_container=dict[str, Any],
    description="every figure by its name; as Prometheus text where that is asked for",
    generate_examples=False,
)

# The framework's schema of pairs (`tuple[str, str]`) fits none of them.
WHOLE = ResponseSpec(
    data_container=dict[str, Any],
    description="as it was recorded; what is as usual is left out",
    generate_examples=False,
)


@get("/", summary="What this is, and what it can be asked", sync_to_thread=False)
def index(request: Asked) -> Response[dict[str, Any]]:
    """For programs; a person's browser is led to the web pages."""
    if "text/html" in request.headers.get("accept", ""):
        return Redirect("/web/now", status_code=303)
    paths = sorted({route.path for route in request.app.routes})
    told = {
        "service": "rutter",
        "version": metadata.version("rutter-agent"),
        "endpoints": paths,
        "schema": "/schema/openapi.json",
    }
    return Response(told)


@get(
    "/health",
    summary="Whether it runs",
    security=[{}],  # nobody needs a token for it
    responses=PROBLEMS,
    sync_to_thread=False,
)
def health(request: Asked) -> dict[str, str]:
    """For anybody: it says nothing else."""
    return {"status": "stopping" if daemon_of(request).stopping.is_set() else "ok"}


@get("/metrics", summary="How well it does", responses={**PROBLEMS, 200: FIGURES})
async def metrics(request: Asked) -> Response[Any]:
    """The seed's JSON; Prometheus text for whoever accepts that and no JSON."""
    daemon = daemon_of(request)
    figures, more = await anyio.to_thread.run_sync(_figures, daemon.settings)
    accepted = request.headers.get("accept", "*/*")
    plain = "text/plain" in accepted or "openmetrics" in accepted
    if plain and "json" not in accepted:
        return Response(exposition(figures, daemon.statistics()), media_type=PROMETHEUS)
    return Response({**figures, **more})


def _figures(settings: Settings) -> tuple[dict[str, Any], dict[str, Any]]:
    with project(settings) as store:
        first = store.db.execute("SELECT count(*) FROM transitions_first_order").fetchone()[0]
        second = store.db.execute("SELECT count(*) FROM transitions_second_order").fetchone()[0]
        figures = {
            **snapshot(store.db),
            "first_order_transitions": first,
            "second_order_transitions": second,
        }
        recent = (
            "SELECT action_signature, url, success, timestamp FROM actions ORDER BY id DESC LIMIT ?"
        )
        more = {
            "recent_actions": store.rows(recent, RECENT),
            "db_path": str(settings.directory.log),
            "models": spending(store.db),
        }
    return figures, more


@get("/transitions/top", summary="What was learned most often", sync_to_thread=True)
def top_transitions(request: Asked, k: HowMany = 10) -> list[dict[str, Any]]:
    with project(daemon_of(request).settings) as store:
        return store.rows(
            "SELECT from_action, to_action, count, by_person, by_agent "
            "FROM transitions_first_order ORDER BY count DESC, from_action, to_action LIMIT ?",
            k,
        )


@get("/statistics", summary="How full everything is", sync_to_thread=False)
def statistics(request: Asked) -> dict[str, Any]:
    return daemon_of(request).statistics()


@get("/tools", summary="What can be called", sync_to_thread=False)
def tools(request: Asked) -> dict[str, Any]:
    """Every tool with its schema, timeout, retry profile and what it changes (S4 W2)."""
    return {"tools": [described(each) for each in TOOLS.values()], "snapshot": snapshot_schema()}


@get("/workflows", summary="What it can run", sync_to_thread=True)
def workflows(request: Asked) -> list[dict[str, Any]]:
    with project(daemon_of(request).settings) as store:
        return [_in_short(each) for each in all_workflows(store)]


@get(
    "/workflows/{name:str}",
    summary="One workflow, whole",
    responses={**PROBLEMS, 200: WHOLE},
    sync_to_thread=True,
)
def workflow(request: Asked, name: AnyName) -> Workflow:
    try:
        with project(daemon_of(request).settings) as store:
            return latest_workflow(store, name)
    except BadInput as error:
        raise NotThere(error.what, error.fix) from error


def _in_short(flow: Workflow) -> dict[str, Any]:
    return {
        "name": flow.name,
        "version": flow.version,
        "steps": len(flow.steps),
        "parameters": list(flow.parameters),
        "secrets": list(flow.secrets),
        "complete": flow.complete,
        "goal": flow.goal,
    }


ROUTES = [index, health, metrics, top_transitions, statistics, tools, workflows, workflow]
