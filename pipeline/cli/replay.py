"""`rutter replay` decides a session again, as it was or under another configuration."""

from collections.abc import Iterable, Iterator
from operator import attrgetter
from pathlib import Path

import msgspec

from rutter.events.envelope import Envelope
from rutter.events.sqlite_reader import SqliteReader
from rutter.pipeline.cli.metrics import show_thresholds
from rutter.pipeline.cli.options import share
from rutter.pipeline.cli.terminal import Options, Terminal
from rutter.pipeline.config.exit_codes import Exit
from rutter.pipeline.config.settings import Settings
from rutter.pipeline.output.safe_files import write_named
from rutter.pipeline.queries.look_back import events_behind
from rutter.pipeline.queries.workflows_and_sessions import find_session
from rutter.replay.accuracy.threshold_curve import STEPS, curve
from rutter.replay.documents.threshold_chart import draw
from rutter.replay.verify import Divergence, Verification, verify
from rutter.replay.whatif import ChangedSettings, WhatIf, ask, read_change

SHOWN = 40  # differences on a terminal; --json has them all


def replay(options: Options, settings: Settings, terminal: Terminal) -> int:
    """Derives every decision again; with a what-if file, under another configuration."""
    only = find_session(settings, options.session) if options.session else None
    change = _change(options)
    asks = change is not None or options.curve is not None
    with SqliteReader(settings.directory.log) as reader:
        what = "asking" if asks else "deciding again"
        read = reader.read() if only is None else events_behind(reader, only)
        events = _watched(terminal, read, reader.last_seq(), what)
        if not asks:
            return _verified(verify(events, only), terminal)
        _answer(ask(events, change or ChangedSettings(), only), options.curve, terminal)
    return Exit.DONE


def _change(options: Options) -> ChangedSettings | None:
    """What the file says is different, and above it the flags; nothing, where neither does."""
    names = ("predictor", "threshold", "suggest")
    for name in names[1:]:
        share(options, name)
    said = {name: value for name in names if (value := getattr(options, name)) is not None}
    if options.what_if is None:
        return ChangedSettings(**said) if said else None
    return msgspec.structs.replace(read_change(options.what_if), **said)


def _watched(
    terminal: Terminal, events: Iterable[Envelope], last: int, what: str
) -> Iterator[Envelope]:
    """The events, with a moving line on a terminal."""
    if not terminal.err.is_terminal:
        yield from events
        return
    with terminal.err.status(what) as status:
        for count, envelope in enumerate(events):
            if count % 5_000 == 0:
                status.update(f"{what}  {envelope.seq}/{last}")
            yield envelope


def _verified(report: Verification, terminal: Terminal) -> int:
    if terminal.as_json:
        terminal.json(report)
    elif report.divergence is None:
        terminal.say(
            f"[OK] {report.decisions} decisions of {report.sessions} sessions derived again from "
            f"{report.events} events: no divergence"
        )
    else:
        _diverged(report.divergence, terminal)
    if report.other_logic:
        terminal.say_below(f"{report.other_logic} sessions were made by another logic: not judged")
    if report.erased:
        terminal.say_below(
            f"{report.erased} sessions can no longer be derived again: payloads were erased"
        )
    return Exit.DONE if report.ok else Exit.DIVERGED


def _diverged(found: Divergence, terminal: Terminal) -> None:
    terminal.say(f"[FAIL] {found.actor} differs at position {found.seq}")
    terminal.say_below(
        f"session {found.session}, event {found.n}, field {found.field}",
        f"recorded: {found.recorded}",
        f"derived:  {found.derived}",
        *(f"because of {cause}" for cause in found.causes),
    )


def _answer(answer: WhatIf, picture: Path | None, terminal: Terminal) -> None:
    points = curve(answer.predictions)
    if picture is not None and answer.predictions:
        write_named(picture, draw(points, len(answer.predictions)), "--curve")
    terminal.answer({"answer": answer, "curve": points})
    terminal.say(
        f"{len(answer.differences)} of {answer.turns} turns would differ: "
        f"{answer.count('gained')} executions gained, {answer.count('lost')} lost, of which "
        f"{answer.count('lost', wrong=True)} had gone wrong"
    )
    more, fewer = answer.calls()
    if more or fewer:
        terminal.say(f"{more} model calls more and {fewer} fewer would have been asked for")
    if answer.differences:
        names = ("session", "step", "recorded", "instead", "effect", "outcome")
        shown = map(attrgetter("seq", *names), answer.differences[:SHOWN])
        terminal.table(("position", *names), shown)
    if len(answer.differences) > SHOWN:
        terminal.say(f"and {len(answer.differences) - SHOWN} more: see --json")
    _curve(answer, terminal)
    if picture is not None and answer.predictions:
        terminal.say(f"[OK] {picture}")


def _curve(answer: WhatIf, terminal: Terminal) -> None:
    if not answer.predictions:
        terminal.say("no predictions were followed by a confirmed action: nothing to draw")
        return
    terminal.say(f"\nwhat each threshold would have done ({len(answer.predictions)} predictions)")
    show_thresholds(curve(answer.predictions, STEPS[::2]), terminal)
