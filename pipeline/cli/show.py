"""`rutter show` tells one session step by step, beside a running process."""

from collections.abc import Iterator

import msgspec

from rutter.events.errors import BadInput
from rutter.events.sqlite_reader import SqliteReader
from rutter.pipeline.cli.terminal import Options, Terminal, when
from rutter.pipeline.config.settings import Settings
from rutter.pipeline.output.failure import lesson_lines, lesson_of, told
from rutter.pipeline.queries.look_back import events_about
from rutter.pipeline.queries.workflows_and_sessions import find_session
from rutter.pipeline.upkeep.artifact_survey import where_is
from rutter.replay.story.advice import spent_in_words
from rutter.replay.story.results import rows_in_words
from rutter.replay.story.session_story import tell
from rutter.replay.story.step_details import details, unjudged
from rutter.replay.story.told_session import StepStory, Story


def show(options: Options, settings: Settings, terminal: Terminal) -> None:
    session = find_session(settings, options.session)
    with SqliteReader(settings.directory.log) as reader:
        events = list(reader.read(session=session))
        since = [*events_about(reader, session)]
    if options.at is None:
        events += since
    elif not 1 <= options.at <= len(events):
        raise BadInput(f"the session has events 1 to {len(events)}", "give --at within them")
    else:
        events = [envelope for envelope in events if envelope.n <= options.at]
    story = tell(events)
    if terminal.as_json:
        terminal.json(told(story, settings))
    else:
        _show_story(story, settings, terminal)


def _show_story(story: Story, settings: Settings, terminal: Terminal) -> None:
    version = f" version {story.version}" if story.version else ""
    dry = " (dry run)" if story.dry_run else ""
    terminal.say(f"{story.session}: {story.purpose} {story.name}{version}{dry}")
    if story.goal:
        terminal.say(f"goal: {story.goal}")
    terminal.say(f"started {when(story.started_ns)} UTC, took {story.took_ms / 1000:.2f} s")
    terminal.say(*(f"  {name} = {value}" for name, value in story.values.items()))
    terminal.say(*(f"login: {login}" for login in story.logins))
    terminal.say(*(f"  {pause}" for pause in story.pauses))
    terminal.say(*(line for step in story.steps for line in _step_lines(step)))
    terminal.say(*(f"advice that led to no step: {advice}" for advice in story.advice))
    for name, value in story.results.items():
        rows = story.tables.get(name)
        terminal.say(f"result: {name} = {value if rows is None else rows_in_words(rows)}")
    if story.state and story.state != "UNKNOWN":
        terminal.say(f"state: {story.state}")
    if story.barrier:
        terminal.say(f"barrier: {story.barrier}")
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
        terminal.say(*lesson_lines(above))
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
