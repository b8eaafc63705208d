"""Proof words say whether the application has what a run sent, and the command that proves it from
the next run on."""

import shlex
from collections.abc import Iterator

from rutter.actors.rules.steps.pace import followed
from rutter.events.action import CLICKS
from rutter.events.checks import HERE, ReadBack
from rutter.events.workflow import Step, Workflow
from rutter.pipeline.config.settings import Settings
from rutter.pipeline.workflows.check_syntax import write_check
from rutter.replay.story.proofs import BY_PAGE, ProofStory
from rutter.replay.story.told_session import StepStory, Story
from rutter.replay.story.what_happened import NOT_PROVEN
from rutter.replay.story.wording import called, check_in_words

SENDS = frozenset({*CLICKS, "press"})


def sending(workflow: Workflow) -> Iterator[tuple[int, Step]]:
    """The steps that send something, by their numbers. Signing in leaves nothing behind."""
    for number, step in enumerate(workflow.steps, 1):
        matters = step.irreversible or step.after.read_back is not None
        if matters and step.action.type in SENDS and step.state != "LOGIN_REQUIRED":
            yield number, step


def is_unread(workflow: Workflow) -> bool:
    """Whether what one of its steps sends is not read back. What can be undone may send too."""
    sent = [step for _, step in sending(workflow)]
    sent = sent or [step for step in workflow.steps if followed(step.after.learned)]
    return any(step.after.read_back is None for step in sent)


# -- commands --------------------------------------------------------------------------------------


def to_read_back(settings: Settings, name: str, number: int, back: ReadBack | None = None) -> str:
    """The command that has every run look for what a step sent."""
    where = back.url if back is not None else HERE
    checks = map(write_check, back.checks) if back is not None else ["text_visible:TEXT"]
    said = [shlex.quote(f"{number}={where} {check}") for check in checks]
    edit = f"workflows edit {shlex.quote(name)}"
    return settings.command(" ".join([edit, *(f"--read-back {each}" for each in said)]))


# -- after a recording -----------------------------------------------------------------------------


def told_of_recording(workflow: Workflow, story: Story, settings: Settings) -> Iterator[str]:
    """A sentence for each step that sends something: what proves it, or how to."""
    found = [*story.read_backs.values(), *(each.read_back for each in story.proofs)]
    offered = _offered(workflow, story)
    sent = dict(sending(workflow)) | {number: workflow.steps[number - 1] for number in offered}
    unread = False
    for number, step in sorted(sent.items(), key=lambda each: each[0]):
        what, back = called(step.action), step.after.read_back
        if back is None and number in offered:
            shown = _in_words(offered[number])
            edit = to_read_back(settings, workflow.name, number, offered[number])
            yield f"After {what} (step {number}), {shown} when it is loaded again."
            yield f"To have every run look: {edit}"
        elif back is None:
            unread = True
            edit = to_read_back(settings, workflow.name, number)
            yield f"Rutter cannot tell whether {what} (step {number}) really worked."
            yield f"Tell it what to look for: {edit}"
        elif back in found:
            out = f"workflows edit {shlex.quote(workflow.name)} --no-expect {number}"
            yield f"After {what} (step {number}), Rutter will load the page again and look whether"
            yield f"{_in_words(back)} (found by itself). To take it out: {settings.command(out)}"
    if unread and story.cause.by == "window_closed":
        yield "The window was closed, so Rutter could not look by itself; the first run will."


def _offered(workflow: Workflow, story: Story) -> dict[int, ReadBack]:
    """What was found and not taken, by the number of its step in the workflow. Where the recording
    became a part of what was known before, the steps are counted otherwise: the first run looks."""
    if story.proofs or len(story.steps) != len(workflow.steps):
        return {}
    numbers = {step.step: number for number, step in enumerate(story.steps, 1)}
    return {
        numbers[step]: back
        for step, back in story.read_backs.items()
        if step in numbers and workflow.steps[numbers[step] - 1].after.read_back is None
    }


def _in_words(back: ReadBack) -> str:
    return " and ".join(map(check_in_words, back.checks))


# -- after a run -----------------------------------------------------------------------------------


def in_one_line(story: Story) -> str:
    """Whether the result of a completed run was read back; nothing where nothing was sent."""
    if story.purpose == "record" or story.dry_run or story.proof is None:
        return ""
    if story.proof == "stored":
        return "the result was read back"
    weak = [each for each in story.proofs if each.grade != "stored"]
    answered = all(each.grade and each.by != BY_PAGE for each in weak)
    why = "the server answered and the page" if answered else "the page"
    return f"the result was not read back: {why} showed what it showed before"


def proposed(story: Story, settings: Settings) -> Iterator[str]:
    """What makes later runs of the workflow read it back."""
    if story.purpose != "run" or not story.name or story.led or story.dry_run:
        return
    for each in story.proofs:
        step = f"step {each.number} ({_words(story, each)})"
        if each.read_back is not None and each.index >= 0:
            shown = _in_words(each.read_back)
            yield f"after {step}, {shown} when it is loaded again; to have every run look:"
        elif each.grade != "stored" and each.index >= 0:
            yield f"to have every run look whether {step} was stored:"
        else:
            continue
        yield to_read_back(settings, story.name, each.number, each.read_back)


# -- what was not proven ---------------------------------------------------------------------------


def unproven_step(story: Story) -> StepStory | None:
    """The step for whose sake a run is not verified."""
    weak = story.lacking
    return next((each for each in story.steps if weak and each.step == weak.step), None)


def how_to_prove(story: Story, settings: Settings) -> str:
    """What to do after such a run: look first, for it may be done."""
    look = "Check on the site whether it was done, before you run it again"
    weak = story.lacking
    if weak is None:
        return look if story.cause.kind in NOT_PROVEN else ""
    if story.purpose != "run" or not story.name or weak.index < 0:
        return look
    edit = to_read_back(settings, story.name, weak.number, weak.read_back)
    shows = "tell Rutter what shows it (TEXT: words that the page has only then)"
    return f"{look}. If it was, {shows}: {edit}"


def _words(story: Story, proof: ProofStory) -> str:
    found = [step.words for step in story.steps if step.step == proof.step]
    return found[0] if found else "what was sent"
