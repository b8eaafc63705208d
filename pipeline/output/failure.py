"""A failure is told so that one knows what to do next. It names the step, the reason, what was
looked for and what was found instead, where it was, the picture, and the next command.

All of it follows from the log, so a run, `rutter show` and the daemon tell the same, now and later.
"""

import shlex
from collections.abc import Iterator
from pathlib import Path

import msgspec

from rutter.pipeline.config.settings import Settings
from rutter.pipeline.config.thresholds import Thresholds
from rutter.pipeline.output.next_command import LONGER_S, MOST_S, advise
from rutter.pipeline.output.proof_words import unproven_step
from rutter.pipeline.upkeep.artifact_survey import where_is
from rutter.replay.story.told_session import StepStory, Story, as_json
from rutter.replay.story.what_happened import Trouble, what_happened
from rutter.replay.story.wording import printable, quoted

BY_WORDS = ("alert", "page_state", "text_visible")  # checks of what a page says, and says otherwise
MOST_VALUES, LONGEST = 3, 30  # values in a title, and characters of one
ENDED = {"completed": "done", "cancelled": "stopped", "erased": "erased", "running": "not over"}
SAYS_NOTHING = ("completed", "running", "erased")
# States in which a page is no place for the step, in words (the others say themselves what to do).
STATES = {"LOGIN_REQUIRED": "it asks to sign in", "FAILED": "it says that something failed"}


class FailureAdvice(msgspec.Struct, frozen=True, omit_defaults=True):
    """`reason` is one sentence with the values in it, `trouble` what a person would do about it,
    `done` what stays done all the same. `why` is as it was decided. `page` is where it was,
    `expected` where it should have been. `next` says what to do, with a command."""

    reason: str
    trouble: Trouble = "other"
    done: str = ""
    why: tuple[str, ...] = ()
    step: str = ""
    words: str = ""
    looked_for: tuple[str, ...] = ()
    instead: tuple[str, ...] = ()
    page: str = ""
    state: str = ""
    expected: str = ""
    says: str = ""
    unknown: str = ""
    screenshot: str = ""
    next: str = ""
    also: str = ""


def lesson_of(
    story: Story, settings: Settings, sure: Thresholds | None = None
) -> FailureAdvice | None:
    """Nothing, for a session that is done, runs, was erased, or was only tried and stopped where it
    should."""
    if story.reason in SAYS_NOTHING or story.cause.kind == "dry_run":
        return None
    return teach(story, settings, sure)


def teach(story: Story, settings: Settings, sure: Thresholds | None = None) -> FailureAdvice:
    """Of any session that is not done, whatever it says of itself."""
    last = unproven_step(story) or (story.steps[-1] if story.steps else None)
    picture, happened = story.screenshot, what_happened(story)
    return FailureAdvice(
        reason=happened.sentence,
        trouble=happened.trouble,
        done=_done_before(story),
        why=tuple(reasons(story)),
        step=numbered(last) if last else "",
        words=last.words if last else "",
        looked_for=tuple(last.looked_for) if last else (),
        instead=tuple(last.instead) if last else (),
        page=story.page,
        state=story.barrier or STATES.get(story.state, ""),
        expected=story.expected,
        says=said_by_page(last) if last else "",
        unknown=story.unknown,
        screenshot=where_is(picture, story, settings.directory) if picture is not None else "",
        next=advise(story, settings, sure),
        also=_also(story, last, settings),
    )


def title(story: Story, *, values: bool = True) -> str:
    """What was run, with the values that it was given: `invoice (number INV-1043)`."""
    given = _given(story) if values else ""
    if story.led:
        return f"{story.name} to the goal {quoted(story.goal)}{given}"
    what = {"free": "the free run", "record": f"recording {story.name}", "tools": "the session"}
    return f"{what.get(story.purpose, story.name or 'the run')}{given}"


def _given(story: Story) -> str:
    values = [f"{name} {_short(value)}" for name, value in story.values.items() if value]
    more = [f"{len(values) - MOST_VALUES} more"] if len(values) > MOST_VALUES else []
    return f" ({', '.join([*values[:MOST_VALUES], *more])})" if values else ""


def ended_in_words(story: Story) -> str:
    """How it ended, in a word or two."""
    if story.reason == "completed_unverified":
        return "not sure whether it worked"
    return ENDED.get(story.reason, "not finished")


def _short(value: str) -> str:
    plain = " ".join(value.split())
    return printable(plain if len(plain) <= LONGEST else plain[: LONGEST - 3] + "...")


def with_picture(lesson: FailureAdvice, story: Story, settings: Settings) -> FailureAdvice:
    """The lesson with its picture under a name that can be opened as one."""
    place = Path(lesson.screenshot)
    if not lesson.screenshot or not place.is_absolute():  # expired, or no artifact
        return lesson
    link = settings.directory.picture(story.session, place)
    return msgspec.structs.replace(lesson, screenshot=str(link))


def lesson_lines(lesson: FailureAdvice, *, verbose: bool = False) -> Iterator[str]:
    """What happened, and the picture; with `verbose` why, what was looked for, and where."""
    yield lesson.reason
    if lesson.done:
        yield lesson.done
    if verbose:
        yield from _reasons_in_full(lesson)
    if lesson.screenshot:
        yield f"Picture of the page: {lesson.screenshot}"


def _reasons_in_full(lesson: FailureAdvice) -> Iterator[str]:
    yield from lesson.why
    if lesson.looked_for:
        for each in lesson.looked_for:
            yield f"looked for {each}"
        for each in lesson.instead:
            yield f"found instead: {each}"
        if not lesson.instead:
            yield "found instead: nothing that is like it"
    if lesson.page:
        state = f"; {lesson.state}" if lesson.state else ""
        yield f"the page was: {lesson.page}{state}"
    if lesson.expected:
        yield f"it should have been: {lesson.expected}"
    if lesson.says:
        yield f"the page says: {lesson.says}"
    if lesson.unknown:
        yield f"the outcome of the last step is unknown: {lesson.unknown}"
    if lesson.also:
        yield lesson.also


def told(story: Story, settings: Settings, sure: Thresholds | None = None) -> dict[str, object]:
    """The story for machines, with what there is to learn from it."""
    lesson = lesson_of(story, settings, sure)
    built = as_json(story)
    return built if lesson is None else {**built, "lesson": msgspec.to_builtins(lesson)}


def _done_before(story: Story) -> str:
    """What was sent before the step that failed, and is known to have worked."""
    done = [each for each in story.steps[:-1] if each.proof and each.done]
    if story.reason in ("cancelled", "interrupted", "completed_unverified") or not done:
        return ""
    named = [f'"{each.element}" (step {numbered(each)})' for each in done if each.element]
    return f"Done before that, and stays done: {', '.join(named)}." if named else ""


def reasons(story: Story) -> Iterator[str]:
    """Why it ended; all who did not answer, and what of the end was not on the page."""
    if story.gave_up:
        yield f"why: the model gave up: it says {quoted(story.gave_up)}"
        return
    why = story.detail
    if story.failure == "model_unavailable":
        failed = story.unanswered
        told = next(
            (each.provider for each in reversed(story.calls) if each.provider in failed), ""
        )
        others = [f"{who}: {call.wrong}" for who, call in failed.items() if who != told]
        why = "; ".join([why, *others])
    yield f"why: {why}"
    if story.unmet and story.reason != "completed" and story.unmet not in why:
        yield f"it was said to be done, but {story.unmet}"


def numbered(step: StepStory) -> str:
    """The number that `workflows show` gives the step, where it is one of a workflow."""
    return str(step.index + 1 if step.source == "workflow" else step.step)


def said_by_page(step: StepStory) -> str:
    """What the page showed where a step did not come to what was expected."""
    if step.verdict in ("", "confirmed", "answered", "passed_over"):
        return ""
    doubtful = [each.sample for each in step.evidence if each.confidence < 1 and each.sample]
    return doubtful[-1] if doubtful else ""


def _also(story: Story, step: StepStory | None, settings: Settings) -> str:
    """Where a notice, a state or a text alone decided against a step of a workflow, or its element
    was waited for as long as it may be."""
    if step is not None and step.waited_ms and step.verdict != "passed_over":
        return _longer(story, step, settings)
    if step is None or not story.name or step.source != "workflow":
        return ""
    if step.code not in BY_WORDS:
        return ""
    edit = f"workflows edit {shlex.quote(story.name)} --no-expect {numbered(step)}"
    return f"if the step worked and only its words changed: {settings.command(edit)}"


def _longer(story: Story, step: StepStory, settings: Settings) -> str:
    """Which setting makes it wait longer."""
    seconds = max(LONGER_S, 3 * -(-step.waited_ms // 1000))
    name = shlex.quote(story.name or "NAME")
    verb = {"run": "run", "record": "record"}.get(story.purpose, "")
    if not verb or story.led:
        return "if the page only needs longer: raise run.resolve_ms in the configuration"
    flag = f"{verb} {name}{' ...' * (verb == 'record')} --patience {min(seconds, MOST_S)}s"
    return f"if the page only needs longer: {settings.command(flag)}"
