"""`rutter metrics` says how well runs do, what models cost, and whether it can be believed."""

from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any

import msgspec

from rutter.events.errors import BadInput
from rutter.events.run_settings import MILLION
from rutter.pipeline.cli.terminal import Options, Terminal
from rutter.pipeline.config.settings import Settings
from rutter.pipeline.output.safe_files import write_named
from rutter.pipeline.queries.workflows_and_sessions import project
from rutter.replay.accuracy.reliability import (
    Reliability,
    ReliabilityBin,
    advice,
    apart,
    calibrated,
    counted,
)
from rutter.replay.accuracy.threshold_curve import ThresholdPoint, curve
from rutter.replay.documents.reliability_chart import draw
from rutter.replay.projections import ProjectionStore
from rutter.replay.projections.calibration import ExecutionCounts, executions, models, settled
from rutter.replay.projections.metrics import snapshot
from rutter.replay.projections.model_calls import spending
from rutter.replay.story.advice import money

BAR = 20  # characters from 0 to 1
NONE_YET = "no prediction was put to the test yet"
TO_TEST = (
    "do something a second time that it has seen once: rutter record NAME --url URL; what it "
    "expects is compared with what is done"
)


class Measured(msgspec.Struct, frozen=True):
    """Measures say how sure one model was and how right; what was done because of it is counted
    apart. `now` is what the threshold that is set would have come to, if it is this model's."""

    model: str | None
    models: dict[str, int]
    found: Reliability
    now: ThresholdPoint | None
    alone: ExecutionCounts
    approved: ExecutionCounts

    def as_json(self) -> dict[str, object]:
        done = {"alone": self.alone, "approved": self.approved}
        told = {"model": self.model, "models": self.models, "executions": done, "now": self.now}
        return told | msgspec.structs.asdict(self.found)


def metrics(options: Options, settings: Settings, terminal: Terminal) -> None:
    rate = _error_rate(options.error_rate)
    _check_picture(options.picture)
    with project(settings) as store:
        seeds = snapshot(store.db)
        asked = spending(store.db)
        sure = _measured(store, options.model, settings, rate)
    if options.picture is not None:
        if not sure.found.predictions:
            raise BadInput(f"there is nothing to draw: {NONE_YET}", TO_TEST)
        write_named(options.picture, draw(sure.found, sure.model or ""), "--picture")
    terminal.answer(seeds | {"models": asked, "calibration": sure.as_json()})
    terminal.say(*_in_words(seeds), "")
    terminal.table(("metric", "value"), ((k, f"{v:g}") for k, v in seeds.items()))
    _show_spending(asked, terminal)
    _show_measured(sure, settings, terminal)
    if options.picture is not None:
        terminal.say(f"[OK] {options.picture}")


def _in_words(seeds: Mapping[str, float | int]) -> Iterator[str]:
    """How many steps worked, and how well the next step was foreseen: two things, one after the
    other."""
    done, worked = seeds["total_executions"], seeds["successful_executions"]
    share = f" ({worked / done:.1%})" if done else ""
    yield f"Steps that Rutter did: {done:g}. Of these, {worked:g} worked{share}."
    foreseen, right = seeds["total_predictions"], seeds["correct_predictions"]
    if foreseen:
        told = f"Next steps that it predicted before they were done: {foreseen:g}."
        yield f"{told} Right: {right:g} ({right / foreseen:.1%})."
    if refused := seeds["unsafe_filtered"]:
        yield f"Steps that the rules did not allow: {refused:g}."


def show_thresholds(points: Sequence[ThresholdPoint], terminal: Terminal) -> None:
    """What acting from each threshold on would have come to, as a table."""
    terminal.show_rows(
        points,
        {
            "threshold": lambda point: f"{point.threshold:.2f}",
            "acts": "acted",
            "right": "correct",
            "wrong": "wrong",
            "coverage": lambda point: f"{point.coverage:.3f}",
            "accuracy": lambda point: f"{point.accuracy:.3f}" if point.acted else "-",
        },
    )


def _error_rate(said: str) -> int:
    """In millionths. None wrong at all is no rate: no number of cases can promise it."""
    try:
        rate = float(said)
    except ValueError:
        rate = -1.0
    if not 1 / MILLION <= rate < 1:  # which nan is not either
        raise BadInput(
            f"{said!r} is no share of what may be wrong",
            "give --error-rate above 0 and below 1: 0.05 is one in twenty",
        )
    return round(rate * MILLION)


def _measured(store: ProjectionStore, named: str | None, settings: Settings, rate: int) -> Measured:
    """Of the model that was named; else of the one that runs go by, or that was asked last."""
    known = models(store.db)
    if named is not None and named not in known:
        told = ", ".join(f"{name} ({count})" for name, count in known.items())
        raise BadInput(
            f"no prediction of a model {named!r} was put to the test yet",
            f"it has: {told}" if told else TO_TEST,
        )
    own = settings.config.sureness
    model = named or (own.predictor if own.predictor in known else next(iter(known), None))
    said = settled(store.db, model or "")
    now = curve(said, [own.threshold]) if model == own.predictor and said else ()
    return Measured(
        model=model,
        models=known,
        found=calibrated(said, rate),
        now=next(iter(now), None),
        alone=executions(store.db, model or "", asked=False),
        approved=executions(store.db, model or "", asked=True),
    )


def _check_picture(picture: Path | None) -> None:
    """What another kind of file is called is opened as that, and found broken."""
    if picture is not None and picture.suffix.lower() != ".svg":
        raise BadInput(
            f"the picture is drawn as SVG, and {picture} does not end in .svg",
            f"give --picture {picture.with_suffix('.svg') if picture.name else 'FILE.svg'}",
        )


def _show_spending(asked: dict[str, Any], terminal: Terminal) -> None:
    steps = ", ".join(f"{count} {driver}" for driver, count in asked["steps_by_driver"].items())
    rate = asked["hit_rate"]
    hits = "" if rate is None else f"; {rate:.1%} took no model"
    terminal.say(f"steps by driver: {steps}{hits}")
    if not asked["calls"]:
        terminal.say("no language model was asked")
        return
    counts = ("calls", "failed", "input_tokens", "output_tokens", "cached_tokens", "unpriced")
    columns = itemgetter("provider", "model", *counts)
    rows = (*asked["providers"], {"provider": "all", "model": "", **asked})
    terminal.table(
        ("provider", "model", "calls", "failed", "in", "out", "cached", "unpriced", "cost", "ms"),
        ((*columns(row), money(row["cost_microdollars"]), row["took_ms"]) for row in rows),
    )


def _show_measured(sure: Measured, settings: Settings, terminal: Terminal) -> None:
    found = sure.found
    if found.predictions:
        terminal.say(f"\nhow sure {sure.model} was, and how right ({counted(found)})")
        terminal.show_rows(
            [each for each in found.bins if each.count],
            {
                "sure": lambda each: f"{each.since:.1f} to {each.until:.1f}",
                "count": "count",
                "said": lambda each: f"{each.said:.3f}",
                "right": lambda each: f"{each.right:.3f}",
                "95% within": lambda each: f"{each.at_least:.2f} to {each.at_most:.2f}",
                "# right, | said": _bar,
            },
        )
        terminal.say(apart(found))
        terminal.say("\nwhat each threshold would have done")
        show_thresholds(found.curve[::2], terminal)
        headline, grounds = advice(found)
        terminal.say(f"{headline} ({grounds})")
        if (now := sure.now) is not None:
            wrong = f", {now.wrong} wrong ({now.wrong / now.acted:.1%})" if now.acted else ""
            would = f"it would have acted on {now.acted}{wrong}"
            terminal.say(f"now run.threshold is {now.threshold:.2f}: {would}")
    else:
        terminal.say(f"\n{NONE_YET}: {TO_TEST}")
    for said, done in (("alone", sure.alone), ("after a person said yes", sure.approved)):
        if done.acted:
            terminal.say(
                f"acted on predictions {said}: {done.acted}, confirmed {done.confirmed}, wrong "
                f"{done.wrong}, without a verdict {done.unjudged}; not counted above"
            )
    for name, count in sure.models.items():
        if name != sure.model and count:
            terminal.say(f"{count} more by {name}: {settings.command(f'metrics --model {name}')}")


def _bar(each: ReliabilityBin) -> str:
    """How much of it was right, with a mark at what was said."""
    bar = "#" * round(each.right * BAR)
    mark = min(int(each.said * BAR), BAR - 1)
    cells = list(f"{bar:.<{BAR}}")
    cells[mark] = "|"
    return "".join(cells)
