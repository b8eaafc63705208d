"""`rutter workflows suggest` finds what was done again and again, and the command that records
it."""

from collections.abc import Iterator

import msgspec

from rutter.events.sqlite_reader import SqliteReader
from rutter.pipeline.cli.terminal import Options, Terminal
from rutter.pipeline.config.settings import Settings
from rutter.replay.habits.habits import Habit, habits
from rutter.replay.habits.sequences import KINDS

SHOWN = 10  # on a terminal; --json has them all


def suggest(options: Options, settings: Settings, terminal: Terminal) -> None:
    with SqliteReader(settings.directory.log) as reader, reader.snapshot():
        found = habits(reader.read(kinds=KINDS), options.least)
    commands = [settings.command(habit.record) for habit in found]
    pairs = list(zip(found, commands, strict=True))
    terminal.answer([msgspec.to_builtins(habit) | {"record": command} for habit, command in pairs])
    for habit, command in pairs[:SHOWN]:
        terminal.say(*_lines(habit, command))
    if len(found) > SHOWN:
        terminal.say(
            f"and {len(found) - SHOWN} more: {settings.command('workflows suggest --json')}"
        )
    if not found:
        least = options.least
        twice = f"what was done twice: {settings.command('workflows suggest --least 2')}"
        once = f"to name one, do it once: {settings.command('record NAME --url URL')}"
        hint = twice if least > 2 else once
        terminal.say(f"nothing was done {least} times that is not a workflow already; {hint}")


def _lines(habit: Habit, command: str) -> Iterator[str]:
    yield f"{_told(habit)}: {habit.name}"
    for number, step in enumerate(habit.steps, 1):
        yield f"{number:4}  {step}"
    for each in habit.parameters:
        examples = ", ".join(map(repr, each.examples))
        yield f"      {each.name} varies" + (f": {examples}" if examples else "")
    yield f"      to record it, do it once more: {command}"
    yield ""


def _told(habit: Habit) -> str:
    where = "one session" if habit.sessions == 1 else f"{habit.sessions} sessions"
    if habit.by_person == habit.times:
        return f"you did this {habit.times} times in {where}"
    by_person = f", {habit.by_person} of them by you" if habit.by_person else ""
    return f"this was done {habit.times} times in {where}{by_person}"
