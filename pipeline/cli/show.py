"""`rutter show` tells one session step by step, beside a running process."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from rutter.events.errors import BadInput
from rutter.events.sqlite_reader import SqliteReader
from rutter.pipeline.cli.terminal import Options, Terminal, when
from rutter.pipeline.config.settings import Settings
from rutter.pipeline.output.failure import (
    ended_in_words,
    lesson_lines,
    lesson_of,
    numbered,
    title,
    told,
    with_picture,
)
from rutter.pipeline.queries.look_back import events_about
from rutter.pipeline.queries.workflows_and_sessions import find_session
from rutter.pipeline.upkeep.artifact_survey import where_is
from rutter.replay.story.advice import spent_in_words
from rutter.replay.story.results import rows_in_words
from rutter.replay.story.session_story import tell
from rutter.replay.story.step_details import details, unjudged
from rutter.replay.story.told_session import StepStory, Story
from rutter.replay.story.wording import with_values

SLOW_MS = 1_000  # from here on it is said how long a step took


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
    """What it did, with which values, and what came of it; with `--verbose` why, and on what
    evidence."""
    dry = " (only tried)" if story.dry_run else ""
    terminal.say(f"{title(story, values=False)}: {ended_in_words(story)}{dry}")
    took = f", took {story.took_ms / 1000:.1f} s" if story.ended_ns else ""
    version = f", version {story.version}" if story.version else ""
    terminal.say(f"{when(story.started_ns)} UTC{took}{version} ({story.session})")
    if story.goal:
        terminal.say(f"goal: {story.goal}")
    terminal.say(*(f"  {name} = {value}" for name, value in story.values.items()))
    terminal.say(*(f"  {login}" for login in story.logins))
    terminal.say(*(f"  {pause}" for pause in story.pauses))
    for step in story.steps:
        if terminal.verbose:
            terminal.say(*_step_in_full(step))
        else:
            terminal.say(_step_line(step, story.values))
    if terminal.verbose:
        terminal.say(*(f"advice that led to no step: {advice}" for advice in story.advice))
    for name, value in story.results.items():
        rows = story.tables.get(name)
        terminal.say(f"result: {name} = {value if rows is None else rows_in_words(rows)}")
    if terminal.verbose:
        _show_state(story, terminal)
    _show_end(story, settings, terminal)


def _show_state(story: Story, terminal: Terminal) -> None:
    """What the page was at the end, and the end as it was decided."""
    if story.state and story.state != "UNKNOWN":
        terminal.say(f"state: {story.state}")
    if story.barrier:
        terminal.say(f"barrier: {story.barrier}")
    failure = f" ({story.failure})" if story.failure else ""
    terminal.say(f"end: {story.reason}{failure}: {story.detail}")


def _show_end(story: Story, settings: Settings, terminal: Terminal) -> None:
    if story.model_calls:
        spent = (story.model_calls, story.tokens, story.cost_microdollars, story.unpriced)
        terminal.say(f"asked: {spent_in_words(*spent)}")
    if story.forgotten is not None:
        why = f" ({story.forgotten})" if story.forgotten else ""
        terminal.say(f"forgotten{why}: what it taught no longer counts")
    if story.erased:
        terminal.say(
            f"{story.erased} of its {story.events} payloads were erased: "
            "it can no longer be derived again"
        )
    lesson = lesson_of(story, settings)
    if lesson is not None:
        lesson = with_picture(lesson, story, settings)
        above = msgspec.structs.replace(lesson, why=()) if terminal.verbose else lesson
        terminal.say(*lesson_lines(above, verbose=terminal.verbose))
        terminal.say(lesson.next)
    elif story.screenshot is not None:
        place = where_is(story.screenshot, story, settings.directory)
        link = settings.directory.picture(story.session, Path(place))
        terminal.say(f"Picture of the page: {link if Path(place).is_absolute() else place}")
    if not terminal.verbose:
        command = f"show {story.session} --verbose"
        terminal.say(f"Why each step was done, and on what evidence: {settings.command(command)}")


def _step_line(step: StepStory, values: Mapping[str, str]) -> str:
    """What was done and whether it worked, with the values in it."""
    took = f"  {step.took_ms / 1000:.1f} s" if step.took_ms >= SLOW_MS else ""
    passed = "  (not needed this time)" if step.verdict == "passed_over" else ""
    asked = f"  asked: {step.asked}" if step.asked else ""
    return f"{_marked(step)}  {with_values(step.words, values)}{passed}{asked}{took}"


def _marked(step: StepStory, *, look: bool = False) -> str:
    """A look whether a step worked is none of the steps that are counted."""
    well = step.done or step.verdict == "passed_over"
    mark = "[OK]  " if well else "[FAIL]" if step.verdict else "[..]  "
    return f"{mark} {numbered(step) if step.step and not look else '-':>3}"


def _step_in_full(step: StepStory, indent: str = "") -> Iterator[str]:
    """What was done and what came of it; below it why, how, and on what evidence; and below that
    the looks whether it really worked."""
    again = f" (try {step.attempts})" if step.attempts > 1 else ""
    reason = f": {step.reason}" if step.reason else ""
    verdict = f"{step.verdict}{reason}" if step.verdict else unjudged(step)
    marked = _marked(step, look=bool(indent))
    yield f"{indent}{marked}  {step.words}{again}  {verdict}  {step.took_ms:.0f} ms"
    for detail in details(step):
        yield f"{indent}            {detail}"
    for look in step.read_backs:
        yield from _step_in_full(look, indent + "    ")
