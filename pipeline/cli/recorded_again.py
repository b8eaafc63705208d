"""A workflow that is recorded again replaces what is known, or does not; this compares the two and
says so in plain words."""

import shlex
from collections.abc import Iterator

from rutter.events.predictor import Comparison, WorkflowLearned
from rutter.events.workflow import Step, Workflow
from rutter.pipeline.cli.terminal import Terminal
from rutter.pipeline.config.settings import Settings
from rutter.pipeline.queries.look_back import said_in
from rutter.replay.story.wording import in_words, printable


def tell_compared(session: str, settings: Settings, terminal: Terminal) -> None:
    """What a recording made of the version before it; nothing where there was none."""
    for learned in said_in(settings, session, WorkflowLearned)[:1]:
        if learned.compared is not None:
            for line in in_plain_words(learned.workflow, learned.compared, settings):
                terminal.say_below(printable(line))


def in_plain_words(workflow: Workflow, compared: Comparison, settings: Settings) -> Iterator[str]:
    before, name = compared.version, shlex.quote(workflow.name)
    back = settings.command(f"workflows revert {name} {before}")
    if not compared.merged:
        yield f"it is another way of working than version {before}: {compared.why}"
        yield f"version {workflow.version} is this recording alone; to go back: {back}"
        return
    changed = (*compared.optional, *compared.added)
    if not changed and not compared.varied:
        yield f"the same steps as version {before}"
        return
    if changed:
        yield f"merged with version {before}; to undo that: {back}"
    for index in sorted(changed):
        yield f"{_which(workflow, index)} {_became(workflow, index, compared)}"
    for index in compared.varied:
        edit = settings.command(f"workflows edit {name} --param {index + 1}=NAME")
        typed = "typed something else before; runs type this now"
        yield f"{_which(workflow, index)} {typed}; to vary it: {edit}"


def _which(workflow: Workflow, index: int) -> str:
    return f"step {index + 1} ({in_words(workflow.steps[index].action)})"


def _became(workflow: Workflow, index: int, compared: Comparison) -> str:
    step = workflow.steps[index]
    was = "was only in this recording" if index in compared.added else "was not in this recording"
    if not step.optional:
        return f"{was}: it is looked at in every run"
    if step.fork is None:
        return f"{was}: optional from now on"
    first = "; where it has the choice, this one" if index in compared.added else ""
    return f"{was}: {branch_in_words(step)}{first}"


def branch_in_words(step: Step) -> str:
    """Of a fork a run takes one branch."""
    assert step.fork is not None
    letter = chr(ord("a") + min(step.fork.way, 26) - 1)
    return f"one of several ways ({step.fork.number}{letter}), of which a run goes one"
