"""The commands that read: they work beside a running process and never write the log."""

import argparse
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import msgspec

from events.envelope import Envelope
from events.errors import BadInput
from events.faults import fault_of
from events.sqlite_reader import SqliteReader
from pipeline.cli.terminal import Terminal
from pipeline.hindsight import events_about
from pipeline.kept_files import where_is
from pipeline.known import find_session, project
from pipeline.lessons import lesson_lines, lesson_of, told
from pipeline.settings import Settings
from replay.story.advice import spent_in_words
from replay.story.results import rows_in_words
from replay.story.session_story import StepStory, Story, tell
from replay.story.step_details import details, unjudged

GOAL = 40  # characters of a goal in a table


def sessions(options: argparse.Namespace, settings: Settings, terminal: Terminal) -> int:
    with project(settings) as store:
        rows = store.rows("SELECT * FROM sessions ORDER BY seq DESC LIMIT ?", options.last)
        found = store.db.execute(
            "SELECT run_id FROM step_trace WHERE status = 'unknown' "
            "OR policy_flags LIKE '%\"irreversible\"%'"
        )
        sent = {session for (session,) in found}
    if terminal.as_json:
        terminal.json([row | _fault(row, sent=row["session"] in sent) for row in rows])
        return 0
    if not rows:
        terminal.say("no sessions yet")
        return 0
    terminal.table(
        ("session", "what", "started", "done/proposed", "took", "end"),
        (
            (
                row["session"],
                " ".join(filter(None, (row["purpose"], row["name"], _goal(row["goal"])))),
                when(row["started_ns"]),
                f"{row['done']}/{row['proposed']}",
                f"{(row['ended_ns'] - row['started_ns']) / 1e9:.1f} s" if row["ended_ns"] else "-",
                _end(row),
            )
            for row in rows
        ),
    )
    return 0


def _end(row: dict[str, Any]) -> str:
    now = "running" if row["paused"] is None else "paused"
    end = f"{row['reason'] or now} {row['failure'] or ''}".strip()
    return f"{end}, forgotten" if row["forgotten_ns"] is not None else end


def _goal(goal: str) -> str:
    """In a column: its beginning."""
    return f"({goal if len(goal) <= GOAL else goal[: GOAL - 3] + '...'})" if goal else ""


def _fault(row: dict[str, Any], *, sent: bool) -> dict[str, object]:
    """Of a session that did not come to its end: what kind of failure it was, and what to do."""
    fault = fault_of(row["reason"] or "", row["failure"] or "", sent=sent)
    return fault._asdict() if fault.error_code else {}


def show(options: argparse.Namespace, settings: Settings, terminal: Terminal) -> int:
    session = find_session(settings, options.session)
    with SqliteReader(settings.directory.log) as reader:
        events = list(reader.read(session=session))
        since = [*events_about(reader, session)]
    story = tell([*events, *since] if options.at is None else _until(events, options.at))
    if terminal.as_json:
        terminal.json(told(story, settings))
    else:
        _show_story(story, settings, terminal)
    return 0


def transitions(options: argparse.Namespace, settings: Settings, terminal: Terminal) -> int:
    with project(settings) as store:
        rows = store.rows(
            "SELECT from_action, to_action, count, by_person, by_agent "
            "FROM transitions_first_order ORDER BY count DESC, from_action, to_action LIMIT ?",
            options.top,
        )
    if terminal.as_json:
        terminal.json(rows)
    elif not rows:
        terminal.say("nothing learned yet")
    else:
        terminal.table(
            ("count", "by person", "by agent", "from", "to"),
            (
                (
                    *(str(row[name]) for name in ("count", "by_person", "by_agent")),
                    row["from_action"],
                    row["to_action"],
                )
                for row in rows
            ),
        )
    return 0


def when(ns: int) -> str:
    return datetime.fromtimestamp(ns / 1e9, UTC).strftime("%Y-%m-%d %H:%M:%S")


def _until(events: list[Envelope], at: int) -> list[Envelope]:
    if not 1 <= at <= len(events):
        raise BadInput(f"the session has events 1 to {len(events)}", "give --at within them")
    return [envelope for envelope in events if envelope.n <= at]


def _show_story(story: Story, settings: Settings, terminal: Terminal) -> None:
    version = f" version {story.version}" if story.version else ""
    dry = " (dry run)" if story.dry_run else ""
    terminal.say(f"{story.session}: {story.purpose} {story.name}{version}{dry}")
    if story.goal:
        terminal.say(f"goal: {story.goal}")
    terminal.say(f"started {when(story.started_ns)} UTC, took {story.took_ms / 1000:.2f} s")
    for name, value in story.values.items():
        terminal.say(f"  {name} = {value}")
    for login in story.logins:
        terminal.say(f"login: {login}")
    for pause in story.pauses:
        terminal.say(f"  {pause}")
    for step in story.steps:
        for line in _step_lines(step):
            terminal.say(line)
    for advice in story.advice:
        terminal.say(f"advice that led to no step: {advice}")
    for name, value in story.results.items():
        rows = story.tables.get(name)
        terminal.say(f"result: {name} = {value if rows is None else rows_in_words(rows)}")
    if story.state and story.state != "UNKNOWN":
        terminal.say(f"state: {story.state}")
    _show_end(story, settings, terminal)


def _show_end(story: Story, settings: Settings, terminal: Terminal) -> None:
    failure = f" ({story.failure})" if story.failure else ""
    terminal.say(f"end: {story.reason}{failure}: {story.detail}")
    if story.model_calls:
        spent = (story.model_calls, story.tokens, story.cost_microdollars, story.unpriced)
        terminal.say(f"asked: {spent_in_words(*spent)}")
    if story.unknown:
        terminal.say(f"outcome unknown: {story.unknown}")
    if story.forgotten is not None:
        why = f" ({story.forgotten})" if story.forgotten else ""
        terminal.say(f"forgotten{why}: what it taught no longer counts")
    if story.erased:
        terminal.say(
            f"{story.erased} of its {story.events} payloads were erased: "
            "it can no longer be derived again"
        )
    lesson = lesson_of(story, settings)
    if lesson is not None:  # why, and that an outcome is unknown, stands above
        above = msgspec.structs.replace(lesson, why=(), unknown="")
        for line in lesson_lines(above):
            terminal.say(line)
        terminal.say(f"next: {lesson.next}")
    elif story.screenshot is not None:
        terminal.say(f"screenshot: {where_is(story.screenshot, story, settings.directory)}")


def _step_lines(step: StepStory, indent: str = "") -> Iterator[str]:
    """What was done and what came of it; below it why, how, and on what evidence; and below that
    the looks whether it really worked."""
    well = step.done or step.verdict == "passed_over"
    mark = "[OK]  " if well else "[FAIL]" if step.verdict else "[..]  "
    again = f" (try {step.attempts})" if step.attempts > 1 else ""
    reason = f": {step.reason}" if step.reason else ""
    verdict = f"{step.verdict}{reason}" if step.verdict else unjudged(step)
    number = f"{step.step:3}" if step.step else "  -"
    yield f"{indent}{mark} {number}  {step.words}{again}  {verdict}  {step.took_ms:.0f} ms"
    for detail in details(step):
        yield f"{indent}            {detail}"
    for look in step.read_backs:
        yield from _step_lines(look, indent + "    ")
