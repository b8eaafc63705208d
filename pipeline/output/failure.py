"""A failure is told so that one knows what to do next. It names the step, the reason, what was
looked for and what was found instead, where it was, the picture, and the next command.

All of it follows from the log, so a run, `rutter show` and the daemon tell the same, now and later.
"""

import shlex
from collections.abc import Iterator

import msgspec

from rutter.events.faults import fault_of
from rutter.pipeline.config.settings import Settings
from rutter.pipeline.config.thresholds import Thresholds
from rutter.pipeline.output.next_command import advise
from rutter.pipeline.output.proof_words import unproven_in_words, unproven_step
from rutter.pipeline.upkeep.artifact_survey import where_is
from rutter.replay.story.told_session import StepStory, Story, as_json
from rutter.replay.story.wording import quoted

# What a person calls an element.
CALLED = {"textbox": "field", "searchbox": "field", "combobox": "list", "listbox": "list"}
PLAINLY = frozenset({"button", "link", "checkbox", "radio", "tab", "menuitem", "switch"})
LONGER_S = 10  # what is proposed where something took longer than it may
BY_WORDS = ("alert", "page_state", "text_visible")  # checks of what a page says, and says otherwise
SAYS_NOTHING = ("completed", "running", "erased")
# States in which a page is no place for the step, in words (the others say themselves what to do).
STATES = {"LOGIN_REQUIRED": "it asks to sign in", "FAILED": "it says that something failed"}


class FailureAdvice(msgspec.Struct, frozen=True, omit_defaults=True):
    """`reason` is in plain words, `why` as it was decided. `page` is where it was, `expected` where
    it should have been. `next` says what to do, with a command."""

    reason: str
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
    picture = story.screenshot
    return FailureAdvice(
        reason=in_plain_words(story),
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


def lesson_lines(lesson: FailureAdvice) -> Iterator[str]:
    """Below what it was and at which step."""
    yield f"what happened: {lesson.reason}"
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
    if lesson.screenshot:
        yield f"screenshot: {lesson.screenshot}"


def told(story: Story, settings: Settings, sure: Thresholds | None = None) -> dict[str, object]:
    """The story for machines, with what there is to learn from it."""
    lesson = lesson_of(story, settings, sure)
    built = as_json(story)
    return built if lesson is None else {**built, "lesson": msgspec.to_builtins(lesson)}


def in_plain_words(story: Story) -> str:
    """What the end means, and what its step met where that says more."""
    if unproven := unproven_in_words(story):
        return unproven
    kind = story.failure or story.reason
    said = fault_of(kind).words or "it came to no end that is known"
    code = story.cause.code
    if waited := waited_in_words(story, code):
        return waited
    met = fault_of(code).words if code != kind else ""
    return f"{said}: {met}" if met and kind not in ("cancelled", "interrupted") else said


def waited_in_words(story: Story, code: str) -> str:
    """`the button "Save" stayed disabled for 3.0 s`; nothing, where that is not why it ended."""
    step = story.steps[-1] if story.steps else None
    stayed = fault_of(code).stayed
    if step is None or not step.waited_ms or not stayed or not step.element:
        return ""
    role = CALLED.get(step.role, step.role if step.role in PLAINLY else "element")
    return f'the {role} "{step.element}" {stayed} for {step.waited_ms / 1000:.1f} s'


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
    flag = f"{verb} {name}{' ...' * (verb == 'record')} --patience {min(seconds, 60)}s"
    return f"if the page only needs longer: {settings.command(flag)}"
