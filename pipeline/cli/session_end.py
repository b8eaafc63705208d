"""The end of a session is told in a few lines: what came of it, why, and the next command to
type."""

from collections.abc import Iterator
from itertools import pairwise

from rutter.actors.rules.steps.service_script import SIGNED_IN
from rutter.events.workflow import Workflow
from rutter.pipeline.cli.recorded_hosts import tell_blocked, tell_by_name
from rutter.pipeline.cli.terminal import Terminal, count
from rutter.pipeline.config import exit_codes
from rutter.pipeline.config.settings import Settings
from rutter.pipeline.config.thresholds import Thresholds
from rutter.pipeline.output.failure import (
    ended_in_words,
    lesson_lines,
    numbered,
    teach,
    title,
    told,
    with_picture,
)
from rutter.pipeline.output.proof_words import in_one_line, proposed, told_of_recording
from rutter.replay.story.advice import spent_in_words
from rutter.replay.story.results import rows_in_words
from rutter.replay.story.told_session import Story
from rutter.replay.story.wording import quoted


def report(
    story: Story,
    settings: Settings,
    terminal: Terminal,
    *,
    done: str,
    dry_run: bool = False,
    sure: Thresholds | None = None,
) -> int:
    """How it ended; the same as JSON for machines. `sure`: by which limits it went."""
    tried = (dry_run or story.dry_run) and story.cause.kind == "dry_run"
    code = exit_codes.of_session(story.reason, story.failure, dry_run=tried)
    if terminal.as_json:
        terminal.json(told(story, settings, sure))
        return code
    if code == exit_codes.Exit.DONE:
        came = f"{_what(story)}: tried, nothing that cannot be undone was done" if tried else done
        terminal.say(f"[OK] {came}, {', '.join(_in_numbers(story))}")
        _tell_done(story, terminal, tried=tried)
        terminal.say_below(*proposed(story, settings))
        _tell_unanswered(story, terminal)
        tell_blocked(story, settings, terminal)
    else:
        _tell_failure(story, settings, terminal, sure)
    tell_by_name(story.session, settings, terminal)
    terminal.say_below(f"Details: {settings.command(f'show {story.session}')}")
    return code


def _in_numbers(story: Story) -> Iterator[str]:
    """How many steps, how long, and what it cost, if it cost anything."""
    confirmed, needless = sum(step.done for step in story.steps), _needless(story)
    steps = count(confirmed, "step")
    if needless:
        were = "sign-in step was" if needless == 1 else "sign-in steps were"
        steps = f"{confirmed} of {confirmed + needless} steps ({needless} {were} not needed)"
    yield steps
    yield f"{story.took_ms / 1000:.1f} s"
    if story.model_calls:
        yield _spent(story)
    if proven := in_one_line(story):
        yield proven


def _what(story: Story) -> str:
    if story.led:
        return f"{story.name} to the goal {quoted(story.goal)}"
    return story.name or "the free run"


def _needless(story: Story) -> int:
    """How many steps that sign in were left out, because a kept login had."""
    return sum(
        after.index - each.index - 1
        for each, after in pairwise(story.steps)
        if each.code == SIGNED_IN and after.index > each.index
    )


def _spent(story: Story) -> str:
    return spent_in_words(story.model_calls, story.tokens, story.cost_microdollars, story.unpriced)


def _tell_done(story: Story, terminal: Terminal, *, tried: bool) -> None:
    """What it read, what it found elsewhere than it was recorded, and what it left alone."""
    _tell_results(story, terminal)
    terminal.say_below(*story.unkept)
    healed = [step for step in story.steps if step.healed]
    terminal.say_below(*(f"Step {numbered(each)}: {each.healed}" for each in healed))
    if story.cause.kind == "done_before":
        terminal.say_below(story.detail)
    if tried and story.steps:
        last = story.steps[-1]
        at = f"step {numbered(last)} ({last.words})"
        terminal.say_below(f"Stopped before {at}: {story.cause.why}")
        terminal.say_below("That step was not done, and nothing was learned.")
    elif story.dry_run:
        terminal.say_below("It was only tried: there was nothing to stop before.")


def _tell_results(story: Story, terminal: Terminal) -> None:
    for name, value in story.results.items():
        rows = story.tables.get(name)
        terminal.say_below(f"{name} = {value if rows is None else rows_in_words(rows)}")
    for each in story.downloads:
        came = f"not kept: {each.failure}" if each.artifact is None else "rutter results --out DIR"
        terminal.say_below(f"Downloaded {each.name} ({came})")


def _tell_unanswered(story: Story, terminal: Terminal) -> None:
    """Who was asked in vain, and who went on."""
    failed = story.unanswered
    if not failed or story.failure == "model_unavailable":
        return
    others = [
        call.provider for call in story.calls if call.answered and call.provider not in failed
    ]
    by_script = any(step.source == "service_script" for step in story.steps)
    way = "the service's own way" if by_script else "the run without a model"
    on = others[-1] if others else way
    why = "; ".join(f"{who} did not answer ({call.wrong})" for who, call in failed.items())
    terminal.say_below(f"{why}: {on} went on")


def tell_repaired(old: Workflow, new: Workflow, terminal: Terminal) -> None:
    """What a run learned about the workflow that it followed."""
    known = [step.action for step in old.steps]
    changed = sum(step.action not in known for step in new.steps)
    steps = f", with {count(changed, 'step')} changed" if changed else ""
    terminal.say_below(f"Learned: {new.name} is version {new.version} now{steps}.")


def tell_unproven(workflow: Workflow, story: Story, settings: Settings, terminal: Terminal) -> None:
    """Of every step that sends something: what will show that it worked, or how to say so."""
    terminal.say_below(*told_of_recording(workflow, story, settings))


# -- what went wrong -------------------------------------------------------------------------------


def _tell_failure(
    story: Story, settings: Settings, terminal: Terminal, sure: Thresholds | None
) -> None:
    lesson = with_picture(teach(story, settings, sure), story, settings)
    terminal.say(f"[FAIL] {title(story)}: {ended_in_words(story)}")
    terminal.say_below(*lesson_lines(lesson, verbose=terminal.verbose))
    if story.reason == "completed_unverified":
        _tell_results(story, terminal)
    _tell_unanswered(story, terminal)
    if story.ending is None or not story.ending.blocked:  # that is what the lesson is about
        tell_blocked(story, settings, terminal)
    if story.model_calls:
        terminal.say_below(f"Spent: {_spent(story)}")
    terminal.say_below(lesson.next)
