"""Figure pages show what was learned and how far it can be believed, what language models cost, and
whether the log is whole."""

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from rutter.events.sqlite_reader import SqliteReader
from rutter.pipeline.config.settings import Settings
from rutter.pipeline.daemon.http.errors import NotThere
from rutter.pipeline.queries.workflows_and_sessions import project
from rutter.pipeline.upkeep.inspection import inspect
from rutter.replay.accuracy.reliability import calibrated
from rutter.replay.documents.reliability_chart import draw
from rutter.replay.habits.habits import habits
from rutter.replay.habits.sequences import KINDS
from rutter.replay.projections.calibration import models, settled
from rutter.replay.projections.metrics import snapshot
from rutter.replay.projections.model_calls import spending
from rutter.replay.story.advice import money

FOLLOWS = 30  # transitions that are shown, the most frequent
DAYS = 30
ERROR_RATE = 50_000  # one in twenty, in millionths: what `rutter metrics` goes by
SHOWN = 100  # faults of a log
OF_ATTRIBUTE = re.compile(r'\[[\w-]+="([^"]+)"\]')
VERBS = {"navigate": "go to", "type": "type into", "press": "press", "select": "choose in"}


def learned_of(settings: Settings) -> dict[str, Any]:
    with project(settings) as store:
        follows = store.rows(
            "SELECT from_action, to_action, count, by_person FROM transitions_first_order "
            "ORDER BY count DESC, from_action, to_action LIMIT ?",
            FOLLOWS,
        )
        figures = snapshot(store.db)
        known = models(store.db)
    for each in follows:
        each["before"], each["after"] = _said(each["from_action"]), _said(each["to_action"])
    own = settings.config.sureness
    return {
        "follows": follows,
        "most": max((each["count"] for each in follows), default=1),
        "figures": figures,
        "models": known,
        "sureness": own,
    }


def _said(token: str) -> str:
    """An action as it was learned, in words: without its values."""
    try:
        told = msgspec.json.decode(token, type=dict[str, Any])
    except msgspec.MsgspecError:
        return token
    at = told.get("url") or told.get("key") or told.get("selector") or ""
    named = _plain(at) if isinstance(at, str) else ", ".join(map(str, _named(at)))
    what = told.get("param")
    verb = VERBS.get(str(told.get("type")), str(told.get("type")))
    return f"{verb} {named}" + (f" ({what})" if what else "")


def _plain(at: str) -> str:
    """`"customer search"`, of an element that is known by one attribute."""
    found = OF_ATTRIBUTE.fullmatch(at)
    return f'"{found[1].replace("-", " ")}"' if found else at


def _named(at: Mapping[str, object]) -> list[object]:
    return [value for value in at.values() if value]


def chart_of(settings: Settings) -> str:
    """How sure the model was and how right, as a picture."""
    with project(settings) as store:
        known = models(store.db)
        own = settings.config.sureness.predictor
        model = own if own in known else next(iter(known), "")
        said = settled(store.db, model)
    if not said:
        raise NotThere("nothing that was expected was put to the test yet", "see: rutter metrics")
    return draw(calibrated(said, ERROR_RATE), model)


def habits_of(settings: Settings) -> dict[str, Any]:
    with SqliteReader(settings.directory.log) as reader, reader.snapshot():
        found = habits(reader.read(kinds=KINDS), 2)
    return {"habits": found, "command": settings.command}


def models_of(settings: Settings) -> dict[str, Any]:
    """Calls, tokens and money: of all, by day, and by what was run."""
    sums = (
        "count(*) AS calls, sum(input_tokens) AS input_tokens, sum(output_tokens) AS "
        "output_tokens, sum(model_calls.cost_microdollars) AS cost, sum(NOT priced) AS unpriced"
    )
    day = "date(at_ns / 1000000000, 'unixepoch', 'localtime')"
    with project(settings) as store:
        spent = spending(store.db)
        by_day = store.rows(
            f"SELECT {day} AS name, {sums} FROM model_calls GROUP BY 1 ORDER BY 1 DESC LIMIT ?",
            DAYS,
        )
        by_run = store.rows(
            f"SELECT coalesce(nullif(name, ''), goal, '') AS name, {sums} FROM model_calls "
            "JOIN sessions USING (session) GROUP BY 1 ORDER BY cost DESC, calls DESC"
        )
    return {"spent": spent, "tables": {"By day": by_day, "By workflow": by_run}, "money": money}


def log_of(settings: Settings) -> dict[str, Any]:
    """What is known at once; what has to be counted is behind a link."""
    directory = settings.directory
    with SqliteReader(directory.log) as reader:
        events = reader.last_seq()
        sealed = reader.query(
            "SELECT seq, at_ns FROM events WHERE kind = 'LogSealed' ORDER BY seq DESC LIMIT 1"
        )
    with project(settings) as store:
        [counted] = store.rows("SELECT count(*) AS sessions FROM sessions")
    return {
        "events": events,
        "sessions": counted["sessions"],
        "bytes": directory.log.stat().st_size,
        "sealed": sealed[0] if sealed else None,
        "place": str(directory.root),
        "command": settings.command,
    }


def verified_log(settings: Settings) -> dict[str, Any]:
    found = inspect(settings.directory)
    return {"found": found, "faults": found.faults[:SHOWN]}
